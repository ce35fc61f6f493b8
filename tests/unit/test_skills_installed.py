"""Published skills in one tenant: installed, upgraded over what was learnt, and taken off."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from core.changes.installing.fetching import Fetching, Wanted
from core.changes.installing.installer import Chosen, Done, Installer
from core.changes.skill_lists import SkillLists
from core.domain.errors import InvalidInput, NotFound, Refused
from core.domain.hashing import sha256
from core.domain.models import (
    SKILL_MD,
    Change,
    ChangeStatus,
    Kind,
    Operation,
    Origin,
    SkillFile,
    SkillRequest,
)
from core.domain.models.installed import InstalledSkill
from core.skills.published.places import GitPlace, NamePlace, UrlPlace
from tests.support.all_kinds import Everything, review_all, skill
from tests.support.seeding import AT
from tests.unit.test_skills_fetched import (
    COMMIT,
    GIT,
    ONE,
    ZIP,
    Publishing,
    bundle,
    index,
    packed,
)

HERE = Path("/nowhere")
APPLIED, HELD = ChangeStatus.APPLIED, ChangeStatus.HELD
STEPS = "# Pay\n\n1. Look at it.\n2. Pay it.\n"


def document(steps: str = STEPS, name: str = "pay") -> bytes:
    return f"---\nname: {name}\ndescription: How to {name} a bill.\n---\n\n{steps}".encode()


def files(steps: str = STEPS, name: str = "pay", **more: bytes) -> dict[str, SkillFile]:
    texts = {SKILL_MD: document(steps, name)} | {f"{n}.md": text for n, text in more.items()}
    return {path: SkillFile(data=data) for path, data in texts.items()}


class Shelf:
    """Which skills are installed, as the changes of a world say."""

    def __init__(self, world: Everything) -> None:
        self._world = world

    async def list(self, tenant_id: str, name: str | None = None) -> Sequence[InstalledSkill]:
        found: dict[tuple[str, bool], InstalledSkill] = {}
        for change in self._world.log.changes.values():
            asked = change.request
            if not isinstance(asked, SkillRequest) or asked.published is None:
                continue
            if change.status not in {APPLIED, HELD} or name not in {None, change.target_id}:
                continue
            one = InstalledSkill(
                tenant_id=change.tenant_id,
                name=change.target_id,
                published=asked.published,
                change_id=change.id,
                is_held=change.status is HELD,
                at=AT,
            )
            if change.tenant_id == tenant_id:
                found[one.name, one.is_held] = one
        gone = {key for key in found if await self._world.store.read(key[0], tenant_id) is None}
        return [one for key, one in sorted(found.items()) if key not in gone or one.is_held]


class Installing:
    """A tenant that installs what is published in a repository."""

    def __init__(self) -> None:
        self.world, self.publishing = Everything(), Publishing()
        self.publishing.trees[GIT] = files()
        self.shelf = Shelf(self.world)

    def installer(self, *, dry: bool = False) -> Installer:
        return Installer(
            gate=self.world.dry() if dry else self.world.gate,
            changes=self.world.log,
            knowledge=self.world.knowledge,
            skills=self.world.store,
            agents=self.world.agents,
            installed=self.shelf,
            fetching=Fetching(self.publishing),
            new_id=lambda: str(len(self.world.log.changes)),
            tenant_id="t",
        )

    async def install(self, agent: str | None = "a", name: str = "", *, dry: bool = False) -> Done:
        return await self.installer(dry=dry).install(GitPlace(GIT, "v1"), name=name, agent=agent)

    async def upgrade(self, to: str = "", *, replaces: bool = False, dry: bool = False) -> Done:
        (one, *_) = await self.shelf.list("t", "pay")
        return await self.installer(dry=dry).upgrade(one, Chosen(HERE, to, replaces))

    async def text(self, name: str = "pay") -> str:
        found = await self.world.store.read(name, "t")
        assert found is not None
        return found.document

    def last(self) -> Change:
        return [*self.world.log.changes.values()][-1]


def code_of(done: Done) -> str:
    return str(getattr(done.said, "code", ""))


@pytest.fixture
def tenant() -> Installing:
    return Installing()


async def lists(tenant: Installing) -> dict[str, tuple[str, ...]]:
    return {one.id: one.skills for one in await tenant.world.agents.list("t")}


async def test_a_skill_is_installed_and_put_on_an_agents_list(tenant: Installing) -> None:
    dry = await tenant.install(dry=True)
    assert (dry.name, dry.outcome, dry.is_in) == ("pay", "created", True)
    assert tenant.world.log.changes == {}
    done = await tenant.install()
    assert (done.name, done.outcome, done.is_in) == ("pay", "created", True)
    assert await lists(tenant) == {"a": ("pay",), "b": ()}
    assert await tenant.text() == document().decode()
    (one,) = await tenant.shelf.list("t")
    assert (one.published.commit, one.published.ref) == (COMMIT, "v1")
    assert {*one.published.files} == {SKILL_MD}
    (made,) = [c for c in tenant.world.log.changes.values() if c.kind is Kind.SKILL]
    assert (made.origin, made.agent_id) == (Origin.IMPORT, "a")


async def test_a_skill_is_installed_under_another_name_in_its_document_too(
    tenant: Installing,
) -> None:
    tenant.publishing.trees[GIT] = {
        SKILL_MD: SkillFile(data=document(), executable=True),
        "fees.md": SkillFile(data=b"# Fees\n"),
    }
    done = await tenant.install(name="bills")
    assert (done.name, done.outcome) == ("bills", "created")
    assert "\nname: bills\n" in await tenant.text("bills")
    found = await tenant.world.store.read("bills", "t")
    assert found is not None
    assert (found.files[SKILL_MD].executable, "fees.md" in found.files) == (True, True)
    assert await tenant.world.store.read("pay", "t") is None
    (one,) = await tenant.shelf.list("t")
    assert (one.name, one.published.name) == ("bills", "pay")


async def test_what_is_installed_already_is_put_on_further_lists_alone(
    tenant: Installing,
) -> None:
    await tenant.install()
    nobody = await tenant.install(agent=None)
    assert (nobody.outcome, code_of(nobody)) == ("known", "installed.already")
    again = await tenant.install()
    assert (again.outcome, code_of(again), again.is_in) == ("known", "installed.already", False)
    other = await tenant.install("b")
    assert (other.outcome, other.name) == ("updated", "pay")
    assert await lists(tenant) == {"a": ("pay",), "b": ("pay",)}
    assert (tenant.last().origin, tenant.last().agent_id) == (Origin.IMPORT, "b")
    assert tenant.last().key.startswith("install:")
    tenant.publishing.trees[GIT] = files("# Pay\n\n1. Something else.\n")
    with pytest.raises(Refused) as refused:
        await tenant.install("b")
    assert refused.value.hint
    assert "git+" in refused.value.message


async def test_what_came_in_otherwise_is_adopted_if_it_is_the_same(tenant: Installing) -> None:
    own = {"operation": "CREATE", "folder": files(), "is_import": True}
    await tenant.world.learn(SkillRequest.model_validate(own))
    assert await tenant.shelf.list("t") == []
    done = await tenant.install(agent=None)
    assert (done.outcome, code_of(done)) == ("updated", "installed.adopted")
    (one,) = await tenant.shelf.list("t")
    assert one.name == "pay"
    assert (tenant.last().operation, tenant.last().agent_id) == (Operation.UPDATE, "")
    assert await tenant.text() == document().decode()

    other = Installing()
    await other.world.learn(skill("pay", "# Pay\n\n1. As we do it.\n"))
    with pytest.raises(Refused) as refused:
        await other.install()
    assert "pay" in refused.value.message
    waiting = Installing()
    await waiting.world.learn(SkillRequest.model_validate(own))
    waiting.world.policy = review_all
    held = await waiting.install()
    assert (held.outcome, held.is_in, code_of(held)) == ("held", False, "receipt.waits")


NEWER = STEPS.replace("Pay it.", "Pay it in full.")


async def test_an_upgrade_keeps_what_was_learnt_since(tenant: Installing) -> None:
    await tenant.install()
    newest = await tenant.upgrade()
    assert (newest.outcome, code_of(newest)) == ("known", "installed.newest")
    learnt = skill("pay", STEPS + "3. Tell them.\n", about="How to pay a bill.", new=False)
    await tenant.world.learn(learnt)
    tenant.publishing.trees[GIT] = files(NEWER, fees=b"# Fees\n")
    dry = await tenant.upgrade(dry=True)
    assert (dry.outcome, dry.is_in) == ("updated", True)
    assert "full" not in await tenant.text()
    done = await tenant.upgrade("v2")
    assert (done.name, done.outcome, done.said.code) == ("pay", "updated", "receipt.done")  # type: ignore[attr-defined]
    assert (await tenant.text()).endswith(f"{NEWER}3. Tell them.\n")
    assert done.before is not None
    assert done.after is not None
    assert done.before[SKILL_MD].data.decode().endswith(f"{STEPS}3. Tell them.\n")
    assert done.after[SKILL_MD].data.decode() == await tenant.text()
    assert {*done.after} - {*done.before} == {"fees.md"}
    assert tenant.publishing.asked[-1] == (GIT, "v2", "")
    made = tenant.last()
    assert (made.origin, made.agent_id, made.key[:8]) == (Origin.IMPORT, "", "upgrade:")
    assert made.relationship == "REFINES"
    (one,) = await tenant.shelf.list("t", "pay")
    assert (one.published.ref, {*one.published.files}) == ("v2", {SKILL_MD, "fees.md"})


async def test_an_upgrade_that_brings_nothing_new_is_put_on_record_and_says_so(
    tenant: Installing,
) -> None:
    await tenant.install()
    await tenant.world.learn(skill("pay", NEWER, about="How to pay a bill.", new=False))
    tenant.publishing.trees[GIT] = files(NEWER)
    done = await tenant.upgrade()
    assert (done.outcome, code_of(done)) == ("updated", "installed.has_all")
    assert (done.before, done.after) == (None, None)
    assert (await tenant.upgrade()).outcome == "known"


async def test_an_upgrade_that_brings_nothing_new_may_wait_too(tenant: Installing) -> None:
    await tenant.install()
    await tenant.world.learn(skill("pay", NEWER, about="How to pay a bill.", new=False))
    tenant.publishing.trees[GIT] = files(NEWER)
    tenant.world.policy = review_all
    held = await tenant.upgrade()
    assert (held.outcome, code_of(held)) == ("held", "receipt.waits")


async def test_where_both_changed_one_line_a_person_says_whose_stands(tenant: Installing) -> None:
    await tenant.install()
    mine = STEPS.replace("Pay it.", "Pay half of it.")
    await tenant.world.learn(skill("pay", mine, about="How to pay a bill.", new=False))
    tenant.publishing.trees[GIT] = files(NEWER)
    refused = await tenant.upgrade()
    assert (refused.outcome, refused.is_in) == ("refused", False)
    assert refused.before is None
    assert "half" in await tenant.text()
    replaced = await tenant.upgrade(replaces=True)
    assert replaced.outcome == "updated"
    assert "in full" in await tenant.text()


async def test_an_upgrade_that_waits_is_not_asked_for_twice(tenant: Installing) -> None:
    await tenant.install()
    tenant.publishing.trees[GIT] = files(NEWER)
    tenant.world.policy = review_all
    held = await tenant.upgrade()
    assert (held.outcome, held.is_in) == ("held", False)
    assert held.after is not None
    again = await tenant.upgrade()
    assert (again.outcome, code_of(again)) == ("held", "installed.waits")
    assert tenant.last().id in again.said
    assert (await tenant.upgrade(dry=True)).outcome == "held"
    tenant.publishing.trees[GIT] = files(NEWER + "3. Tell them.\n")
    assert code_of(await tenant.upgrade()) != "installed.waits"


async def test_what_is_published_as_another_skill_is_no_upgrade(tenant: Installing) -> None:
    await tenant.install()
    (one,) = await tenant.shelf.list("t")
    tenant.publishing.trees[GIT] = files(name="bills")
    with pytest.raises(InvalidInput) as other:
        await tenant.upgrade()
    assert "bills" in other.value.message
    tenant.publishing.trees[GIT] = files(NEWER)
    del tenant.world.store.skills["t", "pay"]
    with pytest.raises(NotFound):
        await tenant.installer().upgrade(one, Chosen(HERE))


async def test_only_what_has_versions_is_upgraded_to_one(tenant: Installing) -> None:
    tenant.publishing.files[ZIP] = packed()
    await tenant.installer().install(UrlPlace(ZIP), agent="a")
    with pytest.raises(InvalidInput) as raised:
        await tenant.upgrade("v2")
    assert ZIP in raised.value.message


async def test_a_name_is_upgraded_to_a_version_of_its_own_index(tenant: Installing) -> None:
    tenant.publishing.files[ZIP] = packed()
    tenant.publishing.files[ONE] = index("pay.skill", "1.0.0")
    place = NamePlace("pay", "1.0.0")
    await tenant.installer().install(place, wanted=Wanted(index=ONE), agent="a")
    newer = bundle(**{"fees.md": b"# Fees\n"})
    tenant.publishing.files[ZIP] = packed(newer)
    digest = sha256(packed(newer))
    tenant.publishing.files[ONE] = index("pay.skill", "1.0.0", "2.0.0", "3.0.0", digest=digest)
    done = await tenant.upgrade("2.0.0")
    assert done.outcome == "updated"
    (one,) = await tenant.shelf.list("t")
    assert (one.published.source, one.published.version) == ("pay@2.0.0", "2.0.0")
    assert one.published.index == ONE


async def test_a_skill_is_taken_off_a_list_and_deleted_with_the_last_of_them(
    tenant: Installing,
) -> None:
    await tenant.install()
    await tenant.install("b")
    remove = tenant.installer().remove
    with pytest.raises(NotFound) as none:
        await remove("ship", agent="a")
    assert none.value.hint
    with pytest.raises(Refused) as several:
        await remove("pay", agent=None)
    assert "a, b" in several.value.message
    off = await remove("pay", agent="b")
    assert off.status.is_outcome
    assert await lists(tenant) == {"a": ("pay",), "b": ()}
    assert (tenant.last().origin, tenant.last().agent_id) == (Origin.PERSON, "b")
    gone = await remove("pay", agent=None)
    assert (gone.operation, gone.kind) == (Operation.DELETE, Kind.SKILL)
    assert tenant.last().agent_id == "a"
    assert await tenant.world.store.read("pay", "t") is None


async def test_a_skill_is_deleted_for_all_once_a_person_has_said_so(tenant: Installing) -> None:
    await tenant.install()
    await tenant.install("b")
    world = tenant.world
    lists_of = SkillLists(
        agents=world.agents, skills=world.store, gate=world.gate, new_id=lambda: "d"
    )
    receipt = await lists_of.delete_for_all("t", "pay", "kim")
    assert (receipt.status, tenant.last().agent_id) == ("held", "")
    assert [one.id for one in tenant.last().listed_by] == ["a", "b"]
    asked = tenant.last().request
    assert isinstance(asked, SkillRequest)
    assert asked.for_all
    assert asked.reason.code == "skill.deletion_by"  # type: ignore[attr-defined]
