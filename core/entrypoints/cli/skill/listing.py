"""`skill-worker skill list`: what skills there are, which were installed, and a lock of those."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from core.domain.messages import Message
from core.entrypoints.cli.exits import WrongCall
from core.entrypoints.cli.options import Json, Tenant
from core.entrypoints.cli.output import print_json, print_table, say
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from core.app.program import App
    from core.domain.models import SkillSummary
    from core.domain.models.installed import InstalledSkill

_SHOWN = 12


class _Listed(NamedTuple):
    """A skill of a tenant, or one that is only held; with what was installed, if it was."""

    tenant_id: str
    name: str
    summary: SkillSummary | None
    installed: InstalledSkill | None
    agents: Sequence[str]
    is_changed: bool

    @property
    def data(self) -> dict[str, JsonValue]:
        """The skill as JSON."""
        made: dict[str, JsonValue] = {
            "tenant_id": self.tenant_id,
            "name": self.name,
            "description": self.summary.description if self.summary else None,
            "files": self.summary.file_count if self.summary else None,
            "agents": [*self.agents],
            "installed": None,
        }
        if self.installed is not None:
            made["installed"] = {
                **self.installed.published.model_dump(mode="json", exclude={"files"}),
                "status": "held" if self.installed.is_held else "installed",
                "changed": self.is_changed,
                "change_id": self.installed.change_id,
                "at": self.installed.at.isoformat(),
            }
        return made


def list_(
    installed: Annotated[
        bool, typer.Option("--installed", help="Only those that were installed, and from where.")
    ] = False,
    tenant: Tenant = None,
    lock: Annotated[
        Path | None,
        typer.Option("--lock", metavar="FILE", help="Write what is installed as a lock file."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List skills; with --installed where each came from, and whether it was changed since."""
    if lock is not None and not installed:
        raise WrongCall(Message("cli.lock_of_installed"))
    found = with_app(lambda opened: _read(opened, tenant, installed=installed, one=bool(lock)))
    if lock is not None:
        _write(lock, found)
    if as_json:
        items: list[JsonValue] = [one.data for one in found]
        print_json({"items": items, "next": None})
    elif installed:
        _show_installed(found)
    else:
        _show(found)
    if lock is not None and not as_json:
        say(f"wrote {lock}")


def _show(found: Sequence[_Listed]) -> None:
    rows = [
        (
            *(one.name, one.tenant_id, one.summary.file_count if one.summary else ""),
            "yes" if one.installed else "",
            *(", ".join(one.agents), one.summary.description if one.summary else ""),
        )
        for one in found
    ]
    heads = ("NAME", "TENANT", "FILES", "INSTALLED", "AGENTS", "DESCRIPTION")
    print_table(heads, rows, empty="no skills")


def _show_installed(found: Sequence[_Listed]) -> None:
    heads = ("NAME", "TENANT", "STATUS", "VERSION", "DIGEST", "CHANGED", "AGENTS", "CHANGE", "FROM")
    rows = [_row(one, one.installed) for one in found if one.installed]
    print_table(heads, rows, empty="nothing is installed")


def _row(one: _Listed, installed: InstalledSkill) -> Sequence[str]:
    from core.skills.published.wording import place_of

    published = installed.published
    return (
        *(one.name, one.tenant_id, "held" if installed.is_held else "installed"),
        *(published.version, published.digest[:_SHOWN], "yes" if one.is_changed else ""),
        *(", ".join(one.agents), installed.change_id, place_of(published)),
    )


def _write(lock: Path, found: Sequence[_Listed]) -> None:
    """Write what stands as a lock file, at once or not at all. Raises InvalidInput."""
    from core.entrypoints.cli.files import open_output
    from core.skills.published.lock_file import write_lock

    standing = [one.installed for one in found if one.installed and not one.installed.is_held]
    text = write_lock(standing, lock.resolve().parent)
    with open_output(lock) as stream:
        stream.write(text)


async def _read(
    opened: App, tenant: str | None, *, installed: bool, one: bool
) -> Sequence[_Listed]:
    from core.entrypoints.cli.knowledge.tenants import known_tenant, only_tenant, tenants_of

    if tenant is not None:
        await known_tenant(opened, tenant)
    elif one:
        tenant = await only_tenant(opened)
    listed: list[_Listed] = []
    for tenant_id in await tenants_of(opened, tenant):
        listed += await _of_tenant(opened, tenant_id, only_installed=installed)
    return listed


async def _of_tenant(opened: App, tenant_id: str, *, only_installed: bool) -> list[_Listed]:
    summaries = {one.name: one for one in await opened.stores.skills.list(tenant_id)}
    whose: dict[str, list[str]] = {}
    for agent in await opened.stores.agents.list(tenant_id):
        for name in agent.skills:
            whose.setdefault(name, []).append(agent.id)
    found = await opened.stores.installed.list(tenant_id)
    made = [
        _Listed(
            tenant_id,
            one.name,
            summaries.get(one.name),
            one,
            whose.get(one.name, ()),
            await _is_changed(opened, one),
        )
        for one in found
    ]
    if not only_installed:
        known = {one.name for one in made}
        made += [
            _Listed(tenant_id, name, summary, None, whose.get(name, ()), False)
            for name, summary in summaries.items()
            if name not in known
        ]
    return sorted(made, key=lambda one: one.name)


async def _is_changed(opened: App, one: InstalledSkill) -> bool:
    """Whether a skill is another than was published: something was learnt since."""
    from core.domain.hashing import state_hash
    from core.domain.models import Snapshot
    from core.skills.bundle import bundle_hash

    bundle = None if one.is_held else await opened.stores.skills.read(one.name, one.tenant_id)
    if bundle is None:
        return False
    published = Snapshot(content="", name=one.name, files=one.published.files)
    return bundle_hash(bundle) != state_hash(published)
