"""What is searched of a skill: its document without the frontmatter's syntax, and its files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from core.models import SKILL_MD, Bundle, Kind, SkillSummary
from core.search.documents import SearchDocument
from core.skill_bundle import bundle_hash

_HEAD = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"^[\w-]+:[ \t]*", re.MULTILINE)


def skill_search_text(document: str) -> str:
    """Give the text of a skill for the index: values of the frontmatter, body."""
    head = _HEAD.match(document)
    text = _KEY.sub("", head[1]) + document[head.end() :] if head else document
    return text.strip()


def skill_search_files(paths: Iterable[str]) -> tuple[str, ...]:
    """Give the paths of a skill's files by which it is found: all but SKILL.md."""
    return tuple(sorted(path for path in paths if path != SKILL_MD))


def skill_version(summary: SkillSummary) -> str:
    """Give a key that differs when a skill looks different in the store's list."""
    seen = f"{summary.file_count}\n{summary.description}"
    return hashlib.sha256(seen.encode("utf-8", "replace")).hexdigest()[:16]


def indexed_version(summary: SkillSummary, bundle: Bundle) -> str:
    """Give `skill_version` with the hash of all files: what the index says it has read."""
    return f"{skill_version(summary)}:{bundle_hash(bundle)[:16]}"


def skill_search_document(bundle: Bundle, summary: SkillSummary, tenant_id: str) -> SearchDocument:
    """Give a skill of the store as a document that the whole tenant shares."""
    document = bundle.files[SKILL_MD].data.decode("utf-8", "replace")
    return SearchDocument(
        tenant_id=tenant_id,
        kind=Kind.SKILL,
        item_id=summary.name,
        agent_id=None,
        name=summary.name,
        content=skill_search_text(document),
        files=skill_search_files(bundle.files),
        version=indexed_version(summary, bundle),
    )
