"""What the policy denies: refused by the gate before it costs anything, and not offered."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import HumanMessage, ToolMessage

from core.agent.loop.deps import Denies, RunDeps
from core.agent.offline.model import OfflineChatModel
from core.changes.policy.review_policy import asked_change, parse_policy
from core.domain.messages import translated
from core.domain.models import (
    DENIED,
    Compared,
    Kind,
    Operation,
    Receipt,
    ReceiptStatus,
    SubmitContext,
    VerdictStatus,
)
from core.domain.text import read_fenced_json
from core.react_agent import create_feedback_react_agent
from core.testing.gate import FakeGate
from core.testing.scripted_model import calls, says
from tests.support.gate import World, ask, on_behalf
from tests.support.react import AGENT, CANDIDATE, FEEDBACK, MEMORY, Bench

NO_MEMORIES = "rules: [{when: {kind: MEMORY}, then: deny, because: nothing is remembered}]"
NO_NAMES = "rules: [{when: {target: '*원화*'}, then: deny, because: no currencies}]"
SKILL = {"operation": "CREATE", "reason": "절차"}
NOTHING = calls(("no_action", {"reason": "정책", "category": "unclear"}))
STEPS = "먼저 금액을 확인하고, 그다음 팀장에게 알리고, 마지막으로 환불하는 절차를 지켜 주세요"


def world(policy: str, *, dry_run: bool = False) -> World:
    return World(policy=parse_policy(policy, "p.yaml"), dry_run=dry_run)


@pytest.mark.parametrize(("policy", "prepared"), [(NO_MEMORIES, 0), (NO_NAMES, 1)])
async def test_a_denied_change_is_refused_and_not_stored(policy: str, prepared: int) -> None:
    bench = world(policy)
    receipt = await bench.gate.submit(ask(), on_behalf())
    assert (receipt.status, receipt.category) == (ReceiptStatus.REFUSED, DENIED)
    assert "the policy does not allow CREATE of MEMORY: no" in receipt.message
    assert "정책상" in translated("ko", receipt.message)
    assert bench.committer.prepared == prepared
    assert not bench.log.changes
    assert not bench.history()
    assert [event.name for event in bench.events] == ["change.refused"]


async def test_a_dry_run_tells_of_a_refusal_and_leaves_no_trace() -> None:
    bench = world(NO_MEMORIES, dry_run=True)
    assert (await bench.gate.submit(ask(), on_behalf())).category == DENIED
    assert not bench.events


async def test_what_comes_in_sets_is_denied_one_by_one() -> None:
    bench = world(NO_NAMES)
    asked = [
        (ask(text), on_behalf(key).model_copy(update={"fence": None, "compared": Compared()}))
        for text, key in (("원화로 적는다", "k1"), ("인사는 짧게", "k2"))
    ]
    done = await bench.gate.submit_all(asked)
    assert [isinstance(one, Receipt) and one.status.value for one in done] == ["refused", "applied"]


async def test_what_a_person_takes_back_is_no_teaching() -> None:
    bench = world(NO_NAMES)
    free = World()
    made = await free.gate.submit(ask(), on_behalf())
    bench.use(free)
    assert (await bench.gate.revert(made.change_id or "", "x")).status is ReceiptStatus.APPLIED


def denying(rules: str) -> Denies:
    """Return the refusals of a policy with these rules, of a run that gave its source."""
    policy = parse_policy(f"roles: {{guest: kim}}\nrules:\n{rules}", "p.yaml")

    def denies(context: SubmitContext, kind: Kind, operation: Operation) -> str | None:
        return policy.denies(asked_change(context, kind, operation), is_draft=True)

    return denies


GUESTS = denying(
    "  - {when: {role: guest, kind: SKILL}, then: deny, because: guests teach no skills}\n"
    "  - {when: {author: kim, kind: MEMORY, operation: DELETE}, then: deny, because: not kim}"
)


async def test_what_is_denied_is_not_offered_and_the_model_is_told_why() -> None:
    bench = Bench([calls(("commit_to_memory", MEMORY)), says("끝")], denies=GUESTS)
    assert (await bench.run()).status is VerdictStatus.COMPLETED
    assert "commit_to_skill" not in bench.model.tools
    assert {"commit_to_memory", "commit_to_dmn_rule", "no_action"} <= {*bench.model.tools}
    first = bench.model.seen[0][1]
    assert isinstance(first, HumanMessage)
    told = read_fenced_json(first.text)
    assert isinstance(told, dict)
    assert told["denied"] == {
        "commit_to_skill": "guests teach no skills",
        "commit_to_memory DELETE": "not kim",
    }


async def test_a_rule_sees_the_roles_of_the_token_that_gave_the_feedback() -> None:
    denies = denying("  - {when: {role: submit, kind: SKILL}, then: deny, because: read only}")
    piece = FEEDBACK.model_copy(update={"roles": ("submit",)})
    for given, is_offered in ((piece, False), (FEEDBACK, True)):
        bench = Bench(
            [calls(("commit_to_memory", MEMORY)), says("끝")], denies=denies, feedback=given
        )
        await bench.run()
        assert ("commit_to_skill" in bench.model.tools) is is_offered


async def test_an_operation_that_is_denied_is_no_choice_of_the_tool() -> None:
    run = RunDeps(
        shared=Bench([], denies=GUESTS).deps, candidate=CANDIDATE, feedback=FEEDBACK, agent=AGENT
    )
    context = create_feedback_react_agent(AGENT.id, FEEDBACK.content, deps=run).context
    offered = {
        schema["function"]["name"]: json.dumps(schema["function"]["parameters"])  # type: ignore[index,call-overload]
        for schema in context.schemas
    }
    assert '"DELETE"' not in offered["commit_to_memory"]
    assert '"DELETE"' in offered["commit_to_dmn_rule"]


async def test_a_call_of_what_is_not_offered_is_answered_with_the_reason() -> None:
    bench = Bench([calls(("commit_to_skill", SKILL)), NOTHING], denies=GUESTS)
    verdict = await bench.run()
    answer = bench.model.seen[1][-1]
    assert isinstance(answer, ToolMessage)
    assert "'commit_to_skill' is not offered: guests teach no skills" in answer.text
    assert verdict.status is VerdictStatus.NO_ACTION
    assert not bench.gate.submitted


async def test_a_run_that_is_denied_what_it_asked_for_has_not_failed() -> None:
    denied = Receipt(
        status=ReceiptStatus.REFUSED,
        message="no",
        kind=Kind.SKILL,
        operation=Operation.CREATE,
        category=DENIED,
    )
    bench = Bench([calls(("commit_to_skill", SKILL)), NOTHING], gate=FakeGate([denied]))
    assert (await bench.run()).status is VerdictStatus.NO_ACTION


async def test_where_nothing_may_be_taught_no_model_is_asked() -> None:
    bench = Bench([], denies=denying("  - {then: deny, because: it is locked}"))
    bench.candidate = CANDIDATE.model_copy(update={"epoch": 1})
    verdict = await bench.run()
    assert verdict.status is VerdictStatus.NO_ACTION
    assert "it is locked" in verdict.reason
    assert bench.model.seen == []


async def test_the_stand_in_learns_no_skill_in_another_form() -> None:
    bench = Bench([], denies=GUESTS)
    bench.model = OfflineChatModel()  # type: ignore[assignment]
    bench.feedback = FEEDBACK.model_copy(update={"content": STEPS})
    bench.candidate = CANDIDATE.model_copy(update={"content": STEPS})
    verdict = await bench.run()
    assert verdict.status is VerdictStatus.NO_ACTION
    assert "guests teach no skills" in verdict.reason
    assert not bench.gate.submitted
