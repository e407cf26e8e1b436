//! Connections: taken in, encrypted if wished, bounded in number and in patience.

use super::guard::{Door, guard};
use super::{Shared, routes};
use axum::Router;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;

/// Time for the handshake of an encrypted connection.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Largest head of a request [bytes].
const HEAD: usize = 16 << 10;

/// Takes connections in until the runtime ends.
pub async fn listen(listener: TcpListener, tls: Option<TlsAcceptor>, shared: Arc<Shared>) {
    let layer = axum::middleware::from_fn_with_state(Arc::clone(&shared), guard);
    let router = routes::router(Arc::clone(&shared)).layer(layer);
    let places = Arc::new(Semaphore::new(shared.limits.connections));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, most likely: wait for some to close.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (router, tls, head) = (router.clone(), tls.clone(), shared.limits.head);
        tokio::spawn(async move {
            let _place = place;
            serve(stream, tls, router, head).await;
        });
    }
}

async fn serve(stream: TcpStream, tls: Option<TlsAcceptor>, router: Router, head: Duration) {
    let Ok(door) = stream.local_addr() else { return };
    // Frames are whole messages: waiting to fill packets only ages them.
    let _ = stream.set_nodelay(true);
    match tls {
        None => answer(stream, door, router, head).await,
        Some(acceptor) => {
            if let Ok(Ok(stream)) = timeout(HANDSHAKE, acceptor.accept(stream)).await {
                answer(stream, door, router, head).await;
            }
        }
    }
}

async fn answer<S>(stream: S, door: SocketAddr, router: Router, head: Duration)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = router.layer(axum::Extension(Door(door)));
    let service = TowerToHyperService::new(service);
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(head).max_buf_size(HEAD);
    let connection = builder.serve_connection::<_, _>(TokioIo::new(stream), hyper_service(service));
    // A connection that breaks concerns nobody but whoever made it.
    let _ = connection.with_upgrades().await;
}

/// Names the body that hyper hands in.
fn hyper_service<S>(service: S) -> S
where
    S: hyper::service::Service<hyper::Request<Incoming>>,
{
    service
}

/// A certificate for this server, made now and signed by itself, and what encrypts with it.
pub fn encrypt(host: IpAddr, names: &[String]) -> Result<(TlsAcceptor, Vec<u8>), String> {
    let failed =
        |error: &dyn std::fmt::Display| format!("cannot make a certificate: {error}; leave out --tls");
    let mut all: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(String::from).to_vec();
    all.extend((!host.is_unspecified()).then(|| host.to_string()));
    all.extend(names.iter().cloned());
    all.sort();
    all.dedup();
    let made = rcgen::generate_simple_self_signed(all).map_err(|error| failed(&error))?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| failed(&error))?.with_no_client_auth();
    let certificate = made.cert.der().clone();
    let config = config.with_single_cert(vec![certificate.clone()], key.into());
    let acceptor = TlsAcceptor::from(Arc::new(config.map_err(|error| failed(&error))?));
    Ok((acceptor, certificate.to_vec()))
}
