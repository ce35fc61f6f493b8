"""The indexed form of an item, and the weight of each of its parts."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice

from core.domain.models import SKILL_MD, Bundle, Kind, SkillSummary
from core.domain.models.base import Model
from core.knowledge.search.ranking import shape
from core.knowledge.search.tokens import (
    HANGUL,
    HUMP,
    IN_SENTENCES,
    LITTLE_MARK,
    MAX_CHARS,
    MAX_TERMS,
    Reader,
    Token,
    is_counted,
    is_little,
    little_term,
    name_terms,
    runs,
    scan,
    stem,
    term_counts,
    written,
)
from core.skills.bundle import bundle_hash

NAME_WORTH = 3
HEADING_WORTH = 2
FILE_WORTH = 2
# Beyond this length a longer content weakens a match in name or file paths no more: fields have
# lengths of their own in BM25F (Zaragoza and others 2004).
BESIDE_LENGTH = 200

_NAME_SHAPE = shape(1, 1)  # a name tells as much of a long item as of a short one
_BEGINNING = 2_000
_IDENTIFIER = re.compile(r"\b[A-Za-z]+(?:[_-][A-Za-z]+)+\b")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+)$", re.MULTILINE)


class SearchDocument(Model):
    """One item as indexed; (tenant, kind, item) is its identity.

    An `agent_id` of None means shared by the tenant. `content` is plain text, `files` the paths
    of a skill's files. `version` identifies the state of a skill when it was read; it is empty
    for other kinds.
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
    """The terms of a document with their counts, and its length in words and pairs.

    `names` are the keys by which the item is found as a whole: that of its name, and of its id.
    """

    counts: dict[str, int]
    length: int
    names: frozenset[str] = frozenset()

    @property
    def shapes(self) -> dict[str, int]:
        """The terms and names with their counts and the length, as they stand in postings."""
        shapes = {term: shape(count, self.length) for term, count in self.counts.items()}
        return shapes | dict.fromkeys(sorted(self.names), _NAME_SHAPE)


@lru_cache(maxsize=8)  # a change is tried, compared and then recorded with the same document
def index_terms(document: SearchDocument) -> IndexTerms:
    """Return the terms to index for a document.

    A word in the name of a rule or skill counts three times, in a heading or file path twice, and
    in a long document as often as it must to weigh as in one of 200 words; the name of a memory is
    only the beginning of its text. Words joined by hyphens or underscores are also indexed as one
    word.
    """
    counts = text_counts(document.content)
    length = text_length(counts)
    beside: Counter[str] = Counter()
    for text, worth in _parts(document):
        for token in scan(text):
            beside[token.term] += worth
            length += 1
            if token.word not in {"", token.term}:
                beside[written(token.word)] += worth
    share = max(1.0, length / BESIDE_LENGTH)
    for term, number in beside.items():
        counts[term] += round(number * share)
    for joined in _IDENTIFIER.findall("\n".join([document.content[:MAX_CHARS], *document.files])):
        counts[stem(joined.replace("_", "").replace("-", ""))] += 1
    for heading in headings(document.kind, document.content[:MAX_CHARS]):
        for term in term_counts(heading):
            counts[term] += HEADING_WORTH - 1
    return IndexTerms(counts=counts, length=length, names=_names(document))


def text_counts(content: str) -> Counter[str]:
    """Count stems, pairs, written forms and function words of a text."""
    return _text_counts(content).copy()


@lru_cache(maxsize=8)  # what a change brings finds its cases before it is indexed
def _text_counts(content: str) -> Counter[str]:
    counts = Counter(chain.from_iterable(forms_of_runs(content)))
    if len(counts) > MAX_TERMS:
        counts = Counter(dict(islice(counts.items(), MAX_TERMS)))
    if any(term.startswith(LITTLE_MARK) for term in counts):
        counts[IN_SENTENCES] = 1
    return counts


def forms_of_runs(text: str) -> Iterator[Sequence[str]]:
    """Yield the terms of each run of a text with their written forms, function words marked."""
    for kind, piece, tokens in runs(text):
        run = piece[0]
        if kind == "unspaced" and HANGUL.fullmatch(run):
            yield run[0], *(run[at : at + 2] for at in range(len(run) - 1))
            continue
        found = _forms_alone(kind, run)
        if found is None:
            found = _forms(tokens)
            if not found and kind == "word":
                found = (little_term(piece[0]),)
        yield found


@lru_cache(maxsize=20_000)  # texts share their words: four microseconds each otherwise
def _forms_alone(kind: str, run: str) -> tuple[str, ...] | None:
    """Return the terms of a run and their written forms, None if what is beside it matters."""
    if kind == "number" or any(map(is_little, HUMP.split(run))):
        return None
    return _forms(Reader(run).scan(0, len(run)))


def _forms(tokens: Iterator[Token]) -> tuple[str, ...]:
    found: list[str] = []
    for token in tokens:
        found.append(token.term)
        if token.word not in {"", token.term}:
            found.append(written(token.word))
    return tuple(found)


def text_length(counts: Mapping[str, int]) -> int:
    """Return the length of a text in words and pairs."""
    return sum(number for term, number in counts.items() if is_counted(term))


def _names(document: SearchDocument) -> frozenset[str]:
    name = "" if document.kind is Kind.MEMORY else document.name
    return name_terms(name) | name_terms(document.item_id)


def _parts(document: SearchDocument) -> list[tuple[str, int]]:
    """Return name and file paths with the extra weight of a word in them."""
    parts = [(path, FILE_WORTH) for path in document.files]
    beginning = " ".join(document.content[:_BEGINNING].split())
    is_shown = document.name.rstrip("…") in beginning
    worth = (1 if document.kind is Kind.MEMORY else NAME_WORTH) - is_shown
    return [*parts, (document.name, worth)] if worth else parts


def headings(kind: Kind, content: str) -> list[str]:
    """Return the headings of a skill's document; other kinds have none."""
    return _HEADING.findall(content) if kind is Kind.SKILL else []


_HEAD = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"^[\w-]+:[ \t]*", re.MULTILINE)


def skill_search_text(document: str) -> str:
    """Return the indexed text of a skill: the values of its frontmatter, and its body."""
    head = _HEAD.match(document)
    text = _KEY.sub("", head[1]) + document[head.end() :] if head else document
    return text.strip()


def skill_search_files(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the indexed paths of a skill's files: all but SKILL.md."""
    return tuple(sorted(path for path in paths if path != SKILL_MD))


def skill_version(summary: SkillSummary) -> str:
    """Return a key that changes when a skill's entry in the store's list does."""
    seen = f"{summary.file_count}\n{summary.description}"
    return hashlib.sha256(seen.encode("utf-8", "replace")).hexdigest()[:16]


def indexed_version(summary: SkillSummary, bundle: Bundle) -> str:
    """Return `skill_version` with the hash of all files, as recorded in the index."""
    return f"{skill_version(summary)}:{bundle_hash(bundle)[:16]}"


def skill_search_document(bundle: Bundle, summary: SkillSummary, tenant_id: str) -> SearchDocument:
    """Return a skill as a document shared by the tenant."""
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
