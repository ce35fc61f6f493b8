"""What the screen finds in what a command is given, and in all that is known."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from core.app.config_file import load_config
from core.domain.errors import SkillWorkerError
from core.domain.messages import Message
from core.domain.models import (
    Addition,
    Bundle,
    Finding,
    Kind,
    KnowledgeItem,
    ScreenSeverity,
)
from core.domain.models.base import Model, Text
from core.domain.text import decoded
from core.entrypoints.cli.files import MAX_DOCUMENT, open_input, read_text
from core.entrypoints.cli.output import print_json, print_table, say, talk
from core.safety.config import ScreenConfig
from core.safety.screen import screen, screen_skill
from core.skills.bundle import MAX_BUNDLE_BYTES, read_folder, read_skill_file

if TYPE_CHECKING:
    from core.app.program import App
    from core.app.settings import Settings
    from core.safety.plugins import PluginScreens

_PAGE = 500
_SUFFIXES = {".skill", ".zip"}


class Row(Model):
    """A finding in something that is known; without an id in what was given."""

    tenant_id: str = ""
    kind: str = ""
    id: str = ""
    name: str = ""
    finding: Finding

    @property
    def counts(self) -> bool:
        """Whether a person should look at it."""
        return self.finding.severity is ScreenSeverity.MASK or self.finding.holds


class Scanned(Model):
    """What was found in all that is known; `unread` says what could not be looked at."""

    rows: tuple[Row, ...]
    read: int
    unread: tuple[Text, ...]


def given(file: Path | None, text: str | None) -> str | Mapping[str, bytes]:
    """Return what a command is to look at: a text, or the files of a skill's folder or file."""
    if file is None:
        return text or ""
    if file.is_dir() or file.suffix.lower() in _SUFFIXES:
        return _files(_bundle(file))
    return read_text(file, most=MAX_DOCUMENT)


async def checked(what: str | Mapping[str, bytes], settings: Settings) -> Sequence[Finding]:
    """Return what the screen finds in a text, or in the files of a skill."""
    config = load_config(settings).screen
    async with _plugins(settings, config) as plugins:
        if isinstance(what, str):
            found = await _found(what, None, config, plugins)
        else:
            found = await _found_in_skill(what, config, plugins)
    return [_as_set(finding, settings) for finding in found]


@asynccontextmanager
async def _plugins(settings: Settings, config: ScreenConfig) -> AsyncIterator[PluginScreens | None]:
    if not config.plugins:
        yield None
        return
    from core.app import bootstrap

    async with bootstrap.open_screens(settings) as plugins:
        yield plugins


async def _found(
    text: str, kind: Kind | None, config: ScreenConfig, plugins: PluginScreens | None
) -> Sequence[Finding]:
    found = screen(None, text, kind=kind, config=config)
    return [*found, *(await plugins.find([Addition(text=text, kind=kind)]) if plugins else ())]


async def _found_in_skill(
    files: Mapping[str, bytes], config: ScreenConfig, plugins: PluginScreens | None
) -> Sequence[Finding]:
    found = screen_skill({}, files, config=config)
    texts = [
        Addition(place=path, text=decoded(data), kind=Kind.SKILL) for path, data in files.items()
    ]
    return [*found, *(await plugins.find(texts) if plugins else ())]


def _bundle(path: Path) -> Bundle:
    """Read a skill from its folder or file. Raises BundleInvalid, NotFound."""
    if path.is_dir():
        return read_folder(path)
    with open_input(path) as handle:
        return read_skill_file(handle.read(2 * MAX_BUNDLE_BYTES + 1)).bundle


def _files(bundle: Bundle) -> dict[str, bytes]:
    return {path: file.data for path, file in bundle.files.items()}


def _as_set(finding: Finding, settings: Settings) -> Finding:
    """Return a finding with what SCREEN makes of it."""
    if settings.screen == "note" and finding.severity is ScreenSeverity.HOLD:
        return finding.model_copy(update={"severity": ScreenSeverity.NOTE})
    return finding


