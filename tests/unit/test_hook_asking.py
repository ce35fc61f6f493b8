"""What a hook is given, and what it comes to: its answer, its silence, and its failure."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import JsonValue

from core.delivery.asking import (
    CONTENT_CHARS,
    LEASE_SECONDS,
    NOTE_CHARS,
    AskedBefore,
    HookTarget,
    read_answer,
)
from core.delivery.hooks import Hook, Hooks
from core.domain.errors import InvalidInput, NotFound, SourceDown
from core.domain.hashing import sha256
from core.domain.models import Change, FileRef, Kind, RunEvent, Snapshot
from core.domain.models.deliveries import (
    Decision,
    Delivery,
    DeliveryStatus,
    HookAnswer,
    Notice,
    Outcome,
    Route,
    Sent,
)
from core.domain.ports.deliveries import BEFORE, Judged
from tests.support.react import item_change

AT = datetime(2026, 1, 1, tzinfo=UTC)
LATER = AT + timedelta(hours=1)
CONSOLE = "https://learn.example.com/console"
CHANGE = item_change(Kind.MEMORY, "m1", "unit", "now").model_copy(
    update={
        "before": Snapshot(content="before", name="unit"),
        "feedback_content": "said",
        "reason": "a preference",
    }
)


def hook(**given: object) -> Hook:
    return Hook.model_validate({"name": "us", "event": "change.held", "python": "a:b", **given})


@dataclass
class Asker:
    """Answers as told, or fails; `came` is what it was given."""

    sent: Sent = field(default_factory=lambda: Sent(outcome=Outcome.DONE))
    error: Exception | None = None
    came: list[Notice] = field(default_factory=list)

    async def ask(self, notice: Notice) -> Sent:
        self.came.append(notice)
        if self.error is not None:
            raise self.error
        return self.sent

    @property
    def data(self) -> dict[str, JsonValue]:
        (notice,) = self.came
        return dict(notice.data)


async def change_of(change_id: str) -> Change:
    assert change_id, "a change without an id is not looked up"
    if change_id != CHANGE.id:
        raise NotFound("no such change")
    return CHANGE


def delivery(event: RunEvent) -> Delivery:
    return Delivery(
        id="d", tenant_id="t", target="us", event="as.named", payload=event, created_at=AT
    )


async def told(one: Hook, event: RunEvent) -> tuple[Notice, dict[str, JsonValue]]:
    asker = Asker()
    await HookTarget(one, asker, change_of, CONSOLE).deliver(delivery(event))
    return asker.came[0], asker.data


HELD = RunEvent(
    name="change.held", tenant_id="t", change_id=CHANGE.id, feedback_id="f1", at=LATER,
    data={"kind": "MEMORY"},
)  # fmt: skip


async def test_an_event_is_told_with_its_ids_its_moment_and_a_link() -> None:
    notice, data = await told(hook(content=False), HELD)
    assert (notice.id, notice.type, notice.at, notice.tenant_id) == ("d", "as.named", LATER, "t")
    assert data == {
        "kind": "MEMORY", "tenant_id": "t", "change_id": CHANGE.id, "feedback_id": "f1",
        "state": data["state"], "url": f"{CONSOLE}/review?id={CHANGE.id}",
    }  # fmt: skip
    assert None not in dict(data["state"]).values()  # type: ignore[arg-type, call-overload]
    bare = RunEvent(name="queue.paused", tenant_id="t")
    notice, data = await told(hook(), bare)
    assert notice.at == AT
    assert "url" not in data
    asker = Asker()
    await HookTarget(hook(content=False), asker, change_of).deliver(delivery(HELD))
    assert "url" not in asker.data


@pytest.mark.parametrize(
    ("given", "has_words"),
    [
        ({}, True),  # what runs here is given them
        ({"content": False}, False),
        ({"python": None, "http": "https://x"}, False),
        ({"python": None, "http": "https://x", "content": True}, True),
    ],
)
async def test_the_words_of_a_change_go_to_who_is_given_them(
    given: dict[str, object], has_words: bool
) -> None:
    _, data = await told(hook(**given), HELD)
    words = {
        "agent_id": "a1", "before": "before", "after": "now", "files": [], "feedback": "said",
        "reason": "a preference",
    }  # fmt: skip
    assert {name: data[name] for name in words if name in data} == (words if has_words else {})


async def test_a_change_that_was_never_stored_is_told_without_its_words() -> None:
    _, data = await told(hook(), HELD.model_copy(update={"change_id": "unknown"}))
    assert (data["kind"], "after" in data) == ("MEMORY", False)


async def test_long_words_are_cut_and_files_are_named() -> None:
    asker = Asker()
    files = {name: FileRef(sha256=sha256(b""), size=0) for name in ("b.md", "a.md")}
    large = CHANGE.model_copy(
        update={
            "before": None,
            "after": Snapshot(content="x" * (CONTENT_CHARS + 1), name="unit", files=files),
            "feedback_content": "y" * (CONTENT_CHARS + 1),
        }
    )
    await HookTarget(hook(), asker, change_of).before(large, delivery(HELD))
    data = asker.data
    assert (data["before"], data["files"]) == (None, ["a.md", "b.md"])
    assert len(str(data["after"])) == len(str(data["feedback"])) == CONTENT_CHARS
    gone = CHANGE.model_copy(update={"after": None})
    asker = Asker()
    await HookTarget(hook(), asker, change_of).before(gone, delivery(HELD))
    assert (asker.data["before"], asker.data["after"], asker.data["files"]) == ("before", None, [])


@pytest.mark.parametrize(
    ("change", "event", "more"),
    [
        ({}, {}, {}),
        ({"held": ("why",)}, {}, {"because": ["why"]}),
        ({"error": "broke"}, {}, {}),  # of an event that is about no error
        ({"error": "broke"}, {"error": "as it was"}, {"error": "broke"}),
        ({}, {"error": "as it was"}, {"error": "as it was"}),
    ],
)
async def test_people_are_told_why_in_a_form_that_can_be_translated(
    change: dict[str, object], event: dict[str, JsonValue], more: dict[str, JsonValue]
) -> None:
    asker = Asker()

    async def found(change_id: str) -> Change:
        return CHANGE.model_copy(update=change)

    one = hook(python=None, notify="json://x")
    made = HELD.model_copy(update={"data": event})
    await HookTarget(one, asker, found).deliver(delivery(made))
    named = {name: value for name, value in asker.data.items() if name in {"because", "error"}}
    assert named == more
    assert "after" not in asker.data


@pytest.mark.parametrize("has_words", [True, False, None])
async def test_before_a_change_its_words_come_along_unless_unwanted(has_words: bool | None) -> None:
    asker = Asker()
    one = hook(event=BEFORE, python=None, http="https://x", content=has_words)
    target = HookTarget(one, asker, change_of, CONSOLE)
    await target.before(CHANGE, delivery(HELD))
    (notice,) = asker.came
    assert (notice.id, notice.type, notice.at, notice.tenant_id) == ("d", BEFORE, AT, "t1")
    assert ("after" in notice.data) == (has_words is not False)
    assert notice.data["url"] == f"{CONSOLE}/review?id={CHANGE.id}"
    assert (notice.data["kind"], notice.data["warnings"]) == ("MEMORY", 0)
    assert (target.digest, target.lease) == (one.digest, one.timeout + LEASE_SECONDS)


@pytest.mark.parametrize(
    ("error", "end"),
    [
        (SourceDown("away"), (Outcome.LATER, "source", "away")),
        (
            InvalidInput("no such tool", hint="look again"),
            (Outcome.NEVER, "invalid", "no such"),
        ),
        (TimeoutError(), (Outcome.LATER, "error", "cut off")),
        (ZeroDivisionError("Kim"), (Outcome.LATER, "error", "ZeroDivisionError")),
    ],
)
async def test_what_goes_wrong_with_a_hook_is_how_it_ended(
    error: Exception, end: tuple[Outcome, str, str]
) -> None:
    sent = await HookTarget(hook(), Asker(error=error), change_of).deliver(delivery(HELD))
    assert (sent.outcome, sent.status) == end[:2]
    assert end[2] in str(sent.error)
    assert ("look again" in str(sent.error)) == isinstance(error, InvalidInput)


class Recorded:
    """The part of an outbox that asking before a change takes."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], HookAnswer | None] = {}
        self.written: list[tuple[Delivery, Sent, float]] = []
        self.calls = 0

    async def record(self, answered: Sequence[tuple[Delivery, Sent, float]]) -> None:
        self.calls += 1
        self.written += answered
        for one, sent, _ in answered:
            self.answers[one.target, one.subject] = sent.answer

    async def answered(self, target: str, once_key: str) -> HookAnswer | None:
        return self.answers.get((target, once_key))


