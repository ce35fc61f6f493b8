"""The summary of an import: how far it came, also if it ends early."""

from __future__ import annotations

import pytest

from core.domain.errors import InvalidInput, SkillApiDown
from core.domain.models import Kind
from core.entrypoints.cli.knowledge.importing import ImportSummary, reports_progress
from core.knowledge.transfer.importer import Imported


def summary(*, lines: int = 1, warnings: tuple[str, ...] = ()) -> ImportSummary:
    given = ImportSummary(keep=False, dry_run=False)
    for line in range(1, lines + 1):
        given.add(
            Imported(
                line=line, outcome="created", kind=Kind.MEMORY, id="m", name="n", warnings=warnings
            )
        )
    return given


def test_an_error_that_nobody_planned_leaves_the_summary_and_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(ZeroDivisionError), reports_progress(summary(lines=3)):
        raise ZeroDivisionError
    out, err = capsys.readouterr()
    assert (out, err) == ("", "so far: 3 created; repeat the import to go on\n")


def test_an_error_of_ours_says_it_in_its_hint() -> None:
    with pytest.raises(SkillApiDown) as raised, reports_progress(summary()):
        raise SkillApiDown("down", hint="start it")
    assert raised.value.hint == "start it; so far: 1 created; repeat the import to go on"


def test_before_the_first_line_there_is_nothing_to_say(capsys: pytest.CaptureFixture[str]) -> None:
    for error in (ZeroDivisionError(), InvalidInput("no")):
        with pytest.raises(type(error)), reports_progress(summary(lines=0)):
            raise error
    assert capsys.readouterr().err == ""


def test_where_warnings_are_many_it_is_said_how_to_see_all_beforehand(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = summary(lines=25, warnings=("it is like m1",))
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 21
    assert "with --dry-run it gives them before anything is stored" in told[-1]
    assert given.words == "25 created, 25 with a warning"
