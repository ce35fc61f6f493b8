"""Knowledge from JSONL files, one item per line, validated before it reaches the gate.

::

    {"kind": "MEMORY",   "tenant_id", "agent_id", "id"?, "content": text,
     "valid_until"?: time, "scope"?: agent | user | tenant, "user"?}
    {"kind": "DMN_RULE", "tenant_id", "agent_id", "id"?, "name"?, "content": DMN XML}
    {"kind": "DMN_RULE", "tenant_id", "agent_id", "id"?, "name"?, "rule": a RuleDraft}
    {"kind": "SKILL",    "tenant_id", "agent_id"?, "other_agent_ids"?, "name",
     "content": text of SKILL.md, "files"?: {path: {"text" | "base64", "executable"?}}}
    {"kind": a package's, "tenant_id", "agent_id", "id"?, "content": text as the kind writes it}
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import BeforeValidator, ValidationError
from pydantic_core import PydanticCustomError

from core.domain.errors import InvalidInput
from core.domain.input_formats.json_text import parse_json
from core.domain.input_formats.lines import RawLine
from core.domain.input_formats.skill_files import FileEntry, folder_of
from core.domain.input_formats.text import (
    NONE_OF,
    explain,
    is_blank,
    json_problem,
    name_problem,
    of_field,
)
from core.domain.messages import Message, joined
from core.domain.models import Kind, RuleDraft, Scope, SkillFile
from core.domain.models.base import Model
from core.domain.models.installed import Published
from core.domain.models.knowledge import ITEM_KINDS, MAX_MEMORY_BYTES, is_kind_name
from core.domain.models.moments import Moment

# A skill of the largest size allowed, as base64, and room for the rest of its line.
MAX_LINE_BYTES = 72 * 2**20


_SHOWN_CHARS = 80
_REACH = ("valid_until", "scope", "user")


def _known_kind(given: object) -> Kind:
    """Return the kind of an item; which kinds packages add, the change gate knows."""
    kind = Kind(given) if isinstance(given, str) and is_kind_name(given) else None
    if kind is None or (kind.is_built_in and kind not in ITEM_KINDS):
        context = {"given": repr(given)[:_SHOWN_CHARS], "known": ", ".join(ITEM_KINDS)}
        raise PydanticCustomError(NONE_OF, "{given} is none of {known}", context)
    return kind


class KnowledgeEntry(Model):
    """The fields of a line, as given."""

    kind: Annotated[Kind, BeforeValidator(_known_kind)]
    id: str | None = None
    tenant_id: str | None = None
    agent_id: str | None = None
    other_agent_ids: tuple[str, ...] = ()
    name: str | None = None
    content: str | None = None
    rule: RuleDraft | None = None
    files: Mapping[str, FileEntry] | None = None
    valid_until: Moment | None = None
    scope: Scope | None = None
    user: str | None = None


class KnowledgeLine(Model):
    """A well-formed line; `folder` is set for a skill, `size` is in bytes.

    `published` says where a skill is installed from, which no line of a file says.
    """

    number: int
    size: int
    entry: KnowledgeEntry
    folder: Mapping[str, SkillFile] | None = None
    published: Published | None = None

    @property
    def text(self) -> str:
        """The content; "" if a rule is given instead."""
        return self.entry.content or ""


def read_knowledge_line(raw: RawLine, max_chars: int) -> KnowledgeLine | None:
    """Parse a line; None if it is blank. Raises InvalidInput."""
    if raw.data is None:
        raise InvalidInput(Message("input.bytes", size=raw.size, most=MAX_LINE_BYTES))
    if not raw.data.strip():
        return None
    try:
        parsed = parse_json(raw.data.decode("utf-8"))
    except UnicodeDecodeError:
        raise InvalidInput(Message("input.not_utf8")) from None
    entry = checked_entry(parsed, max_chars)
    folder = folder_of(entry.content or "", entry.files or {}) if entry.kind is Kind.SKILL else None
    return KnowledgeLine(number=raw.number, size=raw.size, entry=entry, folder=folder)


def checked_entry(given: object, max_chars: int) -> KnowledgeEntry:
    """Validate one JSON value; ids come back in NFC, contents verbatim. Raises InvalidInput."""
    if not isinstance(given, Mapping):
        raise InvalidInput(Message("json.no_object"))
    try:
        entry = KnowledgeEntry.model_validate(given)
    except ValidationError as error:
        raise InvalidInput(explain(error)) from None
    for problem in _problems(entry, max_chars):
        raise InvalidInput(problem)
    if entry.kind is Kind.SKILL:
        entry = entry.model_copy(update={"name": entry.name or entry.id, "id": None})
    names = {"id": entry.id, "tenant_id": entry.tenant_id, "agent_id": entry.agent_id}
    update: dict[str, object] = {key: _nfc(name) for key, name in names.items() if name}
    others = tuple(dict.fromkeys(map(_nfc, entry.other_agent_ids)))
    return entry.model_copy(update=update | {"other_agent_ids": others})


def _problems(entry: KnowledgeEntry, max_chars: int) -> Iterator[str]:
    yield from _name_problems(entry)
    for field in ("content", "name", "id"):
        if problem := json_problem(getattr(entry, field)):
            yield of_field(field, problem)
    if entry.rule and (problem := json_problem(entry.rule.model_dump(mode="json"))):
        yield of_field("rule", problem)
    yield from _OF_KIND.get(entry.kind, _of_package)(entry)
    if entry.content is not None and is_blank(entry.content):
        yield Message("input.content_blank")
    if entry.kind is Kind.MEMORY and len(entry.content or "") > max_chars:
        yield Message("input.content_long", n=len(entry.content or ""), most=max_chars)
    if entry.kind is Kind.MEMORY and (size := _bytes(entry.content)) > MAX_MEMORY_BYTES:
        too_long = Message("memory.too_long", n=size, most=MAX_MEMORY_BYTES)
        yield joined([too_long, Message("memory.make_skill")])


def _bytes(text: str | None) -> int:
    return len((text or "").encode("utf-8", "replace"))


def _name_problems(entry: KnowledgeEntry) -> Iterator[str]:
    names = [
        (name, getattr(entry, name)) for name in ("id", "tenant_id", "agent_id", "name", "user")
    ]
    names += [("other_agent_ids", name) for name in entry.other_agent_ids]
    for field, name in names:
        if name is not None and (problem := name_problem(name) or json_problem(name)):
            yield of_field(field, problem)


def _of_memory(entry: KnowledgeEntry) -> Iterator[str]:
    yield from _not_its_own(entry, "rule", "files", "other_agent_ids")
    if entry.content is None:
        yield Message("input.memory_missing")
    if (entry.scope is Scope.USER) != (entry.user is not None):
        yield Message("input.user_of_scope")


def _of_package(entry: KnowledgeEntry) -> Iterator[str]:
    yield from _not_its_own(entry, "rule", "files", "other_agent_ids", *_REACH)
    if entry.content is None:
        yield Message("input.text_missing", kind=entry.kind)


def _of_rule(entry: KnowledgeEntry) -> Iterator[str]:
    yield from _not_its_own(entry, "files", "other_agent_ids", *_REACH)
    if (entry.content is None) == (entry.rule is None):
        yield Message("input.rule_missing")


def _of_skill(entry: KnowledgeEntry) -> Iterator[str]:
    yield from _not_its_own(entry, "rule", *_REACH)
    if entry.name is None and entry.id is None:
        yield Message("input.name_missing")
    if entry.name and entry.id and entry.name != entry.id:
        yield Message("input.skill_id", id=entry.id, name=entry.name)
    if entry.content is None:
        yield Message("input.document_missing")


def _not_its_own(entry: KnowledgeEntry, *fields: str) -> Iterator[str]:
    for field in fields:
        if getattr(entry, field):
            yield Message("input.not_of_kind", field=field, kind=entry.kind)


_OF_KIND = {Kind.MEMORY: _of_memory, Kind.DMN_RULE: _of_rule, Kind.SKILL: _of_skill}


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
