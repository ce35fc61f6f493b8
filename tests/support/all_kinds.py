"""A gate over memory for every kind of knowledge, and people who review what it holds."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from core.changes.gate.change_gate import ChangeGate
from core.changes.gate.deps import AskAgain, GateDeps
from core.changes.policy.review_policy import Policy, apply_all
from core.domain.errors import Refused
from core.domain.kinds import TextKind
from core.domain.models import (
    SKILL_MD,
    Agent,
    Change,
    ChangeRequest,
    Kind,
    KindRequest,
    MemoryRequest,
    Receipt,
    ReceiptStatus,
    RuleRequest,
    SkillFile,
    SkillListRequest,
    SkillRequest,
    SubmitContext,
)
from core.domain.models.base import Model
from core.learning_committers.agent_skills_committer import AgentSkillsCommitter
from core.learning_committers.dmn_rule_committer import DmnRuleCommitter
from core.learning_committers.kind_committer import KindCommitter
from core.learning_committers.memory_committer import MemoryCommitter
from core.learning_committers.skill_committer import SkillCommitter
from core.learning_committers.skill_folders import SkillLimits
from core.learning_committers.skill_writing import NoAuthor
from core.testing.changes import MemoryChangeLog
from core.testing.duplicate_waiters import MemoryDuplicateWaiters
from core.testing.knowledge import MemoryKnowledge
from core.testing.reviews import MemoryReviews
from core.testing.skill_store import MemorySkillStore
from core.testing.steps import MemorySteps
from core.testing.stores import MemoryAgents, MemoryRuns
from tests.support.gate import Events, neighbours_of
from tests.support.knowledge_search import KnowledgeSearch


def review_all(change: Change) -> tuple[str, ...]:
    """Hold every change, also those of people."""
    del change
    return ("every change is reviewed",)


class Verse(Model):
    """A poem, as a package may add it."""

    title: str
    lines: tuple[str, ...] = ()


class Poem(TextKind[Verse]):
    """A kind of knowledge that no part of the program knows."""

    name = "POEM"
    titles: ClassVar[Mapping[str, str]] = {"en": "Poem", "ko": "시"}
    about = "poems"
    content = Verse

    def key(self, content: Verse) -> str:
        return content.title


POEM = Kind("POEM")


@dataclass
class Asking:
    """A worker's model that is asked again about feedback; `refuses` is at work already."""

    refuses: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)

    async def again(self, feedback_id: str) -> None:
        if feedback_id in self.refuses:
            raise Refused("it is at work")
        self.asked.append(feedback_id)

    async def passed_over(self, feedback_id: str) -> None:
        self.passed.append(feedback_id)