def said(decision: Decision, note: str = "") -> Sent:
    return Sent(outcome=Outcome.DONE, answer=HookAnswer(decision=decision, note=note))


def asked(outbox: Recorded, *targets: tuple[Hook, Asker]) -> AskedBefore:
    ids = itertools.count()
    made = [HookTarget(one, asker, change_of) for one, asker in targets]
    return AskedBefore(made, outbox, lambda: AT, lambda: f"{next(ids)}")  # type: ignore[arg-type]


async def judged(*sent: Sent, **given: object) -> Judged:
    hooks = [hook(name=f"h{n}", event=BEFORE, **given) for n in range(len(sent))]
    targets = [(one, Asker(answer)) for one, answer in zip(hooks, sent, strict=True)]
    return await asked(Recorded(), *targets)(CHANGE)


SILENT = Sent(outcome=Outcome.LATER, status="500")
ALLOW, HOLD, DENY = Decision


async def test_what_all_hooks_say_is_put_together() -> None:
    assert await judged() == Judged()
    assert await judged(said(ALLOW), Sent(outcome=Outcome.DONE)) == Judged()
    found = await judged(
        said(DENY, "no"), said(HOLD, "wait"), said(ALLOW, "see page 3"), said(DENY, "never"),
        said(HOLD), SILENT, Sent(outcome=Outcome.NEVER, status="x", error="broken"),
    )  # fmt: skip
    assert found.denied == "the hook 'h0' denies it: no"
    assert found.held == (
        "the hook 'h1' wants a person to look: wait",
        "the hook 'h4' wants a person to look: no reason given",
    )
    assert [note.split(": ")[-1] for note in found.notes] == ["see page 3", "500", "broken"]
    required = await judged(SILENT, said(ALLOW), required=True)
    assert (len(required.held), required.notes, required.denied) == (1, (), "")


