"""Lists of skills here and on the platform agree in the end, wherever a worker is cut off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.delivery.platform_lists import SkillListWriter
from core.delivery.platform_rules import newest, next_version, table_id
from core.domain.models import (
    Agent,
    Change,
    ChangeRequest,
    ChangeStatus,
    Kind,
    ListEdit,
    MergeMode,
    Operation,
    Receipt,
    ReceiptStatus,
    SkillListRequest,
    Snapshot,
    SubmitContext,
)
from core.domain.models.deliveries import SkillListState
from core.domain.ports import PlatformRow

AGENT = "a"


class CutOff(BaseException):
    """The worker has died."""


@dataclass
class Both:
    """An agent's list here, on the platform, and what is known of both; each a port."""

    ours: set[str] = field(default_factory=set)
    column: str | None = None
    rows: set[str] = field(default_factory=set)
    state: SkillListState | None = None
    dies_at: int = -1
    calls: int = 0
    waiting: list[set[str]] = field(default_factory=list)

    def step(self) -> None:
        self.calls += 1
        if self.calls == self.dies_at:
            raise CutOff

    # The platform.
    async def read(
        self, table: str, where: PlatformRow, columns: Sequence[str]
    ) -> Sequence[PlatformRow]:
        if table == "agent_skills":
            return [{"skill_name": name} for name in sorted(self.rows)]
        return [{"skills": self.column}]

    async def change(self, table: str, where: PlatformRow, values: PlatformRow) -> int:
        self.step()
        if where["skills"] != self.column:
            return 0
        self.column = str(values["skills"])
        self.step()
        return 1

    async def add(self, table: str, row: PlatformRow) -> None:
        self.step()
        self.rows.add(str(row["skill_name"]))

    async def remove(self, table: str, where: PlatformRow) -> None:
        self.step()
        self.rows.discard(str(where["skill_name"]))

    # What is on record here.
    async def skill_list(self, tenant_id: str, agent_id: str) -> SkillListState | None:
        return self.state

    async def keep(self, state: SkillListState) -> SkillListState:
        self.step()
        self.state = state.model_copy(update={"revision": state.revision + 1})
        return self.state

    async def get(self, tenant_id: str, agent_id: str) -> Agent:
        return Agent(id=agent_id, tenant_id=tenant_id, name="A", skills=tuple(sorted(self.ours)))

    async def submit(self, request: ChangeRequest, context: SubmitContext) -> Receipt:
        assert isinstance(request, SkillListRequest)
        (name,) = request.skill_ids
        self.edit(name, is_on=request.edit is ListEdit.ADD)
        return Receipt(status=ReceiptStatus.APPLIED, message="")

    # What people and agents do.
    def edit(self, name: str, *, is_on: bool) -> None:
        before = set(self.ours)
        (self.ours.add if is_on else self.ours.discard)(name)
        if before != self.ours:
            self.waiting.append(before ^ self.ours)

    def edit_there(self, name: str, *, is_on: bool) -> None:
        names = {one for one in (self.column or "").split(",") if one}
        (names.add if is_on else names.discard)(name)
        self.column = ",".join(sorted(names))

    async def deliver(self) -> None:
        """Deliver what waits, in order; what is cut off waits on."""
        writer = SkillListWriter(self, self, self, self, _nobody)  # type: ignore[arg-type]
        while self.waiting:
            try:
                await writer.write(_change(self.waiting[0]))
            except CutOff:
                return
            self.waiting.pop(0)


def _nobody(agent_id: str, why: str) -> None:
    raise AssertionError(why)


def _change(touched: set[str]) -> Change:
    state = Snapshot(content="\n".join(sorted(touched)), name="")
    return Change(
        id="c", key="k", digest="d", tenant_id="t", agent_id=AGENT, kind=Kind.AGENT_SKILLS,
        target_id=AGENT, target_name=AGENT, operation=Operation.UPDATE, before=None, after=state,
        base_hash="", status=ChangeStatus.APPLIED,
    )  # fmt: skip


_NAME = st.sampled_from("xyz")
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("here"), _NAME, st.booleans()),
        st.tuples(st.just("there"), _NAME, st.booleans()),
        st.tuples(st.just("deliver"), st.integers(-1, 8), st.none()),
    ),
    max_size=14,
)


@given(steps=_STEPS)
async def test_both_lists_are_equal_once_all_is_delivered(
    steps: Sequence[tuple[str, str | int, bool | None]],
) -> None:
    both = Both()
    both.edit("first", is_on=True)
    await both.deliver()
    last: dict[str, tuple[str, bool]] = {}
    for what, about, is_on in steps:
        name = str(about)
        if what == "deliver":
            waits = bool(both.waiting)
            both.calls, both.dies_at = 0, int(about)
            await both.deliver()
            if waits and not both.waiting:
                last.clear()
            continue
        before = (set(both.ours), both.column)
        (both.edit if what == "here" else both.edit_there)(name, is_on=bool(is_on))
        if before != (both.ours, both.column):
            same = last.get(name, (what,))[0] == what
            last[name] = (what if same else "both", bool(is_on))
    both.dies_at = -1
    both.edit("last", is_on=True)  # so that the lists are compared
    await both.deliver()
    there = {name for name in (both.column or "").split(",") if name}
    assert there == both.ours == both.rows
    for name, (who, is_on) in last.items():  # one side alone has said so: it counts
        assert who == "both" or (name in there) == is_on


_VERSIONS: Mapping[tuple[str | None, MergeMode | None], tuple[str, str]] = {
    (None, MergeMode.REFINE): ("1.0.0", "major"),
    ("garbage", None): ("1.0.0", "major"),
    ("1.0.9", MergeMode.REFINE): ("1.0.10", "patch"),
    ("1.9", MergeMode.EXTEND): ("1.10.0", "minor"),
    ("1.9", MergeMode.REFINE): ("1.9.1", "patch"),
    ("1.2.3", MergeMode.REPLACE): ("2.0.0", "major"),
    ("1.2.3", None): ("2.0.0", "major"),
}


@pytest.mark.parametrize(("before", "after"), _VERSIONS.items())
def test_a_version_is_raised_as_the_mode_says(
    before: tuple[str | None, MergeMode | None], after: tuple[str, str]
) -> None:
    assert next_version(*before) == after
    assert newest(["1.9.0", None, "draft", "1.10.0", "1.2"]) == "1.10.0"
    assert newest(["draft", None, ""]) is None


def test_a_table_keeps_its_id_where_that_is_a_uuid() -> None:
    own = "0b0f8c9e-3d65-4d7a-9a11-2d5c4bb1a001"
    assert table_id("t", own) == own
    assert table_id("t", "rule-1") == table_id("t", "rule-1") != table_id("u", "rule-1")
