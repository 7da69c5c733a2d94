//! The relay half: reports of usage, and the feed.

use std::time::Duration;

use boxoffice::relay::RevocationFeed;
use boxoffice::relay::usage::{MeasuredParticipant, ParticipantUsage, UsageError, UsageReporter};
use boxoffice::{Role, Tier};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{Ended, millis};

const LOOKS: Duration = Duration::from_millis(20);

impl From<UsageError> for Ended {
    fn from(error: UsageError) -> Self {
        Self(json!({ "kind": "Usage", "code": error.code.as_str(), "message": error.to_string() }))
    }
}

fn text<'a>(request: &'a Value, name: &str) -> &'a str {
    request[name].as_str().unwrap_or_default()
}

/// What comes of records: they are stored at once, and sent for a while.
pub async fn report(request: &Value) -> Result<Value, Ended> {
    let reporter = UsageReporter::builder()
        .url(text(request, "url"))
        .key(text(request, "key"))
        .spool(text(request, "spool"))
        .relay_id("conformance")
        .batch_wait(Duration::ZERO)
        .open()
        .await?;
    let mut ids = Vec::new();
    for record in request["records"].as_array().into_iter().flatten() {
        let (role, tier) = (text(record, "role"), text(record, "tier"));
        let mut who = MeasuredParticipant::new(Role::from(role), Tier::from(tier));
        let given = |name: &str| record[name].as_str().map(str::to_owned);
        (who.tenant, who.room) = (given("tenant"), given("room"));
        who.participant = given("participant");
        let count = |name: &str| record[name].as_u64().unwrap_or_default();
        let usage = ParticipantUsage::new(who, count("seconds"))
            .egress_bytes(count("egress_bytes"))
            .ingress_bytes(count("ingress_bytes"));
        ids.extend(reporter.record(usage).await?);
    }
    let limit = millis(request, "close_ms").unwrap_or_default();
    let left = reporter.close_within(limit).await;
    Ok(json!({ "ids": ids, "left": left, "admitted": admitted(reporter.admitted()) }))
}

fn admitted(state: Option<bool>) -> String {
    state.map_or_else(|| "unknown".into(), |state| state.to_string())
}

/// What the feed knows, whenever it has changed, until this is dropped.
pub async fn follow(request: &Value, tell: impl Fn(Value)) -> Result<Value, Ended> {
    let (tenant, key) = (
        text(request, "tenant"),
        text(request, "relay_key").to_owned(),
    );
    let (issuer, audience) = (text(request, "issuer"), text(request, "audience"));
    let feed = RevocationFeed::builder(text(request, "url"), [tenant], issuer, audience)
        .jwks_url(text(request, "jwks_url"))
        .relay_key(move |_| Some(key.clone()))
        .follow()?;
    let mut before = Value::Null;
    loop {
        let found = feed.get(tenant).unwrap_or_default();
        let known = json!({
            "epochs": found.epochs.len(),
            "bans": found.bans.len(),
            "mutes": found.mutes.len(),
            "closed": found.closed.len(),
            "admitted": admitted(feed.admitted(tenant)),
        });
        if known != before {
            tell(known.clone());
        }
        before = known;
        sleep(LOOKS).await;
    }
}
