"""Where the sections of a Markdown text begin and end, by lines that keep their bytes (pure)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_MARKS = re.compile(r"#{1,6}\s+")


@dataclass(frozen=True)
class Heading:
    """A heading of the text itself (none inside a fence, a quotation or a list).

    `first` is its line, `after` the line after it, counted from 0; setext headings have two lines.
    """

    text: str
    level: int
    first: int
    after: int


def lines_of(text: str) -> list[str]:
    """Split into lines as Markdown counts them, each with its ending; joined they are `text`."""
    return _LINE.findall(text)


def newline_of(text: str) -> str:
    """The line ending that the text uses: that of its first line."""
    found = re.search(r"\r\n?|\n", text)
    return found[0] if found else "\n"


def headings(text: str) -> list[Heading]:
    """Give the headings of a Markdown text, in order."""
    tokens = MarkdownIt("commonmark").parse(text)
    return [
        Heading(
            text=_folded(_plain(tokens[index + 1])),
            level=int(token.tag[1:]),
            first=token.map[0],
            after=token.map[1],
        )
        for index, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


def same_heading(heading: Heading, asked: str) -> bool:
    """Tell whether `asked` (plain, with `#` or with inline markup) names this heading."""
    bare = _MARKS.sub("", asked.strip(), count=1)
    inline = MarkdownIt("commonmark").parseInline(bare)
    return heading.text in {_folded(asked), _folded(bare), _folded(_plain(inline[0]))}


def _plain(token: Token) -> str:
    """The text of an inline token as a reader sees it."""
    parts = []
    for child in token.children or []:
        if child.type in {"softbreak", "hardbreak"}:
            parts.append(" ")
        elif child.type == "image" or not child.content:
            parts.append(_plain(child))
        else:
            parts.append(child.content)
    return "".join(parts)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
