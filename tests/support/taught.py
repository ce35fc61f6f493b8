"""Learnings of all kinds as a log that can be replayed, and a gate that is taught them."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from core.changes.gate.change_gate import ChangeGate
from core.changes.gate.deps import GateDeps
from core.changes.policy.review_policy import load_policy
from core.changes.retraction.retract import Retraction, Retractor
from core.decision_table import parse_xml
from core.domain.models import (
    SKILL_MD,
    Change,
    ChangeRequest,
    Edited,
    Feedback,
    FeedbackStatus,
    Kind,
    MemoryRequest,
    MergeMode,
    Operation,
    ReceiptStatus,
    Relationship,
    RuleRequest,
    SkillFile,
    SkillRequest,
    SubmitContext,
)
from core.learning_committers.dmn_rule_committer import DmnRuleCommitter
from core.learning_committers.memory_committer import MemoryCommitter
from core.learning_committers.skill_committer import SkillCommitter
from core.learning_committers.skill_folders import SkillLimits
from core.testing.changes import MemoryChangeLog
from core.testing.duplicate_waiters import MemoryDuplicateWaiters
from core.testing.knowledge import MemoryKnowledge
from core.testing.reviews import MemoryReviews
from core.testing.skill_store import MemorySkillStore
from core.testing.steps import MemorySteps
from core.testing.stores import MemoryAgents, MemoryJournal, MemoryRuns
from tests.support.gate import neighbours_of
from tests.support.knowledge_search import KnowledgeSearch
from tests.support.skills import ScriptedAuthor

Subject = tuple[Kind, str]
# What is known: the lines, rows or files of each item, in order.
Known = dict[Subject, dict[str, str]]
_WEIGHTS = {"add": 60, "change": 15, "remove": 8, "replace": 4, "delete": 2}


@dataclass(frozen=True)
class Op:
    """One learning, from its own feedback, about one unit of one item."""

    number: int
    what: str
    subject: Subject
    unit: str
    text: str


def done(known: Known, op: Op) -> bool:
    """Apply a learning to what is known; False if it does not apply."""
    units = known.get(op.subject)
    if op.what == "add":
        known.setdefault(op.subject, {})[op.unit] = op.text
    elif op.what == "replace":
        known[op.subject] = {op.unit: op.text}
    elif units is None:
        return False
    elif op.what == "delete":
        del known[op.subject]
    elif op.unit not in units:
        return False
    elif op.what == "change":
        units[op.unit] = op.text
    else:
        del units[op.unit]
    return True


def without(ops: Sequence[Op], numbers: Collection[int]) -> Known:
    """Replay a log without some of its learnings. Only a skill can exist without units."""
    known: Known = {}
    for op in ops:
        if op.number not in numbers:
            done(known, op)
    return {subject: units for subject, units in known.items() if units or subject[0] is Kind.SKILL}


def random_ops(rng: random.Random, count: int) -> list[Op]:
    """Return random learnings that make sense in sequence. What was deleted is never recreated."""
    known: Known = {}
    ended: set[Subject] = set()
    ops: list[Op] = []
    while len(ops) < count:
        number = len(ops)
        kind = rng.choice([Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL])
        subject = (kind, f"s{rng.randrange(count // 12 + 1)}")
        (what,) = rng.choices([*_WEIGHTS], [*_WEIGHTS.values()])
        if subject in ended or (what == "replace" and kind is not Kind.MEMORY):
            continue
        if what == "replace" and subject not in known:
            continue
        if what == "remove" and len(known.get(subject, {})) == 1:
            continue  # a table without rows is deleted instead
        is_new = what in {"add", "replace"}
        unit = f"u{number}" if is_new else rng.choice([*known.get(subject, {})] or [""])
        op = Op(number, what, subject, unit, f"{unit} t{number}")
        if done(known, op):
            ended |= {subject} if what == "delete" else set()
            ops.append(op)
    return ops


class Taught:
    """A gate over memory whose reviewer approves everything, some of it in an edited form."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.log = MemoryChangeLog(MemoryKnowledge())
        self.store = MemorySkillStore()
        self.ops: list[Op] = []
        self._ids: dict[Subject, str] = {}
        self._steps = MemorySteps(self.log)
        self._waiters = MemoryDuplicateWaiters(self.log)
        knowledge = self.log.knowledge
        neighbours = neighbours_of(knowledge, self.store)
        numbers = itertools.count()
        skills = SkillCommitter(
            self.store,
            ScriptedAuthor(()),
            self.log,
            MemoryAgents([], log=self.log),
            check=MemoryRuns().check,
            limits=SkillLimits(),
            neighbours=neighbours,
        )
        self.gate = ChangeGate(
            GateDeps(
                committers={
                    Kind.MEMORY: MemoryCommitter(knowledge, neighbours),
                    Kind.DMN_RULE: DmnRuleCommitter(knowledge, KnowledgeSearch(knowledge)),
                    Kind.SKILL: skills,
                },
                changes=self.log,
                target_locks=self.log,
                reviews=MemoryReviews(self.log),
                steps=MemorySteps(self.log),
                duplicate_waiters=self._waiters,
                journal=MemoryJournal(),
                new_id=lambda: f"c{next(numbers)}",
                sleep=asyncio.sleep,
                policy=load_policy("all"),
            )
        )

    async def teach(self, op: Op) -> None:
        """Submit a learning, and have it decided."""
        context = SubmitContext(
            key=f"k{op.number}", tenant_id="t", agent_id="a", feedback_id=f"f{op.number}"
        )
        receipt = await self.gate.submit(await self._request(op), context)
        assert receipt.status is ReceiptStatus.HELD, receipt
        change = await self.log.get(receipt.change_id or "")
        if self._rng.random() < 0.2:
            op, change = await self._edited(op, change)
        decided = await self.gate.decisions.approve(change.id, by="kim", seen=change.content_hash)
        assert decided.status is ReceiptStatus.APPLIED, decided
        self._ids[op.subject] = change.target_id
        self.ops.append(op)

    async def retract(self, number: int) -> Retraction:
        """Retract what one of them taught."""
        retractor = Retractor(
            gate=self.gate, changes=self.log, steps=self._steps, duplicate_waiters=self._waiters
        )
        feedback = Feedback(
            id=f"f{number}",
            source="inbox",
            source_id=str(number),
            tenant_id="t",
            agent_ids=("a",),
            content="…",
            status=FeedbackStatus.COMPLETED,
        )
        return await retractor.retract(feedback, by="kim")

    async def known(self) -> Known:
        """Return what is known now."""
        places = {(kind, item_id): (kind, slot) for (kind, slot), item_id in self._ids.items()}
        found: Known = {}
        for item in await self.log.knowledge.list(tenant_id="t", agent_id=None, kind=None):
            units = _lines if item.kind is Kind.MEMORY else _rows
            found[places[item.kind, item.id]] = units(item.content)
        for _, name in self.store.skills:
            found[Kind.SKILL, name] = _listed(await self._document(name))
        return found

    async def _edited(self, op: Op, change: Change) -> tuple[Op, Change]:
        """Let the reviewer phrase new text a little differently."""
        if op.what not in {"add", "change"} or change.after is None:
            return op, change
        anew = replace(op, text=f"{op.text}e")
        edited = Edited(content=change.after.content.replace(op.text, anew.text))
        return anew, await self.gate.decisions.edit(change.id, edited, by="lee")

    async def _request(self, op: Op) -> ChangeRequest:
        kind, _ = op.subject
        is_new = op.subject not in self._ids
        given = {
            "operation": Operation.DELETE
            if op.what == "delete"
            else Operation.CREATE
            if is_new
            else Operation.UPDATE,
            "target_id": None if is_new else self._ids[op.subject],
            "relationship": Relationship.UNRELATED if is_new else None,
            "reason": "taught",
        }
        if kind is Kind.MEMORY:
            return await self._memory(op, given)
        if kind is Kind.DMN_RULE:
            return await self._rule(op, given)
        return await self._skill(op, given)

    async def _memory(self, op: Op, given: dict[str, object]) -> MemoryRequest:
        more: dict[str, object] = {"content": op.text}
        if op.what == "add" and op.subject in self._ids:
            more["merge_mode"] = MergeMode.EXTEND
        elif op.what == "replace":
            more["merge_mode"] = MergeMode.REPLACE
        elif op.what in {"change", "remove"}:
            lines = (await self.known())[op.subject]
            more |= {"merge_mode": MergeMode.REFINE}
            remaining = {**lines, op.unit: op.text}
            if op.what == "remove":
                del remaining[op.unit]
            more |= {"merge_mode": MergeMode.REFINE, "content": "\n".join(remaining.values())}
        return MemoryRequest.model_validate({**given, **more})

    async def _rule(self, op: Op, given: dict[str, object]) -> RuleRequest:
        if op.what == "delete":
            return RuleRequest.model_validate(given)
        row_id = None if op.what == "add" else await self._row_id(op)
        if op.what == "remove":
            return RuleRequest.model_validate({**given, "rule": {"remove_rows": [row_id]}})
        outcome = f"처리 {op.subject[1]}"
        row = {"inputs": {"사례": f'"{op.unit}"'}, "outputs": {outcome: f'"{op.text}"'}}
        draft: dict[str, object] = {"rows": [row if row_id is None else {**row, "id": row_id}]}
        if given["operation"] is Operation.CREATE:
            columns = {"inputs": [{"name": "사례"}], "outputs": [{"name": outcome}]}
            draft |= {"name": op.subject[1], **columns}
        return RuleRequest.model_validate({**given, "rule": draft})

    async def _row_id(self, op: Op) -> str:
        item = await self.log.knowledge.get(Kind.DMN_RULE, "t", self._ids[op.subject])
        rows = parse_xml(item.content).rows
        return next(row.id for row in rows if row.inputs[0] == f'"{op.unit}"')

    async def _skill(self, op: Op, given: dict[str, object]) -> SkillRequest:
        name = op.subject[1]
        if op.what == "delete":
            return SkillRequest.model_validate(given)
        listed = _listed(await self._document(name)) if op.subject in self._ids else {}
        listed = {**listed, op.unit: op.text}
        if op.what == "remove":
            del listed[op.unit]
        head = f"---\nname: {name}\ndescription: How to do {name}. Use it for {name}.\n---\n"
        document = head + f"# {name}\n\n" + "".join(f"- {line}\n" for line in listed.values())
        folder = {SKILL_MD: SkillFile(data=document.encode())}
        given = {**given, "target_id": name, "is_import": True}
        return SkillRequest.model_validate({**given, "folder": folder})

    async def _document(self, name: str) -> str:
        bundle = await self.store.read(name, "t")
        return bundle.document if bundle else ""


def _lines(content: str) -> dict[str, str]:
    return {line.split()[0]: line for line in content.splitlines()}


def _listed(document: str) -> dict[str, str]:
    items = (line.removeprefix("- ") for line in document.splitlines() if line.startswith("- "))
    return {item.split()[0]: item for item in items}


def _rows(xml: str) -> dict[str, str]:
    return {row.inputs[0].strip('"'): row.outputs[0].strip('"') for row in parse_xml(xml).rows}
