//! Every code and every reason becomes the variant that the table of the contract names.

use std::collections::BTreeMap;
use std::time::Duration;

use boxoffice::{Code, Error, GetRoom, Kind};
use bytes::Bytes;
use serde_json::Value;

use crate::file;
use crate::support::{Answer, KEY, Server, any, builder, details, rpc};

const CODES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

fn table() -> Value {
    serde_json::from_str(&file("proto/boxoffice/control/v1/errors.json")).unwrap()
}

fn number(code: &str) -> i32 {
    CODES
        .iter()
        .position(|each| *each == code)
        .unwrap()
        .try_into()
        .unwrap()
}

/// Which variant it is, without the help of `kind`.
fn variant(error: &Error) -> &'static str {
    match error {
        Error::NotFound(_) => "NotFound",
        Error::Denied(_) => "Denied",
        Error::Unauthenticated(_) => "Unauthenticated",
        Error::Invalid(_) => "Invalid",
        Error::Exists(_) => "Exists",
        Error::Closed(_) => "Closed",
        Error::Precondition(_) => "Precondition",
        Error::Unavailable(_) => "Unavailable",
        Error::Internal(_) => "Internal",
        Error::Timeout(_) => "Timeout",
        Error::RateLimited(_) => "RateLimited",
        _ => "another",
    }
}

/// The error of a call that is answered with this code and reason.
async fn error_of(code: i32, reason: &str) -> Error {
    let reason = reason.to_owned();
    let server = Server::start(move |_, _| Answer::refusal(code, &reason)).await;
    let client = builder(&server).retries(0).build().unwrap();
    client
        .rooms()
        .get(GetRoom::new().room("lobby"))
        .await
        .unwrap_err()
}

#[tokio::test]
async fn codes() {
    let table = table();
    let kinds = table["kinds"].as_array().unwrap();
    for code in &CODES[1..] {
        let found = kinds
            .iter()
            .find(|kind| kind["code"] == **code && kind["reason"].is_null());
        let wanted = found.map_or("Internal", |kind| kind["kind"].as_str().unwrap());
        let error = error_of(number(code), "OF_A_LATER_VERSION").await;
        assert_eq!(variant(&error), wanted, "{code}");
        assert_eq!(format!("{:?}", error.kind()), wanted);
        assert_eq!(error.failure().code, Code::Grpc(code));
        assert_eq!(error.reason(), "OF_A_LATER_VERSION");
    }
}

#[tokio::test]
async fn reasons() {
    let table = table();
    let mut reasons = BTreeMap::new();
    for list in ["native", "anytime", "conditions"] {
        for row in table[list].as_array().unwrap() {
            if let Some(reason) = row["reason"].as_str() {
                reasons.insert(reason.to_owned(), row["code"].as_str().unwrap().to_owned());
            }
        }
    }
    assert!(reasons.len() > 20);
    for (reason, code) in reasons {
        let kinds = table["kinds"].as_array().unwrap();
        let kind = kinds.iter().find(|kind| {
            kind["code"] == code && (kind["reason"].is_null() || kind["reason"] == reason)
        });
        let error = error_of(number(&code), &reason).await;
        assert_eq!(variant(&error), kind.unwrap()["kind"], "{reason}");
        assert_eq!(error.reason(), reason);
    }
    // A reason only counts together with its own code.
    let error = error_of(number("NOT_FOUND"), "ROOM_ENDED").await;
    assert_eq!(error.kind(), Kind::NotFound);
}

#[tokio::test]
async fn details_of_a_call() {
    let server = Server::start(|_, _| {
        let mut status = details(14, "TOO_MANY_CALLS");
        let violation = rpc::bad_request::FieldViolation {
            field: "policy.max_participants".into(),
            description: "0 to 100000".into(),
        };
        let violations = rpc::BadRequest {
            field_violations: vec![violation],
        };
        let delay = prost_types::Duration {
            seconds: 1,
            nanos: 500_000_000,
        };
        let retry = rpc::RetryInfo {
            retry_delay: Some(delay),
        };
        status
            .details
            .push(any("google.rpc.BadRequest", &violations));
        status.details.push(any("google.rpc.RetryInfo", &retry));
        status
            .details
            .push(any("google.rpc.OfALaterVersion", &retry));
        Answer::Status(14, "wait".into(), status)
    })
    .await;
    let client = builder(&server).retries(0).build().unwrap();
    let error = client.rooms().get(GetRoom::new()).await.unwrap_err();
    let failure = error.failure();
    assert_eq!(failure.message, "wait");
    assert_eq!(failure.request_id.as_deref(), Some("request-1"));
    assert_eq!(
        failure.metadata,
        BTreeMap::from([("max".to_owned(), "1".to_owned())])
    );
    assert_eq!(failure.retry_after, Some(Duration::from_millis(1500)));
    assert_eq!(failure.fields[0].field, "policy.max_participants");
    assert_eq!(failure.fields[0].description, "0 to 100000");
    assert_eq!(
        error.to_string(),
        "Unavailable: wait (UNAVAILABLE, TOO_MANY_CALLS, request request-1)"
    );
}

