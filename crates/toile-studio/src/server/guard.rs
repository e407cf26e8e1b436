//! Who may speak to the server: nobody who came by another name, from another page or without a secret.

use super::Shared;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;

/// Fewest characters of a token that somebody chose.
const TOKEN: usize = 32;
/// Most launch codes that wait to be used.
const CODES: usize = 16;
/// How long a launch code waits to be used.
const CODE_LIFE: Duration = Duration::from_secs(600);

/// The address at which a connection came in.
#[derive(Clone, Copy)]
pub struct Door(pub SocketAddr);

/// Secrets and names of a server.
pub struct Guard {
    token: String,
    /// What browsers show instead of the token.
    session: String,
    codes: Mutex<Vec<(String, Instant)>>,
    names: Vec<String>,
    tls: bool,
    port: u16,
}

impl Guard {
    /// A guard of a server at `port` that is known as `names` too.
    pub fn new(token: Option<String>, names: Vec<String>, tls: bool, port: u16) -> Result<Guard, String> {
        let token = match token {
            None => secret()?,
            Some(token) if token.len() >= TOKEN && token.bytes().all(|b| b.is_ascii_graphic()) => token,
            Some(token) => {
                return Err(format!(
                    "the token has {} characters; it needs at least {TOKEN} visible ones and no spaces",
                    token.len()
                ));
            }
        };
        let names = names.into_iter().map(|name| name.to_ascii_lowercase()).collect();
        Ok(Guard { token, session: secret()?, codes: Mutex::default(), names, tls, port })
    }

    /// The token, for those who started the server.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// A new code that lets one browser in, once.
    pub fn code(&self) -> Result<String, String> {
        let code = secret()?;
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|(_, made)| made.elapsed() < CODE_LIFE);
        if codes.len() >= CODES {
            codes.remove(0);
        }
        codes.push((code.clone(), Instant::now()));
        Ok(code)
    }

    /// Takes a launch code: the cookie that it buys, or nothing.
    pub fn redeem(&self, code: &str) -> Option<String> {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|(_, made)| made.elapsed() < CODE_LIFE);
        // All are compared, so that the time says nothing.
        let hits: Vec<bool> = codes.iter().map(|(known, _)| same(known, code)).collect();
        let hit = hits.iter().position(|hit| *hit)?;
        codes.remove(hit);
        let secure = if self.tls { "; Secure" } else { "" };
        Some(format!("{}={}; HttpOnly; SameSite=Strict; Path=/{secure}", self.cookie(), self.session))
    }

    /// Cookies do not know ports; their names do.
    fn cookie(&self) -> String {
        format!("toile_{}", self.port)
    }

    fn scheme(&self) -> &'static str {
        if self.tls { "https" } else { "http" }
    }

    /// The host that a request names, if it is one of ours.
    fn host<'a>(&self, request: &'a Request, door: SocketAddr) -> Option<&'a str> {
        let mut hosts = request.headers().get_all(header::HOST).iter();
        let host = hosts.next()?.to_str().ok()?;
        if hosts.next().is_some() {
            return None;
        }
        // A request may name a host in its first line as well; it must be the same.
        if request.uri().authority().is_some_and(|named| named.as_str() != host) {
            return None;
        }
        let usual = if self.tls { 443 } else { 80 };
        let fits =
            |name: &str| host == format!("{name}:{}", door.port()) || (door.port() == usual && host == name);
        let own = match door.ip() {
            IpAddr::V4(ip) => fits(&ip.to_string()),
            IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
                Some(ip) => fits(&ip.to_string()),
                None => fits(&format!("[{ip}]")),
            },
        };
        let local = is_local(door.ip()) && fits("localhost");
        (own || local || self.names.iter().any(|name| fits(name))).then_some(host)
    }

    /// Whether a request shows the token or the cookie.
    fn knows(&self, headers: &HeaderMap) -> bool {
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        if bearer.and_then(|value| value.strip_prefix("Bearer ")).is_some_and(|t| same(t, &self.token)) {
            return true;
        }
        let name = self.cookie();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(key, _)| *key == name).any(|(_, value)| same(value, &self.session))
    }
}

/// Whether an address is the machine's own.
pub fn is_local(ip: IpAddr) -> bool {
    ip.is_loopback() || matches!(ip, IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some_and(|v4| v4.is_loopback()))
}

/// Compares in a time that says nothing about where two texts differ.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && bool::from(a.as_bytes().ct_eq(b.as_bytes()))
}

/// 256 bits that nobody can guess.
fn secret() -> Result<String, String> {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes).map_err(|error| format!("the system gives no random numbers: {error}"))?;
    Ok(bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Stands before every route.
pub async fn guard(State(shared): State<Arc<Shared>>, mut request: Request, next: Next) -> Response {
    let door = request.extensions().get::<Door>().map_or(shared.address, |door| door.0);
    let guard = &shared.guard;
    let Some(host) = guard.host(&request, door).map(str::to_string) else {
        let text = format!("this server answers at {} only; use the address it printed\n", shared.address);
        return finish((StatusCode::FORBIDDEN, text).into_response(), None);
    };
    let path = request.uri().path();
    let open = matches!(path, "/healthz" | "/launch");
    let origin = request.headers().get(header::ORIGIN).map(|value| value.as_bytes().to_vec());
    let ours = format!("{}://{host}", guard.scheme());
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD) || path.starts_with("/ws/");
    if changes && origin.as_deref() != Some(ours.as_bytes()) {
        let text = "only the studio's own page may ask for this; its requests name their origin\n";
        return finish((StatusCode::FORBIDDEN, text).into_response(), Some((&host, guard.tls)));
    }
    if !open && !guard.knows(request.headers()) {
        let text = "open the studio by the link that it printed: it lets this browser in\n";
        return finish((StatusCode::UNAUTHORIZED, text).into_response(), Some((&host, guard.tls)));
    }
    // What comes later needs no secrets.
    request.headers_mut().remove(header::COOKIE);
    request.headers_mut().remove(header::AUTHORIZATION);
    finish(next.run(request).await, Some((&host, guard.tls)))
}

/// The headers of every answer.
fn finish(mut response: Response, host: Option<(&str, bool)>) -> Response {
    let socket = match host {
        Some((host, true)) => format!(" wss://{host}"),
        Some((host, false)) => format!(" ws://{host}"),
        None => String::new(),
    };
    let policy = format!(
        "default-src 'self'; connect-src 'self'{socket}; img-src 'self' data: blob:; \
         style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    );
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_works_once() {
        let guard = Guard::new(None, Vec::new(), false, 80).expect("guard");
        let code = guard.code().expect("code");
        assert!(guard.redeem("").is_none());
        assert!(guard.redeem(&code[1..]).is_none());
        assert!(guard.redeem(&code).is_some_and(|cookie| !cookie.contains(guard.token())));
        assert!(guard.redeem(&code).is_none());
    }

    #[test]
    fn weak_tokens_are_refused() {
        for weak in ["", "hello", "0123456789012345678901234567890", "a a a a a a a a a a a a a a a a a"] {
            assert!(Guard::new(Some(weak.into()), Vec::new(), false, 80).is_err(), "{weak}");
        }
    }
}
