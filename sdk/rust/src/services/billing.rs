//! Credit and charges.

use http::Method;
use serde::Deserialize;
use serde_json::json;

use super::service;
use crate::calls::{Call, Mutation};
use crate::generated::rest::ListLedger;
use crate::generated::rest::{
    BillingDetails, BillingState, Checkout, LedgerEntry, LedgerKind, Portal, SetAutoTopUp,
    SetBillingDetails, SetTimeZone, Tenant, TimeZone,
};
use crate::generated::rest::{GetRunway, Runway, RunwayWindow};
use crate::generated::rest::{
    Grant, ListGrants, ListPayments, ListedStatement, Payment, Receipt, SignedStatement,
};
use crate::listing::Listing;
use crate::rest::{Query, list, segment};

const DETAILS_PATH: &str = "/v1/billing/details";
const TIME_ZONE_PATH: &str = "/v1/billing/time-zone";

#[derive(Deserialize)]
struct Statements {
    statements: Vec<ListedStatement>,
}

service! {
    /// The tenant's credit.
    Billing
}

impl Billing {
    /// The tenant, its balance, and its newest ledger entries.
    pub fn get(&self) -> Call<BillingState> {
        let inner = self.inner.clone();
        Call::new(move |options| async move {
            inner
                .rest
                .call(Method::GET, "/v1/billing", None::<&()>, &options)
                .await
        })
    }

    /// All entries of the ledger, newest first: one for each usage record and each other change.
    pub fn ledger(&self, request: ListLedger) -> Listing<LedgerEntry> {
        let query = Query::default()
            .words("kind", request.kinds.iter().map(LedgerKind::as_str))
            .given("room", request.room.as_deref())
            .given("participant", request.participant.as_deref())
            .time("from", request.from)
            .time("to", request.to)
            .number("limit", request.page_size);
        list(&self.inner.rest, "/v1/ledger", query, request.page_token)
    }

    /// How long the credit lasts if usage goes on like this, and which rooms use most of it.
    pub fn runway(&self, request: GetRunway) -> Call<Runway> {
        let inner = self.inner.clone();
        Call::new(move |options| async move {
            let window = request.window.as_ref().map(RunwayWindow::as_str);
            let query = Query::default().given("window", window);
            inner.rest.get("/v1/billing/runway", &query, &options).await
        })
    }

    /// The months in which the balance changed and that are over, newest first.
    pub fn statements(&self) -> Call<Vec<ListedStatement>> {
        let inner = self.inner.clone();
        Call::new(move |options| async move {
            let query = Query::default();
            let answer: Statements = inner.rest.get("/v1/statements", &query, &options).await?;
            Ok(answer.statements)
        })
    }

    /// The statement of a month such as `2026-10`, UTC, also signed. Fails with `Precondition` until the month
    /// is over, and with `NotFound` for one before the signup.
    pub fn statement(&self, month: impl Into<String>) -> Call<SignedStatement> {
        let (inner, month) = (self.inner.clone(), month.into());
        Call::new(move |options| async move {
            let path = format!("/v1/statements/{}", segment("month", &month)?);
            inner.rest.get(&path, &Query::default(), &options).await
        })
    }

    /// The statement of a month, even if it is not over: then up to now, and unsigned.
    pub fn statement_so_far(&self, month: impl Into<String>) -> Call<SignedStatement> {
        let (inner, month) = (self.inner.clone(), month.into());
        Call::new(move |options| async move {
            let path = format!("/v1/statements/{}", segment("month", &month)?);
            let query = Query::default().text("so_far", "true");
            inner.rest.get(&path, &query, &options).await
        })
    }

    /// The tenant's name, address and tax id, as statements show them from now on.
    pub fn details(&self) -> Call<BillingDetails> {
        let inner = self.inner.clone();
        Call::new(move |options| async move {
            let query = Query::default();
            inner.rest.get(DETAILS_PATH, &query, &options).await
        })
    }

    /// Replace name, address and tax id. Statements of months that are over keep those that they had.
    pub fn set_details(&self, details: SetBillingDetails) -> Mutation<BillingDetails> {
        let inner = self.inner.clone();
        Mutation::new(move |options| async move {
            inner
                .rest
                .call(Method::PUT, DETAILS_PATH, Some(&details), &options)
                .await
        })
    }

    /// Where the tenant's days and months begin.
    pub fn time_zone(&self) -> Call<TimeZone> {
        let inner = self.inner.clone();
        Call::new(move |options| async move {
            let query = Query::default();
            inner.rest.get(TIME_ZONE_PATH, &query, &options).await
        })
    }

    /// Set it from the next month on or, before the first usage, from this month on. Months before keep theirs.
    pub fn set_time_zone(&self, time_zone: SetTimeZone) -> Mutation<TimeZone> {
        let inner = self.inner.clone();
        Mutation::new(move |options| async move {
            inner
                .rest
                .call(Method::PUT, TIME_ZONE_PATH, Some(&time_zone), &options)
                .await
        })
    }

    /// Payments that were credited, newest first: checkouts and automatic top-ups.
    pub fn payments(&self, request: ListPayments) -> Listing<Payment> {
        let query = Query::default()
            .time("from", request.from)
            .time("to", request.to)
            .number("limit", request.page_size);
        list(&self.inner.rest, "/v1/payments", query, request.page_token)
    }

    /// Credit that the operator granted, newest first, with what is left of each grant.
    pub fn grants(&self, request: ListGrants) -> Listing<Grant> {
        list(
            &self.inner.rest,
            "/v1/grants",
            Query::default(),
            request.page_token,
        )
    }

    /// The provider's receipt of a payment.
    pub fn receipt(&self, id: impl Into<String>) -> Call<Receipt> {
        let (inner, id) = (self.inner.clone(), id.into());
        Call::new(move |options| async move {
            let path = format!("/v1/payments/{}/receipt", segment("id", &id)?);
            inner.rest.get(&path, &Query::default(), &options).await
        })
    }

    /// Open a payment page for credit: 1000 to 1000000 cents.
    pub fn checkout(&self, amount_cents: i64) -> Mutation<Checkout> {
        let inner = self.inner.clone();
        Mutation::new(move |options| async move {
            let body = json!({ "amount_cents": amount_cents });
            inner
                .rest
                .call(Method::POST, "/v1/billing/checkout", Some(&body), &options)
                .await
        })
    }

    /// Open the portal for receipts and saved cards.
    pub fn portal(&self) -> Mutation<Portal> {
        let inner = self.inner.clone();
        Mutation::new(move |options| async move {
            inner
                .rest
                .call(Method::POST, "/v1/billing/portal", None::<&()>, &options)
                .await
        })
    }

    /// Charge the saved card whenever the balance falls below a threshold, or turn that off.
    pub fn set_auto_top_up(&self, rule: SetAutoTopUp) -> Mutation<Tenant> {
        let inner = self.inner.clone();
        Mutation::new(move |options| async move {
            inner
                .rest
                .call(
                    Method::PUT,
                    "/v1/billing/auto-top-up",
                    Some(&rule),
                    &options,
                )
                .await
        })
    }
}
