"""Reporters for tests: a folder, and a service that charges, whose answers may fail."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx
from relays import now
from relays import run as run_work

from boxoffice.relay.usage import ParticipantUsage, UsageEvent
from boxoffice.relay.usage.core import Core, ReporterOptions
from boxoffice.relay.usage.segment import parse_segment

KEY = "svc_0123456789abcdef_relay"


_opened: list[Core] = []


def run(test: Coroutine[Any, Any, None]) -> None:
    """Run a test that takes no time, and close its reporters."""

    async def close_after() -> None:
        try:
            await test
        finally:
            open_ones = [each for each in _opened if not each._http.is_closed]
            _opened.clear()
            await asyncio.gather(*(each.close(0) for each in open_ones), return_exceptions=True)

    run_work(close_after())


class Charging(httpx.AsyncBaseTransport):
    """`POST /v1/usage` as a reporter sees it. Each fault applies to one request, in order."""

    def __init__(self, *faults: Any) -> None:
        self.faults = list(faults)
        self.charged: dict[str, Any] = {}
        self.conflicts: list[str] = []
        self.requests: list[list[Any]] = []
        self.keys: list[str] = []
        self.times: list[float] = []
        self.admitted = True
        self.is_bad: Callable[[Any], bool] = lambda record: False
        self.accepts: Callable[[str], bool] = lambda key: True

    @property
    def batches(self) -> list[list[Any]]:
        """Requests that have records."""
        return [each for each in self.requests if each]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        assert (request.method, str(request.url)) == ("POST", "https://billing.test/v1/usage")
        records = json.loads(request.content)["records"]
        key = request.headers["authorization"].removeprefix("Bearer ")
        self.requests.append(records)
        self.keys.append(key)
        self.times.append(now())
        fault = self.faults.pop(0) if self.faults else None
        if fault == "refuse":
            raise httpx.ConnectError("away")
        if fault == "hang":
            await asyncio.Event().wait()
        if isinstance(fault, httpx.Response):
            return fault
        if not self.accepts(key):
            return httpx.Response(401, json={"error": "invalid api key"})
        answer = self._charge(records)
        if fault == "lose":
            raise httpx.ReadError("lost")
        return httpx.Response(200, text=answer.text[: len(answer.text) // 2]) if fault == "cut" else answer

    def _charge(self, records: list[Any]) -> httpx.Response:
        if any(self.is_bad(each) for each in records):
            return httpx.Response(400, json={"error": "invalid request: records/0/role"})
        fresh = [each for each in records if each["id"] not in self.charged]
        self.conflicts += [each["id"] for each in records if self.charged.get(each["id"], each) != each]
        self.charged.update((each["id"], each) for each in fresh)
        counts = {"charged": len(fresh), "duplicates": len(records) - len(fresh), "unbilled": 0}
        return httpx.Response(200, json={**counts, "admitted": self.admitted})


class Bench:
    """A folder, a service, and the events of reporters."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.service = Charging()
        self.events: list[UsageEvent] = []

    async def open(self, **options: Any) -> Core:
        given = {
            "url": "https://billing.test",
            "key": KEY,
            "spool": self.folder,
            "relay_id": "relay-7",
            "on_event": self.events.append,
            "transport": self.service,
            **options,
        }
        core = await Core.open(ReporterOptions(**given))
        _opened.append(core)
        return core

    def of(self, kind: type[UsageEvent]) -> list[Any]:
        return [each for each in self.events if isinstance(each, kind)]

    def crash(self) -> Bench:
        """What the disk holds at this moment, for the next start. The service is the same."""
        number = len(list(self.folder.parent.iterdir()))
        after = Bench(self.folder.parent / f"after-{number}")
        shutil.copytree(self.folder, after.folder, ignore=lambda _, names: [n for n in names if n.startswith("lock.")])
        after.service = self.service
        return after

    @property
    def files(self) -> list[str]:
        return sorted(each for each in os.listdir(self.folder) if not each.startswith("lock."))

    def read(self, name: str) -> list[Any]:
        return [json.loads(each) for each in parse_segment((self.folder / name).read_bytes()).lines]


def usage(**fields: Any) -> ParticipantUsage:
    usual = {"role": "host", "tier": "hd", "seconds": 60, "egress_bytes": 50_000_000, "ingress_bytes": 1_000_000}
    return ParticipantUsage(**{**usual, **fields})


async def store(core: Core, *usages: ParticipantUsage) -> list[str]:
    """Store usage at once."""
    records = [core.render(each) for each in usages]
    storing = [asyncio.ensure_future(core.append(each.values())) for each in records]
    await asyncio.sleep(0)
    await core.sync()
    await asyncio.gather(*storing)
    return [id for each in records for id in each]
