//! The requests of docs/vectors/webhooks.json, verified by the crate.

use std::time::{Duration, UNIX_EPOCH};

use boxoffice::verify_webhook_at;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{Ended, crash};

#[derive(Deserialize)]
struct Vector {
    name: String,
    secrets: Vec<String>,
    headers: Map<String, Value>,
    body: String,
}

#[derive(Deserialize)]
struct Vectors {
    now: u64,
    vectors: Vec<Vector>,
}

/// By name of the vector, the code of the refusal, or the event.
pub fn decide(path: &str) -> Result<Value, Ended> {
    let text = std::fs::read_to_string(path).map_err(|error| crash(&error.to_string()))?;
    let file: Vectors = serde_json::from_str(&text)?;
    let now = UNIX_EPOCH + Duration::from_secs(file.now);
    let mut decided = Map::new();
    for vector in file.vectors {
        let headers = headers_of(&vector.headers)?;
        let body = vector.body.as_bytes();
        let outcome = match verify_webhook_at(now, &vector.secrets, &headers, body) {
            Ok(event) => json!({ "event": event }),
            Err(refusal) => json!({ "code": refusal.as_str() }),
        };
        decided.insert(vector.name, outcome);
    }
    Ok(Value::Object(decided))
}

fn headers_of(given: &Map<String, Value>) -> Result<HeaderMap, Ended> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let value = value.as_str().unwrap_or_default();
        let parsed = (name.parse::<HeaderName>(), value.parse::<HeaderValue>());
        let (Ok(name), Ok(value)) = parsed else {
            return Err(crash("there is no such header"));
        };
        headers.insert(name, value);
    }
    Ok(headers)
}
