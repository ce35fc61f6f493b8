"""How results of sets are printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.entrypoints.cli.output import print_fields, print_table, say

if TYPE_CHECKING:
    from core.domain.models import Usage
    from core.entrypoints.cli.evals.variants import Sides
    from core.entrypoints.evals.judging import Report


def show_report(report: Report, floor: Report | None) -> None:
    """Print what was decided as what, and the figures of the stand-in beside."""
    table = [
        (expected, decided, found.of, found.count)
        for expected, row in sorted(report.confusion().items())
        for decided, found in sorted(row.items(), key=lambda one: (one[0] != expected, one[0]))
    ]
    print_table(("EXPECTED", "DECIDED", "CASES", "RIGHT"), table)
    say("")
    columns = [report, *([floor] if floor else [])]
    rows: list[tuple[object, ...]] = [("right", *(one.right for one in columns))]
    rows += [
        (f"right, {lang or 'no language'}", *(one.by_language()[lang] for one in columns))
        for lang in report.by_language()
    ]
    rows.append(("of these kept whole", *(one.kept for one in columns)))
    rows.append(("calls", *(one.usage.model_calls for one in columns)))
    rows.append(("tokens", *(_tokens(one.usage) for one in columns)))
    rows.append(("cost", *(f"{one.usage.cost:.4f}" for one in columns)))
    print_table(("", *(one.model for one in columns)), rows)
    if report.undecided:
        n, of = len(report.undecided), len(report.results) + len(report.undecided)
        say(f"not decided: {n} of {of} cases, which count nowhere above, since the run was stopped")
    failed = [one for one in report.results if one.failed]
    for one in failed[:5]:
        say(f"failed: {one.id}: {one.failed}")
    if len(failed) > 5:
        say(f"… and {len(failed) - 5} more")


def _tokens(usage: Usage) -> str:
    return f"{usage.input_tokens} + {usage.output_tokens}"


def show_paired(sides: Sides) -> None:
    """Print which of two does better, and by how many cases."""
    found = sides.paired
    better = {"first": sides.first, "second": sides.second}.get(found.better, found.better)
    print_fields(
        {
            "A": sides.first,
            "B": sides.second,
            "cases": f"{found.cases} by {found.clusters} authors",
            "both well": found.both,
            "neither": found.neither,
            "only A": found.only_first,
            "only B": found.only_second,
            "authors for A, for B": f"{found.clusters_for_first}, {found.clusters_for_second}",
            "p (exact sign test)": f"{found.p_value:.4f}",
            "tokens A": _tokens(sides.first_usage),
            "tokens B": _tokens(sides.second_usage),
            "cost A, B": f"{sides.first_usage.cost:.4f}, {sides.second_usage.cost:.4f}",
            "better": better,
        }
    )
