//! Alerts, the runway, mail settings, webhooks, and the audit trail.

use std::time::{Duration, SystemTime};

use boxoffice::{
    AlertThreshold, AuditActorKind, BasicAuth, ChangeWebhook, Client, Code, CreateWebhook,
    DeliveryKind, Error, EventData, GetRunway, ListAudit, ListDeliveries, Micros, PullEvents, Role,
    RotateWebhookSecret, RunwayWindow, SetAlertThreshold, SetMail, ThresholdKind, WebhookEvent,
    WebhookHeader, WebhookPauser, WebhookState,
};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::support::{Answer, Received, Server, builder, client};

/// 2026-01-02T03:04:05.678Z
fn some_time() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(1_767_323_045_678)
}

/// A server that answers everything with this text.
async fn answering(text: &'static str) -> (Server, Client) {
    let server = Server::start(move |_, _| Answer::json(text)).await;
    let client = client(&server);
    (server, client)
}

/// Method and path of each request, and its body.
fn sent(server: &Server) -> Vec<(String, Value)> {
    let each = |received: Received| {
        let body = serde_json::from_slice(&received.body).unwrap_or_default();
        (format!("{} {}", received.method, received.path), body)
    };
    server.received().into_iter().map(each).collect()
}

#[tokio::test]
async fn thresholds() {
    let (server, client) = answering(
        r#"{"thresholds":[{"kind":"balance","below_micros":5,"raised_at":null},
            {"kind":"runway","below_hours":24,"raised_at":"2026-01-02T03:04:05.678Z"}]}"#,
    )
    .await;
    let found = client.alerts().get().await.unwrap();
    assert_eq!(found[0].kind, ThresholdKind::Balance);
    assert_eq!(found[0].below_micros, Some(Micros(5)));
    assert_eq!(found[0].raised_at, None);
    assert_eq!(found[1].below_hours, Some(24));
    assert_eq!(found[1].raised_at, Some(some_time()));
    let as_they_are = found.into_iter().map(|each: AlertThreshold| each.into());
    client.alerts().set(as_they_are).await.unwrap();
    let thresholds = [
        SetAlertThreshold::balance(Micros(5)),
        SetAlertThreshold::runway(24),
    ];
    client.alerts().set(thresholds).await.unwrap();
    client.alerts().set([]).await.unwrap();
    let both = json!({ "thresholds": [{ "kind": "balance", "below_micros": 5 },
        { "kind": "runway", "below_hours": 24 }] });
    let put = |body: Value| ("PUT /v1/alerts".to_owned(), body);
    assert_eq!(
        sent(&server)[1..],
        [
            put(both.clone()),
            put(both),
            put(json!({ "thresholds": [] }))
        ]
    );
}

#[tokio::test]
async fn the_runway() {
    let (server, client) = answering(
        r#"{"at":"2026-01-02T03:04:05.678Z","balance":{"micros":5},"empty":false,"burn":[
            {"window":"1h","runway_hours":null,"empty_at":null},
            {"window":"24h","runway_hours":38.76,"empty_at":"2026-01-02T03:04:05.678Z"},{"window":"30d"}],
            "rooms":{"window":"7d","top":[{"room":"stage","share":0.800001}]}}"#,
    )
    .await;
    let billing = client.billing();
    billing.runway(GetRunway::new()).await.unwrap();
    let week = GetRunway::new().window(RunwayWindow::Week);
    let runway = billing.runway(week).await.unwrap();
    assert_eq!(runway.burn[0].window, RunwayWindow::Hour);
    assert_eq!(runway.burn[0].runway_hours, None);
    assert_eq!(runway.burn[1].runway_hours, Some(38.76));
    assert_eq!(runway.burn[1].empty_at, Some(some_time()));
    assert_eq!(runway.burn[2].window, RunwayWindow::Unknown("30d".into()));
    assert_eq!(runway.rooms.top[0].share, 0.800_001);
    let paths: Vec<_> = sent(&server).into_iter().map(|(path, _)| path).collect();
    assert_eq!(
        paths,
        ["GET /v1/billing/runway", "GET /v1/billing/runway?window=7d"]
    );
}

