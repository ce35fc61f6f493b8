"""What the author is shown of related skills, within a budget of characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import BundleInvalid
from core.fair_share import fair_shares
from core.models import SKILL_MD, Bundle, RelatedSkill
from core.ports import SkillStore
from core.skill_document.frontmatter import read_frontmatter, split_document
from core.skill_library import look_into

HEAD_LINES = 60


@dataclass(frozen=True)
class Related:
    """The skills that were found, and for each of the others why it is not shown."""

    skills: tuple[RelatedSkill, ...] = ()
    unknown: tuple[str, ...] = ()


async def related_skills(
    skills: SkillStore, tenant_id: str, names: Sequence[str], room: int
) -> Related:
    """Read the named skills and show their descriptions, paths and first lines in `room`.

    `room` is in characters for all together; what does not fit is cut, and says so.
    """
    looked = await look_into(skills, tenant_id, names, _whole)
    unknown = [
        f"{name}: {looked.unreadable.get(name, 'there is no such skill')}"
        for name in names
        if name not in looked.seen
    ]
    found = [looked.seen[name] for name in names if name in looked.seen]
    shares = fair_shares([_size(skill) for skill in found], room)
    fitted = [_fitted(skill, share) for skill, share in zip(found, shares, strict=True)]
    return Related(tuple(fitted), tuple(unknown))


def _whole(bundle: Bundle) -> RelatedSkill:
    document = bundle.files[SKILL_MD].data.decode("utf-8", "replace")
    try:
        description, body = read_frontmatter(document).description, split_document(document)[1]
    except BundleInvalid:
        description, body = "", document
    lines = body.strip("\n").splitlines(keepends=True)
    cut = f"{len(lines) - HEAD_LINES} more lines" if len(lines) > HEAD_LINES else ""
    return RelatedSkill(
        name=bundle.name,
        description=description,
        paths=tuple(sorted(path for path in bundle.files if path != SKILL_MD)),
        head="".join(lines[:HEAD_LINES]),
        cut=cut,
    )


def _size(skill: RelatedSkill) -> int:
    return len(skill.name) + len(skill.description) + sum(map(len, skill.paths)) + len(skill.head)


def _fitted(skill: RelatedSkill, room: int) -> RelatedSkill:
    """Cut a skill to `room`: first its lines, then its paths, last its description."""
    if _size(skill) <= room:
        return skill
    left = max(room - len(skill.name), 0)
    description = skill.description[:left]
    left -= len(description)
    paths: list[str] = []
    for path in skill.paths:
        if len(path) > left:
            break
        paths.append(path)
        left -= len(path)
    head = skill.head[:left] if len(paths) == len(skill.paths) else ""
    missing = [
        (len(skill.head) - len(head), "characters of the first lines"),
        (len(skill.paths) - len(paths), "paths"),
        (len(skill.description) - len(description), "characters of the description"),
    ]
    said = [skill.cut] if skill.cut else []
    said += [f"{count} {what}" for count, what in missing if count]
    return skill.model_copy(
        update={
            "description": description,
            "paths": tuple(paths),
            "head": head,
            "cut": ", ".join(said),
        }
    )
