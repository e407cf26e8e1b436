//! HTTP and WebSockets on tokio; the cloth moves on other threads. Names and ids in, never paths.

mod guard;
mod listen;
mod routes;
mod socket;

use crate::gallery;
use crate::room::RoomOptions;
use crate::rooms::{FIRST, Order, Rooms};
use guard::{Guard, is_local};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use toile_io::scene::Scene;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, oneshot};

/// What a server is made of.
pub struct Options {
    /// The scene that rooms open with.
    pub scene: Scene,
    /// Address to listen at; loopback unless there is a token.
    pub host: IpAddr,
    /// Port to listen at; 0 takes a free one.
    pub port: u16,
    /// Names besides addresses by which the server may be called, for a proxy or a name on the network.
    pub names: Vec<String>,
    /// The token, if it shall be known beforehand; otherwise nobody but this process knows it.
    pub token: Option<String>,
    /// Encrypts, with a certificate that is made now.
    pub tls: bool,
    /// Bytes of frames that each room can show again.
    pub tape: usize,
    /// What pages may do.
    pub limits: Limits,
}

impl Options {
    /// A server for this machine alone.
    pub fn new(scene: Scene) -> Options {
        Options {
            scene,
            host: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            names: Vec::new(),
            token: None,
            tls: false,
            tape: 256 << 20,
            limits: Limits::default(),
        }
    }
}

/// What pages may do.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most pages at once.
    pub pages: usize,
    /// Most connections at once.
    pub connections: usize,
    /// Bytes of a message from a page.
    pub message: usize,
    /// Messages per second from a page.
    pub rate: f64,
    /// Messages that may come at once.
    pub burst: f64,
    /// Bytes of a mesh.
    pub upload: usize,
    /// Time for the first message of a page.
    pub hello: Duration,
    /// Time for the head of a request, and for a connection without one.
    pub head: Duration,
    /// Time for the body of a request.
    pub body: Duration,
    /// Time between two pings.
    pub ping: Duration,
    /// Time without an answer to them after which a page is given up.
    pub silence: Duration,
    /// Time after which a room ends that nobody is in.
    pub linger: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            pages: 64,
            connections: 1024,
            message: 1 << 20,
            rate: 200.0,
            burst: 400.0,
            upload: 16 << 20,
            hello: Duration::from_secs(10),
            head: Duration::from_secs(10),
            body: Duration::from_secs(60),
            ping: Duration::from_secs(10),
            silence: Duration::from_secs(30),
            linger: Duration::from_secs(600),
        }
    }
}

/// What all connections share.
pub(crate) struct Shared {
    guard: Guard,
    rooms: Arc<Rooms>,
    limits: Limits,
    pages: Arc<Semaphore>,
    address: SocketAddr,
}

/// A server that runs until it is dropped.
pub struct Server {
    shared: Arc<Shared>,
    scheme: &'static str,
    certificate: Option<Vec<u8>>,
    runtime: Option<Runtime>,
}

impl Server {
    /// Starts a server: opens its first room, listens, and returns.
    pub fn start(options: Options) -> Result<Server, String> {
        if !is_local(options.host) && options.token.is_none() {
            return Err(format!(
                "{} can be reached from other machines; give --token-file, or keep the default 127.0.0.1",
                options.host
            ));
        }
        let wanted = SocketAddr::new(options.host, options.port);
        let refused =
            |error: std::io::Error| format!("cannot listen at {wanted}: {error}; choose another --port");
        let listener = std::net::TcpListener::bind(wanted).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let (tls, certificate) = match options.tls {
            true => listen::encrypt(options.host, &options.names)
                .map(|(acceptor, made)| (Some(acceptor), Some(made)))?,
            false => (None, None),
        };
        let guard = Guard::new(options.token, options.names, options.tls, address.port())?;
        let room = RoomOptions { scene: options.scene, tape: options.tape };
        let rooms = Rooms::new(room, options.limits.linger);
        rooms.open(FIRST)?;
        // The first page need not wait for the cards to be counted.
        std::thread::spawn(gallery::cards);
        let pages = Arc::new(Semaphore::new(options.limits.pages));
        let shared = Arc::new(Shared { guard, rooms, limits: options.limits, pages, address });
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).thread_name("studio").enable_all().build();
        let runtime = runtime.map_err(|error| format!("cannot start the server's threads: {error}"))?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener).map_err(refused)?
        };
        let scheme = if options.tls { "https" } else { "http" };
        runtime.spawn(listen::listen(listener, tls, Arc::clone(&shared)));
        Ok(Server { shared, scheme, certificate, runtime: Some(runtime) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// Its token.
    pub fn token(&self) -> &str {
        self.shared.guard.token()
    }

    /// Its certificate in DER form, if it encrypts.
    pub fn certificate(&self) -> Option<&[u8]> {
        self.certificate.as_deref()
    }

    /// What the address of its pages begins with.
    pub fn base(&self) -> String {
        let address = match self.shared.address.ip().is_unspecified() {
            true => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), self.shared.address.port()),
            false => self.shared.address,
        };
        format!("{}://{address}", self.scheme)
    }

    /// A link that lets one browser in, once.
    pub fn launch(&self) -> Result<String, String> {
        Ok(format!("{}/launch?code={}", self.base(), self.shared.guard.code()?))
    }

    /// Bytes that each page of a room keeps busy: its frames under way and answers that wait.
    pub fn held(&self, room: &str) -> Vec<(u32, usize)> {
        let (reply, held) = oneshot::channel();
        if !self.shared.rooms.tell(room, Order::Held(reply)) {
            return Vec::new();
        }
        held.blocking_recv().unwrap_or_default()
    }

    /// Makes the next tick of a room fail, for tests of what survives it.
    #[doc(hidden)]
    pub fn fault(&self, room: &str) -> bool {
        self.shared.rooms.tell(room, Order::Fault)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.rooms.end();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The token in a file; a file that is not there is made, readable by its owner only.
pub fn token_from(path: &Path) -> Result<String, String> {
    let shown = path.display();
    match std::fs::read_to_string(path) {
        Ok(text) => {
            private(path)?;
            Ok(text.trim().to_string())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let guard = Guard::new(None, Vec::new(), false, 0)?;
            let mut options = std::fs::OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let write =
                |mut file: std::fs::File| std::io::Write::write_all(&mut file, guard.token().as_bytes());
            options.open(path).and_then(write).map_err(|error| format!("cannot write {shown}: {error}"))?;
            Ok(guard.token().to_string())
        }
        Err(error) => Err(format!("cannot read the token in {shown}: {error}")),
    }
}

/// Refuses files that others can read.
fn private(path: &Path) -> Result<(), String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let shown = path.display();
        let data = std::fs::metadata(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
        let mode = data.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(format!("{shown} can be read by others (mode {mode:o}); chmod 600 {shown}"));
        }
    }
    let _ = path;
    Ok(())
}
