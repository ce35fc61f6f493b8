"""The YAML head of a SKILL.md: one reader and one writer that agree (pure)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import yaml

from core.errors import BundleInvalid

_HEAD = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_SPECIAL = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_MALFORMED = (yaml.YAMLError, RecursionError, ValueError)


@dataclass(frozen=True)
class Frontmatter:
    """What the worker reads of a frontmatter; `keys` are all its keys, in order."""

    name: str
    description: str
    keys: tuple[str, ...]


def split_document(document: str) -> tuple[str, str]:
    """Split into head (up to and with the closing fence) and body; joined they are `document`.

    Raises BundleInvalid where there is no frontmatter between two lines of `---`.
    """
    found = _HEAD.match(document)
    if found is None:
        raise BundleInvalid("SKILL.md has no frontmatter between two lines of ---")
    return document[: found.end()], document[found.end() :]


def read_frontmatter(document: str) -> Frontmatter:
    """Read the head of a document; `name` and `description` are text whatever YAML makes of them.

    Raises BundleInvalid for anything but a plain mapping with both keys, each key once.
    """
    pairs = _pairs(_yaml_of(document)[0])
    values = {key.value: value for key, value in pairs}
    return Frontmatter(
        name=_text(values, "name"),
        description=_text(values, "description"),
        keys=tuple(key.value for key, _ in pairs),
    )


def write_frontmatter(name: str, description: str) -> str:
    """Write a head with just these two keys, which reads back equal whatever they hold."""
    return f"---\nname: {_scalar(name)}\ndescription: {_scalar(description)}\n---\n"


def set_description(document: str, text: str) -> str:
    """Set the description and keep every other byte of the document.

    Raises BundleInvalid where the head cannot be read.
    """
    source, start = _yaml_of(document)
    node = {key.value: value for key, value in _pairs(source)}.get("description")
    if node is None:
        at, old, lead, tail = start + len(source), "", "description: ", _newline(source)
    else:
        at = start + node.start_mark.index
        old = source[node.start_mark.index : node.end_mark.index].rstrip()
        lead, tail = ("" if old else " "), ""
    for value in (_scalar(text), _quoted(text)):  # a plain one may end early in a flow mapping
        edited = document[:at] + lead + value + tail + document[at + len(old) :]
        if _described_as(edited, text):
            return edited
    raise BundleInvalid("the frontmatter of SKILL.md is in a form that cannot be edited")


class _StrictLoader(yaml.SafeLoader):
    """Refuses what can make a head mean more than it shows: anchors, aliases and tags."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "anchor", None) is not None:
            raise yaml.YAMLError("anchors and aliases are not allowed")
        if getattr(event, "tag", None) is not None:
            raise yaml.YAMLError("tags are not allowed")
        return super().compose_node(parent, index)


def _yaml_of(document: str) -> tuple[str, int]:
    found = _HEAD.match(document)
    if found is None:
        raise BundleInvalid("SKILL.md has no frontmatter between two lines of ---")
    return found["yaml"], found.start("yaml")


def _pairs(source: str) -> list[tuple[yaml.ScalarNode, yaml.Node]]:
    try:
        root = yaml.compose(source, Loader=_StrictLoader)
    except _MALFORMED as error:
        raise BundleInvalid(f"the frontmatter of SKILL.md is not valid YAML: {error}") from error
    if not isinstance(root, yaml.MappingNode):
        raise BundleInvalid("the frontmatter of SKILL.md is no mapping of keys to values")
    keys = [key.value for key, _ in root.value if isinstance(key, yaml.ScalarNode)]
    if len(keys) != len(root.value):
        raise BundleInvalid("the frontmatter of SKILL.md has a key that is no plain text")
    if twice := sorted({key for key in keys if keys.count(key) > 1}):
        raise BundleInvalid(f"the frontmatter of SKILL.md has the key {twice[0]!r} twice")
    return list(root.value)


def _text(values: dict[str, yaml.Node], key: str) -> str:
    node = values.get(key)
    if node is None:
        raise BundleInvalid(f"the frontmatter of SKILL.md has no {key!r}")
    if not isinstance(node, yaml.ScalarNode):
        raise BundleInvalid(f"{key!r} in the frontmatter of SKILL.md is no text")
    return str(node.value)


def _described_as(document: str, text: str) -> bool:
    try:
        return read_frontmatter(document).description == text
    except BundleInvalid:
        return False


def _newline(text: str) -> str:
    return "\r\n" if text.endswith("\r\n") else "\n"


def _scalar(text: str) -> str:
    """The plainest form that reads back equal on one line."""
    plain = not re.search(r"[\r\n]", text) and text[:1].isalnum() and _reads_plain(text)
    return text if plain else _quoted(text)


def _reads_plain(text: str) -> bool:
    # As text for every reader, so that `yes`, `12` or a date are quoted.
    try:
        return bool(yaml.load(f"key: {text}\n", Loader=_StrictLoader) == {"key": text})  # noqa: S506
    except _MALFORMED:
        return False


def _quoted(text: str) -> str:
    """A JSON string, which YAML reads as double-quoted, with YAML's own breaks escaped too."""
    escaped = json.dumps(text, ensure_ascii=False)
    return _SPECIAL.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped)
