"""From a request to the new folder of a skill: written by the author in rounds, or given."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from core.errors import ArtifactInvalid
from core.learning_committers.skill_folders import folder_of, given_folder, guarded_mode
from core.learning_committers.skill_limits import SkillLimits
from core.learning_committers.skill_related import related_skills
from core.models import (
    AuthorRequest,
    Bundle,
    SkillArtifact,
    SkillEdits,
    SkillRequest,
    SubmitContext,
)
from core.ports import SkillAuthor, SkillStore
from core.reply_keys import author_prefix
from core.skill_bundle import bundle_hash
from core.skill_document.markdown import refuse_too_many_lines
from core.snapshots import ABSENT


@dataclass(frozen=True)
class SkillWriter:
    """Makes folders; the author's are checked and sent back until they are right."""

    author: SkillAuthor
    skills: SkillStore
    limits: SkillLimits

    async def written(
        self, request: SkillRequest, context: SubmitContext, base: Bundle | None
    ) -> Bundle:
        """Give the new folder: as given, of the given artifact, or from the author.

        The author's replies are stored under a key with the hash of what it was shown: where the
        skill moves on meanwhile it is asked again, about what is there then. Raises
        BundleInvalid for a folder, ArtifactInvalid for an artifact.
        """
        if request.folder is not None:
            return given_folder(request, base)
        if request.artifact is not None:
            return await self._folder_of(request.artifact, request, base)
        if base is not None and guarded_mode(request) is not None:
            refuse_too_many_lines(base.document)  # before a model is asked in vain
        asked = await self._asked(request, context, base)
        key = f"{author_prefix(context.key)}:{(bundle_hash(base) if base else ABSENT)[:12]}"
        problems: list[str] = []
        for ordinal in range(self.limits.author_rounds):
            try:
                answer = await self.author.write(asked, key=key, ordinal=ordinal, problems=problems)
                return await self._folder_of(answer, request, base)
            except ArtifactInvalid as error:
                problems = error.problems
        rounds = self.limits.author_rounds
        raise ArtifactInvalid(problems, hint=f"the author did not get it right in {rounds} rounds")

    async def _folder_of(
        self, answer: SkillArtifact | SkillEdits, request: SkillRequest, base: Bundle | None
    ) -> Bundle:
        """Apply an answer beside the event loop: a document may be megabytes long."""
        percent = self.limits.shrink_percent
        return await asyncio.to_thread(folder_of, answer, request, base, percent)

    async def _asked(
        self, request: SkillRequest, context: SubmitContext, base: Bundle | None
    ) -> AuthorRequest:
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
