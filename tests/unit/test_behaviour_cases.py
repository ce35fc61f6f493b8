"""Cases of behaviour: a model answers with what it would know, and assertions judge the answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256

import pytest
from pydantic import JsonValue

from core.agent.budgets import Meter
from core.agent.case_answers import ModelAnswers
from core.changes.cases.behaviour import WithBehaviour, meets
from core.changes.cases.proposed import EVALS, cases_of_evals
from core.changes.cases.running import judge
from core.domain.errors import ModelDown
from core.domain.models import Change, FileRef, Kind, KnowledgeItem, Snapshot
from core.domain.models.cases import Case, CaseBody, CaseOrigin, CaseResult, CaseRole, Check
from core.domain.text import read_fenced_json
from core.testing.knowledge import MemoryKnowledge
from core.testing.scripted_model import ScriptedChatModel, Turn, calls
from core.testing.skill_store import MemorySkillStore
from core.testing.stores import MemoryReplies
from tests.support.breaker import SimpleBreaker

OLD, NEW = "Answer in English.", "Answer in Korean, amounts in KRW."
CHANGE = Change.model_construct(
    id="c1",
    key="c1:1:1:0",
    tenant_id="t",
    kind=Kind.MEMORY,
    target_id="m",
    before=Snapshot(content=OLD, name="m"),
    after=Snapshot(content=NEW, name="m"),
)

OTHER = KnowledgeItem(
    id="other", kind=Kind.MEMORY, tenant_id="t", agent_id="a", name="o", content="Be kind."
)


class OneMemory(MemoryKnowledge):
    """Knows one memory."""

    async def get(self, kind: Kind, tenant_id: str, item_id: str) -> KnowledgeItem:
        return OTHER


class NoOthers:
    """Runs what needs no model; here nothing does."""

    async def before_and_after(
        self, _change: Change, _blobs: Mapping[str, bytes], cases: Sequence[Case]
    ) -> Sequence[tuple[bool | None, CaseResult]]:
        return [(None, judge(case, None)) for case in cases]

    async def now(self, cases: Sequence[Case]) -> Sequence[CaseResult]:
        return [judge(case, None) for case in cases]


def case(item: str = "m", *, own: bool = True, **body: object) -> Case:
    return Case(
        id=f"case-{item}",
        change_id="c1" if own else "c0",
        tenant_id="t",
        agent_id="a",
        kind=Kind.MEMORY,
        item_id=item,
        role=CaseRole.REGRESSION,
        origin=CaseOrigin.MODEL,
        body=CaseBody.model_validate({"check": Check.BEHAVIOUR, "text": "What is owed?", **body}),
    )


def answers(text: str) -> Turn:
    return calls(("TaskAnswer", {"answer": text}))


def holds(value: bool) -> Turn:
    return calls(("Judgement", {"holds": value}))


def runner(*script: Turn, most: int = 10) -> tuple[WithBehaviour, ScriptedChatModel]:
    model = ScriptedChatModel(script)
    asked = ModelAnswers(model, SimpleBreaker(), MemoryReplies(), Meter())
    return WithBehaviour(NoOthers(), asked, most, OneMemory(), MemorySkillStore()), model


async def test_an_answer_fails_before_and_passes_with_what_is_learnt() -> None:
    running, model = runner(answers("5,000 KRW 입니다"), answers("You owe $4."))
    asked = case(must=["/krw/"], must_not=["$"])
    ((before, one),) = await running.before_and_after(CHANGE, {}, [asked])
    assert (before, one.passed) == (False, True)
    told = [read_fenced_json(str(seen[-1].text)) for seen in model.seen]
    assert [one["knowledge"] for one in told if isinstance(one, dict)] == [NEW, OLD]
    ((_, again),) = await running.before_and_after(CHANGE, {}, [asked])
    assert again.passed
    assert len(model.seen) == 2


async def test_a_share_of_the_runs_must_pass() -> None:
    asked = case(must=["KRW"], runs=3, at_least=0.6)
    script = [answers(text) for text in ("1 KRW", "dollars", "2 KRW", "x", "x", "x")]
    running, _ = runner(*script)
    ((before, one),) = await running.before_and_after(CHANGE, {}, [asked])
    assert (before, one.passed) == (False, True)
    strict = case(must=["KRW"], runs=3)
    running, _ = runner(*script)
    ((_, one),) = await running.before_and_after(CHANGE, {}, [strict])
    assert one.passed is False
    assert one.why == ("2 of 3 answers do what is expected; of the first other one: it lacks 'KRW'")


async def test_a_judge_is_asked_only_where_plain_assertions_hold() -> None:
    asked = case(must=["judge: it is polite", "KRW"])
    running, model = runner(answers("1 KRW"), holds(True), answers("none"))
    ((before, one),) = await running.before_and_after(CHANGE, {}, [asked])
    assert (before, one.passed) == (False, True)
    assert len(model.seen) == 3


async def test_without_budget_or_answer_there_is_no_result() -> None:
    running, model = runner(ModelDown("the model does not answer"), most=1)
    ((_, costly),) = await running.before_and_after(CHANGE, {}, [case(must=["x"], runs=2)])
    assert costly.passed is None
    assert "allows 1" in costly.why
    assert model.seen == []
    ((_, down),) = await running.before_and_after(CHANGE, {}, [case(must=["x"])])
    assert (down.passed, down.why) == (None, "the model does not answer")


async def test_a_case_of_another_item_is_asked_with_what_both_say() -> None:
    older = case("other", own=False, must=["KRW"])
    running, model = runner(answers("1 KRW"))
    assert await running.before_and_after(CHANGE, {}, [older]) == [
        (None, CaseResult(case=older, passed=True))
    ]
    told = read_fenced_json(str(model.seen[0][-1].text))
    assert isinstance(told, dict)
    assert told["knowledge"] == f"Be kind.\n\n{NEW}"

    running, _ = runner(answers("dollars"), answers("2 KRW"))
    ((before, one),) = await running.before_and_after(CHANGE, {}, [older])
    assert (before, one.passed) == (True, False)


@pytest.mark.parametrize(
    ("answer", "asserted", "is_met"),
    [
        ("Pay 5,000 KRW.", "5000 krw", True),
        ("Pay 15,000 KRW.", "5000 KRW", False),
        ("Pay 5,000 KRW.", r"/\d+ KRW/", True),
        ("", "x", False),
    ],
)
async def test_an_assertion_is_a_text_or_a_pattern(
    answer: str, asserted: str, is_met: bool
) -> None:
    assert await meets(answer, asserted) is is_met


@pytest.mark.parametrize(
    ("asserted", "why"),
    [("/(a|aa)+$/", "it could not be checked"), ("/[/", "cannot be read: ")],
)
async def test_a_pattern_that_takes_too_long_has_no_result(asserted: str, why: str) -> None:
    running, _ = runner(answers("a" * 90 + "!"))
    ((before, one),) = await running.before_and_after(CHANGE, {}, [case(must=[asserted], runs=9)])
    assert (before, one.passed) == (None, None)
    assert why in one.why


@pytest.mark.parametrize(
    ("given", "tasks"),
    [
        ({"evals": [{"id": 1, "prompt": "Do it", "expectations": ["It is done"]}]}, ["Do it"]),
        ({"evals": [{"prompt": "Do it", "expected_output": "Done"}, {"prompt": 1}]}, ["Do it"]),
        ({"evals": [{"prompt": "Do it", "expectations": []}, 7, None]}, []),
        ({"evals": [{"prompt": "Do it", "expected_output": "Done", "runs": 0}]}, []),
        ({"evals": [{"prompt": "Do it", "expectations": ["/[/"]}]}, []),
        ([1], []),
    ],
)
def test_the_evals_of_a_skill_are_cases(given: JsonValue, tasks: list[str]) -> None:
    data = json.dumps(given).encode()
    ref = FileRef(sha256=sha256(data).hexdigest(), size=len(data))
    state = Snapshot(content="", name="x", files={EVALS: ref})
    found = cases_of_evals(state, {ref.sha256: data})
    assert [body.text for body in found] == tasks
    assert all(part.startswith("judge: ") for body in found for part in body.must)
    assert not cases_of_evals(state, {ref.sha256: b"\xff{"})


def test_an_eval_may_say_how_often_and_a_pattern_takes_no_judge() -> None:
    asked = {"prompt": "Do it", "expectations": ["/KRW/", "polite"], "runs": 3, "at_least": 0.5}
    data = json.dumps({"evals": [asked]}).encode()
    ref = FileRef(sha256=sha256(data).hexdigest(), size=len(data))
    state = Snapshot(content="", name="x", files={EVALS: ref})
    (body,) = cases_of_evals(state, {ref.sha256: data})
    assert (body.must, body.runs, body.at_least) == (("/KRW/", "judge: polite"), 3, 0.5)
