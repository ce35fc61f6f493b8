"""`skill-worker rule import`: tables that people have, taken as they are, through the gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.domain.messages import Message
from core.domain.text import one_line
from core.entrypoints.cli.exits import FAILED, WrongCall, see_help
from core.entrypoints.cli.options import Json
from core.entrypoints.cli.output import print_json, say, talk
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from pydantic import JsonValue

    from core.app.program import App
    from core.domain.models import Receipt
    from core.entrypoints.cli.rule.documents import Document

_SAME_NAME = "same name"


def refusal(document: Document, receipt: Receipt) -> tuple[str, list[str]]:
    """Return the reason with what to do, and the findings that stand in the way, one per line."""
    if receipt.hits:
        return _in_the_way(receipt), []
    findings = _findings(document, receipt)
    if not findings:
        return receipt.message, []
    count = Message("rule.errors", n=len(findings))
    if len(findings) == 1:
        count = Message("rule.one_error")
    return (Message("rule.table_errors", count=count, file=document.file), findings)


def _in_the_way(receipt: Receipt) -> str:
    hit = receipt.hits[0]
    if hit.why == _SAME_NAME:
        return Message("rule.name_taken", name=hit.name, id=hit.id)
    return Message("rule.same_columns", name=hit.name, id=hit.id)


def _findings(document: Document, receipt: Receipt) -> list[str]:
    """Return the errors of the table, if it is these that the receipt reports."""
    from core.decision_table import check_table, parse_xml
    from core.domain.models import Severity

    table = parse_xml(document.xml)
    errors = [found for found in check_table(table) if found.severity is Severity.ERROR]
    if not any(found.message in receipt.message for found in errors):
        return []
    return [f"[{found.kind}] {one_line(found.message)}" for found in errors]


@dataclass(frozen=True)
class _Asked:
    agent_id: str
    tenant_id: str | None
    replace: bool
    unrelated: str
    dry_run: bool


@dataclass
class _Outcomes:
    """The outcome of each table; problems are also printed as they occur."""

    items: list[JsonValue] = field(default_factory=list)
    problems: list[JsonValue] = field(default_factory=list)

    def done(self, document: Document, receipt: Receipt) -> None:
        """Record a receipt, and print its warnings."""
        for warning in receipt.warnings:
            talk(f"{document.file}: warning: {warning}")
        for name in document.left_out:
            talk(f"{document.file}: left out: the table of '{name}'")
        for note in document.notes:
            talk(f"{document.file}: note: {note}")
        if not receipt.status.is_outcome:
            self.failed(document.file, *refusal(document, receipt))
            return
        outcomes = receipt.model_dump(mode="json", exclude={"hits", "category"})
        asides: dict[str, JsonValue] = {
            "left_out": [*document.left_out],
            "not_evaluated": [*document.notes],
        }
        self.items.append({"file": document.file, **asides, **outcomes})

    def failed(self, file: str, reason: str, findings: Sequence[str] = ()) -> None:
        """Record why a file was not imported, and print it; each finding on a line of its own."""
        talk(f"{file}: {reason}")
        for finding in findings:
            talk(f"  {finding}")
        self.problems.append({"file": file, "reason": reason, "findings": [*findings]})


def import_(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE.dmn", help="DMN files (1.1 to 1.5); `-` is stdin.")
    ],
    agent: Annotated[
        str, typer.Option("--agent", metavar="AGENT", help="Agent that the tables are for.")
    ],
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", metavar="TENANT", help="Tenant that the agent has to belong to."),
    ] = None,
    decision: Annotated[
        list[str] | None,
        typer.Option(
            "--decision",
            metavar="NAME",
            help="Decision of a file that holds several, else all; repeat it.",
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put a file in place of the table of that name.")
    ] = False,
    unrelated: Annotated[
        str,
        typer.Option(
            "--unrelated",
            metavar="REASON",
            help="Why a file is a table of its own beside one with the same columns.",
        ),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check every file, and store nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Bring .dmn files in, each table as a rule of its own. Good tables go in, others are named.

    A file of one table is stored byte for byte. What is in already stays as it is.
    """
    if decision and len(files) > 1:
        raise WrongCall(Message("cli.decision_one_file"), hint=see_help("rule import"))
    asked = _Asked(agent, tenant, replace, unrelated.strip(), dry_run)
    outcomes = _Outcomes()
    documents = [found for file in files for found in _read(file, decision or (), outcomes)]
    _submit(documents, asked, outcomes)
    if as_json:
        problems = outcomes.problems
        print_json(
            {"items": outcomes.items, "next": None, "problems": problems, "dry_run": dry_run}
        )
    else:
        for item in outcomes.items:
            assert isinstance(item, dict)
            say(f"{item['file']}: {item['status']}: {item['message']}")
    if outcomes.problems:
        raise typer.Exit(FAILED)


def _read(
    file: Path, decisions: tuple[str, ...] | list[str], outcomes: _Outcomes
) -> list[Document]:
    """Return the tables of a file; one that cannot be read is a problem of its own."""
    from core.domain.errors import InvalidInput, NotFound
    from core.entrypoints.cli.rule.documents import documents_of

    try:
        documents, problems = documents_of(file, decisions)
    except (InvalidInput, NotFound) as error:
        documents, problems = [], [error.sentences]
    for problem in problems:
        outcomes.failed(str(file), problem)
    return documents


def _submit(documents: list[Document], asked: _Asked, outcomes: _Outcomes) -> None:
    from core.domain.errors import InvalidInput, Refused
    from core.entrypoints.cli.rule.documents import Importer

    async def take_all(app: App) -> None:
        importer = await _importer(app)
        for document in documents:
            try:
                outcomes.done(document, await importer.take(document))
            except (InvalidInput, Refused) as error:
                outcomes.failed(document.file, error.sentences)

    async def _importer(app: App) -> Importer:
        return await Importer.open(
            app,
            asked.agent_id,
            asked.tenant_id,
            replace=asked.replace,
            unrelated=asked.unrelated,
        )

    with_app(take_all, asked.dry_run, failed=lambda _: outcomes.problems)
