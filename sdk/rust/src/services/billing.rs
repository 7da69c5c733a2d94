//! Credit and charges.

use http::Method;
use serde_json::json;

use super::service;
use crate::calls::Call;
use crate::charge_types::ListLedger;
use crate::listing::Listing;
use crate::rest::{Query, list};
use crate::rest_types::{
    BillingState, Checkout, LedgerEntry, LedgerKind, Portal, SetAutoTopUp, Tenant,
};

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
        list(&self.inner, "/v1/ledger", query, request.page_token)
    }

    /// Open a payment page for credit: 1000 to 1000000 cents. The request is never repeated.
    pub fn checkout(&self, amount_cents: i64) -> Call<Checkout> {
        let inner = self.inner.clone();
        Call::new(move |options| async move {
            let body = json!({ "amount_cents": amount_cents });
            inner
                .rest
                .call(Method::POST, "/v1/billing/checkout", Some(&body), &options)
                .await
        })
    }

    /// Open the portal for receipts and saved cards. The request is never repeated.
    pub fn portal(&self) -> Call<Portal> {
        let inner = self.inner.clone();
        Call::new(move |options| async move {
            inner
                .rest
                .call(Method::POST, "/v1/billing/portal", None::<&()>, &options)
                .await
        })
    }

    /// Charge the saved card whenever the balance falls below a threshold, or turn that off.
    pub fn set_auto_top_up(&self, rule: SetAutoTopUp) -> Call<Tenant> {
        let inner = self.inner.clone();
        Call::new(move |options| async move {
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
