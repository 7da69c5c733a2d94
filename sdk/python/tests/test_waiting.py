"""What ends a wait."""

from __future__ import annotations

import asyncio

import pytest

from boxoffice import Unavailable
from boxoffice._async.io import in_time


def test_a_call_that_is_cancelled_while_it_fails_is_cancelled() -> None:
    async def cancel_while_it_fails() -> None:
        failing: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def work() -> None:
            await failing

        waiting = asyncio.create_task(in_time(work(), 60))
        await asyncio.sleep(0.01)
        failing.set_exception(Unavailable("away"))
        # The work has failed, and the wait has not heard of it.
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(cancel_while_it_fails())
