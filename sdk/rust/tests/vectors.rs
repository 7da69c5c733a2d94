//! All vectors of docs/vectors get the code that they name.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use boxoffice::WebhookEvent;
use serde_json::{Value, json};

use crate::{decide, file, statement_vectors, webhook_vectors};

fn path(name: &str) -> String {
    format!("{}/../../docs/vectors/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[tokio::test]
async fn tokens_and_proofs() {
    for name in ["participant-tokens.json", "thief.json"] {
        if !std::path::Path::new(&path(name)).exists() {
            continue;
        }
        let wanted: Value = serde_json::from_str(&file(&format!("docs/vectors/{name}"))).unwrap();
        let decided = decide::decide_tokens(&path(name), None).await.unwrap();
        let all = wanted["vectors"].as_array().unwrap();
        assert!(all.len() > 50, "{name}");
        for vector in all {
            let vector_name = vector["name"].as_str().unwrap();
            assert_eq!(
                decided[vector_name], vector["code"],
                "{name}: {vector_name}"
            );
        }
    }
}

#[tokio::test]
async fn revocations() {
    let wanted: Value = serde_json::from_str(&file("docs/vectors/revocations.json")).unwrap();
    let decided = decide::decide_revocations(&path("revocations.json"))
        .await
        .unwrap();
    let hashes = wanted["hashes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| each["hash"].clone());
    assert_eq!(decided["hashes"], hashes.collect::<Value>());
    for (name, value) in decided["claims"].as_object().unwrap() {
        assert_eq!(*value, wanted["claims"][name], "{name}");
    }
    for check in wanted["checks"].as_array().unwrap() {
        let name = check["name"].as_str().unwrap();
        let expected = match &check["code"] {
            Value::Null => json!({ "code": null, "muted": check["muted"] }),
            code => json!({ "code": code, "reason": check.get("reason") }),
        };
        assert_eq!(decided["checks"][name], expected, "{name}");
    }
}

#[test]
fn requests_of_webhooks() {
    let wanted: Value = serde_json::from_str(&file("docs/vectors/webhooks.json")).unwrap();
    let decided = webhook_vectors::decide(&path("webhooks.json")).unwrap();
    let all = wanted["vectors"].as_array().unwrap();
    assert!(all.len() > 50);
    for vector in all {
        let name = vector["name"].as_str().unwrap();
        let expected = match &vector["code"] {
            Value::Null => {
                let event: WebhookEvent = serde_json::from_value(vector["event"].clone()).unwrap();
                assert!(event.timestamp.is_some());
                json!({ "event": event })
            }
            code => json!({ "code": code }),
        };
        assert_eq!(decided[name], expected, "{name}");
    }
}

/// The vectors have a clock that stands.
#[test]
fn webhooks_are_verified_by_the_present_time() {
    let file: Value = serde_json::from_str(&file("docs/vectors/webhooks.json")).unwrap();
    let secret = file["vectors"][0]["secrets"][0].as_str().unwrap();
    let key = base64::engine::general_purpose::STANDARD
        .decode(&secret["whsec_".len()..])
        .unwrap();
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key);
    let body =
        br#"{"id":"evt_1","seq":1,"type":"x","timestamp":"2026-01-02T03:04:05.678Z","data":{}}"#;
    let verify = |age: Duration, ids: &[&str]| {
        let sent_at = (SystemTime::now() - age)
            .duration_since(UNIX_EPOCH)
            .unwrap();
        let timestamp = sent_at.as_secs().to_string();
        let signed = [b"evt_1.", timestamp.as_bytes(), b".", body].concat();
        let signature =
            base64::engine::general_purpose::STANDARD.encode(ring::hmac::sign(&key, &signed));
        let mut headers = http::HeaderMap::new();
        for id in ids {
            headers.append("webhook-id", id.parse().unwrap());
        }
        headers.insert("webhook-timestamp", timestamp.parse().unwrap());
        headers.insert(
            "webhook-signature",
            format!("v1,{signature}").parse().unwrap(),
        );
        boxoffice::verify_webhook([secret], &headers, body).map(|event| event.seq)
    };
    assert_eq!(verify(Duration::ZERO, &["evt_1"]), Ok(1));
    assert_eq!(verify(Duration::from_secs(290), &["evt_1"]), Ok(1));
    let stale = boxoffice::WebhookRefusal::Stale;
    assert_eq!(verify(Duration::from_secs(310), &["evt_1"]), Err(stale));
    assert!(stale.to_string().contains("5 minutes"));
    let missing = Err(boxoffice::WebhookRefusal::MissingHeader);
    assert_eq!(verify(Duration::ZERO, &["evt_1", "evt_1"]), missing);
}

#[test]
fn several_events_in_a_request() {
    let secret = "whsec_c2VjcmV0IG9mIGEgd2ViaG9vaw==";
    let key = base64::engine::general_purpose::STANDARD
        .decode(&secret["whsec_".len()..])
        .unwrap();
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key);
    let headers_of = |body: &str| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let timestamp = now.as_secs().to_string();
        let content = format!("evb_1.{timestamp}.{body}");
        let signature = base64::engine::general_purpose::STANDARD
            .encode(ring::hmac::sign(&key, content.as_bytes()));
        let mut headers = http::HeaderMap::new();
        headers.insert("webhook-id", "evb_1".parse().unwrap());
        headers.insert("webhook-timestamp", timestamp.parse().unwrap());
        headers.insert(
            "webhook-signature",
            format!("v1,{signature}").parse().unwrap(),
        );
        headers
    };
    let read = |body: &str| {
        boxoffice::verify_webhook_events([secret], &headers_of(body), body.as_bytes())
            .map(|events| events.into_iter().map(|event| event.id).collect::<Vec<_>>())
    };
    let one = |id: &str| {
        format!(
            r#"{{"id":"{id}","seq":0,"type":"x","timestamp":"2026-01-02T03:04:05.678Z","data":{{"a":1}}}}"#
        )
    };
    let (first, second) = (one("evt_1"), one("evt_2"));
    assert_eq!(read(&first).unwrap(), ["evt_1"]);
    assert_eq!(
        read(&format!(r#"{{"events":[{first},{second}]}}"#)).unwrap(),
        ["evt_1", "evt_2"]
    );
    for body in [
        r#"{"events":[]}"#.to_owned(),
        format!(r#"{{"events":[{first},{{}}]}}"#),
        format!("[{first}]"),
        "x".to_owned(),
    ] {
        let bad = boxoffice::WebhookRefusal::BadBody;
        assert_eq!(read(&body), Err(bad), "{body}");
        let headers = headers_of(&body);
        let signed = boxoffice::verify_webhook_signature([secret], &headers, body.as_bytes());
        assert_eq!(signed, Ok(()), "{body}");
    }
    let list = format!(r#"{{"events":[{first}]}}"#);
    let refused = boxoffice::verify_webhook([secret], &headers_of(&list), list.as_bytes());
    let refusal = refused.unwrap_err();
    assert_eq!(refusal, boxoffice::WebhookRefusal::BadBody);
    assert!(refusal.to_string().contains("verify_webhook_events"));
    let headers = headers_of(&first);
    assert_eq!(
        boxoffice::verify_webhook_signature([secret], &headers, second.as_bytes()),
        Err(boxoffice::WebhookRefusal::BadSignature)
    );
}

#[test]
fn the_codes_are_those_of_the_documentation() {
    let page = file("docs/tokens.md");
    for code in boxoffice::relay::RefusalCode::ALL {
        assert!(page.contains(&format!("`{code}`")), "{code}");
    }
    let own: Vec<&str> = boxoffice::relay::RefusalCode::ALL
        .iter()
        .map(|code| code.as_str())
        .collect();
    let typescript = file("sdk/typescript/src/relay/refusal.ts");
    let theirs: Vec<&str> = typescript
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_once(": '"))
        .filter(|(code, _)| {
            code.bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        })
        .map(|(code, _)| code)
        .collect();
    assert_eq!(own, theirs);
}

#[test]
fn statements() {
    let wanted: Value = serde_json::from_str(&file("docs/vectors/statements.json")).unwrap();
    let decided = statement_vectors::decide(&path("statements.json")).unwrap();
    for vector in wanted["vectors"].as_array().unwrap() {
        let name = vector["name"].as_str().unwrap();
        if vector["code"].is_null() {
            assert_eq!(decided[name]["statement"]["month"], "2026-10", "{name}");
            let closing = &decided[name]["statement"]["closing"]["micros"];
            assert_eq!(*closing, json!(52_999_996), "{name}");
        } else {
            assert_eq!(decided[name], json!({ "code": vector["code"] }), "{name}");
        }
    }
}
