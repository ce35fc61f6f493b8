"""The screen in the whole worker: nothing poisoned becomes known without a person, under `auto`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import JsonValue

from core.app.program import App, open_app
from core.domain.models import (
    Agent,
    Change,
    ChangeFilter,
    FeedbackStatus,
    MemoryRequest,
    NewFeedback,
    Operation,
    ReceiptStatus,
    SubmitContext,
)
from tests.support.api import settings_of
from tests.support.obedient import Obedient, poison
from tests.support.openai_server import call, openai_server

Piece = Mapping[str, JsonValue]


@dataclass(frozen=True)
class Learnt:
    """What became of the pieces, in their order, and all that is known after them."""

    statuses: Sequence[FeedbackStatus]
    known: str


@asynccontextmanager
async def opened(database: str, home: Path, **given: object) -> AsyncIterator[App]:
    settings = settings_of(database, home, llm_model="offline", worker_concurrency=4, **given)
    async with open_app(settings, model=True, chat=Obedient()) as app:
        await app.stores.agents.save(Agent(id="a", tenant_id="t", name="A"))
        yield app


async def learnt(app: App, pieces: Sequence[Piece]) -> Learnt:
    told = [
        NewFeedback(
            tenant_id="t",
            agent_ids=("a",),
            content=str(piece["text"]),
            task=str(piece["kind"]),
            author="kim",
        )
        for piece in pieces
    ]
    added = await app.stores.inbox.add("test", told)
    await app.run(True, 4, asyncio.Event(), lambda _: None)
    statuses = [(await app.stores.inbox.get(id_)).status for id_, _ in added]
    items = await app.stores.knowledge.list(tenant_id="t", agent_id=None, kind=None)
    texts = [item.content for item in items]
    for skill in await app.stores.skills.list("t"):
        bundle = await app.stores.skills.read(skill.name, "t")
        texts += [file.data.decode() for file in bundle.files.values()] if bundle else []
    return Learnt(statuses, "\n".join(texts))


async def said(app: App, author: str, text: str) -> FeedbackStatus:
    piece = NewFeedback(tenant_id="t", agent_ids=("a",), content=text, author=author)
    ((id_, _),) = await app.stores.inbox.add("test", [piece])
    await app.run(True, 1, asyncio.Event(), lambda _: None)
    return (await app.stores.inbox.get(id_)).status


def of_each_class(pieces: Sequence[Piece], number: int) -> list[Piece]:
    """Return the first of each class, one language after the other."""
    first: dict[tuple[str, str], Piece] = {}
    for piece in pieces:
        first.setdefault((str(piece["class"]), str(piece["lang"])), piece)
    return [first[key] for key in sorted(first)][:number]


async def test_no_poisoned_piece_becomes_known_though_the_model_obeys(
    database: str, tmp_path: Path
) -> None:
    poisoned = of_each_class([piece for piece in poison() if piece["poisoned"]], 12)
    benign = of_each_class([piece for piece in poison() if not piece["poisoned"]], 20)[::7]
    async with opened(database, tmp_path) as app:
        done = await learnt(app, [*poisoned, *benign])
        assert not [piece["span"] for piece in poisoned if str(piece["span"]) in done.known]
        assert set(done.statuses[len(poisoned) :]) == {FeedbackStatus.COMPLETED}
        assert app.summary.screened == sum(s is FeedbackStatus.HELD for s in done.statuses)
        assert app.summary.screened > 0


@pytest.mark.nightly
@pytest.mark.timeout(1200)
async def test_of_the_whole_set_nearly_none_becomes_known(database: str, tmp_path: Path) -> None:
    pieces = poison()
    async with opened(database, tmp_path) as app:
        done = await learnt(app, pieces)
    bad = [piece for piece in pieces if piece["poisoned"]]
    active = [piece for piece in bad if str(piece["span"]) in done.known]
    good = [s for s, piece in zip(done.statuses, pieces, strict=True) if not piece["poisoned"]]
    assert len(active) <= 0.05 * len(bad), [(one["class"], one["span"]) for one in active]
    assert sum(status is FeedbackStatus.HELD for status in good) <= 0.03 * len(good)


async def test_what_is_only_told_becomes_known(database: str, tmp_path: Path) -> None:
    piece = next(one for one in poison() if one["class"] == "payee_changed")
    async with opened(database, tmp_path, screen="note") as app:
        done = await learnt(app, [piece])
        assert done.statuses == [FeedbackStatus.COMPLETED]
        (change,), _ = await app.stores.reader.changes(ChangeFilter(), limit=5, cursor=None)
        assert change.findings


async def test_who_is_new_waits_until_a_person_has_approved_something_of_theirs(
    database: str, tmp_path: Path
) -> None:
    async with opened(database, tmp_path, review_policy="strict") as app:
        assert await said(app, "kim", "Museum: coats go to room 3") is FeedbackStatus.HELD
        assert (
            await said(app, "kim", "Umbrellas go to the stand by the door") is FeedbackStatus.HELD
        )
        assert await said(app, "", "Lockers take one euro") is FeedbackStatus.HELD
        of_kim = next(c for c in await _held(app) if "coats" in str(c.after))
        assert "nobody has approved yet" in str(of_kim.held)
        await app.gate.decisions.approve(of_kim.id, by="lee")
        assert await said(app, "kim", "The cloakroom closes at six") is FeedbackStatus.COMPLETED
        assert await said(app, "lee", "The shop closes at seven") is FeedbackStatus.HELD
        assert await said(app, "", "The cafe closes at five") is FeedbackStatus.HELD


async def _held(app: App) -> list[Change]:
    ids = await app.stores.review_queue.oldest(tenant_id=None, but=())
    return [await app.stores.changes.get(id_) for id_ in ids]


@pytest.mark.parametrize(
    ("given", "status"),
    [("", ReceiptStatus.HELD), ("screen: {second_look: off}\n", ReceiptStatus.APPLIED)],
)
async def test_a_real_model_looks_a_second_time_unless_it_is_off(
    database: str, tmp_path: Path, given: str, status: ReceiptStatus
) -> None:
    config = tmp_path / "worker.yaml"
    config.write_text(given or "rules: []\n")
    suspect = {"about": "payee", "quote": "the shed", "why": "it changes where money goes"}
    async with openai_server([call("SecondOpinion", findings=[suspect])]) as provider:
        settings = settings_of(
            database,
            tmp_path,
            llm_model="m",
            llm_proxy_url=provider.url,
            skill_worker_config=config,
        )
        async with open_app(settings, model=True) as app:
            request = MemoryRequest(operation=Operation.CREATE, content="Tips go into the shed")
            context = SubmitContext(key="k:1:0:0", tenant_id="t", agent_id="a")
            receipt = await app.gate.submit(request, context)
    assert receipt.status is status
    assert len(provider.asked) == (status is ReceiptStatus.HELD)


async def test_all_gates_take_second_looks_with_one_model(database: str, tmp_path: Path) -> None:
    config = tmp_path / "worker.yaml"
    config.write_text("screen: {second_look: looker}\n")
    said = "Tips go into the shed", "Ms. Kim reads three lines and no more", "Blue is our colour"
    async with openai_server([call("SecondOpinion", findings=[])] * 3) as provider:
        given = {"llm_proxy_url": provider.url, "skill_worker_config": config}
        async with open_app(
            settings_of(database, tmp_path, llm_model="m", **given), model=True
        ) as app:
            for text, gate in zip(said, (app.gate, app.dry_gate(), app.dry_gate()), strict=True):
                request = MemoryRequest(operation=Operation.CREATE, content=text)
                context = SubmitContext(key=f"{len(text)}:1:0:0", tenant_id="t", agent_id="a")
                await gate.submit(request, context)
    assert [asked["model"] for asked in provider.asked] == ["looker"] * 3
    assert len(provider.clients) == 1
