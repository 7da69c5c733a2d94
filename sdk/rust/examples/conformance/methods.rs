//! The methods of the crate by the names that the conformance suite has for them.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime};

use boxoffice::{
    Call, Client, Error, Listing, Mutation, Pages, SetAlertThreshold, SimulatedParticipants,
    UsageRecord,
};
use futures_core::Stream;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{Ended, crash, millis};

/// A request of the suite. What the type has no place for is a mistake, as in the other languages.
fn read<T: DeserializeOwned + Serialize>(request: &Value) -> Result<T, Ended> {
    let given: T = serde_json::from_value(request.clone())?;
    let understood = serde_json::to_value(&given)?;
    let names = request
        .as_object()
        .into_iter()
        .flat_map(serde_json::Map::keys);
    match names
        .into_iter()
        .find(|name| understood.get(name).is_none())
    {
        None => Ok(given),
        Some(name) => Err(Ended(
            json!({ "kind": "Invalid", "code": "", "message": name }),
        )),
    }
}

fn write<T: Serialize>(answer: &T) -> Result<Value, Ended> {
    Ok(serde_json::to_value(answer)?)
}

async fn sent<T: Serialize + 'static>(mut call: Call<T>, options: &Value) -> Result<Value, Ended> {
    if let Some(timeout) = millis(options, "timeout_ms") {
        call = call.timeout(timeout);
    }
    write(&call.await?)
}

async fn changed<T: Serialize + 'static>(
    mut call: Mutation<T>,
    options: &Value,
) -> Result<Value, Ended> {
    if let Some(timeout) = millis(options, "timeout_ms") {
        call = call.timeout(timeout);
    }
    if let Some(key) = options["idempotency_key"].as_str() {
        call = call.idempotency_key(key);
    }
    write(&call.await?)
}

/// A text of the request, which is the only argument of some methods.
fn text<'a>(request: &'a Value, name: &str) -> &'a str {
    request[name].as_str().unwrap_or_default()
}

/// Methods with one answer.
pub async fn call(
    client: &Client,
    method: &str,
    request: Value,
    options: &Value,
) -> Result<Value, Ended> {
    let service = method.split('.').next().unwrap_or_default();
    match service {
        "rooms" | "participants" | "watchdogs" | "tokens" | "device_credentials" => {
            control(client, method, &request, options).await
        }
        "moderation" => moderation(client, method, &request, options).await,
        "webhooks" => webhooks(client, method, &request, options).await,
        _ => rest(client, method, request, options).await,
    }
}

async fn control(
    client: &Client,
    method: &str,
    request: &Value,
    options: &Value,
) -> Result<Value, Ended> {
    let (rooms, watchdogs) = (client.rooms(), client.watchdogs());
    let (credentials, participants) = (client.device_credentials(), client.participants());
    match method {
        "rooms.create" => changed(rooms.create(read(request)?), options).await,
        "rooms.get" => sent(rooms.get(read(request)?), options).await,
        "rooms.update_policy" => changed(rooms.update_policy(read(request)?), options).await,
        "rooms.end" => changed(rooms.end(read(request)?), options).await,
        "rooms.list_events" => sent(rooms.list_events(read(request)?), options).await,
        "participants.get" => sent(participants.get(read(request)?), options).await,
        "participants.erase" => {
            changed(participants.erase(text(request, "participant")), options).await
        }
        "participants.erasure" => sent(participants.erasure(text(request, "id")), options).await,
        "tokens.mint" => sent(client.tokens().mint(read(request)?), options).await,
        "device_credentials.create" => changed(credentials.create(read(request)?), options).await,
        "device_credentials.rotate" => changed(credentials.rotate(read(request)?), options).await,
        "device_credentials.revoke" => changed(credentials.revoke(read(request)?), options).await,
        "watchdogs.create" => changed(watchdogs.create(read(request)?), options).await,
        "watchdogs.get" => sent(watchdogs.get(read(request)?), options).await,
        "watchdogs.update" => changed(watchdogs.update(read(request)?), options).await,
        "watchdogs.delete" => changed(watchdogs.delete(read(request)?), options).await,
        _ => Err(crash(&format!("there is no method {method}"))),
    }
}

async fn moderation(
    client: &Client,
    method: &str,
    request: &Value,
    options: &Value,
) -> Result<Value, Ended> {
    let moderation = client.moderation();
    match method {
        "moderation.kick" => changed(moderation.kick(read(request)?), options).await,
        "moderation.ban" => changed(moderation.ban(read(request)?), options).await,
        "moderation.unban" => changed(moderation.unban(read(request)?), options).await,
        "moderation.force_mute" => changed(moderation.force_mute(read(request)?), options).await,
        "moderation.release_mute" => {
            changed(moderation.release_mute(read(request)?), options).await
        }
        "moderation.revoke_publish" => {
            changed(moderation.revoke_publish(read(request)?), options).await
        }
        "moderation.restore_publish" => {
            changed(moderation.restore_publish(read(request)?), options).await
        }
        "moderation.close_room" => changed(moderation.close_room(read(request)?), options).await,
        _ => Err(crash(&format!("there is no method {method}"))),
    }
}

