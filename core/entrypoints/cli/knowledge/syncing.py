"""`skill-worker knowledge sync`: what an agent knows, as the files that coding tools read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.delivery.files.layouts import LayoutName
from core.domain.errors import SkillWorkerError
from core.entrypoints.cli.exits import EDITED
from core.entrypoints.cli.knowledge.tenants import known_or_only_agent, refresh_skills
from core.entrypoints.cli.options import Json, Tenant, who
from core.entrypoints.cli.output import print_json, say, talk
from core.entrypoints.cli.session import in_app, load, run_until_stopped, with_app

if TYPE_CHECKING:
    from pydantic import JsonValue

    from core.app.program import App
    from core.delivery.files.edits import Edit
    from core.delivery.files.knowing import Known
    from core.delivery.files.sync import FileSync, Synced
    from core.domain.models import Agent
    from core.entrypoints.mcp_knowledge.watching import Watcher
    from core.entrypoints.service.agent_files import AgentFiles
    from core.entrypoints.service.session import Session

# How often a folder is looked at though no event says so: for what is over by then, and for skills
# that others changed; and while something keeps it from being written.
LOOK_SECONDS, HELD_UP_SECONDS = 30.0, 2.0


@dataclass(frozen=True)
class _Asked:
    """What the command was asked to do."""

    folder: Path
    layout: LayoutName
    agent: str | None
    tenant: str | None
    user: str | None
    prefix: str
    paths: Sequence[str]
    commits: bool
    takes_edits: bool
    overwrites: bool
    as_json: bool


def sync(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder to write to; made if it is not there.")
    ],
    layout: Annotated[LayoutName, typer.Option("--layout", help="The tool that reads it.")],
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="AGENT", help="Whose knowledge it is.")
    ] = None,
    tenant: Tenant = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="ID", help="Also what is for this end user.")
    ] = None,
    prefix: Annotated[
        str,
        typer.Option("--prefix", metavar="NAME", help="Begin names of files and skills with it."),
    ] = "",
    path: Annotated[
        list[str] | None,
        typer.Option("--path", metavar="GLOB", help="Only for files that match. May be repeated."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Stay, and write what is learnt as it is learnt.")
    ] = False,
    commit: Annotated[
        bool, typer.Option("--commit", help="Make a git commit of each change. Nothing is pushed.")
    ] = False,
    take_edits: Annotated[
        bool,
        typer.Option("--take-edits", help="Take edits by hand in as feedback, then write."),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Show edits by hand, and write over them.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write what an agent knows as its tool reads it, and leave all else as it is.

    With several agents, --agent says whose knowledge. Exit code 6: what was written before has been
    changed by hand, and nothing was written.
    """
    asked = _Asked(
        folder=folder,
        layout=layout,
        agent=agent,
        tenant=tenant,
        user=user,
        prefix=prefix,
        paths=path or (),
        commits=commit,
        takes_edits=take_edits,
        overwrites=overwrite,
        as_json=as_json,
    )
    if watch:
        _stay(asked)
    elif with_app(lambda opened: _once(opened, asked), failed=bool):
        raise typer.Exit(EDITED)


async def _once(opened: App, asked: _Asked) -> bool:
    """Write once; return whether edits by hand kept it from that."""
    job = await _job(opened, asked)
    return (await job.work()).is_held_up


def _stay(asked: _Asked) -> None:
    settings = load(interactive=True)
    run_until_stopped(
        lambda stop: in_app(settings, lambda opened: _watch(opened, asked, stop)),
        lambda: talk("Stopping. The same signal again stops at once."),
    )


async def _watch(opened: App, asked: _Asked, stop: asyncio.Event) -> None:
    """Write whenever the agent's knowledge has changed, until `stop` is set."""
    from core.entrypoints.mcp_knowledge.watching import KnowledgeChanges

    job = await _job(opened, asked)
    tenant = job.files.agent.tenant_id
    changes = KnowledgeChanges(opened.stores.feed, opened.stores.changes, tenant)
    async with changes.watching(tenant, job.files.agent.id) as watcher:
        done: Synced | None = await job.work()
        talk(f"watching what {job.files.agent.id} learns")
        while not stop.is_set():
            await _next(watcher, stop, _seconds(done))
            done = await job.work_again() if not stop.is_set() else done


async def _next(watcher: Watcher, stop: asyncio.Event, seconds: float) -> None:
    """Wait until something has changed, `stop` is set or the time is over."""
    waits = [asyncio.ensure_future(watcher.wait()), asyncio.ensure_future(stop.wait())]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)


