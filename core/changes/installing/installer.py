"""Install, upgrade and remove published skills: each a change through the gate, like any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from core.changes.gate.change_gate import ChangeGate
from core.changes.installing.fetching import ANYTHING, Fetching, Offer, Wanted
from core.changes.installing.merging import merged_skill
from core.changes.skill_lists import require_skill
from core.changes.steps import StoredStates
from core.domain.errors import InvalidInput, NotFound, Refused
from core.domain.input_formats.agents import tenants_by_agent
from core.domain.input_formats.knowledge import KnowledgeEntry, KnowledgeLine
from core.domain.messages import Message
from core.domain.models import (
    SKILL_MD,
    Bundle,
    Kind,
    Operation,
    Origin,
    Receipt,
    ReceiptStatus,
    Relationship,
    SkillFile,
    SkillListRequest,
    SkillRequest,
    SubmitContext,
)
from core.domain.models.installed import InstalledSkill, Upgrade
from core.domain.ports import (
    Agents,
    ChangeLog,
    InstalledSkills,
    Knowledge,
    NewId,
    SkillStore,
)
from core.domain.tasks import aside
from core.knowledge.transfer.importer import Importer, would_wait
from core.knowledge.transfer.owners import Owners
from core.skills.document.frontmatter import set_name
from core.skills.published.places import GitPlace, NamePlace, Place, read_place
from core.skills.published.wording import install_reason, place_of, upgrade_reason

Files = Mapping[str, SkillFile]
Word = Literal["created", "updated", "known", "held", "refused", "deleted"]


class Done(NamedTuple):
    """What became of one skill: `said` is why it was refused, or what its receipt says.

    `before` and `after` are the files of an upgrade, to be compared.
    """

    name: str
    outcome: Word
    offer: Offer
    said: str = ""
    warnings: Sequence[str] = ()
    before: Files | None = None
    after: Files | None = None

    @property
    def is_in(self) -> bool:
        """Whether it has been carried out, or a dry run says that it would be."""
        return self.outcome in {"created", "updated"}


class Chosen(NamedTuple):
    """What a person wants of an upgrade: another ref or version, and the published side of clashes.

    `here` is the folder that paths start from.
    """

    here: Path
    to: str = ""
    replaces: bool = False


@dataclass(frozen=True, kw_only=True)
class Installer:
    """The skills of one tenant that others publish; with a dry-run gate nothing is stored."""

    gate: ChangeGate
    changes: ChangeLog
    knowledge: Knowledge
    skills: SkillStore
    agents: Agents
    installed: InstalledSkills
    fetching: Fetching
    new_id: NewId
    tenant_id: str

    async def install(
        self, place: Place, *, wanted: Wanted = ANYTHING, name: str = "", agent: str | None = None
    ) -> Done:
        """Install a skill, under another name if one is given, and put it on an agent's list.

        Raises InvalidInput, NotFound, Refused, DependencyDown.
        """
        offer = await self.fetching.fetch(place, wanted)
        bundle = _named(offer.bundle, name)
        standing = await self._standing(bundle.name)
        if standing is not None:
            return await self._again(standing, offer, agent)
        there = await self.skills.read(bundle.name, self.tenant_id)
        if there is not None:
            return await self._adopted(there, bundle, offer, agent)
        entry = KnowledgeEntry(kind=Kind.SKILL, name=bundle.name, content=bundle.document)
        line = KnowledgeLine(
            number=0, size=0, entry=entry, folder=bundle.files, published=offer.published
        )
        done = await (await self._importer(agent)).bring_in(line)
        return Done(done.name, done.outcome, offer, warnings=done.warnings)

    async def upgrade(self, one: InstalledSkill, chosen: Chosen) -> Done:
        """Bring an installed skill to what is published now; what was learnt since stays.

        Raises InvalidInput, NotFound, Refused, DependencyDown.
        """
        place = _moved(read_place(one.published.source, chosen.here), chosen.to)
        offer = await self.fetching.fetch(place, Wanted(index=one.published.index))
        if offer.published.name != one.published.name:
            raise InvalidInput(
                Message(
                    "installed.other_skill",
                    place=place_of(offer.published),
                    name=offer.published.name,
                    before=one.published.name,
                )
            )
        if offer.published.digest == one.published.digest:
            return Done(one.name, "known", offer, Message("installed.newest", name=one.name))
        for other in await self.installed.list(self.tenant_id, one.name):
            if other.is_held and other.published.digest == offer.published.digest:
                said = Message("installed.waits", name=one.name, id=other.change_id)
                return Done(one.name, "held", offer, said)
        return await self._upgraded(one, offer, chosen)

    async def remove(
        self, name: str, *, agent: str | None, cuts_off: Sequence[str] = ()
    ) -> Receipt:
        """Take a skill off an agent's list; delete it where no other agent has it.

        Raises NotFound if there is none; Refused if several have it and none is named.
        """
        await require_skill(self.skills, name, self.tenant_id)
        having = [one.id for one in await self.agents.having(self.tenant_id, name)]
        if agent is None and len(having) > 1:
            raise Refused(
                Message("installed.of_several", name=name, agents=", ".join(having)),
                hint=Message("installed.hint_several"),
            )
        request = SkillRequest(
            operation=Operation.DELETE,
            target_id=name,
            related_skill_ids=tuple(cuts_off),
            reason=Message("installed.removed", name=name),
        )
        whose = agent or (having[0] if len(having) == 1 else "")
        return await self.gate.submit(request, self._context("remove", whose, Origin.PERSON))

    async def _standing(self, name: str) -> InstalledSkill | None:
        found = await self.installed.list(self.tenant_id, name)
        return next((one for one in found if not one.is_held), None)

    async def _again(self, standing: InstalledSkill, offer: Offer, agent: str | None) -> Done:
        """Put what is installed already on another list. Raises Refused if it is another skill."""
        name = standing.name
        if standing.published.digest != offer.published.digest:
            raise Refused(
                Message("installed.other", name=name, place=place_of(standing.published)),
                hint=Message("installed.hint_other", name=name),
            )
        if agent is not None:
            reason = Message("installed.listed", name=name)
            request = SkillListRequest(skill_ids=(name,), reason=reason)
            receipt = await self.gate.submit(
                request, self._context("install", agent, Origin.IMPORT)
            )
            if receipt.status is not ReceiptStatus.KNOWN:
                return _done(name, receipt, offer)
        return Done(name, "known", offer, Message("installed.already", name=name))

    async def _adopted(
        self, there: Bundle, bundle: Bundle, offer: Offer, agent: str | None
    ) -> Done:
        """Put on record where what came in otherwise is from. Raises Refused if it differs."""
        name = bundle.name
        if there.files != bundle.files:
            raise Refused(
                Message("installed.taken", name=name), hint=Message("installed.hint_taken")
            )
        request = SkillRequest(
            operation=Operation.UPDATE,
            target_id=name,
            folder=bundle.files,
            published=offer.published,
            is_import=True,
            reason=install_reason(offer.published),
        )
        context = self._context("install", agent or "", Origin.IMPORT)
        done = _done(name, await self.gate.submit(request, context), offer)
        return done._replace(said=Message("installed.adopted", name=name)) if done.is_in else done

    async def _upgraded(self, one: InstalledSkill, offer: Offer, chosen: Chosen) -> Done:
        current = await self.skills.read(one.name, self.tenant_id)
        if current is None:
            raise NotFound(Message("no.skill", name=one.name), hint=Message("see.installed"))
        new = _named(offer.bundle, one.name).files
        base = await StoredStates(self.changes).folder(one.published.files)
        merged = await aside(current.size, merged_skill, base, new, current.files)
        request = SkillRequest(
            operation=Operation.UPDATE,
            target_id=one.name,
            folder=new,
            published=offer.published,
            upgrades=Upgrade(base=one.published.files, replaces=chosen.replaces),
            relationship=Relationship.REFINES,
            is_import=True,
            reason=upgrade_reason(offer.published, one.published),
        )
        receipt = await self.gate.submit(request, self._context("upgrade", "", Origin.IMPORT))
        done = _done(one.name, receipt, offer)
        if done.outcome == "refused":
            return done
        if merged.files == current.files and done.is_in:
            return done._replace(said=Message("installed.has_all", name=one.name))
        return done._replace(before=current.files, after=merged.files)

    async def _importer(self, agent: str | None) -> Importer:
        known = tenants_by_agent(await self.agents.list())
        return Importer(
            gate=self.gate,
            changes=self.changes,
            knowledge=self.knowledge,
            skills=self.skills,
            owners=Owners(known, self.tenant_id, agent),
            origin="",
            dry_run=self.gate.is_dry_run,
        )

    def _context(self, what: str, agent_id: str, origin: Origin) -> SubmitContext:
        return SubmitContext(
            key=f"{what}:{self.new_id()}",
            tenant_id=self.tenant_id,
            agent_id=agent_id,
            origin=origin,
        )


def _named(bundle: Bundle, name: str) -> Bundle:
    """Return a skill under another name, in its document too. Raises BundleInvalid."""
    if name in {"", bundle.name}:
        return bundle
    head = bundle.files[SKILL_MD]
    document = set_name(bundle.document, name).encode()
    renamed = SkillFile(data=document, executable=head.executable)
    return Bundle(name=name, files={**bundle.files, SKILL_MD: renamed})


def _moved(place: Place, to: str) -> Place:
    """Return a place at another ref or version. Raises InvalidInput where there is none."""
    if not to:
        return place
    if isinstance(place, GitPlace):
        return read_place(replace(place, ref=to).source, Path("/"))
    if isinstance(place, NamePlace):
        return read_place(replace(place, version=to).source, Path("/"))
    raise InvalidInput(Message("installed.no_versions", source=place.source))


_OUTCOMES: Mapping[ReceiptStatus, Word] = {
    ReceiptStatus.APPLIED: "updated",
    ReceiptStatus.ATTACHED: "updated",
    ReceiptStatus.KNOWN: "known",
    ReceiptStatus.HELD: "held",
}


def _done(name: str, receipt: Receipt, offer: Offer) -> Done:
    """Return what a receipt means; one of a dry run tells what would become of it."""
    outcome = _OUTCOMES.get(receipt.status, "refused")
    if receipt.status is ReceiptStatus.PREPARED:
        outcome = "held" if would_wait(receipt) else "updated"
    return Done(name, outcome, offer, receipt.message, receipt.warnings)
