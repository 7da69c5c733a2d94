//! Admission at a relay, decided without a request to the service.

use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::SystemTime;

use super::challenges::Challenges;
use super::feed::{RevocationFeed, WallClock};
use super::proof::{ExpectedProof, verify_proof};
use super::refusal::{AdmissionRefused, RefusalCode};
use super::revocations::{Revocations, Subject};
use super::signing_keys::SigningKeys;
use super::token::{Expected, TokenClaims, verify_token};
use crate::calls::fill_randomly;
use crate::error::Error;
use crate::jws::Jwks;

type Question = Arc<dyn Fn(&str) -> bool + Send + Sync>;
type BudgetQuestion = Arc<dyn Fn(&str, &[String]) -> bool + Send + Sync>;
type CurrentUid = Arc<dyn Fn(&str, &str) -> Option<String> + Send + Sync>;
type Snapshots = Arc<dyn Fn(&str) -> Option<Arc<Revocations>> + Send + Sync>;
type Random = Arc<dyn Fn() -> [u8; 32] + Send + Sync>;

/// What a device presents, and what the relay knows about the connection.
#[derive(Clone, Copy)]
pub struct Attempt<'a> {
    /// The participant token.
    pub token: &'a str,
    /// The device's proof that the token is its own.
    pub proof: &'a str,
    /// The challenge that was issued for this connection, from the relay's memory.
    pub challenge: &'a str,
    /// The address of this relay for devices, from the relay's settings; never from a request header.
    pub url: &'a str,
    /// The method that the proof names: `CONNECT`, unless the relay chose another.
    pub method: &'a str,
    /// SHA-256 of the device's DTLS certificate: 32 hex pairs with colons, from the DTLS connection.
    pub dtls_fingerprint: &'a str,
    /// The device's IP address. Needed only if addresses are banned.
    pub address: Option<&'a str>,
}

impl fmt::Debug for Attempt<'_> {
    /// Without the token and the proof, which are secrets.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Attempt")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// An admitted participant, until `expires_at`. It derefs to its [`TokenClaims`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Admission {
    /// Who it is, and what is granted.
    pub claims: TokenClaims,
    /// What a moderator has muted: any of `audio`, `video`, `screen`, `data`.
    pub muted: Vec<String>,
}

impl Deref for Admission {
    type Target = TokenClaims;

    fn deref(&self) -> &TokenClaims {
        &self.claims
    }
}

/// User, room and device of a session, as in an [`Admission`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // As in `TokenClaims`.
pub struct Participant {
    pub tenant: String,
    pub username: String,
    pub room_uid: String,
    pub device_thumbprint: String,
}

impl From<&TokenClaims> for Participant {
    fn from(claims: &TokenClaims) -> Self {
        Self {
            tenant: claims.tenant.clone(),
            username: claims.username.clone(),
            room_uid: claims.room_uid.clone(),
            device_thumbprint: claims.device_thumbprint.clone(),
        }
    }
}

/// Decides on admission. It opens nothing: signing keys are fetched on first use, and cached for ten
/// minutes. Share it between connections in an [`Arc`].
pub struct TokenVerifier {
    options: TokenVerifierBuilder,
    keys: SigningKeys,
    challenges: Challenges,
}

impl TokenVerifier {
    /// `issuer`: `iss` of the tokens, the base URL of the deployment. `audience`: `aud` of the tokens,
    /// `relay:` and the host of the deployment.
    pub fn builder(issuer: impl Into<String>, audience: impl Into<String>) -> TokenVerifierBuilder {
        TokenVerifierBuilder {
            issuer: issuer.into(),
            audience: audience.into(),
            jwks: None,
            jwks_url: None,
            ca_certificates: None,
            serves_tenant: None,
            serves_room: None,
            current_room_uid: None,
            revocations: None,
            admitted: None,
            budget_reached: None,
            wall_clock: Arc::new(SystemTime::now),
            random: None,
        }
    }

    /// A new challenge, to send to one device. It can be used once within 60 seconds.
    ///
    /// Fails only if the system gives no random numbers.
    pub fn challenge(&self) -> Result<String, Error> {
        let mut bytes = [0; 32];
        match &self.options.random {
            Some(random) => bytes = random(),
            None => fill_randomly(&mut bytes)?,
        }
        Ok(self.challenges.issue(bytes))
    }

