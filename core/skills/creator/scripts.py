"""The scripts of skill-creator: which are needed, and what a text must be to count as one."""

from __future__ import annotations

import ast
import asyncio

from core.domain.errors import StepFailed
from core.domain.models import Bundle
from core.domain.ports import SkillDocuments
from core.skills.creator.shipped import init_skill_script
from core.skills.validation.check import get_quick_validate_script

SKILL = "skill-creator"
# How the newer layout finds quick_validate; Python searches the work folder first.
_NEWER = "from quick_validate import validate_skill  # noqa: F401\n"


async def read_scripts(
    documents: SkillDocuments, *, with_init: bool, base: Bundle | None = None
) -> dict[str, str]:
    """Return the files of the work folder: relative path -> text.

    quick_validate is ours, and only warns of what the skill already broke as `base`; package_skill
    is the server's; init_skill is the server's or, if the server says that it has none, ours. Both
    layouts of skill-creator find quick_validate: the older one beside the packager, the newer one
    in the package `scripts`. Raises StepFailed, McpDown.
    """
    package, init = await asyncio.gather(
        documents.read(SKILL, "scripts/package_skill.py"),
        documents.read(SKILL, "scripts/init_skill.py") if with_init else _nothing(),
    )
    if package is None:
        raise StepFailed("read_scripts: the skill server has no skill-creator/package_skill.py")
    scripts = {
        "quick_validate.py": get_quick_validate_script(base),
        "scripts/__init__.py": "",
        "scripts/quick_validate.py": _NEWER,
        "package_skill.py": _script(package, "package_skill"),
    }
    if with_init:
        scripts["init_skill.py"] = _script(init or init_skill_script(), "init_skill")
    return scripts


def _script(text: str, function: str) -> str:
    """Return the text if it is a Python script that defines `function`. Raises StepFailed."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise StepFailed(f"read_scripts: {function}.py is no Python script: {error}") from error
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    if function not in defined:
        raise StepFailed(f"read_scripts: {function}.py defines no function {function}")
    return text


async def _nothing() -> None:
    return None
