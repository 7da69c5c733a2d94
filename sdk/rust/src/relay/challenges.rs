//! Challenges that this process has issued and that are still unused. Each can be used once.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::jws::encode;

const LIFETIME: Duration = Duration::from_secs(60);
/// Beyond this many the oldest is dropped, so a flood of connections uses a bounded amount of memory.
const CHALLENGES_MAX: usize = 100_000;

#[derive(Default)]
pub(crate) struct Challenges {
    issued: Mutex<Issued>,
}

#[derive(Default)]
struct Issued {
    expiries: HashMap<String, Instant>,
    /// Oldest first, with those that were used since.
    order: VecDeque<(Instant, String)>,
}

impl Challenges {
    /// 32 random bytes in base64url.
    pub(crate) fn issue(&self, random: [u8; 32]) -> String {
        let challenge = encode(&random);
        let now = Instant::now();
        let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        issued.forget_oldest(now);
        issued.expiries.insert(challenge.clone(), now + LIFETIME);
        issued.order.push_back((now + LIFETIME, challenge.clone()));
        challenge
    }

    /// True once for each challenge, until it expires.
    pub(crate) fn use_up(&self, challenge: &str) -> bool {
        let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        issued
            .expiries
            .remove(challenge)
            .is_some_and(|expiry| Instant::now() < expiry)
    }
}

impl Issued {
    fn forget_oldest(&mut self, now: Instant) {
        while let Some((expiry, challenge)) = self.order.front() {
            let is_used = !self.expiries.contains_key(challenge);
            if !is_used && *expiry > now && self.order.len() < CHALLENGES_MAX {
                return;
            }
            self.expiries.remove(challenge);
            self.order.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{CHALLENGES_MAX, Challenges};

    fn numbered(number: u32) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        bytes
    }

    #[tokio::test(start_paused = true)]
    async fn each_can_be_used_once_within_a_minute() {
        let challenges = Challenges::default();
        let [first, second] = [1, 2].map(|number| challenges.issue(numbered(number)));
        tokio::time::advance(Duration::from_millis(59_999)).await;
        assert!(challenges.use_up(&first));
        assert!(!challenges.use_up(&first));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(!challenges.use_up(&second));
        assert!(!challenges.use_up("never issued"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_drops_the_oldest() {
        let challenges = Challenges::default();
        let first = challenges.issue(numbered(0));
        let second = challenges.issue(numbered(1));
        for number in 2..=u32::try_from(CHALLENGES_MAX).unwrap() {
            challenges.issue(numbered(number));
        }
        assert!(!challenges.use_up(&first));
        assert!(challenges.use_up(&second));
    }
}
