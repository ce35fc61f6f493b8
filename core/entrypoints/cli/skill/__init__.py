"""`skill-worker skill`: check, package and look into skills, and draw how they hang together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from core.domain.messages import Message
from core.entrypoints.cli.exits import FAILED, WrongCall
from core.entrypoints.cli.options import Json, Tenant
from core.entrypoints.cli.output import talk
from core.entrypoints.cli.skill.exporting import export
from core.entrypoints.cli.skill.importing import import_
from core.entrypoints.cli.skill.installing import install, remove, upgrade
from core.entrypoints.cli.skill.listing import list_

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.skill_quick_validate import Problem

app = typer.Typer(help="Check, package and look into skills; draw what refers to what.")

Folder = Annotated[Path, typer.Argument(metavar="PATH", help="A skill's folder.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="A .skill file.")]


@app.command("validate")
def validate(path: Folder, as_json: Json = False) -> None:
    """Check a skill's folder; exit 1 where it breaks a rule. Warnings break none."""
    from core.domain.errors import NotFound
    from core.entrypoints.cli.skill.showing import show_verdict
    from core.skill_quick_validate import check_folder, errors_of

    if not path.is_dir():
        raise NotFound(Message("no.folder", path=path), hint=Message("see.skill_folder_or_file"))
    problems = check_folder(path)
    if not errors_of(problems):
        problems = [*problems, *_tool_problems(path)]
    show_verdict(path.resolve().name, problems, as_json=as_json)
    if errors_of(problems):
        raise typer.Exit(FAILED)


def _tool_problems(path: Path) -> Sequence[Problem]:
    """Return what a folder's skill runs that its own `allowed-tools` does not cover."""
    from core.skills.commands import tool_problems

    document = (path / "SKILL.md").read_text("utf-8")
    files = (file for file in (path / "scripts").rglob("*") if file.is_file())
    return tool_problems(document, [file.relative_to(path).as_posix() for file in files])


@app.command("package")
def package(
    path: Folder,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="PATH", help="File or folder to write; else here."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a skill's folder as a .skill file: the same bytes for the same content."""
    from core.entrypoints.cli.skill.showing import show_package
    from core.skills.bundle import read_skill_folder
    from core.skills.package import package_skill

    packaged = package_skill(read_skill_folder(path), out or Path())
    show_package(packaged, as_json=as_json)


@app.command("inspect")
def inspect(file: File, as_json: Json = False) -> None:
    """Show what a .skill file holds; exit 1 where it breaks a rule."""
    from core.entrypoints.cli.files import open_input
    from core.entrypoints.cli.skill.showing import Inspection, show_inspection
    from core.skills.bundle import MAX_BUNDLE_BYTES, NoSkill, read_skill_file

    with open_input(file) as handle:
        data = handle.read(2 * MAX_BUNDLE_BYTES + 1)
    try:
        inspection = Inspection.of(read_skill_file(data), len(data))
    except NoSkill as error:
        inspection = Inspection.unreadable(error, len(data))
    show_inspection(str(file), inspection, as_json=as_json)
    if not inspection.valid:
        raise typer.Exit(FAILED)


app.command("import")(import_)
app.command("export")(export)
app.command("install")(install)
app.command("upgrade")(upgrade)
app.command("remove")(remove)
app.command("list")(list_)


@app.command("graph")
def graph(
    tenant: Tenant = None,
    form: Annotated[
        Literal["mermaid", "dot", "json"] | None,
        typer.Option("--format", help="How to draw it; mermaid unless told."),
    ] = None,
    dangling: Annotated[
        bool,
        typer.Option("--dangling", help="Only what leads nowhere; exit 1 where there is any."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Draw a tenant's skills, their files, and which file refers to which."""
    from core.entrypoints.cli.skill.drawing import read_graph, show_graph

    if as_json and form not in {None, "json"}:
        raise WrongCall(Message("cli.json_and_format", form=form), hint=Message("history.drop_one"))
    drawn = read_graph(tenant)
    if not drawn.skills and not drawn.unreadable:
        talk("there are no skills" + (f" of tenant {tenant!r}" if tenant else ""))
    chosen = "json" if as_json else form or "mermaid"
    show_graph(drawn.only_dangling() if dangling else drawn, chosen)
    if dangling and drawn.dangling:
        raise typer.Exit(FAILED)
