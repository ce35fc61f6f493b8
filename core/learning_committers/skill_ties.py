"""What hangs together: a skill's references, and the skills that refer to it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.domain.errors import Refused
from core.domain.messages import Message, joined
from core.domain.models import Bundle
from core.domain.ports import SkillStore
from core.skills.library import look_into, look_through
from core.skills.references import Reference, dangling, find_references

_SHOWN = 10
_NOWHERE = Message("skill.reference_unknown", "which does not exist")
Dependants = Mapping[str, Sequence[Reference]]


def reference_problems(base: Bundle | None, bundle: Bundle) -> list[str]:
    """Say which references inside the skill lead nowhere that led somewhere, or were not there."""
    known = {(item.file, item.target) for item in _own_dangling(base)} if base else set()
    return [
        Message(
            "skill.dangling",
            "{place} refers to {target!r}, {why}",
            place=found.place,
            target=found.target,
            why=_why_missing(base, found),
        )
        for found in _own_dangling(bundle)
        if (found.file, found.target) not in known
    ]


def _why_missing(base: Bundle | None, found: Reference) -> str:
    if base and found.path in base.files:
        return Message(
            "skill.reference_deleted", "which would be deleted: change what refers to it as well"
        )
    return Message(
        "skill.reference_nowhere",
        "which is no file of the skill: add the file, or drop the reference",
    )


def _own_dangling(bundle: Bundle) -> Iterator[Reference]:
    return (item for item in dangling(find_references(bundle)) if item.skill is None)


@dataclass(frozen=True)
class SkillTies:
    """Looks at the other skills of a tenant, each time as they are."""

    skills: SkillStore

    async def warnings(
        self, base: Bundle | None, bundle: Bundle, tenant_id: str
    ) -> tuple[str, ...]:
        """Say which references lead nowhere after a change, and whom it cuts off."""
        said = [
            Message(
                "skill.dangling",
                "{place} refers to {target!r}, {why}",
                place=found.place,
                target=found.target,
                why=_NOWHERE,
            )
            for found in await self._dangling(bundle, tenant_id)
        ]
        gone = set(base.files) - set(bundle.files) if base else set()
        return tuple(_few([*said, *await self._cut_off(bundle.name, tenant_id, gone)]))

    async def cut_off(self, name: str, tenant_id: str, gone: Collection[str]) -> tuple[str, ...]:
        """Say which other skills refer to files of a skill that would be gone."""
        return tuple(_few(await self._cut_off(name, tenant_id, gone)))

    async def see_deletable(
        self, name: str, tenant_id: str, named: Collection[str]
    ) -> tuple[str, ...]:
        """Give the warnings of a deletion. Raises Refused while skills that are not `named` refer.

        `named` are those that whoever asks knows of.
        """
        found = await self._dependants(name, tenant_id, lambda _: True)
        unnamed = [skill for skill in found if skill not in named]
        if unnamed:
            said = joined(_few([_refers(*entry) for entry in found.items()]))
            raise Refused(
                Message(
                    "skill.others_refer",
                    "other skills refer to {name!r}: {said}",
                    name=name,
                    said=said,
                ),
                hint="change those skills first, or call again with related_skill_ids"
                f" {','.join(found)} if they may lead nowhere",
            )
        return tuple(_few([_cut(*entry) for entry in found.items()]))

    async def _dangling(self, bundle: Bundle, tenant_id: str) -> tuple[Reference, ...]:
        """Give what leads nowhere, from the skill itself and to others."""
        found = find_references(bundle)
        others = {item.skill for item in found if item.skill is not None}
        looked = await look_into(self.skills, tenant_id, others, lambda other: [*other.files])
        return dangling(find_references(bundle, looked.seen))

    async def _cut_off(self, name: str, tenant_id: str, gone: Collection[str]) -> list[str]:
        if not gone:
            return []
        found = await self._dependants(name, tenant_id, lambda item: item.path in gone)
        return [_cut(*entry) for entry in found.items()]

    async def _dependants(
        self, name: str, tenant_id: str, wanted: Callable[[Reference], bool]
    ) -> Dependants:
        """Give the references of other skills to this one, by skill."""

        def look(bundle: Bundle) -> list[Reference]:
            return [item for item in find_references(bundle) if item.skill == name and wanted(item)]

        looked = await look_through(self.skills, tenant_id, look)
        return {skill: found for skill, found in looked.seen.items() if found and skill != name}


def _refers(skill: str, found: Sequence[Reference]) -> Message:
    return Message(
        "skill.refers",
        "skill {skill!r} refers to it in {places}",
        skill=skill,
        places=_places(found),
    )


def _cut(skill: str, found: Sequence[Reference]) -> Message:
    return Message(
        "skill.cut_off",
        "skill {skill!r} refers to it in {places}, which this deletes",
        skill=skill,
        places=_places(found),
    )


def _places(found: Sequence[Reference]) -> str:
    return joined(_few([f"{item.place} ({item.path})" for item in found]), ", ")


def _few(said: Iterable[str]) -> list[str]:
    listed = list(said)
    more = [Message("more", "and {n} more", n=len(listed) - _SHOWN)] if len(listed) > _SHOWN else []
    return [*listed[:_SHOWN], *more]
