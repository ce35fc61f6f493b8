"""How a delivery to the platform ends, and what the platform's tables and lists are."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast
from uuid import UUID

import pytest
import structlog.testing
from pydantic import JsonValue, ValidationError

from core.delivery.platform import BACKFILL_PAGE, PlatformTarget, Skipped, backfill, routes
from core.delivery.platform_history import HistoryWriter
from core.delivery.platform_lists import SkillListWriter, merge, settled
from core.delivery.platform_names import TABLES, PlatformNames, column_name, table_name
from core.delivery.platform_rules import RuleWriter
from core.delivery.sample import sample
from core.domain.errors import (
    InvalidInput,
    NotFound,
    SourceDown,
    Stale,
)
from core.domain.models import Change, HistoryRecord, HistoryStatus, Kind, RunEvent
from core.domain.models.base import Model
from core.domain.models.deliveries import Delivery, Route, SkillListState
from core.domain.ports import ChangeLog, WriteBackRecords
from tests.support.react import item_change


def delivery(event: str = "change.applied") -> Delivery:
    return sample(event, "d-1")[0].model_copy(update={"change_id": "sample-change"})


class Stores:
    """A change with its history, and what was asked of each writer; one of them may fail."""

    def __init__(self, kind: Kind = Kind.MEMORY, *statuses: HistoryStatus) -> None:
        self.change = item_change(kind, "m", "m", "x")
        self.statuses = statuses
        self.asked: list[str] = []
        self.errors: dict[str, Exception] = {}
        self.left: dict[str, Sequence[str]] = {}

    async def get(self, change_id: str) -> Change:
        assert change_id == "sample-change"
        return self.change

    async def attempts(self, change_id: str) -> Sequence[HistoryRecord]:
        assert change_id == self.change.id
        return [HistoryRecord.of(self.change, f"h{n}", one) for n, one in enumerate(self.statuses)]

    def target(self) -> PlatformTarget:
        def writer(name: str) -> object:
            return _Writer(self, name)

        return PlatformTarget(
            digest="",
            changes=cast("ChangeLog", self),
            records=cast("WriteBackRecords", self),
            history=cast("HistoryWriter", writer("history")),
            lists=cast("SkillListWriter", writer("lists")),
            rules=cast("RuleWriter", writer("rules")),
        )

    async def ends(self, event: str = "change.applied") -> tuple[str, str, str]:
        sent = await self.target().deliver(delivery(event))
        return sent.outcome.value, sent.status, str(sent.error or "")


class _Writer:
    def __init__(self, stores: Stores, name: str) -> None:
        self._stores, self._name = stores, name

    async def write(self, *_: object) -> Sequence[str]:
        return self._done("write")

    async def erase(self, *_: object) -> Sequence[str]:
        return self._done("erase")

    def _done(self, what: str) -> Sequence[str]:
        self._stores.asked.append(f"{what} {self._name}")
        if self._name in self._stores.errors:
            raise self._stores.errors[self._name]
        return self._stores.left.get(self._name, ())


AT = datetime(2026, 11, 3, tzinfo=UTC)
APPLIED, FAILED = HistoryStatus.APPLIED, HistoryStatus.FAILED


@pytest.mark.parametrize(
    ("kind", "statuses", "event", "asked"),
    [
        (Kind.MEMORY, (APPLIED,), "change.applied", ["write history"]),
        (Kind.SKILL, (APPLIED,), "change.applied", ["write history", "write lists"]),
        (Kind.AGENT_SKILLS, (FAILED, APPLIED), "change.applied", ["write history", "write lists"]),
        (Kind.SKILL, (FAILED,), "change.failed", ["write history"]),
        (Kind.DMN_RULE, (APPLIED,), "change.applied", ["write history", "write rules"]),
        (Kind.DMN_RULE, (FAILED,), "change.failed", ["write history"]),
        (Kind.DMN_RULE, (APPLIED,), "change.erased", ["erase history", "erase rules"]),
        (Kind.SKILL, (APPLIED,), "change.erased", ["erase history"]),
    ],
)
async def test_what_a_change_did_is_written_where_it_belongs(
    kind: Kind, statuses: Sequence[HistoryStatus], event: str, asked: list[str]
) -> None:
    stores = Stores(kind, *statuses)
    assert await stores.ends(event) == ("done", "written", "")
    assert stores.asked == asked


@pytest.mark.parametrize(
    ("error", "end"),
    [
        (SourceDown("away"), ("later", "source", "away")),
        (Stale("moved"), ("later", "stale", "moved")),
        (NotFound("gone"), ("never", "not_found", "gone")),
        (ValueError("a defect"), ("later", "error", "ValueError")),
        (TimeoutError(), ("later", "error", "cut off")),
        (InvalidInput("no such id"), ("never", "refused", "no such id")),
    ],
)
async def test_what_goes_wrong_is_how_a_delivery_ends(
    error: Exception, end: tuple[str, str, str]
) -> None:
    stores = Stores(Kind.SKILL, APPLIED)
    stores.errors["history"] = error
    outcome, status, said = await stores.ends()
    assert (outcome, status) == end[:2]
    assert end[2] in said
    is_refused = isinstance(error, InvalidInput)  # the other tables are written all the same
    assert stores.asked == ["write history", *(["write lists"] if is_refused else [])]


async def test_what_has_no_place_there_is_told_and_what_is_refused_before_it() -> None:
    stores = Stores(Kind.SKILL, APPLIED)
    stores.left = {"history": ("no table",), "lists": ("no column",)}
    assert await stores.ends() == ("skipped", "skipped", "no table; no column")
    stores.errors["history"] = InvalidInput("no such id")
    assert await stores.ends() == ("never", "refused", "no such id; no column")


async def test_a_platform_that_says_when_to_come_back_is_asked_then() -> None:
    stores = Stores(Kind.MEMORY, APPLIED)
    stores.errors["history"] = SourceDown("slow down", retry_after=7.0)
    sent = await stores.target().deliver(delivery())
    assert (sent.outcome, sent.retry_after) == ("later", 7.0)


@pytest.mark.parametrize("event", ["change.applied", "change.erased"])
async def test_another_kind_of_memory_is_written_to_history_alone(event: str) -> None:
    stores = Stores(cast("Kind", "PLAYBOOK"), APPLIED)
    assert await stores.ends(event) == ("done", "written", "")
    assert stores.asked == [f"{'erase' if event == 'change.erased' else 'write'} history"]


@pytest.mark.parametrize(
    ("name", "kind", "subject"),
    [
        ("change.applied", "MEMORY", "t:MEMORY:m1"),
        ("change.failed", "DMN_RULE", "t:DMN_RULE:m1"),
        ("change.erased", "SKILL", "t:skills"),  # a tenant's skills are in one order
        ("change.applied", "AGENT_SKILLS", "t:skills"),
        ("change.went_stale", "SKILL", "t:skills"),
        ("change.went_stale", "MEMORY", None),  # of which nothing was written
        ("change.held", "MEMORY", None),
    ],
)
def test_what_is_on_record_goes_out_in_the_order_of_its_target(
    name: str, kind: str, subject: str | None
) -> None:
    data: dict[str, JsonValue] = {"kind": kind, "target_id": "m1"}
    event = RunEvent(name=name, tenant_id="t", change_id="c", data=data)
    assert routes(event) == ([] if subject is None else [Route("platform", name, subject)])
    assert routes(event.model_copy(update={"change_id": None})) == []


def test_an_agent_that_is_not_written_is_warned_of_once() -> None:
    skipped = Skipped()
    with structlog.testing.capture_logs() as logs:
        for agent in ("a", "b", "a"):
            skipped(agent, "no UUID")
    assert [(line["event"], line["agent_id"], line["error"]) for line in logs] == [
        ("platform.skipped", "a", "no UUID"),
        ("platform.skipped", "b", "no UUID"),
    ]


class Unsent:
    """Events in pages, and what was sent of them."""

    def __init__(self, *pages: int) -> None:
        self.pages = pages
        self.asked: list[tuple[object, ...]] = []
        self.sent: list[RunEvent] = []

    async def page(
        self, target: str, *, tenant_id: str | None, since: datetime | None, after: int, limit: int
    ) -> tuple[Sequence[RunEvent], int | None]:
        self.asked.append((target, tenant_id, since, after, limit))
        ids = ("none", str(UUID(int=1)))
        events = [RunEvent(name="change.applied", change_id="c", data={"agent_id": ids[n % 2]})
                  for n in range(self.pages[after])]  # fmt: skip
        return events, after + 1 if after + 1 < len(self.pages) else None

    async def send(self, events: Sequence[RunEvent], given: object) -> int:
        assert given is routes
        self.sent += events
        return len(events) - 1  # one of each page had been written


async def test_what_never_went_out_is_sent_page_by_page() -> None:
    unsent = Unsent(4, 3)
    asked = {"tenant_id": "t", "since": AT}
    assert await backfill(unsent, **asked, dry_run=True) == (7, 4)  # type: ignore[arg-type]
    assert unsent.sent == []
    assert await backfill(unsent, **asked, dry_run=False) == (5, 4)  # type: ignore[arg-type]
    assert len(unsent.sent) == 7
    assert unsent.asked == [("platform", "t", AT, after, BACKFILL_PAGE) for after in (0, 1)] * 2


class Platform(Model):
    platform: PlatformNames


def test_a_table_may_have_another_name_or_none() -> None:
    names = Platform.model_validate({
        "platform": {
            "users": {"table": "people", "columns": {"skills": "abilities"}},
            "tenants": None,
            "proc_def": {"columns": {"bpmn": None}},
        }
    }).platform  # fmt: skip
    assert [table_name(names, one) for one in ("users", "tenants", "proc_def", "agent_skills")] == [
        "people", None, "proc_def", "agent_skills",
    ]  # fmt: skip
    assert column_name(names, "users", "skills") == "abilities"
    assert column_name(names, "users", "id") == "id"
    assert column_name(names, "proc_def", "bpmn") is None
    assert column_name(names, "agent_skills", "skill_name") == "skill_name"
    assert "users" in TABLES


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"users": {"columns": {"colour": "x"}}}, "'users'.*colour"),
        ({"users": {"columns": {"id": None}}}, "id"),
        ({"users": {"columns": {"skills": "no name"}}}, "pattern"),
        ({"nothing": None}, "nothing"),
    ],
)
def test_a_column_that_is_none_or_that_rows_are_found_by_is_refused(
    names: dict[str, object], said: str
) -> None:
    with pytest.raises(ValidationError, match=said):
        Platform.model_validate({"platform": names})


def test_columns_that_rows_are_found_by_may_be_renamed_and_others_left_out() -> None:
    given = {"users": {"columns": {"id": "uid", "skills": None}}}
    names = Platform.model_validate({"platform": given}).platform
    assert (column_name(names, "users", "id"), column_name(names, "users", "skills")) == (
        "uid",
        None,
    )


def names(text: str) -> frozenset[str]:
    return frozenset(text)


def state(**given: str) -> SkillListState:
    known = {name: names(value) for name, value in given.items()}
    return SkillListState.model_validate({"tenant_id": "t", "agent_id": "a", **known})


@pytest.mark.parametrize(
    ("known", "ours", "theirs", "touched", "write", "added", "removed"),
    [
        # As it was: nothing to do. Each side's own change reaches the other.
        (state(ours="ab", theirs="ab"), "ab", "ab", "", "ab", "", ""),
        (state(ours="ab", theirs="ab"), "abc", "ab", "", "abc", "", ""),
        (state(ours="ab", theirs="ab"), "a", "ab", "", "a", "", ""),
        (state(ours="ab", theirs="ab"), "ab", "abc", "", "abc", "c", ""),
        (state(ours="ab", theirs="ab"), "ab", "a", "", "a", "", "b"),
        # Both have done it, or the platform has decided otherwise.
        (state(ours="ab", theirs="ab"), "a", "a", "", "a", "", ""),
        (state(ours="ab", theirs="ab"), "abc", "abc", "", "abc", "", ""),
        (state(ours="a", theirs="ab"), "a", "abc", "", "abc", "c", ""),
        # What differed before stays as it is, unless the change is about it.
        (state(ours="a", theirs="ab"), "a", "ab", "", "ab", "", ""),
        (state(ours="a", theirs="ab"), "a", "ab", "b", "a", "", ""),
        (state(ours="ab", theirs="a"), "ab", "a", "", "a", "", ""),
        (state(ours="ab", theirs="a"), "ab", "a", "b", "ab", "", ""),
        (state(ours="ab", theirs="a", left="b"), "ab", "a", "b", "a", "", ""),
        (state(ours="ab", theirs="a", coming="b"), "ab", "a", "b", "a", "", "b"),
        (state(ours="a", theirs="ab", coming="b"), "a", "ab", "b", "ab", "b", ""),
    ],
)  # fmt: skip
def test_lists_of_both_sides_are_compared_with_what_they_were(
    known: SkillListState, ours: str, theirs: str, touched: str, write: str, added: str,
    removed: str,
) -> None:  # fmt: skip
    made = merge(known, names(ours), names(theirs), names(touched))
    assert (made.write, made.added, made.removed) == (names(write), names(added), names(removed))


def test_a_write_that_was_cut_off_counts_as_far_as_it_came() -> None:
    known = state(ours="abc", theirs="ab", adding="cd", removing="be")
    made = settled(known, names("ac"))
    assert (made.ours, made.theirs) == (names("ac"), names("ac"))
    assert made.adding == made.removing == frozenset()
    nothing = settled(known, names("ab"))
    assert (nothing.ours, nothing.theirs) == (names("abc"), names("ab"))
