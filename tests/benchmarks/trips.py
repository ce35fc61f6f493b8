"""Round trips to PostgreSQL per piece of feedback, and what they are for."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from langchain_core.messages import AIMessage, BaseMessage
from pydantic import Field

from core.adapters.embedded.postgres import WORKER, embedded_postgres
from core.adapters.postgres.migrations import migrate
from core.app.observability import configure_logging
from core.app.program import open_app
from core.domain.models import Agent
from core.react_tools import react_tool_schemas
from tests.benchmarks.fleet_worker import working
from tests.benchmarks.table import Figure
from tests.benchmarks.wire import PORT, Trips, relay
from tests.benchmarks.world import AGENT, TENANT, TwoTurnModel, pieces, settings

COUNT = 200
WARM_UP = 40
MOST = 32
CONCURRENCY = 1  # so that a trip waits for nothing but PostgreSQL


@dataclass(frozen=True)
class Counted:
    """Round trips per piece, milliseconds per trip, and the trips by purpose.

    `prompt_chars` are the characters of one model call, tools included.
    """

    number: float
    each_ms: float
    trips: Trips
    prompt_chars: float


class CountingModel(TwoTurnModel):
    """Counts the characters of its input."""

    read: list[int] = Field(default_factory=list)

    def answer(self, messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
        self.read.append(sum(len(message.text) for message in messages))
        return super().answer(messages, tools)


async def measure() -> list[Figure]:
    """Measure the round trips alone."""
    return figures(await count())


async def count() -> Counted:
    """Run one process with a zero-time model; all its connections go through a relay."""
    configure_logging("error", "console")
    trips, chat = Trips(), CountingModel()
    await _run(trips, chat)
    del trips.number["listen"]  # it waits for notifications, however long
    number = sum(trips.number.values())
    waited = sum(trips.seconds[label] for label in trips.number)
    read = sum(chat.read) / len(chat.read) + len(json.dumps(react_tool_schemas()))
    return Counted(number / COUNT, waited / number * 1000, trips, read)


def figures(counted: Counted) -> list[Figure]:
    """Return the rows of the table; each statement's trips go to stderr."""
    _print_blocks(counted.trips)
    return [
        Figure(
            "round trips to PostgreSQL per feedback",
            f"{counted.number:.1f}, {counted.each_ms:.2f} ms each",
            _by_file(counted.trips),
            counted.number,
            at_most=MOST,
        )
    ]


async def _run(trips: Trips, chat: CountingModel) -> None:
    with tempfile.TemporaryDirectory(prefix="skill-worker-bench-") as path:
        home = Path(path)
        with embedded_postgres(home) as uri:
            await migrate(uri, worker=WORKER)
            async with relay(_socket(uri), home, trips) as relayed:
                own = settings(home, database_url=relayed)
                async with open_app(own, model=True, chat=chat) as app:
                    await app.stores.agents.save(Agent(id=AGENT, tenant_id=TENANT, name="Bench"))
                    async with open_app(settings(home)) as watch, working(app, CONCURRENCY):
                        for count, start in ((WARM_UP, 0), (COUNT, WARM_UP)):
                            trips.clear()
                            await watch.stores.inbox.add("bench", pieces(count, start))
                            while (await watch.stores.reader.counts()).get(
                                "completed", 0
                            ) < start + count:
                                await asyncio.sleep(0.05)
                        kept = Trips(trips.number.copy(), dict(trips.seconds))
                    trips.number, trips.seconds = kept.number, kept.seconds


def _socket(uri: str) -> Path:
    (folder,) = parse_qs(urlsplit(uri).query)["host"]
    return Path(unquote(folder)) / f".s.PGSQL.{PORT}"


def _by_file(trips: Trips) -> str:
    files: Counter[str] = Counter()
    for label, number in trips.number.items():
        files[label.split(".")[0]] += number
    return ", ".join(f"{name} {number / COUNT:.1f}" for name, number in files.most_common())


def _print_blocks(trips: Trips) -> None:
    for label, number in trips.number.most_common():
        each = trips.seconds[label] / number * 1000
        print(f"{number / COUNT:7.2f} × {each:6.2f} ms  {label}", file=sys.stderr)
