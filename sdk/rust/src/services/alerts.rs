//! Alerts of low credit.

use http::Method;
use serde::Deserialize;
use serde_json::json;

use super::service;
use crate::calls::{Call, Mutation};
use crate::generated::rest::{AlertThreshold, SetAlertThreshold};
use crate::rest::Query;

const PATH: &str = "/v1/alerts";

#[derive(Deserialize)]
struct Thresholds {
    thresholds: Vec<AlertThreshold>,
}

service! {
    /// Thresholds below which the tenant is alerted.
    Alerts
}

impl Alerts {
    /// All thresholds: those of `Balance` first, then the largest first.
    pub fn get(&self) -> Call<Vec<AlertThreshold>> {
        let inner = self.inner.clone();
        Call::new(move |options| async move {
            let answer: Thresholds = inner.rest.get(PATH, &Query::default(), &options).await?;
            Ok(answer.thresholds)
        })
    }

    /// Replace all thresholds: at most ten, each once. None turns alerts off. One that was set before stays as
    /// it is, raised or not.
    pub fn set(
        &self,
        thresholds: impl IntoIterator<Item = SetAlertThreshold>,
    ) -> Mutation<Vec<AlertThreshold>> {
        let inner = self.inner.clone();
        let thresholds: Vec<SetAlertThreshold> = thresholds.into_iter().collect();
        Mutation::new(move |options| async move {
            let body = json!({ "thresholds": thresholds });
            let answer: Thresholds = inner
                .rest
                .call(Method::PUT, PATH, Some(&body), &options)
                .await?;
            Ok(answer.thresholds)
        })
    }
}
