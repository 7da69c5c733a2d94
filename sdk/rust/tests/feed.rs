//! The feed of revocations, and signing keys that are fetched.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use boxoffice::relay::{
    Attempt, Jwks, RefusalCode, RevocationFeed, RevocationFeedBuilder, RevocationsErrorCode,
    TokenVerifier,
};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::file;
use crate::support::{Answer, Server, Then};

fn vectors() -> Value {
    serde_json::from_str(&file("docs/vectors/revocations.json")).unwrap()
}

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(vectors()["now"].as_u64().unwrap())
}

fn snapshot() -> Answer {
    let jws = vectors()["jws"].as_str().unwrap().to_owned();
    Answer::Http(
        200,
        vec![("content-type", "application/jwt".into())],
        Bytes::from(jws),
    )
}

fn feed(server: &Server) -> RevocationFeedBuilder {
    let file = vectors();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (issuer, audience) = (text(&file["issuer"]), text(&file["audience"]));
    let tenant = text(&file["claims"]["tid"]);
    let jwks: Jwks = serde_json::from_value(file["jwks"].clone()).unwrap();
    RevocationFeed::builder(&server.url, [tenant], issuer, audience)
        .jwks(jwks)
        .wall_clock(now)
}

#[tokio::test]
async fn it_follows_the_tenant() {
    let server = Server::start(|number, _| match number {
        0 => snapshot(),
        _ => Answer::Silence,
    })
    .await;
    let (changed, mut changes) = mpsc::unbounded_channel();
    let feed = feed(&server)
        .on_change(move |tenant, found| changed.send((tenant.to_owned(), found.seq)).unwrap())
        .follow()
        .unwrap();
    let (tenant, seq) = changes.recv().await.unwrap();
    assert_eq!((tenant.as_str(), seq), ("t_e3131c22f12898a2", 42));
    assert_eq!(feed.get(&tenant).unwrap().bans.len(), 5);
    assert!(feed.get("t_other").is_none());
    while server.received().len() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let paths: Vec<_> = server
        .received()
        .into_iter()
        .map(|each| each.path)
        .collect();
    assert_eq!(paths[0], "/v1/revocations/t_e3131c22f12898a2");
    assert_eq!(paths[1], "/v1/revocations/t_e3131c22f12898a2?after=42");
    assert!(server.received()[0].headers.get("authorization").is_none());
    feed.close().await;
}

const TENANT: &str = "t_e3131c22f12898a2";

fn events(admitted: &[&str], then: Then) -> Answer {
    let jws = vectors()["jws"].as_str().unwrap().to_owned();
    let mut text = format!(": hello\n\nevent: revocations\ndata: {jws}\n\n");
    for told in admitted {
        text += &format!("event: admitted\ndata: {told}\n\n");
    }
    Answer::Events(text, then)
}

#[tokio::test]
async fn a_stream_with_a_relay_key_tells_which_budgets_are_spent() {
    let server = Server::start(|_, _| {
        let told = [
            r#"{"admitted":true}"#,
            r#"{"admitted":true,"reached_budgets":["bu_1","bu_2"]}"#,
        ];
        events(&told, Then::Silence)
    })
    .await;
    let (told, mut news) = mpsc::unbounded_channel();
    let feed = feed(&server)
        .relay_key(|tenant| Some(format!("key-of-{tenant}")))
        .on_budgets(move |tenant| told.send(tenant.to_owned()).unwrap())
        .follow()
        .unwrap();
    assert_eq!(news.recv().await.unwrap(), TENANT);
    let budgets = |names: &[&str]| names.iter().map(|&name| name.into()).collect::<Vec<_>>();
    assert!(feed.budget_reached(TENANT, &budgets(&["bu_0", "bu_2"])));
    assert!(!feed.budget_reached(TENANT, &budgets(&["bu_0"])));
    assert!(!feed.budget_reached("t_other", &budgets(&["bu_1"])));
    assert_eq!(feed.admitted(TENANT), Some(true));
    assert_eq!(feed.admitted("t_other"), None);
    assert_eq!(feed.get(TENANT).unwrap().seq, 42);
    let headers = server.received()[0].headers.clone();
    assert_eq!(headers["authorization"], format!("Bearer key-of-{TENANT}"));
    assert_eq!(headers["accept"], "text/event-stream");
    feed.close().await;
}

