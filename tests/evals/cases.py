"""How many harmful learnings the gate's cases stop, and how many good ones they let pass.

Sixty learnings a kind, half of them harmful, as a scripted model asks for them: a row that decides
an older case otherwise, a memory that hides another or brings an old value back, an edit of a skill
that drops a step which others need, a skill that takes another's requests. A refused harmful one
is insisted on; a good one is not mended. The control arm is the same with `cases.gate: off`.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import SecretStr

from core.app.program import App, open_over_tenants
from core.app.settings import load_settings
from core.decision_table import read_xml
from core.domain.models import (
    Agent,
    ChangeRequest,
    HitPolicy,
    InputColumn,
    Kind,
    MemoryRequest,
    MergeMode,
    Operation,
    OutputColumn,
    Receipt,
    ReceiptStatus,
    Relationship,
    RowEdit,
    RuleDraft,
    RuleRequest,
    SkillArtifact,
    SkillRequest,
    SubmitContext,
)
from core.domain.models.cases import CaseBody, Check

TENANT = "t"
SUBJECTS = (
    *("lamps", "chairs", "mirrors", "kettles", "bicycles", "violins", "carpets", "printers"),
    *("helmets", "tents", "freezers", "pianos", "clocks", "drones", "mattresses", "telescopes"),
    *("wardrobes", "aquariums", "generators", "sewing machines", "fireplaces", "trampolines"),
    *("dishwashers", "turntables", "chandeliers", "greenhouses", "kayaks", "looms", "ovens"),
    "projectors",
)
# What a skill may be about that has nothing to do with the others.
ERRANDS = (
    ("boat hire", "Agree on a price for the evening"),
    ("payroll", "Export the hours of last month on the second working day"),
    ("newsletters", "Have the headline read by two colleagues"),
    ("fire drills", "Count heads at the meeting point behind the gate"),
    ("translations", "Send unclear passages to the author with a screenshot"),
    ("job interviews", "Write notes within an hour, before talking to others"),
    ("water samples", "Label each bottle with depth and temperature"),
    ("museum tours", "Begin in the east wing while the west one is crowded"),
    ("password resets", "Call the employee under the number on file"),
    ("press questions", "Answer by five o'clock or name a later hour"),
)
PEOPLE = ("Kim", "Lee", "Park", "Choi", "Jung", "Han")


@dataclass(frozen=True)
class Figures:
    """Of one kind: how many of the harmful were stopped and of the good applied, and the CPU."""

    kind: Kind
    stopped: int
    harmful: int
    passed: int
    good: int
    seconds: float
    wrong: Sequence[str] = ()

    @property
    def is_kept(self) -> bool:
        """Whether every harmful one is stopped, and at least 95 % of the good ones pass."""
        return self.stopped == self.harmful and self.passed >= 0.95 * self.good

    def __str__(self) -> str:
        each = 1000 * self.seconds / (self.harmful + self.good)
        return (
            f"{self.kind:10} harmful stopped {self.stopped}/{self.harmful}, "
            f"good applied {self.passed}/{self.good}, {each:.1f} ms of CPU a learning"
        )


@dataclass
class Desk:
    """Asks for changes as a run does: what is refused because of cases is asked for once more."""

    app: App
    asked: int = 0
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    async def teach(self, agent_id: str, request: ChangeRequest) -> Receipt:
        """Ask for what others build on. Raises AssertionError if it is not applied."""
        receipt = await self._submit(agent_id, request, frozenset())
        assert receipt.status is ReceiptStatus.APPLIED, receipt.message
        self.known.add(receipt.target_id or "")
        return receipt

    async def is_applied(self, agent_id: str, request: ChangeRequest) -> bool:
        """Whether a change is applied, also if it is insisted on."""
        begun = time.process_time()
        receipt = await self._submit(agent_id, request, frozenset())
        if receipt.broken:
            receipt = await self._submit(agent_id, request, frozenset(receipt.broken))
        self.seconds += time.process_time() - begun
        if receipt.status is not ReceiptStatus.APPLIED:
            self.wrong.append(f"{agent_id}: {receipt.message}")
        return receipt.status is ReceiptStatus.APPLIED

    async def _submit(self, agent_id: str, request: ChangeRequest, told: frozenset[str]) -> Receipt:
        self.asked += 1
        context = SubmitContext(
            key=f"eval:{agent_id}:{self.asked}",
            tenant_id=TENANT,
            agent_id=agent_id,
            told=told,
            shown=frozenset(self.known),
        )
        return await self.app.gate.submit(request, context)


def memory(content: str, *cases: CaseBody, **given: object) -> MemoryRequest:
    more = {"relationship": Relationship.UNRELATED, "reason": "another thing"}
    if "operation" in given:
        more = {}
    made = {"operation": Operation.CREATE, "content": content, "cases": cases, **more, **given}
    return MemoryRequest.model_validate(made)


def changed(target: str, content: str, *cases: CaseBody, **given: object) -> MemoryRequest:
    return memory(content, *cases, operation=Operation.UPDATE, target_id=target, **given)


async def memories(desk: Desk, number: int) -> tuple[ChangeRequest, ChangeRequest]:
    """Teach an agent memories; return a harmful change of them, and a good one."""
    what, who, agent = SUBJECTS[number], PEOPLE[number % 6], f"m{number}"
    asks = CaseBody(check=Check.RECALL, text=f"who pays back damaged {what}")
    text = f"Damaged {what} are paid back within 5 days by Ms. {who} of the harbour office"
    for place in ("north", "south", "east", "west"):
        near = f"Damaged {what}: the pay back slip of the {place} gate goes into the {place} box"
        await desk.teach(agent, memory(near))
    target = (await desk.teach(agent, memory(text, asks))).target_id or ""
    now = text.replace("5 days", "7 days")
    unsaid = CaseBody(check=Check.UNSAID, text="5 days")
    harmful: ChangeRequest
    if number % 3 == 0:  # a fifth one, which fits the question better: the first is found no more
        harmful = memory(f"Who pays back damaged {what}? Pay back damaged {what} by voucher")
    elif number % 3 == 1:  # written over by something else
        harmful = changed(target, "The canteen opens at nine", merge_mode=MergeMode.REPLACE)
    else:  # the old value comes back beside the new one
        await desk.teach(agent, changed(target, now, unsaid, merge_mode=MergeMode.REPLACE))
        harmful = changed(target, f"It takes 5 days for {what}", merge_mode=MergeMode.EXTEND)
    good: ChangeRequest
    if number % 3 == 0:
        good = memory(f"Invoices for {what} carry the order number in the first line")
    elif number % 3 == 1:
        good = changed(target, now, unsaid, merge_mode=MergeMode.REPLACE)
    else:
        good = changed(target, "Receipts are kept for a year", merge_mode=MergeMode.EXTEND)
    return harmful, good


def _row(amount: str, region: str, who: str, **given: object) -> RowEdit:
    inputs = {"amount": amount, "region": region}
    return RowEdit.model_validate({"inputs": inputs, "outputs": {"approver": f'"{who}"'}, **given})


async def rules(desk: Desk, number: int) -> tuple[ChangeRequest, ChangeRequest]:
    """Teach an agent a table; return a harmful edit of it, and a good one."""
    what, agent, limit = SUBJECTS[number], f"r{number}", 1000 + 100 * number
    draft = RuleDraft(
        name=f"approval of {what}",
        inputs=(
            InputColumn(name="amount", type="number"),
            InputColumn(name="region", type="string"),
        ),
        outputs=(OutputColumn(name="approver", type="string"),),
        hit_policy=HitPolicy.FIRST,
        rows=(
            _row(f"> {limit}", "-", "manager", example={"amount": limit + 1, "region": "north"}),
            _row(f"<= {limit}", "-", "clerk", example={"amount": limit, "region": "north"}),
        ),
    )
    made = await desk.teach(
        agent, RuleRequest(operation=Operation.CREATE, rule=draft, reason="new")
    )
    table = await desk.app.stores.knowledge.get(Kind.DMN_RULE, TENANT, made.target_id or "")
    first, second = _row_ids(table.content)
    harmful = {
        0: RuleDraft(rows=(_row(f"> {limit // 2}", "-", "director", before=first),)),
        1: RuleDraft(rows=(_row("-", '"north"', "nobody", before=first),)),
        2: RuleDraft(rows=(_row(f"> {limit}", "-", "clerk"), _row(f"<= {limit}", "-", "manager"))),
    }[number % 3]
    good = {
        0: RuleDraft(rows=(_row(f"> {limit}", '"south"', "director", before=first),)),
        1: RuleDraft(
            rows=(
                _row(f"> {limit + 500}", "-", "manager", id=first),
                _row(f"<= {limit + 500}", "-", "clerk", id=second),
            )
        ),
        2: RuleDraft(rows=(_row("-", '"islands"', "captain", before=first),)),
    }[number % 3]
    mode = MergeMode.REPLACE if number % 3 == 2 else None
    return _edit(made.target_id, harmful, mode), _edit(made.target_id, good)


def _edit(target: str | None, draft: RuleDraft, mode: MergeMode | None = None) -> RuleRequest:
    return RuleRequest(
        operation=Operation.UPDATE, target_id=target, rule=draft, merge_mode=mode, reason="edit"
    )


def _row_ids(xml: str) -> tuple[str, str]:
    first, second = (row.id for row in read_xml(xml).rows)
    return first, second


def _skill(name: str, what: str, *steps: str, says: str = "") -> SkillArtifact:
    listed = "\n".join(f"{n}. {step}" for n, step in enumerate(steps, 1))
    described = says or (
        f"Inspects {what} that a customer returned, and settles them. Use for returned {what}."
    )
    body = (
        f"# {what.title()}\n\n## Before you begin\n\n- The serial number of the {what} is known\n\n"
    )
    return SkillArtifact(
        name=name, description=described, body_markdown=f"{body}## Steps\n\n{listed}\n"
    )


async def skills(desk: Desk, number: int) -> tuple[ChangeRequest, ChangeRequest]:
    """Teach an agent a skill; return a harmful change, and a good one."""
    what, agent = SUBJECTS[number], f"s{number}"
    name = f"returned-{what.replace(' ', '-')}"
    steps = (
        f"Photograph the {what} from four sides before anything is opened",
        f"Seal the {what} in the grey container with a numbered seal",
        "Write the seal number into the return sheet",
    )
    chosen = CaseBody(check=Check.CHOSEN, text=f"a customer sent {what} back, settle it")
    await desk.teach(agent, _made(Operation.CREATE, _skill(name, what, *steps), chosen))
    without = _skill(name, what, steps[0], steps[2])
    thief = _skill(
        f"settle-{what.replace(' ', '-')}",
        "parcels",
        "Send everything to the depot",
        says=f"A customer sent {what} back? Settle it: customer {what} sent back, settle {what}.",
    )
    barer = SkillArtifact(
        name=name,
        description=_skill(name, what).description,
        body_markdown=f"# {what.title()}\n\n## Steps\n\n"
        + "\n".join(f"{n}. {step}" for n, step in enumerate(steps, 1)),
    )
    harmful = {
        0: _made(Operation.UPDATE, without),
        1: _made(Operation.CREATE, thief),
        2: _made(Operation.UPDATE, barer),
    }[number % 3]
    longer = _skill(name, what, *steps, f"Send the {what} to the workshop on Friday")
    reworded = _skill(name, what, steps[0], steps[1].replace("grey", "green"), steps[2])
    gone = CaseBody(check=Check.WITHDRAWN, text=steps[1])
    topic, step = ERRANDS[number // 3 % len(ERRANDS)]
    other = _skill(topic.replace(" ", "-"), topic, step, says=f"For {topic}: {step.lower()}.")
    good = {
        0: _made(Operation.UPDATE, longer),
        1: _made(Operation.UPDATE, reworded, gone),
        2: _made(Operation.CREATE, other),
    }[number % 3]
    return harmful, good


def _made(operation: Operation, artifact: SkillArtifact, *cases: CaseBody) -> SkillRequest:
    return SkillRequest(
        operation=operation,
        target_id=artifact.name,
        artifact=artifact,
        merge_mode=None if operation is Operation.CREATE else MergeMode.REPLACE,
        relationship=Relationship.UNRELATED if operation is Operation.CREATE else None,
        reason="about something else",
        cases=cases,
    )


SCENES = {Kind.MEMORY: memories, Kind.DMN_RULE: rules, Kind.SKILL: skills}


async def judged(app: App, kind: Kind, pairs: int) -> Figures:
    """Play so many pairs of one kind."""
    desk = Desk(app)
    stopped = passed = 0
    wrong: list[str] = []
    for number in range(pairs):
        agent = f"{kind[0].lower().replace('d', 'r')}{number}"
        await app.stores.agents.save(Agent(id=agent, tenant_id=TENANT, name=agent))
        harmful, good = await SCENES[kind](desk, number)
        if await desk.is_applied(agent, harmful):
            wrong.append(f"harmful {number} was applied")
        else:
            stopped += 1
        before = len(desk.wrong)
        if await desk.is_applied(agent, good):
            passed += 1
        else:
            wrong += [f"good {number}: {text}" for text in desk.wrong[before:]]
    return Figures(kind, stopped, pairs, passed, pairs, desk.seconds, wrong)


@asynccontextmanager
async def opened(home: Path, *, gate: bool, database: str | None = None) -> AsyncIterator[App]:
    """Open the program of a home, with the gate of cases on or off."""
    config = home / "skill-worker.yaml"
    config.write_text(f"cases:\n  gate: {'on' if gate else 'off'}\n", encoding="utf-8")
    given = {
        "skill_worker_home": home,
        "skill_worker_config": config,
        "database_url": None,
        "skill_api_base_url": None,
        "llm_model": "offline",
    }
    settings = load_settings(given, env_file=None)
    if database is not None:
        settings = settings.model_copy(update={"database_url": SecretStr(database)})
    async with open_over_tenants(settings) as app:
        yield app


async def play(home: Path, pairs: int, *, gate: bool) -> list[Figures]:
    """Play all kinds in a home of their own."""
    async with opened(home, gate=gate) as app:
        return [await judged(app, kind, pairs) for kind in SCENES]
