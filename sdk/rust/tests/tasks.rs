//! Dropped futures, streams and clients leave no task behind.

use std::time::Duration;

use boxoffice::{CreateRoom, GetRoom, ListRooms, WatchEvents};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::support::{Answer, Server, Then, client};

/// Runs on a runtime of its own, whose tasks are the client's.
async fn leave_work_half_done(url: String) {
    let builder = boxoffice::Client::builder()
        .url(&url)
        .control_url(&url)
        .api_key("svc");
    let client = builder.tenant("t_1").build().unwrap();
    let short = Duration::from_millis(100);
    for _ in 0..3 {
        assert!(
            timeout(short, client.rooms().get(GetRoom::new()).into_future())
                .await
                .is_err()
        );
        let create = client
            .rooms()
            .create(CreateRoom::new("lobby"))
            .into_future();
        assert!(timeout(short, create).await.is_err());
        assert!(
            timeout(short, client.billing().get().into_future())
                .await
                .is_err()
        );
        let mut rooms = client.rooms().list(ListRooms::new());
        assert!(timeout(short, rooms.next()).await.is_err());
        let mut events = client.rooms().watch(WatchEvents::new());
        assert!(timeout(short, events.next()).await.is_err());
    }
    drop(client);
}

#[test]
fn nothing_stays() {
    let serving = tokio::runtime::Runtime::new().unwrap();
    let server = serving.block_on(Server::start(|_, received| {
        if received.path.ends_with("WatchEvents") {
            return Answer::Stream(vec![], Then::Silence);
        }
        Answer::Silence
    }));
    let own = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let url = server.url.clone();
    own.block_on(async {
        leave_work_half_done(url).await;
        let metrics = Handle::current().metrics();
        for _ in 0..100 {
            if metrics.num_alive_tasks() == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{} tasks are still there", metrics.num_alive_tasks());
    });
}

#[tokio::test]
async fn calls_and_streams_can_be_spawned() {
    let server = Server::start(|_, _| Answer::refusal(5, "NOT_FOUND")).await;
    let client = client(&server);
    let call = tokio::spawn(client.rooms().get(GetRoom::new()).into_future());
    call.await.unwrap().unwrap_err();
    let mut events = client.rooms().watch(WatchEvents::new());
    tokio::spawn(async move { events.next().await.unwrap().unwrap_err() })
        .await
        .unwrap();
}