#[tokio::test]
async fn what_a_stream_told_ends_with_it() {
    let server = Server::start(|number, _| match number {
        0 => events(&[r#"{"admitted":true}"#], Then::Break),
        _ => Answer::Silence,
    })
    .await;
    let (failed, mut failures) = mpsc::unbounded_channel();
    let feed = feed(&server)
        .relay_key(|_| Some("the-key".to_owned()))
        .on_error(move |error| failed.send(error.code).unwrap())
        .follow()
        .unwrap();
    assert_eq!(
        failures.recv().await.unwrap(),
        RevocationsErrorCode::NoAnswer
    );
    // The error is told after what the stream told was forgotten.
    assert_eq!(feed.admitted(TENANT), None);
    assert_eq!(feed.get(TENANT).unwrap().seq, 42);
    feed.close().await;
}

#[tokio::test]
async fn failures_are_reported_and_retried() {
    let server = Server::start(|number, _| match number {
        0 => Answer::Http(503, vec![("retry-after", "0".into())], Bytes::new()),
        1 => Answer::Http(200, vec![], Bytes::from_static(b"no.jws.here")),
        2 => Answer::Break,
        3 => Answer::Http(
            307,
            vec![("location", "http://127.0.0.1:1/".into())],
            Bytes::new(),
        ),
        4 => snapshot(),
        _ => Answer::Silence,
    })
    .await;
    let (failed, mut failures) = mpsc::unbounded_channel();
    let (changed, mut changes) = mpsc::unbounded_channel();
    let feed = feed(&server)
        .on_error(move |error| failed.send(error.clone()).unwrap())
        .on_change(move |_, _| changed.send(()).unwrap())
        .follow()
        .unwrap();
    changes.recv().await.unwrap();
    use RevocationsErrorCode::{BadAnswer, NoAnswer, NotValid};
    for (code, status) in [
        (BadAnswer, Some(503)),
        (NotValid, None),
        (NoAnswer, None),
        (BadAnswer, Some(307)),
    ] {
        let error = failures.recv().await.unwrap();
        assert_eq!((error.code, error.status), (code, status));
    }
    feed.close().await;
}

#[tokio::test]
async fn what_is_not_for_us_changes_nothing() {
    let late = now() + Duration::from_secs(60);
    let other = |feed: RevocationFeedBuilder| feed.wall_clock(move || late);
    let server = Server::start(|_, _| snapshot()).await;
    let (failed, mut failures) = mpsc::unbounded_channel();
    let feed = other(feed(&server)).on_error(move |error| {
        let _ = failed.send(error.code);
    });
    let feed = feed.follow().unwrap();
    assert_eq!(
        failures.recv().await.unwrap(),
        RevocationsErrorCode::NotValid
    );
    assert!(feed.get("t_e3131c22f12898a2").is_none());
}

/// The snapshot of the vectors with another `seq` and further bans, signed by the test key.
fn signed(seq: u64, bans: &[Value]) -> Answer {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};

    let mut claims = vectors()["claims"].clone();
    claims["seq"] = seq.into();
    claims["bans"]
        .as_array_mut()
        .unwrap()
        .extend(bans.iter().cloned());
    let header = vectors()["jws"]
        .as_str()
        .unwrap()
        .split('.')
        .next()
        .unwrap()
        .to_owned();
    let input = format!("{header}.{}", BASE64.encode(claims.to_string()));
    let keys: Value = serde_json::from_str(&file("docs/vectors/participant-tokens.json")).unwrap();
    let part = |name: &str| {
        BASE64
            .decode(keys["keys"]["signing"][name].as_str().unwrap())
            .unwrap()
    };
    let public = [vec![4], part("x"), part("y")].concat();
    let random = ring::rand::SystemRandom::new();
    let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let key =
        EcdsaKeyPair::from_private_key_and_public_key(algorithm, &part("d"), &public, &random);
    let signature = key.unwrap().sign(&random, input.as_bytes()).unwrap();
    let jws = format!("{input}.{}", BASE64.encode(signature));
    Answer::Http(200, vec![], Bytes::from(jws))
}

#[tokio::test]
async fn only_a_newer_snapshot_that_is_understood_counts() {
    let server = Server::start(|number, _| match number {
        0 => signed(42, &[]),
        1 => signed(41, &[]),
        2 => signed(43, &[json!(["*", "galaxy", "x", null])]),
        3 => signed(
            43,
            &[json!(["*", "range", "024/uDjg7WgVDa9ugfskDerZ1g", null])],
        ),
        4 => signed(43, &[]),
        _ => Answer::Silence,
    })
    .await;
    let (told, mut news) = mpsc::unbounded_channel();
    let failed = told.clone();
    let feed = feed(&server)
        .on_change(move |_, found| told.send(found.seq.to_string()).unwrap())
        .on_error(move |error| failed.send(error.code.as_str().to_owned()).unwrap())
        .follow()
        .unwrap();
    for expected in ["42", "OLDER", "NOT_VALID", "NOT_VALID", "43"] {
        assert_eq!(news.recv().await.unwrap(), expected);
    }
    feed.close().await;
}

#[tokio::test]
async fn a_listener_that_panics_does_not_end_it() {
    let server = Server::start(|number, _| match number {
        0 => Answer::Http(500, vec![], Bytes::new()),
        1 => snapshot(),
        _ => Answer::Silence,
    })
    .await;
    let (changed, mut changes) = mpsc::unbounded_channel();
    let feed = feed(&server)
        .on_error(|_| panic!("of the test"))
        .on_change(move |_, _| {
            changed.send(()).unwrap();
        });
    let feed = feed.follow().unwrap();
    changes.recv().await.unwrap();
    drop(feed);
}

/// What the verifier makes of the first vector, which is good.
async fn present(verifier: &TokenVerifier) -> Option<RefusalCode> {
    let file: Value = serde_json::from_str(&file("docs/vectors/participant-tokens.json")).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (good, connection) = (&file["vectors"][0], &file["connection"]);
    let attempt = Attempt {
        token: &text(&good["token"]),
        proof: &text(&good["proof"]),
        challenge: &text(&connection["challenge"]),
        url: &text(&connection["url"]),
        method: &text(&connection["method"]),
        dtls_fingerprint: &text(&connection["dtls_fingerprint"]),
        address: None,
    };
    assert!(!format!("{attempt:?}").contains(attempt.token));
    verifier
        .verify(attempt)
        .await
        .err()
        .map(|refused| refused.code)
}

fn verifier(server: &Server) -> TokenVerifier {
    let url = format!("{}/.well-known/jwks.json", server.url);
    TokenVerifier::builder("https://boxoffice.example", "relay:boxoffice.example")
        .jwks_url(url)
        .wall_clock(now)
        .build()
        .unwrap()
}

#[tokio::test]
async fn keys_are_fetched_once_for_all() {
    let server = Server::start(|_, _| Answer::json(&vectors()["jwks"].to_string())).await;
    let verifier = Arc::new(verifier(&server));
    let asked = Arc::new(AtomicUsize::new(0));
    let mut attempts = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let (verifier, asked) = (verifier.clone(), asked.clone());
        attempts.spawn(async move {
            asked.fetch_add(1, Ordering::Relaxed);
            present(&verifier).await
        });
    }
    // The challenge was never issued here, and is looked at after the signature.
    let codes = attempts.join_all().await;
    assert!(
        codes
            .iter()
            .all(|code| *code == Some(RefusalCode::ChallengeUnusable)),
        "{codes:?}"
    );
    assert_eq!(asked.load(Ordering::Relaxed), 20);
    assert_eq!(server.received().len(), 1);
    assert_eq!(server.received()[0].path, "/.well-known/jwks.json");
}

