//! Moderation of rooms. It never needs credit.

use serde::{Deserialize, Serialize};

use super::{service, whole_millis};
use crate::calls::Mutation;
use crate::error::Error;
use crate::generated::methods;
use crate::generated::types::{
    Ban, BanSubject, CloseRoom, ForceMute, KickParticipant, ListBans, ListModerationEvents,
    ModerationEvent, Participant, ReleaseMute, RestorePublish, RevokePublish, Room, UnbanSubject,
};
use crate::generated::wire;
use crate::inner::{list, mutate, required};
use crate::listing::{Listing, Page};

/// The current state of a participant, and the record of the action.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Moderated {
    /// The participant after the action.
    pub participant: Participant,
    /// The record of the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<ModerationEvent>,
}

/// A ban, and the record of the action, which is absent if the same ban already existed.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Banned {
    /// The ban.
    pub ban: Ban,
    /// The record of the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<ModerationEvent>,
}

/// A room that a moderator has closed, and the record of the action.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ClosedRoom {
    /// The room, which has ended.
    pub room: Room,
    /// The record of the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<ModerationEvent>,
}

service! {
    /// Moderation. With an `actor`, that participant acts, and needs the capability and a higher rank.
    /// Without one, the tenant acts.
    Moderation
}

impl Moderation {
    /// Make a user leave: all the user's tokens for the room become void. New ones may be minted.
    pub fn kick(&self, request: KickParticipant) -> Mutation<Moderated> {
        mutate(
            &self.inner,
            methods::KICK_PARTICIPANT,
            Ok(request.into()),
            |answer| moderated(answer.participant, answer.event),
        )
    }

    /// Keep a user, a device or a range of addresses out of a room or, without `room`, out of all rooms.
    pub fn ban(&self, request: BanSubject) -> Mutation<Banned> {
        let checked = whole_millis("ttl", request.ttl).map(|()| request.into());
        mutate(&self.inner, methods::BAN_SUBJECT, checked, |answer| {
            banned(answer.ban, answer.event)
        })
    }

    /// Lift a ban.
    pub fn unban(&self, request: UnbanSubject) -> Mutation<Banned> {
        mutate(
            &self.inner,
            methods::UNBAN_SUBJECT,
            Ok(request.into()),
            |answer| banned(answer.ban, answer.event),
        )
    }

    /// Current bans, newest first.
    pub fn list_bans(&self, request: ListBans) -> Listing<Ban> {
        let first = request.page_token.clone();
        list(
            &self.inner,
            methods::LIST_BANS,
            wire::ListBansRequest::from(request),
            first,
            |request, token| request.page_token = token,
            |answer| Page {
                items: answer.bans.into_iter().map(Into::into).collect(),
                next_page_token: answer.next_page_token,
            },
        )
    }

    /// Stop forwarding tracks of a user. The user cannot undo it.
    pub fn force_mute(&self, request: ForceMute) -> Mutation<Moderated> {
        mutate(
            &self.inner,
            methods::FORCE_MUTE,
            Ok(request.into()),
            |answer| moderated(answer.participant, answer.event),
        )
    }

    /// Let a user unmute. It does not unmute the tracks.
    pub fn release_mute(&self, request: ReleaseMute) -> Mutation<Moderated> {
        mutate(
            &self.inner,
            methods::RELEASE_MUTE,
            Ok(request.into()),
            |answer| moderated(answer.participant, answer.event),
        )
    }

    /// Take the right to publish tracks from a user.
    pub fn revoke_publish(&self, request: RevokePublish) -> Mutation<Moderated> {
        mutate(
            &self.inner,
            methods::REVOKE_PUBLISH,
            Ok(request.into()),
            |answer| moderated(answer.participant, answer.event),
        )
    }

    /// Return the right to publish. It is in the user's next token.
    pub fn restore_publish(&self, request: RestorePublish) -> Mutation<Moderated> {
        mutate(
            &self.inner,
            methods::RESTORE_PUBLISH,
            Ok(request.into()),
            |answer| moderated(answer.participant, answer.event),
        )
    }

    /// End a room as a moderator: like [`Rooms::end`](crate::Rooms::end), but recorded.
    pub fn close_room(&self, request: CloseRoom) -> Mutation<ClosedRoom> {
        mutate(
            &self.inner,
            methods::CLOSE_ROOM,
            Ok(request.into()),
            |answer| {
                let room = required(answer.room, "room")?;
                Ok(ClosedRoom {
                    room,
                    event: answer.event.map(Into::into),
                })
            },
        )
    }

    /// Moderation events, newest first.
    pub fn list_events(&self, request: ListModerationEvents) -> Listing<ModerationEvent> {
        let first = request.page_token.clone();
        list(
            &self.inner,
            methods::LIST_MODERATION_EVENTS,
            wire::ListModerationEventsRequest::from(request),
            first,
            |request, token| request.page_token = token,
            |answer| Page {
                items: answer.events.into_iter().map(Into::into).collect(),
                next_page_token: answer.next_page_token,
            },
        )
    }
}

fn moderated(
    participant: Option<wire::Participant>,
    event: Option<wire::ModerationEvent>,
) -> Result<Moderated, Error> {
    let participant = required(participant, "participant")?;
    Ok(Moderated {
        participant,
        event: event.map(Into::into),
    })
}

fn banned(ban: Option<wire::Ban>, event: Option<wire::ModerationEvent>) -> Result<Banned, Error> {
    Ok(Banned {
        ban: required(ban, "ban")?,
        event: event.map(Into::into),
    })
}
