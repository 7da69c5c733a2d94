//! Prices of usage.

use http::Method;
use serde_json::json;

use super::service;
use crate::calls::Call;
use crate::generated::rest::RateCard;
use crate::generated::rest::{SimulatedParticipants, Simulation};

service! {
    /// Prices.
    Rates
}

impl Rates {
    /// The rate card in effect.
    pub fn get(&self) -> Call<RateCard> {
        let inner = self.inner.clone();
        Call::new(move |options| async move {
            inner
                .rest
                .call(Method::GET, "/v1/rates", None::<&()>, &options)
                .await
        })
    }

    /// Price a room that you make up, as if a relay reported it now. Nothing is charged.
    pub fn simulate(
        &self,
        participants: impl IntoIterator<Item = SimulatedParticipants>,
    ) -> Call<Simulation> {
        let inner = self.inner.clone();
        let participants: Vec<SimulatedParticipants> = participants.into_iter().collect();
        Call::new(move |options| async move {
            let body = json!({ "participants": participants });
            inner
                .rest
                .call(Method::POST, "/v1/rates/simulate", Some(&body), &options)
                .await
        })
    }
}
