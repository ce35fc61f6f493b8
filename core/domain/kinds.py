"""A kind of knowledge that a package adds: what it is, how it reads, when two items are one.

The worker does the rest, as for a memory: it stores, searches, holds, reverts, retracts, imports.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import yaml
from pydantic import BaseModel, JsonValue, ValidationError

from core.domain.errors import InvalidInput, Refused
from core.domain.input_formats.text import (
    explain,
    is_blank,
    json_problem,
    length_problem,
    of_field,
    texts_in,
)
from core.domain.input_formats.yaml_text import model_of_yaml
from core.domain.messages import Message, said
from core.domain.models.knowledge import MAX_MEMORY_BYTES, Kind, is_kind_name

C = TypeVar("C", bound=BaseModel)
LANGUAGES = ("en", "ko")
_EMPTY: tuple[JsonValue, ...] = (None, "", [], {})
_RESERVED = {"ALL", "KIND", "RESTORE"}
# What can be written as an escape alone, behind which a reader would not see it.
_ESCAPED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ufeff\ufffe\uffff]")
_LINE_BREAKS = str.maketrans(dict.fromkeys("\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", "\n"))


class TextKind(ABC, Generic[C]):
    """A kind of knowledge whose items are text; a package writes a subclass.

    An entry point of the group `skill_worker.kinds` names it, and `kinds` in `skill-worker.yaml`
    turns it on. What is stored is `text(content)` alone: it is searched, reviewed, compared line by
    line and given to agents, so it has to say all of the content, and `read` reads it back.
    """

    name: ClassVar[str]  # `GLOSSARY`: the tool is then `commit_to_glossary`, its id `glossary_id`
    titles: ClassVar[Mapping[str, str]]  # in English and Korean: {"en": "Glossary", "ko": "용어집"}
    about: ClassVar[str]  # for the model: what it is for, and what belongs elsewhere
    content: type[C]  # its fields are the arguments that the model fills in

    @abstractmethod
    def key(self, content: C) -> str:
        """Return what makes two items of an agent the same, whatever case and spaces; its name."""

    def problems(self, content: C) -> Sequence[str]:  # noqa: ARG002
        """Return why this cannot be learnt, in sentences that the model can act on."""
        return ()

    def merged(self, known: C, new: C) -> C:  # noqa: ARG002
        """Return what an UPDATE makes of what is known; one with REPLACE does not ask."""
        return new

    def text(self, content: C) -> str:
        """Return the content as people and agents read it: by default YAML, a field a line.

        What is empty unless it is said is left out.
        """
        said = content.model_dump(exclude_defaults=True)
        every = content.model_dump(mode="json").items()
        fields = {name: value for name, value in every if name in said or value not in _EMPTY}
        return yaml.dump(
            fields, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=MAX_MEMORY_BYTES
        ).strip()

    def read(self, text: str) -> C:
        """Return the content of a text. Raises ValueError that says what is wrong, and where."""
        if any(isinstance(event, yaml.AliasEvent) for event in _events(text)):
            raise ValueError(Message("kind.alias"))
        return model_of_yaml(self.content, text)


Kinds = tuple[TextKind[Any], ...]


class OwnKind(NamedTuple):
    """A kind, and the distribution that brings it: its name and version."""

    kind: TextKind[Any]
    package: str


class _Plain(yaml.SafeDumper):
    """YAML as people write it: texts of several lines as blocks, nothing by reference."""

    def ignore_aliases(self, _data: object) -> bool:
        """Whether to repeat what occurs twice: always."""
        return True


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Plain.add_representer(str, _block)


def _events(text: str) -> Sequence[yaml.Event]:
    try:
        return [*yaml.parse(text, Loader=yaml.SafeLoader)]
    except yaml.YAMLError:
        return ()  # whoever reads it next says what is wrong


def content_of_text(kind: TextKind[Any], text: str) -> BaseModel:
    """Return what a person has written as a kind's content. Raises InvalidInput."""
    try:
        return content_of(kind, kind.read(text).model_dump(mode="json"))
    except ValueError as error:
        raise InvalidInput(of_field("content", said(error))) from None


def content_of(kind: TextKind[Any], given: Mapping[str, JsonValue]) -> BaseModel:
    """Return data as a kind's content. Raises InvalidInput, with each field that is wrong."""
    made: BaseModel
    try:
        made = kind.content.model_validate(_tidy(given))
    except ValidationError as error:
        raise InvalidInput(of_field("content", explain(error))) from None
    return made


def written(kind: TextKind[Any], content: BaseModel) -> tuple[str, str]:
    """Return the name and the text of an item.

    Raises InvalidInput if they cannot be stored, Refused if the package does not read its own
    text: what is stored would not be what was said.
    """
    name, text = " ".join(kind.key(content).split()), kind.text(content)
    if found := next(filter(None, map(_ESCAPED.search, texts_in(content.model_dump()))), None):
        raise InvalidInput(Message("kind.control", code=f"U+{ord(found[0]):04X}"))
    for field, value in (("name", name), ("content", text)):
        problem = json_problem(value) or (Message("text.blank") if is_blank(value) else None)
        if problem := problem or (length_problem(value) if field == "name" else None):
            raise InvalidInput(of_field(field, problem))
    if (size := len(text.encode())) > MAX_MEMORY_BYTES:
        raise InvalidInput(Message("kind.too_long", n=size, most=MAX_MEMORY_BYTES))
    if _read_back(kind, text) != content:
        raise Refused(Message("kind.unread", kind=kind.name), hint=Message("kind.hint_suite"))
    return name, text


def _read_back(kind: TextKind[Any], text: str) -> BaseModel | None:
    try:
        made: BaseModel = kind.read(text)
    except ValueError:
        return None
    return made


def _tidy(value: JsonValue | Mapping[str, JsonValue]) -> JsonValue:
    """Return data whose texts have one kind of line break, no tabs, and no blanks at line ends.

    What is left has one way to be written, in which nothing hides behind an escape.
    """
    if isinstance(value, str):
        plain = value.replace("\r\n", "\n").translate(_LINE_BREAKS).replace("\t", " ")
        return "\n".join(line.rstrip() for line in plain.split("\n")).strip()
    if isinstance(value, Mapping):
        return {name: _tidy(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_tidy(inner) for inner in value]
    return value


def is_free_name(name: str) -> bool:
    """Whether a package's kind can be called so."""
    return is_kind_name(name) and name not in _RESERVED and not Kind(name).is_built_in


def check_kind(given: object) -> TextKind[Any]:
    """Return what an entry point names as a kind; a class is made one. Raises ValueError."""
    kind = given() if isinstance(given, type) else given
    if isinstance(kind, TextKind) and (problem := _kind_problem(kind)) is None:
        return kind
    raise ValueError(problem if isinstance(kind, TextKind) else Message("kind.no_kind"))


def _kind_problem(kind: TextKind[Any]) -> Message | None:
    """Return what a kind lacks of what it has to say of itself, None if nothing."""
    name, titles = str(getattr(kind, "name", "")), getattr(kind, "titles", {})
    if not is_free_name(name):
        return Message("kind.wrong_name", name=name)
    if missing := [language for language in LANGUAGES if not titles.get(language)]:
        return Message("kind.no_title", languages=", ".join(missing))
    if not getattr(kind, "about", "").strip():
        return Message("kind.no_about")
    content = getattr(kind, "content", None)
    is_model = isinstance(content, type) and issubclass(content, BaseModel)
    return None if is_model else Message("kind.no_content")
