"""Promotion from one database to another: what becomes of each item, and what is carried out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

import pytest

from core.changes.promotion.plan import Standing, Step
from core.changes.promotion.promoter import Promoter, Source, Target
from core.changes.promotion.taking import Outcome, take, take_shown
from core.domain.errors import DependencyDown, NotFound, Refused, SkillWorkerError
from core.domain.models import (
    Agent,
    ChangeRequest,
    ChangeStatus,
    FileRef,
    Kind,
    KnowledgeItem,
    MemoryRequest,
    Operation,
    Receipt,
    SkillRequest,
    SubmitContext,
)
from core.domain.models.audit import ERASED
from core.domain.ports import Gate, KnowledgePages, KnowledgePast
from core.testing.changes import MemoryChangeLog
from core.testing.gate import FakeGate
from core.testing.knowledge import MemoryKnowledge
from core.testing.steps import MemorySteps
from tests.support.all_kinds import POEM, Everything, listed, note, poem, review_all, skill, table
from tests.support.seeding import AT
from tests.unit.test_merging import table as xml
from tests.unit.test_skills_installed import Shelf

CREATE, UPDATE, DELETE = Operation.CREATE, Operation.UPDATE, Operation.DELETE
KINDS = (Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL, POEM)
KRW, PLANTS = "Amounts are in KRW", "The office has plants"
LEAD, CLERK = ("> 100", '"lead"', "large"), ("<= 100", '"clerk"', "small")
LINES = "one line\ntwo line\nthree line"
PAY = "# Pay\n\n1. Look at it.\n2. Pay it.\n"


@dataclass
class Pages:
    """Knowledge page by page, and as it was, over the fakes of one world."""

    knowledge: MemoryKnowledge
    log: MemoryChangeLog
    most: int = 2

    async def page(
        self,
        kind: Kind,
        *,
        tenant_id: str | None,
        agent_id: str | None,
        after: KnowledgeItem | None,
        limit: int,
    ) -> Sequence[KnowledgeItem]:
        assert kind is not Kind.SKILL
        assert limit == 500
        items = await self.knowledge.list(tenant_id=tenant_id, agent_id=agent_id, kind=kind)
        items = [*items, *await self._over(tenant_id, agent_id, kind)]
        found = sorted(items, key=lambda item: item.id)
        return [item for item in found if after is None or item.id > after.id][: self.most]

    async def _over(
        self, tenant_id: str | None, agent_id: str | None, kind: Kind
    ) -> Sequence[KnowledgeItem]:
        whose = {"tenant_id": tenant_id, "agent_id": agent_id, "kind": kind}
        return await self.knowledge.list(**whose, expired=True)  # type: ignore[arg-type]

    def _states(self, tenant_id: str, name: str) -> list[KnowledgeItem]:
        """Return the versions of a skill, oldest first."""
        found: list[KnowledgeItem] = []
        for row in self.log.history:
            change = self.log.changes[row.change_id]
            if (change.kind, change.tenant_id, change.target_id) != (Kind.SKILL, tenant_id, name):
                continue
            if change.after is None:
                found[-1] = found[-1].model_copy(update={"valid_to": AT})
                continue
            found.append(
                KnowledgeItem(
                    id=name,
                    kind=Kind.SKILL,
                    tenant_id=tenant_id,
                    agent_id="",
                    name=name,
                    content=change.after.content,
                    version=len(found) + 1,
                    change_id=change.id,
                )
            )
        return found

    async def last(
        self, item_id: str, *, tenant_id: str | None, kind: Kind | None
    ) -> Sequence[KnowledgeItem]:
        assert kind is Kind.SKILL
        return self._states(str(tenant_id), item_id)[-1:]

    async def version(
        self, kind: Kind, tenant_id: str, item_id: str, version: int
    ) -> tuple[KnowledgeItem, Mapping[str, FileRef]]:
        if kind is not Kind.SKILL:
            versions = await self.knowledge.versions(kind, tenant_id, item_id)
        else:
            versions = self._states(tenant_id, item_id)
        if not 1 <= version <= len(versions):
            raise NotFound("no such version")
        found = versions[version - 1]
        if kind is not Kind.SKILL:
            return found, {"of": FileRef(sha256="x", size=1)}  # which are none of an item
        change = self.log.changes[found.change_id or ""]
        return found, (change.after.files if change.after else None) or {}


class Sides:
    """Two databases; what agent `a` knows in `staging` goes to agent `a` of `live`."""

    def __init__(self, *kinds: Kind, dry: bool = False) -> None:
        self.staging, self.live = Everything(), Everything()
        self.kinds = kinds or KINDS
        self.dry, self.delete = dry, False
        self.answers: SkillWorkerError | None = None

    async def promoter(self) -> Promoter:
        here, live = self.staging, self.live
        pages = Pages(here.knowledge, here.log)
        theirs = Pages(live.knowledge, live.log)
        return Promoter(
            source=Source(
                pages=cast("KnowledgePages", pages),
                past=cast("KnowledgePast", pages),
                agents=here.agents,
                changes=here.log,
                installed=Shelf(here),
            ),
            target=Target(
                pages=cast("KnowledgePages", theirs),
                knowledge=live.knowledge,
                agents=live.agents,
                changes=live.log,
                steps=MemorySteps(live.log),
                skills=live.store,
                installed=Shelf(live),
                gate=self.gate,
            ),
            agent=await here.agents.get("t", "a"),
            to=await live.agents.get("t", "a"),
            kinds=self.kinds,
            place="staging",
            now=AT,
            delete=self.delete,
        )

    @property
    def gate(self) -> Gate:
        if self.answers is not None:
            return Answers(self.answers)
        return self.live.dry() if self.dry else self.live.gate

    async def plan(self) -> dict[str, Step]:
        return {step.id: step for step in await (await self.promoter()).plan()}

    async def standings(self) -> dict[str, str]:
        return {item: step.standing.value for item, step in (await self.plan()).items()}

    async def promote(self) -> dict[str, Outcome]:
        promoter = await self.promoter()
        done = take(promoter, [step for step in await promoter.plan() if step.writes])
        return {step.id: outcome async for step, outcome in done}

    async def both(self, *requests: object, **given: object) -> None:
        """Have both sides know items in common: promoted once."""
        for request in requests:
            await self.staging.learn(request, **given)  # type: ignore[arg-type]
        await self.promote()


def made(content: str, item_id: str, **given: object) -> MemoryRequest:
    return note(content, target_id=item_id, operation=CREATE, is_import=True, **given)


def words(done: Mapping[str, Outcome]) -> dict[str, str]:
    return {item: outcome.word for item, outcome in done.items()}


async def known(world: Everything, kind: Kind = Kind.MEMORY) -> dict[str, str]:
    items = await world.knowledge.list(tenant_id="t", agent_id="a", kind=kind)
    return {item.id: item.content for item in items}


async def test_all_that_an_agent_knows_is_promoted_once() -> None:
    sides = Sides()
    everything = (
        *(made(f"{text}", f"m{n}") for n, text in enumerate((KRW, PLANTS, LINES))),
        table(xml({"r1": LEAD}), target_id="t1", operation=CREATE, is_import=True),
        poem("Sea", "waves", target_id="p1", operation=CREATE),
        skill("pay", PAY, {"fees.md": b"# Fees\n"}),
    )
    for request in everything:
        await sides.staging.learn(request)
    await sides.staging.learn(made("Others know this alone", "mb"), agent_id="b")
    plan = await sides.plan()
    assert [*plan] == ["m0", "m1", "m2", "t1", "p1", "pay"]
    assert {step.standing for step in plan.values()} == {Standing.NEW}
    assert all(step.writes for step in plan.values())
    item = await sides.staging.knowledge.get(Kind.MEMORY, "t", "m0")
    assert (plan["m0"].name, plan["m0"].version) == (item.name, 1)
    done = await sides.promote()
    assert set(words(done).values()) == {"created"}
    assert await known(sides.live) == await known(sides.staging)
    assert await known(sides.live, Kind.DMN_RULE) == await known(sides.staging, Kind.DMN_RULE)
    assert await known(sides.live, POEM) == await known(sides.staging, POEM)
    assert sides.live.store.skills == sides.staging.store.skills
    assert (await sides.live.agents.get("t", "a")).skills == ("pay",)
    change = await sides.live.log.get(done["m0"].change_id or "")
    assert (change.reason.code, change.reason.parameters["version"]) == ("promote.reason", 1)  # type: ignore[attr-defined]
    assert change.reason.parameters["place"] == "staging"  # type: ignore[attr-defined]
    assert (change.origin, change.agent_id) == ("IMPORT", "a")
    assert set((await sides.standings()).values()) == {"same"}
    assert await sides.promote() == {}


async def test_what_only_one_side_has_changed_stands() -> None:
    sides = Sides(Kind.MEMORY)
    await sides.both(made(KRW, "m0"), made(PLANTS, "m1"), made(LINES, "m2"))
    await sides.staging.learn(note("Amounts are in USD", "m0"))
    await sides.live.learn(note("The office has cats", "m1"))
    plan = await sides.plan()
    assert {item: step.standing.value for item, step in plan.items()} == {
        "m0": "changed",
        "m1": "kept",
        "m2": "same",
    }
    assert plan["m1"].why.code == "promote.changed_there"  # type: ignore[attr-defined]
    assert not plan["m1"].writes
    done = await sides.promote()
    assert done["m0"].word == "updated"
    assert await known(sides.live) == {
        "m0": "Amounts are in USD",
        "m1": "The office has cats",
        "m2": LINES,
    }
    # The next promotion goes on from there.
    await sides.staging.learn(note("Amounts are in EUR", "m0"))
    assert (await sides.promote())["m0"].word == "updated"
    assert (await known(sides.live))["m0"] == "Amounts are in EUR"


async def test_changes_of_both_sides_are_merged_or_wait_for_a_person() -> None:
    sides = Sides(Kind.MEMORY)
    await sides.both(made(LINES, "m0"), made(KRW, "m1"), made(PLANTS, "m2"))
    await sides.staging.learn(note(LINES.replace("one", "first"), "m0"))
    await sides.live.learn(note(LINES.replace("three", "last"), "m0"))
    await sides.staging.learn(note("Amounts are in USD", "m1"))
    await sides.live.learn(note("Amounts are in EUR", "m1"))
    for world in (sides.staging, sides.live):
        await world.learn(note("The office has cats", "m2"))
    assert await sides.standings() == {"m0": "merged", "m1": "conflict", "m2": "same"}
    done = await sides.promote()
    assert words(done) == {"m0": "updated", "m1": "held"}
    assert done["m1"].why
    assert not done["m1"].has_failed
    assert (await known(sides.live))["m0"] == "first line\ntwo line\nlast line"
    held = await sides.live.log.get(done["m1"].change_id or "")
    assert (held.status, held.held[0].code) == (ChangeStatus.HELD, "promote.both")  # type: ignore[attr-defined]
    # What was rejected is told so, and not asked for again under the same key.
    await sides.live.gate.decisions.reject(held.id, by="kim", reason="ours is right")
    again = await sides.promote()
    assert (again["m1"].word, again["m1"].change_id) == ("rejected", held.id)
    assert "ours is right" in again["m1"].why


async def test_what_the_target_deleted_or_took_back_stays_away() -> None:
    sides = Sides(Kind.MEMORY)
    await sides.both(made(KRW, "m0"), made(PLANTS, "m1"))
    await sides.live.learn(MemoryRequest(operation=DELETE, target_id="m0"))
    promoted = next(c for c in sides.live.log.changes.values() if c.target_id == "m1")
    await sides.live.gate.revert(promoted.id, "wrong")
    plan = await sides.plan()
    assert [step.standing for step in plan.values()] == [Standing.KEPT, Standing.KEPT]
    assert plan["m0"].why.code == "promote.deleted_there"  # type: ignore[attr-defined]
    # Once the source has changed it, a person decides.
    await sides.staging.learn(note("Amounts are in USD", "m0"))
    plan = await sides.plan()
    assert plan["m0"].standing is Standing.CONFLICT
    done = await sides.promote()
    assert (done["m0"].word, done["m0"].why != "") == ("held", True)


async def test_items_that_both_learnt_by_themselves_are_matched() -> None:
    sides = Sides(Kind.MEMORY, Kind.DMN_RULE, POEM)
    await sides.staging.learn(made(KRW, "m0"))
    await sides.live.learn(made(KRW, "other"))
    await sides.staging.learn(poem("Sea", "a", target_id="p0", operation=CREATE))
    await sides.live.learn(poem("sea", "b", target_id="p9", operation=CREATE))
    rows = {"operation": CREATE, "is_import": True}
    await sides.staging.learn(table(xml({"r1": LEAD}), target_id="t0", **rows))
    await sides.live.learn(table(xml({"r9": LEAD}), target_id="t9", **rows))
    plan = await sides.plan()
    assert {item: step.standing.value for item, step in plan.items()} == {
        "other": "same",
        "t9": "same",
        "p9": "conflict",
    }
    assert plan["p9"].why.code == "promote.no_origin"  # type: ignore[attr-defined]


async def test_a_state_that_the_target_once_had_is_where_both_come_from() -> None:
    """A copy of the database from before the first promotion is no conflict."""
    sides = Sides(Kind.MEMORY)
    for world in (sides.staging, sides.live):
        await world.learn(made(KRW, "m0"))
        await world.learn(made(PLANTS, "m1"))
    await sides.staging.learn(note("Amounts are in USD", "m0"))
    await sides.live.learn(note("The office has cats", "m1"))
    assert await sides.standings() == {"m0": "changed", "m1": "kept"}


async def test_what_only_the_target_knows_goes_only_if_asked() -> None:
    sides = Sides(Kind.MEMORY, Kind.SKILL)
    await sides.live.learn(made(KRW, "m0"))
    await sides.live.learn(skill("pay", PAY))
    await sides.staging.learn(made(PLANTS, "m1"))
    plan = await sides.plan()
    assert {item: step.standing.value for item, step in plan.items()} == {
        "m1": "new",
        "m0": "only_in_target",
        "pay": "only_in_target",
    }
    assert not plan["m0"].writes
    assert words(await sides.promote()) == {"m1": "created"}
    sides.delete = True
    plan = await sides.plan()
    assert (plan["m0"].is_deleted, plan["m0"].writes, plan["m0"].after) == (True, True, None)
    done = await sides.promote()
    assert (done["m0"].word, done["pay"].word) == ("deleted", "deleted")
    change = await sides.live.log.get(done["m0"].change_id or "")
    assert change.reason.code == "promote.reason_gone"  # type: ignore[attr-defined]
    assert await known(sides.live) == {"m1": PLANTS}


async def test_what_is_over_erased_or_off_record_is_not_promoted() -> None:
    sides = Sides(Kind.MEMORY, Kind.SKILL)
    over = {"valid_until": AT - timedelta(days=1)}
    await sides.staging.learn(made(KRW, "m0", **over))
    await sides.staging.learn(made(PLANTS, "m1", valid_until=AT + timedelta(days=9_000)))
    await sides.staging.learn(made(ERASED, "m2"))
    await sides.staging.learn(skill("pay", PAY))
    await sides.staging.agents.save(
        Agent(id="a", tenant_id="t", name="A", skills=("pay", "foreign"))
    )
    sides.staging.log.agent_skills["t", "a"] = {"pay", "foreign"}
    plan = await sides.plan()
    assert [*plan] == ["m1", "pay", "foreign"]
    foreign = plan["foreign"]
    assert (foreign.standing, foreign.writes) == (Standing.UNREADABLE, False)
    assert foreign.why.code == "promote.no_record"  # type: ignore[attr-defined]


async def test_a_skill_that_the_target_has_is_put_on_the_agents_list_alone() -> None:
    sides = Sides(Kind.SKILL)
    await sides.staging.learn(skill("pay", PAY))
    await sides.live.learn(skill("pay", PAY), agent_id="b")
    plan = await sides.plan()
    assert (plan["pay"].standing, plan["pay"].is_listed) == (Standing.CHANGED, True)
    assert plan["pay"].why.code == "promote.to_list"  # type: ignore[attr-defined]
    done = await sides.promote()
    assert done["pay"].word == "updated"
    assert (await sides.live.agents.get("t", "a")).skills == ("pay",)
    # Taken off there it is not put back.
    await sides.live.learn(listed("pay", edit="remove"))
    plan = await sides.plan()
    assert (plan["pay"].standing, plan["pay"].writes) == (Standing.KEPT, False)
    assert plan["pay"].why.code == "promote.off_the_list"  # type: ignore[attr-defined]


async def test_where_a_skill_is_from_is_promoted_with_it() -> None:
    from tests.unit.test_skills_installed import Installing, files

    sides, tenant = Sides(Kind.SKILL), Installing()
    await tenant.install()
    sides.staging = tenant.world
    plan = await sides.plan()
    assert plan["pay"].published is not None
    assert {*plan["pay"].published.files} == {*files()}
    await sides.promote()
    (one,) = await Shelf(sides.live).list("t")
    assert (one.name, one.published.ref) == ("pay", "v1")
    assert await sides.standings() == {"pay": "same"}

    bare = Sides(Kind.SKILL)
    bare.staging = tenant.world
    asked = {"operation": "CREATE", "folder": files(), "is_import": True}
    await bare.live.learn(SkillRequest.model_validate(asked))
    plan = await bare.plan()
    assert (plan["pay"].standing, plan["pay"].is_listed) == (Standing.CHANGED, False)
    assert plan["pay"].why.code == "promote.to_pin"  # type: ignore[attr-defined]
    assert (await bare.promote())["pay"].word == "updated"
    assert [one.name for one in await Shelf(bare.live).list("t")] == ["pay"]


async def test_skills_come_after_those_that_they_refer_to() -> None:
    sides = Sides(Kind.MEMORY, Kind.SKILL)
    await sides.staging.learn(skill("zip", "# Zip\n\n1. Close the bag.\n", about="Close a bag."))
    first = "# Ask\n\n1. Close it as `zip/SKILL.md` says.\n"
    await sides.staging.learn(skill("ask", first, about="Ask the carrier."))
    await sides.staging.learn(made(KRW, "m0"))
    assert [*await sides.plan()] == ["m0", "zip", "ask"]


async def test_many_new_memories_are_compared_with_each_other() -> None:
    sides = Sides(Kind.MEMORY)
    for n in range(20):
        await sides.staging.learn(made(f"Desk {n} keeps its ledger in room {n}", f"m{n:02}"))
    done = await sides.promote()
    assert set(words(done).values()) == {"created"}
    assert len(await known(sides.live)) == 20


async def test_a_dry_run_says_what_would_become_of_each() -> None:
    sides = Sides(Kind.MEMORY, dry=True)
    await sides.staging.learn(made(KRW, "m0"))
    assert words(await sides.promote()) == {"m0": "created"}
    sides.live.policy = review_all
    assert words(await sides.promote()) == {"m0": "held"}
    assert await known(sides.live) == {}


async def test_what_moved_since_it_was_shown_is_left() -> None:
    sides = Sides(Kind.MEMORY)
    await sides.both(made(KRW, "m0"), made(PLANTS, "m1"))
    await sides.staging.learn(note("Amounts are in USD", "m0"))
    await sides.staging.learn(note("The office has cats", "m1"))
    promoter = await sides.promoter()
    shown = await promoter.plan()
    await sides.live.learn(note("Amounts are in EUR", "m0"))
    done = {step.id: outcome async for step, outcome in take_shown(promoter, shown)}
    assert words(done) == {"m0": "moved", "m1": "updated"}
    assert done["m0"].has_failed
    assert done["m0"].why.code == "promote.moved"  # type: ignore[attr-defined]
    assert await known(sides.live) == {"m0": "Amounts are in EUR", "m1": "The office has cats"}


async def test_what_moves_while_it_is_written_is_refused() -> None:
    sides = Sides(Kind.MEMORY)
    await sides.both(made(KRW, "m0"))
    await sides.staging.learn(note("Amounts are in USD", "m0"))
    promoter = await sides.promoter()
    steps = await promoter.plan()
    await sides.live.learn(note("Amounts are in EUR", "m0"))
    ((_, outcome),) = [one async for one in take(promoter, steps)]
    assert (outcome.word, outcome.has_failed) == ("refused", True)
    assert await known(sides.live) == {"m0": "Amounts are in EUR"}


async def test_an_item_of_another_agent_is_refused_and_the_rest_goes_in() -> None:
    sides = Sides(Kind.MEMORY)
    await sides.live.learn(made(PLANTS, "m0"), agent_id="b")
    await sides.staging.learn(made(KRW, "m0"))
    await sides.staging.learn(made(LINES, "m1"))
    done = await sides.promote()
    assert words(done) == {"m0": "refused", "m1": "created"}
    assert done["m0"].why


async def test_a_database_that_is_down_ends_a_promotion() -> None:
    sides = Sides(POEM)
    await sides.staging.learn(poem("Sea", "a", target_id="p0", operation=CREATE))

    sides.answers = DependencyDown("the database is down")
    with pytest.raises(DependencyDown):
        await sides.promote()
    sides.answers = Refused("it is of another")
    assert words(await sides.promote()) == {"p0": "refused"}


class Answers(FakeGate):
    """A gate that says one thing of each."""

    def __init__(self, answer: SkillWorkerError) -> None:
        super().__init__()
        self._answer = answer

    async def submit_all(
        self, asked: Sequence[tuple[ChangeRequest, SubmitContext]]
    ) -> Sequence[Receipt | SkillWorkerError]:
        return [self._answer for _ in asked]
