//! Timers on conditions of rooms.

use std::time::Duration;

use prost_types::FieldMask;
use serde::{Deserialize, Serialize};

use super::{service, whole_millis};
use crate::calls::{Call, Mutation};
use crate::error::Error;
use crate::generated::methods;
use crate::generated::types::{
    Actor, DeleteWatchdog, GetWatchdog, ListWatchdogs, Watchdog, WatchdogAction, WatchdogCondition,
};
use crate::generated::wire;
use crate::inner::{list, mutate, query, required};
use crate::listing::{Listing, Page};
use crate::plain;

/// A watchdog to arm, with one condition.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct CreateWatchdog {
    /// Name of a live room.
    pub room: String,
    /// What it waits for, and how long that must last: whole milliseconds, 1 s to 366 days.
    #[serde(flatten)]
    pub condition: Option<WatchdogCondition>,
    /// What it does when the condition has held for long enough.
    pub action: WatchdogAction,
    /// How long before firing an event warns of it; absent: no warning.
    #[serde(
        with = "plain::optional_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub warn_before: Option<Duration>,
    /// The acting participant: one with `watchdog.manage`; absent: the tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<Actor>,
}

impl CreateWatchdog {
    /// What is required.
    pub fn new(
        room: impl Into<String>,
        condition: WatchdogCondition,
        action: WatchdogAction,
    ) -> Self {
        Self {
            room: room.into(),
            condition: Some(condition),
            action,
            ..Self::default()
        }
    }

    /// How long before firing an event warns of it. Shorter than the condition.
    pub fn warn_before(mut self, warn_before: Duration) -> Self {
        self.warn_before = Some(warn_before);
        self
    }

    /// The acting participant: one with `watchdog.manage`.
    pub fn actor(mut self, actor: Actor) -> Self {
        self.actor = Some(actor);
        self
    }

    fn into_message(self) -> Result<wire::CreateWatchdogRequest, Error> {
        check_lengths(self.condition.as_ref(), self.warn_before)?;
        let watchdog = wire::Watchdog {
            room: self.room,
            condition: self.condition.map(Into::into),
            action: self.action.number(),
            warn_before: self.warn_before.map(plain::write_duration),
            ..wire::Watchdog::default()
        };
        let actor = self.actor.map(Into::into);
        let rest = wire::CreateWatchdogRequest::default();
        Ok(wire::CreateWatchdogRequest {
            watchdog: Some(watchdog),
            actor,
            ..rest
        })
    }
}

/// A watchdog, and what is to change of it.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct UpdateWatchdog {
    /// Id of the watchdog.
    pub id: String,
    /// How long its own condition must last. The kind of condition cannot change.
    #[serde(flatten)]
    pub condition: Option<WatchdogCondition>,
    /// What it does when the condition has held for long enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<WatchdogAction>,
    /// How long before firing an event warns of it; 0: no warning.
    #[serde(
        with = "plain::optional_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub warn_before: Option<Duration>,
    /// The acting participant: one with `watchdog.manage`; absent: the tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<Actor>,
}

impl UpdateWatchdog {
    /// Nothing changes yet.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }

    /// How long its own condition must last.
    pub fn condition(mut self, condition: WatchdogCondition) -> Self {
        self.condition = Some(condition);
        self
    }

    /// What it does when the condition has held for long enough.
    pub fn action(mut self, action: WatchdogAction) -> Self {
        self.action = Some(action);
        self
    }

    /// How long before firing an event warns of it; 0: no warning.
    pub fn warn_before(mut self, warn_before: Duration) -> Self {
        self.warn_before = Some(warn_before);
        self
    }

    /// The acting participant: one with `watchdog.manage`.
    pub fn actor(mut self, actor: Actor) -> Self {
        self.actor = Some(actor);
        self
    }

