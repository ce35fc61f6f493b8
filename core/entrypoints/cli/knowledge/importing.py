"""`skill-worker knowledge import`: what people have, imported line by line."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.domain.errors import SkillWorkerError
from core.domain.messages import Message, joined
from core.entrypoints.cli.exits import FAILED
from core.entrypoints.cli.options import Json
from core.entrypoints.cli.output import print_json, say, talk
from core.entrypoints.cli.session import in_app, load, run_until_stopped

if TYPE_CHECKING:
    from pydantic import JsonValue

    from core.app.program import App
    from core.app.settings import Settings
    from core.domain.input_formats.feedback import Problem
    from core.knowledge.transfer.importer import Imported, Importer

_ORDER = (Message("receipt.created"), Message("receipt.updated"), "known", "held")
# A file of much that is alike would drown what is wrong with it; --json gives all.
_SHOWN_WARNINGS = 20
_FURTHER = (
    "further warnings are only counted: --json gives them all, and with --dry-run it gives them "
    "before anything is stored"
)
_GO_ON = "repeat the import to go on"


@dataclass
class ImportSummary:
    """The outcome of the lines so far; results are retained only if all are printed at the end."""

    keep: bool
    dry_run: bool
    counts: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    warned: int = 0
    imported: list[JsonValue] = field(default_factory=list)
    problems: list[JsonValue] = field(default_factory=list)

    def add(self, result: Imported | Problem | None) -> None:
        """Count the outcome of a line, and print what a person should know of it."""
        from core.knowledge.transfer.importer import Imported

        if isinstance(result, Imported):
            self.counts[result.outcome] += 1
            self._warn(result)
            if self.keep:
                self.imported.append(result.model_dump(mode="json"))
        elif result is not None:
            self.refused += 1
            talk(f"line {result.line}: {result.reason}")
            if self.keep:
                self.problems.append(result.model_dump(mode="json", exclude={"size"}))

    @property
    def words(self) -> str:
        """Return the counts in one line."""
        words = [f"{self.counts[word]} {word}" for word in _ORDER if self.counts[word]]
        words += [f"{self.refused} refused"] if self.refused else []
        words += [f"{self.warned} with a warning"] if self.warned else []
        lead = "dry run, nothing was stored: " if self.dry_run else ""
        return lead + (", ".join(words) or "there was nothing to import")

    def show(self) -> None:
        """Print the final result."""
        if not self.keep:
            say(self.words)
            return
        counts: Mapping[str, JsonValue] = {word: self.counts[word] for word in _ORDER}
        print_json(
            {
                "items": self.imported,
                "next": None,
                "problems": self.problems,
                "counts": {**counts, "refused": self.refused},
                "dry_run": self.dry_run,
            }
        )

    def _warn(self, result: Imported) -> None:
        self.warned += bool(result.warnings)
        if result.warnings and self.warned <= _SHOWN_WARNINGS:
            more = len(result.warnings) - 1
            talk(
                f"line {result.line}: warning: {result.warnings[0]}"
                + (f" (and {more} more)" if more else "")
            )
            if self.warned == _SHOWN_WARNINGS:
                talk(_FURTHER)


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="JSONL file; `-` is stdin.")],
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant", metavar="TENANT", help="Give all to this tenant, whatever lines say."
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent", metavar="AGENT", help="Give all to this agent, whatever lines say."
        ),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Put a line in place of what has its id or name."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check every line, and store nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Bring memories, rules and skills in, one JSON object a line. Good lines go in."""
    summary = ImportSummary(keep=as_json, dry_run=dry_run)
    settings = load(interactive=True)
    with reports_progress(summary):
        run_until_stopped(
            lambda stop: _work(settings, _Asked(file, tenant, agent, replace), summary, stop),
            lambda: talk("Stopping when what has begun is stored; a second signal stops at once."),
            whole=True,
        )
    summary.show()
    if summary.refused:
        raise typer.Exit(FAILED)


@contextmanager
def reports_progress(summary: ImportSummary) -> Iterator[None]:
    """Report how far an import came, whatever interrupts it."""
    try:
        yield
    except typer.Exit:
        summary.show()
        talk(f"{_GO_ON}: what is in already stays as it is")
        raise
    except SkillWorkerError as error:
        if summary.counts:
            so_far = f"so far: {summary.words}; {_GO_ON}"
            error.hint = joined([error.hint, so_far]) if error.hint else so_far
        raise
    except Exception:
        if summary.counts or summary.refused:
            talk(f"so far: {summary.words}; {_GO_ON}")
        raise


@dataclass(frozen=True)
class _Asked:
    file: Path
    tenant_id: str | None
    agent_id: str | None
    replace: bool


async def _work(
    settings: Settings, asked: _Asked, summary: ImportSummary, stop: asyncio.Event
) -> None:
    from core.domain.input_formats.knowledge import MAX_LINE_BYTES
    from core.entrypoints.cli.files import open_input, read_lines, size_of
    from core.entrypoints.cli.progress import byte_bar
    from core.knowledge.transfer.pipeline import import_lines

    with open_input(asked.file) as handle, byte_bar("importing", size_of(asked.file)) as advance:

        def tell(result: Imported | Problem | None, size: int) -> None:
            summary.add(result)
            advance(size)

        async def bring_in(opened: App) -> None:
            importer = await _importer(opened, asked, dry_run=summary.dry_run)
            lines = read_lines(handle, MAX_LINE_BYTES, stop)
            await import_lines(lines, importer, settings.feedback_max_chars, tell)

        await in_app(settings, bring_in, dry_run=summary.dry_run, failed=lambda _: summary.refused)


async def _importer(opened: App, asked: _Asked, *, dry_run: bool) -> Importer:
    from core.entrypoints.cli.knowledge.tenants import known_agent

    tenant_id = asked.tenant_id
    if asked.agent_id is not None:
        tenant_id = (await known_agent(opened, asked.agent_id, tenant_id)).tenant_id
    return await importer_for(
        opened,
        tenant_id,
        asked.agent_id,
        origin="stdin" if str(asked.file) == "-" else asked.file.name,
        replace=asked.replace,
        dry_run=dry_run,
    )


async def importer_for(
    opened: App,
    tenant_id: str | None,
    agent_id: str | None,
    *,
    origin: str,
    replace: bool,
    dry_run: bool,
) -> Importer:
    """Return what brings knowledge in, to this tenant and agent where they are given."""
    from core.app.dry_run import DrySkills
    from core.domain.input_formats.agents import tenants_by_agent
    from core.knowledge.transfer.importer import Importer
    from core.knowledge.transfer.owners import Owners

    tenants = tenants_by_agent(await opened.stores.agents.list())
    skills = opened.stores.skills
    return Importer(
        gate=opened.gate,
        changes=opened.stores.changes,
        knowledge=opened.stores.knowledge,
        skills=skills,
        owners=Owners(tenants, tenant_id, agent_id),
        origin=origin,
        replace=replace,
        dry_run=dry_run,
        remember=skills.remember if isinstance(skills, DrySkills) else None,
    )
