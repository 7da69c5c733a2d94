//! The stays of participants, split into intervals that become records.
//!
//! Usage is kept separately by role and tier, so an interval in which these changed becomes one record for each. Usage
//! that could not be stored stays here, for the next interval.

use std::collections::HashMap;
use std::fmt;
use std::iter::once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::error::{UsageError, UsageErrorCode};
use super::event::{Emit, UsageEvent};
use super::record::{MeasuredParticipant, ParticipantUsage, WHOLE_MAX, check_count, check_grant};
use super::spool::{Reply, Spool, blocking};
use crate::generated::rest::{Role, Tier};

/// How often the usage of running sessions is kept on disk: what a crash can lose.
const CHECKPOINT_WAIT: Duration = Duration::from_secs(1);

/// Makes ids, each once. An id is stored, and every attempt to send repeats it.
pub(super) struct Ids {
    /// Unique to this start, so that a restarted relay uses no id twice.
    pub(super) prefix: String,
    pub(super) made: AtomicU64,
}

impl Ids {
    pub(super) fn next(&self, session_id: &str) -> String {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        format!("{}.{session_id}.{number}", self.prefix)
    }
}

/// Usage in one role and tier that is no record yet.
struct Tally {
    role: Role,
    tier: Tier,
    /// Of the record that it becomes, once it is known.
    id: Option<String>,
    time: Duration,
    egress: u64,
    ingress: u64,
}

impl Tally {
    fn new(role: Role, tier: Tier) -> Self {
        Self {
            role,
            tier,
            id: None,
            time: Duration::ZERO,
            egress: 0,
            ingress: 0,
        }
    }

    fn has_bytes(&self) -> bool {
        self.egress > 0 || self.ingress > 0
    }

    /// In whole seconds.
    fn rounded(&self) -> u64 {
        (self.time + Duration::from_millis(500)).as_secs()
    }

    fn usage(&self, who: &MeasuredParticipant, seconds: u64) -> ParticipantUsage {
        let of = MeasuredParticipant {
            role: self.role.clone(),
            tier: self.tier.clone(),
            ..who.clone()
        };
        ParticipantUsage {
            of,
            seconds,
            egress_bytes: self.egress,
            ingress_bytes: self.ingress,
        }
    }
}

struct Count {
    current: Tally,
    /// Of earlier roles and tiers.
    others: Vec<Tally>,
    until: Instant,
    /// On their way to the disk, by id.
    storing: HashMap<String, ParticipantUsage>,
    is_ended: bool,
    failure: Option<UsageError>,
}

impl Count {
    fn tallies(&mut self) -> impl Iterator<Item = &mut Tally> {
        self.others.iter_mut().chain(once(&mut self.current))
    }

    fn count_time(&mut self) {
        let now = Instant::now();
        if !self.is_ended {
            self.current.time += now.saturating_duration_since(self.until);
        }
        self.until = now;
    }

    /// The usage counts for this role and tier from now on.
    fn turn_to(&mut self, role: Role, tier: Tier) {
        self.count_time();
        let known = |tally: &Tally| tally.role == role && tally.tier == tier;
        if known(&self.current) {
            return;
        }
        let next = match self.others.iter().position(known) {
            Some(at) => self.others.swap_remove(at),
            None => Tally::new(role, tier),
        };
        self.others.push(std::mem::replace(&mut self.current, next));
    }

    fn give_back(&mut self, id: &str, usage: &ParticipantUsage) {
        let (role, tier) = (&usage.of.role, &usage.of.tier);
        let is_same = |tally: &&mut Tally| tally.role == *role && tally.tier == *tier;
        if let Some(tally) = self.tallies().find(is_same) {
            // The last checkpoint may have it: under another id it would be charged twice after a crash.
            tally.id = Some(id.to_owned());
            tally.time += Duration::from_secs(usage.seconds);
            tally.egress += usage.egress_bytes;
            tally.ingress += usage.ingress_bytes;
        }
    }

    fn is_over(&self) -> bool {
        let is_empty = |tally: &Tally| tally.rounded() == 0 && !tally.has_bytes();
        self.is_ended
            && self.storing.is_empty()
            && self.others.iter().chain(once(&self.current)).all(is_empty)
    }
}

/// What the reporter knows of a session.
struct Stay {
    id: String,
    who: MeasuredParticipant,
    count: Mutex<Count>,
    /// How many records are on their way to the disk.
    storing: watch::Sender<usize>,
}

