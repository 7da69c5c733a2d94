//! Events that are asked for again and again.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use tokio::time::sleep;

use crate::calls::{BoxFuture, wait_after};
use crate::error::Error;
use crate::error_kinds::Kind;
use crate::generated::rest::{PulledEvents, WebhookEvent};
use crate::rest::is_transient;

type Pull = Arc<dyn Fn(Option<u64>) -> BoxFuture<Result<PulledEvents, Error>> + Send + Sync>;

/// A [`Stream`] of events without end, as webhooks get them. Each event comes once and in order, across lost
/// connections. An error that repeating cannot help ends it.
#[must_use = "events are read by `next`"]
pub struct FollowedEvents {
    pull: Pull,
    /// Read, but not handed out yet.
    waiting: VecDeque<WebhookEvent>,
    /// After the events that wait.
    page_after: Option<u64>,
    /// After the last event that was handed out.
    after: Option<u64>,
    running: Option<BoxFuture<Result<PulledEvents, Error>>>,
    has_failed: bool,
}

impl FollowedEvents {
    pub(crate) fn new(
        after: Option<u64>,
        pull: impl Fn(Option<u64>) -> BoxFuture<Result<PulledEvents, Error>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            pull: Arc::new(pull),
            waiting: VecDeque::new(),
            page_after: after,
            after,
            running: None,
            has_failed: false,
        }
    }

    /// Store it to go on after the last event that was handed out. It also moves past events of other types, so
    /// it may be larger than the number of that event. `None`: nothing was read yet, and it began with the
    /// oldest event that is kept.
    #[must_use]
    pub fn after(&self) -> Option<u64> {
        self.after
    }

    /// The next event. `None` comes only after an error.
    pub async fn next(&mut self) -> Option<Result<WebhookEvent, Error>> {
        std::future::poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<WebhookEvent, Error>>> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                self.after = if self.waiting.is_empty() {
                    self.page_after
                } else {
                    Some(event.seq)
                };
                return Poll::Ready(Some(Ok(event)));
            }
            if self.has_failed {
                return Poll::Ready(None);
            }
            let running = self
                .running
                .get_or_insert_with(|| Box::pin(pull_patiently(self.pull.clone(), self.after)));
            let answer = ready!(running.as_mut().poll(context));
            self.running = None;
            match answer {
                Ok(page) => {
                    self.page_after = Some(page.after);
                    if page.events.is_empty() {
                        self.after = self.page_after;
                    }
                    self.waiting = page.events.into();
                }
                Err(error) => {
                    self.has_failed = true;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
    }
}

/// The next page, however often the request fails before it.
async fn pull_patiently(pull: Pull, after: Option<u64>) -> Result<PulledEvents, Error> {
    let mut failures = 0_u32;
    loop {
        let error = match pull(after).await {
            // Each wait counts as a stream of the tenant, and there may be too many for now.
            Err(error) if is_transient(&error) || error.kind() == Kind::RateLimited => error,
            answer => return answer,
        };
        sleep(wait_after(failures, Some(&error))?).await;
        failures = failures.saturating_add(1);
    }
}

impl Stream for FollowedEvents {
    type Item = Result<WebhookEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(context)
    }
}

impl fmt::Debug for FollowedEvents {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("FollowedEvents").finish_non_exhaustive()
    }
}
