"""How rows become models and models rows, without a database."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from decimal import Decimal
from typing import cast

import psycopg
import pytest
from langchain_core.messages import HumanMessage
from psycopg.types.json import Jsonb
from structlog.testing import capture_logs

from core.adapters.postgres.change_log import _parts as parts_of
from core.adapters.postgres.change_log import change_of, change_row
from core.adapters.postgres.inbox import read_feedback
from core.adapters.postgres.job_worker import PauseWatch
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import (
    Pool,
    connecting,
    findings_json,
    joined,
    recalled,
    to_said,
    translated,
)
from core.adapters.postgres.runs import candidate_of
from core.adapters.postgres.saver import _check_messages as check_messages
from core.adapters.postgres.unit_of_work import document_of, history_row, version_row
from core.domain.errors import (
    ConfigurationError,
    DatabaseDown,
    InvalidInput,
    RunFailed,
    SkillWorkerError,
)
from core.domain.hashing import name_key, same_key, state_hash
from core.domain.messages import Message
from core.domain.models import (
    Change,
    FileRef,
    Finding,
    HistoryRecord,
    Kind,
    Operation,
    Pause,
    PauseKind,
    Reach,
    Scope,
    Snapshot,
)
from tests.support.react import item_change

AT = datetime(2026, 1, 5, tzinfo=UTC)
SAID = Message.of("test.said", "{n} of {kind}", {"n": 3, "kind": "rules"})
OTHER = Message.of("test.other", "something else", {})
USED: dict[str, object] = {
    "model_calls": 1,
    "input_tokens": 2,
    "output_tokens": 3,
    "cost": Decimal(4),
}


def test_messages_are_stored_by_their_text_and_recalled() -> None:
    stored = to_said("plain", None, SAID, OTHER)
    assert isinstance(stored, Jsonb)
    assert {*stored.obj} == {"3 of rules", "something else"}
    found = recalled(stored.obj)
    assert found["3 of rules"].code == "test.said"
    assert found["3 of rules"].parameters == {"n": 3, "kind": "rules"}
    assert to_said("plain", None) is None
    assert to_said() is None


@pytest.mark.parametrize("stored", [None, {}, [], "x", {"a": {"code": 1}}, {"a": None}, [1]])
def test_what_cannot_be_recalled_is_left_out(stored: object) -> None:
    assert recalled(stored) == {}


def feedback(**more: object) -> dict[str, object]:
    return {
        "id": "f", "source": "s", "source_id": "x", "tenant_id": "t", "agent_ids": ["a"],
        "content": "words", "status": "queued", "said_at": AT, "created_at": AT, "said": None,
        "error": None, "job_id": 7, **USED, **more,
    }  # fmt: skip


def test_a_row_is_read_as_feedback_with_its_cost_and_why_it_waits() -> None:
    said = to_said(SAID)
    assert said is not None
    found, problem = read_feedback(feedback(error="3 of rules", said=said.obj))
    assert problem is None
    assert (found.id, found.content, found.status) == ("f", "words", "queued")
    assert cast("Message", found.error).code == "test.said"
    usage = found.usage
    assert (usage.model_calls, usage.input_tokens, usage.output_tokens, usage.cost) == (1, 2, 3, 4)


def test_columns_that_cannot_be_read_are_named_and_left_out() -> None:
    found, problem = read_feedback(feedback(events="x", agent_ids=[None], trace=3))
    assert problem is not None
    assert sorted(one.split(" cannot")[0] for one in problem.split("; ")) == [
        "column agent_ids", "column events", "column trace",
    ]  # fmt: skip
    assert (found.events, found.agent_ids, found.trace, found.content) == ((), (), None, "words")


def test_a_verdict_is_read_with_its_messages_or_reached_again() -> None:
    said = to_said(SAID, OTHER)
    assert said is not None
    row = {"id": "c", "feedback_id": "f", "agent_id": "a", "position": 0, "content": "x",
           "agent_name": "A", "tenant_id": "t", "generation": 1, "epoch": 1, "intent_hint": "",
           "said": said.obj, "unknown": 1, **USED}  # fmt: skip
    verdict = {"status": "no_action", "reason": "3 of rules", "refused": ["something else", "x"]}
    found = candidate_of(row | {"verdict": verdict})
    assert found.verdict is not None
    assert cast("Message", found.verdict.reason).code == "test.said"
    assert [getattr(one, "code", None) for one in found.verdict.refused] == ["test.other", None]
    assert found.usage.cost == 4
    with capture_logs() as logs:
        broken = candidate_of(row | {"verdict": {"status": "odd"}})
    assert broken.verdict is None
    assert [(one["event"], one["candidate_id"]) for one in logs] == [("verdict.unreadable", "c")]


def test_findings_are_stored_in_english_and_as_what_they_were_written_from() -> None:
    given = {"code": "payee", "severity": "hold", "start": 0, "end": 1, "digest": "d"}
    made = [Finding.model_validate({**given, "text": text}) for text in (SAID, "plain")]
    first, second = findings_json(made)
    assert (first["text"], second["text"]) == ("3 of rules", "plain")
    assert first["said"] == SAID.to_json()
    assert "said" not in second
    assert not {"is_allowed"} & {*first, *second}


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (psycopg.OperationalError("gone"), DatabaseDown),
        (UnicodeEncodeError("utf-8", "x", 0, 1, "surrogates not allowed"), InvalidInput),
        (psycopg.errors.UniqueViolation("twice\nDETAIL:  Key (id)=(secret)"), SkillWorkerError),
    ],
)
def test_what_the_driver_raises_is_translated_without_the_values_of_a_row(
    raised: Exception, kind: type[SkillWorkerError]
) -> None:
    with pytest.raises(kind) as caught, translated():
        raise raised
    assert "secret" not in caught.value.message
    assert caught.value.__cause__ is raised


def test_a_connection_string_that_is_wrong_is_not_repeated() -> None:
    with pytest.raises(ConfigurationError) as caught, connecting():
        raise psycopg.ProgrammingError("postgresql://kim:secret@host")
    assert "secret" not in caught.value.message
    assert caught.value.__suppress_context__
    with pytest.raises(DatabaseDown), connecting():
        raise psycopg.OperationalError("no answer")


def test_texts_are_joined_by_line_breaks() -> None:
    assert joined(["a", "b"]) == "a\nb"
    assert joined([]) == ""


def test_contents_are_stored_in_statements_of_about_a_megabyte() -> None:
    size = 400_000
    blobs = {str(n): bytes(size) for n in range(5)} | {"huge": bytes(2**20 + 1), "last": b"x"}
    assert [[*part] for part in parts_of(blobs)] == [
        ["0", "1"], ["2", "3"], ["4"], ["huge"], ["last"],
    ]  # fmt: skip
    whole = {"a": bytes(2**19), "b": bytes(2**19)}
    assert [[*part] for part in parts_of(whole)] == [["a", "b"]]
    assert [*parts_of({})] == []


def changed(**more: object) -> Change:
    return item_change(Kind.MEMORY, "m", "Its Name", "What it says").model_copy(update=more)


def test_a_change_comes_back_from_its_row_with_what_was_said_of_it() -> None:
    given = {
        "reason": SAID, "error": OTHER, "warnings": (SAID, "plain"), "held": ("why", OTHER),
        "retracts": ("c1",), "retires": ("k1",), "breaks": ("k2",), "feedback_content": "words",
        "before": Snapshot(content="was", name="n"),
    }  # fmt: skip
    change = changed(**given)
    row = change_row(change)
    stored = {key: one.obj if isinstance(one, Jsonb) else one for key, one in row.items()}
    found = change_of({**stored, "created_at": AT})
    assert found == change.model_copy(update={"created_at": AT})
    codes = [getattr(one, "code", None) for one in (found.reason, found.error, *found.warnings)]
    assert codes == ["test.said", "test.other", "test.said", None]
    assert [getattr(one, "code", None) for one in found.held] == [None, "test.other"]
    plain = change_row(changed())
    assert (plain["said"], plain["before"], plain["proposed"]) == (None, None, None)


def test_a_version_says_what_its_change_made_or_ended() -> None:
    reach = Reach(scope=Scope.USER, user="kim", valid_until=AT)
    after = Snapshot(content="What  it SAYS", name="New Name", reach=reach)
    row = version_row(changed(after=after, base_hash="base"))
    assert (row["name"], row["name_key"]) == ("New Name", name_key("New Name"))
    assert (row["content"], row["same_key"]) == ("What  it SAYS", same_key("What  it SAYS"))
    assert (row["scope"], row["scope_user"], row["valid_until"]) == (Scope.USER, "kim", AT)
    assert (row["hash"], row["base_hash"]) == (state_hash(after), "base")
    gone = version_row(changed(after=None))
    assert (gone["name"], gone["content"], gone["scope"]) == ("Its Name", "", Scope.AGENT)
    assert gone["hash"] == state_hash(None)


def test_a_change_is_searched_by_what_it_says() -> None:
    found = document_of(changed(), "a")
    assert found is not None
    assert (found.agent_id, found.content, found.files) == ("a", "What it says", ())
    assert document_of(changed(after=None), "a") is None
    text = "---\nname: pay\ndescription: How to pay.\n---\n# Pay\n"
    files = {"SKILL.md": FileRef(sha256="1", size=1), "scripts/pay.py": FileRef(sha256="2", size=2)}
    after = Snapshot(content=text, name="pay", files=files)
    skill = document_of(changed(kind=Kind.SKILL, after=after), None)
    assert skill is not None
    assert (skill.kind, skill.agent_id, skill.name) == (Kind.SKILL, None, "pay")
    assert "How to pay." in skill.content
    assert any("scripts/pay.py" in one for one in skill.files)


def test_a_record_of_the_history_keeps_its_files_as_json() -> None:
    record = HistoryRecord(
        id="h", knowledge_type=Kind.SKILL, knowledge_id="pay", knowledge_name="pay", agent_id="a",
        tenant_id="t", operation=Operation.UPDATE, previous_content=None, new_content="x",
        new_files={"a": FileRef(sha256="1", size=2)}, new_reach=Reach(), feedback_content="words",
        feedback_id=None, change_id="c", attempt=1, status="applied", created_at=AT,
    )  # fmt: skip
    row = history_row(record)
    assert "created_at" not in row
    assert (row["id"], row["operation"], row["previous_files"]) == ("h", "UPDATE", None)
    files, reach = row["new_files"], row["new_reach"]
    assert isinstance(files, Jsonb)
    assert isinstance(reach, Jsonb)
    assert files.obj == {"a": {"sha256": "1", "size": 2, "executable": False}}
    assert reach.obj["scope"] == "agent"


@pytest.mark.parametrize("messages", [None, "x", {}, [HumanMessage("x"), "y"], [None]])
def test_what_decodes_into_no_messages_is_refused(messages: object) -> None:
    with pytest.raises(RunFailed, match="thread-1"):
        check_messages("thread-1", messages)


def test_messages_of_a_stored_run_pass() -> None:
    check_messages("thread-1", [HumanMessage("x")])
    check_messages("thread-1", [])


async def test_work_is_paused_as_long_as_there_is_a_reason_and_told_once() -> None:
    jobs = Jobs(cast("Pool", None))
    answers: list[Pause | SkillWorkerError | None] = []

    async def ask() -> Pause | None:
        await asyncio.sleep(0)
        answer = answers.pop(0)
        if isinstance(answer, SkillWorkerError):
            raise answer
        return answer

    watch = PauseWatch(jobs, ask)
    model = Pause(kind=PauseKind.MODEL, reason="down", since=AT)
    typed = Pause(kind=PauseKind.PAUSED, reason="secret words", since=AT)
    seen: list[tuple[bool, list[tuple[object, ...]]]] = []
    answers += [None, model, model, DatabaseDown("x"), typed, None, None, DatabaseDown("x")]
    while answers:
        with capture_logs() as logs:
            await watch.check()
        told = [(one["event"], one["kind"], one.get("reason")) for one in logs
                if one["log_level"] == "warning"]  # fmt: skip
        seen.append((jobs.engine.paused, told))
    assert seen == [
        (False, []),
        (True, [("work.held", PauseKind.MODEL, "down")]),
        (True, []),
        (True, []),
        (True, [("work.held", PauseKind.PAUSED, None)]),
        (False, [("work.resumed", PauseKind.PAUSED, None)]),
        (False, []),
        (False, []),
    ]
    assert watch.now is None
