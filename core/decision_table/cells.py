"""Cheap checks of cell text before the FEEL grammar sees it."""

from __future__ import annotations

import re
import unicodedata

from core.domain.messages import Message

MAX_CELL = 2_000
ANY = "-"

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_INNERMOST = re.compile(
    r"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}"
    r"|[\[\](][^()\[\]{}]*\.\.[^()\[\]{}]*[\])\[]"  # ranges may be half open: (1..5], ]1..5[
)
_GROUPED = re.compile(r"(?:[<>]=?\s*|\.\.\s*)\d{1,3}(?:,\d{3})+(?!\d)|\d{1,3}(?:,\d{3})*,0\d\d")


def one_line(text: str) -> str:
    """Return a name or remark in NFC, on one line, without surrounding white space."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def clean(cell: str) -> str:
    """Return a cell in NFC without surrounding white space."""
    return unicodedata.normalize("NFC", cell).strip()


def text_problem(text: str) -> str | None:
    """Return why `text` cannot stand in an XML document, or None."""
    if bad := _NOT_XML.search(text):
        return Message("cell.not_xml", bad=ord(bad[0]))
    return None


def cell_problem(cell: str) -> str | None:
    """Return what is obviously wrong with a trimmed cell, or None."""
    if len(cell) > MAX_CELL:
        return Message("cell.long", most=MAX_CELL)
    if "\n" in cell or "\r" in cell:
        return Message("cell.line_break")
    return text_problem(cell) or _syntax_problem(_STRING.sub("s", cell))


def _syntax_problem(bare: str) -> str | None:
    if '"' in bare:
        return Message("cell.quote_open")
    if re.search("[“”„]", bare):
        return Message("cell.typographic")
    if len(bare) > 1 and bare[0] == bare[-1] == "'":
        return Message("cell.single_quotes")
    if _GROUPED.search(bare):
        return Message("cell.thousands")
    if not _balanced(bare):
        return Message("cell.brackets")
    return None


def _balanced(bare: str) -> bool:
    count = 1
    while count:
        bare, count = _INNERMOST.subn("x", bare)
    return not re.search(r"[()\[\]{}]", bare)
