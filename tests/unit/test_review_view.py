"""All that a reviewer considers about one change, and what could not be looked up of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import SimpleNamespace

import pytest

from core.changes.gate.siblings import Relation, Relative
from core.domain.errors import DatabaseDown, SourceDown
from core.domain.models import Change, ChangeCost, ChangeStatus, FeedbackStatus, Kind, Snapshot
from core.domain.models.review import Cause, OpenedChange, QueuePosition
from core.entrypoints.service.review_view.view import (
    MOST_BESIDE,
    Neighbours,
    ReviewView,
    make_review_view,
)
from core.testing.changes import MemoryChangeLog
from core.testing.knowledge import MemoryKnowledge
from tests.contracts.suites.change_log import memory_change
from tests.support.knowledge_search import KnowledgeSearch
from tests.support.react import item_change
from tests.support.sessions import Asked, app_of

HELD, STALE, APPLIED = ChangeStatus.HELD, ChangeStatus.STALE, ChangeStatus.APPLIED
TEXT = "Ms. Kim wants amounts in KRW"


def change(status: ChangeStatus = HELD, **given: object) -> Change:
    made = memory_change("c1", "before", TEXT)
    return made.model_copy(update={"status": status, "tenant_id": "t1", "agent_id": "a1", **given})


class World:
    """What the parts of a review view answer; an error is raised instead."""

    def __init__(self) -> None:
        self.knowledge = MemoryKnowledge()
        self.knowledge.write(item_change(Kind.MEMORY, "like", "like", f"{TEXT} always"))
        self.log = MemoryChangeLog(self.knowledge)
        self.findings = Asked(of=())
        self.decisions = Asked(has_moved=False, beside=[])
        self.near: Callable[..., Awaitable[object]] = KnowledgeSearch(self.knowledge).near

    async def view(self, one: Change, following: str | None = None, **given: object) -> ReviewView:
        decisions = SimpleNamespace(
            findings=self.findings,
            has_moved=self.decisions.has_moved,
            beside=self.decisions.beside,
        )
        stores = {"search": SimpleNamespace(near=self.near), "changes": self.log}
        app = app_of(stores, gate=SimpleNamespace(decisions=decisions))
        opened = OpenedChange.model_validate({"change": one, **given})
        return await make_review_view(opened, following, app)


async def test_a_change_is_shown_with_all_that_belongs_to_it() -> None:
    world = World()
    other = change(id="c2")
    world.decisions.answers["beside"] = [Relative(other, Relation.TOUCHES, "both")] * 25
    cause = Cause(id="f1", content="said", source="s", status=FeedbackStatus.HELD)
    position = QueuePosition(waiting=3, position=2, previous="c0", following=("c9",))
    view = await world.view(
        change(), "c3", cause=cause, queue_position=position, cost=ChangeCost(shared_by=2),
        undone_by="c8",
    )  # fmt: skip
    assert (view.change.id, view.cause, view.matched) == ("c1", cause, None)
    assert [hit.id for hit in view.similar] == ["like"]
    assert (view.moved, view.undone_by, view.cost.shared_by) == (False, "c8", 2)
    assert view.neighbours == Neighbours(previous="c0", next="c3", position=2, waiting=3)
    assert ([one.change.id for one in view.beside], len(view.beside)) == (
        ["c2"] * MOST_BESIDE, MOST_BESIDE
    )  # fmt: skip
    assert (view.opposite, view.edits, view.problems) == (None, None, ())
    assert [file.path for file in view.diff.files] == ["memory.txt"]
    assert world.findings.calls == [("of", (change(),), {})]


@pytest.mark.parametrize(
    ("status", "moves", "moved", "looks_beside"),
    [
        (HELD, True, True, True),
        (HELD, False, False, True),
        (STALE, False, True, True),
        (APPLIED, True, False, False),
    ],
)
async def test_only_what_waits_is_looked_at_for_what_has_moved(
    status: ChangeStatus, moves: bool, moved: bool, looks_beside: bool
) -> None:
    world = World()
    world.decisions.answers |= {"has_moved": moves}
    view = await world.view(change(status))
    assert view.moved is moved
    asked = {name for name, *_ in world.decisions.calls}
    assert ("beside" in asked) == looks_beside
    assert ("has_moved" in asked) == (status is HELD)


async def test_what_cannot_be_looked_up_is_said_and_hides_nothing_else() -> None:
    world = World()

    async def down(*_: object, **__: object) -> object:
        raise SourceDown("the index is away")

    world.near = down
    world.decisions.answers |= {
        "has_moved": DatabaseDown("the skill is away"), "beside": DatabaseDown("the queue is away")
    }  # fmt: skip
    view = await world.view(change())
    assert (view.similar, view.moved, view.beside) == ((), None, ())
    assert len(view.problems) == 3
    for why in ("the index is away", "the skill is away", "the queue is away"):
        assert sum(why in problem for problem in view.problems) == 1
    assert view.diff.files[0].text is not None


async def test_what_takes_too_long_is_given_up_and_said() -> None:
    world = World()

    async def slow(*_: object, **__: object) -> object:
        raise TimeoutError

    world.near = slow
    view = await world.view(change())
    (problem,) = view.problems
    assert "2" in problem
    assert view.similar == ()


async def test_what_a_person_made_of_a_change_is_shown_against_what_was_proposed() -> None:
    world = World()
    proposed = Snapshot(content="as the agent wrote it", name="m")
    view = await world.view(change(proposed=proposed))
    assert view.edits is not None
    (file,) = view.edits.files
    assert file.text is not None
    (row,) = file.text.rows
    assert row.left is not None
    assert row.right is not None
    assert (row.left.text, row.right.text) == ("as the agent wrote it", TEXT)


async def test_what_a_change_contradicts_stands_beside_it() -> None:
    view = await World().view(change(contradicts=""))
    assert view.opposite is not None
    assert (view.opposite.known, view.opposite.instead) == ("before", TEXT)
