//! API keys.

use http::Method;
use serde::Deserialize;

use super::service;
use crate::calls::{Call, Mutation};
use crate::generated::rest::{ApiKey, CreateKey, CreatedKey, RevokeKey, RotateKey, RotatedKey};
use crate::http::encode;
use crate::rest::segment;

#[derive(Deserialize)]
struct KeysPage {
    keys: Vec<ApiKey>,
    next_cursor: Option<String>,
}

service! {
    /// API keys of the tenant.
    Keys
}

impl Keys {
    /// All keys, oldest first, including revoked ones. One request for each 500 keys; time limits are for
    /// each of them.
    pub fn list(&self) -> Call<Vec<ApiKey>> {
        let inner = self.inner.clone();
        Call::new(move |options| async move {
            let (mut keys, mut path) = (Vec::new(), "/v1/keys".to_owned());
            loop {
                let page: KeysPage = inner
                    .rest
                    .call(Method::GET, &path, None::<&()>, &options)
                    .await?;
                keys.extend(page.keys);
                let Some(cursor) = page.next_cursor else {
                    return Ok(keys);
                };
                path = format!("/v1/keys?cursor={}", encode(&cursor));
            }
        })
    }

    /// Create a key. Only this answer contains `api_key`; for 24 hours, a call with the same idempotency key
    /// gets it again.
    pub fn create(&self, request: CreateKey) -> Mutation<CreatedKey> {
        let inner = self.inner.clone();
        Mutation::new(move |options| async move {
            inner
                .rest
                .call(Method::POST, "/v1/keys", Some(&request), &options)
                .await
        })
    }

    /// Replace a key. The old one works on for the overlap, by default a day.
    pub fn rotate(&self, request: RotateKey) -> Mutation<RotatedKey> {
        let inner = self.inner.clone();
        Mutation::new(move |options| async move {
            let path = format!("/v1/keys/{}/rotate", segment("id", &request.id)?);
            inner
                .rest
                .call(Method::POST, &path, Some(&request), &options)
                .await
        })
    }

    /// Revoke a key at once. The last working key of its kind is refused with the reason
    /// `WOULD_STOP_SERVICE`, unless the request says to stop the service.
    pub fn revoke(&self, request: RevokeKey) -> Mutation<()> {
        let inner = self.inner.clone();
        Mutation::new(move |options| async move {
            let mut path = format!("/v1/keys/{}", segment("id", &request.id)?);
            if let Some(confirm) = &request.confirm {
                path = format!("{path}?confirm={}", encode(confirm));
            }
            inner
                .rest
                .call(Method::DELETE, &path, None::<&()>, &options)
                .await
        })
    }
}
