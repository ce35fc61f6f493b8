"""The states of a text one after another, and who brought each: ours, or others between (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.models import Origin
from core.models.known import Made

OTHERS = -1
OLDER = -2


class Step(NamedTuple):
    """A state by its SHA-256, None for absence; `by` is the place of the change that made it.

    Or it is OTHERS: nobody of ours; or OLDER: a change before the first.
    """

    sha256: str | None
    by: int
    takes_back: bool = False


def steps_of(
    made: Sequence[Made], hashes: Sequence[tuple[str | None, str | None]], now: str
) -> list[Step]:
    """Give the states of a text through changes, oldest first, up to how it stands `now`.

    `hashes` are those before and after each change.
    """
    return [*_steps(made, hashes, now)]


def _steps(
    made: Sequence[Made], hashes: Sequence[tuple[str | None, str | None]], now: str
) -> Iterator[Step]:
    last: str | None = None
    for place, (one, (before, after)) in enumerate(zip(made, hashes, strict=True)):
        if before != last:
            yield Step(before, OLDER if place == 0 and _is_cut(one) else OTHERS)
        if after != before:
            yield Step(after, place, _takes_back(one))
        last = after
    if last != now or not made:
        yield Step(now, OTHERS)


def _is_cut(first: Made) -> bool:
    """Tell whether there were changes before the first that was read."""
    return first.version != 1


def _takes_back(made: Made) -> bool:
    """Tell whether a change brings back what was: a revert, a retraction, a restored version."""
    return made.takes_back or (made.by.origin is Origin.PERSON and made.by.feedback_id is None)
