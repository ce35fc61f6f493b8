"""Managed blocks: found between their two marks, put in, replaced and taken out (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.domain.errors import Refused
from core.domain.hashing import text_hash
from core.domain.messages import Message

_BEGIN, _END = "<!-- skill-worker:begin {} -->", "<!-- skill-worker:end {} -->"
_MARK = re.compile(r"<!-- skill-worker:(begin|end) (.*) -->")
_HEAD = re.compile(r"\A---[ \t]*\r?\n.*?^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"- \[([^\]\s]+) v\d+\] ")
_UNSAFE = re.compile(r"[^\w.@-]|--+")


def mark_of(layout: str, tenant_id: str, agent_id: str) -> str:
    """Return the name of a source's blocks, which cannot end the comment that it stands in."""
    tenant, agent = (_UNSAFE.sub(_percent, part) for part in (tenant_id, agent_id))
    return f"{layout} {tenant}/{agent}"


def of_one_tenant(mark: str, other: str) -> bool:
    """Whether two sources are agents of one tenant, in one layout."""
    return mark.rpartition("/")[0] == other.rpartition("/")[0]


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


@dataclass(frozen=True)
class Found:
    """Where a block is: from `start` to `end` with its marks, and its body, with `\\n` breaks."""

    start: int
    end: int
    body: str


def find_block(path: str, text: str, mark: str) -> Found | None:
    """Return the block of that name. Raises Refused if its marks are no pair, or hold others."""
    begun: tuple[int, int] | None = None
    found: Found | None = None
    for number, start, end, kind, name in _marks(text):
        broken = Refused(
            Message("files.marks", path=path, line=number), hint=Message("files.hint_marks")
        )
        if name != mark:
            if begun:
                raise broken
        elif kind == "begin":
            if begun or found:
                raise broken
            begun = (start, end)
        else:
            if begun is None:
                raise broken
            found = Found(begun[0], end, text[begun[1] : start].replace("\r\n", "\n"))
            begun = None
    if begun:
        line = text.count("\n", 0, begun[0]) + 1
        raise Refused(
            Message("files.marks", path=path, line=line), hint=Message("files.hint_marks")
        )
    return found


def _marks(text: str) -> Iterator[tuple[int, int, int, str, str]]:
    """Yield each line that is a mark: its number, start, end, `begin` or `end`, and its name."""
    at = 0
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        mark = _MARK.fullmatch(line.strip("\ufeff \t\r\n"))
        if mark:
            yield number, at, at + len(line), mark[1], mark[2]
        at += len(line)


def put_block(path: str, text: str | None, mark: str, body: str, head: str) -> str:
    """Return a file's text with the block in place of the one before, or at its end."""
    newline = "\r\n" if text and "\r\n" in text else "\n"
    block = "".join(f"{line}\n" for line in (_BEGIN.format(mark), body.rstrip("\n")))
    block = (block + _END.format(mark) + "\n").replace("\n", newline)
    if not text:
        return head.replace("\n", newline) + block
    if head:
        text = head.replace("\n", newline) + text[len(head_of(text)) :]
    found = find_block(path, text, mark)
    if found:
        return text[: found.start] + block + text[found.end :]
    return text + ("" if text.endswith("\n") else newline) + newline * (text != head) + block


def drop_block(path: str, text: str, mark: str) -> str | None:
    """Return a file's text without the block; None if nothing is left that people wrote."""
    found = find_block(path, text, mark)
    before, after = (text[: found.start], text[found.end :]) if found else (text, "")
    if before.endswith(("\n\n", "\n\r\n")):
        before = before.removesuffix("\n").removesuffix("\r")
    rest = before + after
    return rest if rest[len(head_of(rest)) :].strip("\ufeff \t\r\n") else None


def head_of(text: str) -> str:
    """Return the frontmatter that a text begins with, its fences included; "" without one."""
    found = _HEAD.match(text)
    return found[0] if found else ""


def by_hand(path: str, text: str, marks: list[str]) -> str:
    """Return what people wrote in a file: all but the blocks of these names."""
    for mark in marks:
        text = drop_block(path, text, mark) or ""
    return text.replace("\r\n", "\n").rstrip()


def digest(text: str) -> str:
    """Return the SHA-256 of a text, whatever its line breaks."""
    return text_hash(text.replace("\r\n", "\n"))


@dataclass(frozen=True)
class Chunk:
    """A stretch of a block: an entry, with the id that it names, or lines between entries."""

    text: str
    item_id: str | None = None


def chunks(body: str) -> list[Chunk]:
    """Return the entries of a block's body, and the other lines that say something."""
    found: list[Chunk] = []
    for line in body.splitlines(keepends=True):
        entry = _ENTRY.match(line)
        if entry:
            found.append(Chunk(line, entry[1]))
        elif line.startswith("  ") and found and found[-1].item_id is not None:
            found[-1] = Chunk(found[-1].text + line, found[-1].item_id)
        elif line.strip():
            found.append(Chunk(line))
    return found


def plain(entry: str) -> str:
    """Return what an entry says, without its id and its indentation."""
    lines = _ENTRY.sub("", entry, count=1).splitlines()
    return "\n".join(line.removeprefix("  ") for line in lines).strip()
