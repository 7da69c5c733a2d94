//! Usage: its reports, for applications that measure it themselves, and what was charged for it.

use http::Method;
use serde::Deserialize;
use serde_json::json;

use super::service;
use crate::calls::Call;
use crate::generated::rest::{
    ChargedRecord, ExplainedUsage, ListSessions, ListUsageConflicts, ListUsageRecords,
    LookedUpRecord, RoomCost, Session, ShownSession, SummarizeUsage, UsageConflict, UsageGrouping,
    UsageSummary,
};
use crate::generated::rest::{Role, Tier, UsageRecord, UsageReport};
use crate::listing::Listing;
use crate::rest::{Query, list, segment};

#[derive(Deserialize)]
struct LookedUp {
    records: Vec<LookedUpRecord>,
}

service! {
    /// Reports of usage, and what was charged. `report` and `look_up` take a relay key.
    Usage
}

impl Usage {
    /// Charge usage: at most 5000 records, all or none. It takes a relay key. The request is retried, and
    /// may be repeated: an id is never charged twice.
    pub fn report(&self, records: impl IntoIterator<Item = UsageRecord>) -> Call<UsageReport> {
        let inner = self.inner.clone();
        let records: Vec<UsageRecord> = records.into_iter().collect();
        Call::new(move |options| async move {
            let body = json!({ "records": records });
            inner
                .rest
                .call(Method::POST, "/v1/usage", Some(&body), &options)
                .await
        })
    }

    /// Which ids were charged, in their order: at most 5000. It takes a relay key, and changes nothing.
    pub fn look_up(
        &self,
        ids: impl IntoIterator<Item = impl Into<String>>,
    ) -> Call<Vec<LookedUpRecord>> {
        let inner = self.inner.clone();
        let ids: Vec<String> = ids.into_iter().map(Into::into).collect();
        Call::new(move |options| async move {
            let body = json!({ "ids": ids });
            let answer: LookedUp = inner
                .rest
                .call(Method::POST, "/v1/usage/lookup", Some(&body), &options)
                .await?;
            Ok(answer.records)
        })
    }

    /// Usage records as they were charged, newest first.
    pub fn records(&self, request: ListUsageRecords) -> Listing<ChargedRecord> {
        let query = Query::default()
            .given("room", request.room.as_deref())
            .given("participant", request.participant.as_deref())
            .given("role", request.role.as_ref().map(Role::as_str))
            .given("tier", request.tier.as_ref().map(Tier::as_str))
            .time("from", request.from)
            .time("to", request.to)
            .number("limit", request.page_size);
        list(
            &self.inner.rest,
            "/v1/usage/records",
            query,
            request.page_token,
        )
    }

    /// Sessions of participants, those that began last first.
    pub fn sessions(&self, request: ListSessions) -> Listing<Session> {
        let query = Query::default()
            .given("room", request.room.as_deref())
            .given("participant", request.participant.as_deref())
            .given("key", request.key.as_deref())
            .given("customer", request.customer.as_deref())
            .time("from", request.from)
            .time("to", request.to)
            .number("limit", request.page_size);
        list(&self.inner.rest, "/v1/sessions", query, request.page_token)
    }

    /// One session, with its newest records. Fails with `NotFound` if there is none.
    pub fn session(&self, id: impl Into<String>) -> Call<ShownSession> {
        let (inner, id) = (self.inner.clone(), id.into());
        Call::new(move |options| async move {
            let path = format!("/v1/sessions/{}", segment("id", &id)?);
            inner.rest.get(&path, &Query::default(), &options).await
        })
    }

    /// What a room cost, by its uid. Fails with `NotFound` if there is none.
    pub fn room_cost(&self, uid: impl Into<String>) -> Call<RoomCost> {
        let (inner, uid) = (self.inner.clone(), uid.into());
        Call::new(move |options| async move {
            let path = format!("/v1/rooms/{}/cost", segment("uid", &uid)?);
            inner.rest.get(&path, &Query::default(), &options).await
        })
    }

    /// Ids that were reported again with other values, newest report first. The other values are not charged.
    pub fn conflicts(&self, request: ListUsageConflicts) -> Listing<UsageConflict> {
        let query = Query::default().number("limit", request.page_size);
        list(
            &self.inner.rest,
            "/v1/usage/conflicts",
            query,
            request.page_token,
        )
    }

    /// Sums of usage over a period of at most 366 days. By hour, day or month, rows are in the order of time;
    /// otherwise the most expensive come first. Sums by participant, key or customer are those of sessions; what
    /// belongs to none is `unassigned`. `sum` is that of all, on every page. While there is a `next_cursor`, there
    /// are more rows.
    pub fn summary(&self, request: SummarizeUsage) -> Call<UsageSummary> {
        let inner = self.inner.clone();
        Call::new(move |options| async move {
            let query = Query::default()
                .words(
                    "group_by",
                    request.group_by.iter().map(UsageGrouping::as_str),
                )
                .time("from", request.from)
                .time("to", request.to)
                .given("room", request.room.as_deref())
                .number("limit", request.limit)
                .text("cursor", &request.cursor);
            inner.rest.get("/v1/usage/summary", &query, &options).await
        })
    }

    /// How the charge of a record came about, step by step. Fails with `NotFound` if it was not charged.
    pub fn explain(&self, id: impl Into<String>) -> Call<ExplainedUsage> {
        let (inner, id) = (self.inner.clone(), id.into());
        Call::new(move |options| async move {
            let path = format!("/v1/usage/{}/explain", segment("id", &id)?);
            inner.rest.get(&path, &Query::default(), &options).await
        })
    }
}
