//! Paged lists.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use serde::{Deserialize, Serialize};

use crate::calls::{BoxFuture, CallOptions};
use crate::error::Error;
use crate::sequence::Sequence;

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Page<T> {
    /// The items of the page.
    pub items: Vec<T>,
    /// Token of the next page; empty for the last page.
    pub next_page_token: String,
}

type Read<T> = Arc<dyn Fn(String, CallOptions) -> BoxFuture<Result<Page<T>, Error>> + Send + Sync>;

/// A list: a [`Stream`] of its items, which reads page after page. An error ends it.
#[must_use = "a list is read by `next` or `pages`"]
pub struct Listing<T> {
    read: Read<T>,
    options: CallOptions,
    first: String,
    pages: Option<Pages<T>>,
    items: VecDeque<T>,
}

impl<T: Send + 'static> Listing<T> {
    pub(crate) fn new(
        first: String,
        read: impl Fn(String, CallOptions) -> BoxFuture<Result<Page<T>, Error>> + Send + Sync + 'static,
    ) -> Self {
        let (options, items) = (CallOptions::default(), VecDeque::new());
        Self {
            read: Arc::new(read),
            options,
            first,
            pages: None,
            items,
        }
    }

    /// Time limit of the request for each page, with all its attempts. Default: that of the client.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Time limit of each attempt. Default: that of the client.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.options.attempt_timeout = Some(timeout);
        self
    }

    /// The pages from the first one on.
    pub fn pages(self) -> Pages<T> {
        let Self {
            read,
            options,
            first,
            ..
        } = self;
        let pages = Sequence::unfold(Some(first), move |token: Option<String>| {
            let (read, options) = (read.clone(), options.clone());
            async move {
                let page = read(token?, options).await;
                let next = page.as_ref().ok().map(|page| page.next_page_token.clone());
                Some((page, next.filter(|token| !token.is_empty())))
            }
        });
        Pages(pages)
    }

    /// The next item; `None` at the end.
    pub async fn next(&mut self) -> Option<Result<T, Error>> {
        std::future::poll_fn(|context| self.poll(context)).await
    }

    /// All items, until the first error.
    pub async fn collect(mut self) -> Result<Vec<T>, Error> {
        let mut items = Vec::new();
        while let Some(item) = self.next().await {
            items.push(item?);
        }
        Ok(items)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T, Error>>> {
        loop {
            if let Some(item) = self.items.pop_front() {
                return Poll::Ready(Some(Ok(item)));
            }
            let pages = self.pages.get_or_insert_with(|| {
                let (read, options) = (self.read.clone(), self.options.clone());
                let (first, items) = (self.first.clone(), VecDeque::new());
                Self {
                    read,
                    options,
                    first,
                    pages: None,
                    items,
                }
                .pages()
            });
            match ready!(pages.0.poll(context)) {
                Some(Ok(page)) => self.items = page.items.into(),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
    }
}

impl<T: Send + Unpin + 'static> Stream for Listing<T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(context)
    }
}

/// A [`Stream`] of pages. An error ends it.
#[derive(Debug)]
#[must_use = "pages are read by `next`"]
pub struct Pages<T>(Sequence<Result<Page<T>, Error>>);

impl<T: 'static> Pages<T> {
    /// The next page; `None` at the end.
    pub async fn next(&mut self) -> Option<Result<Page<T>, Error>> {
        self.0.next().await
    }
}

impl<T: 'static> Stream for Pages<T> {
    type Item = Result<Page<T>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll(context)
    }
}

impl<T> std::fmt::Debug for Listing<T> {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Listing").finish_non_exhaustive()
    }
}
