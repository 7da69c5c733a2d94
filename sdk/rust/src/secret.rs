//! Texts that must not get into logs.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// A secret in an answer, such as a token. Its `Debug` output does not contain it.
///
/// It is a text: `&*secret` is a `&str`, and it serialises as one.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    /// The secret itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Secret {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("Secret(..)")
    }
}
