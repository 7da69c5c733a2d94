"""A relay in a process of its own, for tests that kill it: `run_reporter.py <spool> <url> <name> <seed>`.

It records until it is killed and prints what was acknowledged, a line each: id, seconds, bytes out, bytes in. The name `drain`
records nothing: it sends the rest and prints how many records remain.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys

from boxoffice.relay import background
from boxoffice.relay.usage import AsyncUsageReporter, ParticipantUsage


async def main(spool: str, url: str, name: str, seed: str) -> None:
    # Almost no backoff: retries are immediate.
    background._FIRST_WAIT = 0.005
    reporter = await AsyncUsageReporter.open(
        url=url, key="relay-key", spool=spool, relay_id="relay-7", batch_records=40, batch_seconds=0.03
    )
    print("open", flush=True)
    if name == "drain":
        print(await reporter.close(seconds=60), flush=True)
        return

    async def record(count: int) -> None:
        seconds, egress, ingress = (luck.randrange(most) for most in (60, 10**9, 10**6))
        usage = ParticipantUsage(
            room="main",
            participant=f"{name}-{count}",
            role="audience",
            tier="hd",
            seconds=seconds,
            egress_bytes=egress,
            ingress_bytes=ingress,
        )
        [id] = await reporter.record(usage)
        # In one piece, whatever the interpreter is told about buffers: a kill in the middle would leave half a line.
        os.write(1, f"{id} {seconds} {egress} {ingress}\n".encode())

    luck, count = random.Random(seed), 0
    storing: set[asyncio.Task[None]] = set()
    while True:
        task = asyncio.ensure_future(record(count))
        storing.add(task)
        task.add_done_callback(storing.discard)
        count += 1
        await (task if luck.random() < 0.05 else asyncio.sleep(0))


asyncio.run(main(*sys.argv[1:]))
