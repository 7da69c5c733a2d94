//! The vectors of docs/vectors, decided by the relay half of the crate.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use boxoffice::relay::{
    AdmissionRefused, Attempt, Jwks, Participant, RevocationFeed, RevocationReason, Revocations,
    Subject, TokenVerifier, hash_of,
};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::{Ended, crash};

fn read_file(path: &str) -> Result<Value, Ended> {
    let text = std::fs::read_to_string(path).map_err(|error| crash(&error.to_string()))?;
    Ok(serde_json::from_str(&text)?)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn time(value: &Value) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(value.as_u64().unwrap_or_default())
}

/// By name of the vector, the code of the refusal; null: admitted. With `jwks_url`, keys come from there and not from the
/// file.
pub async fn decide_tokens(path: &str, jwks_url: Option<&str>) -> Result<Value, Ended> {
    let file = read_file(path)?;
    let mut codes = Map::new();
    for vector in file["vectors"].as_array().into_iter().flatten() {
        let outcome = decide(&file, vector, jwks_url).await?;
        let code = outcome.map_or_else(|refused| json!(refused.code.as_str()), |()| Value::Null);
        codes.insert(text(&vector["name"]), code);
    }
    Ok(Value::Object(codes))
}

async fn decide(
    file: &Value,
    vector: &Value,
    jwks_url: Option<&str>,
) -> Result<Result<(), AdmissionRefused>, Ended> {
    let in_connection = |name: &str| {
        let own = vector["connection"].get(name);
        own.unwrap_or(&file["connection"][name])
            .as_str()
            .unwrap_or_default()
    };
    let challenge = in_connection("challenge");
    let verifier = verifier(file, vector, challenge, jwks_url)?;
    if vector["challenge_issued"] != json!(false) && verifier.challenge()? != challenge {
        return Err(crash("another challenge was issued"));
    }
    let attempt = Attempt {
        token: vector["token"].as_str().unwrap_or_default(),
        proof: vector["proof"].as_str().unwrap_or_default(),
        challenge,
        url: in_connection("url"),
        method: in_connection("method"),
        dtls_fingerprint: in_connection("dtls_fingerprint"),
        address: Some(in_connection("address")),
    };
    let decision = match vector.get("renews") {
        Some(renews) => verifier.renew(&session_of(renews), attempt).await,
        None => verifier.verify(attempt).await,
    };
    Ok(decision.map(|_| ()))
}

fn verifier(
    file: &Value,
    vector: &Value,
    challenge: &str,
    jwks_url: Option<&str>,
) -> Result<TokenVerifier, Ended> {
    let served = &file["served"];
    let (room_uid, now) = (text(&served["room_uid"]), time(&file["now"]));
    let is_admitted = vector["admitted"] != json!(false);
    let reached = vector["reached_budgets"].clone();
    let bytes: [u8; 32] = URL_SAFE_NO_PAD
        .decode(challenge)
        .ok()
        .and_then(|bytes| bytes.try_into().ok())
        .unwrap_or_default();
    let mut builder = TokenVerifier::builder(text(&file["issuer"]), text(&file["audience"]))
        .tenants([text(&served["tenant"])])
        .rooms([text(&served["room"])])
        .current_room_uid(move |_, _| Some(room_uid.clone()))
        .admitted(move |_| is_admitted)
        .budget_reached(move |_, budgets| {
            let mut spent = reached.as_array().into_iter().flatten();
            spent.any(|each| budgets.iter().any(|budget| each == budget))
        })
        .wall_clock(move || now)
        .random(move || bytes);
    builder = match jwks_url {
        Some(url) => builder.jwks_url(url),
        None => builder.jwks(serde_json::from_value::<Jwks>(file["jwks"].clone())?),
    };
    if let Some(revocations) = vector.get("revocations") {
        let snapshot: Arc<Revocations> = Arc::new(serde_json::from_value(revocations.clone())?);
        builder = builder.revocations(move |_| Some(snapshot.clone()));
    }
    Ok(builder.build()?)
}

fn session_of(renews: &Value) -> Participant {
    Participant {
        tenant: text(&renews["tenant"]),
        username: text(&renews["username"]),
        room_uid: text(&renews["room_uid"]),
        device_thumbprint: text(&renews["device"]),
    }
}

/// Hashes, the snapshot as it was read, and what each check finds.
pub async fn decide_revocations(path: &str) -> Result<Value, Ended> {
    let file = read_file(path)?;
    let hashes = file["hashes"].as_array().into_iter().flatten().map(|each| {
        let parts = each["of"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        hash_of(&parts.collect::<Vec<_>>())
    });
    let snapshot = snapshot_of(&file).await?;
    let mut checks = Map::new();
    for each in file["checks"].as_array().into_iter().flatten() {
        checks.insert(text(&each["name"]), check(&snapshot, each, &file["now"]));
    }
    Ok(json!({ "hashes": hashes.collect::<Vec<_>>(), "claims": *snapshot, "checks": checks }))
}

/// As a feed reads it from a service.
async fn snapshot_of(file: &Value) -> Result<Arc<Revocations>, Ended> {
    let (tenant, now) = (text(&file["claims"]["tid"]), time(&file["now"]));
    let url = serve(text(&file["jws"]))
        .await
        .map_err(|error| crash(&error.to_string()))?;
    let (found, mut snapshots) = tokio::sync::mpsc::unbounded_channel();
    let feed = RevocationFeed::builder(
        url,
        [tenant],
        text(&file["issuer"]),
        text(&file["audience"]),
    )
    .jwks(serde_json::from_value(file["jwks"].clone())?)
    .wall_clock(move || now)
    .on_change(move |_, snapshot| drop(found.send(snapshot.clone())))
    .follow()?;
    let snapshot = snapshots
        .recv()
        .await
        .ok_or_else(|| crash("there is no snapshot"))?;
    feed.close().await;
    Ok(snapshot)
}

/// The address of a server that answers the next request with this text.
async fn serve(answer: String) -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await?;
        let _ = socket.read(&mut [0; 4096]).await?;
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        socket.write_all((head + &answer).as_bytes()).await
    });
    Ok(url)
}

fn check(snapshot: &Revocations, each: &Value, now: &Value) -> Value {
    let given = &each["subject"];
    let subject = Subject {
        tenant: text(&given["tenant"]),
        username: text(&given["user"]),
        room_uid: text(&given["room_uid"]),
        epoch: given["epoch"].as_u64().unwrap_or_default(),
        device_thumbprint: text(&given["device"]),
        range_salt: text(&given["salt"]),
        minted_by: text(&given["key"]),
    };
    let now = time(each.get("now").unwrap_or(now));
    match snapshot.check(&subject, now, given["address"].as_str()) {
        Ok(muted) => json!({ "code": null, "muted": muted }),
        Err(refused) => {
            let reason = refused.reason.map(RevocationReason::as_str);
            json!({ "code": refused.code.as_str(), "reason": reason })
        }
    }
}
