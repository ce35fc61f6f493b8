"""Every error has one exit code and one shape."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.domain.errors import (
    ArtifactInvalid,
    ConfigurationError,
    DatabaseDown,
    DependencyDown,
    InvalidInput,
    NotFound,
    Refused,
    RunFailed,
    SkillWorkerError,
    Stale,
)
from core.domain.messages import Message
from core.entrypoints.cli.exits import describe, exit_code_of


def _tree(root: type[SkillWorkerError]) -> Iterator[type[SkillWorkerError]]:
    yield root
    for child in root.__subclasses__():
        yield from _tree(child)


@pytest.mark.parametrize("error", list(_tree(DependencyDown)))
def test_all_that_is_down_leaves_with_3(error: type[SkillWorkerError]) -> None:
    assert exit_code_of(error.kind) == 3


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigurationError, 4),
        (NotFound, 5),
        (Stale, 5),
        (InvalidInput, 1),
        (Refused, 1),
        (RunFailed, 1),
    ],
)
def test_each_kind_has_its_code(error: type[SkillWorkerError], code: int) -> None:
    failure = describe(error("why", hint="do this"))
    assert (failure.exit_code, failure.message, failure.hint) == (code, "why", "do this")


def test_a_failure_as_data_has_the_code_and_the_parameters_of_what_it_says() -> None:
    failure = describe(NotFound(Message("no.change", id="c1"), hint="look again"))
    assert failure.data == {
        "kind": "not_found",
        "message": "there is no change 'c1'",
        "hint": "look again",
        "code": "no.change",
        "params": {"id": "c1"},
    }
    assert describe(NotFound("plain")).data["code"] == ""  # type: ignore[index, call-overload]


def test_an_error_inside_a_group_is_found() -> None:
    group = ExceptionGroup("several", [ValueError("x"), ExceptionGroup("y", [DatabaseDown("no")])])
    assert describe(group).exit_code == 3


def test_several_problems_are_one_message() -> None:
    assert describe(ArtifactInvalid(["no name", "no steps"])).message == "no name; no steps"


def test_an_unplanned_error_names_its_type_and_how_to_see_more() -> None:
    failure = describe(RuntimeError("boom"))
    assert failure.kind == "unexpected"
    assert failure.exit_code == 1
    assert failure.message == "unexpected RuntimeError: boom"
    assert "LOG_LEVEL=debug" in failure.hint
