"""What a change does, prepared for display: its files, its table, its names."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence

from core.domain.errors import RuleInvalid
from core.domain.messages import Message
from core.domain.models import Change, FileRef, Finding, Kind, Snapshot
from core.domain.ports import ChangeLog
from core.entrypoints.service.review_view.shown import (
    Diff,
    FileDiff,
    FileSide,
    FoundSpan,
    LineRow,
    ListDiff,
    RowKind,
)
from core.entrypoints.service.review_view.states import Tree, file_of, read_files, tree_of
from core.entrypoints.service.review_view.tables import table_diff
from core.entrypoints.service.review_view.texts import Room, text_diff

MAX_FILES = 200
_LARGE = 20_000  # bytes above which comparing goes to a thread, so as not to block other calls


async def diff_of(change: Change, changes: ChangeLog) -> Diff:
    """Compare the two states of a change; large ones are compared in a thread."""
    old, new = tree_of(change.kind, change.before), tree_of(change.kind, change.after)
    paths = sorted(path for path in {**old.files, **new.files} if _differ(old, new, path))
    data = await read_files((old, new), paths[:MAX_FILES], changes)
    size = sum(tree.files[p].size for tree in (old, new) for p in paths if p in tree.files)
    if size > _LARGE:
        return await asyncio.to_thread(_diff, change, old, new, paths, data)
    return _diff(change, old, new, paths, data)


def _differ(old: Tree, new: Tree, path: str) -> bool:
    return old.files.get(path) != new.files.get(path)


def _diff(
    change: Change, old: Tree, new: Tree, paths: list[str], data: Mapping[str, bytes]
) -> Diff:
    room = Room()
    shown = paths[:MAX_FILES]
    found = Diff(
        files=tuple(
            _marked(
                _file(path, old.files.get(path), new.files.get(path), data, room),
                [one for one in change.findings if (one.place or file_of(change.kind)) == path],
                data,
            )
            for path in shown
        ),
        unchanged=len({**old.files, **new.files}) - len(paths),
        more=len(paths) - len(shown),
    )
    if change.kind is Kind.DMN_RULE:
        return found.model_copy(update=_table(change.before, change.after))
    if change.kind is Kind.AGENT_SKILLS:
        return found.model_copy(update={"names": _names(change.before, change.after)})
    return found


def _table(before: Snapshot | None, after: Snapshot | None) -> dict[str, object]:
    try:
        table = table_diff(before.content if before else None, after.content if after else None)
    except RuleInvalid as error:
        return {"table_problem": error.message}
    return {"table": table}


def _names(before: Snapshot | None, after: Snapshot | None) -> ListDiff:
    old = before.content.splitlines() if before else []
    new = after.content.splitlines() if after else []
    return ListDiff(
        added=tuple(name for name in new if name not in old),
        removed=tuple(name for name in old if name not in new),
        kept=tuple(name for name in new if name in old),
    )


def _file(
    path: str, old: FileRef | None, new: FileRef | None, data: Mapping[str, bytes], room: Room
) -> FileDiff:
    kind = RowKind.ADDED if old is None else RowKind.REMOVED if new is None else RowKind.CHANGED
    plain = FileDiff(path=path, kind=kind, before=_side(old), after=_side(new))
    if old and new and old.sha256 == new.sha256:  # only its mode has changed
        return plain
    if any(ref is not None and ref.sha256 not in data for ref in (old, new)):
        return plain.model_copy(update={"problem": Message("review.file_not_stored")})
    try:
        before, after = _text(old, data), _text(new, data)
    except UnicodeDecodeError:
        return plain.model_copy(update={"binary": True})
    return plain.model_copy(update={"text": text_diff(before, after, room)})


def _marked(file: FileDiff, findings: Sequence[Finding], data: Mapping[str, bytes]) -> FileDiff:
    """Return a file with the parts of its lines marked in which something was found."""
    if not findings or file.text is None or file.after is None:
        return file
    text = data[file.after.sha256].decode("utf-8")
    found: dict[int, list[FoundSpan]] = {}
    for finding in findings:
        for number, span in _lines_of(text, finding):
            found.setdefault(number, []).append(span)
    rows = tuple(_with_found(row, found) for row in file.text.rows)
    return file.model_copy(update={"text": file.text.model_copy(update={"rows": rows})})


def _lines_of(text: str, finding: Finding) -> Iterator[tuple[int, FoundSpan]]:
    """Yield the lines that a finding is in, and its part of each."""
    number = text.count("\n", 0, finding.start) + 1
    begin = text.rfind("\n", 0, finding.start) + 1
    for line in text[begin : finding.end].split("\n"):
        start = max(0, finding.start - begin)
        if start < len(line):
            yield number, FoundSpan(start=start, end=len(line), finding=finding)
        number, begin = number + 1, begin + len(line) + 1


def _with_found(row: LineRow, found: Mapping[int, Sequence[FoundSpan]]) -> LineRow:
    line = row.right
    if line is None or line.cut or line.number not in found:
        return row
    marked = line.model_copy(update={"found": tuple(found[line.number])})
    return row.model_copy(update={"right": marked})


def _side(ref: FileRef | None) -> FileSide | None:
    return FileSide.model_validate(ref.model_dump()) if ref else None


def _text(ref: FileRef | None, data: Mapping[str, bytes]) -> str | None:
    """Decode a file as text. Raises UnicodeDecodeError if it is binary; a NUL is in no text."""
    if ref is None:
        return None
    raw = data[ref.sha256]
    if b"\0" in raw:
        raise UnicodeDecodeError("utf-8", b"\0", 0, 1, "a NUL")
    return raw.decode("utf-8")
