//! Tokens for participants.

use super::{service, whole_millis};
use crate::calls::Call;
use crate::generated::methods;
use crate::generated::types::{MintClientToken, MintedToken};
use crate::inner::query;

service! {
    /// Tokens.
    Tokens
}

impl Tokens {
    /// Mint a token for one user, on one device, in one live room. A repeated attempt mints another token,
    /// which is harmless.
    pub fn mint(&self, request: MintClientToken) -> Call<MintedToken> {
        let checked = whole_millis("lifetime", request.lifetime).map(|()| request.into());
        query(&self.inner, methods::MINT_CLIENT_TOKEN, checked, |answer| {
            Ok(answer.into())
        })
    }
}
