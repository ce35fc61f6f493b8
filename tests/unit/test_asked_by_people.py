"""What people ask for beside reviews: versions brought back, lists edited, proposals, erasures."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import pytest

from core.changes.erasing import Eraser
from core.changes.proposals import SOURCE, Proposals
from core.changes.restoring import Restorer
from core.changes.skill_lists import SkillLists
from core.domain.errors import Decided, NotFound, Refused
from core.domain.models import (
    Change,
    ChangeStatus,
    Feedback,
    FileRef,
    Kind,
    KnowledgeItem,
    ListEdit,
    MemoryRequest,
    NewFeedback,
    Operation,
    Origin,
    RestoreRequest,
    SkillListRequest,
)
from core.domain.models.audit import ERASED, ErasedTenant, SaidPiece
from core.domain.models.effect import Action, Proposal, ProposalStatus
from core.domain.ports import Effects, Inbox, KnowledgePast
from tests.support.all_kinds import Everything, listed, note, poem, review_all, skill
from tests.support.react import FEEDBACK, item_change
from tests.support.seeding import AT
from tests.unit.test_promoted import Pages

CREATE, UPDATE, DELETE = Operation.CREATE, Operation.UPDATE, Operation.DELETE
KRW, USD = "Amounts are in KRW", "Amounts are in USD"


class Versions:
    """Past versions of the items of a world."""

    def __init__(self, world: Everything) -> None:
        self._pages = Pages(world.knowledge, world.log)

    async def version(
        self, kind: Kind, tenant_id: str, item_id: str, version: int
    ) -> tuple[KnowledgeItem, Mapping[str, FileRef]]:
        return await self._pages.version(kind, tenant_id, item_id, version)


def restorer(world: Everything) -> Restorer:
    return Restorer(
        knowledge=world.knowledge,
        past=cast("KnowledgePast", Versions(world)),
        skills=world.store,
        changes=world.log,
        gate=world.gate,
        new_id=lambda: "n",
    )


def last(world: Everything) -> Change:
    return [*world.log.changes.values()][-1]


async def item_of(world: Everything, kind: Kind, item_id: str) -> KnowledgeItem:
    return (await world.knowledge.versions(kind, "t", item_id))[-1]


async def test_a_version_is_brought_back_whether_the_item_stands_or_not() -> None:
    world = Everything()
    await world.learn(note(KRW, target_id="m", operation=CREATE))
    await world.learn(note(USD, "m"))
    item = await item_of(world, Kind.MEMORY, "m")
    receipt = await restorer(world).restore(item, 1, "kim")
    assert (receipt.operation, await world.says()) == (UPDATE, [KRW])
    made = last(world)
    assert (made.origin, made.agent_id, made.key) == (Origin.PERSON, "a", "restore:n")
    assert made.reason.code == "restore.reason_by"  # type: ignore[attr-defined]
    assert dict(made.reason.parameters) == {"version": 1, "name": "kim"}  # type: ignore[attr-defined]
    await world.learn(MemoryRequest(operation=DELETE, target_id="m"))
    again = restorer(world)
    receipt = await Restorer(**{**vars(again), "new_id": lambda: "n2"}).restore(item, 2)
    assert (receipt.operation, await world.says()) == (CREATE, [USD])
    assert last(world).reason.code == "restore.reason"  # type: ignore[attr-defined]


async def test_a_version_that_never_was_is_not_found_with_those_that_are() -> None:
    world = Everything()
    await world.learn(poem("Sea", "a", target_id="p", operation=CREATE))
    await world.learn(poem("Sea", "b", target="p"))
    item = await item_of(world, Kind("POEM"), "p")
    for version in (0, 3):
        with pytest.raises(NotFound) as raised:
            await restorer(world).restore(item, version)
        assert str(version) in raised.value.message
        assert "1, 2" in str(raised.value.hint)


class SkillVersions(Versions):
    """The versions of a skill, which belongs to its tenant and not to an agent."""

    def __init__(self, world: Everything) -> None:
        super().__init__(world)
        self._world = world

    async def versions(self, kind: Kind, tenant_id: str, item_id: str) -> Sequence[KnowledgeItem]:
        made = [c for c in self._world.log.changes.values() if c.kind is kind and c.after]
        found = [await self.version(kind, tenant_id, item_id, n + 1) for n in range(len(made))]
        return [item for item, _ in found]


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_skill_is_brought_back_with_all_its_files(is_there: bool) -> None:
    world = Everything()
    await world.learn(skill("pay", "# Pay\n\n1. Pay it.\n", {"fees.md": b"# Fees\n"}))
    before = world.store.skills["t", "pay"]
    await world.learn(skill("pay", "# Pay\n\n1. Pay half.\n", new=False))
    versions = SkillVersions(world)
    known = await versions.versions(Kind.SKILL, "t", "pay")
    if not is_there:
        del world.store.skills["t", "pay"]
    made = Restorer(**{**vars(restorer(world)), "knowledge": versions})
    receipt = await made.restore(known[-1], 1)
    assert receipt.operation is (UPDATE if is_there else CREATE)
    assert world.store.skills["t", "pay"] == before
    assert last(world).agent_id == "a"  # of whoever learnt it last


async def test_a_list_is_shown_with_who_else_has_what_is_on_it_and_edited() -> None:
    world = Everything()
    for name in ("pay", "ship"):
        await world.learn(skill(name, f"# {name}\n\n1. {name} it.\n", about=f"{name} {name}."))
    await world.learn(listed("pay", "ship"), agent_id="b")
    lists = SkillLists(
        agents=world.agents, skills=world.store, gate=world.gate, new_id=lambda: str(world.told())
    )
    agent = await world.agents.get("t", "a")
    await lists.edit(agent, ListEdit.SET, ["pay", "pay"], "kim")
    agent = await world.agents.get("t", "a")
    assert [(one.name, one.shared_with) for one in await lists.of(agent)] == [("pay", ("b",))]
    other = await world.agents.get("t", "b")
    shown = [(one.name, one.shared_with) for one in await lists.of(other)]
    assert shown == [("pay", ("a",)), ("ship", ())]
    made = last(world)
    assert (made.origin, made.agent_id, made.target_id) == (Origin.PERSON, "a", "a")
    assert made.key.startswith("list:")
    asked = made.request
    assert isinstance(asked, SkillListRequest)
    assert (asked.skill_ids, asked.edit) == (("pay",), ListEdit.SET)
    assert (asked.reason.code, dict(asked.reason.parameters)) == (  # type: ignore[attr-defined]
        "skills.edited_by",
        {"name": "kim"},
    )
    await lists.edit(agent, ListEdit.REMOVE, ["pay"])
    assert last(world).reason.code == "skills.edited"  # type: ignore[attr-defined]
    assert last(world).after is not None
    await lists.edit(agent, ListEdit.ADD, ["ship"], "kim", reason="they ship too")
    assert last(world).reason == "they ship too"
    assert (await world.agents.get("t", "a")).skills == ("ship",)


@dataclass
class Proposed:
    """Proposals about what a world knows, and the feedback that asks for rewrites."""

    world: Everything
    known: dict[str, Proposal] = field(default_factory=dict)
    asked: list[tuple[str, NewFeedback]] = field(default_factory=list)
    meanwhile: Proposal | None = None

    async def decide(self, proposal: Proposal) -> bool:
        if self.meanwhile is not None:
            self.known[proposal.id] = self.meanwhile
            return False
        self.known[proposal.id] = proposal
        return True

    async def proposal(self, proposal_id: str) -> Proposal:
        return self.known[proposal_id]

    async def add(self, source: str, pieces: Sequence[NewFeedback]) -> Sequence[tuple[str, bool]]:
        self.asked += [(source, piece) for piece in pieces]
        return [("f-new", True) for _ in pieces]

    @property
    def proposals(self) -> Proposals:
        ids = map(str, itertools.count(len(self.world.log.changes)))
        lists = SkillLists(
            agents=self.world.agents,
            skills=self.world.store,
            gate=self.world.gate,
            new_id=lambda: next(ids),
        )
        return Proposals(
            effects=cast("Effects", self),
            knowledge=self.world.knowledge,
            agents=self.world.agents,
            skill_lists=lists,
            inbox=cast("Inbox", self),
            gate=self.world.gate,
            now=lambda: AT,
        )


def proposal(
    kind: Kind, item_id: str, action: Action = Action.ARCHIVE, **given: object
) -> Proposal:
    known: dict[str, object] = {
        "id": f"prop-{item_id}",
        "tenant_id": "t",
        "agent_id": "a",
        "kind": kind,
        "item_id": item_id,
        "name": "the name",
        "action": action,
        "status": ProposalStatus.WAITING,
        "created_at": AT,
    }
    return Proposal.model_validate(known | given)


async def test_an_item_is_archived_by_who_accepts_and_can_come_back() -> None:
    world = Everything()
    await world.learn(note(KRW, target_id="m", operation=CREATE))
    found = Proposed(world)
    done, receipt = await found.proposals.accept(proposal(Kind.MEMORY, "m"), "kim")
    assert receipt is not None
    assert (await world.says(), receipt.operation) == ([], DELETE)
    assert (done.status, done.decided_by, done.decided_at) == (ProposalStatus.ACCEPTED, "kim", AT)
    assert (done.change_id, done.feedback_id) == (receipt.change_id, None)
    assert found.known["prop-m"] == done
    made = last(world)
    assert (made.origin, made.agent_id, made.key) == (Origin.PERSON, "a", "archive:prop-m")
    assert made.reason.code == "effect.archived"  # type: ignore[attr-defined]
    assert isinstance(made.request, RestoreRequest)
    assert (await world.gate.revert(made.id, "back")).status == "applied"
    assert await world.says() == [KRW]


async def test_an_archived_item_may_wait_for_a_person_and_has_to_be_there() -> None:
    world = Everything()
    await world.learn(note(KRW, target_id="m", operation=CREATE))
    world.policy = review_all
    done, receipt = await Proposed(world).proposals.accept(proposal(Kind.MEMORY, "m"), "kim")
    assert receipt is not None
    assert (receipt.status, done.change_id) == ("held", receipt.change_id)
    with pytest.raises(NotFound):
        await Proposed(world).proposals.accept(proposal(Kind.MEMORY, "gone"), "kim")


async def test_a_skill_is_archived_by_taking_it_off_the_agents_list() -> None:
    world = Everything()
    await world.learn(skill("pay", "# Pay\n\n1. Pay it.\n"))
    done, receipt = await Proposed(world).proposals.accept(proposal(Kind.SKILL, "pay"), "kim")
    assert (await world.agents.get("t", "a")).skills == ()
    assert ("t", "pay") in world.store.skills
    assert receipt is not None
    assert done.change_id == receipt.change_id
    assert last(world).reason.code == "effect.archived_skill"  # type: ignore[attr-defined]
    found = Proposed(world)
    with pytest.raises(Refused):  # it is on no list any more
        await found.proposals.accept(proposal(Kind.SKILL, "pay"), "kim")
    assert found.known == {}


async def test_a_rewrite_is_asked_for_in_reply_to_the_last_complaint() -> None:
    found = Proposed(Everything())
    asked = proposal(Kind.MEMORY, "m", Action.REWRITE, last_id="f-9")
    done, receipt = await found.proposals.accept(asked, "kim")
    assert (receipt, done.feedback_id, done.change_id) == (None, "f-new", None)
    assert done.status is ProposalStatus.ACCEPTED
    ((source, piece),) = found.asked
    assert (source, piece.id, piece.tenant_id, piece.agent_ids) == (SOURCE, "prop-m", "t", ("a",))
    assert piece.in_reply_to == "f-9"
    for named in ("MEMORY", "the name", "m"):
        assert named in piece.content


async def test_a_proposal_is_decided_once() -> None:
    found = Proposed(Everything())
    asked = proposal(Kind.MEMORY, "m")
    done = await found.proposals.dismiss(asked, "kim")
    assert (done.status, done.decided_by) == (ProposalStatus.DISMISSED, "kim")
    for again in (found.proposals.dismiss(done, "lee"), found.proposals.accept(done, "lee")):
        with pytest.raises(Decided) as raised:
            await again
        assert "prop-m" in raised.value.message
    # Of two at once the second is told so.
    found.meanwhile = done
    with pytest.raises(Decided):
        await found.proposals.dismiss(asked, "lee")
    assert found.known["prop-m"].decided_by == "kim"


@dataclass
class Erasing:
    """What is known of a person by tenant: (id, status) of each piece."""

    said_by: dict[str, list[tuple[str, str]]]
    held_of: dict[str, str] = field(default_factory=dict)
    done: list[tuple[object, ...]] = field(default_factory=list)

    async def tenants(self, author: str, tenant_id: str | None) -> Sequence[str]:
        return [one for one in self.said_by if author == "kim" and tenant_id in {None, one}]

    async def said(self, author: str, tenant_id: str) -> Sequence[SaidPiece]:
        pieces = self.said_by[tenant_id]
        return [SaidPiece(id=one, status=status, is_named=True) for one, status in pieces]

    async def held(self, feedback_ids: Sequence[str]) -> Sequence[str]:
        return [self.held_of[each] for each in feedback_ids if each in self.held_of]

    async def erase(self, author: str, tenant_id: str, by: str, *, dry_run: bool) -> ErasedTenant:
        self.done.append(("erased", author, tenant_id, by, dry_run))
        return ErasedTenant(tenant_id=tenant_id, feedback=len(self.said_by[tenant_id]))

    async def token(self, author: str) -> str | None:
        return f"token of {author}"

    async def cancel(self, feedback_id: str, reason: str) -> Feedback:
        if feedback_id == "ended":
            raise Refused("it has ended")
        self.done.append(("cancelled", feedback_id, reason))
        return FEEDBACK

    async def reject(self, change_id: str, **given: object) -> Change:
        self.done.append(("rejected", change_id, given))
        made = item_change(Kind.MEMORY, "m", "n", "x")
        return made.model_copy(update={"status": ChangeStatus.REJECTED})

    @property
    def eraser(self) -> Eraser:
        return Eraser(erasing=self, cancel=self.cancel, reject=self.reject)


async def test_what_is_in_work_or_waits_is_ended_before_a_person_is_erased() -> None:
    world = Erasing(
        {"t": [("f1", "queued"), ("f2", "completed"), ("ended", "processing")], "u": []},
        {"f2": "c2", "f9": "c9"},
    )
    found = await world.eraser.erase("kim", None, by="lee")
    assert world.done == [
        ("cancelled", "f1", ERASED),
        ("rejected", "c2", {"by": "lee", "reason": ERASED}),
        ("erased", "kim", "t", "lee", False),
        ("erased", "kim", "u", "lee", False),
    ]
    assert [(one.tenant_id, one.feedback, one.ended, one.rejected) for one in found.tenants] == [
        ("t", 3, 2, 1),
        ("u", 0, 0, 0),
    ]
    assert found.token == "token of kim"
    world.done.clear()
    one = await world.eraser.erase("kim", "t", by="lee", dry_run=True)
    assert world.done == [("erased", "kim", "t", "lee", True)]
    assert (one.tenants[0].ended, one.tenants[0].rejected) == (2, 1)


async def test_nobody_is_erased_of_whom_nothing_is_known() -> None:
    world = Erasing({"t": []})
    for author, tenant in (("park", None), ("kim", "u")):
        with pytest.raises(NotFound) as raised:
            await world.eraser.erase(author, tenant, by="lee")
        assert raised.value.hint
    assert world.done == []
