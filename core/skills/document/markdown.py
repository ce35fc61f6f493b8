"""Where the blocks of a Markdown text begin and end, by lines that preserve their bytes (pure)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.parser_block import RuleFuncBlockType
from markdown_it.rules_block import StateBlock, blockquote, list_block
from markdown_it.token import Token

from core.domain.errors import BundleInvalid
from core.domain.messages import Message

# Twenty times the size of a good skill; the parser takes up to 40 µs a line.
MAX_LINES = 10_000
# Lists count twice. Deeper blocks are read as plain text: markdown-it would drop all that follows.
_DEEPEST = 20
_IN_ANY = frozenset(("fence", "code_block", "html_block", "heading_open", "blockquote_open"))
_LAST_READ = 8
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_MARKS = re.compile(r"#{1,6}\s+")
# Without one of these characters a line reads as it is written.
_MARKUP = frozenset("\\`*_[]<>&!\n")
# A longer heading is no name to find it by; its markup is left as it is.
_LONGEST_NAME = 1_000
_MOST_MARKUP = 24


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
    """Return the line ending that the text uses: that of its first line."""
    found = re.search(r"\r\n?|\n", text)
    return found[0] if found else "\n"


def is_blank(line: str) -> bool:
    """Whether a line is blank to Markdown; other white space than this is text."""
    return not line.strip(" \t\r\n")


def has_too_many_lines(text: str) -> bool:
    """Whether a text has too many lines to be read as Markdown."""
    return text.count("\n") + text.count("\r") > MAX_LINES and len(lines_of(text)) > MAX_LINES


def refuse_too_many_lines(text: str) -> None:
    """Raise BundleInvalid for a text with too many lines to be read as Markdown."""
    if has_too_many_lines(text):
        raise BundleInvalid(
            Message("markdown.too_long", most=MAX_LINES),
            hint=Message("markdown.split"),
        )


@dataclass(frozen=True, slots=True)
class Block:
    """A block that begins at line `first` and ends before line `after`, counted from 0.

    `kind` is markdown-it's name for it, `level` the number of blocks around it (a list and its item
    are two), `tag` the HTML tag, `content` the code of a code block, the markup of a heading, the
    text of HTML.
    """

    kind: str
    level: int
    tag: str
    first: int
    after: int
    content: str


def blocks(text: str) -> tuple[Block, ...]:
    """Return a text's outermost blocks, their list items, and all code, HTML, headings, quotations.

    Inline markup is not parsed, so a single line of millions of characters costs no more than any
    other. The last few texts are cached, since edits, losses and references ask about one text in
    turn. Raises BundleInvalid for a text with too many lines.
    """
    refuse_too_many_lines(text)
    return _blocks(text)


@lru_cache(maxsize=_LAST_READ)
def _blocks(text: str) -> tuple[Block, ...]:
    parser = _block_parser()
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    state = _Reading(plain, parser, {}, [])
    parser.block.tokenize(state, 0, state.lineMax)
    found: list[Block] = []
    for index, token in enumerate(state.tokens):
        if token.map and token.type != "inline":
            is_heading = token.type == "heading_open"
            content = state.tokens[index + 1].content if is_heading else token.content
            first, after = token.map
            found.append(Block(token.type, token.level, token.tag, first, after, content))
    return tuple(found)


class _Reading(StateBlock):
    """The parser's state, which creates only the tokens that make a Block.

    Creating tokens took most of the parser's time. All others are one spare token, which the rules
    of the parser fill in and nobody reads.
    """

    _spare = Token("", "", 0)

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        """Begin a token; one that no Block needs is the spare one."""
        if nesting < 0:
            self.level -= 1
        token = self._spare
        if nesting >= 0 and self._is_needed(ttype):
            token = Token(ttype, tag, nesting, level=self.level, block=True)
            self.tokens.append(token)
        if nesting > 0:
            self.level += 1
        return token

    def _is_needed(self, kind: str) -> bool:
        if kind == "inline":
            return bool(self.tokens) and self.tokens[-1].type == "heading_open"
        return self.level == 0 or kind in _IN_ANY or (self.level == 1 and kind == "list_item_open")


def headings(text: str) -> list[Heading]:
    """Return the headings of a Markdown text, in order."""
    return headings_in(blocks(text))


def headings_in(found: Iterable[Block]) -> list[Heading]:
    """Return the headings among blocks, in order."""
    return [
        Heading(_named(block.content), int(block.tag[1:]), block.first, block.after)
        for block in found
        if block.kind == "heading_open" and block.level == 0
    ]


def outermost(found: Iterable[Block]) -> Iterator[tuple[str, int]]:
    """Yield kind and first line of the outermost blocks."""
    return ((block.kind, block.first) for block in found if block.level == 0)


def names_of(asked: str) -> set[str]:
    """Return the heading texts that `asked` (plain, with `#` or with markup) may stand for."""
    bare = _MARKS.sub("", asked.strip(), count=1)
    return {_folded(asked), _folded(bare), _named(bare)}


@cache
def _block_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 2 * _DEEPEST})
    ruler = parser.block.ruler
    ends = ["paragraph", "reference", "blockquote"]  # markdown-it's own list for this rule
    ruler.at("blockquote", _bounded(blockquote), {"alt": [*ends, "list"]})
    ruler.at("list", _bounded(list_block), {"alt": ends})
    return parser


def _bounded(rule: RuleFuncBlockType) -> RuleFuncBlockType:
    """Wrap a rule so that it begins no block at too deep a nesting."""

    def bounded(state: StateBlock, first: int, after: int, silent: bool) -> bool:
        return (silent or state.level < _DEEPEST) and rule(state, first, after, silent)

    return bounded


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


@lru_cache(maxsize=MAX_LINES)
def _named(markup: str) -> str:
    """Return the text of a line as a reader sees it."""
    signs = sum(map(markup.count, _MARKUP))
    if not signs or signs > _MOST_MARKUP or len(markup) > _LONGEST_NAME:
        return _folded(markup)
    return _folded(_plain(_inline_parser().parseInline(markup)[0]))


def _plain(token: Token) -> str:
    """Return the text of an inline token as a reader sees it."""
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
