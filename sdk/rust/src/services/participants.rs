//! Participants of rooms.

use http::Method;
use serde::Deserialize;
use serde_json::json;

use super::service;
use crate::calls::{Call, Mutation};
use crate::generated::methods;
use crate::generated::rest::Erasure;
use crate::generated::types::{GetParticipant, ListParticipants, Participant, WatchParticipants};
use crate::generated::wire;
use crate::inner::{list, query, required};
use crate::listing::{Listing, Page};
use crate::rest::{Query, segment};
use crate::watch::Events;

#[derive(Deserialize)]
struct Erasing {
    erasure: Erasure,
}

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

    /// Erase the name of a person from everything that is stored. It cannot be undone, and takes a while: ask
    /// for `erasure` until it is done. Fails with `Precondition` while the person is in a room.
    pub fn erase(&self, participant: impl Into<String>) -> Mutation<Erasure> {
        let (inner, participant) = (self.inner.clone(), participant.into());
        Mutation::new(move |options| async move {
            let body = json!({ "participant": participant });
            let answer: Erasing = inner
                .rest
                .call(
                    Method::POST,
                    "/v1/participants/erase",
                    Some(&body),
                    &options,
                )
                .await?;
            Ok(answer.erasure)
        })
    }

    /// How far an erasure is.
    pub fn erasure(&self, id: impl Into<String>) -> Call<Erasure> {
        let (inner, id) = (self.inner.clone(), id.into());
        Call::new(move |options| async move {
            let path = format!("/v1/erasures/{}", segment("id", &id)?);
            let answer: Erasing = inner.rest.get(&path, &Query::default(), &options).await?;
            Ok(answer.erasure)
        })
    }
}
