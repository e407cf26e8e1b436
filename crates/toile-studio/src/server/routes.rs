//! What can be asked for.

use super::{Shared, socket};
use crate::rooms::{FIRST, Order, Rooms};
use crate::{assets, gallery};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use std::sync::Arc;
use toile_io::obj::{Limits as MeshLimits, Obj};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Most vertices of a mesh that a page sends.
const VERTICES: usize = 200_000;
/// Most corners of its polygons.
const CORNERS: usize = 4 * VERTICES;

type App = State<Arc<Shared>>;

/// All routes.
pub fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(|| async { page() }))
        .route("/r/{name}", get(room_page))
        .route("/assets/{*path}", get(asset))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/launch", get(launch))
        .route("/ws/{name}", get(upgrade))
        .route("/api/scenes/{name}/picture.png", get(picture))
        .route("/api/frame.obj", get(frame))
        .route("/api/replay", get(replay))
        .route("/api/meshes", post(mesh))
        .route("/api/invite", post(invite))
        .fallback(|| async { missing() })
        .with_state(shared)
}

fn missing() -> Response {
    (StatusCode::NOT_FOUND, "there is nothing here; the studio is at /\n").into_response()
}

fn typed(mime: &'static str, bytes: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, mime)], bytes.into()).into_response()
}

fn file(path: &str) -> Response {
    assets::find(path).map_or_else(missing, |asset| typed(asset.mime, Bytes::from_static(asset.bytes)))
}

fn page() -> Response {
    file("index.html")
}

async fn room_page(Path(name): Path<String>) -> Response {
    if Rooms::is_name(&name) { page() } else { missing() }
}

async fn asset(Path(path): Path<String>) -> Response {
    file(&format!("assets/{path}"))
}

async fn picture(Path(name): Path<String>) -> Response {
    gallery::picture(&name).map_or_else(missing, |bytes| typed("image/png", Bytes::from_static(bytes)))
}

#[derive(Deserialize)]
struct Launch {
    code: Option<String>,
    room: Option<String>,
}

/// Lets a browser in that shows a code, and takes the code out of its address.
async fn launch(State(shared): App, Query(launch): Query<Launch>) -> Response {
    match launch.code.as_deref().and_then(|code| shared.guard.redeem(code)) {
        Some(cookie) => {
            let room = launch.room.filter(|room| Rooms::is_name(room));
            let to = room.map_or("/".into(), |room| format!("/r/{room}"));
            (StatusCode::FOUND, [(header::SET_COOKIE, cookie), (header::LOCATION, to)]).into_response()
        }
        None => {
            let text = "this link has been used or is too old; start the studio again for a new one\n";
            (StatusCode::UNAUTHORIZED, text).into_response()
        }
    }
}

/// A link for somebody else.
async fn invite(State(shared): App, Query(which): Query<Which>) -> Response {
    let room = which.room.filter(|room| Rooms::is_name(room)).unwrap_or(FIRST.into());
    match shared.guard.code() {
        Ok(code) => {
            let answer = serde_json::json!({ "path": format!("/launch?code={code}&room={room}") });
            typed("application/json", answer.to_string())
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error).into_response(),
    }
}

