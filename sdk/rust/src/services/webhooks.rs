//! Webhooks, what they were sent, and the events that they get.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::Method;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::service;
use crate::calls::{Call, CallOptions, Mutation};
use crate::error::Error;
use crate::follow::FollowedEvents;
use crate::generated::rest::{
    ChangeWebhook, CreateWebhook, CreatedWebhook, DeadLetter, Delivery, DeliveryOutcome,
    ListDeadLetters, ListDeliveries, PullEvents, PulledEvents, RotateWebhookSecret,
    RotatedWebhookSecret, Webhook,
};
use crate::inner::Inner;
use crate::listing::Listing;
use crate::plain;
use crate::rest::{Query, list_at, segment};

const PATH: &str = "/v1/webhooks";
/// The service answers within 35 seconds when it waits for an event, and sooner when it sends one.
const PATIENT: Duration = Duration::from_secs(40);
/// The longest wait for events that the service allows.
const WAIT: Duration = Duration::from_secs(20);
/// A request without a body.
const NOTHING: Option<Value> = None;

#[derive(Deserialize)]
struct WebhookList {
    webhooks: Vec<Webhook>,
}

#[derive(Deserialize)]
struct Sent {
    delivery: Delivery,
}

#[derive(Deserialize)]
struct MovedBack {
    webhook: Webhook,
}

/// What was given up and is sent again.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ResentEvents {
    /// The webhook, with how many events are put aside now.
    pub webhook: Webhook,
    /// How many events that were given up are sent again.
    pub resent: u64,
    /// Others stay given up, because no more events may be put aside. Ask again later.
    pub more: bool,
}

service! {
    /// Webhooks of the tenant, and the events that they get.
    Webhooks
}

impl Webhooks {
    /// Create a webhook: it gets the events that happen from then on. Only this answer contains the secret;
    /// for 24 hours, a call with the same idempotency key gets it again. A tenant has at most 20 webhooks.
    pub fn create(&self, request: CreateWebhook) -> Mutation<CreatedWebhook> {
        change(&self.inner, Method::POST, Ok(PATH.into()), Some(request))
    }

    /// All webhooks, oldest first.
    pub fn list(&self) -> Call<Vec<Webhook>> {
        let inner = self.inner.clone();
        Call::new(move |options| async move {
            let answer: WebhookList = inner.rest.get(PATH, &Query::default(), &options).await?;
            Ok(answer.webhooks)
        })
    }

    /// One webhook, with how far its deliveries are.
    pub fn get(&self, id: impl Into<String>) -> Call<Webhook> {
        let (inner, id) = (self.inner.clone(), id.into());
        Call::new(move |options| async move {
            let path = path_of(&id, "")?;
            inner.rest.get(&path, &Query::default(), &options).await
        })
    }

    /// Change, pause or resume a webhook. One that goes on begins with the event where it stopped.
    pub fn change(&self, request: ChangeWebhook) -> Mutation<Webhook> {
        let path = path_of(&request.id, "");
        change(&self.inner, Method::PATCH, path, Some(request))
    }

    /// Delete a webhook. A request that is under way may still arrive.
    pub fn delete(&self, id: impl Into<String>) -> Mutation<()> {
        let path = path_of(&id.into(), "");
        change(&self.inner, Method::DELETE, path, NOTHING)
    }

    /// Replace the secret. The old ones sign too for the overlap, by default a day, so that receivers can take
    /// over the new one in between.
    pub fn rotate_secret(&self, request: RotateWebhookSecret) -> Mutation<RotatedWebhookSecret> {
        let path = path_of(&request.id, "/rotate");
        change(&self.inner, Method::POST, path, Some(request))
    }

    /// Send the event `webhook_test` now, and tell what became of it. Works while the webhook is paused, too.
    pub fn test(&self, id: impl Into<String>) -> Mutation<Delivery> {
        let path = path_of(&id.into(), "/test");
        send(&self.inner, path, NOTHING)
    }

    /// Attempts to send events, newest first, for as long as the deployment keeps them: 7 days or more.
    pub fn deliveries(&self, request: ListDeliveries) -> Listing<Delivery> {
        let path = path_of(&request.id, "/deliveries");
        let outcome = request.outcome.as_ref().map(DeliveryOutcome::as_str);
        let query = Query::default()
            .number("limit", request.page_size)
            .given("outcome", outcome);
        list_at(&self.inner.rest, path, query, request.page_token)
    }

    /// Send the event with this number again now, outside the order, and tell what became of it. Events are kept
    /// for 7 days, or longer if the deployment says so.
    pub fn resend(&self, id: impl Into<String>, seq: u64) -> Mutation<Delivery> {
        let path = path_of(&id.into(), "/resend");
        send(&self.inner, path, Some(json!({ "seq": seq })))
    }

