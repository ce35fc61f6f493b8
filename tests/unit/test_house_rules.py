"""The rules of the house, as far as code can check them (docs/architecture.md lists them)."""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PORTS = ROOT / "core" / "domain" / "ports"
EVENTS = ROOT / "docs" / "reference" / "events.md"
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
MAX_TEST_NAME = 70
USUAL_FUNCTION_LINES = 10
LOG_METHODS = {"debug", "info", "warning", "error", "exception", "critical"}
EMITTERS = {"RunEvent", "_tell", "_emit", "event"}
TEST_NAME = re.compile(r"^ *(?:async )?def (test_\w+)", re.MULTILINE)
EVENT_NAME = re.compile(r"[a-z_]+\.[a-z_]+")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def _files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(_tree(path)))


def _functions(path: Path) -> Iterator[Function]:
    return (node for node in _nodes(path) if isinstance(node, Function))


def _length(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def _where(path: Path, node: Function) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"


def _strings(path: Path) -> Iterator[str]:
    for node in _nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_a_file_holds_one_idea() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in _files("core", "tests")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_FILE_LINES
    }
    assert not long


def test_functions_are_short() -> None:
    """Ruff counts statements (PLR0915), also those of tests; these are lines."""
    lengths = [_length(function) for path in _files("core") for function in _functions(path)]
    assert max(lengths) <= MAX_FUNCTION_LINES
    assert statistics.median(lengths) < USUAL_FUNCTION_LINES


def test_what_is_public_is_explained_once() -> None:
    """A method of a port is explained at the port, and again only where there is more to say."""
    silent = [
        _where(path, node)
        for path in _files("core")
        for holder, node in _public(_tree(path))
        if not ast.get_docstring(node) and not _implements_a_port(holder, node)
    ]
    assert not silent


def test_no_method_repeats_what_its_port_says() -> None:
    repeated = [
        _where(path, node)
        for path in _files("core")
        if PORTS not in path.parents
        for holder, node in _public(_tree(path))
        if isinstance(holder, ast.ClassDef) and len(node.body) > 1
        for port in _ports().values()
        if node.name in port
        and ast.get_docstring(node) == ast.get_docstring(port[node.name])
        and _implements_a_port(holder, node)
    ]
    assert not repeated


def _public(module: ast.Module) -> Iterator[tuple[ast.Module | ast.ClassDef, Function]]:
    holders: list[ast.Module | ast.ClassDef] = [
        module,
        *(n for n in module.body if isinstance(n, ast.ClassDef) and not n.name.startswith("_")),
    ]
    for holder in holders:
        for name, node in _methods(holder).items():
            if not name.startswith(("_", "test_")):
                yield holder, node


def _methods(holder: ast.Module | ast.ClassDef) -> dict[str, Function]:
    return {node.name: node for node in holder.body if isinstance(node, Function)}


@cache
def _ports() -> dict[str, dict[str, Function]]:
    ports = (n for p in _files(str(PORTS)) for n in _tree(p).body if isinstance(n, ast.ClassDef))
    return {port.name: _methods(port) for port in ports}


def _implements_a_port(holder: ast.Module | ast.ClassDef, method: Function) -> bool:
    """Whether a class has all methods of a port, and this one, with the same parameters."""
    return isinstance(holder, ast.ClassDef) and any(
        method.name in port
        and port.keys() <= _with_inherited(holder)
        and _parameters(port[method.name]) == _parameters(method)
        for port in _ports().values()
    )


def _parameters(function: Function) -> list[str]:
    return [a.arg for a in (*function.args.args, *function.args.kwonlyargs)]


def _with_inherited(holder: ast.ClassDef) -> set[str]:
    """Return the names of all methods, those of bases in `core` too."""
    bases = [
        _classes()[b.id] for b in holder.bases if isinstance(b, ast.Name) and b.id in _classes()
    ]
    return set(_methods(holder)).union(*map(_with_inherited, bases))


@cache
def _classes() -> dict[str, ast.ClassDef]:
    nodes = (node for path in _files("core") for node in _tree(path).body)
    return {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}


def test_only_settings_read_the_environment() -> None:
    readers = [
        str(path.relative_to(ROOT))
        for path in _files("core")
        # The engine of embeddings sets a variable when it is loaded, which is undone there.
        if path.name not in {"settings.py", "local_embeddings.py"}
        and re.search(r"(?<!\*\*)(?<!\")os\.(?:environ\b|getenv)", path.read_text(encoding="utf-8"))
    ]
    assert not readers


def _event_names() -> set[str]:
    names = set()
    for path in _files("core"):
        for node in _nodes(path):
            if isinstance(node, ast.Call) and _emits(node.func):
                arguments = [*node.args[:2], *(k.value for k in node.keywords if k.arg == "name")]
                constants = (a.value for a in arguments if isinstance(a, ast.Constant))
                names |= {c for c in constants if isinstance(c, str) and EVENT_NAME.fullmatch(c)}
    return names


def _emits(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute):
        return function.attr in LOG_METHODS | EMITTERS
    return isinstance(function, ast.Name) and function.id in EMITTERS


def _listed() -> set[str]:
    text = EVENTS.read_text(encoding="utf-8")
    return set(re.findall(r"^\| `([a-z_]+\.[a-z_]+)` \|", text, flags=re.MULTILINE))


def test_every_event_is_listed() -> None:
    assert _event_names()
    assert not _event_names() - _listed(), f"add them to {EVENTS.relative_to(ROOT)}"


def test_every_listed_event_exists() -> None:
    words = {word for path in _files("core") for word in _strings(path)}
    missing = {name for name in _listed() if name not in words and name.split(".")[1] not in words}
    assert not missing


def test_a_test_is_named_as_behaviour_in_at_most_70_characters() -> None:
    names = [  # a pattern reads them in a tenth of the time that a parser takes
        name
        for path in _files("core/testing", "tests")
        for name in TEST_NAME.findall(path.read_text(encoding="utf-8"))
    ]
    assert len(names) > 1_000
    assert not [name for name in names if len(name) > MAX_TEST_NAME]
