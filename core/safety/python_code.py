"""What a Python program does that may do harm, by its syntax tree."""

from __future__ import annotations

import ast
import base64
import binascii
import re
import shlex
import warnings
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from core.safety.python_names import (
    BROAD,
    DECODES,
    EVALUATES,
    FETCHES,
    LOADS,
    REMOVES,
    RUNS,
    SENDS,
)
from core.safety.surroundings import PERSISTENT, SECRETS, Found, Surroundings

_LONGEST = 100_000
_DEPTH = 12
_LONGEST_PATH = 300
_WALKS = {"rglob", "glob", "iterdir", "walk", "resolve", "absolute", "expanduser"}
_PASSES_ON = {
    "Path",
    "expanduser",
    "walk",
    "listdir",
    "scandir",
    "iglob",
    "glob",
    "list",
    "sorted",
    "str",
    "expandvars",
    "join",
}


def python_findings(code: str, around: Surroundings) -> list[Found] | None:
    """Return what a program does that may do harm, by spans of it; None if it cannot be parsed."""
    if len(code) > _LONGEST:  # nobody reads it
        return [("code.hides", 0, len(code))]
    tree = _parsed(code)
    return None if tree is None else list(_Program(code, tree, around).findings())


def _parsed(code: str) -> ast.Module | None:
    from textwrap import dedent

    cleaned = re.sub(r"^(\s*)(?:>>>|\.\.\.) ", r"\1", code, flags=re.MULTILINE)
    for text in (code, dedent(code), dedent(cleaned)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


class _Program:
    """One program: its names, what was assigned to them, and what its calls do."""

    def __init__(self, code: str, tree: ast.Module, around: Surroundings) -> None:
        self._around = around
        self._lines = code.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self._names: dict[str, str] = {}
        self._values: dict[str, list[ast.expr]] = defaultdict(list)
        self._bodies: dict[str, list[ast.expr]] = defaultdict(list)
        self._nodes = list(ast.walk(tree))
        for node in self._nodes:
            self._learn(node)

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._learn_import(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            returned = (one for one in ast.walk(node) if isinstance(one, ast.Return))
            self._bodies[node.name] += [one.value for one in returned if one.value is not None]
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            self._assign(node.target, node.value)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            self._assign(node.target, node.iter)
        elif isinstance(node, ast.withitem):
            self._assign(node.optional_vars, node.context_expr)

    def _learn_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for one in node.names:
            first = one.name.partition(".")[0]
            if isinstance(node, ast.ImportFrom):
                self._names[one.asname or one.name] = f"{node.module or ''}.{one.name}"
            else:
                self._names[one.asname or first] = one.name if one.asname else first

    def _assign(self, target: ast.expr | None, value: ast.expr | None) -> None:
        if target is None or value is None:
            return
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                self._values[node.id].append(value)

    def findings(self) -> Iterator[Found]:
        for node in self._nodes:
            if isinstance(node, ast.Call):
                for code in self._call(node):
                    yield code, *self._span(node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from self._constant(node)
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                path = self._path(node)
                if path and SECRETS.search(path):
                    yield "code.reads_credentials", *self._span(node)

    def _span(self, node: ast.expr) -> tuple[int, int]:
        def at(line: int, column: int) -> int:
            text = self._lines[line - 1] if line <= len(self._lines) else ""
            return self._starts[min(line, len(self._starts)) - 1] + len(
                text.encode("utf-8", "replace")[:column].decode("utf-8", "replace")
            )

        return at(node.lineno, node.col_offset), at(
            node.end_lineno or node.lineno, node.end_col_offset or 0
        )

    def _constant(self, node: ast.Constant) -> Iterator[Found]:
        text = str(node.value)
        prose = " " in text.strip() and not text.startswith(("/", "~"))
        if len(text) > _LONGEST_PATH or "\n" in text or prose:
            return
        if SECRETS.search(text) and re.search(r"[/~.]", text) and not re.search(r"[\\^|()+]", text):
            yield "code.reads_credentials", *self._span(node)
        if PERSISTENT.search(text) and not re.search(r"[\\^|()+]", text):
            yield "code.persists", *self._span(node)

    # ---- names and values

    def _name(self, node: ast.expr, depth: int = 0) -> str:
        """Return the dotted name of what is called, imports and aliases resolved."""
        if isinstance(node, ast.Name):
            known = self._names.get(node.id)
            if known:
                return known
            for value in self._values.get(node.id, [])[:3] if depth < _DEPTH else []:
                if isinstance(
                    value, ast.Attribute | ast.Name | ast.Call
                ) and not self._is_plain_call(value):
                    return self._name(value, depth + 1)
            return node.id
        if isinstance(node, ast.Attribute):
            return (
                f"{self._name(node.value, depth + 1)}.{node.attr}" if depth < _DEPTH else node.attr
            )
        if isinstance(node, ast.Call):
            return self._named_by_call(node, depth)
        return ""

    def _is_plain_call(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and not (
            (isinstance(node.func, ast.Name) and node.func.id in ("getattr", "__import__"))
            or (
                isinstance(node.func, ast.Attribute)
                and node.func.attr
                in (
                    "import_module",
                    "Session",
                    "Client",
                    "ClientSession",
                    "AsyncClient",
                    "PoolManager",
                )
            )
        )

    def _named_by_call(self, node: ast.Call, depth: int) -> str:
        called = self._name(node.func, depth + 1) if depth < _DEPTH else ""
        if called in ("__import__", "importlib.import_module") and node.args:
            return self._fold(node.args[0]) or "?"
        if called == "getattr" and len(node.args) >= 2:
            return f"{self._name(node.args[0], depth + 1)}.{self._fold(node.args[1]) or '?'}"
        return called

    def _fold(self, node: ast.expr, depth: int = 0) -> str:
        """Return the text that an expression comes to, as far as it is known; "" if not."""
        if depth > _DEPTH:
            return ""
        if isinstance(node, ast.Constant):
            value = node.value
            return (
                value
                if isinstance(value, str)
                else value.decode("latin-1")
                if isinstance(value, bytes)
                else str(value)
            )
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
            return self._fold(node.left, depth + 1) + self._fold(node.right, depth + 1)
        if isinstance(node, ast.JoinedStr):
            return "".join(
                self._fold(part, depth + 1) if isinstance(part, ast.Constant) else "$X"
                for part in node.values
            )
        if isinstance(node, ast.Name) and len(self._values.get(node.id, ())) == 1:
            return self._fold(self._values[node.id][0], depth + 1)
        if isinstance(node, ast.Call):
            return self._fold_call(node, depth)
        if isinstance(node, ast.List | ast.Tuple):
            return " ".join(self._fold(part, depth + 1) for part in node.elts)
        return ""

    def _fold_call(self, node: ast.Call, depth: int) -> str:
        name = self._name(node.func, depth + 1)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "join" and node.args:
            codes = [
                one.value
                for one in ast.walk(node.args[0])
                if isinstance(one, ast.Constant) and isinstance(one.value, int)
            ]
            if (
                codes
                and "chr" in ast.dump(node.args[0])
                and not any(isinstance(one, ast.BinOp) for one in ast.walk(node.args[0]))
            ):
                return "".join(chr(one) for one in codes if 0 <= one < 0x110000)
        if name.endswith("b64decode") and node.args:
            try:
                return base64.b64decode(self._fold(node.args[0], depth + 1), validate=False).decode(
                    "utf-8", "replace"
                )
            except (ValueError, binascii.Error):
                return ""
        if isinstance(node.func, ast.Attribute) and node.func.attr in (
            "decode",
            "strip",
            "format",
            "encode",
            "lower",
        ):
            return self._fold(node.func.value, depth + 1)
        if (
            name
            in (
                "os.path.join",
                "pathlib.Path",
                "Path",
                "os.path.expanduser",
                "str",
                "shlex.split",
                "os.path.expandvars",
            )
            and node.args
        ):
            return "/".join(self._fold(part, depth + 1) for part in node.args)
        return ""

    def _path(self, node: ast.expr, depth: int = 0) -> str:
        """Return a path built by `/`, as far as it is known."""
        if depth > _DEPTH:
            return ""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return f"{self._path(node.left, depth + 1)}/{self._path(node.right, depth + 1)}"
        if isinstance(node, ast.Call):
            name = self._name(node.func)
            if name.endswith("Path.home"):
                return "~"
        if isinstance(node, ast.Name) and len(self._values.get(node.id, ())) == 1:
            return self._path(self._values[node.id][0], depth + 1)
        return self._fold(node)

    def _origins(
        self, node: ast.expr, depth: int = 0, seen: frozenset[str] = frozenset()
    ) -> set[str]:
        """Return where a value comes from: net, decoded, file, environment, secret."""
        origins: set[str] = set()
        if depth > _DEPTH:
            return origins
        for part in ast.walk(node):
            if isinstance(part, ast.Call):
                origins.update(self._origins_of_call(part))
            elif isinstance(part, ast.Attribute) and self._name(part).endswith(".environ"):
                origins.add("environment")
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                if len(part.value) < _LONGEST_PATH and SECRETS.search(part.value):
                    origins.add("secret")
            elif isinstance(part, ast.Name) and part.id not in seen:
                for value in [
                    *self._values.get(part.id, [])[:5],
                    *self._bodies.get(part.id, [])[:5],
                ]:
                    origins |= self._origins(value, depth + 1, seen | {part.id})
        return origins

    def _origins_of_call(self, node: ast.Call) -> Iterator[str]:
        name = self._name(node.func)
        if FETCHES.match(name):
            yield "net"
        if DECODES.match(name) or name.endswith((".fromhex", ".b64decode", ".decompress")):
            yield "decoded"
        if name in ("bytes", "bytearray") and node.args and isinstance(node.args[0], ast.List):
            yield "decoded"
        if name == "map" and node.args and self._name(node.args[0]) == "chr":
            yield "decoded"
        if name in ("open", "io.open") or name.endswith((".read_text", ".read_bytes", ".read")):
            yield "file"

    # ---- calls

    def _call(self, node: ast.Call) -> Iterator[str]:
        name = self._name(node.func)
        origins = set[str]()
        for arg in [*node.args, *(keyword.value for keyword in node.keywords)]:
            origins |= self._origins(arg)
        if name in EVALUATES or name in LOADS:
            if "net" in origins:
                yield "code.runs_fetched"
            elif (
                "decoded" in origins
                or (name == "exec" and re.search(r"\\x[0-9a-f]{2}", ast.unparse(node)[:2000]))
                or (self._is_parameter(node) and self._decodes)
            ):
                yield "code.hides"
            elif name in ("exec", "eval") and node.args:
                yield from self._evaluated(node.args[0])
        if "?" in name or (
            "decoded" in origins
            and name in ("getattr", "__import__", "importlib.import_module", "setattr")
        ):
            yield "code.hides"
        if isinstance(node.func, ast.Call | ast.Name) and self._is_computed(node.func):
            yield "code.hides"
        if RUNS.match(name):
            yield from self._subprocess(node, origins)
        yield from self._network(node, name, origins)
        yield from self._deletion(node, name)
        yield from self._reaches(name)

    def _reaches(self, name: str) -> Iterator[str]:
        if name.startswith(("keyring.get_", "browser_cookie3.", "win32crypt.")):
            yield "code.reads_credentials"
        if name in ("os.dup2", "pty.spawn") and "socket" in self._names.values():
            yield "code.phones_out"

    def _is_parameter(self, node: ast.Call) -> bool:
        """Whether what is run is a name that nothing is assigned to: a parameter."""
        arg = node.args[0] if node.args else None
        return isinstance(arg, ast.Name) and arg.id not in self._values

    @cached_property
    def _decodes(self) -> bool:
        calls = (node for node in self._nodes if isinstance(node, ast.Call))
        return any("decoded" in self._origins_of_call(node) for node in calls)

    def _is_computed(self, func: ast.expr) -> bool:
        """Whether what is called was looked up by a name that is only computed."""
        values = (
            [func] if isinstance(func, ast.Call) else self._values.get(getattr(func, "id", ""), [])
        )
        return any(
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Name)
            and value.func.id in ("getattr", "__import__", "globals", "vars")
            and any("decoded" in self._origins(arg) for arg in value.args)
            for value in values
        )

    def _evaluated(self, node: ast.expr) -> Iterator[str]:
        text = self._fold(node)
        if 10 < len(text) < _LONGEST:
            yield from self._around.codes_of("python", text)

    def _subprocess(self, node: ast.Call, origins: set[str]) -> Iterator[str]:
        if "net" in origins:
            yield "code.runs_fetched"
        elif "decoded" in origins:
            yield "code.hides"
        command = self._command(node.args[0]) if node.args else ""
        if command:
            yield from self._around.codes_of("shell", command)

    def _command(self, node: ast.expr) -> str:
        if isinstance(node, ast.List | ast.Tuple):
            return shlex.join(self._fold(part) or "$X" for part in node.elts)
        return self._fold(node)

    def _network(self, node: ast.Call, name: str, origins: set[str]) -> Iterator[str]:
        sends = bool(SENDS.match(name))
        if FETCHES.match(name):
            method = next(
                (self._fold(word.value) for word in node.keywords if word.arg == "method"), ""
            )
            body = any(
                word.arg in ("data", "json", "files", "content")
                and not (isinstance(word.value, ast.Constant) and word.value.value is None)
                for word in node.keywords
            )
            body = body or (
                len(node.args) > 1
                and not name.endswith(("urlretrieve", ".get", "Session", "Client"))
            )
            sends = (
                sends
                or body
                or method.upper() in ("POST", "PUT", "PATCH")
                or bool(origins & {"environment", "secret"})
                or ("file" in origins and "open" in ast.unparse(node)[:500])
            )
        if not sends:
            return
        url = self._fold(node.args[0]) if node.args else ""
        if name == "socket.socket" and not re.search(r"connect|sendto", "".join(self._lines)):
            return
        if not (url and self._around.allows(url.split()[0])):
            yield "code.phones_out"

    def _deletion(self, node: ast.Call, name: str) -> Iterator[str]:
        target: ast.expr | None = node.args[0] if REMOVES.match(name) and node.args else None
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in ("unlink", "rmdir", "rmtree", "remove")
            and target is None
        ):
            target = node.func.value
        if target is not None and self._is_broad(target):
            yield "code.deletes_broadly"

    def _is_broad(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether an expression may be a root: of the disk, of the system, of one's home."""
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Constant):
            root = isinstance(node.value, str) and node.value not in (".", "*")
            return root and bool(BROAD.match(str(node.value)))
        if isinstance(node, ast.Call):
            return self._is_broad_call(node, depth)
        if isinstance(node, ast.Subscript):
            home = self._fold(node.slice) in ("HOME", "USERPROFILE")
            return home and self._name(node.value).endswith(".environ")
        return any(self._is_broad(value, depth + 1) for value in self._choices(node))

    def _choices(self, node: ast.expr) -> list[ast.expr]:
        """Return the expressions of which a value may be one."""
        if isinstance(node, ast.Name):
            return self._values.get(node.id, [])
        if isinstance(node, ast.IfExp):
            return [node.body, node.orelse]
        if isinstance(node, ast.BoolOp):
            return node.values
        return node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else []

    def _is_broad_call(self, node: ast.Call, depth: int) -> bool:
        name = self._name(node.func)
        last = name.rpartition(".")[2]
        if name.endswith("Path.home") and not node.args:
            return True
        if isinstance(node.func, ast.Attribute) and last in _WALKS:
            return self._is_broad(node.func.value, depth + 1) or (
                name.startswith(("glob.", "os.")) and self._any_broad(node.args, depth)
            )
        if last == "join" and len(node.args) > 1:  # what is walked through is as broad as where
            walked = self._choices(node.args[0])
            return any(
                isinstance(one, ast.Call)
                and self._name(one.func).endswith((".walk", ".listdir", ".scandir"))
                and self._is_broad(one, depth + 1)
                for one in walked
            )
        if last not in _PASSES_ON:
            return False
        return self._any_broad(node.args, depth)

    def _any_broad(self, nodes: list[ast.expr], depth: int) -> bool:
        return any(self._is_broad(node, depth + 1) for node in nodes)
