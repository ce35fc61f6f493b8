"""The YAML head of a SKILL.md: one reader and one writer that agree (pure)."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from pydantic import JsonValue

from core.domain.errors import BundleInvalid
from core.domain.messages import Message
from core.skills.validation.document import KEYS_OF_TOOLS
from core.skills.validation.head_reader import find_head, read_head
from core.skills.validation.head_values import HeadError, Node

_SPECIAL = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_WORDS_OF_YAML = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_UNQUOTED = re.compile(r"[^\W\d_][^\n]*")


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


def as_json(document: str) -> dict[str, JsonValue]:
    """Return a document's head as JSON: here alone numbers and truth values are no texts.

    Name and description are text whatever YAML makes of them. Raises BundleInvalid.
    """
    import yaml  # for agents alone: commands on folders begin without it

    head = read_frontmatter(document)  # which has nothing in it that readers take differently
    start, end, _ = find_head(document)
    values: dict[str, object] = yaml.safe_load(document[start:end])
    found = {str(key): _json(value) for key, value in values.items()}
    return {**found, "name": head.name, "description": head.description}


def _json(value: object) -> JsonValue:
    if isinstance(value, dict):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_json(item) for item in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return value.isoformat() if isinstance(value, date) else str(value)


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


FIELDS = ("allowed-tools", "license", "compatibility", "metadata", *KEYS_OF_TOOLS)
_LISTS = frozenset(("paths", "arguments"))
_FLAGS = frozenset(("disable-model-invocation", "user-invocable"))
_ENTRY = r"^{indent}(?:{key}|\"{key}\"|'{key}')[ ]*:(?=[ \r\n]|$)"
_PAIR = re.compile(r"\s*([^\s:][^:]*?)\s*:(?:\s+(.*?))?\s*")


def set_field(document: str, field: str, text: str | None) -> str:
    """Set one of FIELDS, or one entry of the metadata (`metadata.KEY`); None removes it.

    The metadata as a whole are lines of `key: value`, `paths` and `arguments` one a line or between
    commas, `hooks` YAML without `[...]` and `{...}`. Every other byte of the document stays.
    Raises BundleInvalid if there is no such field, none to remove, or the head cannot be edited.
    """
    key, dot, entry = field.partition(".")
    if key not in FIELDS or bool(dot) != bool(entry) or (entry and key != "metadata"):
        fields = ", ".join((*FIELDS, "metadata.KEY"))
        raise BundleInvalid(Message("edit.field_unknown", field=field, fields=fields))
    if entry:
        return _set_entry(document, entry, text)
    if text is None:
        return _with_value(document, key, None)
    if key == "hooks":
        return _with_lines(document, key, *_yaml(text))
    if key in _FLAGS:
        return _with_lines(document, key, *_flag(key, text))
    if key in _LISTS:
        return _with_value(document, key, _listed(text))
    return _with_value(document, key, _pairs(text) if key == "metadata" else text.strip())


_Value = str | list[str] | dict[str, str]


def _listed(text: str) -> list[str]:
    """Return a list as it is given: an item a line, with or without a hyphen, or with commas."""
    found = [re.sub(r"^-\s+", "", line.strip()) for line in re.split(r"[\n,]", text)]
    return [_unquoted(item) for item in found if item]


def _unquoted(text: str) -> str:
    quote = text[:1]
    is_quoted = quote in {'"', "'"} and len(text) > 1 and text.endswith(quote)
    return text[1:-1] if is_quoted else text


def _flag(key: str, text: str) -> tuple[str, object]:
    """Return the line of a truth value, which tools take unquoted alone, and its text."""
    value = text.strip().lower()
    if value not in {"true", "false"}:
        raise BundleInvalid(Message("edit.no_flag", field=key, value=text.strip()))
    return f"{key}: {value}\n", value


def _yaml(text: str) -> tuple[str, object]:
    """Return the lines of `hooks` as they are given, and what they read as. Raises BundleInvalid.

    They are not written anew: here all scalars are text, and a tool wants numbers as numbers.
    """
    lines = textwrap.dedent(text.replace("\r\n", "\n").expandtabs(2)).strip("\n").splitlines()
    if lines and lines[0].rstrip() == "hooks:":
        lines = textwrap.dedent("\n".join(lines[1:])).splitlines()
    entry = "hooks:\n" + "".join(f"  {line}".rstrip() + "\n" for line in lines)
    try:
        node = read_head(entry)["hooks"]
    except (HeadError, KeyError) as error:
        raise BundleInvalid(Message("edit.no_yaml", field="hooks", why=error)) from error
    if not isinstance(node.value, dict) or not node.value or len(read_head(entry)) > 1:
        raise BundleInvalid(Message("edit.no_mapping", field="hooks"))
    return entry, _plain(node)


def _set_entry(document: str, entry: str, text: str | None) -> str:
    """Set or remove one entry of the metadata, the others as they read."""
    node = read_values(document).get("metadata")
    values = node.value if node else {}
    if not isinstance(values, dict):
        raise BundleInvalid(Message("head.no_edit"))
    texts = {key: value.value for key, value in values.items()}
    kept = {key: value for key, value in texts.items() if isinstance(value, str)}
    if len(kept) < len(texts):
        raise BundleInvalid(Message("head.no_edit"))
    if text is None and entry not in kept:
        raise BundleInvalid(Message("edit.no_field", field=f"metadata.{entry}", fields=_list(kept)))
    changed = {key: value for key, value in kept.items() if key != entry or text is not None}
    if text is not None:
        changed[entry] = text.strip()
    return _with_value(document, "metadata", changed or None)


def _with_value(document: str, key: str, value: _Value | None) -> str:
    """Replace, add or remove a top-level key. Raises BundleInvalid."""
    return _with_lines(document, key, _entry(key, value), value)


def _with_lines(document: str, key: str, entry: str, value: object) -> str:
    """Replace, add or, with "", remove the lines of a top-level key, which then reads as `value`.

    Raises BundleInvalid.
    """
    before = read_values(document)
    start, end, _ = find_head(document)
    source = document[start:end]
    if key in before:
        first, last = _lines_of(source, key, before[key])
    elif not entry:
        raise BundleInvalid(Message("edit.no_field", field=key, fields=_list(before)))
    else:
        first = last = len(source)
    edited = source[:first] + entry.replace("\n", _newline(source)) + source[last:]
    changed = document[:start] + edited + document[end:]
    wanted = {name: _plain(node) for name, node in before.items() if name != key}
    if value is not None:
        wanted[key] = value
    try:
        read = {name: _plain(node) for name, node in read_values(changed).items()}
    except BundleInvalid:
        read = {}
    if read != wanted:
        raise BundleInvalid(Message("head.no_edit"))
    return changed


def _lines_of(source: str, key: str, node: Node) -> tuple[int, int]:
    """Return where the lines of a top-level key begin and end."""
    entry = re.compile(_ENTRY.format(indent="", key=re.escape(key)), re.MULTILINE)
    found = entry.search(source[: node.start + 1])  # a key stands once: the reader refuses others
    if found is None:
        raise BundleInvalid(Message("head.no_edit"))
    after = source.find("\n", node.end)
    return found.start(), len(source) if after < 0 else after + 1


def _entry(key: str, value: _Value | None) -> str:
    """Return the lines of a key, nothing for none."""
    if value is None:
        return ""
    if isinstance(value, str):
        return f"{key}: {_scalar(value)}\n"
    if isinstance(value, list):
        return f"{key}:\n" + "".join(f"  - {_scalar(item)}\n" for item in value)
    return f"{key}:\n" + "".join(f"  {_scalar(n)}: {_scalar(text)}\n" for n, text in value.items())


def _pairs(text: str) -> dict[str, str]:
    """Read lines of `key: value`, each key once. Raises BundleInvalid."""
    pairs: dict[str, str] = {}
    for line in filter(str.strip, text.splitlines()):
        found = _PAIR.fullmatch(line)
        if found is None or found[1] in pairs:
            raise BundleInvalid(Message("edit.no_pair", line=line.strip()))
        pairs[found[1]] = (found[2] or "").strip("\"'")
    return pairs


def _plain(node: Node) -> object:
    if isinstance(node.value, dict):
        return {key: _plain(item) for key, item in node.value.items()}
    if isinstance(node.value, list):
        return [_plain(item) for item in node.value]
    return node.value


def _list(values: Iterable[str]) -> str:
    return ", ".join(values) or Message("list.none")


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
    plain = _UNQUOTED.fullmatch(text) and text.casefold() not in _WORDS_OF_YAML
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
