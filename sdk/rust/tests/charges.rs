//! The ledger, usage records, sums of usage, and prices of rooms that are made up.

use std::time::{Duration, SystemTime};

use boxoffice::{
    Client, Code, ErasureState, Error, LedgerKind, ListLedger, ListPayments, ListUsageConflicts,
    ListUsageRecords, LookupOutcome, Micros, RevokeKey, Role, RotateKey, SimulatedParticipants,
    SummarizeUsage, Tier, UsageGrouping,
};
use bytes::Bytes;

use crate::support::{Answer, Server, builder, client};

/// 2026-01-02T03:04:05.678Z
fn some_time() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(1_767_323_045_678)
}

fn paths(server: &Server) -> Vec<String> {
    let path = |each: crate::support::Received| each.path;
    server.received().into_iter().map(path).collect()
}

/// A server that answers everything with this text.
async fn answering(text: &'static str) -> (Server, Client) {
    let server = Server::start(move |_, _| Answer::json(text)).await;
    let client = client(&server);
    (server, client)
}

#[tokio::test]
async fn filters_are_in_the_query() {
    let (server, client) = answering(r#"{"entries":[]}"#).await;
    let ledger = ListLedger::new()
        .kinds([LedgerKind::Usage, LedgerKind::TopUp])
        .room("")
        .participant("ä&b")
        .from(some_time())
        .page_size(2);
    client.billing().ledger(ledger).collect().await.unwrap();
    let records = ListUsageRecords::new()
        .role(Role::Host)
        .tier(Tier::TwoK)
        .to(some_time())
        .page_token("x&1");
    client.usage().records(records).collect().await.unwrap();
    let conflicts = client.usage().conflicts(ListUsageConflicts::new());
    conflicts.collect().await.unwrap();
    let summary = SummarizeUsage::new()
        .group_by([UsageGrouping::Day, UsageGrouping::Room])
        .room("lobby")
        .limit(5)
        .cursor("x");
    client.usage().summary(summary).await.unwrap();
    assert_eq!(
        paths(&server),
        [
            "/v1/ledger?kind=usage%2Ctop_up&room=&participant=%C3%A4%26b&from=2026-01-02T03%3A04%3A05.678Z&limit=2",
            "/v1/usage/records?role=host&tier=2k&to=2026-01-02T03%3A04%3A05.678Z&cursor=x%261",
            "/v1/usage/conflicts",
            "/v1/usage/summary?group_by=day%2Croom&room=lobby&limit=5&cursor=x",
        ]
    );
}

#[tokio::test]
async fn lists_are_read_page_after_page_also_after_an_empty_one() {
    let server = Server::start(|number, _| {
        Answer::json(match number {
            0 => r#"{"records":[{"id":"1"},{"id":"2"}],"next_cursor":"x&y"}"#,
            1 => r#"{"records":[],"next_cursor":"z"}"#,
            _ => {
                r#"{"records":[{"id":"3","egress_bytes":9007199254740991}],"of_a_later_version":{}}"#
            }
        })
    })
    .await;
    let listing = client(&server)
        .usage()
        .records(ListUsageRecords::new().room("a"));
    let records = listing.collect().await.unwrap();
    let ids: Vec<_> = records.iter().map(|each| each.id.as_str()).collect();
    assert_eq!(ids, ["1", "2", "3"]);
    assert_eq!(records[2].egress_bytes, 9_007_199_254_740_991);
    let first = "/v1/usage/records?room=a";
    let [second, third] = ["x%26y", "z"].map(|cursor| format!("{first}&cursor={cursor}"));
    assert_eq!(paths(&server), [first, &second, &third]);
}

#[tokio::test]
async fn sums_may_need_more_than_64_bits() {
    let (_server, client) = answering(
        r#"{"from":"2026-01-01T00:00:00.000Z","rows":[{"day":"2026-01-02T00:00:00.000Z","room":"","records":2,
            "egress_bytes":36893488147419103232}],"sum":{"records":3,"egress_bytes":9232379236109516775,
            "total":{"micros":5,"display":"$0.000005"}},"next_cursor":"x"}"#,
    )
    .await;
    let summary = client.usage().summary(SummarizeUsage::new()).await.unwrap();
    assert_eq!(summary.sum.egress_bytes, 9_232_379_236_109_516_775);
    assert_eq!(summary.sum.total.micros, Micros(5));
    assert_eq!(summary.rows[0].egress_bytes, 1 << 65);
    assert_eq!(summary.rows[0].room.as_deref(), Some(""));
    assert!(summary.rows[0].day.is_some() && summary.rows[0].hour.is_none());
    assert_eq!(summary.next_cursor.as_deref(), Some("x"));
    let text = serde_json::to_string(&summary).unwrap();
    assert!(text.contains(r#""egress_bytes":36893488147419103232"#));
}

#[tokio::test]
async fn answers_that_are_not_as_expected() {
    for text in [
        "{}",
        "[]",
        r#"{"records":{}}"#,
        r#"{"records":[5]}"#,
        r#"{"records":[{"total":{"micros":9223372036854775808}}]}"#,
    ] {
        let (server, client) = answering(text).await;
        let mut records = client.usage().records(ListUsageRecords::new());
        assert!(
            matches!(records.next().await, Some(Err(Error::Internal(_)))),
            "{text}"
        );
        assert!(records.next().await.is_none());
        assert_eq!(server.received().len(), 1);
    }
}

#[tokio::test]
async fn ids_are_percent_encoded_unless_no_path_can_hold_them() {
    let (server, client) = answering(r#"{"explanation":{"rounding":"carry"}}"#).await;
    let explained = client.usage().explain("a/b?#%é🎟").await.unwrap();
    assert_eq!(explained.explanation.rounding.as_str(), "carry");
    for id in ["", ".", ".."] {
        let errors = [
            client.usage().explain(id).await.unwrap_err(),
            client.keys().rotate(RotateKey::new(id)).await.unwrap_err(),
            client.keys().revoke(RevokeKey::new(id)).await.unwrap_err(),
            client.billing().receipt(id).await.unwrap_err(),
            client.participants().erasure(id).await.unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, Error::Invalid(_)), "{error}");
            assert_eq!(error.failure().code, Code::None);
            assert_eq!(error.failure().fields[0].field, "id");
        }
    }
    assert_eq!(
        paths(&server),
        ["/v1/usage/a%2Fb%3F%23%25%C3%A9%F0%9F%8E%9F/explain"]
    );
}

