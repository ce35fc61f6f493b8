"""A process that answers with what it has noted, until it is told to stop.

With the arguments DATABASE_URL HOME it prints the number of uses so far after each.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

from core.app.program import open_app
from tests.support.api import settings_of
from tests.support.effect import use


async def main(database: str, home: Path) -> None:
    """Note uses until SIGTERM."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with open_app(settings_of(database, home)) as app:
        number = 0
        while not stop.is_set():
            number += 1
            app.uses.note([use(f"m{number % 700}", datetime.now(UTC))])
            print(number, flush=True)
            await asyncio.sleep(0)


def run() -> None:
    """Be that process."""
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
