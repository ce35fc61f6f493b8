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
from core.domain.models import (
    SKILL_MD,
    Bundle,
    Change,
    FileRef,
    Kind,
    KnowledgeItem,
    SkillFile,
    Snapshot,
)
from core.domain.models.cases import Case, CaseBody, CaseOrigin, CaseResult, CaseRole, Check
from core.domain.text import read_fenced_json
from core.testing.knowledge import MemoryKnowledge
from core.testing.scripted_model import ScriptedChatModel, Turn, calls
from core.testing.skill_store import MemorySkillStore
from core.testing.stores import MemoryReplies
from tests.support.breaker import SimpleBreaker
from tests.unit.test_merging import table

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


class Told:
    """Answers each task with what it was told, and remembers it."""

    def __init__(self) -> None:
        self.told: list[str] = []

    async def answer(self, _change: Change, _task: str, knowledge: str, _run: int) -> str:
        self.told.append(knowledge)
        return knowledge

    async def judge(self, _change: Change, _statement: str, _answer: str) -> bool:
        raise AssertionError("nothing here is judged")


class Others(NoOthers):
    """Runs what needs no model, and remembers it."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    async def before_and_after(
        self, change: Change, blobs: Mapping[str, bytes], cases: Sequence[Case]
    ) -> Sequence[tuple[bool | None, CaseResult]]:
        assert cases
        self.ran += [case.item_id for case in cases]
        return await super().before_and_after(change, blobs, cases)


def telling(most: int = 10) -> tuple[WithBehaviour, Told, Others, MemorySkillStore]:
    told, others, skills = Told(), Others(), MemorySkillStore()
    return WithBehaviour(others, told, most, OneMemory(), skills), told, others, skills


async def test_all_cases_come_back_in_their_order_as_far_as_the_budget_goes() -> None:
    running, told, others, _ = telling(most=3)
    cases = [
        case("n1", must=["x"], check=Check.RECALL),
        case(must=["KRW"], runs=2),
        case("n2", must=["x"], check=Check.RECALL),
        case("far", must=["KRW"], runs=2),
        case("other", must=["KRW"]),
    ]
    done = await running.before_and_after(CHANGE, {}, cases)
    assert [one.case.item_id for _, one in done] == ["n1", "m", "n2", "far", "other"]
    assert others.ran == ["n1", "n2"]
    passed = [one.passed for _, one in done]
    assert passed == [False, True, False, None, True]
    why = done[3][1].why
    assert (why.code, dict(why.parameters)) == ("case.over_budget", {"runs": 2, "most": 3})  # type: ignore[attr-defined]
    assert [one.item_id for one in await _now(running, cases)] == ["n1", "m", "n2", "far", "other"]
    alone, told, others, _ = telling()
    await alone.before_and_after(CHANGE, {}, [case(must=["KRW"])])
    assert (others.ran, len(told.told)) == ([], 2)


async def _now(running: WithBehaviour, cases: Sequence[Case]) -> list[Case]:
    return [one.case for one in await running.now(cases)]


async def test_an_older_case_that_holds_is_not_tried_on_what_was_before() -> None:
    running, told, _, _ = telling()
    ((before, one),) = await running.before_and_after(CHANGE, {}, [case(own=False, must=["KRW"])])
    assert (before, one.passed, told.told) == (None, True, [NEW])
    told.told.clear()
    older = case(own=False, must=["English"])
    ((before, one),) = await running.before_and_after(CHANGE, {}, [older])
    assert (before, one.passed, told.told) == (True, False, [NEW, OLD])


async def test_what_an_agent_knows_of_an_item_is_what_it_reads_of_it() -> None:
    rows = {"r1": ("> 100", '"lead"', "large")}
    made = CHANGE.model_copy(
        update={
            "kind": Kind.DMN_RULE,
            "before": None,
            "after": Snapshot(content=table(rows), name="approval"),
        }
    )
    running, told, _, skills = telling()
    asked = case(must=["lead"]).model_copy(update={"kind": Kind.DMN_RULE})
    ((before, one),) = await running.before_and_after(made, {}, [asked])
    assert (before, one.passed) == (False, True)
    assert "<" not in told.told[0]
    assert "lead" in told.told[0]
    assert told.told[1] == ""  # there was none
    broken = made.model_copy(update={"after": Snapshot(content="< lead", name="n")})
    await running.before_and_after(broken, {}, [asked])
    assert told.told[2] == "< lead"
    # Of another skill its document, as long as it is there.
    skill = case("pay", must=["x"]).model_copy(update={"kind": Kind.SKILL})
    await running.before_and_after(CHANGE, {}, [skill])
    files = {SKILL_MD: SkillFile(data=b"# Pay")}
    skills.skills["t", "pay"] = Bundle(name="pay", files=files)
    await running.before_and_after(CHANGE, {}, [skill])
    assert told.told[-4:] == [NEW, OLD, f"# Pay\n\n{NEW}", f"# Pay\n\n{OLD}"]
