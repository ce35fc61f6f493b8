"""The write tools of a run: all that a model says reaches the gate, in the name of its agent."""

from __future__ import annotations

from datetime import UTC, datetime

from core.domain.models import (
    Kind,
    ListEdit,
    MemoryRequest,
    MergeMode,
    Operation,
    Relationship,
    RowEdit,
    RuleDraft,
    RuleRequest,
    Scope,
    SkillArtifact,
    SkillListRequest,
    SkillRequest,
    SubmitContext,
)
from core.domain.models.cases import CaseBody, Check
from core.learning_committers.agent_skills_committer import (
    attach_skills_to_agent,
    detach_skills_from_agent,
)
from core.learning_committers.base import CommitDeps, split_names
from core.learning_committers.dmn_rule_committer import commit_to_dmn_rule
from core.learning_committers.memory_committer import commit_to_memory
from core.learning_committers.skill_committer import commit_to_skill
from core.testing.gate import FakeGate

CREATE, UPDATE, DELETE = Operation.CREATE, Operation.UPDATE, Operation.DELETE
CASES = (CaseBody(check=Check.RECALL, text="who pays"),)
SAID = {"relationship": Relationship.REFINES, "reason": "why"}


class Run:
    """A run of agent `a`, whose context was made for another."""

    def __init__(self) -> None:
        self.gate = FakeGate()

    def deps(self) -> CommitDeps:
        key = f"k{len(self.gate.submitted)}"
        context = SubmitContext(
            key=key, tenant_id="t", agent_id="other", feedback_id="f", feedback_content="all of it"
        )
        return CommitDeps(self.gate, context)

    def last(self) -> object:
        request, context = self.gate.submitted[-1]
        assert (context.agent_id, context.tenant_id, context.feedback_id) == ("a", "t", "f")
        return request


async def test_a_memory_is_asked_for_as_the_model_says() -> None:
    run, end = Run(), datetime(2030, 1, 1, tzinfo=UTC)
    await commit_to_memory("a", "KRW", memory_id="m", reason="why", deps=run.deps())
    assert run.last() == MemoryRequest(operation=CREATE, content="KRW", reason="why")
    await commit_to_memory(
        "a",
        "KRW",
        UPDATE,
        "m",
        MergeMode.REFINE,
        Relationship.REFINES,
        "why",
        "USD",
        end,
        Scope.USER,
        "kim",
        endless=True,
        cases=CASES,
        deps=run.deps(),
    )
    assert run.last() == MemoryRequest(
        operation=UPDATE,
        target_id="m",
        content="KRW",
        merge_mode=MergeMode.REFINE,
        part="USD",
        valid_until=end,
        scope=Scope.USER,
        user="kim",
        endless=True,
        cases=CASES,
        **SAID,
    )


async def test_a_rule_is_asked_for_as_the_model_says() -> None:
    run, draft = Run(), RuleDraft(name="n", rows=(RowEdit(id="r1", inputs={"a": "1"}, outputs={}),))
    await commit_to_dmn_rule("a", draft, rule_id="t1", reason="why", deps=run.deps())
    assert run.last() == RuleRequest(operation=CREATE, rule=draft, reason="why")
    how = MergeMode.EXTEND, Relationship.REFINES, "why"
    await commit_to_dmn_rule("a", draft, UPDATE, "t1", *how, cases=CASES, deps=run.deps())
    assert run.last() == RuleRequest(
        operation=UPDATE,
        target_id="t1",
        rule=draft,
        merge_mode=MergeMode.EXTEND,
        cases=CASES,
        **SAID,
    )
    await commit_to_dmn_rule("a", None, DELETE, "t1", deps=run.deps())
    assert run.last() == RuleRequest(operation=DELETE, target_id="t1", rule=RuleDraft())


async def test_a_skill_is_asked_for_as_the_model_says() -> None:
    run = Run()
    artifact = SkillArtifact(name="pay", description="d", body_markdown="b")
    await commit_to_skill("a", artifact, deps=run.deps())
    assert run.last() == SkillRequest(operation=CREATE, artifact=artifact)
    assert run.gate.submitted[-1][1].feedback_content == "all of it"
    await commit_to_skill(
        "a",
        None,
        DELETE,
        "pay",
        "part of it",
        MergeMode.REPLACE,
        "it extends ship",
        "ship, , load,ship",
        Relationship.REFINES,
        "why",
        for_all=True,
        cases=CASES,
        deps=run.deps(),
    )
    assert run.last() == SkillRequest(
        operation=DELETE,
        target_id="pay",
        merge_mode=MergeMode.REPLACE,
        relationship_analysis="it extends ship",
        related_skill_ids=("ship", "load"),
        for_all=True,
        cases=CASES,
        **SAID,
    )
    assert run.gate.submitted[-1][1].feedback_content == "part of it"


async def test_skills_are_put_on_the_agents_list_and_taken_off() -> None:
    run = Run()
    for tool, edit in (
        (attach_skills_to_agent, ListEdit.ADD),
        (detach_skills_from_agent, ListEdit.REMOVE),
    ):
        await tool("a", " pay , ship ,", "why", deps=run.deps())
        asked = run.last()
        assert asked == SkillListRequest(
            target_id="a", skill_ids=("pay", "ship"), edit=edit, reason="why"
        )
    assert isinstance(asked, SkillListRequest)
    assert Kind(asked.kind) is Kind.AGENT_SKILLS
    assert split_names("") == ()
