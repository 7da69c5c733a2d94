//! All reasons for which a relay refuses a participant.

use std::fmt;

macro_rules! refusals {
    ($($variant:ident => $code:literal, $message:literal;)*) => {
        /// Why a participant may not come in.
        ///
        /// Codes are stable and meant for programs; messages are meant for logs. Neither ever contains a
        /// part of a token or a proof.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum RefusalCode {
            $(#[doc = concat!("`", $code, "`: ", $message, ".")] $variant,)*
        }

        impl RefusalCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The code, such as `TOKEN_EXPIRED`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)*
                }
            }

            /// For logs.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self {
                    $(Self::$variant => $message,)*
                }
            }
        }
    };
}

refusals! {
    TokenMalformed => "TOKEN_MALFORMED", "the token is not a compact JWS of three canonical base64url segments holding JSON";
    TokenTooLarge => "TOKEN_TOO_LARGE", "the token is longer than 4 KiB";
    TokenWrongType => "TOKEN_WRONG_TYPE", "the token is not of type participant+jwt";
    TokenWrongAlgorithm => "TOKEN_WRONG_ALGORITHM", "the token is not signed with ES256";
    TokenHeaderInvalid => "TOKEN_HEADER_INVALID", "the header of the token holds something else than typ, alg and kid";
    TokenUnknownKey => "TOKEN_UNKNOWN_KEY", "the token names a signing key that is not published";
    KeysUnavailable => "KEYS_UNAVAILABLE", "the signing keys could not be fetched";
    TokenBadSignature => "TOKEN_BAD_SIGNATURE", "the signature of the token is wrong";
    TokenWrongIssuer => "TOKEN_WRONG_ISSUER", "the token is from another issuer";
    TokenWrongAudience => "TOKEN_WRONG_AUDIENCE", "the token is for another audience";
    TokenClaimsInvalid => "TOKEN_CLAIMS_INVALID", "the token lacks a claim, or has one of a wrong type";
    TokenExpired => "TOKEN_EXPIRED", "the token has expired";
    TokenNotYetValid => "TOKEN_NOT_YET_VALID", "the token is from the future";
    TokenLivesTooLong => "TOKEN_LIVES_TOO_LONG", "the token lives longer than 15 minutes, or ends before it begins";
    TokenNotBound => "TOKEN_NOT_BOUND", "the token is not bound to exactly one device key";
    TenantNotServed => "TENANT_NOT_SERVED", "the tenant of the token is not served here";
    RoomNotServed => "ROOM_NOT_SERVED", "the room of the token is not served here";
    RoomNotCurrent => "ROOM_NOT_CURRENT", "the token is for an earlier room of the same name";
    RevocationsStale => "REVOCATIONS_STALE", "there are no current revocations to check the token against";
    RoomClosed => "ROOM_CLOSED", "the room has been closed";
    TokenRevoked => "TOKEN_REVOKED", "the token has been revoked";
    Banned => "BANNED", "the user, the device or the address is banned";
    AddressUnknown => "ADDRESS_UNKNOWN", "addresses are banned, and the address of the participant is not known";
    ProofMalformed => "PROOF_MALFORMED", "the proof is not a compact JWS of three canonical base64url segments holding JSON";
    ProofTooLarge => "PROOF_TOO_LARGE", "the proof is longer than 4 KiB";
    ProofWrongType => "PROOF_WRONG_TYPE", "the proof is not of type dpop+jwt";
    ProofWrongAlgorithm => "PROOF_WRONG_ALGORITHM", "the proof is not signed with ES256";
    ProofHeaderInvalid => "PROOF_HEADER_INVALID", "the header of the proof holds something else than typ, alg and jwk";
    ProofKeyInvalid => "PROOF_KEY_INVALID", "the key in the proof is not a public P-256 key of kty, crv, x and y alone";
    ProofBadSignature => "PROOF_BAD_SIGNATURE", "the signature of the proof is wrong";
    ProofClaimsInvalid => "PROOF_CLAIMS_INVALID", "the proof lacks a claim, or has one of a wrong type";
    ProofOtherMethod => "PROOF_OTHER_METHOD", "the proof is for another method (htm)";
    ProofOtherUrl => "PROOF_OTHER_URL", "the proof is for another relay (htu)";
    ProofOtherToken => "PROOF_OTHER_TOKEN", "the proof is for another token (ath)";
    ProofOtherChallenge => "PROOF_OTHER_CHALLENGE", "the proof answers another challenge (nonce)";
    ProofOtherDevice => "PROOF_OTHER_DEVICE", "the proof is signed by another device than the token is bound to";
    ChallengeUnusable => "CHALLENGE_UNUSABLE", "the challenge was used, has expired, or was not issued here";
    DtlsOtherCertificate => "DTLS_OTHER_CERTIFICATE", "the DTLS certificate is not the one that the proof names";
    NotAdmitted => "NOT_ADMITTED", "the tenant has no credit for new sessions, or a budget of the token is spent";
    RenewalOtherParticipant => "RENEWAL_OTHER_PARTICIPANT", "the new token is for another user, room or device than the session";
}

impl fmt::Display for RefusalCode {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.as_str())
    }
}

/// Why tokens were revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RevocationReason {
    /// A moderator kicked the user.
    Kicked,
    /// The user, the device or the address was banned.
    Banned,
    /// A moderator closed the room.
    Closed,
    /// The room ended.
    Ended,
    /// A timer that the tenant has set.
    Watchdog,
    /// The device credential with which the token was minted is revoked.
    CredentialRevoked,
}

impl RevocationReason {
    /// The word, such as `kicked`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kicked => "kicked",
            Self::Banned => "banned",
            Self::Closed => "closed",
            Self::Ended => "ended",
            Self::Watchdog => "watchdog",
            Self::CredentialRevoked => "credential_revoked",
        }
    }

    /// `None` for a reason of a later version.
    pub(crate) fn read(word: &str) -> Option<Self> {
        [
            Self::Kicked,
            Self::Banned,
            Self::Closed,
            Self::Ended,
            Self::Watchdog,
            Self::CredentialRevoked,
        ]
        .into_iter()
        .find(|reason| reason.as_str() == word)
    }
}

/// A participant that may not come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdmissionRefused {
    /// Why.
    pub code: RefusalCode,
    /// With `TOKEN_REVOKED` (`kicked`, `banned`, `watchdog`, `credential_revoked`), `BANNED` (`banned`) and
    /// `ROOM_CLOSED` (`closed` by a moderator, `ended`, `watchdog`): what the client may tell the user; `None` if that is not known.
    pub reason: Option<RevocationReason>,
}

impl AdmissionRefused {
    pub(crate) const fn because(code: RefusalCode, reason: Option<RevocationReason>) -> Self {
        Self { code, reason }
    }
}

impl From<RefusalCode> for AdmissionRefused {
    fn from(code: RefusalCode) -> Self {
        Self { code, reason: None }
    }
}

impl fmt::Display for AdmissionRefused {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.code.message())
    }
}

impl std::error::Error for AdmissionRefused {}
