"""The section `hooks:`: what it may say, which events go where, and hooks before a change."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import ValidationError

from core.app.config_file import load_config
from core.app.settings import Settings
from core.delivery.asking import AskedBefore, HookTarget, read_answer
from core.delivery.hooks import JOURNAL, Hook, Hooks
from core.domain.errors import ConfigurationError, Refused
from core.domain.models import Change, ReceiptStatus, RunEvent
from core.domain.models.deliveries import (
    Decision,
    Delivery,
    HookAnswer,
    Notice,
    Outcome,
    Sent,
)
from core.domain.ports.deliveries import BEFORE
from tests.support.gate import World, ask, on_behalf
from tests.unit.test_house_rules import EVENTS

AT = datetime(2026, 1, 1, tzinfo=UTC)
HELD = RunEvent(name="change.held", tenant_id="t", change_id="c", data={"kind": "SKILL"})


def hook(**given: object) -> Hook:
    return Hook.model_validate({"name": "us", "event": "change.held", "python": "a:b", **given})


def targets(event: RunEvent, *hooks: Hook) -> list[tuple[str, str]]:
    return [(route.target, route.event) for route in Hooks(hooks).routes(event)]


def test_the_events_are_those_of_the_reference() -> None:
    journal = EVENTS.read_text("utf-8").split("## In the journal")[1].split("### State")[0]
    listed = [line.split("`")[1] for line in journal.splitlines() if line.startswith("| `")]
    assert [*JOURNAL] == listed


@pytest.mark.parametrize(
    ("condition", "goes"),
    [
        ('kind = "SKILL"', True),
        ('kind = "MEMORY"', False),
        ('tenant_id in ("t", "u") and event = "change.held"', True),
        ("waited_seconds > 3", False),
    ],
)
def test_a_condition_decides_whether_an_event_goes_out(condition: str, goes: bool) -> None:
    assert bool(targets(HELD, hook(**{"if": condition}))) is goes


@pytest.mark.parametrize(
    ("status", "expected"),
    [("completed", ["done"]), ("no_action", ["done"]), ("dead", ["bad"]), ("held", [])],
)
def test_the_end_of_feedback_has_names_by_how_it_ended(status: str, expected: list[str]) -> None:
    end = RunEvent(name="feedback.finished", feedback_id="f", data={"status": status})
    done, bad = (
        hook(name="done", event="feedback.completed"),
        hook(name="bad", event=["feedback.failed"]),
    )
    assert [target for target, _ in targets(end, done, bad)] == expected


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"event": "change.hold"}, "there is no event 'change.hold'"),
        ({"event": []}, "at least one event"),
        ({"http": "https://x"}, "exactly one of"),
        ({"python": None}, "exactly one of"),
        ({"required": True}, "required is for before.change_applied only"),
        ({"event": BEFORE, "async": True}, "neither async nor notify"),
        ({"event": BEFORE, "python": None, "notify": "json://x"}, "neither async nor notify"),
        ({"if": 'knd = "x"'}, "knd"),
        ({"if": "kind ="}, "kind ="),
        ({"python": None, "command": "rm -rf /"}, "command.run"),
        ({"python": None, "mcp": {"tool": "x"}}, "either the server's name or its url"),
        ({"name": "Us!"}, "name"),
        ({"timeout": 0}, "timeout"),
        ({"retry": 1}, "retry"),
    ],
)
def test_what_a_hook_cannot_be_is_said(given: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError) as error:
        hook(**given)
    problems = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.value.errors()]
    assert told in "; ".join(problems)


def test_two_hooks_of_one_name_are_refused_with_their_file(tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    one = "{name: us, event: change.held, python: 'a:b'}"
    file.write_text(f"hooks: [{one}, {one}]")
    with pytest.raises(ConfigurationError, match=r"ours\.yaml.*two hooks are called 'us'"):
        load_config(Settings(_env_file=None, skill_worker_config=file))  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("text", "decision", "note"),
    [
        ("", Decision.ALLOW, ""),
        ("looks fine", Decision.ALLOW, "looks fine"),
        ('{"decision": "Yes"}', Decision.ALLOW, ""),
        ('{"decision": "no", "note": " wait "}', Decision.HOLD, "wait"),
        ('{"decision": "deny"}', Decision.DENY, ""),
        ("[1]", Decision.ALLOW, "[1]"),
        ('{"note": 7}', Decision.ALLOW, ""),
    ],
)
def test_an_answer_is_read(text: str, decision: Decision, note: str) -> None:
    assert read_answer(text) == HookAnswer(decision=decision, note=note)


@dataclass
class Answers:
    """A hook that answers as told, and remembers what it was given."""

    sent: Sent
    came: list[Notice] = field(default_factory=list)

    async def ask(self, notice: Notice) -> Sent:
        self.came.append(notice)
        return self.sent


@dataclass
class Recorded:
    """The part of an outbox that asking before a change takes."""

    answers: dict[str, HookAnswer | None] = field(default_factory=dict)
    written: list[tuple[Delivery, Sent, float]] = field(default_factory=list)

    async def record(self, answered: Sequence[tuple[Delivery, Sent, float]]) -> None:
        self.written += answered
        self.answers |= {one.subject: sent.answer for one, sent, _ in answered if one.subject}

    async def answered(self, target: str, once_key: str) -> HookAnswer | None:
        return self.answers.get(once_key)


def said(decision: Decision, note: str = "") -> Sent:
    return Sent(outcome=Outcome.DONE, answer=HookAnswer(decision=decision, note=note))


FAILED = Sent(outcome=Outcome.LATER, status="500", error="it answered 500")


@dataclass
class Before:
    """A gate with one hook before a change."""

    sent: Sent
    given: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.asker, self.outbox = Answers(self.sent), Recorded()
        ids = itertools.count()
        one = HookTarget(hook(event=BEFORE, **self.given), self.asker, _no_change)
        asked = AskedBefore([one], self.outbox, lambda: AT, lambda: f"{next(ids)}")  # type: ignore[arg-type]
        self.world = World(before_applied=asked)

    async def submit(self) -> tuple[ReceiptStatus, str]:
        receipt = await self.world.gate.submit(ask(), on_behalf())
        return receipt.status, receipt.message

    @property
    def change(self) -> Change:
        (change,) = self.world.log.changes.values()
        return change


async def _no_change(change_id: str) -> Change:
    raise AssertionError(change_id)


@pytest.mark.parametrize(
    ("ids", "page"),
    [
        ({"change_id": "c", "feedback_id": "f"}, "review?id=c"),
        ({"feedback_id": "f 1"}, "feedback/run?id=f+1"),
    ],
)
async def test_what_goes_out_has_a_link_to_where_people_look(
    ids: dict[str, str], page: str
) -> None:
    asker = Answers(said(Decision.ALLOW))
    event = RunEvent(name="change.held", tenant_id="t", **ids)  # type: ignore[arg-type]
    delivery = Delivery(
        id="d", tenant_id="t", target="us", event=event.name, payload=event, created_at=AT
    )
    one = hook(content=False)
    await HookTarget(one, asker, _no_change, "https://learn.example.com/console").deliver(delivery)
    assert asker.came[0].data["url"] == f"https://learn.example.com/console/{page}"


async def test_what_is_allowed_is_applied_and_a_note_stays_with_it() -> None:
    before = Before(said(Decision.ALLOW, "see page 3"))
    assert (await before.submit())[0] is ReceiptStatus.APPLIED
    assert "the hook 'us' says: see page 3" in before.change.warnings
    ((notice),) = before.asker.came
    assert (notice.data["after"], notice.data["kind"]) == ("원화로 적는다", "MEMORY")
    ((delivery, _, _),) = before.outbox.written
    assert (delivery.target, delivery.event, delivery.change_id) == ("us", BEFORE, before.change.id)
    assert "원화" not in delivery.model_dump_json()


async def test_what_is_held_waits_with_the_reason_and_a_person_decides() -> None:
    before = Before(said(Decision.HOLD, "unclear"))
    assert (await before.submit())[0] is ReceiptStatus.HELD
    change = before.change
    assert change.held == ("the hook 'us' wants a person to look: unclear",)
    receipt = await before.world.gate.decisions.approve(
        change.id, by="kim", seen=change.content_hash
    )
    assert receipt.status is ReceiptStatus.APPLIED


async def test_what_is_denied_is_refused_and_leaves_nothing() -> None:
    before = Before(said(Decision.DENY, "against policy"))
    status, message = await before.submit()
    assert status is ReceiptStatus.REFUSED
    assert message == "the hook 'us' denies it: against policy"
    assert not before.world.log.changes
    assert [event.name for event in before.world.events] == ["change.refused"]


async def test_what_is_denied_cannot_be_approved_either() -> None:
    before = Before(said(Decision.HOLD))
    await before.submit()
    before.asker.sent = said(Decision.DENY, "never")
    with pytest.raises(Refused, match="never"):
        await before.world.gate.decisions.approve(before.change.id, by="kim")
    assert before.change.status == "held"


@pytest.mark.parametrize(
    ("given", "status", "told"),
    [
        ({}, ReceiptStatus.APPLIED, "the hook 'us' failed, and is not required: it answered 500"),
        (
            {"required": True},
            ReceiptStatus.HELD,
            "'us', which is required, failed: it answered 500",
        ),
    ],
)
async def test_a_hook_that_fails_only_warns_unless_it_is_required(
    given: dict[str, object], status: ReceiptStatus, told: str
) -> None:
    before = Before(FAILED, given)
    assert (await before.submit())[0] is status
    assert told in "; ".join([*before.change.warnings, *before.change.held])


async def test_once_asks_once_about_the_same_content() -> None:
    before = Before(said(Decision.HOLD, "wait"), {"once": True})
    await before.submit()
    await before.world.gate.decisions.approve(before.change.id, by="kim")
    assert len(before.asker.came) == 1


async def test_a_change_that_no_condition_meets_is_not_asked_about() -> None:
    before = Before(said(Decision.DENY), {"if": 'kind = "SKILL"'})
    assert (await before.submit())[0] is ReceiptStatus.APPLIED
    assert not before.asker.came
