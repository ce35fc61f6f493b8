"""Logs: one shape for ours and the libraries', on stderr, safe to show."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from core.app.observability import LogFormat, configure_logging
from core.domain.errors import InvalidInput
from core.domain.messages import Message


@pytest.fixture(autouse=True)
def _restored_logging() -> Iterator[None]:
    root, ours = logging.getLogger(), logging.getLogger("core")
    before = root.handlers, root.level, ours.level
    yield
    root.handlers, root.level = before[:2]
    ours.setLevel(before[2])
    structlog.reset_defaults()


def test_a_line_of_json_carries_what_is_bound(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "json")
    with structlog.contextvars.bound_contextvars(feedback_id="f1"):
        structlog.get_logger("core.x").info("feedback.claimed", text="안녕\x1b\u202e")
    out, err = capsys.readouterr()
    assert out == ""
    line = json.loads(err)
    assert line["event"] == "feedback.claimed"
    assert line["feedback_id"] == "f1"
    assert line["text"] == "안녕\x1b\u202e"
    assert line["level"] == "info"
    assert "안녕" in err
    assert "\x1b" not in err
    assert "\u202e" not in err


def test_where_no_person_watches_the_format_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "auto")
    structlog.get_logger("core.x").info("worker.started")
    assert json.loads(capsys.readouterr().err)["event"] == "worker.started"


def test_text_for_people_is_safe(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "console")
    structlog.get_logger("core.x").info("feedback.claimed", text="\x1b[2J", n=1)
    err = capsys.readouterr().err
    assert "feedback.claimed" in err
    assert "\x1b[2J" not in err


def test_a_person_at_a_command_reads_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("warning", "talk")
    structlog.get_logger("core.x").warning("directory.opened", path="/srv\x1b", why="한글")
    try:
        json.loads("{")
    except ValueError:
        structlog.get_logger("core.x").exception("loop.failed")
    first, second, *trace = capsys.readouterr().err.splitlines()
    assert first == r"warning: directory opened: path=/srv\x1b, why=한글"
    assert second == "error: loop failed"
    assert any("JSONDecodeError" in line for line in trace)


def test_a_trace_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "json")
    try:
        json.loads("{")
    except ValueError:
        structlog.get_logger("core.x").exception("loop.failed")
    assert "JSONDecodeError: Expecting" in json.loads(capsys.readouterr().err)["exception"]


@pytest.mark.parametrize("log_format", ["json", "console", "talk"])
def test_a_trace_names_what_broke_and_quotes_nothing(
    log_format: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging("info", log_format)
    log = structlog.get_logger("core.x")
    said, name = "말한 것", Message("no.item", kind="MEMORY", id="말한 것")
    group = ExceptionGroup(said, [InvalidInput(name), TypeError("str?")])
    for error in (KeyError(said), group):
        try:
            raise error  # noqa: TRY301
        except Exception:
            log.exception("loop.failed", error=name)
    logging.getLogger("asyncio").error("never retrieved\nfuture: <Task exception=%r>", said)
    logging.getLogger("httpx").warning("GET http://me:pw@h:1/skills/%s?q=x failed", said)
    told = capsys.readouterr().err
    assert said not in told
    assert "말한" not in told
    for kept in (
        "KeyError",
        "ExceptionGroup",
        "InvalidInput: there is no MEMORY",
        "TypeError: str?",
    ):
        assert kept in told
    assert ("test_observability.py" in told, "http://me:***@h:1/…" in told) == (True, True)


@pytest.mark.parametrize("name", ["procrastinate.worker", "httpx2", "nobody.has.heard.of"])
@pytest.mark.parametrize(
    ("level", "expected"),
    [("debug", ["info", "warning"]), ("info", ["warning"]), ("error", [])],
)
def test_libraries_are_quiet_below_warning_unless_debugging(
    capsys: pytest.CaptureFixture[str], name: str, level: str, expected: list[str]
) -> None:
    configure_logging(level, "json")
    library = logging.getLogger(name)
    library.debug("detail")
    library.info("chatter")
    library.warning("trouble")
    lines = capsys.readouterr().err.splitlines()
    assert [json.loads(line)["level"] for line in lines] == expected


def test_below_the_level_nothing_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("warning", "json")
    structlog.get_logger("core.x").info("feedback.claimed")
    assert capsys.readouterr().err == ""
