"""`agents setup --from DIR`: what a repository's instructions say, learnt through the gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from core.domain.errors import InvalidInput, SkillWorkerError
from core.entrypoints.cli.diff import states_diff
from core.entrypoints.cli.exits import FAILED
from core.entrypoints.cli.output import print_json, print_table, say, talk
from core.entrypoints.cli.session import with_app
from core.knowledge.instructions.reading import Repository, read_repository

if TYPE_CHECKING:
    from pydantic import JsonValue

    from core.app.program import App
    from core.changes.three_way_merge import State
    from core.domain.input_formats.knowledge import KnowledgeLine
    from core.knowledge.transfer.importer import Imported, Importer

_OUTCOMES = ("created", "updated", "known", "held", "refused")
_SHOWN_WARNINGS = 20  # a list of much that is alike would drown the rest


@dataclass(frozen=True)
class Learnt:
    """What an instruction, a skill or a table came to, and the diff of what would be learnt."""

    path: str
    line: int
    kind: str
    name: str
    outcome: str
    diff: str = ""
    why: str = ""
    warnings: tuple[str, ...] = ()
    id: str = ""

    @property
    def data(self) -> JsonValue:
        """Return it as JSON."""
        return {
            "file": self.path,
            "line": self.line,
            "kind": self.kind,
            "id": self.id,
            "name": self.name,
            "outcome": self.outcome,
            "reason": self.why,
            "warnings": [*self.warnings],
            "diff": self.diff,
        }


@dataclass
class Outcomes:
    """What all of a repository came to, in the order of its files."""

    found: Repository
    dry_run: bool
    items: list[Learnt] = field(default_factory=list)

    @property
    def has_failed(self) -> bool:
        """Whether something was refused, or could not be read."""
        unread = any(not trouble.is_note for trouble in self.found.troubles)
        return unread or any(item.outcome == "refused" for item in self.items)

    def show(self, *, as_json: bool) -> None:
        """Print what each came to; in a dry run what would be learnt, as a diff."""
        if as_json:
            self._print_json()
            return
        for trouble in self.found.troubles:
            lead = "note: " if trouble.is_note else ""
            talk(f"{trouble.path}:{trouble.line}: {lead}{trouble.why}")
        rows = [
            (f"{item.path}:{item.line}", item.outcome, item.kind, item.name, item.why)
            for item in self.items
        ]
        if rows:
            print_table(("FROM", "OUTCOME", "KIND", "WHAT", "WHY"), rows)
        self._warn()
        for item in self.items:
            if self.dry_run and item.diff:
                say(f"\n{item.diff}")
        say(self._words)

    def _warn(self) -> None:
        """Print a warning of each item that has some; of many the first."""
        warned = [item for item in self.items if item.warnings]
        for item in warned[:_SHOWN_WARNINGS]:
            more = f" (and {len(item.warnings) - 1} more)" if len(item.warnings) > 1 else ""
            talk(f"{item.path}:{item.line}: warning: {item.warnings[0]}{more}")
        if len(warned) > _SHOWN_WARNINGS:
            talk(
                f"warnings of {len(warned) - _SHOWN_WARNINGS} more are not shown: --json gives them"
                " all, and with --dry-run it gives them without storing anything"
            )

    @property
    def _words(self) -> str:
        counts = Counter(item.outcome for item in self.items)
        words = [f"{counts[word]} {word}" for word in _OUTCOMES if counts[word]]
        unread = sum(not trouble.is_note for trouble in self.found.troubles)
        words += [f"{unread} not read"] if unread else []
        lead = "dry run, nothing was stored: " if self.dry_run else ""
        return lead + (", ".join(words) or "no instructions were found")

    def _print_json(self) -> None:
        counts = Counter(item.outcome for item in self.items)
        told: list[JsonValue] = [
            {"file": one.path, "line": one.line, "reason": one.why, "note": one.is_note}
            for one in self.found.troubles
        ]
        print_json(
            {
                "items": [item.data for item in self.items],
                "next": None,
                "problems": told,
                "counts": {word: counts[word] for word in _OUTCOMES},
                "dry_run": self.dry_run,
            }
        )


def learn_from(
    folder: Path,
    agent_id: str,
    tenant: str | None,
    *,
    in_place: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Learn what a repository says, and print what came of it; exits with 1 if some was not read.

    Raises NotFound, WrongCall.
    """
    outcomes = Outcomes(read_repository(folder), dry_run)

    async def learn(opened: App) -> None:
        importer = await _importer(opened, agent_id, tenant, dry_run=dry_run, in_place=in_place)
        async for item in _learnt(outcomes.found, importer, opened.feedback_max_chars):
            outcomes.items.append(item)

    with_app(learn, dry_run, failed=lambda _: outcomes.has_failed)
    outcomes.show(as_json=as_json)
    if outcomes.has_failed:
        raise typer.Exit(FAILED)


