"""What a Python program does that may do harm, by its syntax tree."""

from __future__ import annotations

import ast
import re
import shlex
import warnings
from collections.abc import Iterator
from functools import cached_property

from core.safety.python_names import (
    ASKS_FILES,
    BROAD,
    DISK,
    EVALUATES,
    FETCHES,
    LOADERS,
    LOADS,
    READS_FILES,
    REMOVES,
    RUNS,
    SENDS,
    STARTS,
    WRITES,
)
from core.safety.python_values import DEPTH, LONGEST_PATH, Values
from core.safety.surroundings import PERSISTENT, SECRETS, Found, Surroundings

_LONGEST = 100_000
_WALKS = {"rglob", "glob", "iterdir", "walk", "resolve", "absolute", "expanduser"}
_TALKS = (".communicate", ".stdin.write", ".sendline")
_SHELLS = {"sh", "bash", "zsh", "dash", "ksh", "sh -s", "bash -s"}
_WALKED = {"walk", "listdir", "scandir", "iterdir", "rglob", "glob", "iglob"}
_UP = {"3", "4", "5", "6", "7", "8", "9", "-1"}
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


class _Program(Values):
    """One program: what its calls do."""

    def __init__(self, code: str, tree: ast.Module, around: Surroundings) -> None:
        super().__init__(tree)
        self._around = around
        self._lines = code.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

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
        if len(text) > LONGEST_PATH or "\n" in text or prose:
            return
        if SECRETS.search(text) and re.search(r"[/~.]", text) and not re.search(r"[\\^|()+]", text):
            yield "code.reads_credentials", *self._span(node)
        is_read = id(node) in self._only_read
        if PERSISTENT.search(text) and not is_read and not re.search(r"[\\^|()+]", text):
            yield "code.persists", *self._span(node)

    @cached_property
    def _only_read(self) -> set[int]:
        """Return which constants name a file that is looked at there, and not written."""
        found: set[int] = set()
        for node in self._nodes:
            if not isinstance(node, ast.Call):
                continue
            func, args = node.func, node.args
            modes = [*args[1:2], *(word.value for word in node.keywords if word.arg == "mode")]
            name = self._name(func)
            reads = name in ("open", "io.open") or bool(ASKS_FILES.match(name))
            if isinstance(func, ast.Attribute) and func.attr in READS_FILES:
                path = func.value
                if isinstance(path, ast.Call) and self._name(path.func).endswith("Path"):
                    reads, args, modes = True, path.args, args[:1]
            if reads and not any(WRITES.search(self._fold(mode) or "w") for mode in modes):
                found |= {id(arg) for arg in args[:1]}
        return found

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
            yield from self._subprocess(node, name, origins)
        yield from self._deferred(node)
        yield from self._network(node, name, origins)
        yield from self._deletion(node, name)
        yield from self._reaches(name, node)

    def _deferred(self, node: ast.Call) -> Iterator[str]:
        """Yield what a function does that is handed on: `map(f, …)`, `Thread(target=f, args=…)`."""
        given = [*node.args, *(word.value for word in node.keywords)]
        for at, arg in enumerate(given):
            name = self._name(arg) if isinstance(arg, ast.Name | ast.Attribute) else ""
            if not (REMOVES.match(name) or RUNS.match(name) or name in EVALUATES):
                continue
            rest = given[:at] + given[at + 1 :]
            flat = [
                part
                for one in rest
                for part in (one.elts if isinstance(one, ast.Tuple | ast.List) else [one])
            ]
            for inner in flat:
                yield from self._call(ast.Call(func=arg, args=[inner], keywords=[]))

    def _reaches(self, name: str, node: ast.Call) -> Iterator[str]:
        if name.startswith(("keyring.get_", "browser_cookie3.", "win32crypt.")):
            yield "code.reads_credentials"
        if name in LOADERS and any(self._fold(arg) in self._fetched for arg in node.args):
            yield "code.runs_fetched"
        text = self._fold(node.args[0]) if name.endswith(_TALKS) and node.args else ""
        if text and self._has_shell:
            yield from self._around.codes_of("shell", text)
        if name in ("os.dup2", "pty.spawn") and "socket" in self._names.values():
            yield "code.phones_out"

    @cached_property
    def _has_shell(self) -> bool:
        """Whether the program starts a shell that waits for what it is told."""
        calls = (node for node in self._nodes if isinstance(node, ast.Call))
        names = ((node, self._name(node.func)) for node in calls)
        return any(
            RUNS.match(name) and self._command(node, name).rpartition("/")[2] in _SHELLS
            for node, name in names
        )

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

    def _subprocess(self, node: ast.Call, name: str, origins: set[str]) -> Iterator[str]:
        if "net" in origins:
            yield "code.runs_fetched"
        elif "decoded" in origins:
            yield "code.hides"
        command = self._command(node, name)
        if not command:
            return
        files = [file for file in sorted(self._fetched) if file in command]
        fetched = "".join(f"curl -o {shlex.quote(file)} https://x\n" for file in files)
        yield from self._around.codes_of("shell", fetched + command)
        given = [self._fold(word.value) for word in node.keywords if word.arg == "input"]
        if given and given[0]:
            yield from self._around.codes_of("shell", f"{command} <<'X'\n{given[0]}\nX\n")

    def _command(self, node: ast.Call, name: str) -> str:
        """Return what is run, as a line of a shell."""
        named = [word.value for word in node.keywords if word.arg in ("args", "argv", "cmd")]
        args = [*node.args, *named]
        if name in STARTS:
            before, is_list = STARTS[name]
            args = args[before:]
            if not is_list:
                return shlex.join(self._part(one, 0) for one in [*args[:1], *args[2:]])
            listed = self._words(args[1]) if len(args) > 1 else None
            return shlex.join([self._part(args[0], 0), *(listed or [])[1:]]) if args else ""
        if name.startswith(("sh.", "plumbum.")):
            return shlex.join([name.rpartition(".")[2], *(self._part(one, 0) for one in args)])
        if name.endswith("create_subprocess_exec"):
            return shlex.join(self._part(one, 0) for one in args)
        words = self._words(args[0]) if args else None
        return self._fold(args[0]) if words is None and args else shlex.join(words or [])

    @cached_property
    def _fetched(self) -> set[str]:
        """Return the files into which the program puts what it fetches."""
        calls = [node for node in self._nodes if isinstance(node, ast.Call)]
        found = {
            self._fold(node.args[1])
            for node in calls
            if len(node.args) > 1 and self._name(node.func).endswith("urlretrieve")
        }
        for node in calls:
            is_write = isinstance(node.func, ast.Attribute) and node.func.attr.startswith("write")
            if is_write and any("net" in self._origins(arg) for arg in node.args):
                found.add(self._file_of(node.func))
        return {file for file in found if file}

    def _file_of(self, func: ast.expr) -> str:
        """Return the file that is written: of `open(F).write`, `f.write`, `Path(F).write_text`."""
        value = func.value if isinstance(func, ast.Attribute) else func
        known = self._known(value)
        value = known[0] if len(known) == 1 else value
        return self._fold(value.args[0]) if isinstance(value, ast.Call) and value.args else ""

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
        named = [word.value for word in node.keywords if word.arg == "path"]
        target = next(iter([*node.args, *named]), None) if REMOVES.match(name) else None
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("unlink", "rmdir", "rmtree"):
            target = target or node.func.value
        if (target is not None and self._is_broad(target)) or self._overwrites(name, node.args[:2]):
            yield "code.deletes_broadly"

    def _overwrites(self, name: str, args: list[ast.expr]) -> bool:
        """Whether a root is moved to where nothing stays, or a disk is opened to be written."""
        if len(args) < 2:
            return False
        if name in ("os.rename", "os.replace", "shutil.move"):
            return self._fold(args[1]) == "/dev/null" and self._is_broad(args[0])
        writes = name == "open" and bool(WRITES.search(self._fold(args[1])))
        return writes and bool(DISK.match(self._fold(args[0])))

    def _is_broad(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether an expression may be a root: of the disk, of the system, of one's home."""
        if depth > DEPTH:
            return False
        if isinstance(node, ast.Constant):
            root = isinstance(node.value, str) and node.value not in (".", "*")
            return root and bool(BROAD.match(str(node.value)))
        if isinstance(node, ast.Call):
            return self._is_broad_call(node, depth)
        if isinstance(node, ast.BinOp | ast.JoinedStr):
            path = self._path(node) if isinstance(node, ast.BinOp) else self._fold(node)
            return bool(BROAD.match(re.sub("/+", "/", path))) or self._is_walked(node, depth)
        if isinstance(node, ast.Subscript):
            if isinstance(node.value, ast.Attribute) and node.value.attr == "parents":
                return self._fold(node.slice) in _UP
            home = self._fold(node.slice) in ("HOME", "USERPROFILE")
            return home and self._name(node.value).endswith(".environ")
        if isinstance(node, ast.Attribute) and not self._known(node):
            is_root = node.attr in ("anchor", "root") or self._fold(node) == "/"
            return is_root or self._is_walked(node.value, depth)
        return any(self._is_broad(value, depth + 1) for value in self._choices(node))

    def _is_walked(self, node: ast.expr, depth: int) -> bool:
        """Whether a path is put together of what a walk through a root comes to."""
        names = (one for one in ast.walk(node) if isinstance(one, ast.Name))
        return any(
            isinstance(one, ast.Call)
            and self._name(one.func).rpartition(".")[2] in _WALKED
            and self._is_broad(one, depth + 1)
            for name in names
            for one in self._choices(name)
        )

    def _choices(self, node: ast.expr) -> list[ast.expr]:
        """Return the expressions of which a value may be one."""
        if isinstance(node, ast.Name | ast.Attribute):
            return self._known(node)
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
            path = re.sub("/+", "/", self._fold(node))
            return bool(BROAD.match(path)) or self._is_walked(node.args[0], depth)
        if name in ("os.getenv", "os.environ.get") and node.args:
            return self._fold(node.args[0]) in ("HOME", "USERPROFILE")
        if last not in _PASSES_ON:
            return False
        return self._any_broad(node.args, depth)

    def _any_broad(self, nodes: list[ast.expr], depth: int) -> bool:
        return any(self._is_broad(node, depth + 1) for node in nodes)
