//! Retries, idempotency keys and time limits.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use boxoffice::{
    Code, CreateKey, CreateRoom, EndRoom, Error, GetRoom, MintClientToken, Role, SignUp, Tier,
    UsageRecord,
};
use bytes::Bytes;

use crate::support::{Answer, Received, Server, any, builder, client, details, rpc, wire};

fn room() -> wire::CreateRoomResponse {
    let room = wire::Room {
        name: "lobby".into(),
        ..Default::default()
    };
    wire::CreateRoomResponse { room: Some(room) }
}

fn keys(server: &Server) -> BTreeSet<String> {
    let key = |each: &Received| each.message::<wire::CreateRoomRequest>().idempotency_key;
    server.received().iter().map(key).collect()
}

#[tokio::test]
async fn a_mutation_has_one_key_for_all_attempts() {
    let server = Server::start(|number, _| match number {
        0 => Answer::Break,
        1 => Answer::refusal(14, "OVERLOADED"),
        _ => Answer::of(&room()),
    })
    .await;
    let created = client(&server)
        .rooms()
        .create(CreateRoom::new("lobby").locked(true))
        .await;
    assert_eq!(created.unwrap().name, "lobby");
    let received = server.received();
    assert_eq!(received.len(), 3);
    assert_eq!(
        received[0].path,
        "/boxoffice.control.v1.RoomService/CreateRoom"
    );
    assert_eq!(received[0].body, received[2].body);
    let request: wire::CreateRoomRequest = received[0].message();
    assert_eq!(
        (request.tenant.as_str(), request.room.as_str()),
        ("t_1", "lobby")
    );
    assert!(request.policy.unwrap().locked);
    assert_eq!(request.idempotency_key.len(), 32);

    client(&server)
        .rooms()
        .create(CreateRoom::new("lobby"))
        .await
        .unwrap();
    client(&server)
        .rooms()
        .create(CreateRoom::new("lobby"))
        .idempotency_key("own")
        .await
        .unwrap();
    assert_eq!(keys(&server).len(), 3);
    assert!(keys(&server).contains("own"));
    let before = server.received().len();
    for key in ["", "a\n", "\u{fc}", &"k".repeat(129)] {
        let call = client(&server).rooms().create(CreateRoom::new("lobby"));
        let error = call.idempotency_key(key).await.unwrap_err();
        assert!(matches!(error, Error::Invalid(_)), "{key}");
    }
    assert_eq!(server.received().len(), before);
}

#[tokio::test]
async fn failures_that_last_are_not_repeated() {
    for code in [3, 5, 6, 7, 8, 9, 12, 13, 16, 2] {
        let server = Server::start(move |_, _| Answer::refusal(code, "")).await;
        client(&server)
            .rooms()
            .end(EndRoom::new("lobby"))
            .await
            .unwrap_err();
        assert_eq!(server.received().len(), 1, "{code}");
    }
}

#[tokio::test]
async fn attempts_end_after_the_retries() {
    let server = Server::start(|_, _| Answer::refusal(14, "UNAVAILABLE")).await;
    let client = builder(&server).retries(2).build().unwrap();
    let error = client.rooms().get(GetRoom::new()).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable(_)));
    assert_eq!(server.received().len(), 3);
}

