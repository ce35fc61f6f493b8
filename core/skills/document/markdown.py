"""Where the blocks of a Markdown text begin and end, by lines that preserve their bytes (pure)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice, pairwise, takewhile
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
_MARKER = re.compile(r"(?P<indent> {0,3})(?P<marker>[-+*]|\d{1,9}[.)])(?P<gap>[ \t]*)")
_TASK = re.compile(r"\[[ xX]\][ \t]")
_LISTS = frozenset(("bullet_list_open", "ordered_list_open"))
_TAB = 4
_WIDEST_GAP = 4  # five blanks after a marker begin indented code
_HIGHEST = 999_999_999  # CommonMark reads at most nine digits as a marker
# What begins with more digits is a year, not an item that the author numbered.
_NUMBERED = re.compile(r" {0,3}(?:[-+*]|\d{1,3}[.)])(?:[ \t]|$)")


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


@dataclass(frozen=True)
class MarkdownList:
    """A list nested in no other block: the lines where its items begin, and its end."""

    items: tuple[int, ...]
    end: int


def lists_in(blocks: Sequence[Block]) -> list[MarkdownList]:
    """Return the outermost lists among blocks, in order."""
    return [
        MarkdownList(_items_of(blocks, number), block.after)
        for number, block in enumerate(blocks)
        if block.level == 0 and block.kind in _LISTS
    ]


def new_items(lines: Sequence[str], target: MarkdownList, text: str, newline: str) -> list[str]:
    """Return the lines that add `text` to the list: one item, or each of the list that it is.

    They begin with a blank line if the list is loose. Raises BundleInvalid.
    """
    shape = _Shape.of(lines, target)
    block: list[str] = []
    for number, item in enumerate(_items_to_add(text), 1):
        block += [newline] if shape.is_loose else []
        block += [line + newline for line in shape.item(item, number)]
    return block


@dataclass(frozen=True)
class _Shape:
    """How a list is written, judged by its last item."""

    indent: str
    marker: str
    gap: str
    counts: bool
    is_task: bool
    is_loose: bool

    @classmethod
    def of(cls, lines: Sequence[str], target: MarkdownList) -> _Shape:
        markers = [_marker(lines[start]) for start in target.items]
        last = markers[-1]
        rest = lines[target.items[-1]][last.end() :]
        is_plain = not is_blank(rest) and len(last["gap"].expandtabs(_TAB)) <= _WIDEST_GAP
        return cls(
            indent=last["indent"],
            marker=last["marker"],
            gap=last["gap"] if is_plain else " ",
            counts=len({found["marker"] for found in markers}) > 1 or len(markers) == 1,
            is_task=_TASK.match(rest) is not None,
            is_loose=any(is_blank(lines[start - 1]) for start in target.items[1:]),
        )

    def item(self, text: Sequence[str], number: int) -> list[str]:
        """Return the lines of the `number`-th new item, without their endings."""
        lead = f"{self.indent}{self._next(number)}{self.gap}"
        hang = " " * len(lead.expandtabs(_TAB))
        box = "[ ] " if self.is_task and not _TASK.match(f"{text[0]} ") else ""
        first, *rest = text
        return [lead + box + first, *(hang + line if line else "" for line in rest)]

    def _next(self, step: int) -> str:
        digits, ending = self.marker[:-1], self.marker[-1]
        if not digits or not self.counts:
            return self.marker
        number = int(digits) + step
        if number > _HIGHEST:
            raise BundleInvalid(Message("edit.list_numbers", digits=digits))
        return f"{number:0{len(digits)}d}{ending}"


def _marker(line: str) -> re.Match[str]:
    found = _MARKER.match(line)
    assert found is not None  # the parser found an item here
    return found


def _items_of(blocks: Sequence[Block], opening: int) -> tuple[int, ...]:
    inside = takewhile(lambda block: block.level > 0, islice(blocks, opening + 1, None))
    return tuple(block.first for block in inside if block.kind == "list_item_open")


def _items_to_add(text: str) -> list[list[str]]:
    """Return the items that a text stands for, each as its lines without marker and indentation."""
    lines = [line.rstrip("\r\n") for line in lines_of(text)]
    while is_blank(lines[0]):
        lines.pop(0)
    while is_blank(lines[-1]):
        lines.pop()
    read = blocks("\n".join(lines))
    found = lists_in(read)
    is_list = len(found) == 1 and read[0].kind in _LISTS and found[0].end >= len(lines)
    if not is_list or not _NUMBERED.match(lines[0]):
        return [lines]
    bounds = [*found[0].items, len(lines)]
    return [_bare(lines[start:end]) for start, end in pairwise(bounds)]


def _bare(lines: list[str]) -> list[str]:
    """Return the lines of an item without its marker and indentation."""
    marker = _marker(lines[0])
    gap = marker["gap"] if len(marker["gap"].expandtabs(_TAB)) <= _WIDEST_GAP else marker["gap"][:1]
    lead = lines[0][: marker.end("marker")] + gap
    width = len(lead.expandtabs(_TAB))
    bare = [lines[0][len(lead) :], *(_outdented(line, width) for line in lines[1:])]
    while bare[1:] and is_blank(bare[-1]):
        bare.pop()
    if all(map(is_blank, bare)):
        raise BundleInvalid(Message("edit.item_empty"))
    return bare


def _outdented(line: str, width: int) -> str:
    expanded = line.expandtabs(_TAB) if line[:1] in " \t" else line
    blank = len(expanded) - len(expanded.lstrip(" "))
    return expanded[min(blank, width) :]
