"""Turn a request into the new folder of a skill: given, or written by the author in rounds."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.errors import ArtifactInvalid, BundleInvalid, ConfigurationError
from core.domain.hashing import ABSENT, author_prefix
from core.domain.messages import Message
from core.domain.models import (
    SKILL_MD,
    AuthorRequest,
    Bundle,
    RelatedSkill,
    SkillArtifact,
    SkillEdits,
    SkillRequest,
    SubmitContext,
    folder_size,
)
from core.domain.ports import SkillAuthor, SkillStore
from core.domain.tasks import aside
from core.domain.text import fair_shares
from core.learning_committers.skill_folders import (
    SkillLimits,
    folder_of,
    given_folder,
    guarded_mode,
)
from core.skills.bundle import bundle_hash
from core.skills.document.frontmatter import read_frontmatter, split_document
from core.skills.document.markdown import refuse_too_many_lines
from core.skills.library import look_into

HEAD_LINES = 60


@dataclass(frozen=True)
class Related:
    """The skills found, and for each of the others why it is not shown."""

    skills: tuple[RelatedSkill, ...] = ()
    unknown: tuple[str, ...] = ()


async def related_skills(
    skills: SkillStore, tenant_id: str, names: Sequence[str], room: int
) -> Related:
    """Return the named skills with descriptions, paths and first lines, within `room`.

    `room` is in characters for all together; a cut is stated.
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
    """Return a skill cut to `room`: first its lines, then its paths, last its description."""
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


@dataclass(frozen=True)
class SkillWriter:
    """Produce folders; the author's are checked and sent back until they are valid."""

    author: SkillAuthor
    skills: SkillStore
    limits: SkillLimits

    async def written(
        self, request: SkillRequest, context: SubmitContext, base: Bundle | None
    ) -> Bundle:
        """Return the new folder: as given, from the given artifact, or by the author.

        The author's replies are stored under a key with the hash of the skill it was shown: if
        the skill has changed since, it is asked again about the new state. Raises BundleInvalid
        for a folder, ArtifactInvalid for an artifact.
        """
        if request.folder is not None:
            return await aside(folder_size(request.folder), given_folder, request, base)
        if request.artifact is not None:
            return await self._folder_of(request.artifact, request, base)
        if base is not None and guarded_mode(request) is not None:
            refuse_too_many_lines(base.document)  # before paying for a model call in vain
        asked = await self._asked(request, context, base)
        shown = await aside(base.size, bundle_hash, base) if base else ABSENT
        key = f"{author_prefix(context.key)}:{shown[:12]}"
        problems: list[str] = []
        for ordinal in range(self.limits.author_rounds):
            try:
                answer = await self.author.write(asked, key=key, ordinal=ordinal, problems=problems)
                return await self._folder_of(answer, request, base)
            except ArtifactInvalid as error:
                problems = error.problems
        rounds = self.limits.author_rounds
        raise ArtifactInvalid(problems, hint=Message("skill.author_failed", n=rounds))

    async def _folder_of(
        self, answer: SkillArtifact | SkillEdits, request: SkillRequest, base: Bundle | None
    ) -> Bundle:
        """Apply an answer off the event loop: a document may be megabytes long."""
        percent = self.limits.shrink_percent
        return await asyncio.to_thread(folder_of, answer, request, base, percent)

    async def _asked(
        self, request: SkillRequest, context: SubmitContext, base: Bundle | None
    ) -> AuthorRequest:
        # The target itself is shown whole, as `existing`.
        names = [name for name in request.related_skill_ids if name != request.target_id]
        room = self.limits.related_chars
        related = await related_skills(self.skills, context.tenant_id, names, room)
        return AuthorRequest(
            tenant_id=context.tenant_id,
            operation=request.operation,
            skill_name=request.target_id,
            feedback_content=context.feedback_content,
            candidate_content=context.candidate_content,
            fence=context.fence,
            merge_mode=request.merge_mode,
            relationship_analysis=request.relationship_analysis,
            existing=base,
            related=related.skills,
            related_unknown=related.unknown,
        )


class NoAuthor:
    """The `SkillAuthor` of a process without a model."""

    async def write(
        self, request: AuthorRequest, *, key: str, ordinal: int, problems: Sequence[str]
    ) -> SkillArtifact | SkillEdits:
        """Raise ConfigurationError."""
        del request, key, ordinal, problems
        raise ConfigurationError(Message("skill.no_model"), hint=Message("skill.pass_artifact"))
