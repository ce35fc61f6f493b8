"""Cases for a decision table: from options or from JSON lines, each with its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from pydantic import JsonValue

from core.decision_table import Decided, decide
from core.decision_table.cells import one_line
from core.decision_table.evaluation.compiled import compile_table
from core.domain.errors import InvalidInput
from core.domain.input_formats.json_text import parse_json
from core.domain.messages import Message, joined
from core.domain.models import DecisionTable
from core.domain.text import to_json
from core.entrypoints.cli.exits import WrongCall, describe, see_help
from core.entrypoints.cli.files import open_input
from core.entrypoints.cli.output import print_json, say, talk
from core.entrypoints.cli.rule.showing import as_data, show_decided

_BOM = b"\xef\xbb\xbf"


def read_options(options: Sequence[str]) -> dict[str, JsonValue]:
    """Return the inputs that `NAME=VALUE` options name. Raises WrongCall with all problems."""
    inputs: dict[str, JsonValue] = {}
    problems = []
    for option in options:
        name, sign, text = option.partition("=")
        name = one_line(name)
        if not sign or not name:
            problems.append(Message("cli.no_assignment", text=option))
        elif name in inputs:
            problems.append(Message("cli.input_twice", name=name))
        inputs[name] = _value(text)
    if problems:
        raise WrongCall(joined(problems), hint=see_help("rule decide"))
    return inputs


def decide_one(table: DecisionTable, case: Mapping[str, JsonValue], *, as_json: bool) -> None:
    """Decide a case and print the answer. Raises RuleInvalid."""
    decided = _decide(table, case)
    if as_json:
        print_json(as_data(decided))
    else:
        show_decided(decided)


def decide_lines(table: DecisionTable, *, as_json: bool) -> int:
    """Answer each line of stdin with a line; return how many could not be decided.

    Those are answered with an error, and without `as_json` reported on stderr too. Raises
    RuleInvalid if the table itself is wrong.
    """
    compile_table(table)
    failed = 0
    with open_input(Path("-")) as lines:
        for number, raw in enumerate(lines, start=1):
            data = raw.removeprefix(_BOM) if number == 1 else raw
            if not data.strip():
                continue
            try:
                answer = as_data(_decide(table, _case(data)))
            except InvalidInput as error:
                failed += 1
                answer = {"error": describe(error).data}
                if not as_json:
                    talk(f"line {number}: {error.message}")
            say(to_json({"line": number, **answer}, indent=None))
    return failed


def _decide(table: DecisionTable, case: Mapping[str, JsonValue]) -> Decided:
    return decide(table, case, now=datetime.now().astimezone())


def _value(text: str) -> JsonValue:
    try:
        return parse_json(text)
    except InvalidInput:
        return text


def _case(data: bytes) -> dict[str, JsonValue]:
    try:
        parsed = parse_json(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise InvalidInput(Message("input.not_utf8")) from None
    if not isinstance(parsed, dict):
        raise InvalidInput(Message("json.no_object"))
    return parsed
