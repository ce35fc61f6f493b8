"""What a worker does beside the work: cases in turn, reminders, pieces in the order of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import cast

import pytest

from core.changes.cases.keeping import CaseKeeping, cases_for
from core.changes.gate.decisions import Decisions
from core.changes.review_sweep import EXPIRY, ReviewSweep
from core.changes.said_order.pieces import (
    MOST_BESIDE,
    AskedAgain,
    Awaiting,
    ask_again,
    look_behind,
    waits_its_turn,
)
from core.domain.errors import Refused, Stale
from core.domain.messages import Message
from core.domain.models import (
    SKILL_MD,
    Bundle,
    Change,
    ChangeStatus,
    EarlierPiece,
    Feedback,
    FeedbackStatus,
    Kind,
    Outline,
    SkillFile,
)
from core.domain.models.cases import (
    BareItem,
    Case,
    CaseBody,
    CaseFilter,
    CaseOrigin,
    CaseResult,
    CaseRole,
    CaseStatus,
    Check,
)
from core.domain.ports import Cases, CaseUpkeep, Inbox, Intake, Reviews
from core.testing.skill_store import MemorySkillStore
from tests.support.gate import Events
from tests.support.react import FEEDBACK, Told, item_change
from tests.support.seeding import AT

REFUND = "Refunds of damaged parcels are paid within 3 days by Ms. Kim of the harbour office."
GREEN, RED, OFF = CaseStatus.GREEN, CaseStatus.RED, CaseStatus.DISABLED


def case(case_id: str, check: Check = Check.RECALL, **given: object) -> Case:
    body = given.pop("body", None) or CaseBody(check=check, text="run.py", must=("x",))
    known: dict[str, object] = {
        "id": case_id,
        "tenant_id": "t",
        "agent_id": "a",
        "kind": Kind.SKILL,
        "item_id": "pay",
        "item_name": "pay",
        "body": body,
        "role": CaseRole.REGRESSION,
        "origin": CaseOrigin.PERSON,
        "status": GREEN,
    }
    return Case.model_validate(known | given)


@dataclass
class Turn:
    """The cases of a database, and how they end; what nobody names passes."""

    items: list[BareItem] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    ends: dict[str, bool | None] = field(default_factory=dict)
    is_due_now: bool = True
    kept: list[Case] = field(default_factory=list)
    ran: list[list[str]] = field(default_factory=list)
    noted: list[CaseResult] = field(default_factory=list)
    asked: list[tuple[object, ...]] = field(default_factory=list)
    before: dict[str, bool | None] = field(default_factory=dict)

    async def bare(self, after: int, limit: int) -> Sequence[BareItem]:
        self.asked.append((after, limit))
        return [one for one in self.items if one.revision > after][:limit]

    async def keep(self, cases: Sequence[Case]) -> None:
        self.kept += cases

    async def is_due(self, every: float) -> bool:
        self.asked.append((every,))
        return self.is_due_now

    async def page(
        self, wanted: CaseFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Case], str | None]:
        assert wanted == CaseFilter()
        at = int(cursor or 0)
        following = at + limit
        more = str(following) if following < len(self.cases) else None
        return self.cases[at:following], more

    async def note(self, results: Sequence[CaseResult]) -> None:
        self.noted += results

    async def now(self, cases: Sequence[Case]) -> Sequence[CaseResult]:
        assert cases
        self.ran.append([one.id for one in cases])
        return [
            CaseResult(case=one, passed=self.ends.get(one.id, self.ends.get(one.item_id, True)))
            for one in cases
        ]

    async def before_and_after(
        self, change: Change, blobs: Mapping[str, bytes], cases: Sequence[Case]
    ) -> Sequence[tuple[bool | None, CaseResult]]:
        del change, blobs
        return [(self.before.get(one.case.id), one) for one in await self.now(cases)]


@dataclass
class Keeping:
    """A worker that keeps cases beside its work."""

    turn: Turn = field(default_factory=Turn)
    events: Events = field(default_factory=Events)
    skills: MemorySkillStore = field(default_factory=MemorySkillStore)

    def __post_init__(self) -> None:
        self.keeping = CaseKeeping(
            upkeep=cast("CaseUpkeep", self.turn),
            cases=cast("Cases", self.turn),
            runner=self.turn,
            skills=self.skills,
            journal=self.events,
        )

    def told(self) -> list[tuple[str, object]]:
        return [(one.name, one.data.get("case") or one.data.get("cases")) for one in self.events]


def bare(revision: int, content: str = REFUND, **given: object) -> BareItem:
    known: dict[str, object] = {
        "tenant_id": "t",
        "kind": Kind.MEMORY,
        "item_id": f"m{revision}",
        "name": "n",
        "revision": revision,
        "agent_id": "a",
        "content": content,
        "change_id": f"c{revision}",
        "feedback_id": f"f{revision}",
    }
    return BareItem.model_validate(known | given)


async def test_items_get_the_cases_that_hold_each_looked_at_once() -> None:
    world = Keeping()
    world.turn.items = [bare(1), bare(2, "?!"), bare(3), bare(5, agent_id=None), bare(9)]
    world.turn.ends = {"m3": False, "m9": None}
    assert await world.keeping.derive(3) == 3
    assert await world.keeping.derive(3) == 2
    assert await world.keeping.derive(3) == 0
    assert world.turn.asked == [(0, 3), (3, 3), (9, 3)]
    (kept,) = world.turn.kept
    assert (kept.item_id, kept.status, kept.change_id) == ("m1", GREEN, "c1")
    assert (kept.origin, kept.feedback_id, kept.agent_id) == (CaseOrigin.DERIVED, "f1", "a")
    (told,) = world.events
    assert (told.name, told.data["cases"]) == ("case.derived", [kept.id])
    assert (told.change_id, told.feedback_id) == ("c1", "f1")


def test_cases_that_two_workers_derive_are_the_same() -> None:
    (one,) = cases_for(bare(1), REFUND)
    (other,) = cases_for(bare(1).model_copy(update={"revision": 4}), REFUND)
    assert one == other
    assert {one.id} & {cases_for(bare(1, tenant_id="u"), REFUND)[0].id} == set()
    assert one.body.check is Check.RECALL
    assert one.role is CaseRole.REGRESSION  # it asks in the words of the item
    (brought,) = cases_for(bare(1, change_id=None), REFUND)
    assert brought.change_id is None
    assert cases_for(bare(1), "  ") == ()


async def test_of_a_skill_the_document_is_read_where_it_can_be() -> None:
    world = Keeping()
    document = f"---\nname: pay\ndescription: {REFUND}\n---\n\n1. Look at it.\n"
    files = {SKILL_MD: SkillFile(data=document.encode())}
    world.skills.skills["t", "m1"] = Bundle(name="pay", files=files)
    broken = {SKILL_MD: SkillFile(data=b"\xff")}
    world.skills.skills["t", "m2"] = Bundle(name="bad", files=broken)
    kinds = {"kind": Kind.SKILL, "content": ""}
    world.turn.items = [bare(n, **kinds) for n in (1, 2, 3)]
    assert await world.keeping.derive() == 3
    assert {one.item_id for one in world.turn.kept} == {"m1"}
    assert Check.CHOSEN in {one.body.check for one in world.turn.kept}


async def test_all_live_cases_are_run_and_what_turned_red_is_told() -> None:
    world = Keeping()
    world.turn.cases = [
        case("green"),
        case("off", status=OFF),
        case("behaves", Check.BEHAVIOUR),
        case("breaks"),
        case("red", status=RED),
        case("unrun"),
        *(case(f"c{n}") for n in range(60)),
    ]
    world.turn.ends = {"breaks": False, "red": False, "unrun": None}
    assert await world.keeping.run_all() == 64
    assert [len(batch) for batch in world.turn.ran] == [48, 16]
    assert len(world.turn.noted) == 64
    assert world.told() == [("case.failed", "breaks")]
    world.turn.cases = [case("off", status=OFF)]
    assert await world.keeping.run_all() == 0


@pytest.mark.parametrize("is_due", [True, False])
async def test_cases_are_run_once_a_day_after_new_ones_are_made(is_due: bool) -> None:
    world = Keeping(Turn(items=[bare(1)], cases=[case("c")], is_due_now=is_due))
    await world.keeping.work()
    assert world.turn.asked == [(0, 50), (86_400.0,)]
    assert (["c"] in world.turn.ran) is is_due
    assert len(world.turn.kept) == 1


@dataclass
class Queue:
    """Held changes that are overdue, and those to be reminded of; some are decided meanwhile."""

    late: list[Change] = field(default_factory=list)
    due: list[Change] = field(default_factory=list)
    decided: set[str] = field(default_factory=set)
    asked: list[tuple[str, float]] = field(default_factory=list)
    rejected: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)

    async def overdue(self, seconds: float) -> Sequence[Change]:
        self.asked.append(("overdue", seconds))
        return self.late

    async def remind(self, seconds: float) -> Sequence[Change]:
        self.asked.append(("remind", seconds))
        return self.due

    async def reject(self, change_id: str, **given: object) -> None:
        if change_id in self.decided:
            raise Stale("it was decided")
        self.rejected.append((change_id, given))


def waits(item: str, **given: object) -> Change:
    made = item_change(Kind.MEMORY, item, item, "x")
    known = {"status": ChangeStatus.HELD, "content_hash": f"hash-{item}"}
    return made.model_copy(update=known | given)


@pytest.mark.parametrize(
    ("remind", "expire", "asked"),
    [
        (None, None, []),
        (60.0, None, [("remind", 60.0)]),
        (None, 172_800.0, [("overdue", 172_800.0)]),
        (0.0, 0.0, [("overdue", 0.0), ("remind", 0.0)]),
    ],
)
async def test_what_waits_is_reminded_of_and_expires_as_it_is_set(
    remind: float | None, expire: float | None, asked: list[tuple[str, float]]
) -> None:
    events = Events()
    queue = Queue(
        late=[waits("m1"), waits("m2"), waits("m3")],
        due=[waits("m4", prepared_at=AT), waits("m5")],
        decided={"made-m2"},
    )
    sweep = ReviewSweep(
        reviews=cast("Reviews", queue),
        decisions=cast("Decisions", queue),
        journal=events,
        remind_after=remind,
        expire_after=expire,
        now=lambda: AT + timedelta(seconds=90.4),
    )
    await sweep.work()
    assert queue.asked == asked
    if expire:
        reason = Message("review.expired", days=2.0)
        assert queue.rejected == [
            (f"made-m{n}", {"by": EXPIRY, "reason": reason, "seen": f"hash-m{n}"}) for n in (1, 3)
        ]
    if remind is None:
        assert events == []
    else:
        assert [(one.name, one.change_id, one.data["waited_seconds"]) for one in events] == [
            ("change.reminded", "made-m4", 90),
            ("change.reminded", "made-m5", 0),
        ]


@dataclass
class Pieces:
    """Feedback that is queued behind other feedback, or once more."""

    gone: set[str] = field(default_factory=set)
    busy: set[str] = field(default_factory=set)
    passed: list[Outline] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)
    revived: list[str] = field(default_factory=list)
    asked: list[tuple[object, ...]] = field(default_factory=list)
    status: FeedbackStatus = FeedbackStatus.QUEUED

    async def get(self, feedback_id: str) -> Feedback:
        return FEEDBACK.model_copy(update={"id": feedback_id, "status": self.status})

    async def wait_for(self, claimed: Feedback, earlier_id: str) -> bool:
        self.behind.append(earlier_id)
        return earlier_id not in self.gone

    async def passed_over(self, claimed: Feedback, limit: int) -> Sequence[Outline]:
        self.asked.append((claimed.id, limit))
        return self.passed

    async def revive(self, feedback_id: str) -> Feedback:
        if feedback_id in self.busy:
            raise Refused("it is at work")
        self.revived.append(feedback_id)
        return FEEDBACK.model_copy(update={"id": feedback_id})


def outline(piece: str, content: str = "김 부장님 금액은 원 단위로", **given: object) -> Outline:
    return Outline.model_validate(
        {"id": piece, "source_id": f"s-{piece}", "content": content} | given
    )


OTHER = "배송은 사흘이 걸립니다"


@pytest.mark.parametrize(
    ("earlier", "gone", "behind", "waited"),
    [
        ([], set(), [], False),
        ([outline("e1")], set(), ["e1"], True),
        ([outline("e1", OTHER)], set(), [], False),
        # What has ended meanwhile is waited for no more, but what was said before it is.
        ([outline("e1"), outline("e2")], {"e1"}, ["e1", "e2"], True),
        ([outline("e1"), outline("e2")], {"e1", "e2"}, ["e1", "e2"], False),
        ([outline("e1", OTHER), outline("e2"), outline("e3")], set(), ["e2"], True),
    ],
)
async def test_a_piece_waits_for_what_was_said_before_about_the_same(
    earlier: list[Outline], gone: set[str], behind: list[str], waited: bool
) -> None:
    pieces, events = Pieces(gone=gone), Events()
    found = await waits_its_turn(FEEDBACK, earlier, cast("Inbox", pieces), events)
    assert (found, pieces.behind) == (waited, behind)
    told = [(one.name, one.feedback_id, one.tenant_id, one.data) for one in events]
    queued = ("feedback.put_behind", "f1", "t1", {"earlier_id": behind[-1] if behind else ""})
    assert told == ([queued] if waited else [])


async def test_what_found_nothing_to_do_is_decided_once_more() -> None:
    pieces, events = Pieces(busy={"l2"}), Events()
    later = [outline("l1"), outline("l2"), outline("l3", OTHER), outline("l4")]
    await ask_again(FEEDBACK, later, cast("Intake", pieces), events)
    assert pieces.revived == ["l1", "l4"]
    assert [(one.name, one.feedback_id, one.data) for one in events] == [
        ("feedback.asked_again", "l1", {"because_of": "f1"}),
        ("feedback.asked_again", "l4", {"because_of": "f1"}),
    ]


@pytest.mark.parametrize(("changed", "revived"), [(True, ["l1", "l2"]), (False, ["l2"])])
async def test_what_answers_a_piece_is_decided_again_whatever_came_of_that(
    changed: bool, revived: list[str]
) -> None:
    answer = outline("l2", OTHER, in_reply_to=FEEDBACK.source_id)
    pieces = Pieces(passed=[outline("l1"), answer])
    inbox, intake = cast("Inbox", pieces), cast("Intake", pieces)
    await look_behind(FEEDBACK, inbox, intake, Events(), has_changed=changed)
    assert pieces.revived == revived


@pytest.mark.parametrize(
    ("status", "arrived", "busy", "revived"),
    [
        (FeedbackStatus.NO_ACTION, True, set(), ["f1"]),
        (FeedbackStatus.NO_ACTION, True, {"f1"}, []),
        (FeedbackStatus.NO_ACTION, False, set(), []),
        (FeedbackStatus.COMPLETED, True, set(), []),
    ],
)
async def test_what_came_in_while_its_answer_was_in_work_has_that_decided_again(
    status: FeedbackStatus, arrived: bool, busy: set[str], revived: list[str]
) -> None:
    answer = FEEDBACK.model_copy(update={"in_reply_to": "late"})
    pieces = Pieces(busy=busy, status=status)
    late = EarlierPiece(id="l", content="x", is_answered=True)
    told = Told()
    awaiting = Awaiting(cast("Inbox", pieces), cast("Intake", pieces), told)
    assert await awaiting.is_missing(answer)
    assert not await awaiting.is_missing(FEEDBACK)
    told.pieces = (late,) if arrived else ()
    events = Events()
    await awaiting.look_again(answer, events)
    assert pieces.revived == revived
    assert [one.name for one in events] == ["feedback.asked_again"] * len(revived)


async def test_a_persons_decision_has_feedback_decided_once_more() -> None:
    pieces, events = Pieces(busy={"f9"}), Events()
    asking = AskedAgain(cast("Inbox", pieces), cast("Intake", pieces), events)
    await asking.again("f2")
    assert [(one.name, one.feedback_id, one.data) for one in events] == [
        ("feedback.asked_again", "f2", {})
    ]
    with pytest.raises(Refused):
        await asking.again("f9")
    await asking.passed_over("f3")
    assert (pieces.asked, pieces.revived) == ([("f3", MOST_BESIDE)], ["f2"])
    pieces.passed = [outline("l1"), outline("l2", OTHER)]
    await asking.passed_over("f3")
    assert pieces.revived == ["f2", "l1"]
    assert events[-1].data == {"because_of": "f3"}
