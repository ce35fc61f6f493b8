"""Answers of run_shell are read alike in every shape, and nothing is read into them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from core.adapters.mcp.answers import ToolAnswer, read_answer
from core.adapters.mcp.pods import read_shell_answer
from core.domain.models import ShellResult
from tests.support.mcp_servers import shell_answer

KOREAN = "환불 규정.md\n주문 12건\n"
FIELDS = {"stdout": "out", "stderr": "err", "exit_code": 3}


def of_text(*texts: str) -> ShellResult:
    return read_shell_answer(ToolAnswer(texts))


def of_fields(value: JsonValue) -> ShellResult:
    return read_shell_answer(ToolAnswer((json.dumps(value),), value))


def result(code: int | None, stdout: str = "", stderr: str = "") -> ShellResult:
    return ShellResult(exit_code=code, stdout=stdout, stderr=stderr)


@pytest.mark.parametrize(
    "text", ["", "\n", KOREAN, "a\r\nb\r\n", "exit code of the build: 0\n", "0"]
)
def test_a_plain_text_is_stdout_without_a_status(text: str) -> None:
    assert of_text(text) == result(None, text)


def test_blocks_follow_one_another_on_lines_of_their_own() -> None:
    assert of_text("one", "two\n", "three") == result(None, "one\ntwo\nthree")


@pytest.mark.parametrize("name", ["content", "text", "output"])
def test_one_field_of_text_is_stdout(name: str) -> None:
    assert of_fields({name: KOREAN}) == result(None, KOREAN)
    assert of_text(json.dumps({name: KOREAN})) == result(None, KOREAN)


def test_a_field_may_hold_blocks() -> None:
    blocks: JsonValue = [{"type": "text", "text": "one"}, {"type": "image"}, "two"]
    assert of_fields({"content": blocks}) == result(None, "one\ntwo")


@pytest.mark.parametrize("status", ["exit_code", "exitCode", "returncode", "return_code"])
def test_fields_tell_status_and_outputs(status: str) -> None:
    fields: JsonValue = {"stdout": KOREAN, "stderr": "경고", status: 2, "duration": 0.1}
    assert of_fields(fields) == result(2, KOREAN, "경고")
    assert of_text(json.dumps(fields, ensure_ascii=False)) == result(2, KOREAN, "경고")


@pytest.mark.parametrize(
    ("given", "code"), [(0, 0), (-9, -9), ("1", 1), (None, None), (True, None), ("x", None)]
)
def test_a_status_is_a_number_or_unknown(given: JsonValue, code: int | None) -> None:
    assert of_fields({"stdout": "", "stderr": "", "exit_code": given}) == result(code)


def test_fields_may_lie_below_a_wrapper() -> None:
    assert of_fields({"result": FIELDS}) == result(3, "out", "err")
    assert of_fields({"data": {"result": FIELDS}}) == result(3, "out", "err")
    assert of_fields({"result": json.dumps(FIELDS)}) == result(3, "out", "err")
    assert of_text(json.dumps({"result": FIELDS})) == result(3, "out", "err")


def test_structured_content_counts_before_text() -> None:
    answer = ToolAnswer(("exit_code: 0\nother",), dict(FIELDS))
    assert read_shell_answer(answer) == result(3, "out", "err")


@pytest.mark.parametrize(
    "line", ["exit_code: 3", "Exit code: 3", "[exit code: 3]", "exit status 3", "returncode=3"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_header_tells_the_status(line: str, end: str) -> None:
    text = end.join([line, "STDOUT:", "한 줄", "", "STDERR:", "경고", ""])
    assert of_text(text) == result(3, f"한 줄{end}{end}", f"경고{end}")
    assert of_text(line) == result(3)
    assert of_text(line + end + "한 줄") == result(3, "한 줄")
    assert of_text(end.join([line, "STDERR:", "경고"])) == result(3, "", "경고")


def test_only_the_first_line_is_a_header() -> None:
    assert of_text("building\nexit_code: 1\n") == result(None, "building\nexit_code: 1\n")
    assert of_text("exit_code: 0\nexit_code: 1\n") == result(0, "exit_code: 1\n")
    assert of_text("exit_code: 0 files\n") == result(None, "exit_code: 0 files\n")


def test_stdout_that_looks_like_sections_is_not_lost() -> None:
    text = "exit_code: 0\nSTDOUT:\na\nSTDERR:\nb\nSTDERR:\nc"
    assert of_text(text) == result(0, "a\nSTDERR:\nb\n", "c")
    inside = "x STDERR: y\n"
    assert of_text("exit_code: 0\n" + inside) == result(0, inside)


@pytest.mark.parametrize(
    "printed",
    [
        '{"name": "refund", "output": "x"}',
        '{"exit_code": 1, "cases": []}',
        '{"stdout": "cut off',
        "[1, 2]",
        "{}",
        '{"result": {"ok": true}}',
        "{" * 10_000,
    ],
)
def test_json_that_a_command_prints_is_its_output(printed: str) -> None:
    assert of_text(printed) == result(None, printed)


def test_in_fields_the_output_is_taken_as_it_is() -> None:
    for printed in ("exit_code: 7\n", json.dumps(FIELDS), "STDERR:\n"):
        assert of_fields({**FIELDS, "stdout": printed}) == result(3, printed, "err")


@given(out=st.text(), err=st.text(), code=st.integers(-64, 255))
def test_every_shape_gives_back_what_it_was_told(out: str, err: str, code: int) -> None:
    told = result(code, out, err)
    assert read_shell_answer(read_answer(shell_answer("fields", told))) == told


LINES = st.lists(st.sampled_from(["", "가나", "PK", "}{", "exit_code: 1", "Skill is valid!"]))


@given(lines=LINES, err=st.sampled_from(["", "경고", "exit_code: 2"]), code=st.integers(0, 255))
def test_a_framed_output_is_found_whole_in_every_shape(
    lines: list[str], err: str, code: int
) -> None:
    framed = "\n".join(["<<<", *lines, ">>>", ""])
    for shape in ("string", "blocks", "output", "fields", "header"):
        found = read_shell_answer(read_answer(shell_answer(shape, result(code, framed, err))))
        assert framed in found.stdout
        assert found.exit_code in (code, None)
