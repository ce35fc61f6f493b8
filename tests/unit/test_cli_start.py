"""The command line imports little at start, shows help and version, and explains usage errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import pytest

from core import __version__
from core.entrypoints.cli.app import command_tree, names, run
from tests.support.examples import crossed

HEAVY = (
    "alembic",
    "httpx",
    "langchain",
    "langchain_core",
    "langgraph",
    "mcp",
    "openai",
    "procrastinate",
    "psycopg",
    "pydantic_settings",
    "sqlalchemy",
    "starlette",
    "uvicorn",
)
COMMANDS = (
    "demo",
    "run",
    "agents add",
    "agents list",
    "agents import",
    "feedback add",
    "feedback list",
    "feedback show",
    "feedback retry",
    "feedback cancel",
    "intake pause",
    "intake resume",
    "intake status",
    "knowledge list",
    "knowledge show",
    "knowledge search",
    "history list",
    "history show",
    "changes list",
    "changes show",
    "changes revert",
    "rule decide",
    "serve skills",
    "serve computer-use",
    "doctor",
    "config show",
    "db migrate",
    "db status",
)


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom core.entrypoints.cli.app import run\nrun(['--help'])\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert "feedback" in done.stdout


def test_the_program_without_a_model_loads_no_library_of_models() -> None:
    heavy = ("langchain", "langchain_core", "langgraph", "core.safety.screen", "snowballstemmer")
    code = f"import core.app.program, sys; print([n for n in {heavy!r} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_command_builds_its_own_part_of_the_tree() -> None:
    assert [*command_tree("changes").commands] == ["changes"]
    assert {"changes", "run", "doctor"} <= {*command_tree().commands} == names()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command.split(), "--help"]) == 0
    assert f"Usage: skill-worker {command}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "command",
    [name for name in COMMANDS if name.split()[-1] in {"list", "show", "search", "status"}]
    + ["doctor", "demo"],
)
def test_every_read_answers_as_json(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    run([*command.split(), "--help"])
    assert "--json" in capsys.readouterr().out


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"skill-worker {__version__}\n"


def test_without_a_command_the_help_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    assert capsys.readouterr().out.startswith("Usage: skill-worker")


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["feedback"],
        ["feedback", "list", "--status", "nonsense"],
        ["feedback", "list", "--limit", "0"],
        ["feedback", "show"],
        ["feedback", "add"],
        ["feedback", "add", "x.jsonl", "--text", "x"],
        ["knowledge", "list", "--kind", "no kind"],
        ["run", "--nonsense"],
    ],
)
def test_a_wrong_call_leaves_with_2_and_points_at_help(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert "--help`" in err


def test_a_wrong_call_with_json_fails_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["feedback", "list", "--status", "nonsense", "--json"]) == 2
    out, err = capsys.readouterr()
    assert err == ""
    error = json.loads(out)["error"]
    assert error["kind"] == "usage"
    assert "nonsense" in error["message"]
    assert error["hint"] == "see `skill-worker feedback list --help`"


def test_an_argument_that_is_no_text_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["feedback", "add", "--text", "a\udcffb", "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["kind"] == "invalid"
    assert error["message"] == "argument 4 is not UTF-8 text"


def test_bytes_that_are_no_text_are_refused_by_the_real_command() -> None:
    command = [sys.executable.encode(), b"-m", b"core", b"feedback", b"add", b"--text", b"a\xffb"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: argument 4 is not UTF-8 text")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "unbuffered"),
    crossed([["--version"], ["config", "show"], ["--nonsense"]], ["", "1"]),
)
def test_a_full_disk_is_told_in_one_plain_sentence(arguments: list[str], unbuffered: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = _core(*arguments, "--json", stdout=full, PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 1
    assert done.stderr == "error: stdout cannot be written: No space left on device\n"


def test_a_closed_stdout_is_told_in_one_plain_sentence() -> None:
    command = f"exec {sys.executable} -m core --version >&-"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "error: stdout cannot be written: it is closed\n"


def test_korean_is_read_where_the_locale_knows_ascii_only() -> None:
    done = _core(
        "feedback", "list", "--status", "한글",
        stdout=subprocess.PIPE, LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0",
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("error: Invalid value for '--status': '한글' is not one of")


@pytest.mark.parametrize(("level", "shown"), [("debug", True), ("info", False)])
def test_where_it_happened_is_shown_to_who_debugs(level: str, shown: bool) -> None:
    done = _core("run", stdout=subprocess.PIPE, LOG_LEVEL=level, LLM_MODEL="")
    assert done.returncode == 4
    assert ("Traceback" in done.stderr) is shown
    assert "error: LLM_MODEL is not set" in done.stderr


def _core(
    *arguments: str, stdout: int | BinaryIO, **settings: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "core", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
        env=os.environ | settings,
    )


def test_a_reader_that_leaves_early_is_no_trace() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "core", "--help"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == b""