#[tokio::test]
async fn mail_settings() {
    let (server, client) = answering(
        r#"{"signup_address":false,"email":"ann@example.com","addresses":["ops@example.com"],"alerts":true,
            "receipts":false,"unsubscribed":["x@example.com"]}"#,
    )
    .await;
    let settings = client.mail().get().await.unwrap();
    assert_eq!(settings.unsubscribed, ["x@example.com"]);
    let others = SetMail::from(settings).receipts(true);
    client.mail().set(others).await.unwrap();
    let usual = SetMail::new().addresses(["a@example.com"]).alerts(false);
    client.mail().set(usual).await.unwrap();
    let put = |body: Value| ("PUT /v1/mail".to_owned(), body);
    assert_eq!(
        sent(&server)[1..],
        [
            put(
                json!({ "addresses": ["ops@example.com"], "alerts": true, "receipts": true,
                "signup_address": false })
            ),
            put(
                json!({ "addresses": ["a@example.com"], "alerts": false, "receipts": true,
                "signup_address": true })
            ),
        ]
    );
}

#[tokio::test]
async fn the_audit_trail() {
    let (server, client) = answering(
        r#"{"entries":[{"id":"au_1","at":"2026-01-02T03:04:05.678Z","actor":{"kind":"key","id":"k","address":"::1"},
            "action":"key_revoked","subject":"k","before":{"revoked_at":null}},
            {"actor":{"kind":"operator"},"after":{"exempt":true}}]}"#,
    )
    .await;
    let filters = ListAudit::new()
        .action("key_revoked")
        .subject("ä&b")
        .from(some_time())
        .to(some_time())
        .page_size(2)
        .page_token("x");
    let entries = client.audit().list(filters).collect().await.unwrap();
    assert_eq!(entries[0].actor.kind, AuditActorKind::Key);
    assert_eq!(entries[0].actor.address.as_deref(), Some("::1"));
    assert_eq!(
        entries[0].before.as_ref().unwrap()["revoked_at"],
        json!(null)
    );
    assert_eq!(entries[0].after, None);
    assert_eq!(entries[1].actor.id, None);
    assert_eq!(entries[1].after.as_ref().unwrap()["exempt"], json!(true));
    assert_eq!(
        sent(&server)[0].0,
        "GET /v1/audit?action=key_revoked&subject=%C3%A4%26b&from=2026-01-02T03%3A04%3A05.678Z\
            &to=2026-01-02T03%3A04%3A05.678Z&limit=2&cursor=x"
    );
}

const WEBHOOK: &str = r#"{"id":"wh_1","url":"https://a/","types":["balance_low"],"state":"paused","paused_by":"gone",
    "delivered_seq":9007199254740993,"failures":1,
    "webhook":{"id":"wh_1","state":"active"},"secret":"whsec_x","public_key":"whpk_x",
    "old_secret_retires":"2026-01-02T03:04:05.678Z","webhooks":[{"id":"wh_1"}],
    "delivery":{"id":"whd_1","kind":"test","type":"webhook_test","delivered":true,"status":204},
    "deliveries":[{"id":"whd_2","kind":"event","seq":42,"error":"no answer","latency_ms":7}]}"#;

#[tokio::test]
async fn secrets_of_webhooks_are_sent_and_not_shown() {
    let (server, client) = answering(WEBHOOK).await;
    let request = CreateWebhook::new("https://a/")
        .headers([WebhookHeader::new("x-key", "s3cret")])
        .basic_auth(BasicAuth::new("ann").password("s3cret"));
    assert!(!format!("{request:?}").contains("s3cret"));
    client.webhooks().create(request).await.unwrap();
    let body = json!({ "url": "https://a/", "headers": [{ "name": "x-key", "value": "s3cret" }],
        "basic_auth": { "username": "ann", "password": "s3cret" } });
    assert_eq!(sent(&server), [("POST /v1/webhooks".to_owned(), body)]);
}

