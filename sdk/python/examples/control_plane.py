"""The examples of docs/control-plane.md: a test compares them."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

from boxoffice import Boxoffice, BoxofficeError, Closed, Secret, types


class Application(Protocol):
    """What an application does with events."""

    def forget_everything(self) -> None: ...
    def handle(self, event: types.Event) -> None: ...
    def save(self, resume_token: str) -> None: ...
    def top_up(self) -> None: ...


def connect(api_key: Secret) -> Boxoffice:
    client = Boxoffice(
        url="https://boxoffice.example",
        control_url="https://control.example:443",
        api_key=api_key,
    )
    return client


def open_room(client: Boxoffice) -> None:
    client.rooms.create(room="lobby", policy={"max_participants": 50})
    client.rooms.update_policy(room="lobby", policy={"locked": True})


def mint(client: Boxoffice, device_thumbprint: str) -> str:
    minted = client.tokens.mint(
        room="lobby",
        username="Ann",
        device_thumbprint=device_thumbprint,
        role="host",
    )
    return minted.token.reveal()


def list_participants(client: Boxoffice) -> list[str]:
    names = []
    for participant in client.participants.list(room="lobby"):
        names.append(participant.username)
    return names


def moderate(client: Boxoffice, device_thumbprint: str) -> None:
    client.moderation.kick(
        room="lobby",
        username="bob",
        reason="noise",
        actor={"username": "ann", "device_thumbprint": device_thumbprint},
    )
    client.moderation.ban(room="lobby", username="bob", ttl=timedelta(hours=1))


def follow(client: Boxoffice, application: Application, resume_token: str) -> None:
    for event in client.rooms.watch(resume_token=resume_token):
        if event.type == "reset":
            application.forget_everything()
        application.handle(event)
        if event.resume_token:
            application.save(event.resume_token)


def watch(client: Boxoffice) -> None:
    client.watchdogs.create(room="lobby", empty_for=timedelta(minutes=10), action="end_room")


def react(client: Boxoffice, application: Application) -> None:
    try:
        client.rooms.end(room="lobby")
    except Closed:
        pass  # It has ended already.
    except BoxofficeError as error:
        if error.reason != "NO_CREDIT":
            raise
        application.top_up()