#[tokio::test]
async fn a_retry_waits_for_as_long_as_the_service_asks() {
    let server = Server::start(|number, _| {
        if number > 0 {
            return Answer::of(&room());
        }
        let delay = prost_types::Duration {
            seconds: 1,
            nanos: 0,
        };
        let mut status = details(14, "TOO_MANY_CALLS");
        let retry = rpc::RetryInfo {
            retry_delay: Some(delay),
        };
        status.details.push(any("google.rpc.RetryInfo", &retry));
        Answer::Status(14, "wait".into(), status)
    })
    .await;
    let started = Instant::now();
    client(&server)
        .rooms()
        .create(CreateRoom::new("lobby"))
        .await
        .unwrap();
    assert!(started.elapsed() >= Duration::from_secs(1));

    // Without time for the wait, the call fails at once.
    let server = Server::start(|_, _| {
        let delay = prost_types::Duration {
            seconds: 20,
            nanos: 0,
        };
        let mut status = details(14, "TOO_MANY_CALLS");
        let retry = rpc::RetryInfo {
            retry_delay: Some(delay),
        };
        status.details.push(any("google.rpc.RetryInfo", &retry));
        Answer::Status(14, "wait".into(), status)
    })
    .await;
    let call = client(&server)
        .rooms()
        .get(GetRoom::new())
        .timeout(Duration::from_secs(5));
    let started = Instant::now();
    assert!(matches!(call.await.unwrap_err(), Error::Unavailable(_)));
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn deadlines() {
    let server = Server::start(|_, _| Answer::Silence).await;
    let client = builder(&server).build().unwrap();
    for error in [
        client
            .rooms()
            .get(GetRoom::new())
            .timeout(Duration::from_millis(100))
            .await
            .unwrap_err(),
        client
            .billing()
            .get()
            .timeout(Duration::from_millis(100))
            .await
            .unwrap_err(),
    ] {
        assert!(matches!(error, Error::Timeout(_)));
        assert_eq!(error.failure().code, Code::Grpc("DEADLINE_EXCEEDED"));
    }
    assert_eq!(server.received().len(), 2);

    // An attempt that takes too long is repeated.
    let server = Server::start(|number, _| match number {
        0 => Answer::Silence,
        _ => Answer::of(&room()),
    })
    .await;
    let client = builder(&server)
        .attempt_timeout(Duration::from_millis(200))
        .build()
        .unwrap();
    client
        .rooms()
        .create(CreateRoom::new("lobby"))
        .await
        .unwrap();
    assert_eq!(server.received().len(), 2);
    assert_eq!(keys(&server).len(), 1);
}

#[tokio::test]
async fn rest_repeats_what_is_safe() {
    let unavailable = |_: usize, _: &Received| Answer::Http(503, vec![], Bytes::new());
    for (is_repeated, name) in [
        (true, "billing"),
        (true, "keys"),
        (true, "usage"),
        (true, "create"),
        (true, "checkout"),
        (true, "portal"),
        (false, "sign up"),
    ] {
        let server = Server::start(unavailable).await;
        let client = builder(&server).retries(1).build().unwrap();
        let record = UsageRecord::new("r1", Role::Host, Tier::TwoK, 30);
        let error = match name {
            "billing" => client.billing().get().await.unwrap_err(),
            "keys" => client.keys().list().await.unwrap_err(),
            "usage" => client.usage().report([record]).await.unwrap_err(),
            "create" => client
                .keys()
                .create(CreateKey::new("ci"))
                .await
                .unwrap_err(),
            "checkout" => client.billing().checkout(1000).await.unwrap_err(),
            "portal" => client.billing().portal().await.unwrap_err(),
            _ => client
                .sign_up(SignUp::new("ann@example.com").name("Ann"))
                .await
                .unwrap_err(),
        };
        assert!(matches!(error, Error::Unavailable(_)), "{name}");
        assert_eq!(
            server.received().len(),
            if is_repeated { 2 } else { 1 },
            "{name}"
        );
        let is_write = matches!(name, "create" | "checkout" | "portal");
        let sent: Vec<_> = server
            .received()
            .iter()
            .map(|each| each.headers.get("idempotency-key").cloned())
            .collect();
        assert_eq!(sent[0].is_some(), is_write, "{name}");
        assert_eq!(sent.first(), sent.last(), "{name}");
    }
}

#[tokio::test]
async fn rest_takes_the_key_of_the_caller() {
    let unavailable = |_: usize, _: &Received| Answer::Http(503, vec![], Bytes::new());
    let server = Server::start(unavailable).await;
    let client = builder(&server).retries(0).build().unwrap();
    let portal = || client.billing().portal();
    portal().idempotency_key("mine").await.unwrap_err();
    assert_eq!(server.received()[0].headers["idempotency-key"], "mine");
    for key in ["", "a b", "a\n", "\u{fc}", &"k".repeat(256)] {
        let error = portal().idempotency_key(key).await.unwrap_err();
        assert!(matches!(error, Error::Invalid(_)), "{key}");
    }
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn the_tenant_is_looked_up_once() {
    let server = Server::start(|_, received| match received.path.as_str() {
        "/v1/billing" => Answer::json(r#"{"tenant":{"id":"t_found"}}"#),
        _ => Answer::of(&wire::GetRoomResponse {
            room: Some(wire::Room::default()),
        }),
    })
    .await;
    let client = boxoffice::Client::builder()
        .url(&server.url)
        .control_url(&server.url);
    let client = client.api_key("svc").build().unwrap();
    let rooms = client.rooms();
    let get = || rooms.get(GetRoom::new().room("lobby")).into_future();
    let (one, other) = tokio::join!(get(), get());
    one.and(other).unwrap();
    let paths: Vec<_> = server
        .received()
        .into_iter()
        .map(|each| each.path)
        .collect();
    assert_eq!(
        paths.iter().filter(|path| *path == "/v1/billing").count(),
        1
    );
    let request: wire::GetRoomRequest = server.received()[1].message();
    assert_eq!(request.tenant, "t_found");
}

#[tokio::test]
async fn a_relay_key_asks_the_control_plane_without_a_tenant() {
    let server = Server::start(|_, received| match received.path.as_str() {
        "/v1/billing" => Answer::Http(401, vec![], Bytes::new()),
        _ => Answer::refusal(7, "RELAY_KEY"),
    })
    .await;
    let client = boxoffice::Client::builder()
        .url(&server.url)
        .control_url(&server.url);
    let client = client.api_key("svc").build().unwrap();
    let error = client.rooms().get(GetRoom::new()).await.unwrap_err();
    assert_eq!(error.reason(), "RELAY_KEY");
}

#[tokio::test]
async fn requests_are_sent_as_the_contract_says() {
    let server = Server::start(|_, _| {
        Answer::of(&wire::MintClientTokenResponse {
            token: "eyJ".into(),
            ..Default::default()
        })
    })
    .await;
    let request = MintClientToken::new("lobby", "Ann", "x")
        .role("host")
        .capabilities(["chat.send"]);
    let request = request
        .rank(0)
        .lifetime(Duration::from_millis(1500))
        .age_verified(true);
    let minted = client(&server).tokens().mint(request).await.unwrap();
    assert_eq!(&*minted.token, "eyJ");
    assert!(!format!("{minted:?}").contains("eyJ"));
    let sent: wire::MintClientTokenRequest = server.received()[0].message();
    assert_eq!(sent.rank, Some(0));
    assert_eq!(
        sent.lifetime,
        Some(prost_types::Duration {
            seconds: 1,
            nanos: 500_000_000
        })
    );
    assert_eq!(sent.capabilities, ["chat.send"]);

    let server = Server::start(|_, _| Answer::Http(204, vec![], Bytes::new())).await;
    let revoke = boxoffice::RevokeKey::new("a/b?c").stop_service();
    client(&server).keys().revoke(revoke).await.unwrap();
    let received = &server.received()[0];
    assert_eq!(received.method, "DELETE");
    assert_eq!(received.path, "/v1/keys/a%2Fb%3Fc?confirm=stop-service");
}
