//! Mistakes that are found before anything is sent.

use std::time::Duration;

use boxoffice::{
    BanSubject, Code, CreateWatchdog, Error, ListEvents, MintClientToken, RotateDeviceCredential,
    Subject, UpdateRoomPolicy, UpdateWatchdog, WatchdogAction, WatchdogCondition,
};

use crate::support::{Answer, Server, builder, client};

fn assert_invalid(error: Error, field: &str) {
    let Error::Invalid(failure) = error else {
        panic!("{error}")
    };
    assert_eq!(failure.code, Code::None);
    assert_eq!(failure.fields[0].field, field);
}

#[tokio::test]
async fn in_requests() {
    let server = Server::start(|_, _| Answer::Silence).await;
    let client = client(&server);
    let odd = Duration::from_micros(60_000_100);
    let watchdog = CreateWatchdog::new(
        "lobby",
        WatchdogCondition::EmptyFor(odd),
        WatchdogAction::Notify,
    );
    let ban = BanSubject::new(Subject::Username("ann".into())).ttl(odd);
    assert_invalid(
        client.watchdogs().create(watchdog).await.unwrap_err(),
        "empty_for",
    );
    assert_invalid(client.moderation().ban(ban).await.unwrap_err(), "ttl");
    let update = UpdateWatchdog::new("wd");
    assert_invalid(
        client.watchdogs().update(update.clone()).await.unwrap_err(),
        "watchdog",
    );
    let update = update.warn_before(odd);
    assert_invalid(
        client.watchdogs().update(update).await.unwrap_err(),
        "warn_before",
    );
    let update = UpdateRoomPolicy::new("lobby");
    assert_invalid(
        client.rooms().update_policy(update).await.unwrap_err(),
        "policy",
    );
    let list = ListEvents::new().wait(odd);
    assert_invalid(client.rooms().list_events(list).await.unwrap_err(), "wait");
    let mint = MintClientToken::new("lobby", "ann", "x").lifetime(odd);
    assert_invalid(client.tokens().mint(mint).await.unwrap_err(), "lifetime");
    let rotate = RotateDeviceCredential::new("id").overlap(odd);
    assert_invalid(
        client
            .device_credentials()
            .rotate(rotate)
            .await
            .unwrap_err(),
        "overlap",
    );
    assert!(server.received().is_empty());
}

#[tokio::test]
async fn in_options() {
    let server = Server::start(|_, _| Answer::Silence).await;
    for url in [
        "",
        "boxoffice",
        "ftp://boxoffice.example",
        "http://",
        "http://a?b",
        "http://k@a",
    ] {
        assert_invalid(builder(&server).url(url).build().unwrap_err(), "url");
        assert_invalid(
            builder(&server).control_url(url).build().unwrap_err(),
            "control_url",
        );
    }
    for key in ["svc_1\nx: y", "svc_é", "a b"] {
        assert_invalid(
            builder(&server).api_key(key).build().unwrap_err(),
            "api_key",
        );
    }
    let no_certificate = builder(&server).ca_certificates("no certificate");
    assert_invalid(no_certificate.build().unwrap_err(), "ca_certificates");
}