#[tokio::test]
async fn webhooks() {
    let (server, client) = answering(WEBHOOK).await;
    let webhooks = client.webhooks();
    let request = CreateWebhook::new("https://a/").types(["balance_low"]);
    let created = webhooks.create(request.description("b")).await.unwrap();
    assert_eq!(created.webhook.state, WebhookState::Active);
    assert_eq!(
        (&*created.secret, &*created.public_key),
        ("whsec_x", "whpk_x")
    );
    assert!(!format!("{created:?}").contains("whsec_x"));
    webhooks
        .create(CreateWebhook::new("https://a/"))
        .await
        .unwrap();
    assert_eq!(webhooks.list().await.unwrap()[0].id, "wh_1");
    let webhook = webhooks.get("wh_1").await.unwrap();
    assert_eq!(webhook.paused_by, Some(WebhookPauser::Gone));
    assert_eq!(webhook.delivered_seq, 9_007_199_254_740_993);
    let nothing: [&str; 0] = [];
    let change = ChangeWebhook::new("wh_1").url("https://b/").types(nothing);
    let change = change.description("").paused(false);
    webhooks.change(change).await.unwrap();
    webhooks
        .change(ChangeWebhook::new("wh_1").paused(true))
        .await
        .unwrap();
    let rotate = RotateWebhookSecret::new("wh_1").overlap(Duration::ZERO);
    let rotated = webhooks.rotate_secret(rotate).await.unwrap();
    assert_eq!(rotated.old_secret_retires, Some(some_time()));
    webhooks
        .rotate_secret(RotateWebhookSecret::new("wh_1"))
        .await
        .unwrap();
    let url = json!({ "url": "https://a/", "types": ["balance_low"], "description": "b" });
    let all = json!({ "url": "https://b/", "types": [], "description": "", "paused": false });
    assert_eq!(
        sent(&server),
        [
            ("POST /v1/webhooks".into(), url),
            ("POST /v1/webhooks".into(), json!({ "url": "https://a/" })),
            ("GET /v1/webhooks".into(), Value::Null),
            ("GET /v1/webhooks/wh_1".into(), Value::Null),
            ("PATCH /v1/webhooks/wh_1".into(), all),
            ("PATCH /v1/webhooks/wh_1".into(), json!({ "paused": true })),
            (
                "POST /v1/webhooks/wh_1/rotate".into(),
                json!({ "overlap_seconds": 0 })
            ),
            ("POST /v1/webhooks/wh_1/rotate".into(), json!({})),
        ]
    );
}

#[tokio::test]
async fn deliveries() {
    let (server, client) = answering(WEBHOOK).await;
    let webhooks = client.webhooks();
    let tested = webhooks.test("wh_1").await.unwrap();
    assert_eq!(
        (tested.kind, tested.status),
        (DeliveryKind::Test, Some(204))
    );
    assert_eq!(webhooks.resend("wh_1", 42).await.unwrap().id, "whd_1");
    assert_eq!(
        webhooks.resend_since("wh_1", some_time()).await.unwrap().id,
        "wh_1"
    );
    let list = ListDeliveries::new("a/b").page_size(5).page_token("x");
    let deliveries = webhooks.deliveries(list).collect().await.unwrap();
    assert_eq!(deliveries[0].seq, Some(42));
    assert_eq!(
        (deliveries[0].status, deliveries[0].delivered),
        (None, false)
    );
    assert_eq!(deliveries[0].error.as_deref(), Some("no answer"));
    let since = json!({ "since": "2026-01-02T03:04:05.678Z" });
    assert_eq!(
        sent(&server),
        [
            ("POST /v1/webhooks/wh_1/test".into(), Value::Null),
            ("POST /v1/webhooks/wh_1/resend".into(), json!({ "seq": 42 })),
            ("POST /v1/webhooks/wh_1/resend".into(), since),
            (
                "GET /v1/webhooks/a%2Fb/deliveries?limit=5&cursor=x".into(),
                Value::Null
            ),
        ]
    );
}

#[tokio::test]
async fn a_webhook_is_deleted() {
    let server = Server::start(|_, _| Answer::Http(204, vec![], Bytes::new())).await;
    client(&server).webhooks().delete("wh_1").await.unwrap();
    assert_eq!(sent(&server)[0].0, "DELETE /v1/webhooks/wh_1");
}