async def look_through(opened: App, settings: Settings, tenant: str | None) -> Scanned:
    """Return what the screen finds in all that is known."""
    config, plugins = load_config(settings).screen, opened.stores.parts.screens
    rows: list[Row] = []
    unread: list[str] = []
    read = 0
    async for item in _items(opened, tenant):
        read += 1
        try:
            if item.kind is Kind.SKILL:
                bundle = await opened.stores.skills.read(item.id, item.tenant_id)
                files = _files(bundle) if bundle else {}
                found = await _found_in_skill(files, config, plugins)
            else:
                found = await _found(item.content, item.kind, config, plugins)
        except SkillWorkerError as error:
            unread.append(Message("screen.unread", kind=item.kind, id=item.id, why=error.message))
            continue
        rows += await _rows(opened, settings, item, found)
    return Scanned(rows=tuple(rows), read=read, unread=tuple(unread))


async def _rows(
    opened: App, settings: Settings, item: KnowledgeItem, found: Sequence[Finding]
) -> list[Row]:
    """Return the findings in an item, as they are set and allowed."""
    if not found:
        return []
    digests = [finding.digest for finding in found]
    allowed = await opened.stores.screen_records.allowed(item.tenant_id, digests)
    known = {one.digest for one in allowed}
    named = {"tenant_id": item.tenant_id, "kind": item.kind, "id": item.id, "name": item.name}
    judged = [
        _as_set(finding, settings).model_copy(update={"is_allowed": finding.digest in known})
        for finding in found
    ]
    return [Row(finding=finding, **named) for finding in judged]


async def _items(opened: App, tenant: str | None) -> AsyncIterator[KnowledgeItem]:
    """Yield all items of our tables, and the names of all skills of the store."""
    pages = opened.stores.pages
    for kind in (one for one in await opened.item_kinds() if one is not Kind.SKILL):
        last: KnowledgeItem | None = None
        while page := await pages.page(
            kind, tenant_id=tenant, agent_id=None, after=last, limit=_PAGE
        ):
            for item in page:
                yield item
            last = page[-1]
    tenants = {agent.tenant_id for agent in await opened.stores.agents.list(tenant)}
    for tenant_id in sorted(tenants):
        for skill in await opened.stores.skills.list(tenant_id):
            yield KnowledgeItem(
                id=skill.name,
                kind=Kind.SKILL,
                tenant_id=tenant_id,
                agent_id="",
                name=skill.name,
                content="",
            )


def _show(rows: Sequence[Row]) -> None:
    if not rows:
        return
    print_table(
        ("SEVERITY", "CODE", "WHERE", "SPAN", "FOUND", "TEXT"),
        [
            (
                "allowed" if row.finding.is_allowed else row.finding.severity,
                row.finding.code,
                _where(row),
                f"{row.finding.start}-{row.finding.end}",
                row.finding.text,
                row.finding.quote,
            )
            for row in rows
        ],
    )


def _where(row: Row) -> str:
    return " ".join(filter(None, (row.tenant_id, row.kind, row.id, row.finding.place)))


def show_checked(found: Sequence[Finding], *, as_json: bool) -> None:
    """Print what was found in a text or a skill, and whether it would wait."""
    would_wait = any(finding.holds for finding in found)
    if as_json:
        items: list[JsonValue] = [finding.model_dump(mode="json") for finding in found]
        print_json({"items": items, "next": None, "held": would_wait})
        return
    _show([Row(finding=finding) for finding in found])
    say(Message("screen.would_wait") if would_wait else Message("screen.would_pass"))


def show_scanned(scanned: Scanned, *, as_json: bool) -> None:
    """Print what was found in all that is known."""
    if as_json:
        items: list[JsonValue] = [row.model_dump(mode="json") for row in scanned.rows]
        unread: list[JsonValue] = [*scanned.unread]
        more: dict[str, JsonValue] = {"looked_at": scanned.read, "unread": unread}
        print_json({"items": items, "next": None, **more})
        return
    _show(scanned.rows)
    for problem in scanned.unread:
        talk(problem)
    say(Message("screen.scanned", n=scanned.read, found=len(scanned.rows)))