async fn webhooks(
    client: &Client,
    method: &str,
    request: &Value,
    options: &Value,
) -> Result<Value, Ended> {
    let webhooks = client.webhooks();
    let id = text(request, "id");
    match method {
        "webhooks.create" => changed(webhooks.create(read(request)?), options).await,
        "webhooks.list" => sent(webhooks.list(), options).await,
        "webhooks.get" => sent(webhooks.get(id), options).await,
        // Their ids are in the path, so they are not written.
        "webhooks.change" => {
            let request = serde_json::from_value(request.clone())?;
            changed(webhooks.change(request), options).await
        }
        "webhooks.rotate_secret" => {
            let request = serde_json::from_value(request.clone())?;
            changed(webhooks.rotate_secret(request), options).await
        }
        "webhooks.delete" => changed(webhooks.delete(id), options).await,
        "webhooks.test" => changed(webhooks.test(id), options).await,
        "webhooks.resend" => {
            let seq = request["seq"].as_u64().unwrap_or_default();
            changed(webhooks.resend(id, seq), options).await
        }
        "webhooks.resend_since" => {
            let since = time(text(request, "since"))?;
            changed(webhooks.resend_since(id, since), options).await
        }
        "webhooks.resend_failed" => {
            let since = time(text(request, "since"))?;
            changed(webhooks.resend_failed(id, since), options).await
        }
        "webhooks.pull_events" => sent(webhooks.pull_events(read(request)?), options).await,
        _ => Err(crash(&format!("there is no method {method}"))),
    }
}

fn time(text: &str) -> Result<SystemTime, Ended> {
    let time = text.parse::<prost_types::Timestamp>().ok();
    time.and_then(|time| time.try_into().ok())
        .ok_or_else(|| crash("there is no time"))
}

async fn rest(
    client: &Client,
    method: &str,
    request: Value,
    options: &Value,
) -> Result<Value, Ended> {
    let (keys, billing) = (client.keys(), client.billing());
    match method {
        "sign_up" => sent(client.sign_up(read(&request)?), options).await,
        "keys.list" => sent(keys.list(), options).await,
        "keys.create" => changed(keys.create(read(&request)?), options).await,
        "keys.rotate" => {
            let mut request = request;
            // The suite writes lengths of time without their unit.
            if let Some(overlap) = request.get("overlap").cloned() {
                request["overlap_seconds"] = overlap;
            }
            changed(keys.rotate(serde_json::from_value(request)?), options).await
        }
        "keys.revoke" => changed(keys.revoke(read(&request)?), options).await,
        "alerts.get" => sent(client.alerts().get(), options).await,
        "alerts.set" => {
            let thresholds: Vec<SetAlertThreshold> =
                serde_json::from_value(request["thresholds"].clone())?;
            changed(client.alerts().set(thresholds), options).await
        }
        "budgets.list" => sent(client.budgets().list(), options).await,
        "budgets.get" => sent(client.budgets().get(text(&request, "id")), options).await,
        "budgets.set" => {
            let request = serde_json::from_value(request)?;
            changed(client.budgets().set(request), options).await
        }
        "budgets.delete" => changed(client.budgets().delete(text(&request, "id")), options).await,
        "mail.get" => sent(client.mail().get(), options).await,
        "mail.set" => changed(client.mail().set(read(&request)?), options).await,
        "billing.get" => sent(billing.get(), options).await,
        "billing.runway" => sent(billing.runway(read(&request)?), options).await,
        "billing.statements" => sent(billing.statements(), options).await,
        "billing.statement" if request["so_far"] == true => {
            let month = text(&request, "month");
            sent(billing.statement_so_far(month), options).await
        }
        "billing.statement" => sent(billing.statement(text(&request, "month")), options).await,
        "billing.receipt" => sent(billing.receipt(text(&request, "id")), options).await,
        "billing.checkout" => {
            let cents = request["amount_cents"].as_i64().unwrap_or_default();
            changed(billing.checkout(cents), options).await
        }
        "billing.portal" => changed(billing.portal(), options).await,
        "billing.details" => sent(billing.details(), options).await,
        "billing.set_details" => changed(billing.set_details(read(&request)?), options).await,
        "billing.time_zone" => sent(billing.time_zone(), options).await,
        "billing.set_time_zone" => changed(billing.set_time_zone(read(&request)?), options).await,
        "billing.set_auto_top_up" => {
            changed(billing.set_auto_top_up(read(&request)?), options).await
        }
        "usage.report" => {
            let records: Vec<UsageRecord> = serde_json::from_value(request["records"].clone())?;
            sent(client.usage().report(records), options).await
        }
        "usage.look_up" => {
            let ids: Vec<String> = serde_json::from_value(request["ids"].clone())?;
            sent(client.usage().look_up(ids), options).await
        }
        "usage.summary" => sent(client.usage().summary(read(&request)?), options).await,
        "usage.session" => sent(client.usage().session(text(&request, "id")), options).await,
        "usage.room_cost" => sent(client.usage().room_cost(text(&request, "uid")), options).await,
        "usage.explain" => sent(client.usage().explain(text(&request, "id")), options).await,
        "rates.get" => sent(client.rates().get(), options).await,
        "rates.simulate" => {
            let participants: Vec<SimulatedParticipants> =
                serde_json::from_value(request["participants"].clone())?;
            sent(client.rates().simulate(participants), options).await
        }
        _ => Err(crash(&format!("there is no method {method}"))),
    }
}

