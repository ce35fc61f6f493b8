"""Help describes an option's value in the user's words, not by its Python type."""

from __future__ import annotations

import re

import pytest

from core.entrypoints.cli.app import run

COMMANDS = (
    "agents list",
    "agents setup",
    "feedback list",
    "knowledge export",
    "knowledge import",
    "knowledge list",
    "knowledge search",
    "knowledge show",
    "rule check",
    "rule decide",
    "rule export",
    "rule import",
    "skill graph",
    "skill package",
)
_TYPED_OPTION = re.compile(r"--\S+ +<(?:str|int|path|file|list)\b")
_BARE_ARGUMENT = re.compile(r"[{\[][a-z_]+[}\]]")


@pytest.mark.parametrize("command", COMMANDS)
def test_options_and_arguments_have_names_of_their_own(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command.split(), "--help"]) == 0
    told = capsys.readouterr().out
    (usage,) = (line for line in told.splitlines() if line.startswith("Usage: "))
    assert not _BARE_ARGUMENT.search(usage)
    assert not _TYPED_OPTION.search(told)
