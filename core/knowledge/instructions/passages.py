"""What of a Markdown text is an instruction: each bullet and each paragraph, with its line (pure).

No word decides: what is a bullet or a paragraph of words counts, whatever it says. Headings and the
lines that introduce a list or a code block are no instructions, and go into those that they lead.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.skills.document.markdown import Block, blocks, lines_of
from core.skills.references import CODE_SPAN

# What `knowledge sync` writes lies between these lines, or in a file that begins with the first.
_BEGIN = re.compile(r"\s*<!-- skill-worker:begin (?P<id>(?:(?!--).)+?) -->\s*")
_END = re.compile(r"\s*<!-- skill-worker:end (?P<id>(?:(?!--).)+?) -->\s*")
_HEAD_LINES = 20
_MARKER = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[[ xX]\][ \t]+)?")
_LINK = re.compile(r"!?\[[^\[\]]{0,500}\](?:\([^()]{0,2000}\)|\[[^\[\]]{0,200}\])")
_BRACKETS = re.compile(r"[\[\]()<>]|https?://\S+")
_INCLUDE = re.compile(r"(?:^|(?<=\s))@((?:\\ |[^\s\\`@])+)")
_CODE = frozenset(("fence", "code_block"))
_LISTS = frozenset(("bullet_list_open", "ordered_list_open"))


@dataclass(frozen=True)
class Passage:
    """An instruction as it stands in a file, from `line` on, counted from 1."""

    line: int
    text: str


@dataclass(frozen=True)
class Include:
    """A path that a text includes, and the line in which it does."""

    line: int
    path: str


def unmanaged(text: str) -> str:
    """Return a text without what `knowledge sync` has written into it; its lines keep their places.

    A block without an end reaches to the end of the file; one that begins it makes it all ours.
    """
    lines = lines_of(text)
    kept, block = list(lines), ""
    opened = 0
    for at, line in enumerate(lines):
        begin = None if block else _BEGIN.fullmatch(line)
        if begin:
            block, opened = begin["id"], at
        if block:
            kept[at] = "\n"
            end = _END.fullmatch(line)
            block = "" if end and end["id"] == block else block
    return "" if block and opened < _HEAD_LINES else "".join(kept)


def includes(text: str) -> list[Include]:
    """Return what a text includes by `@path`, outside code, each path once.

    Raises BundleInvalid if it has too many lines.
    """
    lines = lines_of(text)
    for block in blocks(text):
        if block.kind in _CODE:
            lines[block.first : block.after] = ["\n"] * (block.after - block.first)
    found: dict[str, Include] = {}
    line = 1
    for part in re.split(r"(\n[ \t]*\n)", "".join(lines).replace("\r\n", "\n")):
        plain = CODE_SPAN.sub(_blank, _uncommented(part))
        at, counted = line, 0
        for one in _INCLUDE.finditer(plain):
            at += plain.count("\n", counted, one.start())
            counted = one.start()
            path = one[1].replace("\\ ", " ")
            found.setdefault(path, Include(at, path))
        line += part.count("\n")
    return [*found.values()]


def _blank(found: re.Match[str]) -> str:
    """Return as many lines of nothing; words on both sides stay apart."""
    return "`" + "\n" * found[0].count("\n")


def _uncommented(text: str) -> str:
    """Return a text without HTML comments, of which only the line ends stay."""
    kept, at = "", 0  # by `find`: a pattern takes the square of a text of unclosed comments
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin)) >= 0:
        kept += text[at:begin] + "\n" * text.count("\n", begin, end)
        at = end + 3
    return kept + text[at:]


def passages(text: str) -> list[Passage]:
    """Return the instructions of a text in order. Raises BundleInvalid if it has too many lines."""
    lines = lines_of(text.replace("\r\n", "\n"))
    return [*_Walk(lines, [*blocks(text)]).passages()]


@dataclass
class _Walk:
    """The outermost blocks of a text, one after another, with what leads to each."""

    lines: Sequence[str]
    found: Sequence[Block]
    heading: str = ""
    lead: str = ""
    has_title: bool = False

    def passages(self) -> Iterator[Passage]:
        """Yield the instructions; what only leads to another goes into that one."""
        outer = [block for block in self.found if block.level == 0]
        for at, block in enumerate(outer):
            after = outer[at + 1].kind if at + 1 < len(outer) else ""
            before = outer[at - 1].kind if at else ""
            if block.kind == "heading_open":
                self._head(block)
            elif block.kind in _LISTS:
                yield from self._items(block)
            elif block.kind in _CODE:
                if not self.lead and before != "heading_open":
                    continue  # code that nothing leads to is an example
                yield from self._passage(block.first, self._raw(block).strip("\n"), "\n")
            elif block.kind in {"paragraph_open", "blockquote_open"}:
                said = _words(_joined(self._raw(block)))
                if said.endswith((":", "：")) and after in _LISTS | _CODE:
                    self.lead = said
                    continue
                yield from self._passage(block.first, said)
            self.lead = ""

    def _head(self, block: Block) -> None:
        """Note under which heading what follows stands; the title names the file, no subject."""
        is_title = block.tag == "h1" and not self.has_title
        self.has_title = True
        self.heading = "" if is_title else block.content.strip().rstrip(":")

    def _items(self, block: Block) -> Iterator[Passage]:
        for item in self.found:
            is_own = item.kind == "list_item_open" and item.level == 1
            if is_own and block.first <= item.first < block.after:
                yield from self._passage(item.first, _item(self._raw(item)))

    def _passage(self, first: int, said: str, between: str = " ") -> Iterator[Passage]:
        if not _has_words(said):
            return
        lead = self.lead or (f"{self.heading}:" if self.heading else "")
        if self.lead and self.heading:
            lead = f"{self.heading}: {self.lead}"
        between = "\n" if said.startswith("|") else between  # a table
        yield Passage(first + 1, f"{lead}{between}{said}" if lead else said)

    def _raw(self, block: Block) -> str:
        return "".join(self.lines[block.first : block.after])


def _item(raw: str) -> str:
    """Return the text of a list item without its marker, with what is nested in it."""
    found = _MARKER.match(raw)
    text = raw[found.end() :] if found else raw
    first, _, rest = text.partition("\n")
    rest = textwrap.dedent(rest)
    is_plain = not any(not line.strip() or _MARKER.match(line) for line in rest.splitlines())
    whole = f"{first}\n{rest}".rstrip()
    if is_plain and "```" not in rest and "~~~" not in rest:
        return _words(_joined(whole))
    return _words(whole)


def _joined(raw: str) -> str:
    """Return the lines of a paragraph as one, and those of a table as they are."""
    lines = [line.strip() for line in raw.strip().splitlines()]
    lines = [line.lstrip("> ") if line.startswith(">") else line for line in lines]
    return ("\n" if lines and lines[0].startswith("|") else " ").join(lines)


def _words(text: str) -> str:
    return _uncommented(text).strip()


def _has_words(text: str) -> bool:
    """Whether a text says anything besides links, pictures and paths that it includes."""
    bare = _BRACKETS.sub(" ", _INCLUDE.sub(" ", _LINK.sub(" ", text)))
    return any(char.isalnum() for char in bare)