    /// Admit a new participant.
    pub async fn verify(&self, attempt: Attempt<'_>) -> Result<Admission, AdmissionRefused> {
        let admission = self.verify_possession(attempt).await?;
        let TokenVerifierBuilder {
            admitted,
            budget_reached,
            ..
        } = &self.options;
        let has_credit = admitted
            .as_ref()
            .is_none_or(|admitted| admitted(&admission.tenant));
        let is_spent = budget_reached
            .as_ref()
            .is_some_and(|reached| reached(&admission.tenant, &admission.budgets));
        if has_credit && !is_spent {
            Ok(admission)
        } else {
            Err(RefusalCode::NotAdmitted.into())
        }
    }

    /// Extend the stay of a participant: same user, room and device, with a new token and a new challenge.
    ///
    /// Running sessions continue without credit, so credit is not checked.
    pub async fn renew(
        &self,
        previous: &Participant,
        attempt: Attempt<'_>,
    ) -> Result<Admission, AdmissionRefused> {
        let admission = self.verify_possession(attempt).await?;
        if *previous == Participant::from(&admission.claims) {
            Ok(admission)
        } else {
            Err(RefusalCode::RenewalOtherParticipant.into())
        }
    }

    /// Checks 1 to 11, for both newcomers and renewals.
    async fn verify_possession(&self, attempt: Attempt<'_>) -> Result<Admission, AdmissionRefused> {
        let now = (self.options.wall_clock)();
        let TokenVerifierBuilder {
            issuer, audience, ..
        } = &self.options;
        let expected = Expected {
            issuer,
            audience,
            keys: &self.keys,
            now,
        };
        let claims = verify_token(attempt.token, expected).await?;
        self.check_served(&claims)?;
        let muted = match &self.options.revocations {
            Some(snapshots) => {
                let snapshot = snapshots(&claims.tenant).ok_or(RefusalCode::RevocationsStale)?;
                snapshot.check(&Subject::from(&claims), now, attempt.address)?
            }
            None => Vec::new(),
        };
        self.check_connection(attempt, &claims)?;
        Ok(Admission { claims, muted })
    }

    fn check_served(&self, claims: &TokenClaims) -> Result<(), RefusalCode> {
        let TokenVerifierBuilder {
            serves_tenant,
            serves_room,
            current_room_uid,
            ..
        } = &self.options;
        if serves_tenant
            .as_ref()
            .is_some_and(|serves| !serves(&claims.tenant))
        {
            return Err(RefusalCode::TenantNotServed);
        }
        if serves_room
            .as_ref()
            .is_some_and(|serves| !serves(&claims.room))
        {
            return Err(RefusalCode::RoomNotServed);
        }
        let current = current_room_uid
            .as_ref()
            .and_then(|uid| uid(&claims.tenant, &claims.room));
        if current.is_some_and(|uid| uid != claims.room_uid) {
            return Err(RefusalCode::RoomNotCurrent);
        }
        Ok(())
    }

    fn check_connection(
        &self,
        attempt: Attempt<'_>,
        claims: &TokenClaims,
    ) -> Result<(), RefusalCode> {
        let Attempt {
            token,
            challenge,
            method,
            url,
            ..
        } = attempt;
        let device_thumbprint = &claims.device_thumbprint;
        let expected = ExpectedProof {
            token,
            device_thumbprint,
            challenge,
            method,
            url,
        };
        let proven = verify_proof(attempt.proof, &expected)?;
        if !self.challenges.use_up(challenge) {
            return Err(RefusalCode::ChallengeUnusable);
        }
        if proven != attempt.dtls_fingerprint.to_ascii_lowercase() {
            return Err(RefusalCode::DtlsOtherCertificate);
        }
        Ok(())
    }
}

impl fmt::Debug for TokenVerifier {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("TokenVerifier")
            .field("issuer", &self.options.issuer)
            .field("audience", &self.options.audience)
            .finish_non_exhaustive()
    }
}

