"""`skill-worker new`: a package for a plug-in, with its tests, green as it stands."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from core.domain.errors import InvalidInput, Refused
from core.domain.messages import Message
from core.entrypoints.cli.exits import WrongCall, see_help
from core.entrypoints.cli.options import Json
from core.entrypoints.cli.output import print_json, say, talk

if TYPE_CHECKING:
    from collections.abc import Mapping

app = typer.Typer(help="Write a package for a plug-in.")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LONGEST = 40
Name = Annotated[str, typer.Argument(help="What it is called: lower case, with hyphens.")]
To = Annotated[
    Path, typer.Option("--to", metavar="FOLDER", help="Where its folder is made; default here.")
]


class _Kind(NamedTuple):
    """One kind of plug-in: its entry point, and what turns it on in skill-worker.yaml."""

    word: str
    group: str
    about: str
    section: str


_SOURCE = _Kind(
    "source",
    "skill_worker.sources",
    "Feedback for skill-worker from $name.",
    "sources:\n  $name:\n    said: /path/to/said.jsonl\n    ended: /path/to/ended.jsonl",
)
_SCREEN = _Kind(
    "screen",
    "skill_worker.screens",
    "A screen for skill-worker: $name.",
    "screen:\n  plugins:\n    $name:\n      words: [bluebird]",
)
_HOOK = _Kind(
    "hook",
    "skill_worker.hooks",
    "A hook for skill-worker: $name.",
    "hooks:\n- name: to-$name\n  event: change.held\n  plugin:\n    $name:\n"
    "      file: /path/to/told.jsonl",
)
_STORE = _Kind(
    "store",
    "skill_worker.stores",
    "The skills of skill-worker, kept in $name.",
    "stores:\n  skills:\n    $name:\n      file: /path/to/skills.sqlite",
)


_KIND = _Kind(
    "kind", "skill_worker.kinds", "A kind of knowledge for skill-worker: $name.", "kinds: [$name]"
)


@app.command("source")
def source(name: Name, to: To = Path(), as_json: Json = False) -> None:
    """Write a source of feedback: a class with four methods, its tests, and its entry point."""
    _new(_SOURCE, name, to, as_json=as_json)


@app.command("screen")
def screen(name: Name, to: To = Path(), as_json: Json = False) -> None:
    """Write a screen: a class that finds what may do harm, its tests, and its entry point."""
    _new(_SCREEN, name, to, as_json=as_json)


@app.command("hook")
def hook(name: Name, to: To = Path(), as_json: Json = False) -> None:
    """Write a hook: a class that is told what happens, its tests, and its entry point."""
    _new(_HOOK, name, to, as_json=as_json)


@app.command("store")
def store(name: Name, to: To = Path(), as_json: Json = False) -> None:
    """Write a store of skills: a class with six methods, its tests, and its entry point."""
    _new(_STORE, name, to, as_json=as_json)


@app.command("kind")
def kind(name: Name, to: To = Path(), as_json: Json = False) -> None:
    """Write a kind of knowledge: what it says, its tests, and its entry point."""
    _new(_KIND, name, to, as_json=as_json)


def _new(kind: _Kind, name: str, to: Path, *, as_json: bool) -> None:
    from core.domain.kinds import is_free_name

    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise WrongCall(Message("new.name", name=name), hint=see_help(f"new {kind.word}"))
    if kind is _KIND and not is_free_name(_own_name(name)):
        raise WrongCall(Message("new.name", name=name), hint=see_help("new kind"))
    if _is_taken(kind, name):
        raise WrongCall(Message("screen.name_taken", name=name), hint=see_help("new screen"))
    folder = to / f"skill-worker-{name}"
    _write(folder, _filled(kind, name))
    if as_json:
        print_json({"name": name, "path": str(folder)})
        return
    say(str(folder))
    talk(f"Next: `pip install -e '{folder}[test]'`, `pytest {folder}`, and in skill-worker.yaml:")
    talk(Template(kind.section).substitute(name=name))


def _is_taken(kind: _Kind, name: str) -> bool:
    """Whether a screen would be called like a class of findings of the worker's own."""
    from core.safety.config import TAKEN

    return kind is _SCREEN and name in TAKEN


def _own_name(name: str) -> str:
    """Return what a kind of knowledge is called that a package of this name adds."""
    return name.upper().replace("-", "_")


def _filled(kind: _Kind, name: str) -> Mapping[str, str]:
    words = {"name": name, "module": f"skill_worker_{name.replace('-', '_')}"}
    words |= {"tool": name.replace("-", "_"), "kind": _own_name(name)}
    words["title"] = name.replace("-", " ").capitalize()
    words["type"] = "".join(part.capitalize() for part in name.split("-"))
    opens = f"{words['type']}Kind" if kind is _KIND else f"open_{kind.word}"
    words |= {"group": kind.group, "opens": opens}
    words["about"] = Template(kind.about).substitute(name=name)
    folder = resources.files("core.entrypoints.cli.new")
    # No template ends in .py, since none is a module of ours.
    files = {
        "pyproject.toml": folder / "pyproject.txt",
        "README.md": folder / kind.word / "readme.txt",
        f"src/{words['module']}/__init__.py": folder / kind.word / "package.txt",
        f"tests/test_{kind.word}.py": folder / kind.word / "test.txt",
    }
    return {
        path: Template(template.read_text("utf-8")).substitute(words)
        for path, template in files.items()
    }


def _write(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of a new folder. Raises Refused, InvalidInput."""
    try:
        folder.mkdir(parents=True)
        for path, text in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except FileExistsError:
        raise Refused(Message("new.exists", path=folder)) from None
    except OSError as error:
        raise InvalidInput(Message("file.unwritable", path=folder, why=error)) from None