    /// Go back to the first event of this time: all wanted events since then come again, in order.
    pub fn resend_since(&self, id: impl Into<String>, since: SystemTime) -> Mutation<Webhook> {
        let (inner, path) = (self.inner.clone(), path_of(&id.into(), "/resend"));
        let body = json!({ "since": plain::write_time(since).to_string() });
        Mutation::new(move |options| async move {
            let path = path?;
            let call = inner.rest.call(Method::POST, &path, Some(&body), &options);
            let answer: MovedBack = call.await?;
            Ok(answer.webhook)
        })
    }

    /// Send again what was given up since this time, put aside; what is put aside and has failed is tried at once.
    /// The webhook does not go back.
    pub fn resend_failed(
        &self,
        id: impl Into<String>,
        since: SystemTime,
    ) -> Mutation<ResentEvents> {
        let path = path_of(&id.into(), "/resend");
        let since = plain::write_time(since).to_string();
        let body = json!({ "since": since, "only_failed": true });
        change(&self.inner, Method::POST, path, Some(body))
    }

    /// Events that were given up and not sent again since, newest first.
    pub fn dead_letters(&self, request: ListDeadLetters) -> Listing<DeadLetter> {
        let path = path_of(&request.id, "/dead-letters");
        let query = Query::default().number("limit", request.page_size);
        list_at(&self.inner.rest, path, query, request.page_token)
    }

    /// Read events as webhooks get them, and wait up to `wait` if there are none. Ask again with the `after` of
    /// the answer. Events are kept for 7 days or longer: fails with [`Error::Invalid`] if those after `after` are gone.
    pub fn pull_events(&self, request: PullEvents) -> Call<PulledEvents> {
        let inner = self.inner.clone();
        let is_patient = request.wait.is_some_and(|wait| !wait.is_zero());
        let call = Call::new(move |options| async move { pull(&inner, &request, &options).await });
        if is_patient {
            call.timeout(2 * PATIENT).attempt_timeout(PATIENT)
        } else {
            call
        }
    }

    /// Follow events as webhooks get them: after `after`, or from the oldest that is kept. It waits for each
    /// next event, whatever `wait` says, and survives restarts of the service.
    pub fn follow_events(&self, request: PullEvents) -> FollowedEvents {
        let inner = self.inner.clone();
        FollowedEvents::new(request.after, move |after| {
            let (inner, mut request) = (inner.clone(), request.clone());
            request.after = after;
            request.wait = Some(WAIT);
            Box::pin(async move {
                let options = CallOptions {
                    timeout: Some(2 * PATIENT),
                    attempt_timeout: Some(PATIENT),
                    idempotency_key: None,
                };
                pull(&inner, &request, &options).await
            })
        })
    }
}

async fn pull(
    inner: &Inner,
    request: &PullEvents,
    options: &CallOptions,
) -> Result<PulledEvents, Error> {
    let (after, wait) = (
        request.after.map(|after| after.to_string()),
        // A part of a second is sent as it is, for the service to refuse.
        request.wait.map(|wait| wait.as_secs_f64().to_string()),
    );
    let query = Query::default()
        .given("after", after.as_deref())
        .words("types", request.types.iter().map(String::as_str))
        .number("limit", request.limit)
        .given("wait_seconds", wait.as_deref());
    inner.rest.get("/v1/events", &query, options).await
}

fn path_of(id: &str, below: &str) -> Result<String, Error> {
    Ok(format!("{PATH}/{}{below}", segment("id", id)?))
}

fn change<T: DeserializeOwned + 'static>(
    inner: &Arc<Inner>,
    method: Method,
    path: Result<String, Error>,
    body: Option<impl Serialize + Send + Sync + 'static>,
) -> Mutation<T> {
    let inner = inner.clone();
    Mutation::new(move |options| async move {
        inner
            .rest
            .call(method, &path?, body.as_ref(), &options)
            .await
    })
}

/// The answer comes after that of the receiver.
fn send(
    inner: &Arc<Inner>,
    path: Result<String, Error>,
    body: Option<Value>,
) -> Mutation<Delivery> {
    let inner = inner.clone();
    let call = Mutation::new(move |options| async move {
        let path = path?;
        let call = inner
            .rest
            .call(Method::POST, &path, body.as_ref(), &options);
        let answer: Sent = call.await?;
        Ok(answer.delivery)
    });
    call.timeout(2 * PATIENT).attempt_timeout(PATIENT)
}
