"""What names and expressions of a Python program come to, as far as it shows in it."""

from __future__ import annotations

import ast
import base64
import binascii
import re
from collections import defaultdict
from collections.abc import Iterator

from core.safety.python_names import DECODES, EVALUATES, FETCHES
from core.safety.surroundings import SECRETS

DEPTH = 12
LONGEST_PATH = 300
UNKNOWN = "$X"
_LONGEST = 20_000
_MOST_WORDS = 1000
_CONSTANTS = {"sys.executable": "python3", "os.sep": "/", "os.path.sep": "/", "os.curdir": "."}
_KEEPS = {"decode", "strip", "format", "encode", "lower", "split", "replace"}
_PASSES = {
    *("os.path.join", "pathlib.Path", "Path", "os.path.expanduser", "str", "shlex.split"),
    "os.path.expandvars",
}


class Values:
    """The names of a program, what was assigned to them, and what expressions come to."""

    def __init__(self, tree: ast.Module) -> None:
        self._names: dict[str, str] = {}
        self._values: dict[str, list[ast.expr]] = defaultdict(list)
        self._bodies: dict[str, list[ast.expr]] = defaultdict(list)
        self._arguments: dict[str, ast.arguments] = {}
        self._folded: dict[int, str] = {}
        self._listed: dict[int, list[str] | None] = {}
        self._nodes = list(ast.walk(tree))
        for node in self._nodes:
            self._learn(node)
        for node in self._nodes:
            if isinstance(node, ast.Call):
                self._learn_call(node)

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._learn_import(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._learn_function(node)
        elif isinstance(node, ast.ClassDef):
            self._learn_class(node)
        elif isinstance(node, ast.AugAssign):
            self._add(node.target, node.value)
        else:
            for target, value in _assigned(node):
                self._assign(target, value)

    def _learn_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        returned = (one for one in ast.walk(node) if isinstance(one, ast.Return))
        self._bodies[node.name] += [one.value for one in returned if one.value is not None]
        self._arguments[node.name] = node.args
        named = [*node.args.posonlyargs, *node.args.args]
        given = node.args.defaults
        for arg, value in zip(named[len(named) - len(given) :], given, strict=True):
            self._values[arg.arg].append(value)

    def _learn_class(self, node: ast.ClassDef) -> None:
        for one in (one for one in node.body if isinstance(one, ast.Assign)):
            for target in (target for target in one.targets if isinstance(target, ast.Name)):
                self._values[f"self.{target.id}"].append(one.value)

    def _learn_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for one in node.names:
            first = one.name.partition(".")[0]
            if isinstance(node, ast.ImportFrom):
                self._names[one.asname or one.name] = f"{node.module or ''}.{one.name}"
            else:
                self._names[one.asname or first] = one.name if one.asname else first

    def _learn_call(self, node: ast.Call) -> None:
        """Learn what parameters of functions of the program are, and what lists get more of."""
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in ("append", "extend") and node.args:
            more = node.args[0] if func.attr == "extend" else ast.List([node.args[0]], ast.Load())
            self._add(func.value, more)
        args = func.args if isinstance(func, ast.Lambda) else None
        if isinstance(func, ast.Name):
            args = self._arguments.get(func.id)
        if args is None:
            return
        for arg, value in zip([*args.posonlyargs, *args.args], node.args, strict=False):
            self._values[arg.arg].append(value)
        for word in (word for word in node.keywords if word.arg):
            self._values[word.arg or ""].append(word.value)

    def _add(self, target: ast.expr, value: ast.expr) -> None:
        """Learn that a name has more than it had."""
        known = self._values.get(target.id, []) if isinstance(target, ast.Name) else []
        if len(known) == 1 and isinstance(target, ast.Name):
            self._values[target.id] = [ast.BinOp(known[0], ast.Add(), value)]
        else:
            self._assign(target, value)

    def _known(self, node: ast.expr) -> list[ast.expr]:
        """Return the expressions that a name, or an attribute of `self`, may stand for."""
        if isinstance(node, ast.Name):
            return self._values.get(node.id, [])
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return self._values.get(f"self.{node.attr}", []) if node.value.id == "self" else []
        return []

    def _assign(self, target: ast.expr | None, value: ast.expr | None) -> None:
        if target is None or value is None:
            return
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            self._values[f"self.{target.attr}"].append(value)
            return
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                self._values[node.id].append(value)

    def _name(self, node: ast.expr, depth: int = 0) -> str:
        """Return the dotted name of what is called, imports and aliases resolved."""
        if isinstance(node, ast.Name):
            known = self._names.get(node.id)
            if known:
                return known
            for value in self._values.get(node.id, [])[:3] if depth < DEPTH else []:
                if isinstance(
                    value, ast.Attribute | ast.Name | ast.Call
                ) and not self._is_plain_call(value):
                    return self._name(value, depth + 1)
            return node.id
        if isinstance(node, ast.Attribute):
            return (
                f"{self._name(node.value, depth + 1)}.{node.attr}" if depth < DEPTH else node.attr
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
        called = self._name(node.func, depth + 1) if depth < DEPTH else ""
        if called in ("__import__", "importlib.import_module") and node.args:
            return self._fold(node.args[0]) or "?"
        if called == "getattr" and len(node.args) >= 2:
            return f"{self._name(node.args[0], depth + 1)}.{self._fold(node.args[1]) or '?'}"
        return called

    def _fold(self, node: ast.expr, depth: int = 0) -> str:
        """Return the text that an expression comes to, as far as it is known; "" if not."""
        if depth > DEPTH:
            return ""
        if isinstance(node, ast.Constant):
            value = node.value
            return value.decode("latin-1") if isinstance(value, bytes) else str(value)
        if isinstance(node, ast.BinOp):  # a name that is added to itself would be folded often
            if id(node) not in self._folded:
                self._folded[id(node)] = self._fold_operation(node, depth)[:_LONGEST]
            return self._folded[id(node)]
        if isinstance(node, ast.JoinedStr):
            return "".join(self._part(part, depth) for part in node.values)
        known = self._known(node)
        if len(known) == 1:
            return self._fold(known[0], depth + 1)
        if isinstance(node, ast.Call):
            return self._fold_call(node, depth)
        if isinstance(node, ast.List | ast.Tuple):
            return " ".join(self._fold(part, depth + 1) for part in node.elts)
        return self._fold_place(node, depth)

    def _part(self, node: ast.expr, depth: int) -> str:
        value = node.value if isinstance(node, ast.FormattedValue) else node
        return self._fold(value, depth + 1) or ("" if isinstance(value, ast.Constant) else UNKNOWN)

    def _fold_operation(self, node: ast.BinOp, depth: int) -> str:
        if isinstance(node.op, ast.Add):
            words = self._words(node, depth + 1)
            if words is not None:
                return " ".join(words)
            return self._part(node.left, depth) + self._part(node.right, depth)
        if not isinstance(node.op, ast.Mod):
            return ""
        form = self._fold(node.left, depth + 1)
        if isinstance(node.right, ast.Dict):
            keys = [self._fold(key, depth + 1) for key in node.right.keys if key is not None]
            return self._put(r"%\((\w+)\)[sdrf]", form, keys, node.right.values, depth)
        right = node.right
        parts = right.elts if isinstance(right, ast.Tuple) else [right]
        return self._put(r"()%[sdrfx]", form, [], parts, depth)

    def _put(
        self, holes: str, form: str, keys: list[str], parts: list[ast.expr], depth: int
    ) -> str:
        """Return a format with its holes filled, by keys or in order."""
        values = [self._part(part, depth) for part in parts]
        named = dict(zip(keys, values, strict=False))
        rest = iter(values[len(keys) :] if keys else values)

        def fill(one: re.Match[str]) -> str:
            if one[1]:
                number = int(one[1]) if one[1].isdigit() else -1
                return named.get(one[1], values[number] if 0 <= number < len(values) else UNKNOWN)
            return next(rest, UNKNOWN)

        return re.sub(holes, fill, form)

    def _fold_place(self, node: ast.expr, depth: int) -> str:
        """Return what parts of the machine come to that programs name by other names."""
        if isinstance(node, ast.Attribute):
            return _CONSTANTS.get(self._name(node), "")
        if isinstance(node, ast.Subscript):
            if self._name(node.value).endswith(".environ"):
                return f"${self._fold(node.slice, depth + 1)}"
            cut = node.slice
            if (
                isinstance(cut, ast.Slice)
                and cut.step is not None
                and cut.lower is cut.upper is None
            ):
                return self._fold(node.value, depth + 1)[:: -1 if _is_minus(cut.step) else 1]
        return ""

    def _words(self, node: ast.expr, depth: int = 0) -> list[str] | None:
        """Return the words of a list that a program makes; None if it is none."""
        if depth > DEPTH:
            return None
        if isinstance(node, ast.List | ast.Tuple):
            words: list[str] = []
            for part in node.elts:
                inner = (
                    self._words(part.value, depth + 1) if isinstance(part, ast.Starred) else None
                )
                words += [self._part(part, depth)] if inner is None else inner
            return words
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            if id(node) not in self._listed:
                self._listed[id(node)] = self._words_of_both(node, depth)
            return self._listed[id(node)]
        known = self._known(node)
        if len(known) == 1:
            return self._words(known[0], depth + 1)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return None
        is_shlex = self._name(node.func) == "shlex.split" and bool(node.args)
        text = node.args[0] if is_shlex else node.func.value
        return self._fold(text, depth + 1).split() if node.func.attr == "split" else None

    def _words_of_both(self, node: ast.BinOp, depth: int) -> list[str] | None:
        left, right = self._words(node.left, depth + 1), self._words(node.right, depth + 1)
        return None if left is None or right is None else [*left, *right][:_MOST_WORDS]

    def _fold_call(self, node: ast.Call, depth: int) -> str:
        name = self._name(node.func, depth + 1)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if method == "join" and node.args and not name.startswith("os."):
            return self._fold_join(node, depth)
        if name.endswith("b64decode") and node.args:
            try:
                return base64.b64decode(self._fold(node.args[0], depth + 1), validate=False).decode(
                    "utf-8", "replace"
                )
            except (ValueError, binascii.Error):
                return ""
        if isinstance(node.func, ast.Attribute) and method in _KEEPS:
            return self._fold_method(node, node.func, depth)
        if name in _PASSES and node.args:
            if len(node.args) == 1:
                return self._fold(node.args[0], depth + 1)
            return "/".join(self._part(part, depth) for part in node.args)
        if name in ("os.getenv", "os.environ.get") and node.args:
            return f"${self._fold(node.args[0], depth + 1)}"
        return self._fold(node.args[0], depth + 1) if name in EVALUATES and node.args else ""

    def _fold_join(self, node: ast.Call, depth: int) -> str:
        codes = [
            one.value
            for one in ast.walk(node.args[0])
            if isinstance(one, ast.Constant) and isinstance(one.value, int)
        ]
        if codes and "chr" in ast.dump(node.args[0]):
            is_plain = not any(isinstance(one, ast.BinOp) for one in ast.walk(node.args[0]))
            return "".join(chr(one) for one in codes if 0 <= one < 0x110000) if is_plain else ""
        words = self._words(node.args[0], depth + 1)
        between = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0]
        return self._fold(between, depth + 1).join(words) if words else ""

    def _fold_method(self, node: ast.Call, func: ast.Attribute, depth: int) -> str:
        text = self._fold(func.value, depth + 1)
        if func.attr == "format":
            keys = [word.arg or "" for word in node.keywords]
            values = [*node.args, *(word.value for word in node.keywords)]
            named = [str(number) for number in range(len(node.args))] + keys
            if re.search(r"\{\}", text):
                return self._put(r"\{()\}", text, [], values, depth)
            return self._put(r"\{(\w+)(?:![rsa])?(?::[^}]*)?\}", text, named, values, depth)
        if func.attr == "replace" and len(node.args) > 1:
            old, new = (self._fold(one, depth + 1) for one in node.args[:2])
            return text.replace(old, new) if old else text
        return text

    def _path(self, node: ast.expr, depth: int = 0) -> str:
        """Return a path built by `/`, as far as it is known."""
        if depth > DEPTH:
            return ""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return f"{self._path(node.left, depth + 1)}/{self._path(node.right, depth + 1)}"
        if isinstance(node, ast.Call):
            name = self._name(node.func)
            if name.endswith("Path.home"):
                return "~"
        known = self._known(node)
        if len(known) == 1:
            return self._path(known[0], depth + 1)
        return self._fold(node)

    def _origins(self, node: ast.expr) -> set[str]:
        """Return where a value comes from: net, decoded, file, environment, secret."""
        origins: set[str] = set()
        seen: set[str] = set()
        row = [node]
        for _ in range(DEPTH):
            names: set[str] = set()
            for part in (part for one in row for part in ast.walk(one)):
                if isinstance(part, ast.Name):
                    names.add(part.id)
                elif isinstance(part, ast.expr):
                    origins.update(self._origins_of(part))
            names -= seen
            seen |= names
            row = [
                value
                for name in sorted(names)
                for value in (*self._values.get(name, [])[:5], *self._bodies.get(name, [])[:5])
            ]
            if not row:
                break
        return origins

    def _origins_of(self, part: ast.expr) -> Iterator[str]:
        if isinstance(part, ast.Call):
            yield from self._origins_of_call(part)
        elif isinstance(part, ast.Attribute) and self._name(part).endswith(".environ"):
            yield "environment"
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            is_secret = len(part.value) < LONGEST_PATH and SECRETS.search(part.value)
            yield from ("secret",) if is_secret else ()

    def _origins_of_call(self, node: ast.Call) -> Iterator[str]:
        name = self._name(node.func)
        if FETCHES.match(name):
            yield "net"
        if DECODES.match(name) or name.endswith(
            (".fromhex", ".b64decode", ".decompress", ".translate")
        ):
            yield "decoded"
        if name in ("bytes", "bytearray") and node.args and isinstance(node.args[0], ast.List):
            yield "decoded"
        if name == "map" and node.args and self._name(node.args[0]) == "chr":
            yield "decoded"
        if name in ("open", "io.open") or name.endswith((".read_text", ".read_bytes", ".read")):
            yield "file"


def _is_minus(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def _assigned(node: ast.AST) -> list[tuple[ast.expr | None, ast.expr | None]]:
    """Return what a statement assigns to what."""
    if isinstance(node, ast.Assign):
        return [(target, node.value) for target in node.targets]
    if isinstance(node, ast.AnnAssign | ast.NamedExpr):
        return [(node.target, node.value)]
    if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        return [(node.target, node.iter)]
    if isinstance(node, ast.withitem):
        return [(node.optional_vars, node.context_expr)]
    return []
