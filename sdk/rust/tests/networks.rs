//! Wrong addresses, other protocols, pages of proxies, redirects, and bodies of five megabytes.

use boxoffice::{Client, Code, Error, GetRoom, Kind};
use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::support::{Answer, CA, KEY, Server, builder, wire};

const LARGE: usize = 5 * 1024 * 1024;

fn at(url: &str) -> Client {
    let client = Client::builder()
        .url(url)
        .control_url(url)
        .api_key(KEY)
        .tenant("t_1");
    client.retries(0).build().unwrap()
}

async fn assert_not_reached(client: Client) {
    for error in [
        client.rooms().get(GetRoom::new()).await.unwrap_err(),
        client.rates().get().await.unwrap_err(),
    ] {
        assert!(matches!(error, Error::Unavailable(_)), "{error}");
        assert_eq!(error.failure().code, Code::Grpc("UNAVAILABLE"));
        assert_eq!(error.failure().request_id, None);
    }
}

#[tokio::test]
async fn wrong_addresses() {
    assert_not_reached(at("http://127.0.0.1:1")).await;
    assert_not_reached(at("http://boxoffice.invalid:8080")).await;
}

#[tokio::test]
async fn tls_where_there_is_none_and_none_where_there_is() {
    let server = Server::start(|_, _| Answer::Silence).await;
    assert_not_reached(at(&server.url.replace("http:", "https:"))).await;

    // What a server of TLS answers to plain text: an alert.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let alerting = tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let _ = socket.write_all(&[21, 3, 3, 0, 2, 2, 10]).await;
        }
    });
    assert_not_reached(at(&url)).await;
    alerting.abort();
}

#[tokio::test]
async fn tls_with_the_given_certificates() {
    let server = Server::start_with_tls(|_, received| match received.path.as_str() {
        "/v1/rates" => Answer::json(r#"{"currency":"usd"}"#),
        _ => Answer::of(&wire::GetRoomResponse {
            room: Some(wire::Room::default()),
        }),
    })
    .await;
    let trusting = builder(&server).ca_certificates(CA).build().unwrap();
    trusting.rooms().get(GetRoom::new()).await.unwrap();
    assert_eq!(trusting.rates().get().await.unwrap().currency, "usd");
    // Without them, the system's count.
    assert_not_reached(at(&server.url)).await;
    assert_eq!(server.received().len(), 2);
}

#[tokio::test]
async fn pages_of_html() {
    for (status, control, rest) in [
        (200, Kind::Internal, Kind::Internal),
        (404, Kind::Invalid, Kind::NotFound),
        (502, Kind::Unavailable, Kind::Unavailable),
    ] {
        let server = Server::start(move |_, _| {
            let page = Bytes::from_static(b"<html><body>Bad Gateway</body></html>");
            Answer::Http(status, vec![("content-type", "text/html".into())], page)
        })
        .await;
        let client = builder(&server).retries(0).build().unwrap();
        let error = client.rooms().get(GetRoom::new()).await.unwrap_err();
        assert_eq!(error.kind(), control, "{status}");
        assert!(
            error.failure().message.contains(&status.to_string()),
            "{error}"
        );
        let error = client.rates().get().await.unwrap_err();
        assert_eq!(error.kind(), rest, "{status}");
        assert_eq!(error.failure().code, Code::Http(status));
    }
}

#[tokio::test]
async fn bodies_of_five_megabytes() {
    let server = Server::start(|_, received| {
        if received.path == "/v1/rates" {
            let card = format!(r#"{{"currency":"usd","model":"{}"}}"#, "x".repeat(LARGE));
            return Answer::json(&card);
        }
        let room = wire::Room {
            metadata: "x".repeat(LARGE),
            ..Default::default()
        };
        Answer::of(&wire::GetRoomResponse { room: Some(room) })
    })
    .await;
    let client = builder(&server).build().unwrap();
    assert_eq!(
        client
            .rooms()
            .get(GetRoom::new())
            .await
            .unwrap()
            .metadata
            .len(),
        LARGE
    );
    assert_eq!(client.rates().get().await.unwrap().model.len(), LARGE);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let other = Server::start(|_, _| Answer::json("{}")).await;
    let target = other.url.clone();
    let server = Server::start(move |_, received| {
        let location = format!("{target}{}", received.path);
        Answer::Http(307, vec![("location", location)], Bytes::new())
    })
    .await;
    let error = at(&server.url).rates().get().await.unwrap_err();
    assert_eq!(error.failure().code, Code::Http(307));
    at(&server.url)
        .rooms()
        .get(GetRoom::new())
        .await
        .unwrap_err();
    assert!(other.received().is_empty());
}

#[tokio::test]
async fn an_answer_only_counts_if_it_is_complete() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"currency\":\"usd\"}";
        socket.write_all(head).await.unwrap();
    });
    let error = at(&url).rates().get().await.unwrap_err();
    assert!(matches!(error, Error::Unavailable(_)), "{error}");
    server.await.unwrap();
}

#[tokio::test]
async fn an_answer_without_its_resource_is_an_error() {
    let server = Server::start(|_, _| Answer::of(&wire::GetRoomResponse::default())).await;
    let error = builder(&server)
        .build()
        .unwrap()
        .rooms()
        .get(GetRoom::new())
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Internal(_)));
}
