"""`skill-worker cases add` and `edit`: what a case asks, from options or a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from core.domain.messages import Message
from core.entrypoints.cli.cases.showing import print_result
from core.entrypoints.cli.exits import FAILED, WrongCall, see_help
from core.entrypoints.cli.options import AgentId, Json, KindOption, Tenant, who
from core.entrypoints.cli.output import print_model
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from core.app.program import App
    from core.domain.models.cases import CaseBody, CaseResult

CheckName = Literal[
    "recall",
    "silence",
    "unsaid",
    "decision",
    "chosen",
    "not_chosen",
    "stands",
    "withdrawn",
    "script",
    "behaviour",
]
ItemId = Annotated[
    str, typer.Argument(metavar="ITEM", help="Id of the item, or a name that one alone has.")
]
CheckOption = Annotated[
    CheckName | None, typer.Option("--check", help="How it is checked; see docs/how-to/cases.md.")
]
TextOption = Annotated[
    str | None,
    typer.Option("--text", help="The question, request, statement, task, or path of a script."),
]
Section = Annotated[
    str | None, typer.Option("--section", help="Of a skill: the heading that it is under.")
]
Inputs = Annotated[
    str | None, typer.Option("--inputs", metavar="JSON", help="Of a table: column to value.")
]
Outputs = Annotated[
    str | None, typer.Option("--outputs", metavar="JSON", help="Of a table: what it must decide.")
]
Input = Annotated[str | None, typer.Option("--input", help="What a script reads.")]
Output = Annotated[str | None, typer.Option("--output", help="What a script must write.")]
Must = Annotated[
    list[str] | None, typer.Option("--must", help="What an answer must say; may be repeated.")
]
MustNot = Annotated[
    list[str] | None,
    typer.Option("--must-not", help="What an answer must not say; may be repeated."),
]
File = Annotated[
    Path | None,
    typer.Option("--file", metavar="FILE", help="The case as one JSON object; - reads stdin."),
]


def add(
    item_id: ItemId,
    check: CheckOption = None,
    text: TextOption = None,
    section: Section = None,
    inputs: Inputs = None,
    outputs: Outputs = None,
    input_: Input = None,
    output: Output = None,
    must: Must = None,
    must_not: MustNot = None,
    file: File = None,
    agent: AgentId = None,
    tenant: Tenant = None,
    kind: KindOption = None,
    as_json: Json = False,
) -> None:
    """Add a case to an item, and run it at once; exit 1 if it fails."""
    given = _given(check, text, section, inputs, outputs, input_, output, must, must_not)
    body = _body(given, {}, file, "cases add")

    async def work(opened: App) -> CaseResult:
        from core.entrypoints.cli.knowledge.showing import find_known
        from core.entrypoints.cli.knowledge.tenants import known_owner

        owner = await known_owner(opened, tenant, agent)
        item = await find_known(opened, item_id, owner, kind)
        return await opened.cases.add(item, body, agent_id=agent, by=who())

    _tell(with_app(work, failed=_has_failed), as_json=as_json)


def edit(
    case_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the case.")],
    check: CheckOption = None,
    text: TextOption = None,
    section: Section = None,
    inputs: Inputs = None,
    outputs: Outputs = None,
    input_: Input = None,
    output: Output = None,
    must: Must = None,
    must_not: MustNot = None,
    file: File = None,
    as_json: Json = False,
) -> None:
    """Change what a case asks or expects, and run it at once; exit 1 if it fails.

    What is not given stays. With --file the case is replaced whole.
    """
    given = _given(check, text, section, inputs, outputs, input_, output, must, must_not)

    async def work(opened: App) -> CaseResult:
        known = await opened.stores.cases.get(case_id)
        was: dict[str, JsonValue] = known.body.model_dump(mode="json")
        return await opened.cases.edit(known, _body(given, was, file, "cases edit"), by=who())

    _tell(with_app(work, failed=_has_failed), as_json=as_json)


def _has_failed(result: CaseResult) -> bool:
    return result.passed is False


def _tell(result: CaseResult, *, as_json: bool) -> None:
    if as_json:
        print_model(result)
    else:
        print_result(result)
    if _has_failed(result):
        raise typer.Exit(FAILED)


def _given(
    check: str | None,
    text: str | None,
    section: str | None,
    inputs: str | None,
    outputs: str | None,
    input_: str | None,
    output: str | None,
    must: list[str] | None,
    must_not: list[str] | None,
) -> Mapping[str, JsonValue]:
    """Return what the options say, by the fields of a case."""
    given: dict[str, JsonValue] = {
        "check": check,
        "text": text,
        "section": section,
        "input": input_,
        "output": output,
        "must": [*must] if must else None,
        "must_not": [*must_not] if must_not else None,
    }
    read = {"inputs": ("--inputs", inputs), "outputs": ("--outputs", outputs)}
    values = {name: _json(*option) for name, option in read.items() if option[1] is not None}
    return {name: value for name, value in given.items() if value is not None} | values


def _json(option: str, text: str | None) -> JsonValue:
    try:
        value: JsonValue = json.loads(text or "")
    except (ValueError, RecursionError) as error:
        raise WrongCall(Message("cases.no_json", option=option, why=error)) from None
    return value


def _body(
    given: Mapping[str, JsonValue],
    was: Mapping[str, JsonValue],
    file: Path | None,
    command: str,
) -> CaseBody:
    """Return the case that is meant. Raises WrongCall."""
    if file is not None:
        if given:
            raise WrongCall(Message("cases.file_and_options"), hint=see_help(command))
        return _checked(_read(file), command)
    if not given:
        raise WrongCall(Message("cases.nothing_given"), hint=see_help(command))
    if "check" not in {**was, **given}:
        raise WrongCall(Message("cases.no_check"), hint=see_help(command))
    return _checked({**was, **given}, command)


def _read(file: Path) -> JsonValue:
    from core.entrypoints.cli.files import MAX_DOCUMENT, read_text

    return _json(str(file), read_text(file, most=MAX_DOCUMENT))


def _checked(data: object, command: str) -> CaseBody:
    from pydantic import ValidationError

    from core.domain.input_formats.text import explain
    from core.domain.models.cases import CaseBody

    try:
        return CaseBody.model_validate(data)
    except ValidationError as error:
        raise WrongCall(
            Message("cases.unreadable", why=explain(error)), hint=see_help(command)
        ) from None