#[tokio::test]
async fn lookups_and_simulations() {
    let (server, client) = answering(
        r#"{"records":[{"id":"r","outcome":"unknown"},{"id":"s","outcome":"charged","total":{"micros":5}}]}"#,
    )
    .await;
    let found = client.usage().look_up(["r", "s"]).await.unwrap();
    assert_eq!(found[0].outcome, LookupOutcome::NeverAccepted);
    assert_eq!(found[0].total, None);
    assert_eq!(found[1].total.as_ref().unwrap().micros, Micros(5));
    assert_eq!(&*server.received()[0].body, br#"{"ids":["r","s"]}"#);

    let (server, client) =
        answering(r#"{"lines":[{"price":{"decimal":"1.500000"}}],"balance_after":{"micros":-1}}"#)
            .await;
    let line = SimulatedParticipants::new(Role::Host, Tier::Hd, 2, 60)
        .egress_bytes(5)
        .interval_seconds(30);
    let simulation = client.rates().simulate([line]).await.unwrap();
    assert_eq!(simulation.lines[0].price.decimal, "1.500000");
    assert_eq!(simulation.balance_after.micros, Micros(-1));
    let body: serde_json::Value = serde_json::from_slice(&server.received()[0].body).unwrap();
    let sent = serde_json::json!({ "participants": [{ "role": "host", "tier": "hd", "count": 2, "seconds": 60,
        "egress_bytes": 5, "interval_seconds": 30 }] });
    assert_eq!(body, sent);
}

#[tokio::test]
async fn statements_payments_and_erasures() {
    let (server, client) = answering(
        r#"{"statements":[{"month":"2026-10","closing":{"micros":5}}],"jws":"a.b.c","statement":{"from":"2026-10-01T00:00:00.000Z",
            "payments":{"entries":[{"kind":"top_up"}],"others":{"count":2}},
            "usage":{"rooms":[{"room":"lobby","egress_bytes":36893488147419103232}],"others":{"rooms":3,"records":4}}},
            "payments":[{"id":"pi_1","tax":{"micros":7}}],"url":"https://a",
            "erasure":{"id":"er_1","state":"done","records":2,"finished_at":"2026-10-01T00:00:00.000Z"}}"#,
    )
    .await;
    let (billing, participants) = (client.billing(), client.participants());
    assert_eq!(billing.statements().await.unwrap()[0].month, "2026-10");
    let signed = billing.statement("2026-10").await.unwrap();
    assert_eq!(signed.jws.as_deref(), Some("a.b.c"));
    assert_eq!(signed.statement.payments.entries[0].kind, LedgerKind::TopUp);
    assert_eq!(signed.statement.payments.others.as_ref().unwrap().count, 2);
    assert!(signed.statement.reversals.others.is_none() && signed.statement.from.is_some());
    assert_eq!(signed.statement.usage.rooms[0].egress_bytes, 1 << 65);
    assert_eq!(signed.statement.usage.others.unwrap().records, 4);
    billing.statement_so_far("2026-10").await.unwrap();
    let list = ListPayments::new().page_token("x");
    let payments = billing.payments(list).collect().await.unwrap();
    assert_eq!(payments[0].tax.as_ref().unwrap().micros, Micros(7));
    assert_eq!(billing.receipt("pi/1").await.unwrap().url, "https://a");
    let erasure = participants.erase("ann").await.unwrap();
    assert_eq!((erasure.records, erasure.state), (2, ErasureState::Done));
    assert!(
        participants
            .erasure("er_1")
            .await
            .unwrap()
            .finished_at
            .is_some()
    );
    assert_eq!(&*server.received()[5].body, br#"{"participant":"ann"}"#);
    assert_eq!(
        paths(&server),
        [
            "/v1/statements",
            "/v1/statements/2026-10",
            "/v1/statements/2026-10?so_far=true",
            "/v1/payments?cursor=x",
            "/v1/payments/pi%2F1/receipt",
            "/v1/participants/erase",
            "/v1/erasures/er_1",
        ]
    );
}

#[tokio::test]
async fn they_are_repeated() {
    let server = Server::start(|_, _| Answer::Http(503, vec![], Bytes::new())).await;
    let client = builder(&server).retries(1).build().unwrap();
    let usage = client.usage();
    let line = SimulatedParticipants::new(Role::Host, Tier::Hd, 1, 60);
    let errors = [
        client.rates().simulate([line]).await.unwrap_err(),
        client.participants().erase("ann").await.unwrap_err(),
        usage.look_up(["r"]).await.unwrap_err(),
        usage.summary(SummarizeUsage::new()).await.unwrap_err(),
        usage.explain("r").await.unwrap_err(),
        client
            .billing()
            .ledger(ListLedger::new())
            .collect()
            .await
            .unwrap_err(),
    ];
    assert_eq!(server.received().len(), 2 * errors.len());
    for error in errors {
        assert!(matches!(error, Error::Unavailable(_)), "{error}");
    }
}