@dataclass
class Everything:
    """What agent `a` of tenant `t` knows, and the changes of it that wait."""

    ask_again: AskAgain | None = None
    policy: Policy = apply_all
    dry_run: bool = False

    def __post_init__(self) -> None:
        self.knowledge, self.store = MemoryKnowledge(), MemorySkillStore()
        self.log, self.events = MemoryChangeLog(self.knowledge), Events()
        self.waiters = MemoryDuplicateWaiters(self.log)
        self.agents = MemoryAgents(
            [Agent(id="a", tenant_id="t", name="A"), Agent(id="b", tenant_id="t", name="B")],
            log=self.log,
        )
        self._ids = (f"id-{n}" for n in itertools.count(1))
        self._keys = (f"k-{n}" for n in itertools.count(1))
        self.gate = self._gate(dry_run=self.dry_run)

    def _gate(self, *, dry_run: bool) -> ChangeGate:
        near = neighbours_of(self.knowledge, self.store)
        limits = SkillLimits()
        return ChangeGate(
            GateDeps(
                committers={
                    Kind.MEMORY: MemoryCommitter(self.knowledge, near),
                    Kind.DMN_RULE: DmnRuleCommitter(
                        self.knowledge, KnowledgeSearch(self.knowledge)
                    ),
                    Kind.SKILL: SkillCommitter(
                        self.store,
                        NoAuthor(),
                        self.log,
                        self.agents,
                        check=MemoryRuns().check,
                        limits=limits,
                        neighbours=near,
                    ),
                    Kind.AGENT_SKILLS: AgentSkillsCommitter(self.agents, self.store, limits=limits),
                    POEM: KindCommitter(Poem(), "poems 1", self.knowledge),
                },
                changes=self.log,
                target_locks=self.log,
                reviews=MemoryReviews(self.log),
                steps=MemorySteps(self.log),
                duplicate_waiters=self.waiters,
                journal=self.events,
                new_id=lambda: next(self._ids),
                sleep=self._sleep,
                policy=lambda change: self.policy(change),
                dry_run=dry_run,
                ask_again=self.ask_again,
            )
        )

    def dry(self) -> ChangeGate:
        """Return a gate over the same stores that changes nothing."""
        return self._gate(dry_run=True)

    async def _sleep(self, seconds: float) -> None:
        raise AssertionError("nothing waits here")

    async def submit(self, request: ChangeRequest, **given: object) -> Receipt:
        """Submit a request of the agent's, each with a piece of feedback of its own."""
        key = next(self._keys)
        known = {"key": key, "tenant_id": "t", "agent_id": "a", "feedback_id": f"f-{key}"}
        return await self.gate.submit(request, SubmitContext.model_validate(known | given))

    async def learn(self, request: ChangeRequest, **given: object) -> Change:
        """Have a change applied, whatever the policy holds otherwise."""
        before, self.policy = self.policy, apply_all
        receipt = await self.submit(request, **given)
        self.policy = before
        assert receipt.status in {ReceiptStatus.APPLIED, ReceiptStatus.ATTACHED}, receipt
        return await self.log.get(receipt.change_id or "")

    async def hold(self, request: ChangeRequest, **given: object) -> Change:
        """Have a change wait for a person."""
        receipt = await self.submit_held(request, **given)
        return await self.log.get(receipt.change_id or "")

    async def submit_held(self, request: ChangeRequest, **given: object) -> Receipt:
        """Submit a request under a policy that holds everything; return its receipt."""
        before, self.policy = self.policy, review_all
        receipt = await self.submit(request, **given)
        self.policy = before
        assert receipt.status is ReceiptStatus.HELD, receipt
        return receipt

    async def again(self, change: Change) -> Change:
        """Have a change prepared again, and return it as it is stored then."""
        await self.gate.decisions.prepare_again(change.id, by="kim")
        return await self.log.get(change.id)

    async def says(self, kind: Kind = Kind.MEMORY) -> list[str]:
        """Return the contents of all items of a kind."""
        items = await self.knowledge.list(tenant_id="t", agent_id="a", kind=kind)
        return sorted(item.content for item in items)

    def told(self) -> list[str]:
        """Return the names of the events about changes."""
        return [event.name for event in self.log.events]


def note(content: str = "", target: str | None = None, **given: object) -> MemoryRequest:
    """Return a request for a memory, or an edit of one."""
    asked = {"operation": "UPDATE" if target else "CREATE", "target_id": target}
    return MemoryRequest.model_validate(asked | {"content": content, **given})


def table(document: str, target: str | None = None, **given: object) -> RuleRequest:
    """Return a request for a whole table, as people bring it in."""
    asked = {"operation": "UPDATE" if target else "CREATE", "target_id": target}
    return RuleRequest.model_validate(asked | {"document": document, **given})


def skill(
    name: str,
    body: str,
    files: Mapping[str, bytes] | None = None,
    *,
    about: str = "",
    new: bool = True,
    **given: object,
) -> SkillRequest:
    """Return a request for a skill's whole folder."""
    described = about or f"How to {name}."
    document = f"---\nname: {name}\ndescription: {described}\n---\n\n{body}"
    folder = {path: SkillFile(data=data) for path, data in (files or {}).items()}
    asked = {
        "operation": "CREATE" if new else "UPDATE",
        "target_id": None if new else name,
        "merge_mode": None if new else "REPLACE",
        "folder": {SKILL_MD: SkillFile(data=document.encode()), **folder},
    }
    return SkillRequest.model_validate(asked | given)


def listed(*names: str, edit: str = "set") -> SkillListRequest:
    """Return a request for the agent's list of skills."""
    return SkillListRequest.model_validate({"skill_ids": names, "edit": edit, "target_id": "a"})


def poem(title: str, *lines: str, target: str | None = None, **given: object) -> KindRequest:
    """Return a request for an item of a kind that a package adds."""
    asked = {
        "operation": "UPDATE" if target else "CREATE",
        "target_kind": POEM,
        "target_id": target,
        "content": {"title": title, "lines": [*lines]},
    }
    return KindRequest.model_validate(asked | given)
