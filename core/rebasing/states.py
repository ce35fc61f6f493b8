"""What a target holds, with all its bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.models import SkillFile


@dataclass(frozen=True)
class State:
    """A target as text, with the other files of a skill; `runs` is of its SKILL.md."""

    text: str
    name: str
    files: Mapping[str, SkillFile] | None = None
    runs: bool = False
