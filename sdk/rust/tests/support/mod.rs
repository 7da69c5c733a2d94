//! Servers that answer by a script, for the control plane and for REST.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::pedantic)]

#[path = "../../src/gen/rpc.rs"]
pub mod rpc;
#[path = "../../src/gen/wire.rs"]
pub mod wire;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use boxoffice::{Client, ClientBuilder};
use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

pub const CA: &[u8] = include_bytes!("../tls/ca.pem");
const CERTIFICATE: &[u8] = include_bytes!("../tls/certificate.pem");
const PRIVATE_KEY: &[u8] = include_bytes!("../tls/key.pem");

pub const KEY: &str = "svc_0123456789abcdef_very-secret";

/// A request as a server received it.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: String,
    pub path: String,
    pub headers: HeaderMap,
    /// Without the frame of gRPC.
    pub body: Bytes,
}

impl Received {
    pub fn message<M: Message + Default>(&self) -> M {
        M::decode(self.body.clone()).unwrap()
    }
}

/// What a server does with a request.
pub enum Answer {
    /// Status, headers, body.
    Http(u16, Vec<(&'static str, String)>, Bytes),
    /// One message, and OK.
    Message(Vec<u8>),
    /// A code, a message and details.
    Status(i32, String, rpc::Status),
    /// Server-sent events as text, then what `Then` says.
    Events(String, Then),
    /// Messages, then what `Then` says.
    Stream(Vec<Vec<u8>>, Then),
    /// The connection breaks without an answer.
    Break,
    /// There is never an answer.
    Silence,
}

pub enum Then {
    End,
    Break,
    Silence,
}

impl Answer {
    pub fn of(message: &impl Message) -> Self {
        Self::Message(message.encode_to_vec())
    }

    pub fn json(text: &str) -> Self {
        Self::Http(
            200,
            vec![("content-type", "application/json".into())],
            Bytes::from(text.to_owned()),
        )
    }

    pub fn refusal(code: i32, reason: &str) -> Self {
        Self::Status(code, "no".into(), details(code, reason))
    }
}

/// Details with a reason and a request id.
pub fn details(code: i32, reason: &str) -> rpc::Status {
    let metadata = [
        ("request_id".to_owned(), "r".to_owned()),
        ("max".to_owned(), "1".to_owned()),
    ];
    let info = rpc::ErrorInfo {
        reason: reason.to_owned(),
        domain: "boxoffice".to_owned(),
        metadata: metadata.into(),
    };
    rpc::Status {
        code,
        message: "no".into(),
        details: vec![any("google.rpc.ErrorInfo", &info)],
    }
}

pub fn any(name: &str, message: &impl Message) -> prost_types::Any {
    prost_types::Any {
        type_url: format!("type.googleapis.com/{name}"),
        value: message.encode_to_vec(),
    }
}

type Script = Arc<dyn Fn(usize, &Received) -> Answer + Send + Sync>;

/// A server on a port of its own, until it is dropped.
pub struct Server {
    pub url: String,
    received: Arc<Mutex<Vec<Received>>>,
    _tasks: JoinSet<()>,
}

impl Server {
    /// `script` gets the number of the request, from 0 on.
    pub async fn start(
        script: impl Fn(usize, &Received) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self::listen("http", None, Arc::new(script)).await
    }

    /// With TLS, by the certificate in `tests/tls`.
    pub async fn start_with_tls(
        script: impl Fn(usize, &Received) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let certificate = CertificateDer::from_pem_slice(CERTIFICATE).unwrap();
        let key = PrivateKeyDer::from_pem_slice(PRIVATE_KEY).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Self::listen("https", Some(acceptor), Arc::new(script)).await
    }

    async fn listen(scheme: &str, tls: Option<TlsAcceptor>, script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let log = received.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                connections.spawn(accept(socket, tls.clone(), script.clone(), log.clone()));
            }
        });
        Self {
            url,
            received,
            _tasks: tasks,
        }
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

async fn accept(
    socket: TcpStream,
    tls: Option<TlsAcceptor>,
    script: Script,
    received: Arc<Mutex<Vec<Received>>>,
) {
    let Some(tls) = tls else {
        // HTTP/2 begins with "PRI".
        let mut first = [0; 3];
        let is_http2 = matches!(socket.peek(&mut first).await, Ok(3)) && first == *b"PRI";
        return serve(socket, is_http2, script, received).await;
    };
    let Ok(socket) = tls.accept(socket).await else {
        return;
    };
    let is_http2 = socket.get_ref().1.alpn_protocol() == Some(b"h2");
    serve(socket, is_http2, script, received).await;
}

async fn serve(
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    is_http2: bool,
    script: Script,
    received: Arc<Mutex<Vec<Received>>>,
) {
    let (breaking, mut broken) = mpsc::channel::<()>(1);
    let service = service_fn(move |request: Request<Incoming>| {
        let (script, received, breaking) = (script.clone(), received.clone(), breaking.clone());
        async move { Ok::<_, Infallible>(answer(request, script, received, breaking).await) }
    });
    let io = TokioIo::new(socket);
    let connection = async move {
        if is_http2 {
            let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            let _ = builder.serve_connection(io, service).await;
        } else {
            let builder = hyper::server::conn::http1::Builder::new();
            let _ = builder.serve_connection(io, service).await;
        }
    };
    tokio::select! {
        () = connection => {}
        _ = broken.recv() => {}
    }
}

async fn answer(
    request: Request<Incoming>,
    script: Script,
    log: Arc<Mutex<Vec<Received>>>,
    breaking: mpsc::Sender<()>,
) -> Response<Frames> {
    let (parts, body) = request.into_parts();
    let mut body = body
        .collect()
        .await
        .map(|body| body.to_bytes())
        .unwrap_or_default();
    let is_grpc = parts
        .headers
        .get("content-type")
        .is_some_and(|kind| kind == "application/grpc");
    if is_grpc {
        body = body.slice(5..);
    }
    let received = Received {
        method: parts.method.to_string(),
        path: parts.uri.path_and_query().unwrap().to_string(),
        headers: parts.headers,
        body,
    };
    let number = {
        let mut log = log.lock().unwrap();
        log.push(received.clone());
        log.len() - 1
    };
    let grpc = |frames| {
        Response::builder()
            .header("content-type", "application/grpc")
            .body(frames)
            .unwrap()
    };
    match script(number, &received) {
        Answer::Http(status, headers, body) => {
            let mut response = Response::builder().status(status);
            for (name, value) in headers {
                response = response.header(name, value);
            }
            response
                .body(Frames::new([Frame::data(body)], Then::End, breaking))
                .unwrap()
        }
        Answer::Events(text, then) => Response::builder()
            .header("content-type", "text/event-stream")
            .body(Frames::new([Frame::data(text.into())], then, breaking))
            .unwrap(),
        Answer::Message(message) => {
            let frames = [
                Frame::data(framed(&message)),
                Frame::trailers(trailers(0, "", None)),
            ];
            grpc(Frames::new(frames, Then::End, breaking))
        }
        Answer::Status(code, message, details) => {
            let frames = [Frame::trailers(trailers(code, &message, Some(&details)))];
            grpc(Frames::new(frames, Then::End, breaking))
        }
        Answer::Stream(messages, then) => {
            let mut frames: Vec<_> = messages
                .iter()
                .map(|message| Frame::data(framed(message)))
                .collect();
            if matches!(then, Then::End) {
                frames.push(Frame::trailers(trailers(0, "", None)));
            }
            grpc(Frames::new(frames, then, breaking))
        }
        Answer::Break => {
            let _ = breaking.send(()).await;
            std::future::pending().await
        }
        Answer::Silence => std::future::pending().await,
    }
}

fn framed(message: &[u8]) -> Bytes {
    let mut bytes = BytesMut::new();
    bytes.put_u8(0);
    bytes.put_u32(message.len().try_into().unwrap());
    bytes.put_slice(message);
    bytes.freeze()
}

fn trailers(code: i32, message: &str, details: Option<&rpc::Status>) -> HeaderMap {
    use base64::Engine;
    let mut headers = HeaderMap::new();
    headers.insert("grpc-status", HeaderValue::from(code));
    headers.insert("x-request-id", HeaderValue::from_static("request-1"));
    headers.insert("grpc-message", HeaderValue::from_str(message).unwrap());
    if let Some(details) = details {
        let text = base64::engine::general_purpose::STANDARD.encode(details.encode_to_vec());
        headers.insert(
            "grpc-status-details-bin",
            HeaderValue::from_str(&text).unwrap(),
        );
    }
    headers
}

/// A body in frames.
pub struct Frames {
    frames: std::vec::IntoIter<Frame<Bytes>>,
    then: Then,
    breaking: mpsc::Sender<()>,
    /// Let the frames go out before the connection breaks.
    wait: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl Frames {
    fn new(
        frames: impl IntoIterator<Item = Frame<Bytes>>,
        then: Then,
        breaking: mpsc::Sender<()>,
    ) -> Self {
        let frames: Vec<_> = frames.into_iter().collect();
        Self {
            frames: frames.into_iter(),
            then,
            breaking,
            wait: None,
        }
    }
}

impl Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(frame) = self.frames.next() {
            return Poll::Ready(Some(Ok(frame)));
        }
        match self.then {
            Then::End => Poll::Ready(None),
            Then::Silence => Poll::Pending,
            Then::Break => {
                let wait = self
                    .wait
                    .get_or_insert_with(|| Box::pin(tokio::time::sleep(Duration::from_millis(50))));
                if wait.as_mut().poll(context).is_ready() {
                    let _ = self.breaking.try_send(());
                }
                Poll::Pending
            }
        }
    }
}

/// A client whose tenant is known, so that it asks the server nothing else.
pub fn builder(server: &Server) -> ClientBuilder {
    Client::builder()
        .url(&server.url)
        .control_url(&server.url)
        .api_key(KEY)
        .tenant("t_1")
}

pub fn client(server: &Server) -> Client {
    builder(server).build().unwrap()
}
