"""Cases, runs of them and what they cover, printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.entrypoints.cli.output import print_fields, print_table, say, talk

if TYPE_CHECKING:
    from core.domain.models.case_figures import CasesRun, Coverage
    from core.domain.models.cases import Case, CaseResult

_ROWS = 20


def print_case(case: Case) -> None:
    """Print one case whole."""
    from core.domain.text import compact

    body = case.body
    print_fields(
        {
            "id": case.id,
            "status": case.status,
            "since": case.since,
            "by change": case.by_change,
            "why": case.note,
            "could not be run since": case.unrun_since,
            "why it could not": case.unrun_why,
            "role": case.role,
            "check": body.check,
            "asks": body.text,
            "section": body.section,
            "inputs": compact({**body.inputs}) if body.inputs else "",
            "outputs": compact(body.outputs) if body.outputs is not None else "",
            "input": body.input,
            "output": body.output,
            "must": "; ".join(body.must),
            "must not": "; ".join(body.must_not),
            "of": f"{case.kind} {case.item_name or case.item_id}",
            "item": case.item_id,
            "tenant": case.tenant_id,
            "agent": case.agent_id,
            "made by": case.by or case.origin,
            "came with": case.change_id,
            "feedback": case.feedback_id,
            "made": case.created_at,
        }
    )


def print_run(done: CasesRun) -> None:
    """Print how each case ended, those that fail first, and how many did."""
    order = {False: 0, None: 1, True: 2}
    results = sorted(done.results, key=lambda one: order[one.passed])
    print_table(
        ("ID", "RESULT", "KIND", "ITEM", "CASE", "WHY"),
        [_row(one) for one in results],
        empty="no cases to run",
    )
    if not results:
        return
    counts = [_word(one) for one in results]
    told = [f"{counts.count(word)} {word}" for word in _WORDS.values() if word in counts]
    talk(", ".join(told))
    if done.more:
        talk("there are more: narrow the choice, or raise --limit")


def print_coverage(found: Sequence[Coverage]) -> None:
    """Print which rows of tables no case decides by."""
    for one in found:
        covered = one.rows - len(one.uncovered)
        told = f"{one.item_name}: cases decide by {covered} of {one.rows} rows"
        if one.uncovered:
            rows = ", ".join(map(str, one.uncovered[:_ROWS]))
            told += f"; none by {rows}{', …' if len(one.uncovered) > _ROWS else ''}"
        talk(told)


def print_result(result: CaseResult) -> None:
    """Print how one case ended that was just added or edited."""
    say(f"{result.case.id} {_word(result)}")
    if result.why:
        say(result.why)


_WORDS = {False: "failed", None: "not run", True: "passed"}


def _word(result: CaseResult) -> str:
    return _WORDS[result.passed]


def _row(result: CaseResult) -> tuple[object, ...]:
    from core.changes.cases.wording import case_words

    case = result.case
    words = case_words(case.body)
    return case.id, _word(result), case.kind, case.item_name or case.item_id, words, result.why
