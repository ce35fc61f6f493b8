"""A skill of 20 MB stops neither the event loop of a worker nor its heartbeat."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import partial
from pathlib import Path
from threading import Event, Thread

import pytest

from core.adapters.postgres.job_sweep import take_over
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.pool import open_pool
from core.app.program import App, open_app
from core.app.settings import load_settings
from core.domain.hashing import request_digest
from core.domain.models import (
    Agent,
    NewFeedback,
    Operation,
    ReceiptStatus,
    SkillFile,
    SkillRequest,
    SubmitContext,
)
from core.learning_committers.skill_folders import given_folder, prepared_change
from core.skills.bundle import bundle_to_zip, zip_to_bundle
from core.skills.references import find_references
from tests.support.databases import url_of
from tests.support.skills import World

NAME = "settle-orders"
DOCUMENT = f"---\nname: {NAME}\ndescription: settle orders from overseas\n---\n# Steps\n\n1. look\n"
LINES = 20 * "look at the order, and ask the customer\n" + "see references/page-1.md\n"


def request_of(megabytes: int) -> SkillRequest:
    """Return the request to bring in a skill of so many megabytes, in files of 50 kB."""
    page = (LINES * (50_000 // len(LINES))).encode()
    pages = {f"references/page-{n}.md": SkillFile(data=page) for n in range(20 * megabytes)}
    files = {"SKILL.md": SkillFile(data=DOCUMENT.encode()), **pages}
    return SkillRequest(operation=Operation.CREATE, target_id=NAME, folder=files, reason="import")


class Stretches:
    """The longest that the event loop worked without a pause, in seconds of its thread's time.

    What other processes do meanwhile does not count, nor what other threads do.
    """

    longest = 0.0

    @asynccontextmanager
    async def measured(self) -> AsyncIterator[None]:
        async def tick() -> None:
            last = time.thread_time()
            while True:
                await asyncio.sleep(0.001)
                now = time.thread_time()
                self.longest, last = max(self.longest, now - last), now

        task = asyncio.create_task(tick())
        await asyncio.sleep(0)
        try:
            yield
            await asyncio.sleep(0.002)  # what the block ended with counts
        finally:
            task.cancel()


def alone(request: SkillRequest) -> float:
    """Return how long this thread works on a skill: what it is read, hashed and checked with."""
    began = time.thread_time()
    request_digest(request)
    bundle = given_folder(request, None)
    find_references(bundle)
    prepared_change(Operation.CREATE, None, bundle)
    zip_to_bundle(bundle_to_zip(bundle, root=True), NAME)
    return time.thread_time() - began


async def test_reading_and_hashing_a_large_skill_leaves_the_event_loop_free() -> None:
    request = request_of(3)
    inline = alone(request)
    world, stretches = World(), Stretches()
    async with stretches.measured():
        receipt = await world.gate.submit(request, world.deps("k").context)
    assert receipt.status is ReceiptStatus.APPLIED
    assert stretches.longest < inline / 3


@pytest.mark.nightly
async def test_a_worker_keeps_its_lease_while_it_learns_into_a_skill_of_20_mb(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = request_of(20)
    inline = alone(request)
    silence = max(1.0, inline / 3)
    monkeypatch.setenv("DATABASE_URL", url_of(database))
    monkeypatch.setenv("SKILL_WORKER_HOME", str(tmp_path))
    settings = load_settings({"heartbeat_seconds": silence / 10, "stalled_after_seconds": silence})
    stretches = Stretches()
    async with open_app(settings, model=True, offline=True) as app, stretches.measured():
        await app.stores.agents.save(Agent(id="a", tenant_id="t", name="A", goal="settle"))
        context = SubmitContext(key="k", tenant_id="t", agent_id="a", feedback_content="")
        assert (await app.gate.submit(request, context)).status is ReceiptStatus.APPLIED
        await _learned(app, database, silence)
    assert stretches.longest < inline / 3


async def _learned(app: App, database: str, silence: float) -> None:
    """Have the worker edit the skill, while another thread takes over what has no sign of life."""
    text = f"{NAME} 스킬에서: always call the customer before a refund"
    piece = NewFeedback(content=text, agent_ids=("a",), tenant_id="t")
    ((feedback_id, _),) = await app.stores.inbox.add("test", [piece])
    ended = Event()
    taken_over = partial(asyncio.run, _taken_over(database, silence, ended.is_set))
    other = Thread(target=copy_context().run, args=(taken_over,))
    other.start()
    try:
        await app.run(True, 1, asyncio.Event(), lambda _: None)
    finally:
        ended.set()
        other.join()
    feedback = await app.stores.inbox.get(feedback_id)
    assert (feedback.status, feedback.attempts) == ("completed", 1)


async def _taken_over(database: str, silence: float, has_ended: Callable[[], bool]) -> None:
    async with open_pool(database, max_size=1) as pool:
        jobs = Jobs(pool)
        while not has_ended():
            await take_over(jobs, stalled_after=silence)
            await asyncio.sleep(silence / 20)
