"""What the gate looks at to find what others rely on, how far, and how it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from core.changes.interference import JUDGED_LIMITS, LIMITS, Interference
from core.domain.errors import DependencyDown
from core.domain.models import (
    SKILL_MD,
    Bundle,
    Change,
    Finding,
    Hit,
    Kind,
    KnownText,
    MemoryRequest,
    Nearby,
    Operation,
    Origin,
    SkillFile,
    SkillRequest,
    Snapshot,
)
from core.domain.models.installed import Upgrade
from core.safety.config import ScreenConfig
from core.testing.skill_store import MemorySkillStore
from tests.unit.test_merging import Rows, table
from tests.unit.test_reliance_look import CHANGE, CUT, HEAD, READS, STEPS, Judging

REMOVED, VALUE = "interference.step_removed", "interference.value_changed"
ROWS: Rows = {"r1": ("> 100", '"express"', ""), "r2": ("<= 100", '"parcel"', "")}
RENAMED: Rows = {**ROWS, "r1": ("> 100", '"courier"', "")}
ON_ROWS = "Boxes whose who is 'express' go to the morning team."
UPGRADE = SkillRequest(operation=Operation.UPDATE, upgrades=Upgrade(base={}))


def near(kind: Kind, item_id: str, content: str, name: str = "") -> KnownText:
    return KnownText(
        id=item_id, kind=kind, name=name or item_id, agent_id="a", content=content, score=1.0
    )


@dataclass
class Near:
    """A search that gives what it is filled with, and remembers what it was asked."""

    items: Sequence[KnownText] = ()
    asked: list[tuple[str, str | None, Kind, int]] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)

    async def near(
        self,
        text: str,
        *,
        tenant_id: str,
        agent_id: str | None,
        kind: Kind,
        limit: int,
        user: str | None = None,
    ) -> Nearby:
        del user
        self.asked.append((tenant_id, agent_id, kind, limit))
        self.queries.append(text)
        return Nearby(items=tuple(one for one in self.items if one.kind is kind)[:limit])

    async def search(
        self,
        query: str,
        *,
        tenant_id: str,
        agent_id: str | None,
        kind: Kind | None,
        limit: int,
        user: str | None = None,
    ) -> Sequence[Hit]:
        raise NotImplementedError

    async def refresh(self, tenant_id: str) -> None:
        raise NotImplementedError


class Down(MemorySkillStore):
    """A store that reads one skill, and is down for all others."""

    async def read(self, name: str, tenant_id: str) -> Bundle | None:
        if name != "close-day":
            raise DependencyDown("the disk is gone")
        return await super().read(name, tenant_id)


@dataclass
class Looking:
    """A look at changes of the skill `close-day`, beside what a search finds."""

    search: Near
    skills: MemorySkillStore = field(default_factory=MemorySkillStore)
    judge: Judging | None = None

    def __post_init__(self) -> None:
        self.put("close-day", {SKILL_MD: HEAD + STEPS})

    def put(self, name: str, texts: dict[str, str]) -> None:
        files = {path: SkillFile(data=text.encode()) for path, text in texts.items()}
        self.skills.skills["t", name] = Bundle(name=name, files=files)

    async def at(self, change: Change, after: str = CUT) -> Sequence[Finding]:
        look = Interference(self.search, self.skills, ScreenConfig(), self.judge)
        return await look(change, {SKILL_MD: (HEAD + STEPS, HEAD + after)})


def looking(*items: KnownText) -> Looking:
    return Looking(Near(items or (near(Kind.MEMORY, "m0", READS),)))


def of_table(before: str, after: str, item_id: str = "rule-1") -> Change:
    states = {
        "before": Snapshot(content=before, name="approval"),
        "after": Snapshot(content=after, name="approval"),
    }
    return CHANGE.model_copy(
        update={"kind": Kind.DMN_RULE, "target_id": item_id, "target_name": "approval", **states}
    )


def changed(**given: object) -> Change:
    return CHANGE.model_copy(update=given)


@pytest.mark.parametrize(
    ("change", "is_looked_at"),
    [
        (changed(), True),
        (changed(operation=Operation.CREATE), False),
        (changed(operation=Operation.DELETE, after=None), False),
        (changed(after=None), False),
        (changed(before=None), False),
        (changed(kind=Kind.MEMORY), False),
        # What is brought in is not, but for what a publisher has changed since.
        (changed(origin=Origin.IMPORT), False),
        (changed(origin=Origin.IMPORT, request=UPGRADE), True),
        (
            changed(
                origin=Origin.IMPORT, request=SkillRequest(operation=Operation.UPDATE, reason="x")
            ),
            False,
        ),
        (
            changed(origin=Origin.IMPORT, request=MemoryRequest(operation=Operation.UPDATE)),
            False,
        ),
        (changed(origin=Origin.PERSON), True),
        # What is not there any more cannot be compared.
        (changed(target_id="gone"), False),
    ],
)
async def test_only_revisions_are_looked_at(change: Change, is_looked_at: bool) -> None:
    world = looking()
    found = await world.at(change)
    assert [one.code for one in found] == ([REMOVED] if is_looked_at else [])
    assert bool(world.search.asked) is is_looked_at


async def test_the_nearest_of_each_kind_are_asked_for_and_one_for_the_item() -> None:
    world = looking()
    await world.at(CHANGE)
    plain = [("t", "a", kind, most + 1) for kind, most in LIMITS.items()]
    assert world.search.asked == plain
    (query, *others) = world.search.queries
    assert others == [query] * 2
    lines = query.splitlines()
    # First its name and what changes, then the rest of it.
    assert lines[0] == "close-day"
    assert "till.csv" in lines[1]
    assert any("Lock the door" in line for line in lines[2:])
    assert len(query) <= 600
    world.judge = Judging(is_broken=None)
    world.search.asked.clear()
    await world.at(CHANGE)
    assert world.search.asked == [
        ("t", "a", kind, most + 1) for kind, most in JUDGED_LIMITS.items()
    ]


async def test_an_item_does_not_rely_on_itself_but_others_of_its_id_may() -> None:
    world = looking(near(Kind.SKILL, "close-day", READS), near(Kind.MEMORY, "close-day", READS))
    (found,) = await world.at(CHANGE)
    assert "close-day" in found.text
    world = looking(near(Kind.SKILL, "close-day", READS))
    assert await world.at(CHANGE) == []


async def test_of_skills_the_whole_folder_is_read_or_else_what_is_searched() -> None:
    other = near(Kind.SKILL, "open-shop", "Open the shop.")
    world = looking(other)
    world.put("open-shop", {SKILL_MD: "# Open\n", "scripts/open.py": "open('till.csv')\n"})
    (found,) = await world.at(CHANGE)
    assert "open('till.csv')" in found.text
    assert "open-shop" in found.text
    # One that was deleted since the search relies on nothing.
    assert await looking(replace_content(other, READS)).at(CHANGE) == []
    # Of one that cannot be read the index says what it says.
    down = looking(replace_content(other, READS))
    down.skills = Down()
    down.put("close-day", {SKILL_MD: HEAD + STEPS})
    (found,) = await down.at(CHANGE)
    assert "open-shop" in found.text


def replace_content(known: KnownText, content: str) -> KnownText:
    return known.model_copy(update={"content": content})


async def test_files_that_a_change_drops_are_not_in_the_skill_after_it() -> None:
    script = "open('till.csv', 'w')\n"
    both = Snapshot.model_construct(
        content="", name="close-day", files={SKILL_MD: None, "scripts/till.py": None}
    )
    world = looking()
    world.put("close-day", {SKILL_MD: HEAD + STEPS, "scripts/till.py": script})
    assert await world.at(changed(after=both), STEPS) == []
    kept = await world.at(changed(after=both), CUT)
    dropped = await world.at(CHANGE, CUT)
    # As long as a script writes the file, who reads it is served.
    assert (len(kept), len(dropped)) == (0, 1)


async def test_at_most_five_are_told() -> None:
    world = looking(*(near(Kind.MEMORY, f"m{n}", f"{READS} ({n})") for n in range(7)))
    found = await world.at(CHANGE)
    assert len(found) == 5
    assert len({one.digest for one in found}) == 5
    # A model's answers are told whatever they are, and the rules' not twice.
    world.judge = Judging(is_broken=True)
    judged = await world.at(CHANGE)
    assert {one.code for one in judged} == {"second_look.interference"}
    assert len(judged) == 7
    world.judge = Judging(is_broken=None)
    assert [one.code for one in await world.at(CHANGE)] == [REMOVED] * 5


async def test_a_finding_quotes_both_and_points_at_the_place() -> None:
    (found,) = await looking().at(CHANGE)
    assert (found.place, found.start, found.end) == (SKILL_MD, 0, 0)  # the line is gone
    assert found.quote == "Write the total to `till.csv`."
    assert found.quote in found.text
    assert READS in found.text
    assert "m0" in found.text  # a memory is named by its id
    long = READS.removesuffix(".") + " every single day of the year" * 20
    (cut,) = await looking(near(Kind.MEMORY, "m0", long)).at(CHANGE)
    assert READS.removesuffix(".") in cut.text
    assert long not in cut.text
    assert cut.digest != found.digest
    (other,) = await looking(near(Kind.MEMORY, "m1", READS)).at(CHANGE)
    assert other.digest != found.digest


async def test_a_line_that_is_still_there_is_pointed_at() -> None:
    limit = "2. At most 100 calls a minute.\n"
    world = looking(
        near(Kind.MEMORY, "m", "The partner gets 60 calls a minute from the catalogue.")
    )
    head = "# Calls to the partner\n1. Send the token.\n"
    world.put("close-day", {SKILL_MD: head + limit})
    look = Interference(world.search, world.skills, ScreenConfig())
    after = head + limit.replace("100", "20")
    (found,) = await look(CHANGE, {SKILL_MD: (head + limit, after)})
    assert found.code == VALUE
    added = "2. Delete the folder `till.csv`.\n"
    (step,) = await looking().at(CHANGE, STEPS.replace("2.", f"{added}3."))
    assert step.code == "interference.step_added"
    text = HEAD + STEPS.replace("2.", f"{added}3.")
    assert text[step.start : step.end] == "Delete the folder `till.csv`."


async def test_of_a_document_the_first_table_that_changes_is_compared() -> None:
    world = looking(near(Kind.MEMORY, "m", ON_ROWS))
    before, after = table(ROWS), table(RENAMED)
    (found,) = await world.at(of_table(before, after))
    assert (found.code, found.place) == (VALUE, "")
    assert "express" in found.quote
    assert not await world.at(of_table(before, before))
    assert not await world.at(of_table("<no table", after))
    assert not await world.at(of_table(before, "<no table"))
    assert world.search.queries[0].startswith("approval")
