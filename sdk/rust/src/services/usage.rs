//! Usage, for applications that measure it themselves.

use http::Method;
use serde_json::json;

use super::service;
use crate::calls::Call;
use crate::rest_types::{UsageRecord, UsageReport};

service! {
    /// Reports of usage.
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
}
