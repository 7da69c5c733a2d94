//! Mail about the account.

use http::Method;

use super::service;
use crate::calls::{Call, Mutation};
use crate::generated::rest::{MailSettings, SetMail};
use crate::rest::Query;

const PATH: &str = "/v1/mail";

service! {
    /// Who gets mail about the account.
    Mail
}

impl Mail {
    /// The settings.
    pub fn get(&self) -> Call<MailSettings> {
        let inner = self.inner.clone();
        Call::new(
            move |options| async move { inner.rest.get(PATH, &Query::default(), &options).await },
        )
    }

    /// Replace all settings. Addresses that differ only in case are one address.
    pub fn set(&self, settings: SetMail) -> Mutation<MailSettings> {
        let inner = self.inner.clone();
        Mutation::new(move |options| async move {
            inner
                .rest
                .call(Method::PUT, PATH, Some(&settings), &options)
                .await
        })
    }
}