impl Stay {
    fn count(&self) -> MutexGuard<'_, Count> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Take what becomes records now. Whole seconds are reported. The remaining fraction waits for the next interval:
    /// otherwise its bytes would be reported with zero seconds, and so with a price ceiling of zero.
    fn cut(&self, is_end: bool, ids: &Ids) -> Vec<(String, ParticipantUsage)> {
        let mut count = self.count();
        count.count_time();
        count.is_ended |= is_end;
        let is_ended = count.is_ended;
        let mut taken = Vec::new();
        for tally in count.tallies() {
            let seconds = if is_ended {
                tally.rounded()
            } else {
                tally.time.as_secs()
            };
            if seconds == 0 && !(is_ended && tally.has_bytes()) {
                continue;
            }
            let usage = tally.usage(&self.who, seconds);
            let id = tally.id.take().unwrap_or_else(|| ids.next(&self.id));
            tally.time = tally.time.saturating_sub(Duration::from_secs(seconds));
            (tally.egress, tally.ingress) = (0, 0);
            taken.push((id, usage));
        }
        count.storing.extend(taken.iter().cloned());
        self.storing.send_replace(count.storing.len());
        taken
    }

    /// The disk has it, or not.
    fn note_stored(&self, id: &str, result: &Result<(), UsageError>) {
        let mut count = self.count();
        let usage = count.storing.remove(id);
        if let (Some(usage), Err(error)) = (usage, result) {
            count.give_back(id, &usage);
            count.failure = Some(error.clone());
        }
        self.storing.send_replace(count.storing.len());
    }

    /// What it would record if it ended now. The ids stay the same until it is recorded.
    fn unrecorded(&self, ids: &Ids) -> Vec<(String, ParticipantUsage)> {
        let mut count = self.count();
        count.count_time();
        let mut all: Vec<_> = count.storing.clone().into_iter().collect();
        for tally in count.tallies() {
            let seconds = tally.rounded();
            if seconds > 0 || tally.has_bytes() {
                let id = tally.id.get_or_insert_with(|| ids.next(&self.id)).clone();
                all.push((id, tally.usage(&self.who, seconds)));
            }
        }
        all
    }
}

#[derive(Default)]
struct Running {
    stays: Vec<Arc<Stay>>,
    started: u64,
    is_closed: bool,
}

/// All that run.
pub(super) struct Sessions {
    running: Mutex<Running>,
    ids: Arc<Ids>,
    emit: Emit,
}

impl Sessions {
    pub(super) fn new(ids: Arc<Ids>, emit: Emit) -> Self {
        let running = Mutex::default();
        Self { running, ids, emit }
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(
        self: &Arc<Self>,
        spool: &Arc<Spool>,
        who: MeasuredParticipant,
    ) -> Result<UsageSession, UsageError> {
        who.check()?;
        let mut running = self.running();
        if running.is_closed {
            return Err(UsageError::closed());
        }
        running.started += 1;
        let id = who.session_id.clone();
        let stay = Arc::new(Stay {
            id: id.unwrap_or_else(|| format!("s{}", running.started)),
            count: Mutex::new(Count {
                current: Tally::new(who.role.clone(), who.tier.clone()),
                others: Vec::new(),
                until: Instant::now(),
                storing: HashMap::new(),
                is_ended: false,
                failure: None,
            }),
            who,
            storing: watch::Sender::new(0),
        });
        running.stays.push(stay.clone());
        Ok(UsageSession {
            stay,
            sessions: self.clone(),
            spool: Arc::downgrade(spool),
        })
    }

    /// Begin to record the usage so far. What cannot be stored comes back, and is an event.
    fn cut(&self, stay: &Arc<Stay>, spool: &Spool, is_end: bool) {
        for (id, usage) in stay.cut(is_end, &self.ids) {
            let (stay, emit, rendered) = (stay.clone(), self.emit.clone(), usage.render(&id));
            let note = move |result: Result<(), UsageError>| {
                stay.note_stored(&id, &result);
                if let Err(cause) = result {
                    let session_id = stay.id.clone();
                    emit.emit(UsageEvent::IntervalNotStored { session_id, cause });
                }
            };
            match rendered {
                Ok((_, lines)) => spool.append(lines, Reply::Listener(Box::new(note))),
                Err(error) => note(Err(error)),
            }
        }
    }

    fn cut_all(&self, spool: &Spool, is_end: bool) {
        let stays = self.running().stays.clone();
        for stay in &stays {
            self.cut(stay, spool, is_end);
        }
        self.forget_ended();
    }

    fn forget_ended(&self) {
        self.running().stays.retain(|stay| !stay.count().is_over());
    }

    /// Begin to record the rest of all.
    pub(super) fn end_all(&self, spool: &Spool) {
        self.running().is_closed = true;
        self.cut_all(spool, true);
    }

    /// What running sessions would record if they ended now.
    pub(super) fn lines(&self) -> Vec<String> {
        let stays = self.running().stays.clone();
        let unrecorded = stays.iter().flat_map(|stay| stay.unrecorded(&self.ids));
        // What is too long for a record is refused when it is recorded.
        let rendered = unrecorded.filter_map(|(id, usage)| usage.render(&id).ok());
        rendered.flat_map(|(_, lines)| lines).collect()
    }

    /// Record intervals, and keep the usage of sessions while they run, and once after the last one.
    pub(super) async fn keep(self: Arc<Self>, spool: Arc<Spool>, interval: Duration) {
        let start = Instant::now();
        let (mut cut_at, mut keep_at) = (start + interval, start + CHECKPOINT_WAIT);
        let mut was_running = false;
        loop {
            sleep_until(cut_at.min(keep_at)).await;
            let now = Instant::now();
            if now >= cut_at {
                cut_at = now + interval;
                self.cut_all(&spool, false);
            }
            if now >= keep_at {
                keep_at = now + CHECKPOINT_WAIT;
                let is_running = !self.running().stays.is_empty();
                if is_running || was_running {
                    blocking(&spool, Spool::checkpoint).await;
                }
                was_running = is_running;
            }
        }
    }
}

/// The stay of one participant, whose seconds the reporter counts. Dropped, it ends, without waiting for the disk.
pub struct UsageSession {
    stay: Arc<Stay>,
    sessions: Arc<Sessions>,
    spool: Weak<Spool>,
}

impl UsageSession {
    /// The session's part of the ids of records.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.stay.id
    }

