"""Whatever comes in when, and whoever takes it: the outcome is that of the order of saying."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from core.app.program import App, open_app
from core.app.settings import Settings, load_settings
from core.decision_table import parse_xml
from core.domain.models import Agent, FeedbackFilter, FeedbackStatus, Kind
from tests.support.said_streams import TENANT, Obedient, Said, State, outcome, stream

AGENTS = "abcdefgh"
PIECES = 60
IN_CI = range(1, 11)  # all others run at night


@pytest.fixture
def settings(database: str, tmp_path: Path) -> Settings:
    given: dict[str, str | float | Path] = {
        "skill_worker_home": tmp_path,
        "llm_model": "offline",
        "retry_base_seconds": 0.05,
        "log_level": "error",
        "skill_worker_config": tmp_path / "rules.yaml",
    }
    # A text in the place of several waits for a person where cases decide: that is not asked here.
    (tmp_path / "rules.yaml").write_text("cases:\n  gate: off\n", "utf-8")
    return load_settings(given, env_file=None).model_copy(
        update={"database_url": SecretStr(database)}
    )


@asynccontextmanager
async def workers(settings: Settings, number: int, model: Obedient) -> AsyncIterator[list[App]]:
    async with AsyncExitStack() as stack:
        apps = [
            await stack.enter_async_context(open_app(settings, model=True, chat=model))
            for _ in range(number)
        ]
        for agent in AGENTS:
            await apps[0].stores.agents.save(Agent(id=agent, tenant_id=TENANT, name=agent))
        yield apps


async def taken(apps: list[App], batches: Sequence[Sequence[Said]], concurrency: int) -> None:
    """Let all workers take batch after batch; each is done before the next comes in."""
    for batch in batches:
        await apps[0].stores.inbox.add("test", [said.piece for said in batch])
        stop = asyncio.Event()
        await asyncio.gather(*(app.run(True, concurrency, stop, lambda _: None) for app in apps))
    counts = await apps[0].stores.reader.counts()
    assert set(counts) <= {FeedbackStatus.COMPLETED, FeedbackStatus.NO_ACTION}, await failed(
        apps[0]
    )


async def failed(app: App) -> list[str]:
    """Return why pieces failed."""
    found, _ = await app.stores.reader.feedback(FeedbackFilter(), limit=200, cursor=None)
    return [f"{one.content}: {one.error}" for one in found if one.status is FeedbackStatus.FAILED]


async def state(app: App) -> State:
    """Return what is known, by the names of the targets."""
    found: State = {}
    for item in await app.stores.knowledge.list(tenant_id=TENANT, agent_id=None, kind=None):
        if item.kind is Kind.DMN_RULE:
            rows = parse_xml(item.content).rows
            cells = [(row.inputs[0], row.outputs[0]) for row in rows]
            lines = sorted(f"{case}={does}".replace('"', "") for case, does in cells)
            name = item.name
        else:
            lines, name = item.content.split("\n"), item.content.split(" ")[0]
        found.setdefault(name, []).extend(lines)
    return found


def batches(rng: random.Random, pieces: Sequence[Said]) -> list[list[Said]]:
    """Return pieces as they come in: roughly in their order, some much too late."""
    late = {
        piece.number: piece.number and piece.number + rng.choice([0, 0, 0, 2, 5, 15, 40])
        for piece in pieces
    }
    arrived = sorted(pieces, key=lambda piece: (late[piece.number], rng.random()))
    cuts = sorted(rng.sample(range(1, len(arrived)), 3))
    return [arrived[a:b] for a, b in zip([0, *cuts], [*cuts, len(arrived)], strict=True)]


@pytest.mark.nightly
async def test_one_worker_that_takes_them_in_said_order_is_the_measure(settings: Settings) -> None:
    pieces = stream(random.Random(0), PIECES // 3)
    async with workers(settings, 1, Obedient()) as apps:
        await taken(apps, [pieces], 1)
        assert await state(apps[0]) == outcome(pieces)


# What is said of a memory, one after another, and in which order it comes in.
LATE = [
    (["set v1", "add x2"], [[1], [0]]),
    (["set v1", "add x2", "add x3"], [[1, 2], [0]]),
    (["add x1", "set v2"], [[1], [0]]),
    (["add x1", "set v2", "add x3"], [[2], [1], [0]]),
    (["set v1", "set v2", "add x3"], [[2], [0], [1]]),
    (["add x1", "add x2", "drop", "add x4"], [[0, 2], [3], [1]]),
    (["set v1", "add x2", "drop", "set v4"], [[0, 2], [3], [1]]),
    (["set v1", "add x2", "drop", "add x4"], [[3], [0], [1], [2]]),
]


async def test_a_late_word_finds_its_place_beside_what_was_made_later(settings: Settings) -> None:
    asked = [
        [_said(2 * at, AGENTS[n], f"N{n}", op) for at, op in enumerate(ops, 1)]
        for n, (ops, _) in enumerate(LATE)
    ]
    came = [
        [asked[n][at] for n, (_, order) in enumerate(LATE) for at in [*order, [], []][number]]
        for number in range(4)
    ]
    async with workers(settings, 1, Obedient()) as apps:
        await taken(apps, [batch for batch in came if batch], 1)
        found = await state(apps[0])
    assert found == outcome([said for pieces in asked for said in pieces])


def _said(number: int, agent: str, name: str, op: str) -> Said:
    how, _, value = op.partition(" ")
    return Said(number, agent, "note", name, how, "", value)


@pytest.mark.parametrize(("value", "known"), [("v1", {"N1": ["N1 set v1"]}), ("v2", {})])
async def test_what_is_retracted_bars_its_own_words_only(
    settings: Settings, value: str, known: State
) -> None:
    retracted, late = _said(4, "a", "N1", "set v2"), _said(2, "a", "N1", f"set {value}")
    async with workers(settings, 1, Obedient()) as apps:
        await taken(apps, [[retracted]], 1)
        ((known_id, _),) = await apps[0].stores.inbox.add("test", [retracted.piece])
        piece = await apps[0].stores.inbox.get(known_id)
        (effect,) = (await apps[0].retractor.retract(piece, by="kim")).effects
        assert effect.receipt is not None
        assert effect.receipt.said_at is not None  # what a person does is said when it is done
        await taken(apps, [[late]], 1)
        assert await state(apps[0]) == known


@pytest.mark.parametrize(
    "seed",
    [pytest.param(n, marks=() if n in IN_CI else pytest.mark.nightly) for n in range(500)],
)
async def test_the_last_word_said_wins_in_whatever_order_it_comes(
    settings: Settings, seed: int
) -> None:
    rng = random.Random(seed)
    pieces = stream(rng, PIECES)
    model = Obedient(seed=seed, fails=rng.choice([0.0, 0.03, 0.06]))
    came_in = batches(rng, pieces)
    # What was said at once counts in the order of intake.
    in_order = sorted((said for batch in came_in for said in batch), key=lambda said: said.said_at)
    async with workers(settings, rng.randint(1, 4), model) as apps:
        await taken(apps, came_in, rng.choice([1, 2, 4]))
        assert await state(apps[0]) == outcome(in_order)
    assert bool(model.failed) is bool(model.fails)  # pieces were retried, or none had to be