/// A page wants to join a room.
async fn upgrade(State(shared): App, Path(room): Path<String>, upgrade: WebSocketUpgrade) -> Response {
    if !Rooms::is_name(&room) {
        return missing();
    }
    let Ok(place) = Arc::clone(&shared.pages).try_acquire_owned() else {
        let text = format!("{} pages are open, the most there may be; close one\n", shared.limits.pages);
        return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
    };
    let (rooms, name) = (Arc::clone(&shared.rooms), room.clone());
    // Building a scene takes a while; others are answered meanwhile.
    match tokio::task::spawn_blocking(move || rooms.open(&name)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return (StatusCode::SERVICE_UNAVAILABLE, error).into_response(),
        Err(_) => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
    let most = shared.limits.message;
    let upgrade = upgrade.max_message_size(most).max_frame_size(most).write_buffer_size(0);
    upgrade.on_upgrade(move |socket| async move {
        socket::serve(socket, room, shared).await;
        drop(place);
    })
}

#[derive(Deserialize)]
struct Which {
    room: Option<String>,
}

impl Which {
    fn room(&self) -> &str {
        self.room.as_deref().unwrap_or(FIRST)
    }
}

/// Asks a room for something.
async fn ask<T>(shared: &Shared, room: &str, order: impl FnOnce(oneshot::Sender<T>) -> Order) -> Option<T> {
    let (reply, answer) = oneshot::channel();
    if shared.rooms.tell(room, order(reply)) { answer.await.ok() } else { None }
}

fn no_room() -> Response {
    (StatusCode::NOT_FOUND, "there is no such room; open it first\n").into_response()
}

async fn frame(State(shared): App, Query(which): Query<Which>) -> Response {
    match ask(&shared, which.room(), Order::Obj).await {
        Some(text) => attached("model/obj", "frame.obj", text),
        None => no_room(),
    }
}

async fn replay(State(shared): App, Query(which): Query<Which>) -> Response {
    match ask(&shared, which.room(), Order::Log).await {
        Some(Ok(text)) => attached("application/x-ndjson", "replay.jsonl", text),
        Some(Err(error)) => (StatusCode::CONFLICT, error).into_response(),
        None => no_room(),
    }
}

fn attached(mime: &'static str, name: &str, bytes: impl Into<Body>) -> Response {
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [(header::CONTENT_TYPE, mime.to_string()), (header::CONTENT_DISPOSITION, disposition)];
    (headers, bytes.into()).into_response()
}

/// Takes a mesh in. Its name and type are ignored: what is in it counts.
async fn mesh(State(shared): App, Query(which): Query<Which>, request: Request) -> Response {
    let most = shared.limits.upload;
    let declared = request.headers().get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse().ok());
    let too_large = || {
        let text = format!("the mesh has more than {} MiB; send a smaller one\n", most >> 20);
        (StatusCode::PAYLOAD_TOO_LARGE, text).into_response()
    };
    if declared.is_some_and(|bytes: u64| bytes > most as u64) {
        return too_large();
    }
    let body = match timeout(shared.limits.body, axum::body::to_bytes(request.into_body(), most)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) => return too_large(),
        Err(_) => return (StatusCode::REQUEST_TIMEOUT, "the mesh took too long\n").into_response(),
    };
    let read = tokio::task::spawn_blocking(move || read_mesh(&body)).await;
    let text = match read {
        Ok(Ok(text)) => text,
        Ok(Err(error)) => return (StatusCode::UNPROCESSABLE_ENTITY, error).into_response(),
        Err(_) => return (StatusCode::UNPROCESSABLE_ENTITY, "the mesh cannot be read\n").into_response(),
    };
    match ask(&shared, which.room(), |reply| Order::Mesh(text, reply)).await {
        Some(Ok(id)) => typed("application/json", serde_json::json!({ "id": id }).to_string()),
        Some(Err(error)) => (StatusCode::UNPROCESSABLE_ENTITY, error).into_response(),
        None => no_room(),
    }
}

/// The text of a mesh that can be read and has faces.
fn read_mesh(bytes: &[u8]) -> Result<String, String> {
    let limits = MeshLimits { bytes: bytes.len() as u64, vertices: VERTICES, corners: CORNERS };
    let obj =
        Obj::parse(bytes, std::path::Path::new("mesh.obj"), &limits).map_err(|error| error.to_string())?;
    if obj.polygons.is_empty() {
        return Err("the mesh has no faces; send OBJ text with f lines\n".into());
    }
    String::from_utf8(bytes.to_vec()).map_err(|_| "the mesh is not UTF-8 text; send OBJ text\n".into())
}