type NextPage<'a> = Pin<Box<dyn Future<Output = Option<Result<Value, Ended>>> + Send + 'a>>;

/// Pages of any items.
pub trait AnyPages: Send {
    /// The items of the next page.
    fn next(&mut self) -> NextPage<'_>;
}

impl<T: Serialize + Send + 'static> AnyPages for Pages<T> {
    fn next(&mut self) -> NextPage<'_> {
        Box::pin(async {
            let page = Pages::next(self).await?;
            Some(
                page.map_err(Ended::from)
                    .and_then(|page| write(&page.items)),
            )
        })
    }
}

fn boxed<T: Serialize + Send + 'static>(listing: Listing<T>) -> Box<dyn AnyPages> {
    Box::new(listing.pages())
}

/// Methods with pages.
pub fn pages(client: &Client, method: &str, request: &Value) -> Result<Box<dyn AnyPages>, Ended> {
    Ok(match method {
        "rooms.list" => boxed(client.rooms().list(read(request)?)),
        "participants.list" => boxed(client.participants().list(read(request)?)),
        "moderation.list_bans" => boxed(client.moderation().list_bans(read(request)?)),
        "moderation.list_events" => boxed(client.moderation().list_events(read(request)?)),
        "device_credentials.list" => boxed(client.device_credentials().list(read(request)?)),
        "watchdogs.list" => boxed(client.watchdogs().list(read(request)?)),
        "billing.ledger" => boxed(client.billing().ledger(read(request)?)),
        "billing.grants" => boxed(client.billing().grants(read(request)?)),
        "billing.payments" => boxed(client.billing().payments(read(request)?)),
        "usage.records" => boxed(client.usage().records(read(request)?)),
        "usage.sessions" => boxed(client.usage().sessions(read(request)?)),
        "usage.conflicts" => boxed(client.usage().conflicts(read(request)?)),
        "webhooks.deliveries" => boxed(client.webhooks().deliveries(read(request)?)),
        "webhooks.dead_letters" => boxed(client.webhooks().dead_letters(read(request)?)),
        "audit.list" => boxed(client.audit().list(read(request)?)),
        _ => return Err(crash(&format!("there is no method {method}"))),
    })
}

/// Any events.
pub type AnyEvents = Pin<Box<dyn Stream<Item = Result<Value, Ended>> + Send>>;

/// Events as the suite reads them.
struct Written<S>(S);

impl<T: Serialize, S: Stream<Item = Result<T, Error>> + Unpin> Stream for Written<S> {
    type Item = Result<Value, Ended>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(Pin::new(&mut self.0).poll_next(context));
        Poll::Ready(next.map(|event| write(&event?)))
    }
}

/// Methods with events. A stream of the control plane is reopened after the silence, if it is given.
pub fn watch(
    client: &Client,
    method: &str,
    request: &Value,
    silent_max: Option<Duration>,
) -> Result<AnyEvents, Ended> {
    let events = match method {
        "rooms.watch" => client.rooms().watch(read(request)?),
        "participants.watch" => client.participants().watch(read(request)?),
        "webhooks.follow_events" => {
            let events = client.webhooks().follow_events(read(request)?);
            return Ok(Box::pin(Written(events)));
        }
        _ => return Err(crash(&format!("there is no method {method}"))),
    };
    Ok(match silent_max {
        Some(silent_max) => Box::pin(Written(events.silent_max(silent_max))),
        None => Box::pin(Written(events)),
    })
}
