//! Lists.

use boxoffice::{Error, ListRooms};
use futures_core::Stream;

use crate::support::{Answer, Received, Server, builder, client, wire};

/// Three pages, one of which is empty.
fn page(received: &Received) -> Answer {
    let request: wire::ListRoomsRequest = received.message();
    let (names, next): (&[&str], &str) = match request.page_token.as_str() {
        "" => (&["a", "b"], "2"),
        "2" => (&[], "3"),
        _ => (&["c"], ""),
    };
    let rooms = names.iter().map(|name| wire::Room {
        name: (*name).into(),
        ..Default::default()
    });
    Answer::of(&wire::ListRoomsResponse {
        rooms: rooms.collect(),
        next_page_token: next.into(),
    })
}

#[tokio::test]
async fn items() {
    let server = Server::start(|_, received| page(received)).await;
    let listing = client(&server).rooms().list(ListRooms::new().page_size(2));
    let names: Vec<_> = listing
        .collect()
        .await
        .unwrap()
        .into_iter()
        .map(|room| room.name)
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
    let request: wire::ListRoomsRequest = server.received()[1].message();
    assert_eq!((request.page_size, request.page_token.as_str()), (2, "2"));
}

#[tokio::test]
async fn pages_are_read_one_by_one() {
    let server = Server::start(|_, received| page(received)).await;
    let mut pages = client(&server)
        .rooms()
        .list(ListRooms::new().page_token("2"))
        .pages();
    let first = pages.next().await.unwrap().unwrap();
    assert_eq!(
        (first.items.len(), first.next_page_token.as_str()),
        (0, "3")
    );
    assert_eq!(server.received().len(), 1);
    assert_eq!(pages.next().await.unwrap().unwrap().items[0].name, "c");
    assert!(pages.next().await.is_none());
    assert!(pages.next().await.is_none());
    assert_eq!(server.received().len(), 2);
}

#[tokio::test]
async fn an_error_ends_a_list() {
    let server = Server::start(|number, received| match number {
        0 => page(received),
        _ => Answer::refusal(3, "INVALID_REQUEST"),
    })
    .await;
    let mut rooms = builder(&server)
        .build()
        .unwrap()
        .rooms()
        .list(ListRooms::new());
    assert_eq!(rooms.next().await.unwrap().unwrap().name, "a");
    assert_eq!(rooms.next().await.unwrap().unwrap().name, "b");
    assert!(matches!(rooms.next().await, Some(Err(Error::Invalid(_)))));
    assert!(rooms.next().await.is_none());
}

#[test]
fn they_are_streams_that_can_be_sent() {
    fn is_stream<S: Stream + Send + Unpin>() {}
    is_stream::<boxoffice::Listing<boxoffice::Room>>();
    is_stream::<boxoffice::Pages<boxoffice::Room>>();
    is_stream::<boxoffice::Events>();
}
