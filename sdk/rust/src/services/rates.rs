//! Prices of usage.

use http::Method;

use super::service;
use crate::calls::Call;
use crate::rest_types::RateCard;

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
}
