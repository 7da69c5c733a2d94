//! Credentials for devices without a back end. Over the control plane, where a call can be repeated safely.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{service, whole_millis};
use crate::calls::Mutation;
use crate::generated::methods;
use crate::generated::types::{
    CreateDeviceCredential, DeviceCredential, ListDeviceCredentials, RevokeDeviceCredential,
    RotateDeviceCredential,
};
use crate::generated::wire;
use crate::inner::{list, mutate, required};
use crate::listing::{Listing, Page};
use crate::plain;
use crate::secret::Secret;

/// A new credential.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CreatedCredential {
    /// The credential without its secret.
    pub device_credential: DeviceCredential,
    /// The plaintext that the device presents; no later answer contains it.
    pub credential: Secret,
}

/// The replacement of a credential.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RotatedCredential {
    /// The credential without its secret.
    pub device_credential: DeviceCredential,
    /// The plaintext that the device presents; no later answer contains it.
    pub credential: Secret,
    /// Until when the old one works.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub old_credential_retire_time: Option<SystemTime>,
}

service! {
    /// Device credentials.
    DeviceCredentials
}

impl DeviceCredentials {
    /// Create one. `credential` is the secret that the device presents; no later answer contains it.
    pub fn create(&self, request: CreateDeviceCredential) -> Mutation<CreatedCredential> {
        mutate(
            &self.inner,
            methods::CREATE_DEVICE_CREDENTIAL,
            Ok(request.into()),
            |answer| {
                Ok(CreatedCredential {
                    device_credential: required(answer.device_credential, "device_credential")?,
                    credential: Secret::new(answer.credential),
                })
            },
        )
    }

    /// All of them, oldest first, including revoked ones.
    pub fn list(&self, request: ListDeviceCredentials) -> Listing<DeviceCredential> {
        let first = request.page_token.clone();
        list(
            &self.inner,
            methods::LIST_DEVICE_CREDENTIALS,
            wire::ListDeviceCredentialsRequest::from(request),
            first,
            |request, token| request.page_token = token,
            |answer| Page {
                items: answer
                    .device_credentials
                    .into_iter()
                    .map(Into::into)
                    .collect(),
                next_page_token: answer.next_page_token,
            },
        )
    }

    /// Replace one. The old one works on for `overlap`, by default a day.
    pub fn rotate(&self, request: RotateDeviceCredential) -> Mutation<RotatedCredential> {
        let checked = whole_millis("overlap", request.overlap).map(|()| request.into());
        mutate(
            &self.inner,
            methods::ROTATE_DEVICE_CREDENTIAL,
            checked,
            |answer| {
                Ok(RotatedCredential {
                    device_credential: required(answer.device_credential, "device_credential")?,
                    credential: Secret::new(answer.credential),
                    old_credential_retire_time: plain::read_time(answer.old_credential_retire_time),
                })
            },
        )
    }

    /// Revoke one at once. Relays end the sessions that it opened.
    pub fn revoke(&self, request: RevokeDeviceCredential) -> Mutation<DeviceCredential> {
        mutate(
            &self.inner,
            methods::REVOKE_DEVICE_CREDENTIAL,
            Ok(request.into()),
            |answer| required(answer.device_credential, "device_credential"),
        )
    }
}
