"""Lists of skills on the platform: whose are written, in which form, and what comes back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.delivery.platform_lists import TRIES, SkillListWriter
from core.domain.errors import InvalidInput, NotFound, SourceDown
from core.domain.models import (
    Agent,
    Change,
    ChangeRequest,
    Kind,
    ListEdit,
    Operation,
    Origin,
    Receipt,
    ReceiptStatus,
    SkillListRequest,
    Snapshot,
    SubmitContext,
)
from core.domain.models.deliveries import SkillListState
from core.domain.ports import PlatformRow
from tests.support.platform_rows import Rows
from tests.support.react import item_change

TENANT = "t1"


class Platform(Rows):
    """Tables, whose lists others may change between; `taken` is how often that goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: list[str] = []
        self.refused: set[str] = set()
        self.no_column = False

    async def read(
        self, table: str, where: PlatformRow, columns: Sequence[str]
    ) -> Sequence[PlatformRow]:
        if table in self.refused:
            raise InvalidInput("no such id")
        rows = await super().read(table, where, columns)
        bare = [{name: row[name] for name in row if name != "skills"} for row in rows]
        return bare if self.no_column and table == "users" else rows

    async def change(self, table: str, where: PlatformRow, values: PlatformRow) -> int:
        if self.meanwhile:
            self.skills_of("users")["skills"] = self.meanwhile.pop(0)
        return await super().change(table, where, values)

    def skills_of(self, table: str) -> dict[str, object]:
        return next(row for row in self.tables[table] if row["id"] in {"a1", TENANT})

    def listed(self) -> list[object]:
        """Return the names among the rows of the agent."""
        rows = self.tables["agent_skills"]
        return sorted(str(row["skill_name"]) for row in rows if row["user_id"] == "a1")