#[tokio::test]
async fn invalid_fields_of_rest() {
    for (header, field, description) in [
        ("records/0/seconds", "records/0/seconds", "must be <= 86400"),
        ("%C3%BC%2F%25", "ü/%", "records/0/seconds must be <= 86400"),
        ("%ff", "", "records/0/seconds must be <= 86400"),
        ("%", "", "records/0/seconds must be <= 86400"),
        ("%+1", "", "records/0/seconds must be <= 86400"),
    ] {
        let body = r#"{"error":"invalid request: records/0/seconds must be <= 86400"}"#;
        let server = Server::start(move |_, _| {
            let headers = vec![("invalid-field", header.into())];
            Answer::Http(400, headers, Bytes::from_static(body.as_bytes()))
        })
        .await;
        let client = builder(&server).retries(0).build().unwrap();
        let error = client.billing().get().await.unwrap_err();
        let [violation] = error.failure().fields.as_slice() else {
            panic!("one field is wrong");
        };
        assert_eq!(violation.field, field, "{header}");
        assert_eq!(violation.description, description, "{header}");
    }
}

#[tokio::test]
async fn statuses_of_rest() {
    let table = table();
    let statuses = table["statuses"].as_array().unwrap();
    for status in [
        301, 400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 429, 500, 502, 503, 504,
    ] {
        let found = statuses.iter().find(|each| each["status"] == status);
        let wanted = found.map_or("Internal", |each| each["kind"].as_str().unwrap());
        let body = r#"{"error":"invalid request: name is too long","code":"last_key"}"#;
        let server = Server::start(move |_, _| {
            let headers = vec![("x-request-id", "r-1".into()), ("retry-after", "2".into())];
            Answer::Http(status, headers, Bytes::from_static(body.as_bytes()))
        })
        .await;
        let client = builder(&server).retries(0).build().unwrap();
        let error = client.billing().get().await.unwrap_err();
        let failure = error.failure();
        assert_eq!(variant(&error), wanted, "{status}");
        assert_eq!(failure.code, Code::Http(status));
        assert_eq!(
            failure.reason,
            if status == 402 {
                "NO_CREDIT"
            } else {
                "LAST_KEY"
            }
        );
        assert_eq!(failure.request_id.as_deref(), Some("r-1"));
        let shown = format!("({status}, {}, request r-1)", failure.reason);
        assert!(error.to_string().ends_with(&shown), "{error}");
        assert_eq!(failure.retry_after, Some(Duration::from_secs(2)));
        assert_eq!(failure.message, "invalid request: name is too long");
        let descriptions: Vec<_> = failure
            .fields
            .iter()
            .map(|each| &each.description)
            .collect();
        let expected = if status == 400 {
            vec!["name is too long"]
        } else {
            vec![]
        };
        assert_eq!(descriptions, expected);
    }
}

#[tokio::test]
async fn the_key_is_nowhere() {
    let server = Server::start(|_, _| Answer::refusal(16, "INVALID_API_KEY")).await;
    let client = builder(&server).build().unwrap();
    let error = client.rooms().get(GetRoom::new()).await.unwrap_err();
    let unreached = builder(&server)
        .url("http://127.0.0.1:1")
        .retries(0)
        .build()
        .unwrap();
    let not_reached = unreached.billing().get().await.unwrap_err();
    let refused = builder(&server)
        .api_key(format!("{KEY}\n"))
        .build()
        .unwrap_err();
    let texts = [
        format!("{:?} {:?} {:?}", builder(&server), client, client.rooms()),
        format!(
            "{:?} {:?}",
            client.keys().list(),
            client.rooms().get(GetRoom::new())
        ),
        format!("{error:?} {error}"),
        format!("{not_reached:?} {not_reached}"),
        format!("{refused:?} {refused}"),
    ];
    for text in texts {
        assert!(!text.contains("very-secret"), "{text}");
    }
    let sent = &server.received()[0].headers["authorization"];
    assert_eq!(sent, &format!("Bearer {KEY}"));
}
