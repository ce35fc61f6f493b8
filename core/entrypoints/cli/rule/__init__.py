"""`skill-worker rule`: use decision tables, learnt or from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.domain.messages import Message
from core.entrypoints.cli.exits import FAILED, WrongCall, see_help
from core.entrypoints.cli.options import AgentId, Json, Tenant
from core.entrypoints.cli.rule import checking, exporting, importing
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from core.domain.models import DecisionTable

app = typer.Typer(help="Use decision tables: learnt ones, and .dmn files.")
_STDIN = "-"


app.command("check")(checking.check)
app.command("import")(importing.import_)
app.command("export")(exporting.export)


@app.command("decide")
def decide(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME|-", help="Name of a learnt table; `-` is --stdin."),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="NAME=VALUE",
            help="An input of the table; repeat it. VALUE is JSON where it parses as JSON, else "
            "text: 한도=1000 is a number, 등급=VIP is text, and code='\"1000\"' is text too.",
        ),
    ] = None,
    stdin: Annotated[
        bool, typer.Option("--stdin", help="Read one JSON object a line, answer one a line.")
    ] = False,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE.dmn", help="A DMN file (1.1 to 1.5) instead."),
    ] = None,
    decision: Annotated[
        str | None,
        typer.Option("--decision", metavar="NAME", help="Name or id of the decision in FILE.dmn."),
    ] = None,
    agent: AgentId = None,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Decide a case, and say which rows fired and why the others did not."""
    from core.entrypoints.cli.rule.deciding import decide_lines, decide_one, read_options

    names = [word for word in words or () if word != _STDIN]
    many = stdin or _STDIN in (words or ())
    if many and inputs:
        raise _wrong(Message("cli.input_and_stdin"))
    if many and file and str(file) == _STDIN:
        raise _wrong(Message("cli.stdin_twice"))
    case = read_options(inputs or ())
    table = _table(names, file, decision, agent, tenant)
    if not many:
        decide_one(table, case, as_json=as_json)
    elif decide_lines(table, as_json=as_json):
        raise typer.Exit(FAILED)


def _table(
    names: list[str],
    file: Path | None,
    decision: str | None,
    agent: str | None,
    tenant: str | None,
) -> DecisionTable:
    if len(names) + (file is not None) != 1:
        raise _wrong(Message("cli.table_or_file"))
    if file is None and decision is not None:
        raise _wrong(Message("cli.decision_with_file"))
    if file is not None and (agent is not None or tenant is not None):
        raise _wrong(Message("cli.agent_with_table"))

    from core.decision_table import parse_xml
    from core.entrypoints.cli.files import read_text
    from core.entrypoints.cli.rule.lookup import named_rule
    from core.entrypoints.cli.rule.naming import naming

    if file is not None:
        with naming(file):
            return parse_xml(read_text(file), decision=decision)
    item = with_app(lambda opened: named_rule(opened, names[0], tenant, agent))
    return parse_xml(item.content)


def _wrong(problem: str) -> WrongCall:
    return WrongCall(problem, hint=see_help("rule decide"))
