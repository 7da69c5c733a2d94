"""The driver of the conformance suite for Python: it reads operations from standard input and prints what they do.

sdk/conformance/README.md has the protocol.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from unittest.mock import patch

from boxoffice import (
    AsyncBoxoffice,
    BoxofficeError,
    Secret,
    StatementRefused,
    WebhookRefused,
    verify_statement,
    verify_webhook,
)
from boxoffice.relay import (
    Admission,
    AdmissionRefused,
    Attempt,
    RevocationFeed,
    Revocations,
    TokenVerifier,
    check_revocations,
    hash_of,
    verify_revocations,
)
from boxoffice.relay.usage import AsyncUsageReporter, ParticipantUsage, UsageError

DURATIONS = {
    *("max_duration", "unused_for", "empty_for", "host_absent_for", "alone_for", "participant_max_duration"),
    *("unadmitted_for", "warn_before", "wait", "ttl", "lifetime", "overlap"),
}
TIMES = {"create_time_from", "create_time_before", "expire_time", "from", "to", "since"}

clients: dict[str, AsyncBoxoffice] = {}
running: dict[int, asyncio.Task[None]] = {}
waiting: dict[int, asyncio.Event] = {}


def put(**answer: object) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def from_suite(value: Any, name: str = "") -> Any:
    """A request of the suite, for this SDK."""
    if name in DURATIONS and isinstance(value, (int, float)):
        return timedelta(seconds=value)
    if name in TIMES and isinstance(value, str):
        return datetime.fromisoformat(value.replace("Z", "+00:00"))
    if isinstance(value, list):
        return [from_suite(each) for each in value]
    if isinstance(value, dict):
        return {"from_" if key == "from" else key: from_suite(each, key) for key, each in value.items()}
    return value


def to_suite(value: Any) -> Any:
    """An answer of this SDK, for the suite."""
    if isinstance(value, Secret):
        return value.reveal()
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, (list, tuple)):
        return [to_suite(each) for each in value]
    if isinstance(value, dict):
        return {key: to_suite(each) for key, each in value.items()}
    if is_dataclass(value):
        return {each.name.rstrip("_"): to_suite(getattr(value, each.name)) for each in fields(value)}
    return value


def found(client: str, method: str) -> Callable[..., Any]:
    """The method of this name, which is the same in this SDK."""
    owner: Any = clients[client]
    for name in method.split("."):
        owner = getattr(owner, name)
    return owner  # type: ignore[no-any-return]


def open_client(options: dict[str, Any]) -> AsyncBoxoffice:
    given: dict[str, Any] = {
        name: options[name] for name in ("url", "control_url", "api_key", "tenant", "retries") if name in options
    }
    for name in ("timeout", "attempt_timeout"):
        if f"{name}_ms" in options:
            given[name] = options[f"{name}_ms"] / 1000
    return AsyncBoxoffice(**given)


async def work(operation: dict[str, Any]) -> Any:
    id, client, method = operation["id"], operation.get("client", ""), operation.get("method", "")
    request, options = from_suite(operation.get("request", {})), operation.get("options", {})
    match operation["op"]:
        case "open":
            clients[client] = open_client(options)
        case "close":
            await clients.pop(client).close()
        case "call":
            limits = {"timeout": options["timeout_ms"] / 1000} if "timeout_ms" in options else {}
            keys = {"idempotency_key": options["idempotency_key"]} if "idempotency_key" in options else {}
            return to_suite(await found(client, method)(**request, **limits, **keys))
        case "pages":
            async for page in found(client, method)(**request).pages():
                waiting[id] = asyncio.Event()
                put(id=id, page=to_suite(page.items))
                await waiting[id].wait()
        case "watch":
            limits = {"silence": options["silent_ms"] / 1000} if "silent_ms" in options else {}
            async for event in found(client, method)(**request, **limits):
                put(id=id, event=to_suite(event))
        case "tasks":
            return {"count": len(asyncio.all_tasks())}
        case "report":
            return await report(**operation["request"])
        case "follow":
            await follow(id, **operation["request"])
        case "vectors":
            return await asyncio.to_thread(lambda: dict(tokens(read(operation), operation.get("jwks_url"))))
        case op if op in VECTORS:
            return VECTORS[op](await asyncio.to_thread(read, operation))
        case _:
            raise NotImplementedError
    return {}


def read(operation: dict[str, Any]) -> Any:
    return json.loads(Path(operation["file"]).read_text())


async def report(url: str, key: str, spool: str, records: list[Any], close_ms: int) -> dict[str, Any]:
    """What comes of records: they are stored at once, and sent for a while."""
    options: dict[str, Any] = {"url": url, "key": key, "spool": spool}
    async with await AsyncUsageReporter.open(relay_id="conformance", batch_seconds=0, **options) as reporter:
        storing = [asyncio.ensure_future(reporter.record(ParticipantUsage(**each))) for each in records]
        await asyncio.sleep(0)
        await reporter.sync()
        ids = [id for stored in await asyncio.gather(*storing) for id in stored]
        left = await reporter.close(seconds=close_ms / 1000)
        return {"ids": ids, "left": left, "admitted": word_of(reporter.admitted)}


def word_of(admitted: bool | None) -> str:
    return "unknown" if admitted is None else str(admitted).lower()


async def follow(id: int, relay_key: str, tenant: str, **options: Any) -> None:
    """Tell what the feed knows, whenever it has changed."""
    feed, before = RevocationFeed(tenants=[tenant], relay_key=lambda _: relay_key, **options), None
    try:
        while True:
            admitted, snapshot = feed.admitted(tenant), feed.get(tenant)
            lists = ("epochs", "bans", "mutes", "closed")
            known: dict[str, Any] = {name: len(getattr(snapshot, name)) if snapshot else 0 for name in lists}
            known["admitted"] = word_of(admitted)
            if known != before:
                put(id=id, event=known)
            before = known
            await asyncio.sleep(0.02)
    finally:
        await asyncio.to_thread(feed.close)


async def run(operation: dict[str, Any]) -> None:
    id = operation["id"]
    try:
        put(id=id, ok=await work(operation) or {})
    except asyncio.CancelledError:
        put(id=id, error={"kind": "Cancelled"})
    except BoxofficeError as error:
        put(id=id, error=described(error))
    except UsageError as error:
        put(id=id, error={"kind": "Usage", "code": error.code, "message": str(error)})
    except NotImplementedError:
        put(id=id, error={"kind": "Missing"})
    except Exception as error:
        put(id=id, error={"kind": "Crash", "message": repr(error)})
    finally:
        running.pop(id, None)
        waiting.pop(id, None)


def described(error: BoxofficeError) -> dict[str, Any]:
    after = {} if error.retry_after is None else {"retry_after_ms": error.retry_after * 1000}
    return {
        "kind": type(error).__name__,
        "code": error.code,
        "reason": error.reason,
        "fields": [each.field for each in error.fields],
        "metadata": error.metadata,
        "has_request_id": error.request_id is not None,
        "message": error.message,
        **after,
    }


def webhooks(file: Any) -> Iterator[tuple[str, Any]]:
    now = datetime.fromtimestamp(file["now"], timezone.utc)
    for vector in file["vectors"]:
        try:
            event = verify_webhook(vector["secrets"], vector["headers"], vector["body"], now=now)
            yield vector["name"], {"event": to_suite(event)}
        except WebhookRefused as error:
            yield vector["name"], {"code": error.code}
        except ValueError:
            yield vector["name"], {"code": "BAD_SECRET"}


def statements(file: Any) -> Iterator[tuple[str, Any]]:
    for vector in file["vectors"]:
        try:
            yield vector["name"], {"statement": to_suite(verify_statement(vector["jws"], file["keys"]))}
        except StatementRefused as error:
            yield vector["name"], {"code": error.code}


def tokens(file: Any, jwks_url: str | None) -> Iterator[tuple[str, str | None]]:
    for vector in file["vectors"]:
        try:
            admit(file, vector, jwks_url)
            yield vector["name"], None
        except AdmissionRefused as error:
            yield vector["name"], error.code


def admit(file: Any, vector: Any, jwks_url: str | None) -> None:
    served = file["served"]
    connection = {**file["connection"], **vector.get("connection", {})}
    reached = vector.get("reached_budgets", [])
    snapshot = snapshot_of(vector["revocations"]) if "revocations" in vector else None
    verifier = TokenVerifier(
        issuer=file["issuer"],
        audience=file["audience"],
        jwks=None if jwks_url else file["jwks"],
        jwks_url=jwks_url,
        tenants={served["tenant"]},
        rooms={served["room"]},
        current_room_uid=lambda tenant, room: str(served["room_uid"]),
        admitted=lambda tenant: bool(vector.get("admitted", True)),
        budget_reached=lambda tenant, budgets: any(each in reached for each in budgets),
        revocations=(lambda tenant: snapshot) if snapshot else None,
        clock=lambda: float(file["now"]),
    )
    if vector.get("challenge_issued") is not False:
        text = connection["challenge"]
        # The verifier would draw it at random.
        with patch("secrets.token_bytes", return_value=base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))):
            verifier.challenge()
    attempt = Attempt(token=vector.get("token"), proof=vector.get("proof"), **connection)
    if "renews" in vector:
        renewed = vector["renews"]
        verifier.renew(subject_of({**renewed, "user": renewed["username"]}), attempt)
    else:
        verifier.verify(attempt)


def snapshot_of(claims: Any) -> Revocations:
    return Revocations(**{each.name: claims[each.name] for each in fields(Revocations) if each.name in claims})


def subject_of(given: Any) -> Admission:
    nothing = datetime.fromtimestamp(0, timezone.utc)
    return Admission(
        tenant=given["tenant"],
        username=given["user"],
        room="",
        room_uid=given["room_uid"],
        role="host",
        capabilities=[],
        rank=0,
        epoch=given.get("epoch", 0),
        device_thumbprint=given["device"],
        issued_at=nothing,
        expires_at=nothing,
        token_id="",
        minted_by=given.get("key", ""),
        budgets=[],
        range_salt=given.get("salt", ""),
        e2ee_required=False,
        mute_on_entry=False,
        muted=[],
    )


def revocations(file: Any) -> dict[str, Any]:
    snapshot = verify_revocations(
        file["jws"],
        issuer=file["issuer"],
        audience=file["audience"],
        tenant=file["claims"]["tid"],
        jwks=file["jwks"],
        clock=lambda: float(file["now"]),
    )
    checks: dict[str, Any] = {}
    for each in file["checks"]:
        subject, now = subject_of(each["subject"]), each.get("now", file["now"])
        try:
            muted = check_revocations(snapshot, subject, now=now, address=each["subject"].get("address"))
            checks[each["name"]] = {"code": None, "muted": muted}
        except AdmissionRefused as error:
            checks[each["name"]] = {"code": error.code, "reason": error.reason}
    hashes = [hash_of(*each["of"]) for each in file["hashes"]]
    return {"hashes": hashes, "claims": to_suite(snapshot), "checks": checks}


VECTORS: dict[str, Callable[[Any], Any]] = {
    "revocation_vectors": revocations,
    "webhook_vectors": lambda file: dict(webhooks(file)),
    "statement_vectors": lambda file: dict(statements(file)),
}


async def main() -> None:
    reader = asyncio.StreamReader(limit=2**26)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        operation = json.loads(line)
        target = operation.get("target")
        if operation["op"] == "cancel":
            if target in running:
                running[target].cancel()
        elif operation["op"] == "next":
            if target in waiting:
                waiting[target].set()
        else:
            running[operation["id"]] = asyncio.create_task(run(operation))
    ending: list[Awaitable[None]] = [client.close() for client in clients.values()]
    for task in running.values():
        task.cancel()
    await asyncio.wait_for(asyncio.gather(*running.values(), *ending, return_exceptions=True), 1)
    # What still runs has its time limits, for which the suite does not wait.
    os._exit(0)


asyncio.run(main())