class World:
    """The platform, and the lists and agents here."""

    def __init__(self, there: str | None = "", *ours: str) -> None:
        self.platform = Platform()
        self.platform.tables["users"].append({"id": "a1", "tenant_id": TENANT, "skills": there})
        self.platform.tables["users"].append({"id": "a1", "tenant_id": "t2", "skills": "theirs"})
        self.platform.tables["tenants"].append({"id": TENANT, "skills": None})
        self.agents = {"a1": ours, "a2": ()}
        self.lists: dict[tuple[str, str], SkillListState] = {}
        self.listing: list[str] = []
        self.tenant: frozenset[str] = frozenset()
        self.asked: list[tuple[SkillListRequest, SubmitContext]] = []
        self.coming: list[frozenset[str]] = []  # as noted when each change was asked for
        self.status = ReceiptStatus.APPLIED
        self.skipped: list[tuple[str, str]] = []

    async def get(self, tenant_id: str, agent_id: str) -> Agent:
        if agent_id not in self.agents or tenant_id != TENANT:
            raise NotFound("no such agent")
        skills = self.agents[agent_id]
        return Agent(id=agent_id, tenant_id=tenant_id, name="A", skills=tuple(skills))

    async def listers(self, tenant_id: str, skill: str) -> Sequence[str]:
        return self.listing if (tenant_id, skill) == (TENANT, "s") else []

    async def tenant_skills(self, tenant_id: str) -> frozenset[str]:
        return self.tenant

    async def skill_list(self, tenant_id: str, agent_id: str) -> SkillListState | None:
        return self.lists.get((tenant_id, agent_id))

    async def keep(self, state: SkillListState) -> SkillListState:
        kept = state.model_copy(update={"revision": state.revision + 1})
        self.lists[state.tenant_id, state.agent_id] = kept
        return kept

    async def submit(self, request: ChangeRequest, context: SubmitContext) -> Receipt:
        assert isinstance(request, SkillListRequest)
        self.asked.append((request, context))
        self.coming.append(self.lists[TENANT, "a1"].coming)
        return Receipt(status=self.status, message="said")

    def known(self, ours: str, theirs: str, agent_id: str = "a1", **more: str) -> None:
        names = {"ours": ours, "theirs": theirs, **more}
        self.lists[TENANT, agent_id] = SkillListState(
            tenant_id=TENANT, agent_id=agent_id, **{name: _names(names[name]) for name in names}
        )

    async def write(self, change: Change) -> Sequence[str]:
        writer = SkillListWriter(self.platform, self, self, self, self.skip)  # type: ignore[arg-type]
        return await writer.write(change)

    def skip(self, agent_id: str, why: str) -> None:
        self.skipped.append((agent_id, why))

    @property
    def there(self) -> object:
        return self.platform.skills_of("users")["skills"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def listing(before: str | None, after: str | None, agent_id: str = "a1") -> Change:
    made = item_change(Kind.AGENT_SKILLS, agent_id, "A", "")
    states = {
        name: None if text is None else Snapshot(content="\n".join(text.split()), name="A")
        for name, text in (("before", before), ("after", after))
    }
    return made.model_copy(update=states)


def skill(operation: Operation = Operation.CREATE, agent_id: str = "a1") -> Change:
    made = item_change(Kind.SKILL, "s", "s", "x")
    return made.model_copy(update={"operation": operation, "agent_id": agent_id})


async def test_an_agent_s_list_is_a_text_and_rows_in_order() -> None:
    world = World("a", "c", "a", "b")
    assert await world.write(listing("a", "a b c")) == []
    assert (world.there, world.platform.listed()) == ("a,b,c", ["b", "c"])
    state = world.lists[TENANT, "a1"]
    assert (state.ours, state.theirs) == (_names("a b c"), _names("a b c"))
    assert (state.adding, state.removing, state.coming, state.left) == (frozenset(),) * 4
    assert world.asked == []
    other = world.platform.tables["users"][1]
    assert other["skills"] == "theirs"
    world.agents["a1"] = ("a",)
    world.platform.tables["agent_skills"].append(
        {"user_id": "a1", "tenant_id": "t2", "skill_name": "b"}
    )
    await world.write(listing("a b c", "a"))
    assert (world.there, world.platform.listed()) == ("a", ["b"])  # which is the other tenant's


async def test_a_list_that_is_as_it_should_be_is_not_written() -> None:
    world = World("b, a ,,", "a", "b")
    world.known("a b", "a b")
    assert await world.write(listing("a b", "a b")) == []
    assert (world.there, world.platform.listed()) == ("b, a ,,", [])


async def test_a_list_that_is_an_array_stays_one() -> None:
    world = World("", "a", "b")
    world.platform.skills_of("users")["skills"] = ["a"]
    await world.write(listing("a", "a b"))
    assert world.there == ["a", "b"]


async def test_without_the_column_the_rows_are_the_list() -> None:
    world = World(None, "a", "b")
    world.platform.no_column = True
    world.platform.tables["agent_skills"] = [
        {"user_id": "a1", "tenant_id": TENANT, "skill_name": name} for name in ("a", "x")
    ]
    world.known("a x", "a x")
    world.agents["a1"] = ("a", "b")
    assert await world.write(listing("a x", "a b")) == []
    assert (world.platform.listed(), world.there) == (["a", "b"], None)


async def test_without_the_rows_the_column_is_written_alone() -> None:
    world = World("a", "a", "b")
    world.platform.missing = {"agent_skills"}
    assert await world.write(listing("a", "a b")) == []
    assert world.there == "a,b"


async def test_a_skill_concerns_its_agent_those_that_list_it_and_the_tenant() -> None:
    world = World("", "s")
    world.platform.tables["users"].append({"id": "a2", "tenant_id": TENANT, "skills": None})
    world.agents["a2"], world.listing, world.tenant = ("s",), ["a2", "gone"], _names("s z")
    assert await world.write(skill()) == []
    assert [row["skills"] for row in world.platform.tables["users"]] == ["s", "theirs", "s"]
    assert world.platform.skills_of("tenants")["skills"] == ["s"]  # `z` is as it was
    assert world.lists[TENANT, ""].ours == _names("s z")


async def test_what_changes_within_a_skill_concerns_its_own_agent_alone() -> None:
    world = World("", "s")
    world.platform.tables["users"].append({"id": "a2", "tenant_id": TENANT, "skills": None})
    world.agents["a2"], world.listing = ("s",), ["a2"]
    await world.write(skill(Operation.UPDATE))
    assert [row["skills"] for row in world.platform.tables["users"]] == ["s", "theirs", None]
    nobody = World("", "s")
    nobody.listing = ["a1"]
    await nobody.write(skill(Operation.UPDATE, agent_id=""))
    assert nobody.there == ""
    await nobody.write(skill(Operation.DELETE, agent_id=""))
    assert nobody.there == "s"


async def test_a_tenant_s_list_is_written_for_skills_only() -> None:
    world = World("", "a")
    world.tenant = _names("a")
    await world.write(listing("", "a"))
    assert world.platform.skills_of("tenants")["skills"] is None


@pytest.mark.parametrize("table", ["users", "tenants"])
async def test_a_list_that_the_platform_does_not_have_is_told(table: str) -> None:
    world = World("", "s")
    world.platform.tables[table].clear()
    (told,) = await world.write(skill())
    assert ("a1" if table == "users" else TENANT) in told
    world.platform.missing = {table}
    (told,) = await world.write(skill())
    assert f"no table {table}" in told
    world.platform.missing, world.platform.unwanted = set(), {table}
    assert await world.write(skill()) == []
    assert world.skipped == []


async def test_an_agent_that_the_platform_refuses_is_warned_of_a_tenant_is_not() -> None:
    world = World("", "s")
    world.tenant = _names("s")
    world.platform.refused = {"users"}
    (told,) = await world.write(skill())
    assert "no such id" in told
    assert world.skipped == [("a1", "no such id")]
    assert world.platform.skills_of("tenants")["skills"] == ["s"]
    world.platform.refused = {"tenants"}
    with pytest.raises(InvalidInput):
        await world.write(skill())


async def test_what_the_platform_changed_comes_back_name_by_name() -> None:
    world = World("a,x,y", "a", "b", "c")
    world.known("a b c", "a b c")
    await world.write(listing("a c", "a b c"))
    assert world.there == "a,x,y"
    told = [(one.skill_ids, one.edit, one.target_id) for one, _ in world.asked]
    assert told == [
        (("x",), ListEdit.ADD, "a1"),
        (("y",), ListEdit.ADD, "a1"),
        (("b",), ListEdit.REMOVE, "a1"),
        (("c",), ListEdit.REMOVE, "a1"),
    ]
    assert all(one.reason for one, _ in world.asked)
    contexts = [context for _, context in world.asked]
    assert {(one.tenant_id, one.agent_id, one.origin) for one in contexts} == {
        (TENANT, "a1", Origin.PERSON)
    }
    assert len({one.key for one in contexts}) == 4
    state = world.lists[TENANT, "a1"]
    assert (state.ours, state.theirs) == (_names("a x y"), _names("a x y"))
    assert (state.coming, state.left) == (frozenset(), frozenset())
    assert state.revision == 2


@pytest.mark.parametrize(
    ("there", "coming"), [("a,b,x", "x"), ("a", "b"), ("x", "a b x"), ("a,b", "")]
)
async def test_what_is_to_come_back_is_noted_before_it_is_asked_for(
    there: str, coming: str
) -> None:
    world = World(there, "a", "b")
    world.known("a b", "a b")
    await world.write(listing("", ""))
    assert set(world.coming) == ({_names(coming)} if coming else set())
    assert world.lists[TENANT, "a1"].coming == frozenset()


async def test_a_tenant_s_list_is_noted_though_nothing_is_written() -> None:
    world = World("s", "s")
    world.tenant = _names("s")
    world.platform.skills_of("tenants")["skills"] = ["s"]
    await world.write(skill())
    state = world.lists[TENANT, ""]
    assert (state.ours, state.theirs, state.revision) == (_names("s"), _names("s"), 1)


@pytest.mark.parametrize(
    ("status", "is_taken"),
    [
        (ReceiptStatus.APPLIED, True),
        (ReceiptStatus.KNOWN, True),
        (ReceiptStatus.ATTACHED, True),
        (ReceiptStatus.HELD, False),
        (ReceiptStatus.REFUSED, False),
    ],
)
async def test_what_is_not_taken_here_is_left_there(status: ReceiptStatus, is_taken: bool) -> None:
    world = World("a,x", "a", "b")
    world.known("a b", "a b")
    world.status = status
    await world.write(listing("", ""))
    state = world.lists[TENANT, "a1"]
    assert state.ours == _names("a x" if is_taken else "a b")
    assert state.left == _names("" if is_taken else "x b")
    assert world.there == "a,x"


async def test_a_list_that_changes_meanwhile_is_read_again() -> None:
    world = World("a", "a", "b")
    world.known("a", "a")
    world.platform.meanwhile = ["a,late"]
    await world.write(listing("a", "a b"))
    assert world.there == "a,b,late"
    assert [one.skill_ids for one, _ in world.asked] == [("late",)]
    busy = World("a", "a", "b")
    busy.platform.meanwhile = [f"a,{n}" for n in range(TRIES)]
    with pytest.raises(SourceDown, match="a1"):
        await busy.write(listing("a", "a b"))
    assert busy.platform.meanwhile == []


async def test_a_write_that_was_cut_off_is_finished_in_the_rows_too() -> None:
    world = World("a,b", "a", "b")  # the column came to it, the rows did not
    world.known("a", "a", adding="b", removing="c")
    world.platform.tables["agent_skills"] = [
        {"user_id": "a1", "tenant_id": TENANT, "skill_name": name} for name in ("a", "c", "z")
    ]
    await world.write(listing("", ""))
    assert world.platform.listed() == ["a", "b", "z"]
    assert world.asked == []
