//! The methods of the crate by the names that the conformance suite has for them.

use std::future::Future;
use std::pin::Pin;

use boxoffice::{
    Call, Client, Events, Listing, Mutation, Pages, SimulatedParticipants, UsageRecord,
};
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
        "billing.get" => sent(billing.get(), options).await,
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
        "billing.payments" => boxed(client.billing().payments(read(request)?)),
        "usage.records" => boxed(client.usage().records(read(request)?)),
        "usage.conflicts" => boxed(client.usage().conflicts(read(request)?)),
        _ => return Err(crash(&format!("there is no method {method}"))),
    })
}

/// Methods with events.
pub fn watch(client: &Client, method: &str, request: &Value) -> Result<Events, Ended> {
    match method {
        "rooms.watch" => Ok(client.rooms().watch(read(request)?)),
        "participants.watch" => Ok(client.participants().watch(read(request)?)),
        _ => Err(crash(&format!("there is no method {method}"))),
    }
}