/// Whose tokens are accepted, and the keys: `jwks_url`, or `jwks` for keys that never change.
#[derive(Clone)]
#[must_use]
pub struct TokenVerifierBuilder {
    issuer: String,
    audience: String,
    jwks: Option<Jwks>,
    jwks_url: Option<String>,
    ca_certificates: Option<Vec<u8>>,
    serves_tenant: Option<Question>,
    serves_room: Option<Question>,
    current_room_uid: Option<CurrentUid>,
    revocations: Option<Snapshots>,
    admitted: Option<Question>,
    budget_reached: Option<BudgetQuestion>,
    wall_clock: WallClock,
    random: Option<Random>,
}

impl TokenVerifierBuilder {
    /// Address of the service's keys, which are fetched and kept: `/.well-known/jwks.json`.
    pub fn jwks_url(mut self, url: impl Into<String>) -> Self {
        self.jwks_url = Some(url.into());
        self
    }

    /// The keys themselves; nothing is fetched.
    pub fn jwks(mut self, jwks: Jwks) -> Self {
        self.jwks = Some(jwks);
        self
    }

    /// CA certificates in PEM for `jwks_url`, in place of the system's.
    pub fn ca_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.ca_certificates = Some(pem.into());
        self
    }

    /// Tenants that are served here. Default: all.
    pub fn tenants(self, tenants: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let tenants: HashSet<String> = tenants.into_iter().map(Into::into).collect();
        self.serves_tenant(move |tenant| tenants.contains(tenant))
    }

    /// Whether a tenant is served here, for sets that change.
    pub fn serves_tenant(mut self, serves: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.serves_tenant = Some(Arc::new(serves));
        self
    }

    /// Names of rooms that are served here. Default: all.
    pub fn rooms(self, rooms: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let rooms: HashSet<String> = rooms.into_iter().map(Into::into).collect();
        self.serves_room(move |room| rooms.contains(room))
    }

    /// Whether a room is served here, for sets that change.
    pub fn serves_room(mut self, serves: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.serves_room = Some(Arc::new(serves));
        self
    }

    /// The uid of the room that has the name now, of a tenant and a name, if the relay knows it.
    pub fn current_room_uid(
        mut self,
        uid: impl Fn(&str, &str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.current_room_uid = Some(Arc::new(uid));
        self
    }

    /// Check revocations and budgets by this feed. While it has no current snapshot of a tenant, all its participants
    /// are refused.
    pub fn revocation_feed(self, feed: &RevocationFeed) -> Self {
        let (snapshots, told) = feed.readers();
        self.revocations(move |tenant| snapshots.get(tenant))
            .budget_reached(move |tenant, budgets| told.budget_reached(tenant, budgets))
    }

    /// The newest snapshot of a tenant. `None` while there is none, which refuses all its participants.
    pub fn revocations(
        mut self,
        snapshots: impl Fn(&str) -> Option<Arc<Revocations>> + Send + Sync + 'static,
    ) -> Self {
        self.revocations = Some(Arc::new(snapshots));
        self
    }

    /// Whether a tenant has credit for new sessions. Default: yes.
    pub fn admitted(mut self, admitted: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.admitted = Some(Arc::new(admitted));
        self
    }

    /// Whether one of these budgets of the tenant is spent: [`RevocationFeed::budget_reached`]. Then new sessions are
    /// refused with `NOT_ADMITTED`. Default: none is.
    pub fn budget_reached(
        mut self,
        reached: impl Fn(&str, &[String]) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.budget_reached = Some(Arc::new(reached));
        self
    }

    /// For tests: the time of day.
    pub fn wall_clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.wall_clock = Arc::new(clock);
        self
    }

    /// For tests: the bytes of challenges.
    pub fn random(mut self, random: impl Fn() -> [u8; 32] + Send + Sync + 'static) -> Self {
        self.random = Some(Arc::new(random));
        self
    }

    /// Fails with [`Error::Invalid`] unless there is exactly one of `jwks_url` and `jwks`.
    pub fn build(self) -> Result<TokenVerifier, Error> {
        let keys = SigningKeys::of(
            self.jwks.as_ref(),
            self.jwks_url.as_deref(),
            self.ca_certificates.as_deref(),
        )?;
        Ok(TokenVerifier {
            options: self,
            keys,
            challenges: Challenges::default(),
        })
    }
}

impl fmt::Debug for TokenVerifierBuilder {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("TokenVerifierBuilder")
            .field("issuer", &self.issuer)
            .field("audience", &self.audience)
            .finish_non_exhaustive()
    }
}
