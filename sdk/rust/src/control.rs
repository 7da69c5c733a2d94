//! The control plane over gRPC: retried calls.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::uri::PathAndQuery;
use http::{HeaderValue, Uri, header};
use http_body_util::BodyExt;
use http_body_util::combinators::MapErr;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use prost::Message;
use rustls::ClientConfig;
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::{Code as GrpcCode, Status, Streaming};
use tonic_prost::ProstCodec;
use tower_service::Service;

use crate::error::Error;
use crate::error_kinds::{ANSWER_BYTES_MAX, Kind};
use crate::generated::wire;
use crate::http::{Connector, http2};

/// A method of the contract.
pub(crate) struct Method<Request, Answer> {
    path: &'static str,
    types: PhantomData<fn(Request) -> Answer>,
}

impl<Request, Answer> Clone for Method<Request, Answer> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Request, Answer> Copy for Method<Request, Answer> {}

impl<Request, Answer> Method<Request, Answer> {
    pub(crate) const fn new(path: &'static str) -> Self {
        Self {
            path,
            types: PhantomData,
        }
    }
}

/// Requests name the tenant of the key.
pub(crate) trait OfTenant: Message + Clone + 'static {
    fn set_tenant(&mut self, tenant: String);
}

/// Requests that change something.
pub(crate) trait Keyed: OfTenant {
    fn set_idempotency_key(&mut self, idempotency_key: String);
}

/// Requests for a stream of events.
pub(crate) trait Resumable: OfTenant {
    fn set_resume_token(&mut self, resume_token: String);
}

/// What streams of events consist of.
pub(crate) trait WatchAnswer: Message + Default + 'static {
    fn into_parts(self) -> (Option<wire::Event>, String);
}

/// One connection, which is opened by the first call and again after it broke.
#[derive(Clone)]
pub(crate) struct Control {
    transport: Transport,
    origin: Uri,
    authorization: Option<HeaderValue>,
}

impl Control {
    pub(crate) fn new(
        url: Uri,
        authorization: Option<HeaderValue>,
        tls: &Arc<ClientConfig>,
    ) -> Self {
        Self {
            transport: Transport { client: http2(tls) },
            origin: url,
            authorization,
        }
    }

    /// One attempt.
    pub(crate) async fn unary<Request, Answer>(
        &self,
        method: Method<Request, Answer>,
        request: Request,
    ) -> Result<Answer, Error>
    where
        Request: Message + 'static,
        Answer: Message + Default + 'static,
    {
        let path = PathAndQuery::from_static(method.path);
        let codec = ProstCodec::<Request, Answer>::default();
        let answer = self.grpc().unary(self.prepare(request), path, codec).await;
        answer
            .map(tonic::Response::into_inner)
            .map_err(|status| Error::of_call(&status))
    }

    /// One stream, until it breaks.
    pub(crate) async fn stream<Request, Answer>(
        &self,
        method: Method<Request, Answer>,
        request: Request,
    ) -> Result<Streaming<Answer>, Error>
    where
        Request: Message + 'static,
        Answer: Message + Default + 'static,
    {
        let path = PathAndQuery::from_static(method.path);
        let codec = ProstCodec::<Request, Answer>::default();
        let answer = self
            .grpc()
            .server_streaming(self.prepare(request), path, codec)
            .await;
        answer
            .map(tonic::Response::into_inner)
            .map_err(|status| Error::of_call(&status))
    }

    fn grpc(&self) -> Grpc<Transport> {
        Grpc::with_origin(self.transport.clone(), self.origin.clone())
            .max_decoding_message_size(ANSWER_BYTES_MAX)
    }

    fn prepare<Request>(&self, message: Request) -> tonic::Request<Request> {
        let mut request = tonic::Request::new(message);
        if let Some(authorization) = &self.authorization {
            let mut headers = std::mem::take(request.metadata_mut()).into_headers();
            headers.insert(header::AUTHORIZATION, authorization.clone());
            *request.metadata_mut() = tonic::metadata::MetadataMap::from_headers(headers);
        }
        request
    }
}

/// Source: specification 7.3.
pub(crate) fn is_transient(error: &Error) -> bool {
    matches!(error.kind(), Kind::Unavailable | Kind::Timeout)
}

/// HTTP/2 as tonic wants it. What is no answer of gRPC becomes a status.
#[derive(Clone)]
struct Transport {
    client: Client<Connector, Body>,
}

type AnswerBody = MapErr<Incoming, fn(hyper::Error) -> Status>;

impl Service<http::Request<Body>> for Transport {
    type Response = http::Response<AnswerBody>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Status>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let answer = self.client.request(request);
        Box::pin(async move {
            let answer = answer.await.map_err(|error| {
                let mut status = Status::unavailable("the control plane was not reached");
                status.set_source(Arc::new(error));
                status
            })?;
            check(&answer)?;
            Ok(answer.map(|body| body.map_err(broken as fn(hyper::Error) -> Status)))
        })
    }
}

fn broken(error: hyper::Error) -> Status {
    let mut status = Status::unavailable("the connection to the control plane broke");
    status.set_source(Arc::new(error));
    status
}

/// A proxy may answer in place of the control plane, such as with a page in HTML. Source: the mapping of
/// gRPC from HTTP statuses.
// The status is large because tonic's is.
#[allow(clippy::result_large_err)]
fn check(answer: &http::Response<Incoming>) -> Result<(), Status> {
    let content = answer.headers().get(header::CONTENT_TYPE);
    let is_grpc = content.is_none_or(|value| value.as_bytes().starts_with(b"application/grpc"));
    let status = answer.status().as_u16();
    let code = match status {
        200 if is_grpc => return Ok(()),
        400 => GrpcCode::Internal,
        401 => GrpcCode::Unauthenticated,
        403 => GrpcCode::PermissionDenied,
        404 => GrpcCode::Unimplemented,
        429 | 502 | 503 | 504 => GrpcCode::Unavailable,
        _ => GrpcCode::Unknown,
    };
    Err(Status::new(
        code,
        format!("the answer is not one of gRPC: HTTP status {status}"),
    ))
}
