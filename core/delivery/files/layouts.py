"""Where coding tools look for what they are to know, and how they are told for which files."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.domain.errors import InvalidInput
from core.domain.messages import Message

_GLOB = re.compile(r"[^\s\"'\\,:#]+")
_FOLDER = re.compile(r"([^*?\[{]+?)(?:/|/\*\*|/\*\*/\*)")


class LayoutName(StrEnum):
    """The tools whose files are written."""

    AGENTS_MD = "agents-md"
    CLAUDE = "claude"
    CURSOR = "cursor"
    COPILOT = "copilot"


@dataclass(frozen=True)
class Layout:
    """One tool's places: `main` is always read, `{}` in a path is the name of a source.

    `rule` is read for some files only; a tool without one reads `main` in folders too.
    `scopes_skills`: the tool knows `paths` of a skill by itself.
    """

    main: str
    rule: str | None
    root: str
    includes: bool = False
    finds_skills: bool = True
    scopes_skills: bool = False

    def skill(self, name: str) -> str:
        """Return the folder of a skill."""
        return f"{self.root}/skills/{name}"

    def knowledge(self, source: str) -> str:
        """Return the folder of a source's decision tables."""
        return f"{self.root}/knowledge/{source}"

    def homes(self, source: str, paths: Sequence[str]) -> list[tuple[str, str]]:
        """Return the files that a source's block stands in, each with its frontmatter.

        Raises InvalidInput for a path that the tool cannot be told.
        """
        for path in paths:
            if not _GLOB.fullmatch(path) or path.startswith("/") or ".." in path.split("/"):
                raise InvalidInput(
                    Message("files.glob", path=path), hint=Message("files.hint_glob")
                )
        if paths and self.rule is None:
            return [(f"{_folder(path)}/{self.main}", "") for path in paths]
        place = self.rule if paths and self.rule else self.main
        return [(place.format(source), self.head(place, f"What {source} has learnt", paths))]

    def head(self, place: str, about: str, paths: Sequence[str]) -> str:
        """Return the frontmatter of a rule for these files; without any for all."""
        if place.endswith(".mdc"):
            always = "false" if paths else "true"
            fields = [f"description: {about}", f"globs: {','.join(paths)}".rstrip()]
            return "\n".join(("---", *fields, f"alwaysApply: {always}", "---\n"))
        if not paths:
            return ""
        if place.endswith(".instructions.md"):
            return f"---\napplyTo: {json.dumps(','.join(paths))}\n---\n"
        return "\n".join(("---", "paths:", *(f"  - {json.dumps(path)}" for path in paths), "---\n"))


def _folder(path: str) -> str:
    """Return the folder that a path is all of. Raises InvalidInput."""
    found = _FOLDER.fullmatch(path)
    if found is None:
        raise InvalidInput(
            Message("files.no_folder_glob", path=path), hint=Message("files.hint_folder_glob")
        )
    return found[1]


# As their documentation of 2026 has it; all four read `NAME/SKILL.md` below their folder of skills.
LAYOUTS = {
    LayoutName.AGENTS_MD: Layout(main="AGENTS.md", rule=None, root=".agents", finds_skills=False),
    LayoutName.CLAUDE: Layout(
        main="CLAUDE.md",
        rule=".claude/rules/{}.md",
        root=".claude",
        includes=True,
        scopes_skills=True,
    ),
    LayoutName.CURSOR: Layout(
        main=".cursor/rules/{}.mdc", rule=".cursor/rules/{}.mdc", root=".cursor"
    ),
    LayoutName.COPILOT: Layout(
        main=".github/copilot-instructions.md",
        rule=".github/instructions/{}.instructions.md",
        root=".github",
    ),
}
