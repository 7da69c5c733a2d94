//! A back end: it opens a room, gives tokens to its users, and receives webhooks.
//!
//! ```text
//! POST /tokens    {"username":"Ann","thumbprint":"..."}, for a user who is logged in
//! POST /webhooks  for Boxoffice
//! ```

use std::collections::HashSet;
use std::convert::Infallible;
use std::env::{self, VarError};
use std::error::Error as StdError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use boxoffice::{Client, CreateRoom, Error, MintClientToken, verify_webhook_events};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

const BODY_BYTES_MAX: usize = 1024 * 1024;
const ROOM: &str = "lobby";
/// The wait after a connection that was not accepted.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

struct BackEnd {
    client: Client,
    secrets: [String; 1],
    /// An event may come twice. Keep the ids of those that you handled in your database.
    seen: Mutex<HashSet<String>>,
}

type Answer = (StatusCode, Value);

#[tokio::main]
async fn main() -> Result<(), Box<dyn StdError>> {
    let client = Client::builder()
        .url(env::var("BOXOFFICE_URL")?)
        .control_url(env::var("BOXOFFICE_CONTROL_URL")?)
        .api_key(env::var("BOXOFFICE_API_KEY")?)
        .build()?;
    match client
        .rooms()
        .create(CreateRoom::new(ROOM).max_participants(50))
        .await
    {
        Ok(_) | Err(Error::Exists(_)) => {}
        Err(error) => return Err(error.into()),
    }
    let back_end = Arc::new(BackEnd {
        client,
        secrets: [env::var("WEBHOOK_SECRET")?],
        seen: Mutex::default(),
    });
    let mut end = signal(SignalKind::terminate())?;
    tokio::select! {
        served = serve(back_end) => served,
        _ = end.recv() => Ok(()),
    }
}

async fn serve(back_end: Arc<BackEnd>) -> Result<(), Box<dyn StdError>> {
    let port = match env::var("PORT") {
        Err(VarError::NotPresent) => 3000,
        port => port?.parse()?,
    };
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}", listener.local_addr()?);
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            // There may be too many open files.
            Err(error) => {
                eprintln!("{error}");
                sleep(ACCEPT_AGAIN).await;
                continue;
            }
        };
        let back_end = back_end.clone();
        let service = service_fn(move |request| {
            let back_end = back_end.clone();
            async move {
                let (status, body) = back_end.answer(request).await;
                let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
                *response.status_mut() = status;
                Ok::<_, Infallible>(response)
            }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

impl BackEnd {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let Ok(body) = Limited::new(body, BODY_BYTES_MAX).collect().await else {
            return refusal(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large");
        };
        let body = body.to_bytes();
        match (head.method, head.uri.path()) {
            (Method::POST, "/tokens") => self.give_token(&body).await,
            (Method::POST, "/webhooks") => self.receive_events(&head.headers, &body),
            _ => refusal(StatusCode::NOT_FOUND, "there is no such page"),
        }
    }

    /// Your own log-in belongs here: who asks, and may they come in?
    async fn give_token(&self, body: &[u8]) -> Answer {
        let Ok(asked) = serde_json::from_slice::<Value>(body) else {
            return refusal(StatusCode::BAD_REQUEST, "the body is no JSON");
        };
        let text = |name: &str| asked[name].as_str().unwrap_or_default();
        let request = MintClientToken::new(ROOM, text("username"), text("thumbprint")).role("host");
        match self.client.tokens().mint(request).await {
            Ok(minted) => {
                let expires_at = minted.expire_time.map(httpdate::fmt_http_date);
                let token = minted.token.as_str();
                (
                    StatusCode::OK,
                    json!({ "token": token, "expires_at": expires_at }),
                )
            }
            Err(error) => refuse(&error),
        }
    }

    fn receive_events(&self, headers: &HeaderMap, body: &[u8]) -> Answer {
        let events = match verify_webhook_events(&self.secrets, headers, body) {
            Ok(events) => events,
            Err(refused) => return refusal(StatusCode::UNAUTHORIZED, &refused.to_string()),
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for event in events {
            if seen.insert(event.id) {
                println!("event {}", event.event_type);
            }
        }
        (StatusCode::OK, json!({}))
    }
}

fn refuse(error: &Error) -> Answer {
    let status = match error {
        Error::Invalid(_) => StatusCode::BAD_REQUEST,
        Error::Denied(_) => StatusCode::FORBIDDEN,
        Error::Precondition(_) => StatusCode::CONFLICT,
        _ => {
            eprintln!("{error}");
            return refusal(StatusCode::SERVICE_UNAVAILABLE, "try again");
        }
    };
    refusal(status, &error.failure().message)
}

fn refusal(status: StatusCode, message: &str) -> Answer {
    (status, json!({ "error": message }))
}
