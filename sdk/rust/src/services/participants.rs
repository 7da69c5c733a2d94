//! Participants of rooms.

use super::service;
use crate::calls::Call;
use crate::client::{list, query, required};
use crate::generated::methods;
use crate::generated::types::{GetParticipant, ListParticipants, Participant, WatchParticipants};
use crate::generated::wire;
use crate::listing::{Listing, Page};
use crate::watch::Events;

service! {
    /// Participants. A user is present until the last token has expired or is void.
    Participants
}

impl Participants {
    /// Read a user of a room, present or not.
    pub fn get(&self, request: GetParticipant) -> Call<Participant> {
        query(
            &self.inner,
            methods::GET_PARTICIPANT,
            Ok(request.into()),
            |answer| required(answer.participant, "participant"),
        )
    }

    /// The users of a room, by name; with `include_left`, also those who have left.
    pub fn list(&self, request: ListParticipants) -> Listing<Participant> {
        let first = request.page_token.clone();
        list(
            &self.inner,
            methods::LIST_PARTICIPANTS,
            wire::ListParticipantsRequest::from(request),
            first,
            |request, token| request.page_token = token,
            |answer| Page {
                items: answer.participants.into_iter().map(Into::into).collect(),
                next_page_token: answer.next_page_token,
            },
        )
    }

    /// Follow participants as they enter, change and leave, like [`Rooms::watch`](crate::Rooms::watch).
    pub fn watch(&self, request: WatchParticipants) -> Events {
        let token = request.resume_token.clone();
        let request = wire::WatchParticipantsRequest::from(request);
        Events::new(
            self.inner.clone(),
            methods::WATCH_PARTICIPANTS,
            request,
            token,
        )
    }
}
