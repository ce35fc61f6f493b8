"""The YAML head of a SKILL.md: one reader and one writer that agree (pure)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from core.domain.errors import BundleInvalid
from core.domain.messages import Message
from core.skills.validation.head_reader import find_head, read_head
from core.skills.validation.head_values import HeadError, Node

_SPECIAL = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_WORDS_OF_YAML = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_PLAIN = re.compile(r"[^\W\d_][^\n]*")


@dataclass(frozen=True)
class Frontmatter:
    """What the worker reads of a frontmatter; `keys` are all its keys, in order."""

    name: str
    description: str
    keys: tuple[str, ...]


def split_document(document: str) -> tuple[str, str]:
    """Split into head (including the closing fence) and body; joined they are `document`.

    Raises BundleInvalid if there is no frontmatter between two lines of `---`.
    """
    try:
        _, _, body = find_head(document)
    except HeadError as error:
        raise BundleInvalid(Message("skill.document_wrong", why=error)) from error
    return document[:body], document[body:]


def parted(text: str) -> tuple[str, str]:
    """Split into head and body as `split_document` does; a document without a head is all body."""
    try:
        return split_document(text)
    except BundleInvalid:
        return "", text


def read_frontmatter(document: str) -> Frontmatter:
    """Read the head of a document; `name` and `description` are text whatever YAML makes of them.

    Raises BundleInvalid for anything but a plain mapping with both keys, each key once.
    """
    values = read_values(document)
    return Frontmatter(
        name=_text(values, "name"), description=_text(values, "description"), keys=tuple(values)
    )


def read_values(document: str) -> dict[str, Node]:
    """Read all values of a document's head, by key. Raises BundleInvalid."""
    try:
        start, end, _ = find_head(document)
        return read_head(document[start:end])
    except HeadError as error:
        raise BundleInvalid(Message("skill.document_wrong", why=error)) from error


def write_frontmatter(name: str, description: str) -> str:
    """Return a head with just these two keys, which reads back equal whatever they contain."""
    return f"---\nname: {_scalar(name)}\ndescription: {_scalar(description)}\n---\n"


def set_description(document: str, text: str) -> str:
    """Set the description and preserve every other byte of the document.

    Raises BundleInvalid if the head cannot be read.
    """
    node = read_values(document).get("description")
    start, end, _ = find_head(document)
    if node is None:
        at, until, lead, tail = end, end, "description: ", _newline(document[start:end])
    else:
        at, until, tail = start + node.start, start + node.end, ""
        lead = " " if document[at - 1] == ":" else ""
    for value in (_scalar(text), _quoted(text)):  # a plain one may end early in a flow mapping
        edited = document[:at] + lead + value + tail + document[until:]
        if _described_as(edited, text):
            return edited
    raise BundleInvalid(Message("head.no_edit"))


def set_name(document: str, name: str) -> str:
    """Set the name and preserve every other byte. Raises BundleInvalid if the head has none."""
    _text(values := read_values(document), "name")
    start, _, _ = find_head(document)
    node = values["name"]
    lead = " " if document[start + node.start - 1] == ":" else ""
    head, tail = document[: start + node.start], document[start + node.end :]
    return f"{head}{lead}{_scalar(name)}{tail}"


def _text(values: dict[str, Node], key: str) -> str:
    if key not in values:
        raise BundleInvalid(Message("head.no_key", key=key))
    value = values[key].value
    if not isinstance(value, str):
        raise BundleInvalid(Message("head.no_text", key=key))
    return value


def _described_as(document: str, text: str) -> bool:
    try:
        return read_frontmatter(document).description == text
    except BundleInvalid:
        return False


def _newline(text: str) -> str:
    return "\r\n" if text.endswith("\r\n") else "\n"


def _scalar(text: str) -> str:
    """Return the plainest form that every YAML reader reads back equal, as text."""
    plain = _PLAIN.fullmatch(text) and text.casefold() not in _WORDS_OF_YAML
    return text if plain and "---" not in text and _reads_plain(text) else _quoted(text)


def _reads_plain(text: str) -> bool:
    try:
        return read_head(f"key: {text}\n")["key"].value == text
    except HeadError:
        return False


def _quoted(text: str) -> str:
    """Return a JSON string, which YAML reads as double-quoted, with YAML's own breaks escaped too.

    Three hyphens are broken up: some readers take them for a fence anywhere.
    """
    escaped = json.dumps(text, ensure_ascii=False).replace("---", "--\\u002d")
    return _SPECIAL.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped)
