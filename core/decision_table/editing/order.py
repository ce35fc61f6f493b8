"""Where the rows of an edited table stand: those that stay, and new ones before or behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core.decision_table.problems import listing
from core.models import DecisionRow, MergeMode, RowEdit


def arranged(kept: Sequence[str], new: Sequence[RowEdit]) -> Iterator[str | RowEdit]:
    """Give the ids of rows that stay and the new rows, in the order in which they will stand.

    New rows stand before the row that they name, in their own order, or else at the end.
    """
    for row_id in kept:
        yield from (edit for edit in new if edit.before == row_id)
        yield row_id
    yield from (edit for edit in new if not edit.before)


def place_problems(
    rows: Sequence[RowEdit],
    known: Mapping[str, DecisionRow],
    removed: Sequence[str],
    merge_mode: MergeMode | None,
) -> list[str]:
    """Say which rows cannot stand where they ask to."""
    problems = []
    for edit in rows:
        if not edit.before:
            continue
        if merge_mode is MergeMode.REPLACE:
            problems.append("REPLACE takes the rows in the order given; leave 'before' out")
        elif edit.id:
            problems.append(
                f"row '{edit.id}' stands where it stands ('before' is for a row that is added); "
                "to move rows, call with merge_mode REPLACE and all rows in order"
            )
        elif edit.before not in known or edit.before in removed:
            there_are = listing([row_id for row_id in known if row_id not in removed])
            problems.append(f"there is no row '{edit.before}' to stand before (only {there_are})")
    return list(dict.fromkeys(problems))
