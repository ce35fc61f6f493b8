"""`skill-worker skill import`: skills from folders and `.skill` files, through the change gate."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.domain.errors import InvalidInput, NotFound, SkillWorkerError, with_advice
from core.domain.messages import Message, joined
from core.entrypoints.cli.exits import FAILED
from core.entrypoints.cli.options import Json
from core.entrypoints.cli.output import print_json, print_table, say
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from pydantic import JsonValue

    from core.app.program import App
    from core.domain.models import Bundle
    from core.knowledge.transfer.importer import Imported, Importer
    from core.skill_quick_validate import Problem
    from core.skills.bundle import SkillRead

_STDIN = "-"
_ENDINGS = (".skill", ".zip")
_OUTCOMES = ("created", "updated", "known", "held", "refused")
_GO_ON = "repeat the import to go on"


@dataclass(frozen=True)
class Outcome:
    """What a skill came to: `message` is why it was refused, `warnings` are the gate's own.

    `facts` are further fields of the JSON.
    """

    source: str
    name: str
    outcome: str
    problems: Sequence[Problem] = ()
    warnings: Sequence[str] = ()
    message: str = ""
    facts: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def data(self) -> JsonValue:
        """Return the outcome as JSON."""
        from core.entrypoints.cli.skill.showing import problems_json

        return {
            "source": self.source,
            "name": self.name,
            "outcome": self.outcome,
            "message": self.message,
            "problems": problems_json(self.problems),
            "warnings": [*self.warnings],
            **self.facts,
        }


@dataclass
class Outcomes:
    """The outcomes so far, in order."""

    dry_run: bool
    found: list[Outcome] = field(default_factory=list)

    @property
    def counts(self) -> Counter[str]:
        """How many skills came to what."""
        return Counter(item.outcome for item in self.found)

    @property
    def words(self) -> str:
        """The counts in one line."""
        counted = ", ".join(
            f"{self.counts[word]} {word}" for word in _OUTCOMES if self.counts[word]
        )
        lead = "dry run, nothing was stored: " if self.dry_run else ""
        return lead + (counted or "there was nothing to import")

    def show(self, *, as_json: bool) -> None:
        """Print a table of the outcomes, and below it what there is to say about each skill."""
        if as_json:
            counts: dict[str, JsonValue] = {word: self.counts[word] for word in _OUTCOMES}
            items = [item.data for item in self.found]
            print_json({"items": items, "next": None, "counts": counts, "dry_run": self.dry_run})
            return
        if self.found:
            rows = [(item.name, item.outcome, item.source, item.message) for item in self.found]
            print_table(("SKILL", "OUTCOME", "FROM", "WHY"), rows)
            say("")
        if told := [row for item in self.found for row in _told(item)]:
            print_table(("SKILL", "SEVERITY", "RULE", "PATH", "WHAT", "HINT"), told)
            say("")
        say(self.words)


def _told(item: Outcome) -> Iterator[tuple[str, ...]]:
    name = item.name or item.source
    for problem in item.problems:
        yield name, problem.severity, problem.code, problem.path, problem.message, problem.hint
    for warning in item.warnings:
        yield name, "warning", "", "", warning, ""


def import_(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER|FILE.skill|-",
            help="Skills' folders, .skill files, folders of several; `-` is a file on stdin.",
        ),
    ],
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="TENANT", help="The tenant that gets it.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="AGENT", help="The agent that gets it, too.")
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--replace", help="Put it in place of a skill that has its name.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would happen, and store nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Bring skills in from folders and .skill files, all their files as they are.

    Sound ones go in; exit 1 where one is refused.
    """
    sources = [*dict.fromkeys(source for path in paths for source in sources_in(path))]
    outcomes = Outcomes(dry_run)
    try:
        with_app(
            lambda opened: _bring_in(opened, sources, (tenant, agent), outcomes, in_place=in_place),
            dry_run,
            failed=lambda _: outcomes.counts["refused"],
        )
    except SkillWorkerError as error:
        if outcomes.found:
            so_far = f"so far: {outcomes.words}; {_GO_ON}"
            error.hint = joined([error.hint, so_far]) if error.hint else so_far
        raise
    outcomes.show(as_json=as_json)
    if outcomes.counts["refused"]:
        raise typer.Exit(FAILED)


def sources_in(path: Path) -> list[Path]:
    """Return the skills' folders and files that a path stands for, by name. Raises NotFound."""
    if str(path) == _STDIN or path.is_file():
        return [path]
    if not path.is_dir():
        raise NotFound(Message("cli.no_file", path=path), hint=Message("cli.hint_path"))
    return [path] if _has_document(path) else [*_inside(path)] or [path]


def _inside(folder: Path) -> Iterator[Path]:
    """Yield what is in a folder of several skills: folders, those in folders of theirs, files."""
    from core.skills.validation.paths import LITTER, SKILL_MD

    for entry in sorted(folder.iterdir()):
        if entry.name in LITTER or entry.name.startswith("."):
            continue
        if not entry.is_dir():
            yield from [entry] if entry.suffix in _ENDINGS else []
        elif _has_document(entry) or entry.is_symlink() or not any(entry.rglob(SKILL_MD)):
            yield entry
        else:
            yield from _inside(entry)


