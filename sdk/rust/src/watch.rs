//! Streams of events that resume by themselves.

use std::fmt;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use serde::{Deserialize, Serialize};
use tokio::time::{sleep, timeout};
use tonic::Streaming;

use crate::calls::wait_after;
use crate::control::{Method, Resumable, WatchAnswer, is_transient};
use crate::error::{Code, Error};
use crate::generated::types::Event;
use crate::inner::Inner;
use crate::sequence::Sequence;

/// Bookmarks come at least every 15 seconds: a stream that is silent for this long is dead.
const SILENT_MAX: Duration = Duration::from_secs(40);

/// An event, and the token to resume after it. It derefs to the [`Event`].
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct WatchedEvent {
    /// The event.
    #[serde(flatten)]
    pub event: Event,
    /// Store it to resume after this event. Empty inside a snapshot, which cannot be resumed half-way.
    pub resume_token: String,
}

impl Deref for WatchedEvent {
    type Target = Event;

    fn deref(&self) -> &Event {
        &self.event
    }
}

type Open = Box<dyn FnOnce(Duration) -> Sequence<Result<WatchedEvent, Error>> + Send>;

/// A [`Stream`] of events without end. A broken stream is reopened after the last event that was handed
/// out, so each event comes once and in order. An error that repeating cannot help ends it.
#[must_use = "events are read by `next`"]
pub struct Events {
    /// Until the first poll, as options may follow.
    open: Option<Open>,
    sequence: Option<Sequence<Result<WatchedEvent, Error>>>,
    silent_max: Duration,
}

impl Events {
    pub(crate) fn new<Request, Answer>(
        inner: Arc<Inner>,
        method: Method<Request, Answer>,
        request: Request,
        resume_token: String,
    ) -> Self
    where
        Request: Resumable,
        Answer: WatchAnswer,
    {
        let open = move |silent_max| {
            let stream = None;
            let watch = Watch {
                inner,
                method,
                request,
                resume_token,
                silent_max,
                stream,
                failures: 0,
                wait: None,
            };
            Sequence::unfold(Some(watch), |watch| async { watch?.step().await })
        };
        Self {
            open: Some(Box::new(open)),
            sequence: None,
            silent_max: SILENT_MAX,
        }
    }

    /// The stream is reopened after this silence; bookmarks come at least every 15 s. Default 40 s.
    pub fn silent_max(mut self, silent_max: Duration) -> Self {
        self.silent_max = silent_max;
        self
    }

    /// The next event. `None` comes only after an error.
    pub async fn next(&mut self) -> Option<Result<WatchedEvent, Error>> {
        std::future::poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<WatchedEvent, Error>>> {
        if let Some(open) = self.open.take() {
            self.sequence = Some(open(self.silent_max));
        }
        match &mut self.sequence {
            Some(sequence) => sequence.poll(context),
            None => Poll::Ready(None),
        }
    }
}

impl Stream for Events {
    type Item = Result<WatchedEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(context)
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Events").finish_non_exhaustive()
    }
}

/// Where the reader is.
struct Watch<Request, Answer> {
    inner: Arc<Inner>,
    method: Method<Request, Answer>,
    request: Request,
    /// After the last event that was handed out. Kept through a snapshot, whose events have none.
    resume_token: String,
    silent_max: Duration,
    stream: Option<Streaming<Answer>>,
    /// Since the last event.
    failures: u32,
    /// Before the stream is opened again.
    wait: Option<Duration>,
}

type Stepped<Request, Answer> =
    Option<(Result<WatchedEvent, Error>, Option<Watch<Request, Answer>>)>;

impl<Request: Resumable, Answer: WatchAnswer> Watch<Request, Answer> {
    /// The next event, however often the stream breaks before it.
    async fn step(mut self) -> Stepped<Request, Answer> {
        loop {
            if let Some(wait) = self.wait.take() {
                sleep(wait).await;
            }
            let error = match timeout(self.silent_max, self.read()).await {
                Ok(Ok(Some(event))) => return Some((Ok(event), Some(self))),
                // The service ended the stream, as it does when it stops.
                Ok(Ok(None)) => None,
                Ok(Err(error)) if is_transient(&error) => Some(error),
                Ok(Err(error)) => return Some((Err(error), None)),
                Err(_) => Some(Error::timeout()),
            };
            self.stream = None;
            match wait_after(self.failures, error.as_ref()) {
                Ok(wait) => self.wait = Some(wait),
                Err(error) => return Some((Err(error), None)),
            }
            self.failures = self.failures.saturating_add(1);
        }
    }

    async fn read(&mut self) -> Result<Option<WatchedEvent>, Error> {
        if self.stream.is_none() {
            let mut request = self.request.clone();
            request.set_resume_token(self.resume_token.clone());
            request.set_tenant(self.inner.find_tenant().await?);
            self.stream = Some(self.inner.control.stream(self.method, request).await?);
        }
        let Some(stream) = &mut self.stream else {
            return Ok(None);
        };
        let answer = stream
            .message()
            .await
            .map_err(|status| Error::of_call(&status))?;
        let Some(answer) = answer else {
            return Ok(None);
        };
        self.failures = 0;
        let (event, resume_token) = answer.into_parts();
        let Some(event) = event else {
            return Err(Error::bad_answer(
                Code::Grpc("OK"),
                "the answer has no event",
            ));
        };
        if !resume_token.is_empty() {
            self.resume_token.clone_from(&resume_token);
        }
        Ok(Some(WatchedEvent {
            event: event.into(),
            resume_token,
        }))
    }
}