#[tokio::test]
async fn ids_that_no_path_can_hold() {
    let (server, client) = answering("{}").await;
    let webhooks = client.webhooks();
    for id in ["", ".", ".."] {
        let errors = [
            webhooks.get(id).await.unwrap_err(),
            webhooks.change(ChangeWebhook::new(id)).await.unwrap_err(),
            webhooks.delete(id).await.unwrap_err(),
            webhooks
                .rotate_secret(RotateWebhookSecret::new(id))
                .await
                .unwrap_err(),
            webhooks.test(id).await.unwrap_err(),
            webhooks.resend(id, 1).await.unwrap_err(),
            webhooks.resend_since(id, some_time()).await.unwrap_err(),
            webhooks
                .deliveries(ListDeliveries::new(id))
                .collect()
                .await
                .unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, Error::Invalid(_)), "{error}");
            assert_eq!(error.failure().code, Code::None);
            assert_eq!(error.failure().fields[0].field, "id");
        }
    }
    assert!(server.received().is_empty());
}

#[tokio::test]
async fn writes_are_repeated_with_one_key() {
    let server = Server::start(|_, _| Answer::Http(503, vec![], Bytes::new())).await;
    let client = builder(&server).retries(1).build().unwrap();
    let webhooks = client.webhooks();
    let errors = [
        client.alerts().set([]).await.unwrap_err(),
        client.mail().set(SetMail::new()).await.unwrap_err(),
        webhooks
            .create(CreateWebhook::new("https://a/"))
            .await
            .unwrap_err(),
        webhooks.change(ChangeWebhook::new("w")).await.unwrap_err(),
        webhooks.delete("w").await.unwrap_err(),
        webhooks
            .rotate_secret(RotateWebhookSecret::new("w"))
            .await
            .unwrap_err(),
        webhooks.test("w").await.unwrap_err(),
        webhooks.resend("w", 1).await.unwrap_err(),
        webhooks.resend_since("w", some_time()).await.unwrap_err(),
    ];
    for error in &errors {
        assert!(matches!(error, Error::Unavailable(_)), "{error}");
    }
    let received = server.received();
    assert_eq!(received.len(), 2 * errors.len());
    let mut keys: Vec<_> = received
        .chunks(2)
        .map(|attempts| {
            let key = |at: usize| attempts[at].headers["idempotency-key"].to_str().unwrap();
            assert_eq!(key(0), key(1), "{}", attempts[0].path);
            key(0)
        })
        .collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), errors.len());
}

#[tokio::test]
async fn events_are_pulled() {
    let (server, client) = answering(
        r#"{"events":[{"id":"evt_1","seq":43,"type":"of_a_later_version","timestamp":"2026-01-02T03:04:05.678Z",
            "data":{"name":"lobby"}}],"after":9007199254740993,"more":true}"#,
    )
    .await;
    let webhooks = client.webhooks();
    let pulled = webhooks.pull_events(PullEvents::new()).await.unwrap();
    assert_eq!((pulled.after, pulled.more), (9_007_199_254_740_993, true));
    assert_eq!(pulled.events[0].event_type, "of_a_later_version");
    assert_eq!(pulled.events[0].data["name"], json!("lobby"));
    let request = PullEvents::new()
        .after(0)
        .types(["balance_low", "a&b"])
        .limit(5);
    webhooks
        .pull_events(request.wait(Duration::from_secs(20)))
        .await
        .unwrap();
    // For the service to refuse.
    let part = PullEvents::new().wait(Duration::from_millis(1500));
    webhooks.pull_events(part).await.unwrap();
    let paths: Vec<_> = sent(&server).into_iter().map(|(path, _)| path).collect();
    assert_eq!(
        paths,
        [
            "GET /v1/events",
            "GET /v1/events?after=0&types=balance_low%2Ca%26b&limit=5&wait_seconds=20",
            "GET /v1/events?wait_seconds=1.5",
        ]
    );
}

/// Waits are longer than what the client gives other calls.
#[tokio::test]
async fn what_takes_long_has_time_limits_of_its_own() {
    let server = Server::start(|_, _| Answer::Silence).await;
    let short = Duration::from_millis(50);
    let client = builder(&server).timeout(short).build().unwrap();
    let webhooks = client.webhooks();
    let waits = PullEvents::new().wait(Duration::from_secs(20));
    let later = Duration::from_millis(300);
    let waiting = [
        tokio::time::timeout(later, webhooks.pull_events(waits).into_future())
            .await
            .is_err(),
        tokio::time::timeout(later, webhooks.test("w").into_future())
            .await
            .is_err(),
        tokio::time::timeout(later, webhooks.resend("w", 1).into_future())
            .await
            .is_err(),
    ];
    assert_eq!(waiting, [true; 3]);
    let errors = [
        webhooks.pull_events(PullEvents::new()).await.unwrap_err(),
        webhooks.test("w").timeout(short).await.unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, Error::Timeout(_)), "{error}");
    }
}

