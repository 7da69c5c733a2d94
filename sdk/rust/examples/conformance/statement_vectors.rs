//! The texts of docs/vectors/statements.json, verified by the crate.

use boxoffice::{Jwks, verify_statement};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{Ended, crash};

#[derive(Deserialize)]
struct Vector {
    name: String,
    jws: String,
}

#[derive(Deserialize)]
struct Vectors {
    keys: Jwks,
    vectors: Vec<Vector>,
}

/// By name of the vector, the code of the refusal, or the statement.
pub fn decide(path: &str) -> Result<Value, Ended> {
    let text = std::fs::read_to_string(path).map_err(|error| crash(&error.to_string()))?;
    let file: Vectors = serde_json::from_str(&text)?;
    let mut decided = Map::new();
    for vector in file.vectors {
        let outcome = match verify_statement(&vector.jws, &file.keys) {
            Ok(statement) => json!({ "statement": statement }),
            Err(refusal) => json!({ "code": refusal.as_str() }),
        };
        decided.insert(vector.name, outcome);
    }
    Ok(Value::Object(decided))
}
