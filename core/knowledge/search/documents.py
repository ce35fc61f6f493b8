"""What the search index holds of one item, and what each part of it is worth."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

from pydantic import Field

from core.domain.models import SKILL_MD, Bundle, Kind, SkillSummary
from core.domain.models.base import Model
from core.knowledge.search.ranking import NAMED, impact
from core.knowledge.search.spelling import marked
from core.knowledge.search.tokens import MAX_CHARS, MAX_TERMS, name_term, scan, stem, term_counts
from core.skills.bundle import bundle_hash

NAME_WORTH = 3
HEADING_WORTH = 2
FILE_WORTH = 2

_BEGINNING = 2_000
_IDENTIFIER = re.compile(r"\b[A-Za-z]+(?:[_-][A-Za-z]+)+\b")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+)$", re.MULTILINE)


class SearchDocument(Model):
    """One item as the index holds it; (tenant, kind, item) is its identity.

    `agent_id` None is shared by the whole tenant. `content` is plain text, `files` the paths of a
    skill's files. `version` says what a skill looked like in the store's list when it was read;
    it is empty for all else.
    """

    tenant_id: str
    kind: Kind
    item_id: str
    agent_id: str | None
    name: str
    content: str
    files: tuple[str, ...] = ()
    version: str = ""


class IndexTerms(Model):
    """The terms of a document with their counts, and its length in terms.

    `beside` is the part of the counts that comes from name and files. `words` are those whose
    stem differs, as written and marked. `name` is the key of the whole name, if it has one.
    """

    counts: dict[str, int]
    length: int
    beside: dict[str, int] = Field(default_factory=dict)
    words: frozenset[str] = frozenset()
    name: str = ""


def index_terms(document: SearchDocument) -> IndexTerms:
    """Give what is indexed of a document.

    A word in the name of a rule or skill counts three times, one in a heading or the path of a
    file twice; the name of a memory is but the beginning of its text. What hyphens or underscores
    join also stands there as one word.
    """
    counts: Counter[str] = Counter()
    words: set[str] = set()
    for token in scan(document.content):
        if len(counts) < MAX_TERMS or token.term in counts:
            counts[token.term] += 1
            words.add(token.word)
    length = counts.total()
    beside: Counter[str] = Counter()
    for text, worth in _parts(document):
        for token in scan(text):
            beside[token.term] += worth
            words.add(token.word)
            length += 1
    counts += beside
    for joined in _IDENTIFIER.findall("\n".join([document.content[:MAX_CHARS], *document.files])):
        counts[stem(joined.replace("_", "").replace("-", ""))] += 1
    for heading in headings(document.kind, document.content[:MAX_CHARS]):
        for term in term_counts(heading):
            counts[term] += HEADING_WORTH - 1
    written = frozenset(marked(word) for word in words if word and word not in counts)
    return IndexTerms(
        counts=counts,
        length=length,
        beside=beside,
        words=written,
        name="" if document.kind is Kind.MEMORY else name_term(document.name),
    )


def impacts(terms: IndexTerms) -> dict[str, float]:
    """Give each term's part of BM25 before its weight, and that of the whole name."""
    held = {
        term: impact(number, terms.length, beside=terms.beside.get(term, 0))
        for term, number in terms.counts.items()
    }
    return held | {terms.name: NAMED} if terms.name else held


def _parts(document: SearchDocument) -> list[tuple[str, int]]:
    """Give name and files, with what a word in them is worth beside the content."""
    parts = [(path, FILE_WORTH) for path in document.files]
    beginning = " ".join(document.content[:_BEGINNING].split())
    is_shown = document.name.rstrip("…") in beginning
    worth = (1 if document.kind is Kind.MEMORY else NAME_WORTH) - is_shown
    return [*parts, (document.name, worth)] if worth else parts


def headings(kind: Kind, content: str) -> list[str]:
    """Give the headings of a skill's document; the others have none."""
    return _HEADING.findall(content) if kind is Kind.SKILL else []


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
