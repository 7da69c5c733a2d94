//! The receiver of docs/webhooks.md: a test compares them, and sends to it.
//! `WEBHOOK_SECRET` has its secret.

use std::collections::HashSet;
use std::convert::Infallible;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use ring::hmac;
use serde_json::Value;
use tokio::net::TcpListener;

const SECONDS_MAX: u64 = 300;
const BODY_BYTES_MAX: usize = 1 << 20;

/// Whether the service sent this body, within the last minutes. `body` is what arrived, byte for byte.
fn is_genuine(headers: &HeaderMap, body: &[u8], secret: &str) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let (Some(id), Some(timestamp), Some(signatures)) = (
        text("webhook-id"),
        text("webhook-timestamp"),
        text("webhook-signature"),
    ) else {
        return false;
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let (Ok(seconds), Ok(now)) = (timestamp.parse::<u64>(), now) else {
        return false;
    };
    if now.as_secs().abs_diff(seconds) > SECONDS_MAX {
        return false;
    }
    let key = STANDARD.decode(secret.trim_start_matches("whsec_"));
    let Some(key) = key.ok().filter(|key| !key.is_empty()) else {
        return false;
    };
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let signed = [format!("{id}.{timestamp}.").as_bytes(), body].concat();
    signatures
        .split(' ')
        .filter_map(|each| STANDARD.decode(each.strip_prefix("v1,")?).ok())
        // Compares in constant time.
        .any(|given| hmac::verify(&key, &signed, &given).is_ok())
}

/// Keeps events to work on them later.
trait Inbox {
    /// Does nothing if it has an event of this id already.
    fn keep(&self, id: &str, event: &[u8]) -> impl Future<Output = std::io::Result<()>> + Send;
}

async fn receive(request: Request<Incoming>, secret: &str, inbox: &impl Inbox) -> StatusCode {
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, BODY_BYTES_MAX).collect().await else {
        return StatusCode::PAYLOAD_TOO_LARGE;
    };
    let body = body.to_bytes();
    if !is_genuine(&head.headers, &body, secret) {
        return StatusCode::UNAUTHORIZED;
    }
    match keep_all(&body, inbox).await {
        Ok(()) => StatusCode::NO_CONTENT,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// With `max_batch`, the body is a list.
async fn keep_all(body: &[u8], inbox: &impl Inbox) -> std::io::Result<()> {
    let told: Value = serde_json::from_slice(body)?;
    let events = match &told["events"] {
        Value::Array(events) => events.as_slice(),
        _ => std::slice::from_ref(&told),
    };
    for event in events {
        let id = event["id"].as_str().unwrap_or_default();
        inbox.keep(id, &serde_json::to_vec(event)?).await?;
    }
    Ok(())
}

struct Printed(Mutex<HashSet<String>>);

impl Inbox for Printed {
    async fn keep(&self, id: &str, event: &[u8]) -> std::io::Result<()> {
        if self.0.lock().unwrap().insert(id.to_owned()) {
            println!("event {id} {}", String::from_utf8_lossy(event));
        }
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let secret: Arc<str> = std::env::var("WEBHOOK_SECRET")?.into();
    let inbox = Arc::new(Printed(Mutex::default()));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("port {}", listener.local_addr()?.port());
    loop {
        let (stream, _) = listener.accept().await?;
        let (secret, inbox) = (secret.clone(), inbox.clone());
        let service = service_fn(move |request| {
            let (secret, inbox) = (secret.clone(), inbox.clone());
            async move {
                let mut response = Response::new(Empty::<Bytes>::new());
                *response.status_mut() = receive(request, &secret, &*inbox).await;
                Ok::<_, Infallible>(response)
            }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}