    fn into_message(self) -> Result<wire::UpdateWatchdogRequest, Error> {
        let condition = self
            .condition
            .as_ref()
            .map_or("", |condition| parts_of(condition).0);
        let paths = plain::given([
            (condition, self.condition.is_some()),
            ("action", self.action.is_some()),
            ("warn_before", self.warn_before.is_some()),
        ]);
        if paths.is_empty() {
            return Err(Error::invalid(
                "watchdog",
                "must have a field that is to change",
            ));
        }
        check_lengths(self.condition.as_ref(), self.warn_before)?;
        let watchdog = wire::Watchdog {
            id: self.id,
            condition: self.condition.map(Into::into),
            action: self.action.map_or(0, WatchdogAction::number),
            warn_before: self.warn_before.map(plain::write_duration),
            ..wire::Watchdog::default()
        };
        Ok(wire::UpdateWatchdogRequest {
            watchdog: Some(watchdog),
            update_mask: Some(FieldMask { paths }),
            actor: self.actor.map(Into::into),
            ..wire::UpdateWatchdogRequest::default()
        })
    }
}

/// Its field in the contract, and the length of time.
fn parts_of(condition: &WatchdogCondition) -> (&'static str, Duration) {
    match condition {
        WatchdogCondition::MaxDuration(length) => ("max_duration", *length),
        WatchdogCondition::UnusedFor(length) => ("unused_for", *length),
        WatchdogCondition::EmptyFor(length) => ("empty_for", *length),
        WatchdogCondition::HostAbsentFor(length) => ("host_absent_for", *length),
        WatchdogCondition::AloneFor(length) => ("alone_for", *length),
        WatchdogCondition::ParticipantMaxDuration(length) => ("participant_max_duration", *length),
        WatchdogCondition::UnadmittedFor(length) => ("unadmitted_for", *length),
    }
}

fn check_lengths(
    condition: Option<&WatchdogCondition>,
    warn_before: Option<Duration>,
) -> Result<(), Error> {
    if let Some((name, length)) = condition.map(parts_of) {
        whole_millis(name, Some(length))?;
    }
    whole_millis("warn_before", warn_before)
}

service! {
    /// Watchdogs. Lengths of time are whole milliseconds.
    Watchdogs
}

impl Watchdogs {
    /// Arm a watchdog on a live room, with one condition.
    pub fn create(&self, request: CreateWatchdog) -> Mutation<Watchdog> {
        mutate(
            &self.inner,
            methods::CREATE_WATCHDOG,
            request.into_message(),
            |answer| required(answer.watchdog, "watchdog"),
        )
    }

    /// Read a watchdog, including one that has fired.
    pub fn get(&self, request: GetWatchdog) -> Call<Watchdog> {
        query(
            &self.inner,
            methods::GET_WATCHDOG,
            Ok(request.into()),
            |answer| required(answer.watchdog, "watchdog"),
        )
    }

    /// Watchdogs, newest first.
    pub fn list(&self, request: ListWatchdogs) -> Listing<Watchdog> {
        let first = request.page_token.clone();
        list(
            &self.inner,
            methods::LIST_WATCHDOGS,
            wire::ListWatchdogsRequest::from(request),
            first,
            |request, token| request.page_token = token,
            |answer| Page {
                items: answer.watchdogs.into_iter().map(Into::into).collect(),
                next_page_token: answer.next_page_token,
            },
        )
    }

    /// Change the given fields of a watchdog, and arm it again. The kind of its condition cannot change.
    pub fn update(&self, request: UpdateWatchdog) -> Mutation<Watchdog> {
        mutate(
            &self.inner,
            methods::UPDATE_WATCHDOG,
            request.into_message(),
            |answer| required(answer.watchdog, "watchdog"),
        )
    }

    /// Delete a watchdog that has not fired.
    pub fn delete(&self, request: DeleteWatchdog) -> Mutation<()> {
        mutate(
            &self.inner,
            methods::DELETE_WATCHDOG,
            Ok(request.into()),
            |_| Ok(()),
        )
    }
}
