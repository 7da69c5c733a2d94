//! Streams of events.

use std::time::Duration;

use boxoffice::{Error, EventKind, EventType, Events, WatchEvents, WatchParticipants};
use prost::Message;

use crate::support::{Answer, Server, Then, builder, client, wire};

const RESET: i32 = wire::event::Type::Reset as i32;
const SNAPSHOT: i32 = wire::event::Type::Snapshot as i32;
const BOOKMARK: i32 = wire::event::Type::Bookmark as i32;
const CREATED: i32 = wire::event::Type::RoomCreated as i32;

fn event(kind: i32, seq: u64, token: &str) -> Vec<u8> {
    let event = wire::Event {
        r#type: kind,
        seq,
        ..Default::default()
    };
    let answer = wire::WatchEventsResponse {
        event: Some(event),
        resume_token: token.into(),
    };
    answer.encode_to_vec()
}

fn tokens(server: &Server) -> Vec<String> {
    let token =
        |each: &crate::support::Received| each.message::<wire::WatchEventsRequest>().resume_token;
    server.received().iter().map(token).collect()
}

async fn types(events: &mut Events, count: usize) -> Vec<(EventType, u64)> {
    let mut found = Vec::new();
    for _ in 0..count {
        let event = events.next().await.unwrap().unwrap();
        found.push((event.event_type, event.seq));
    }
    found
}

#[tokio::test]
async fn a_broken_stream_resumes_after_the_last_event() {
    let server = Server::start(|number, _| match number {
        0 => Answer::Stream(
            vec![event(CREATED, 1, "t1"), event(CREATED, 2, "t2")],
            Then::Break,
        ),
        1 => Answer::Break,
        2 => Answer::Stream(vec![event(CREATED, 3, "t3")], Then::End),
        _ => Answer::Stream(vec![event(CREATED, 4, "t4")], Then::Silence),
    })
    .await;
    let mut events = client(&server)
        .rooms()
        .watch(WatchEvents::new().resume_token("t0"));
    let seqs: Vec<u64> = types(&mut events, 4)
        .await
        .into_iter()
        .map(|(_, seq)| seq)
        .collect();
    assert_eq!(seqs, [1, 2, 3, 4]);
    assert_eq!(tokens(&server), ["t0", "t2", "t2", "t3"]);
}

#[tokio::test]
async fn a_snapshot_is_never_resumed_half_way() {
    let server = Server::start(|number, _| match number {
        0 => Answer::Stream(
            vec![event(RESET, 0, ""), event(SNAPSHOT, 0, "")],
            Then::Break,
        ),
        1 => Answer::Stream(
            vec![event(RESET, 0, ""), event(BOOKMARK, 7, "t7")],
            Then::Break,
        ),
        _ => Answer::Stream(vec![event(CREATED, 8, "t8")], Then::Silence),
    })
    .await;
    // The place is too old, so a snapshot comes. Until it is complete, the place stays.
    let mut events = client(&server)
        .rooms()
        .watch(WatchEvents::new().resume_token("t0"));
    let found: Vec<_> = types(&mut events, 5)
        .await
        .into_iter()
        .map(|(kind, _)| kind)
        .collect();
    use EventType::{Bookmark, Reset, RoomCreated, Snapshot};
    assert_eq!(found, [Reset, Snapshot, Reset, Bookmark, RoomCreated]);
    assert_eq!(tokens(&server), ["t0", "t0", "t7"]);
}

#[tokio::test]
async fn a_silent_stream_is_reopened() {
    let server = Server::start(|number, _| match number {
        0 => Answer::Stream(vec![event(CREATED, 1, "t1")], Then::Silence),
        1 => Answer::Silence,
        _ => Answer::Stream(vec![event(CREATED, 2, "t2")], Then::Silence),
    })
    .await;
    let events = client(&server).rooms().watch(WatchEvents::new());
    let mut events = events.silent_max(Duration::from_millis(200));
    assert_eq!(types(&mut events, 2).await[1].1, 2);
    assert_eq!(tokens(&server), ["", "t1", "t1"]);
}

#[tokio::test]
async fn a_cancelled_next_loses_nothing() {
    let server = Server::start(|number, _| match number {
        0 => Answer::Stream(vec![event(CREATED, 1, "t1")], Then::Break),
        _ => Answer::Stream(vec![event(CREATED, 2, "t2")], Then::Silence),
    })
    .await;
    let mut events = client(&server).rooms().watch(WatchEvents::new());
    let mut seqs = Vec::new();
    while seqs.len() < 2 {
        if let Ok(event) = tokio::time::timeout(Duration::from_millis(5), events.next()).await {
            seqs.push(event.unwrap().unwrap().seq);
        }
    }
    assert_eq!(seqs, [1, 2]);
}

#[tokio::test]
async fn an_error_that_lasts_ends_it() {
    let server = Server::start(|_, _| Answer::refusal(5, "NOT_FOUND")).await;
    let client = builder(&server).build().unwrap();
    let mut events = client
        .participants()
        .watch(WatchParticipants::new("absent"));
    assert!(matches!(events.next().await, Some(Err(Error::NotFound(_)))));
    assert!(events.next().await.is_none());
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn unknown_types_survive() {
    let server = Server::start(|_, _| {
        let room = wire::Room {
            name: "lobby".into(),
            state: 99,
            ..Default::default()
        };
        let kind = Some(wire::event::Kind::Room(room));
        let event = wire::Event {
            r#type: 99,
            kind,
            ..Default::default()
        };
        let answer = wire::WatchEventsResponse {
            event: Some(event),
            resume_token: "t".into(),
        };
        Answer::Stream(vec![answer.encode_to_vec()], Then::Silence)
    })
    .await;
    let mut events = client(&server).rooms().watch(WatchEvents::new());
    let event = events.next().await.unwrap().unwrap();
    assert_eq!(event.event_type, EventType::Unknown(99));
    let Some(EventKind::Room(room)) = &event.kind else {
        panic!("{event:?}")
    };
    assert_eq!(room.state.as_str(), "unknown");
    let json = serde_json::to_value(&event).unwrap();
    assert_eq!(json["type"], "unknown");
    assert_eq!(json["room"]["name"], "lobby");
    assert_eq!(json["resume_token"], "t");
}