async def test_each_answer_is_recorded_with_what_it_is_about() -> None:
    outbox = Recorded()
    good, bad = hook(name="good", event=BEFORE), hook(name="bad", event=BEFORE)
    passed_over = hook(name="other", event=BEFORE, **{"if": 'kind = "SKILL"'})
    about = CHANGE.model_copy(update={"feedback_id": "f1"})
    await asked(outbox, (passed_over, Asker()), (good, Asker(said(ALLOW))), (bad, Asker(SILENT)))(
        about
    )
    assert outbox.calls == 1
    (first, sent, seconds), (second, _, _) = outbox.written
    assert sent == said(ALLOW)
    assert 0 < seconds < 10
    assert first == Delivery(
        id="dlv_0", tenant_id="t1", target="good", event=BEFORE, subject="", feedback_id="f1",
        change_id=CHANGE.id, created_at=AT, status=DeliveryStatus.DELIVERED,
        payload=RunEvent(name=BEFORE, tenant_id="t1", change_id=CHANGE.id),
    )  # fmt: skip
    assert (second.target, second.status) == ("bad", DeliveryStatus.FAILED)


async def test_a_hook_asked_once_is_asked_again_about_another_outcome() -> None:
    outbox, asker = Recorded(), Asker(said(HOLD, "wait"))
    once = asked(outbox, (hook(event=BEFORE, once=True), asker))
    first = await once(CHANGE)
    noted = CHANGE.model_copy(update={"id": "c2", "reason": "said anew", "warnings": ("x",)})
    assert await once(noted) == first
    assert (len(asker.came), outbox.calls) == (1, 1)
    for other in (
        {"after": Snapshot(content="other", name="unit")},
        {"target_id": "m2"},
        {"tenant_id": "t2"},
        {"kind": Kind.DMN_RULE},
        {"base_hash": "moved"},
    ):
        await once(CHANGE.model_copy(update=other))
    assert (len(asker.came), outbox.calls) == (6, 6)


