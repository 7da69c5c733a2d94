//! Streams made of a state and an async step.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

/// What a step gives: the next item with the state after it, or the end.
type Step<S, T> = Option<(T, S)>;

struct Unfold<S, F, Fut> {
    state: Option<S>,
    step: F,
    running: Option<Pin<Box<Fut>>>,
}

// Nothing is pinned in place: the running step is in a box.
impl<S, F, Fut> Unpin for Unfold<S, F, Fut> {}

impl<S, T, F, Fut> Stream for Unfold<S, F, Fut>
where
    F: FnMut(S) -> Fut,
    Fut: Future<Output = Step<S, T>>,
{
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        if self.running.is_none() {
            let Some(state) = self.state.take() else {
                return Poll::Ready(None);
            };
            let future = (self.step)(state);
            self.running = Some(Box::pin(future));
        }
        let Some(running) = &mut self.running else {
            return Poll::Ready(None);
        };
        let step = ready!(running.as_mut().poll(context));
        self.running = None;
        Poll::Ready(step.map(|(item, state)| {
            self.state = Some(state);
            item
        }))
    }
}

/// A stream of unknown type. A step that has begun goes on at the next poll, so `next` can be cancelled.
pub(crate) struct Sequence<T>(Pin<Box<dyn Stream<Item = T> + Send>>);

impl<T: 'static> Sequence<T> {
    pub(crate) fn unfold<S, F, Fut>(state: S, step: F) -> Self
    where
        S: Send + 'static,
        F: FnMut(S) -> Fut + Send + 'static,
        Fut: Future<Output = Step<S, T>> + Send + 'static,
    {
        Self(Box::pin(Unfold {
            state: Some(state),
            step,
            running: None,
        }))
    }

    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        self.0.as_mut().poll_next(context)
    }

    pub(crate) async fn next(&mut self) -> Option<T> {
        poll_fn(|context| self.poll(context)).await
    }
}

impl<T> fmt::Debug for Sequence<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("Sequence")
    }
}