#[tokio::test]
async fn without_keys_everyone_is_refused() {
    let server = Server::start(|_, _| Answer::Http(503, vec![], Bytes::new())).await;
    let verifier = verifier(&server);
    assert_eq!(present(&verifier).await, Some(RefusalCode::KeysUnavailable));
    assert_eq!(present(&verifier).await, Some(RefusalCode::KeysUnavailable));
    assert_eq!(
        server.received().len(),
        1,
        "at most one fetch in 30 seconds"
    );
}

#[tokio::test]
async fn a_fetch_goes_on_when_its_first_caller_leaves() {
    let server = Server::start(|_, _| Answer::json(&vectors()["jwks"].to_string())).await;
    let verifier = verifier(&server);
    let first = tokio::time::timeout(Duration::ZERO, present(&verifier)).await;
    assert!(first.is_err());
    assert_eq!(
        present(&verifier).await,
        Some(RefusalCode::ChallengeUnusable)
    );
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn keys_come_from_one_place() {
    let builder = || TokenVerifier::builder("https://boxoffice.example", "relay:boxoffice.example");
    assert!(builder().build().is_err());
    let both = builder()
        .jwks(Jwks::default())
        .jwks_url("https://boxoffice.example/jwks.json");
    assert!(both.build().is_err());
}