    /// Count bytes since the last call. Fails with `Closed` once the session or the reporter has ended.
    pub fn add_bytes(&self, egress: u64, ingress: u64) -> Result<(), UsageError> {
        check_count("egress", egress)?;
        check_count("ingress", ingress)?;
        let mut count = self.stay.count();
        if count.is_ended {
            let message = "the session has ended";
            return Err(UsageError::new(UsageErrorCode::Closed, message));
        }
        let current = &mut count.current;
        if egress > WHOLE_MAX - current.egress || ingress > WHOLE_MAX - current.ingress {
            let message = "bytes of an interval must be at most 2^53 - 1";
            return Err(UsageError::new(UsageErrorCode::InvalidUsage, message));
        }
        current.egress += egress;
        current.ingress += ingress;
        Ok(())
    }

    /// The participant has another role from now on.
    pub fn change_role(&self, role: Role) -> Result<(), UsageError> {
        let mut count = self.stay.count();
        let tier = count.current.tier.clone();
        check_grant(&role, &tier)?;
        count.turn_to(role, tier);
        Ok(())
    }

    /// The participant receives another tier from now on: see [`tier_of`](super::tier_of).
    pub fn change_tier(&self, tier: Tier) -> Result<(), UsageError> {
        let mut count = self.stay.count();
        let role = count.current.role.clone();
        check_grant(&role, &tier)?;
        count.turn_to(role, tier);
        Ok(())
    }

    /// The participant left. Returns once the last interval is on disk; after an error, call it again.
    pub async fn end(&self) -> Result<(), UsageError> {
        let spool = self.spool.upgrade().ok_or_else(UsageError::closed)?;
        self.stay.count().failure = None;
        self.sessions.cut(&self.stay, &spool, true);
        let mut storing = self.stay.storing.subscribe();
        // The sender lives as long as this session.
        let _ = storing.wait_for(|count| *count == 0).await;
        let failure = self.stay.count().failure.take();
        self.sessions.forget_ended();
        failure.map_or(Ok(()), Err)
    }
}

impl Drop for UsageSession {
    fn drop(&mut self) {
        let is_ended = self.stay.count().is_ended;
        if let (false, Some(spool)) = (is_ended, self.spool.upgrade()) {
            self.sessions.cut(&self.stay, &spool, true);
            self.sessions.forget_ended();
        }
    }
}

impl fmt::Debug for UsageSession {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("UsageSession")
            .field("id", &self.stay.id)
            .finish_non_exhaustive()
    }
}
