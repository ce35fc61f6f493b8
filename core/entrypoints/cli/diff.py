"""The difference that a change makes, as a unified diff of text, table rows or files."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from core.domain.hashing import sha256
from core.domain.models import Change, FileRef, Kind, Snapshot
from core.domain.ports import ChangeLog
from core.entrypoints.cli.grid import table_lines
from core.entrypoints.cli.output import reach_in_words

if TYPE_CHECKING:
    from core.changes.three_way_merge import State


async def change_diff(change: Change, log: ChangeLog) -> str:
    """Return the unified diff of a change; a skill file by file, a decision table row by row."""
    files = [*_files(change.before).values(), *_files(change.after).values()]
    if not files:
        return _text_diff(
            change.target_name,
            _lines(change.kind, change.before),
            _lines(change.kind, change.after),
        )
    blobs = await log.blobs(files)
    return files_diff(change.target_name, _files(change.before), _files(change.after), blobs)


def states_diff(kind: Kind, name: str, before: State | None, after: State | None) -> str:
    """Return the unified diff of two whole states of an item, and what becomes of its reach."""
    from core.changes.steps import to_snapshot

    old, new = (to_snapshot(state) if state else (None, None) for state in (before, after))
    if old[1] or new[1]:
        given = [*(old[1] or {}).values(), *(new[1] or {}).values()]
        blobs = {sha256(file.data): file.data for file in given}
        return files_diff(name, _files(old[0]), _files(new[0]), blobs)
    return _text_diff(name, _reaching(kind, old[0]), _reaching(kind, new[0]))


def _reaching(kind: Kind, state: Snapshot | None) -> list[str] | None:
    """Return the lines of a state, and how long and for whom it holds where it says so."""
    lines = _lines(kind, state)
    reach = reach_in_words(state.reach) if state else ""
    return [*(lines or []), f"({reach})"] if reach else lines


def files_diff(
    name: str,
    before: Mapping[str, FileRef],
    after: Mapping[str, FileRef],
    blobs: Mapping[str, bytes],
) -> str:
    """Return the diff of two folders; unchanged files are omitted."""
    parts: list[str] = []
    for path in sorted(set(before) | set(after)):
        old, new = before.get(path), after.get(path)
        if old != new:
            parts += _file_diff(f"{name}/{path}", old, new, blobs)
    return "\n".join(part for part in parts if part)


def _file_diff(
    path: str, old: FileRef | None, new: FileRef | None, blobs: Mapping[str, bytes]
) -> Iterator[str]:
    if old and new and old.executable != new.executable:
        yield f"{path}: is {'now' if new.executable else 'no longer'} executable"
    if old and new and old.sha256 == new.sha256:
        return
    try:
        yield _text_diff(path, _decoded(old, blobs), _decoded(new, blobs))
    except UnicodeDecodeError:
        yield f"{path}: binary, {old.size if old else 0} → {new.size if new else 0} bytes"


def _decoded(file: FileRef | None, blobs: Mapping[str, bytes]) -> list[str] | None:
    return None if file is None else blobs[file.sha256].decode("utf-8").splitlines()


def _lines(kind: Kind, state: Snapshot | None) -> list[str] | None:
    if state is None:
        return None
    return table_lines(state.content) if kind is Kind.DMN_RULE else state.content.splitlines()


def _text_diff(name: str, old: list[str] | None, new: list[str] | None) -> str:
    names = (
        "/dev/null" if old is None else f"a/{name}",
        "/dev/null" if new is None else f"b/{name}",
    )
    return "\n".join(difflib.unified_diff(old or [], new or [], *names, lineterm=""))


def _files(state: Snapshot | None) -> Mapping[str, FileRef]:
    return (state.files or {}) if state else {}
