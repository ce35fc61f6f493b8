"""What words of a shell script come to: variables, quotes, what is run within them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

from core.safety.shell_values import braced, marks_of, unescaped, unmarked

LONGEST_VALUE = 20_000
_EXPANSION = re.compile(r"\$\{[!#]?(\w+|[@*#?])(\[[^\]]*\])?(?:(:?[-=+?])(.*))?", re.DOTALL)
_SPREAD = {"simple_expansion", "expansion", "command_substitution", "concatenation"}
_USUAL = {"SHELL": "bash", "BASH": "bash", "IFS": " "}


class Words(ABC):
    """What variables, arguments and files of a script hold, and what its words come to."""

    def __init__(self) -> None:
        self._data = b""
        self._values: dict[str, str] = dict(_USUAL)
        self._files: dict[str, str] = {}
        self._args: list[str] = []
        self._place = ""  # where the script has gone by `cd`; "" where it began

    @abstractmethod
    def _all(self, node: Node, given: str) -> str:
        """Run the statements within a node; return what they write."""

    def _text(self, node: Node) -> str:
        return self._data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _value(self, node: Node) -> str:
        """Return what a word comes to as one text."""
        return _VALUES.get(node.type, Words._plain)(self, node)

    def _words_of(self, node: Node) -> list[str]:
        """Return the words that a word comes to."""
        value = self._value(node)
        if node.type in ("word", "concatenation") and "{" in value:
            return braced(value)
        is_quoted = node.type == "concatenation" and re.search(r"[\"']", self._text(node))
        if node.type in _SPREAD and not is_quoted:
            return value.split() or ([value] if marks_of(value) else [])
        if self._text(node) in ('"$@"', '"${@}"'):
            return list(self._args)
        if "[@]" in self._text(node):
            return value.split()
        return [value]

    def _plain(self, node: Node) -> str:
        text = self._text(node)
        return re.sub(r"\\(.)", r"\1", text) if "\\" in text and len(text) < 4000 else text

    def _raw(self, node: Node) -> str:
        return self._text(node)[1:-1]

    def _ansi(self, node: Node) -> str:
        return unescaped(self._text(node)[2:-1])

    def _string(self, node: Node) -> str:
        return re.sub(r'\\(["\\$`])', r"\1", self._within(node)[1:-1])

    def _within(self, node: Node) -> str:
        """Return a text with what is expanded in it."""
        parts: list[str] = []
        at = node.start_byte
        for child in node.named_children:
            if child.type in _SPREAD:
                parts += [self._data[at : child.start_byte].decode("utf-8", "replace")]
                parts += [self._value(child)]
                at = child.end_byte
        parts += [self._data[at : node.end_byte].decode("utf-8", "replace")]
        return "".join(parts)[:LONGEST_VALUE]

    def _joined(self, node: Node) -> str:
        return "".join(map(self._value, node.named_children))

    def _spaced(self, node: Node) -> str:
        return " ".join(map(self._value, node.named_children))

    def _expanded(self, node: Node) -> str:
        text = self._text(node)
        one = _EXPANSION.match(text.rstrip("}")) if text.startswith("${") else None
        name = one[1] if one else text.lstrip("$")
        known = self._known(name)
        if one and one[2] and known and one[2][1:-1].isdigit():
            values = known.split()
            known = values[int(one[2][1:-1])] if int(one[2][1:-1]) < len(values) else ""
        if known is None and one and one[3] and one[3].strip(":") in "-=":
            return unmarked(one[4]).strip("\"'")
        return text if known is None else known

    def _known(self, name: str) -> str | None:
        if name in ("@", "*"):
            return " ".join(self._args) if self._args else None
        if name.isdigit() and name != "0":
            return self._args[int(name) - 1] if len(self._args) >= int(name) else None
        return self._values.get(name)

    def _substituted(self, node: Node) -> str:
        place, values = self._place, dict(self._values)
        written = self._all(node, "")
        self._place, self._values = place, values
        return written.strip("\n") or self._text(node)  # what is not known stays as it is written

    def _process(self, node: Node) -> str:
        name = f"/dev/fd/{node.start_byte}"
        if self._text(node).startswith("<"):
            self._files[base_of(name)] = self._substituted(node)
        else:
            self._all(node, "")
        return name


def base_of(path: str) -> str:
    """Return the name of a file without its folders."""
    return path.rpartition("/")[2]


_VALUES: dict[str, Callable[[Words, Node], str]] = {
    "raw_string": Words._raw,
    "ansi_c_string": Words._ansi,
    "string": Words._string,
    "concatenation": Words._joined,
    "array": Words._spaced,
    "simple_expansion": Words._expanded,
    "expansion": Words._expanded,
    "command_substitution": Words._substituted,
    "process_substitution": Words._process,
}
