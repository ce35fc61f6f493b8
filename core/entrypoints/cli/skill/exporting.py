"""`skill-worker skill export`: a skill as it stands, as a folder or a `.skill` file."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.domain.errors import InvalidInput, NotFound
from core.domain.messages import Message
from core.entrypoints.cli.options import Json, Tenant
from core.entrypoints.cli.output import print_fields, print_json
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from pydantic import JsonValue

    from core.app.program import App
    from core.domain.models import Bundle

_ENDINGS = (".skill", ".zip")


def export(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the skill.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FOLDER|FILE.skill",
            help="File to write, or folder to write the skill's folder to; else NAME.skill here.",
        ),
    ] = None,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Write a skill as a .skill file or as a folder, byte for byte as it is stored."""
    from core.skills.package import write_package

    bundle = with_app(lambda opened: _stored(opened, name, tenant))
    if out is None or out.suffix in _ENDINGS:
        target = write_package(bundle, out or Path()).path
    else:
        target = _write_folder(bundle, out if out.name == name else out / name)
    size = sum(len(file.data) for file in bundle.files.values())
    fields: dict[str, JsonValue] = {
        "path": str(target),
        "name": bundle.name,
        "files": len(bundle.files),
        "size": size,
    }
    if as_json:
        print_json(fields)
    else:
        print_fields(fields)


async def _stored(opened: App, name: str, tenant: str | None) -> Bundle:
    from core.entrypoints.cli.knowledge.tenants import known_tenant, only_tenant

    if tenant is None:
        tenant = await only_tenant(opened)
    else:
        await known_tenant(opened, tenant)
    bundle = await opened.stores.skills.read(name, tenant)
    if bundle is None:
        raise NotFound(Message("no.skill", name=name), hint=Message("see.skill_names"))
    return bundle


def _write_folder(bundle: Bundle, target: Path) -> Path:
    """Write a folder that appears only once it is complete. Raises InvalidInput."""
    from core.skills.bundle import sound

    sound(bundle)
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise InvalidInput(
                Message("cli.folder_taken", path=target), hint=Message("cli.hint_other_folder")
            )
        for path, file in bundle.files.items():
            inner = draft / path
            inner.parent.mkdir(parents=True, exist_ok=True)
            inner.write_bytes(file.data)
            inner.chmod(0o755 if file.executable else 0o644)
        draft.replace(target)
    except OSError as error:
        raise InvalidInput(Message("file.unwritable", path=target, why=error)) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target
