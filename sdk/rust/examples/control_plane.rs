//! The Rust examples of docs/control-plane-calls.md: a test compares them.

use std::time::Duration;

use boxoffice::{
    Actor, BanSubject, Client, CreateRoom, CreateWatchdog, EndRoom, Error, EventType,
    KickParticipant, ListParticipants, MintClientToken, Secret, Subject, UpdateRoomPolicy,
    WatchEvents, WatchdogAction, WatchdogCondition, WatchedEvent, reason,
};

/// What an application does with events.
trait Application {
    fn forget_everything(&mut self);
    fn handle(&mut self, event: &WatchedEvent);
    fn save(&mut self, resume_token: &str);
    fn top_up(&mut self);
}

fn connect(api_key: &str) -> Result<Client, Error> {
    let client = Client::builder()
        .url("https://boxoffice.example")
        .control_url("https://control.example:443")
        .api_key(api_key)
        .build()?;
    Ok(client)
}

async fn open_room(client: &Client) -> Result<(), Error> {
    client
        .rooms()
        .create(CreateRoom::new("lobby").max_participants(50))
        .await?;
    client
        .rooms()
        .update_policy(UpdateRoomPolicy::new("lobby").locked(true))
        .await?;
    Ok(())
}

async fn mint(client: &Client, thumbprint: &str) -> Result<Secret, Error> {
    let request = MintClientToken::new("lobby", "Ann", thumbprint).role("host");
    let minted = client.tokens().mint(request).await?;
    Ok(minted.token)
}

async fn list_participants(client: &Client) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    let mut participants = client
        .participants()
        .list(ListParticipants::new().room("lobby"));
    while let Some(participant) = participants.next().await {
        names.push(participant?.username);
    }
    Ok(names)
}

async fn moderate(client: &Client, thumbprint: &str) -> Result<(), Error> {
    let kick = KickParticipant::new("lobby", "bob").reason("noise");
    client
        .moderation()
        .kick(kick.actor(Actor::new("ann", thumbprint)))
        .await?;
    let ban = BanSubject::new(Subject::Username("bob".into())).room("lobby");
    client
        .moderation()
        .ban(ban.ttl(Duration::from_secs(3600)))
        .await?;
    Ok(())
}

async fn follow(
    client: &Client,
    application: &mut dyn Application,
    token: &str,
) -> Result<(), Error> {
    let mut events = client.rooms().watch(WatchEvents::new().resume_token(token));
    while let Some(event) = events.next().await {
        let event = event?;
        if event.event_type == EventType::Reset {
            application.forget_everything();
        }
        application.handle(&event);
        if !event.resume_token.is_empty() {
            application.save(&event.resume_token);
        }
    }
    Ok(())
}

async fn watch(client: &Client) -> Result<(), Error> {
    let empty = WatchdogCondition::EmptyFor(Duration::from_secs(600));
    client
        .watchdogs()
        .create(CreateWatchdog::new("lobby", empty, WatchdogAction::EndRoom))
        .await?;
    Ok(())
}

async fn react(client: &Client, application: &mut dyn Application) -> Result<(), Error> {
    match client.rooms().end(EndRoom::new("lobby")).await {
        Err(Error::Closed(_)) => {} // It has ended already.
        Err(Error::Precondition(failure)) if failure.reason == reason::NO_CREDIT => {
            application.top_up();
        }
        other => drop(other?),
    }
    Ok(())
}

/// Runs nothing: a service with this address does not exist.
fn main() {
    let _ = connect;
    let _ = (
        open_room,
        mint,
        list_participants,
        moderate,
        follow,
        watch,
        react,
    );
}
