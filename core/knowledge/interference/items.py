"""An item as statements: steps, conditions, lines of scripts, rows and sentences, with places."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from core.domain.models import SKILL_MD, DecisionTable, Kind
from core.knowledge.duplicates.quantities import Quantity
from core.knowledge.interference.words import Terms, names, terms, values

Part = Literal["heading", "line", "condition", "code", "row"]

MAX_CHARS = 200_000  # of one text; what comes after is not read
MAX_STATEMENTS = 1_000  # of one item
_TEXTS = (".md", ".txt", ".rst", ".markdown")
_NUMBERED = re.compile(r"\A\s*(?:\d{1,3}[.)]|[-*+])\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"\A\s*#{1,6}\s+")
_CONDITIONS = re.compile(
    r"전제|조건|대상|자격|누구에게|준비|시작하기 전|시작할 수|언제|하기 전에"
    r"|\b(?:when|before you|condition|prerequisite|precondition|require|ready|who|applies|need"
    r"|checklist|eligib|entry criteria|start)",
    re.IGNORECASE,
)
_CONDITION_LINE = re.compile(
    r"(?:^|\s)(?:전제|조건|단,|다만|먼저)|(?:어|아|여|해|돼|되어|워|와|려|져|혀|켜|쳐)야[ ,]?"
    r"|경우에만|때만|뒤에만|후에만|있을 때에만|없으면 (?:시작|진행|하지)|기 전에는"
    r"|^(?:pre-?condition|prerequisite|entry criteri|before you (?:start|begin))"
    r"|\b(?:only (?:if|when|after|once|with|for)|must (?:have|be|first)|before starting|unless"
    r"|provided|requires?|required|do not (?:start|begin)|needs? (?:a|an|the|to)\b"
    r"|(?:start|begin) only|only (?:start|begin))",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Statement:
    """One line or row of an item: where it stands, and what it is."""

    place: str
    text: str
    part: Part = "line"
    section: str = ""

    @property
    def is_condition(self) -> bool:
        """Whether it says what must hold first, by itself or by where it stands."""
        if self.part != "line":
            return self.part == "condition"
        stands = f"{self.section}\n{self.place}"
        return any(map(re.Pattern.search, (_CONDITION_LINE, _CONDITIONS), (self.text, stands)))


@dataclass(frozen=True)
class Item:
    """An item as far as interference is concerned; `table` is that of a rule."""

    kind: Kind
    id: str
    name: str
    statements: tuple[Statement, ...]
    about: str = ""
    table: DecisionTable | None = None

    @cached_property
    def text(self) -> str:
        """All statements, one a line."""
        return "\n".join(one.text for one in self.statements)

    @cached_property
    def terms(self) -> Terms:
        """The ideas and stems of all statements."""
        return Terms(term for one in self.statements for term in terms(one.text))

    @cached_property
    def subject(self) -> Terms:
        """The ideas and stems of what it is called and said to be about."""
        head = " ".join(one.text for one in self.statements if one.part == "heading")
        named = self.name.replace("-", " ") if self.kind is not Kind.MEMORY else ""
        return terms(f"{named} {self.about} {head}")

    @cached_property
    def spoken_of(self) -> Terms:
        """The terms of both."""
        return Terms(self.terms | self.subject)

    @cached_property
    def named(self) -> Sequence[tuple[Statement, frozenset[str]]]:
        """The statements that name something beyond doubt, each with the names."""
        told = ((one, names(one.text)) for one in self.statements)
        return [(one, found) for one, found in told if found]

    @cached_property
    def valued(self) -> Sequence[tuple[Statement, Sequence[Quantity]]]:
        """The statements that have values, each with them."""
        told = ((one, values(one.text)) for one in self.statements)
        return [(one, found) for one, found in told if found]


def read_memory(item_id: str, text: str) -> Item:
    """Return a memory, a statement for each sentence."""
    pieces = re.split(r"(?<=[.!?。])\s+|\n+", _plain(text))
    said = tuple(Statement("", piece.strip()) for piece in pieces if piece.strip())
    return Item(Kind.MEMORY, item_id, item_id, said)


def read_skill(item_id: str, name: str, files: Mapping[str, str]) -> Item:
    """Return a skill from the texts of its files by path."""
    head, body = _frontmatter(_plain(files.get(SKILL_MD, "")))
    found = [Statement(SKILL_MD, line) for line in head]
    found += _read(SKILL_MD, body)
    for path, text in sorted(files.items()):
        if path != SKILL_MD:
            found += _read(path, _plain(text))
    return Item(Kind.SKILL, item_id, name, tuple(found[:MAX_STATEMENTS]), " ".join(head))


def read_table(item_id: str, table: DecisionTable) -> Item:
    """Return a rule, a statement for each row, as `column: cell` pairs."""
    names = [column.name for column in table.inputs]
    names += [column.name for column in table.outputs]
    rows = []
    for row in table.rows:
        cells = zip(names, (*row.inputs, *row.outputs), strict=False)
        said = ", ".join(f"{name}: {cell}" for name, cell in cells if cell.strip() not in {"", "-"})
        rows.append(Statement(row.id, said, "row"))
    return Item(Kind.DMN_RULE, item_id, table.name, tuple(rows), " ".join(names), table)


def read_known(kind: Kind, item_id: str, name: str, text: str) -> Item:
    """Return an item by the text that is searched, a statement for each line."""
    if kind is Kind.MEMORY:
        return read_memory(item_id, text)
    lines = [line.strip() for line in _plain(text).splitlines() if line.strip()]
    rows = (Statement("", line, "row") for line in lines[:MAX_STATEMENTS])
    return Item(kind, item_id, name, tuple(rows))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text[:MAX_CHARS])


def _frontmatter(text: str) -> tuple[list[str], str]:
    """Return the description of a SKILL.md, and what follows its frontmatter."""
    if not text.startswith("---\n") or "\n---" not in text[4:]:
        return [], text
    head, _, body = text[4:].partition("\n---")
    told = re.search(r"^description:[ \t]*[>|]?-?[ \t]*(.*(?:\n[ \t]+.*)*)", head, re.MULTILINE)
    return ([" ".join(told[1].split()).strip("\"'")] if told else []), body


def _read(path: str, text: str) -> Iterator[Statement]:
    is_code = not path.lower().endswith(_TEXTS)
    section, in_fence = "", False
    for line in text.splitlines():
        if not line.strip():
            continue
        if not is_code and line.lstrip().startswith("```"):
            in_fence = not in_fence
            continue
        if is_code or in_fence:
            yield Statement(path, line.strip(), "code")
        elif _HEADING.match(line):
            section = _HEADING.sub("", line)
            yield Statement(path, section, "heading")
        else:
            yield Statement(path, _NUMBERED.sub("", line).strip(), "line", section)