fn event(seq: u64) -> Value {
    json!({ "id": format!("evt_{seq}"), "seq": seq, "type": "room_created",
        "timestamp": "2026-01-02T03:04:05.678Z", "data": {} })
}

#[tokio::test]
async fn events_are_followed() {
    let server = Server::start(|number, _| {
        let page = |seqs: &[u64], after: u64| {
            let events: Vec<Value> = seqs.iter().copied().map(event).collect();
            let page = json!({ "events": events, "after": after, "more": false });
            Answer::Http(200, vec![], Bytes::from(page.to_string()))
        };
        match number {
            0 => page(&[3, 4], 7),
            1 => Answer::Break,
            2 => Answer::Http(429, vec![], Bytes::from_static(br#"{"error":"too many"}"#)),
            3 => page(&[], 9),
            4 => page(&[10], 10),
            _ => Answer::Http(400, vec![], Bytes::from_static(br#"{"error":"gone"}"#)),
        }
    })
    .await;
    let client = builder(&server).retries(0).build().unwrap();
    let request = PullEvents::new().types(["room_created"]).limit(2);
    let mut events = client.webhooks().follow_events(request);
    assert_eq!(events.after(), None);
    let mut places = Vec::new();
    for _ in 0..3 {
        let event = events.next().await.unwrap().unwrap();
        places.push((event.seq, events.after().unwrap()));
    }
    assert_eq!(places, [(3, 3), (4, 7), (10, 10)]);
    assert!(matches!(events.next().await, Some(Err(Error::Invalid(_)))));
    assert!(events.next().await.is_none());
    assert_eq!(events.after(), Some(10));
    let paths: Vec<_> = sent(&server).into_iter().map(|(path, _)| path).collect();
    let from =
        |after: &str| format!("GET /v1/events?{after}types=room_created&limit=2&wait_seconds=20");
    let seven = from("after=7&");
    let wanted = [
        from(""),
        seven.clone(),
        seven.clone(),
        seven,
        from("after=9&"),
    ];
    assert_eq!(paths[..5], wanted);
    assert_eq!(paths[5..], [from("after=10&")]);
}

#[test]
fn followed_events_are_a_stream_that_can_be_sent() {
    fn is_stream<S: futures_core::Stream + Send + Unpin>() {}
    is_stream::<boxoffice::FollowedEvents>();
}

#[test]
fn data_of_events_has_a_type() {
    let event = |event_type: &str, data: Value| {
        let all = json!({ "id": "evt_1", "seq": 1, "type": event_type, "schema_version": 1,
            "timestamp": "2026-01-02T03:04:05.678Z", "data": data });
        serde_json::from_value::<WebhookEvent>(all).unwrap()
    };
    let amount = |micros: i64| json!({ "micros": micros, "display": "" });
    let low = event(
        "balance_low",
        json!({ "balance": amount(-5), "below": amount(7), "more": 1 }),
    );
    let EventData::BalanceAlert(alert) = low.parse_data().unwrap() else {
        panic!("another variant");
    };
    assert_eq!((alert.balance.micros.0, alert.below.micros.0), (-5, 7));
    let left = event(
        "participant_left",
        json!({ "role": "host", "left_at": "2026-01-02T03:04:05.678Z" }),
    );
    let EventData::Participant(participant) = left.parse_data().unwrap() else {
        panic!("another variant");
    };
    assert_eq!(participant.role, Role::Host);
    assert!(participant.left_at.is_some() && participant.tier.is_none());
    let new = event("of_a_later_version", json!({ "a": 1 }));
    assert!(matches!(new.parse_data().unwrap(), EventData::Unknown(data) if data["a"] == 1));
    assert!(
        event("balance_low", json!({ "balance": 5 }))
            .parse_data()
            .is_err()
    );
}
