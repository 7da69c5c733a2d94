//! The driver of the conformance suite for Rust: it reads operations from standard input and prints what
//! this crate makes of them. sdk/conformance/README.md has the protocol.

#[path = "conformance/methods.rs"]
mod methods;
#[cfg(unix)]
#[path = "conformance/relay.rs"]
mod relay;
#[path = "conformance/statement_vectors.rs"]
mod statement_vectors;
#[path = "conformance/vectors.rs"]
mod vectors;
#[path = "conformance/webhook_vectors.rs"]
mod webhook_vectors;

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use boxoffice::{Client, Code, Error};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, stdin};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Why an operation ended, as the suite reads it.
pub struct Ended(Value);

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        let failure = error.failure();
        let code = match failure.code {
            Code::Http(status) => json!(status),
            code => json!(code.to_string()),
        };
        let fields: Vec<&str> = failure
            .fields
            .iter()
            .map(|each| each.field.as_str())
            .collect();
        let mut description = json!({
            "kind": format!("{:?}", error.kind()),
            "code": code,
            "reason": failure.reason,
            "fields": fields,
            "metadata": failure.metadata,
            "has_request_id": failure.request_id.is_some(),
            "message": failure.message,
        });
        if let Some(wait) = failure.retry_after {
            description["retry_after_ms"] = json!(wait.as_secs_f64() * 1000.0);
        }
        Self(description)
    }
}

impl From<serde_json::Error> for Ended {
    /// A mistake that is found before anything is sent.
    fn from(error: serde_json::Error) -> Self {
        Self(json!({ "kind": "Invalid", "code": "", "message": error.to_string() }))
    }
}

/// What the suite tells a running operation.
enum Signal {
    Cancel,
    NextPage,
}

#[derive(Default)]
struct State {
    clients: Mutex<HashMap<String, Client>>,
    running: Mutex<HashMap<u64, UnboundedSender<Signal>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn print(line: &Value) {
    println!("{line}");
}

#[tokio::main(worker_threads = 2)]
async fn main() -> std::io::Result<()> {
    let state = Arc::new(State::default());
    let mut lines = BufReader::new(stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let operation: Value = serde_json::from_str(&line)?;
        let signal = match operation["op"].as_str() {
            Some("cancel") => Signal::Cancel,
            Some("next") => Signal::NextPage,
            _ => {
                start(state.clone(), operation);
                continue;
            }
        };
        let target = operation["target"].as_u64().unwrap_or_default();
        if let Some(running) = lock(&state.running).get(&target) {
            // One that has just ended has answered.
            let _ = running.send(signal);
        }
    }
    std::process::exit(0);
}

/// Run an operation beside the others. It answers once, whether it ends or is cancelled.
fn start(state: Arc<State>, operation: Value) {
    let id = operation["id"].as_u64().unwrap_or_default();
    let (sender, mut signals) = unbounded_channel();
    lock(&state.running).insert(id, sender);
    tokio::spawn(async move {
        let (pages, page_requests) = unbounded_channel();
        let work = run(&state, &operation, page_requests);
        let cancelled = async {
            while let Some(signal) = signals.recv().await {
                match signal {
                    Signal::Cancel => return,
                    Signal::NextPage => drop(pages.send(())),
                }
            }
        };
        let answer = tokio::select! {
            answer = work => answer,
            () = cancelled => Err(Ended(json!({ "kind": "Cancelled" }))),
        };
        lock(&state.running).remove(&id);
        match answer {
            Ok(Value::Null) => print(&json!({ "id": id, "ok": {} })),
            Ok(answer) => print(&json!({ "id": id, "ok": answer })),
            Err(Ended(error)) => print(&json!({ "id": id, "error": error })),
        }
    });
}

async fn run(
    state: &State,
    operation: &Value,
    mut page_requests: UnboundedReceiver<()>,
) -> Result<Value, Ended> {
    let text = |name: &str| operation[name].as_str().unwrap_or_default();
    let request = operation
        .get("request")
        .cloned()
        .unwrap_or_else(|| json!({}));
    let (id, name, options) = (&operation["id"], text("client"), &operation["options"]);
    match text("op") {
        "open" => {
            let client = open(options)?;
            lock(&state.clients).insert(name.to_owned(), client);
            Ok(Value::Null)
        }
        "close" => {
            lock(&state.clients).remove(name);
            Ok(Value::Null)
        }
        "call" => methods::call(&client(state, name)?, text("method"), request, options).await,
        "pages" => {
            let mut pages = methods::pages(&client(state, name)?, text("method"), &request)?;
            while let Some(page) = pages.next().await {
                print(&json!({ "id": id, "page": page? }));
                page_requests.recv().await;
            }
            Ok(Value::Null)
        }
        "watch" => {
            let (client, silent_max) = (client(state, name)?, millis(options, "silent_ms"));
            let mut events = methods::watch(&client, text("method"), &request, silent_max)?;
            while let Some(event) = poll_fn(|context| events.as_mut().poll_next(context)).await {
                print(&json!({ "id": id, "event": event? }));
            }
            Ok(Value::Null)
        }
        #[cfg(unix)]
        "report" => relay::report(&request).await,
        #[cfg(unix)]
        "follow" => {
            let tell = |known: Value| print(&json!({ "id": id, "event": known }));
            relay::follow(&request, tell).await
        }
        "vectors" => vectors::decide_tokens(text("file"), operation["jwks_url"].as_str()).await,
        "webhook_vectors" => webhook_vectors::decide(text("file")),
        "statement_vectors" => statement_vectors::decide(text("file")),
        "revocation_vectors" => vectors::decide_revocations(text("file")).await,
        "tasks" => Ok(json!({ "count": Handle::current().metrics().num_alive_tasks() })),
        other => Err(crash(&format!("there is no operation {other}"))),
    }
}

/// A mistake of the driver or of the suite.
#[must_use]
pub fn crash(message: &str) -> Ended {
    Ended(json!({ "kind": "Crash", "message": message }))
}

/// A length of time among the options of an operation.
#[must_use]
pub fn millis(options: &Value, name: &str) -> Option<Duration> {
    options[name]
        .as_f64()
        .map(|millis| Duration::from_secs_f64(millis / 1000.0))
}

fn client(state: &State, name: &str) -> Result<Client, Ended> {
    lock(&state.clients)
        .get(name)
        .cloned()
        .ok_or_else(|| crash("there is no such client"))
}

fn open(options: &Value) -> Result<Client, Ended> {
    let text = |name: &str| options[name].as_str();
    let url = text("url").unwrap_or_default();
    let mut builder = Client::builder()
        .url(url)
        .control_url(text("control_url").unwrap_or(url))
        .api_key(text("api_key").unwrap_or_default());
    if let Some(tenant) = text("tenant") {
        builder = builder.tenant(tenant);
    }
    if let Some(timeout) = millis(options, "timeout_ms") {
        builder = builder.timeout(timeout);
    }
    if let Some(timeout) = millis(options, "attempt_timeout_ms") {
        builder = builder.attempt_timeout(timeout);
    }
    if let Some(retries) = options["retries"]
        .as_u64()
        .and_then(|count| u32::try_from(count).ok())
    {
        builder = builder.retries(retries);
    }
    Ok(builder.build()?)
}