def _seconds(done: Synced | None) -> float:
    """Return how long nothing new can be expected without an event."""
    if done is None or done.is_held_up:
        return HELD_UP_SECONDS
    if done.ends is None:
        return LOOK_SECONDS
    return min(LOOK_SECONDS, max(0.1, (done.ends - datetime.now(UTC)).total_seconds() + 0.1))


async def _job(opened: App, asked: _Asked) -> _Job:
    from core.app import bootstrap
    from core.delivery.files.rendering import Style
    from core.delivery.files.sync import FileSync
    from core.entrypoints.service.agent_files import AgentFiles

    style = Style(asked.layout, asked.prefix, asked.paths)
    agent = await known_or_only_agent(opened, asked.agent, asked.tenant)
    files = AgentFiles(_session(opened, agent), agent, asked.user)
    job = _Job(opened, asked, files)
    job.file_sync = FileSync(
        folder=bootstrap.folder(asked.folder),
        style=style,
        ask=job.known,
        on_edits=job.on_edits,
        cause_of=files.cause_of,
        repository=bootstrap.repository(asked.folder) if asked.commits else None,
    )
    return job


def _session(opened: App, agent: Agent) -> Session:
    from core.domain.models.access import Principal, Role
    from core.domain.models.audit import Via
    from core.entrypoints.service.session import Session

    principal = Principal(
        token_id="files",  # noqa: S106 - there is none
        name=who(),
        tenant_id=agent.tenant_id,
        roles=frozenset((Role.READ, Role.SUBMIT)),
    )
    return Session(opened, principal, via=Via.CLI)


@dataclass
class _Job:
    """One folder that is written, once or again and again."""

    opened: App
    asked: _Asked
    files: AgentFiles
    file_sync: FileSync = field(init=False)
    fed: dict[str, list[str]] = field(default_factory=dict)
    told: object = None

    async def known(self) -> Known:
        """Return what the agent knows, skills as others left them."""
        if self.files.agent.skills:
            await refresh_skills(self.opened, [self.files.agent.tenant_id])
        return await self.files.known()

    async def on_edits(self, edits: Sequence[Edit]) -> bool:
        """Show edits by hand once, take them in if asked to; return whether to write over them."""
        if not self.asked.as_json and self.told != edits:
            for edit in edits:
                talk(f"{edit.path} was changed by hand:")
                say(edit.diff)
        if self.asked.takes_edits:
            for path, taken in await self.files.feed_back(edits):
                self.fed.setdefault(path, []).append(taken.id)
                known = "" if taken.new else ", where it was already"
                talk(f"{path}: taken in as feedback {taken.id}{known}")
        is_taken = self.asked.takes_edits and all(edit.said for edit in edits)
        return is_taken or self.asked.overwrites

    async def work(self) -> Synced:
        """Write once, and tell what came of it. Raises SkillWorkerError."""
        self.fed = {}
        done = await self.file_sync.sync()
        self._tell(done)
        return done

    async def work_again(self) -> Synced | None:
        """Write once more; a failure is told, once, and ends nothing: the next time may do."""
        try:
            return await self.work()
        except SkillWorkerError as error:
            if self.told != error.message:
                talk(f"error: {error.message}")
                if error.hint:
                    talk(f"hint: {error.hint}")
            self.told = error.message
            return None

    def _tell(self, done: Synced) -> None:
        is_news = bool(done.written or done.removed or done.commits) or self.told != done.edits
        self.told = done.edits
        if not is_news:
            return
        if self.asked.as_json:
            print_json(self._data(done))
            return
        for warning in done.warnings:
            talk(f"warning: {warning}")
        if done.is_held_up:
            talk(
                "nothing was written: --take-edits takes this in as feedback, --overwrite drops it"
            )
            return
        for word, paths in (("wrote", done.written), ("removed", done.removed)):
            for path in paths:
                say(f"{word} {path}")
        for commit in done.commits:
            say(f"committed {commit}")
        if not (done.written or done.removed or done.commits):
            talk("nothing to write: the files say what is known")

    def _data(self, done: Synced) -> JsonValue:
        agent = self.files.agent
        edits: list[JsonValue] = [
            {"path": edit.path, "diff": edit.diff, "feedback_ids": [*self.fed.get(edit.path, ())]}
            for edit in done.edits
        ]
        return {
            "folder": self.file_sync.folder.path,
            "layout": self.asked.layout.value,
            "agent_id": agent.id,
            "tenant_id": agent.tenant_id,
            "written": [*done.written],
            "removed": [*done.removed],
            "commits": [*done.commits],
            "edits": edits,
            "warnings": [*done.warnings],
            "is_held_up": done.is_held_up,
        }
