"""Adding feedback: good lines are stored, bad ones are reported by line number."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby

from core.domain.errors import InvalidInput, ScreenDown
from core.domain.input_formats.agents import tenants_by_agent
from core.domain.input_formats.feedback import Line, Problem, agent_problem
from core.domain.models import Finding
from core.domain.models.base import Model
from core.domain.ports import Agents, Inbox

SOURCE = "inbox"  # with its tenant: an id is one tenant's, as by the API
_BATCH = 500


class Added(Model):
    """A line that is now in the inbox; `new` is False if it already was.

    `masked` is what was taken out of it before it was stored.
    """

    line: int
    id: str
    new: bool
    masked: tuple[Finding, ...] = ()


class Report(Model):
    """The outcome of each line."""

    added: tuple[Added, ...]
    problems: tuple[Problem, ...]


async def take_in(
    inbox: Inbox,
    agents: Agents,
    entries: Iterable[Line | Problem],
    on_progress: Callable[[int], None],
) -> Report:
    """Store good lines in batches; `on_progress` receives the bytes of each batch."""
    known = tenants_by_agent(await agents.list())
    added: list[Added] = []
    problems: list[Problem] = []
    for batch in _batches(entries):
        good, bad = _sorted(batch, known)
        problems += bad
        for tenant, own in groupby(sorted(good, key=_tenant), key=_tenant):
            await _store(inbox, f"{SOURCE}/{tenant}", [*own], added, problems)
        on_progress(sum(entry.size for entry in batch))
    added.sort(key=lambda one: one.line)
    return Report(added=tuple(added), problems=tuple(sorted(problems, key=lambda p: p.line)))


def _batches(entries: Iterable[Line | Problem]) -> Iterable[list[Line | Problem]]:
    batch: list[Line | Problem] = []
    for entry in entries:
        batch.append(entry)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _sorted(
    batch: Sequence[Line | Problem], tenants: Mapping[str, Collection[str]]
) -> tuple[list[Line], list[Problem]]:
    good: list[Line] = []
    bad: list[Problem] = []
    for entry in batch:
        reason = agent_problem(entry.piece, tenants) if isinstance(entry, Line) else entry.reason
        if isinstance(entry, Line) and reason is None:
            good.append(entry)
        else:
            number = entry.number if isinstance(entry, Line) else entry.line
            bad.append(Problem(line=number, reason=reason or ""))
    return good, bad


def _tenant(line: Line) -> str:
    return line.piece.tenant_id


async def _store(
    inbox: Inbox, source: str, lines: Sequence[Line], added: list[Added], problems: list[Problem]
) -> None:
    """Store a batch at once; if one piece is refused, one by one, so that it can be named."""
    try:
        pieces = [await inbox.masked(line.piece) for line in lines]
        stored = await inbox.add(source, pieces)
    except (InvalidInput, ScreenDown) as error:
        if len(lines) == 1:
            problems.append(Problem(line=lines[0].number, reason=error.message))
            return
        for line in lines:
            await _store(inbox, source, [line], added, problems)
    else:
        added += [
            Added(line=line.number, id=feedback_id, new=is_new, masked=piece.masked)
            for line, piece, (feedback_id, is_new) in zip(lines, pieces, stored, strict=True)
        ]
