"""What is searched of a skill: its document without the frontmatter's syntax, and its files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from core.models import SkillSummary

_HEAD = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"^[\w-]+:[ \t]*", re.MULTILINE)


def skill_search_text(document: str, paths: Iterable[str]) -> str:
    """Give the text of a skill for the index: values of the frontmatter, body, file names."""
    head = _HEAD.match(document)
    text = _KEY.sub("", head[1]) + document[head.end() :] if head else document
    return "\n".join([text.strip(), *paths])


def skill_version(summary: SkillSummary) -> str:
    """Give a key that differs when a skill looks different in the store's list."""
    seen = f"{summary.file_count}\n{summary.description}"
    return hashlib.sha256(seen.encode("utf-8", "replace")).hexdigest()[:16]