def _has_document(folder: Path) -> bool:
    from core.skills.validation.paths import SKILL_MD

    return (folder / SKILL_MD).exists()


async def _bring_in(
    opened: App,
    sources: Sequence[Path],
    owner: tuple[str | None, str | None],
    outcomes: Outcomes,
    *,
    in_place: bool,
) -> None:
    importer = await _importer(opened, *owner, dry_run=outcomes.dry_run, in_place=in_place)
    for source in await asyncio.to_thread(_in_order, sources):
        outcomes.found.append(await _outcome(importer, source))
    shown = [_shown(source) for source in sources]
    outcomes.found.sort(key=lambda item: shown.index(item.source))


def _in_order(sources: Sequence[Path]) -> list[Path]:
    """Return skills after those that they refer to, so that no reference dangles for a moment."""
    from core.skills.bundle import NoSkill
    from core.skills.references import in_order

    if len(sources) == 1:
        return [*sources]
    bundles: dict[Path, Bundle] = {}
    for source in sources:
        with suppress(NoSkill, InvalidInput):
            bundles[source] = _read(source).bundle
    return [*in_order(bundles), *(source for source in sources if source not in bundles)]


def _shown(source: Path) -> str:
    return "stdin" if str(source) == _STDIN else str(source)


async def _importer(
    opened: App, tenant: str | None, agent: str | None, *, dry_run: bool, in_place: bool
) -> Importer:
    from core.app.dry_run import DrySkills
    from core.domain.input_formats.agents import tenants_by_agent
    from core.entrypoints.cli.knowledge.tenants import known_agent, only_tenant
    from core.knowledge.transfer.importer import Importer
    from core.knowledge.transfer.owners import Owners

    if agent is not None:
        tenant = (await known_agent(opened, agent, tenant)).tenant_id
    skills = opened.stores.skills
    return Importer(
        gate=opened.gate,
        changes=opened.stores.changes,
        knowledge=opened.stores.knowledge,
        skills=skills,
        owners=Owners(
            tenants_by_agent(await opened.stores.agents.list()),
            tenant or await only_tenant(opened),
            agent,
        ),
        origin="",
        replace=in_place,
        dry_run=dry_run,
        remember=skills.remember if isinstance(skills, DrySkills) else None,
    )


async def _outcome(importer: Importer, source: Path) -> Outcome:
    """Import one skill; what is wrong with it is its outcome."""
    from core.entrypoints.cli.skill.showing import count_of
    from core.knowledge.transfer.importer import OF_THE_LINE
    from core.skill_quick_validate import with_rule
    from core.skills.bundle import NoSkill

    shown, name = _shown(source), "" if str(source) == _STDIN else source.name
    try:
        read = await asyncio.to_thread(_read, source)
    except NoSkill as error:
        return Outcome(shown, name, "refused", error.problems, message=count_of(error.problems))
    except InvalidInput as error:
        return Outcome(shown, name, "refused", message=error.sentences)
    try:
        done = await _imported(replace(importer, origin=shown), read)
    except OF_THE_LINE as error:
        name = read.bundle.name
        return Outcome(shown, name, "refused", read.problems, message=error.sentences)
    ours = {with_advice(with_rule(problem), problem.hint) for problem in read.problems}
    warnings = [warning for warning in done.warnings if warning not in ours]
    return Outcome(shown, done.name, done.outcome, read.problems, warnings)


def _read(source: Path) -> SkillRead:
    """Return a skill under its own name, with its whole verdict. Raises NoSkill, InvalidInput."""
    from core.domain.models import Bundle
    from core.entrypoints.cli.files import open_input
    from core.entrypoints.cli.skill.showing import verdict_of
    from core.skill_quick_validate import errors_of
    from core.skills.bundle import (
        MAX_BUNDLE_BYTES,
        NoSkill,
        SkillRead,
        read_skill_file,
        read_skill_folder,
    )
    from core.skills.document.frontmatter import read_frontmatter

    if source.is_dir():
        read = read_skill_folder(source)
        problems = read.problems
    else:
        with open_input(source) as handle:
            read = read_skill_file(handle.read(2 * MAX_BUNDLE_BYTES + 1))
        problems = verdict_of(read)
    if errors_of(problems):
        raise NoSkill(problems)
    name = read_frontmatter(read.bundle.document).name
    return SkillRead(Bundle(name=name, files=read.bundle.files), problems)


async def _imported(importer: Importer, read: SkillRead) -> Imported:
    from core.domain.input_formats.knowledge import KnowledgeEntry, KnowledgeLine
    from core.domain.models import Kind

    name, document = read.bundle.name, read.bundle.document
    entry = KnowledgeEntry(kind=Kind.SKILL, name=name, content=document)
    line = KnowledgeLine(number=0, size=0, entry=entry, folder=read.bundle.files)
    return await importer.bring_in(line)
