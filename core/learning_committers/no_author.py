"""Stands where no model was asked for: skills can be applied and reverted, not written."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import ConfigurationError
from core.models import AuthorRequest, SkillArtifact, SkillEdits


class NoAuthor:
    """A `SkillAuthor` that refuses."""

    async def write(
        self, request: AuthorRequest, *, key: str, ordinal: int, problems: Sequence[str]
    ) -> SkillArtifact | SkillEdits:
        """Raise ConfigurationError: this process has no model."""
        del request, key, ordinal, problems
        raise ConfigurationError(
            "a skill cannot be written without a model",
            hint="pass a skill_artifact, or set LLM_MODEL",
        )
