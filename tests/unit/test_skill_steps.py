"""The calls that carry out a change of a skill: in a fixed order, resumed, fenced, taken back."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from core.domain.errors import InvalidInput, LeaseLost, Stale
from core.domain.hashing import sha256
from core.domain.models import (
    SKILL_MD,
    Bundle,
    Change,
    Fence,
    FileRef,
    Kind,
    Operation,
    SkillFile,
    Snapshot,
)
from core.learning_committers.skill_committer import SkillSteps
from core.skills.bundle import bundle_hash
from core.testing.changes import MemoryChangeLog
from core.testing.knowledge import MemoryKnowledge
from core.testing.skill_store import MemorySkillStore
from tests.support.react import item_change

HEAD = "---\nname: pay\ndescription: How to pay.\n---\n\n"
OLD = {SKILL_MD: HEAD + "old", "a.md": "a", "b.md": "b", "d.md": "d", "same.md": "same"}
NEW = {SKILL_MD: HEAD + "new", "a.md": "A", "c.md": "c", "same.md": "same"}
KEY = ("t", "pay")


def folder(texts: Mapping[str, str], runs: str = "") -> dict[str, SkillFile]:
    return {p: SkillFile(data=t.encode(), executable=p == runs) for p, t in texts.items()}


def state(texts: Mapping[str, str] | None) -> Snapshot | None:
    if texts is None:
        return None
    refs = {
        path: FileRef(sha256=sha256(text.encode()), size=len(text.encode()))
        for path, text in texts.items()
    }
    return Snapshot(content=texts[SKILL_MD], name="pay", files=refs)


def change(
    before: Mapping[str, str] | None, after: Mapping[str, str] | None, **given: object
) -> Change:
    made = item_change(Kind.SKILL, "pay", "pay", "")
    base = Bundle(name="pay", files=folder(before)) if before else None
    states: dict[str, object] = {
        "tenant_id": "t",
        "operation": Operation.UPDATE,
        "before": state(before),
        "after": state(after),
        "base_hash": bundle_hash(base) if base else "absent",
        "candidate_id": None,
    }
    return made.model_copy(update=states | given)


class Calls(MemorySkillStore):
    """A store that notes each write, and fails for good before one of them."""

    def __init__(self, texts: Mapping[str, str] | None) -> None:
        super().__init__()
        self.calls: list[tuple[str, str]] = []
        self.fails_at: int | None = None
        if texts is not None:
            self.skills[KEY] = Bundle(name="pay", files=folder(texts))

    def _note(self, what: str, path: str) -> None:
        if self.fails_at == len(self.calls):
            self.fails_at = None
            raise InvalidInput("no")
        self.calls.append((what, path))

    async def upload(self, bundle: Bundle, tenant_id: str) -> None:
        self._note("upload", bundle.name)
        await super().upload(bundle, tenant_id)

    async def put_file(
        self, name: str, path: str, file: SkillFile, tenant_id: str, *, base_hash: str
    ) -> str:
        self._note("put", path)
        return await super().put_file(name, path, file, tenant_id, base_hash=base_hash)

    async def delete_file(self, name: str, path: str, tenant_id: str, *, base_hash: str) -> str:
        self._note("delete", path)
        return await super().delete_file(name, path, tenant_id, base_hash=base_hash)

    async def delete(self, name: str, tenant_id: str, *, base_hash: str) -> None:
        self._note("delete", name)
        await super().delete(name, tenant_id, base_hash=base_hash)


class Carrying:
    """A change that is carried out on a store; the lease is lost at the `lost`-th call."""

    def __init__(self, made: Change, stored: Mapping[str, str] | None) -> None:
        self.store, self.log = Calls(stored), MemoryChangeLog(MemoryKnowledge())
        texts = [text.encode() for each in (OLD, NEW) for text in each.values()]
        self.log.put_blobs({sha256(text): text for text in texts})
        self.fences: list[Fence] = []
        self.lost: int | None = None
        self.steps = SkillSteps(made, self.store, self.log, self._check)

    async def _check(self, fence: Fence) -> None:
        if self.lost == len(self.fences):
            raise LeaseLost("gone")
        self.fences.append(fence)

    def texts(self) -> dict[str, str] | None:
        found = self.store.skills.get(KEY)
        return {p: f.data.decode() for p, f in found.files.items()} if found else None


ALL = [
    ("put", SKILL_MD),
    ("put", "a.md"),
    ("put", "c.md"),
    ("delete", "b.md"),
    ("delete", "d.md"),
]


async def test_the_document_comes_first_then_what_is_written_then_what_goes() -> None:
    at = Carrying(change(OLD, NEW, candidate_id="c", epoch=3), OLD)
    await at.steps.take()
    assert (at.store.calls, at.texts()) == (ALL, NEW)
    assert at.fences == [Fence(candidate_id="c", epoch=3)] * len(ALL)
    await at.steps.take()  # it is there already
    assert at.store.calls == ALL


@pytest.mark.parametrize("taken", range(6))
async def test_an_attempt_that_was_cut_off_goes_on_where_it_stopped(taken: int) -> None:
    at = Carrying(change(OLD, NEW, candidate_id="c", epoch=3), OLD)
    at.lost = taken
    if taken < len(ALL):
        with pytest.raises(LeaseLost):
            await at.steps.take()
    at.lost = None
    await at.steps.take()
    assert (at.store.calls, at.texts()) == (ALL, NEW)


@pytest.mark.parametrize("given", [{"candidate_id": "c"}, {"epoch": 3}])
async def test_what_no_run_asked_for_is_not_fenced(given: dict[str, object]) -> None:
    at = Carrying(change(OLD, NEW, **given), OLD)
    await at.steps.take()
    assert (at.fences, at.texts()) == ([], NEW)


@pytest.mark.parametrize(
    ("before", "after", "calls"),
    [(None, NEW, [("upload", "pay")]), (OLD, None, [("delete", "pay")])],
)
async def test_a_whole_skill_is_made_or_deleted_in_one_call(
    before: Mapping[str, str] | None,
    after: Mapping[str, str] | None,
    calls: list[tuple[str, str]],
) -> None:
    at = Carrying(change(before, after, candidate_id="c", epoch=3), before)
    await at.steps.take()
    assert (at.store.calls, at.texts(), len(at.fences)) == (calls, after, 1)
    await at.steps.take()
    assert at.store.calls == calls


OTHERS = {**OLD, "b.md": "changed by somebody"}


@pytest.mark.parametrize(
    ("before", "after", "stored"),
    [
        (OLD, NEW, OTHERS),
        (OLD, NEW, None),
        (OLD, None, OTHERS),
        (None, NEW, OTHERS),
    ],
)
async def test_what_somebody_else_has_changed_is_not_written_over(
    before: Mapping[str, str] | None,
    after: Mapping[str, str] | None,
    stored: Mapping[str, str] | None,
) -> None:
    at = Carrying(change(before, after), stored)
    with pytest.raises(Stale) as raised:
        await at.steps.take()
    assert "pay" in raised.value.message
    await at.steps.roll_back()
    assert (at.store.calls, at.texts()) == ([], stored)


@pytest.mark.parametrize("fails_at", range(1, 5))
async def test_half_of_a_change_is_taken_back(fails_at: int) -> None:
    at = Carrying(change(OLD, NEW), OLD)
    at.store.fails_at = fails_at
    with pytest.raises(InvalidInput):
        await at.steps.take()
    await at.steps.roll_back()
    assert at.texts() == OLD
    assert at.store.calls[fails_at][1] == SKILL_MD


async def test_what_was_finished_or_never_begun_is_not_taken_back() -> None:
    for stored in (OLD, NEW, None):
        at = Carrying(change(OLD, NEW), stored)
        await at.steps.roll_back()
        assert (at.store.calls, at.texts()) == ([], stored)
    new = Carrying(change(None, NEW), NEW)
    await new.steps.roll_back()
    assert new.texts() == NEW
