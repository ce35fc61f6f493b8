"""Where the blocks of a Markdown text begin and end, by lines that keep their bytes (pure)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from core.errors import BundleInvalid

# Twenty times what a good skill has; the parser takes up to 60 µs a line, and an edit parses often.
MAX_LINES = 10_000
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_MARKS = re.compile(r"#{1,6}\s+")
# A heading longer than this is no name to find it by; its markup is left as it is.
_LONGEST_NAME = 1_000


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


def is_blank(line: str) -> bool:
    """Tell whether Markdown takes the line for blank; other white space than this is text."""
    return not line.strip(" \t\r\n")


def has_too_many_lines(text: str) -> bool:
    """Tell whether a text has more lines than are read as Markdown."""
    return text.count("\n") + text.count("\r") > MAX_LINES and len(lines_of(text)) > MAX_LINES


def refuse_too_many_lines(text: str) -> None:
    """Raise BundleInvalid for a text of more lines than are read as Markdown."""
    if has_too_many_lines(text):
        raise BundleInvalid(
            f"a Markdown text has more than {MAX_LINES:,} lines: it is kept as it is, not edited",
            hint="bring it in anew in several files (an import, or merge_mode REPLACE)",
        )


def blocks(text: str) -> list[Token]:
    """Give the tokens of a text's blocks; what is inside a line is not parsed.

    So a text of millions of characters in one line costs no more than any other. Raises
    BundleInvalid for one of too many lines.
    """
    refuse_too_many_lines(text)
    return _block_parser().parse(text)


def headings(text: str) -> list[Heading]:
    """Give the headings of a Markdown text, in order."""
    return headings_in(blocks(text))


def headings_in(tokens: list[Token]) -> list[Heading]:
    """Give the headings among the tokens of `blocks`, in order."""
    return [
        Heading(
            text=_named(tokens[index + 1].content),
            level=int(token.tag[1:]),
            first=token.map[0],
            after=token.map[1],
        )
        for index, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


def outermost(tokens: list[Token]) -> Iterator[tuple[str, int]]:
    """Give kind and first line of the blocks that stand in no other."""
    for token in tokens:
        if token.level == 0 and token.map and token.nesting >= 0:
            yield token.type, token.map[0]


def names_of(asked: str) -> set[str]:
    """Give the texts of headings that `asked` (plain, with `#` or with markup) may stand for."""
    bare = _MARKS.sub("", asked.strip(), count=1)
    return {_folded(asked), _folded(bare), _named(bare)}


@cache
def _block_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").disable(["inline", "text_join"])


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


def _named(markup: str) -> str:
    """The text of a line as a reader sees it."""
    if len(markup) > _LONGEST_NAME:
        return _folded(markup)
    return _folded(_plain(_inline_parser().parseInline(markup)[0]))


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