async def test_a_hook_is_asked_each_time_unless_it_says_once() -> None:
    outbox, asker = Recorded(), Asker(said(HOLD))
    each = asked(outbox, (hook(event=BEFORE), asker))
    for _ in range(2):
        await each(CHANGE)
    assert (len(asker.came), outbox.calls) == (2, 2)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("x" * (NOTE_CHARS + 1), HookAnswer(note=f"{'x' * (NOTE_CHARS - 1)}…")),
        ("", HookAnswer()),
        ("[]", HookAnswer(note="[]")),
    ],
)
def test_prose_is_a_note_where_prose_is_wanted(text: str, answer: HookAnswer) -> None:
    assert read_answer(text) == answer
    assert read_answer(text, prose=False) == HookAnswer()


@pytest.mark.parametrize("text", ['{"decision": "maybe"}', '{"decision": 1}'])
def test_a_decision_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"maybe|1"):
        read_answer(text)
    with pytest.raises(ValueError, match=f"{'x' * 39}…"):
        read_answer(f'{{"decision": "{"x" * 41}"}}')


def test_an_answer_nested_too_deeply_is_a_note() -> None:
    deep = "[" * 100_000
    assert read_answer(deep).note.startswith("[[[")


def routes(event: RunEvent, /, **given: object) -> Sequence[Route]:
    return Hooks([hook(**given)]).routes(event)


def test_what_goes_out_once_is_known_by_the_event_and_what_it_is_about() -> None:
    assert routes(HELD) == [Route("us", "change.held", "f1", None)]
    (once,) = routes(HELD, once=True)
    assert once == Route("us", "change.held", "f1", f"change.held:change.held:{CHANGE.id}")
    alone = RunEvent(name="change.held", change_id="c9")
    assert routes(alone)[0].subject == "c9"
    piece = RunEvent(name="feedback.finished", feedback_id="f9", data={"status": "dead"})
    (ended,) = routes(piece, event="feedback.failed", once=True)
    assert ended == Route("us", "feedback.failed", "f9", "feedback.failed:feedback.finished:f9")
    paused = RunEvent(name="queue.paused")
    (nothing,) = routes(paused, event="queue.paused", once=True)
    assert nothing == Route("us", "queue.paused", "", "queue.paused:queue.paused:")


@pytest.mark.parametrize(
    ("condition", "is_met"),
    [
        ("waited_seconds > 1.5", True),
        ('list contains(because, "b")', True),
        ('because = ["a"]', False),
        ("attempt = 3", True),
        ("by = null", True),
        ("differs", True),
        ("not(differs)", False),
        ("status = null", True),  # an object is nothing that a condition compares
        ('operation = "CREATE"', False),
    ],
)
def test_a_condition_compares_values_of_every_type(condition: str, is_met: bool) -> None:
    data: dict[str, JsonValue] = {
        "waited_seconds": 1.75, "because": ["a", "b"], "attempt": 3, "differs": True,
        "status": {"x": 1},
    }  # fmt: skip
    event = HELD.model_copy(update={"data": data})
    assert bool(routes(event, **{"if": condition})) is is_met


def test_who_answers_in_the_background_is_not_waited_for() -> None:
    slow = hook(name="slow", python=None, http="https://x", **{"async": True})
    assert Hooks([hook(), slow]).awaited == ["us"]


def test_a_hook_is_known_by_its_one_kind() -> None:
    assert (hook().kind, hook().shown_kind) == ("python", "python")
    plugged = hook(python=None, plugin={"jira": {}})
    assert (plugged.kind, plugged.shown_kind) == ("plugin", "jira")
    assert hook().digest != hook(timeout=11).digest
