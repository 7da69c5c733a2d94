//! Rooms and their events.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{service, whole_millis};
use crate::calls::{Call, Mutation};
use crate::error::Error;
use crate::generated::methods;
use crate::generated::types::{
    CreateRoom, EndRoom, Event, GetRoom, ListEvents, ListRooms, Room, UpdateRoomPolicy, WatchEvents,
};
use crate::generated::wire;
use crate::inner::{list, mutate, query, required};
use crate::listing::{Listing, Page};
use crate::watch::Events;

/// The service answers a waiting `list_events` within 30 seconds.
const PATIENT: Duration = Duration::from_secs(40);

/// Events in order, and where they end.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ListedEvents {
    /// The events after the given place; may be empty.
    pub events: Vec<Event>,
    /// The place after the last of them: pass it to read on.
    pub resume_token: String,
}

service! {
    /// Rooms. Later rooms may reuse a name; a `uid` is never reused.
    Rooms
}

impl Rooms {
    /// Create a room, live at once. Fails with [`Error::Exists`] while a live room has the name.
    pub fn create(&self, request: CreateRoom) -> Mutation<Room> {
        mutate(
            &self.inner,
            methods::CREATE_ROOM,
            Ok(request.into()),
            |answer| required(answer.room, "room"),
        )
    }

    /// Read a room, live or ended.
    pub fn get(&self, request: GetRoom) -> Call<Room> {
        query(
            &self.inner,
            methods::GET_ROOM,
            Ok(request.into()),
            |answer| required(answer.room, "room"),
        )
    }

    /// Rooms, newest first.
    pub fn list(&self, request: ListRooms) -> Listing<Room> {
        let (first, request) = (
            request.page_token.clone(),
            wire::ListRoomsRequest::from(request),
        );
        list(
            &self.inner,
            methods::LIST_ROOMS,
            request,
            first,
            |request, token| request.page_token = token,
            |answer| Page {
                items: answer.rooms.into_iter().map(Into::into).collect(),
                next_page_token: answer.next_page_token,
            },
        )
    }

    /// Change the given rules of a live room.
    pub fn update_policy(&self, request: UpdateRoomPolicy) -> Mutation<Room> {
        mutate(
            &self.inner,
            methods::UPDATE_ROOM_POLICY,
            with_mask(request),
            |answer| required(answer.room, "room"),
        )
    }

    /// End a room: its participants leave and its tokens become void. Fails with [`Error::Closed`] if it
    /// has ended.
    pub fn end(&self, request: EndRoom) -> Mutation<Room> {
        mutate(
            &self.inner,
            methods::END_ROOM,
            Ok(request.into()),
            |answer| required(answer.room, "room"),
        )
    }

    /// Follow all events. It starts with a snapshot, or after the event whose `resume_token` is given, and
    /// survives restarts of the service.
    pub fn watch(&self, request: WatchEvents) -> Events {
        let token = request.resume_token.clone();
        let request = wire::WatchEventsRequest::from(request);
        Events::new(self.inner.clone(), methods::WATCH_EVENTS, request, token)
    }

    /// Read events, and wait up to `wait` if there are none.
    pub fn list_events(&self, request: ListEvents) -> Call<ListedEvents> {
        let is_patient = request.wait.is_some_and(|wait| !wait.is_zero());
        let checked = whole_millis("wait", request.wait).map(|()| request.into());
        let call = query(&self.inner, methods::LIST_EVENTS, checked, |answer| {
            let events = answer.events.into_iter().map(Into::into).collect();
            Ok(ListedEvents {
                events,
                resume_token: answer.resume_token,
            })
        });
        if is_patient {
            call.timeout(2 * PATIENT).attempt_timeout(PATIENT)
        } else {
            call
        }
    }
}

fn with_mask(request: UpdateRoomPolicy) -> Result<wire::UpdateRoomPolicyRequest, Error> {
    let paths = request
        .policy
        .as_ref()
        .map(crate::RoomPolicyInput::paths)
        .unwrap_or_default();
    if paths.is_empty() {
        return Err(Error::invalid(
            "policy",
            "must have a rule that is to change",
        ));
    }
    let mut message = wire::UpdateRoomPolicyRequest::from(request);
    message.update_mask = Some(prost_types::FieldMask { paths });
    Ok(message)
}
