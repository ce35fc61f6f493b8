"""Mutants of SQL: a condition dropped, a comparison turned, a lock not taken, an order reversed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.mutate.mutant import Mutant

_HEADER = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)
_HIDDEN = re.compile(r"--[^\n]*|'(?:[^']|'')*'")
_WORD = r"(?<![\w.]){}(?!\w)"
# Conditions end where another clause of their own depth begins.
_CLAUSE = re.compile(
    _WORD.format(
        "(?:WHERE|HAVING|ON|GROUP|ORDER|LIMIT|OFFSET|FOR|RETURNING|UNION|FROM|SET|LEFT|JOIN|CROSS"
        "|THEN|ELSE|END|WHEN|DO|SELECT|VALUES|WINDOW)"
    )
)
_BEGIN = re.compile(_WORD.format("(?:WHERE|HAVING|ON|AND|OR|WHEN)"))
_SPLIT = re.compile(_WORD.format("(?:AND|OR)"))
_ARGUED = re.compile(r"BETWEEN\s+(?:(?!\bAND\b).)*$", re.DOTALL)

_SWAPS = (
    ("flip <", r"(?<![<>=!~|-])<(?![<>=~-])", ">="),
    ("flip >", r"(?<![<>=!~|-])>(?![<>=])", "<="),
    ("loosen <", r"(?<![<>=!~|-])<(?![<>=~-])", "<="),
    ("loosen >", r"(?<![<>=!~|-])>(?![<>=])", ">="),
    ("tighten <=", r"<=(?!>)", "<"),
    ("tighten >=", r">=", ">"),
    ("<> to =", r"<>", "="),
    ("= to <>", r"(?<![<>=!:])=(?![=>])", "<>"),
    ("NOT IN to IN", r"\bNOT IN\b", "IN"),
    ("IN to NOT IN", r"(?<!NOT )\bIN\b(?= \()", "NOT IN"),
    ("NOT EXISTS to EXISTS", r"\bNOT EXISTS\b", "EXISTS"),
    ("EXISTS to NOT EXISTS", r"(?<!NOT )\bEXISTS\b", "NOT EXISTS"),
    ("IS NULL to IS NOT NULL", r"\bIS NULL\b", "IS NOT NULL"),
    ("IS NOT NULL to IS NULL", r"\bIS NOT NULL\b", "IS NULL"),
    ("drop lock", r"\bFOR (?:NO KEY )?(?:UPDATE|SHARE)(?: OF \w+)?(?: SKIP LOCKED)?", ""),
    ("drop SKIP LOCKED", r"\bSKIP LOCKED\b", ""),
    ("drop DESC", r"\bDESC\b", ""),
    (
        "reverse order",
        r'(?<=ORDER BY )([^\s,;()]+(?: COLLATE "C")?)(?! DESC| COLLATE)(?=[,\s)]|$)',
        r"\1 DESC",
    ),
    ("drop LIMIT", r"\bLIMIT (?:\d+|%\(\w+\)s(?:::\w+)?)", ""),
    ("AND to OR", r"\bAND\b", "OR"),
    ("OR to AND", r"\bOR\b", "AND"),
    ("greatest to least", r"\bgreatest\b", "least"),
    ("least to greatest", r"\bleast\b", "greatest"),
    (
        "DO UPDATE to DO NOTHING",
        r"\bDO UPDATE SET[^;]*?(?=\bWHERE\b|\bRETURNING\b|\Z|\n\))",
        "DO NOTHING ",
    ),
    ("+ to -", r"(?<= )\+(?= )", "-"),
    ("- to +", r"(?<= )-(?= )", "+"),
    ("drop DISTINCT", r"\bSELECT DISTINCT\b", "SELECT"),
    ("true to false", r"\btrue\b", "false"),
    ("false to true", r"\bfalse\b", "true"),
    ("LEFT JOIN to JOIN", r"\bLEFT JOIN\b", "JOIN"),
)


def sql_mutants(path: Path, source: str) -> Iterator[Mutant]:
    """Yield every mutant of a file of named blocks."""
    headers = [*_HEADER.finditer(source)]
    ends = [*(header.start() for header in headers[1:]), len(source)]
    for header, end in zip(headers, ends, strict=True):
        block = f"{path.stem}.{header[1]}"
        for operator, start, stop, text in _mutations(source, header.end(), end):
            line = source.count("\n", 0, start) + 1
            yield Mutant(str(path), operator, line, block, partial(_written, start, stop, text))


def _written(start: int, stop: int, text: str, source: str) -> str:
    return source[:start] + text + source[stop:]


def _mutations(source: str, begin: int, end: int) -> Iterator[tuple[str, int, int, str]]:
    """Yield operator, beginning, end and new text of each place between two positions."""
    # Comments and literals are blanked, so that positions stay.
    bare = _HIDDEN.sub(lambda found: _blanked(found[0]), source[:end])
    for name, pattern, text in _SWAPS:
        for found in re.compile(pattern).finditer(bare, begin):
            if not _is_between(bare, found) and not _is_of_a_moment(name, bare, found):
                yield name, found.start(), found.end(), found.expand(text)
    for start, stop, joined in _conditions(bare, begin):
        yield "drop condition", start, stop, "false" if joined == "OR" else "true"


def _is_of_a_moment(name: str, bare: str, found: re.Match[str]) -> bool:
    """Whether a bound is loosened or tightened by the microsecond that is now."""
    line = bare[bare.rfind("\n", 0, found.start()) + 1 :].split("\n")[0]
    return name.startswith(("loosen", "tighten")) and bool(re.search(r"clock_|now\(\)|_at\b", line))


def _blanked(text: str) -> str:
    """Blank a comment or a literal, but for its quotes and line ends."""
    is_literal = text.startswith("'")
    blank = re.sub(r"[^\n]", "_" if is_literal else " ", text[1:-1])
    return f"'{blank}'" if is_literal else f" {blank} "


def _is_between(bare: str, found: re.Match[str]) -> bool:
    """Whether an AND is that of BETWEEN, or an `=` assigns or names an argument."""
    before = bare[max(0, found.start() - 200) : found.start()]
    if found[0] == "AND":
        return _ARGUED.search(before) is not None
    if found[0] == "=":
        words = re.findall(r"\b(?:SET|WHERE|ON|WHEN|CASE|HAVING|AND|OR|FILTER|SELECT)\b", before)
        return not words or words[-1] == "SET"
    return False


def _conditions(bare: str, begin: int) -> Iterator[tuple[int, int, str]]:
    """Yield each condition between WHERE, ON, HAVING, AND and OR, with the word that joins it."""
    for word in _BEGIN.finditer(bare, begin):
        if word[0] == "AND" and _is_between(bare, word):
            continue
        start = word.end()
        stop, joined = _end_of_condition(bare, start)
        text = bare[start:stop]
        if not text.strip() or ("%(" not in text and "." not in text and "=" not in text):
            continue
        lead = len(text) - len(text.lstrip())
        yield start + lead, start + len(text.rstrip()), "OR" if word[0] == "OR" else joined


def _end_of_condition(bare: str, start: int) -> tuple[int, str]:
    depth, at = 0, start
    while at < len(bare):
        if bare.startswith("%(", at):
            at = bare.index(")s", at) + 2
            continue
        if bare[at] == "(":
            depth += 1
        elif bare[at] == ")":
            depth -= 1
            if depth < 0:
                return at, ""
        elif bare[at] in ",;" and not depth:
            return at, ""
        elif not depth and (found := _SPLIT.match(bare, at)):
            if not (found[0] == "AND" and _is_between(bare, found)):
                return at, found[0]
        elif not depth and _CLAUSE.match(bare, at):
            return at, ""
        at += 1
    return at, ""