async def _importer(
    opened: App, agent_id: str, tenant: str | None, *, dry_run: bool, in_place: bool
) -> Importer:
    from core.entrypoints.cli.knowledge.importing import importer_for
    from core.entrypoints.cli.knowledge.tenants import known_agent

    agent = await known_agent(opened, agent_id, tenant)
    return await importer_for(
        opened, agent.tenant_id, agent.id, origin="", replace=in_place, dry_run=dry_run
    )


async def _learnt(found: Repository, importer: Importer, max_chars: int) -> AsyncIterator[Learnt]:
    """Yield what everything came to: instructions by file, then tables, then skills."""
    from core.skills.references import in_order

    for path, group in groupby(found.instructions, key=lambda one: one.path):
        own = replace(importer, origin=path)
        lines = []
        for one in group:
            line = _line(one.line, {"kind": "MEMORY", "content": one.text}, max_chars)
            if isinstance(line, InvalidInput):
                yield Learnt(path, one.line, "MEMORY", _first(one.text), "refused", why=line.advice)
            else:
                lines.append(line)
        async for line, done in own.bring_in_memories(lines):
            yield _outcome(path, line, done)
    for table in found.tables:
        given = {"kind": "DMN_RULE", "name": table.name, "content": table.xml}
        yield await _alone(table.path, given, importer, max_chars)
    skills = {skill.path: skill for skill in found.skills}
    for path in in_order({path: skill.bundle for path, skill in skills.items()}):
        skill = skills[path]
        given = {"kind": "SKILL", "name": skill.bundle.name, "content": skill.bundle.document}
        line = _line(0, given, max_chars)
        if isinstance(line, InvalidInput):
            yield Learnt(skill.path, 1, "SKILL", skill.bundle.name, "refused", why=line.advice)
            continue
        whole = line.model_copy(update={"folder": skill.bundle.files})
        yield await _done(skill.path, whole, importer)


async def _alone(path: str, given: dict[str, str], importer: Importer, max_chars: int) -> Learnt:
    line = _line(0, given, max_chars)
    if isinstance(line, InvalidInput):
        return Learnt(path, 1, given["kind"], given["name"], "refused", why=line.advice)
    return await _done(path, line, importer)


async def _done(path: str, line: KnowledgeLine, importer: Importer) -> Learnt:
    from core.knowledge.transfer.importer import OF_THE_LINE

    try:
        return _outcome(path, line, await replace(importer, origin=path).bring_in(line))
    except OF_THE_LINE as error:
        return _outcome(path, line, error)


def _line(number: int, given: dict[str, str], max_chars: int) -> KnowledgeLine | InvalidInput:
    from core.domain.input_formats.knowledge import KnowledgeLine, checked_entry

    try:
        return KnowledgeLine(number=number, size=0, entry=checked_entry(given, max_chars))
    except InvalidInput as error:
        return error


def _outcome(path: str, line: KnowledgeLine, done: Imported | SkillWorkerError) -> Learnt:
    kind, name = line.entry.kind, line.entry.name or _first(line.text)
    at = line.number or 1
    if isinstance(done, SkillWorkerError):
        return Learnt(path, at, kind, name, "refused", why=done.advice)
    diff = ""
    if done.outcome != "known":
        diff = states_diff(kind, name, None, _state(line))
    warnings = tuple(map(str, done.warnings))
    return Learnt(path, at, kind, name, done.outcome, diff, "", warnings, done.id)


def _state(line: KnowledgeLine) -> State:
    from core.changes.three_way_merge import State
    from core.domain.models import SKILL_MD

    files = None
    if line.folder is not None:
        files = {name: file for name, file in line.folder.items() if name != SKILL_MD}
    return State(line.text, line.entry.name or "", files)


def _first(text: str) -> str:
    from core.domain.hashing import memory_name

    return memory_name(text)
