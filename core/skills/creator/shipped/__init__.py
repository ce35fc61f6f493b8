"""The skill `skill-creator` as this program ships it: a document, and scripts for a pod."""

from __future__ import annotations

from pathlib import Path

from core.domain.models import SKILL_MD, Bundle, SkillFile
from core.skills.validation.check import get_quick_validate_script

NAME = "skill-creator"


def init_skill_script() -> str:
    """Return the text of `init_skill.py`, which creates the folder of a new skill."""
    return _text("init_skill.py")


def package_skill_script() -> str:
    """Return the text of `package_skill.py`, which imports `quick_validate` from beside it."""
    return _text("package_skill.py")


def skill_creator_bundle() -> Bundle:
    """Return the whole skill; its `quick_validate.py` is the one that the program itself uses."""
    scripts = {
        "init_skill.py": init_skill_script(),
        "package_skill.py": package_skill_script(),
        "quick_validate.py": get_quick_validate_script(),
    }
    files = {SKILL_MD: SkillFile(data=_text(SKILL_MD).encode("utf-8"))}
    for name, text in scripts.items():
        files[f"scripts/{name}"] = SkillFile(data=text.encode("utf-8"))
    return Bundle(name=NAME, files=files)


def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
