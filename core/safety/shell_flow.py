"""What a shell script runs and deletes, by following it: values, pipes, files, functions.

A script is run in thought, each branch once. What comes out of the net or a decoder is a mark in a
value; where a command is made of it, or a shell reads it, it is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

from core.safety.shell_values import (
    DECODED,
    FETCHED,
    LONGEST_VALUE,
    WRAPPERS,
    Words,
    base_of,
    behind,
    finds_all,
    is_broad,
    marks_of,
    printed,
    texts_of,
    unmarked,
)
from core.safety.shell_words import DECODERS, FETCH, RUNNERS, SHELLS, VITAL
from core.safety.surroundings import Surroundings

_DEEPEST = 50  # nodes within each other; nobody reads what is deeper
_MOST_STEPS = 40_000
_MOST_TURNS = 8
_MORE_RUNNERS = {"at", "batch", "awk", "gawk", "mawk"}
_INNER = 5  # texts within each other
_DELETERS = {"rm", "unlink", "shred", "srm", "del", "rd", "rmdir", "trash"}
_RECURSIVE = re.compile(r"-\w*[rR]|--recursive|--no-preserve-root|/s\b")
_FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")
_OTHER_PROGRAMS = ("-c", "-e", "-r", "-E", "--eval", "-p", "-Command", "-command", "-le", "-ne")


class Flow(Words):
    """A script that is followed part by part: what its variables, files and functions hold."""

    def __init__(self, around: Surroundings, parse: Callable[[bytes], Tree]) -> None:
        super().__init__()
        self._around, self._parse = around, parse
        self._functions: dict[str, str] = {}
        self._found: list[tuple[str, Node]] = []
        self._at: Node | None = None  # what findings are pointed at; None for the command itself
        self._is_lost = False
        self._codes: dict[tuple[str, str], list[str]] = {}
        self._steps = self._depth = self._inner = 0

    def findings(self, root: Node, data: bytes) -> list[tuple[str, Node]]:
        """Return what the next part of a script does that may do harm, and where."""
        self._data, self._found, self._at = data, [], None
        self._steps = self._depth = self._inner = 0
        self._is_lost = False
        try:
            self._run(root, "")
        except RecursionError:
            self._finds("code.hides", root)
        return self._found

    def _finds(self, code: str, node: Node) -> None:
        self._found.append((code, self._at or node))

    def _may_go_on(self, node: Node) -> bool:
        """Whether the script can still be followed; where not, it hides what it does."""
        self._steps += 1
        if self._steps <= _MOST_STEPS and self._depth <= _DEEPEST:
            return True
        if not self._is_lost:
            self._finds("code.hides", node)
        self._is_lost = True
        return False

    # ---- statements

    def _run(self, node: Node, given: str) -> str:
        """Run a statement that reads `given`; return what it writes."""
        if not self._may_go_on(node):
            return ""
        self._depth += 1
        try:
            run = _STATEMENTS.get(node.type)
            return run(self, node, given) if run else self._all(node, given)
        finally:
            self._depth -= 1

    def _all(self, node: Node, given: str) -> str:
        return "".join([self._run(child, given) for child in node.named_children])[:LONGEST_VALUE]

    def _list(self, node: Node, given: str) -> str:
        """Run `a && b || c`, which the tree has to the left."""
        parts: list[Node] = []
        while node.type == "list" and node.named_children:
            first, *rest = node.named_children
            parts[:0] = rest
            node = first
        return "".join([self._run(part, given) for part in (node, *parts)])

    def _subshell(self, node: Node, given: str) -> str:
        place = self._place
        written = self._all(node, given)
        self._place = place
        return written

    def _pipeline(self, node: Node, given: str) -> str:
        outer, self._at = self._at, self._at or node
        for child in node.named_children:
            given = self._run(child, given)
        self._at = outer
        return given

    def _redirected(self, node: Node, given: str) -> str:
        body, *redirects = node.named_children or [node]
        outer, self._at = self._at, self._at or node
        after: list[Node] = []
        if body.type.endswith("redirect"):
            body, redirects = node, node.named_children
        for redirect in redirects:
            given = self._read_from(redirect, given)
            after += [one for one in redirect.named_children if one.type == "pipeline"]
        behind = [self._text(one) for redirect in redirects for one in _destinations(redirect)[1:]]
        if body is node:
            written = ""
        elif behind:  # `rm > log -rf /`: the tree takes the words behind for places to write to
            written = self._inside("shell", " ".join([self._text(body), *behind]), node, given)
        else:
            written = self._run(body, given)
        for redirect in redirects:
            if redirect.type == "file_redirect" and re.match(r"[\d&]*>", self._text(redirect)):
                self._written(redirect, written)
        for one in after:  # `cat <<X | sh`
            written = self._run(one, written)
        self._at = outer
        return written

    def _read_from(self, redirect: Node, given: str) -> str:
        """Return what a command reads that is redirected, or what it would read otherwise."""
        if redirect.type == "heredoc_redirect":
            bodies = [one for one in redirect.named_children if one.type == "heredoc_body"]
            starts = [one for one in redirect.named_children if one.type == "heredoc_start"]
            quoted = bool(starts) and self._text(starts[0])[:1] in "\"'\\"
            return "".join(self._text(one) if quoted else self._within(one) for one in bodies)
        if redirect.type == "herestring_redirect":
            return " ".join(self._value(one) for one in redirect.named_children)
        if redirect.type == "file_redirect" and self._text(redirect).lstrip("0").startswith("<"):
            name = next(iter(_destinations(redirect)), None)
            return given if name is None else self._content(self._value(name))
        return given

    def _written(self, redirect: Node, written: str) -> None:
        for one in _destinations(redirect)[:1]:
            name = self._value(one)
            if one.type == "process_substitution":
                return
            self._files[base_of(name)] = written

    def _assign(self, node: Node, _: str) -> str:
        name, *values = node.named_children or [node]
        key = re.match(r"\w+", self._text(name))
        value = " ".join(self._value(one) for one in values)
        if key:
            adds = re.match(r"\w+\+=", self._text(node))
            old = self._values.get(key[0], "") if adds else ""
            self._values[key[0]] = (old + value)[:LONGEST_VALUE]
        return ""

    def _for(self, node: Node, given: str) -> str:
        name, *rest = node.named_children or [node]
        body = [one for one in rest if one.type in ("do_group", "compound_statement")]
        values = [word for one in rest if one not in body for word in self._words_of(one)]
        written = ""
        for value in values[:_MOST_TURNS] or [""]:
            if values:
                self._values[self._text(name)] = value
            written += "".join([self._run(one, given) for one in body])
        return written[:LONGEST_VALUE]

    def _function(self, node: Node, _: str) -> str:
        name, *rest = node.named_children or [node]
        self._functions[self._text(name)] = " ".join(map(self._text, rest))
        return ""

    # ---- commands

    def _command(self, node: Node, given: str) -> str:
        words: list[str] = []
        for child in node.named_children:
            if child.type == "variable_assignment":
                self._assign(child, given)
            elif child.type.endswith("redirect"):
                given = self._read_from(child, given)
            elif child.type == "command_name":
                words += [word for one in child.named_children for word in self._words_of(one)]
            else:
                words += self._words_of(child)
        return self._do(words, given, node) if words else ""

    def _do(self, words: list[str], given: str, node: Node) -> str:
        """Do what a command does that reads `given`; return what it writes."""
        if not self._may_go_on(node):
            return ""
        if marks := marks_of(words[0]):
            self._finds("code.runs_fetched" if FETCHED in marks else "code.hides", node)
        name = words[0] = base_of(unmarked(words[0])) or words[0]
        args = words[1:]
        for text in texts_of(words):
            self._inside("shell", text, node)
        if name in WRAPPERS:
            return self._wrapped(words, given, node)
        if name in self._functions:
            return self._called(name, args, given, node)
        self._deletes(name, args, node)
        if name == "find":
            return self._find(args, node)
        if name in RUNNERS or name in _MORE_RUNNERS:
            self._runner(name, args, given, node)
            return marks_of(given)
        if base := self._files.get(name):
            self._told(base, "shell", node)
        return self._builtin(name, args, given)

    def _wrapped(self, words: list[str], given: str, node: Node) -> str:
        name = words[0]
        if name == "xargs" and (files := _after(words, ("-a", "--arg-file"))):
            given = self._content(files)
        inner, is_text = behind(words)
        if name == "parallel":
            inner, _, more = _parted(inner, (":::", "::::"))
            given = " ".join((given, *more))
        if name in ("xargs", "parallel") and inner:
            taken = given.split() or ([given] if given else [])
            if any("{}" in word for word in inner):
                inner = [
                    part
                    for word in inner
                    for part in (taken if word == "{}" else [word.replace("{}", " ".join(taken))])
                ]
            else:
                inner = [*inner, *taken]
            given = ""
        if not inner:
            if name in ("parallel", "ssh"):
                self._told(given, "shell", node)
            return given
        if (is_text and inner[1:]) or (len(inner) == 1 and " " in inner[0]):
            return self._inside("shell", " ".join(inner), node, given)
        return self._do(inner, given, node)

    def _called(self, name: str, args: list[str], given: str, node: Node) -> str:
        outer, self._args = self._args, args
        written = self._inside("", self._functions[name], node, given)
        self._args = outer
        return written

    def _inside(self, language: str, text: str, node: Node, given: str = "") -> str:
        """Run a text within the script; return what it writes. "" is a function of its own."""
        if marks := marks_of(text):
            self._finds("code.runs_fetched" if FETCHED in marks else "code.hides", node)
        if language:
            for code in self._codes_of(language, unmarked(text)):
                self._finds(code, node)
        if language not in ("", "shell") or self._inner >= _INNER:
            return ""
        data = unmarked(text).encode("utf-8", "replace")
        outer, self._data, at, self._at = self._data, data, self._at, self._at or node
        self._inner += 1
        written = self._run(self._parse(data).root_node, given)
        self._inner -= 1
        self._data, self._at = outer, at
        return written

    def _codes_of(self, language: str, text: str) -> list[str]:
        """Return what a text does that is run by itself; a long one costs many steps."""
        known = self._codes.get((language, text))
        if known is None:
            self._steps += 10 + len(text) // 4
            known = self._codes[language, text] = self._around.codes_of(language, text)
        return known

    def _told(self, text: str, language: str, node: Node, args: Sequence[str] = ()) -> None:
        """Run a text as a program of its own, if there is one."""
        if not unmarked(text).strip():
            if marks := marks_of(text):
                self._finds("code.runs_fetched" if FETCHED in marks else "code.hides", node)
            return
        outer, self._args = self._args, list(args)
        self._inside(language, text, node)
        self._args = outer

    def _runner(self, name: str, args: list[str], given: str, node: Node) -> None:
        """Run the program that a shell or an interpreter is given."""
        language = (
            "shell" if name in SHELLS or name in ("eval", ".", "source", "at", "batch") else "other"
        )
        language = "python" if name.startswith("python") else language
        if name == "eval":
            self._told(" ".join(args), "shell", node)
        elif name in (".", "source"):
            is_given = args[:1] in (["-"], ["/dev/stdin"])
            self._told(given if is_given else self._content("".join(args[:1])), language, node)
        elif name in ("at", "batch"):
            self._told(given, language, node)
        else:
            text, rest = self._program(name, args, given)
            self._told(text, language, node, rest)
            if name in ("pwsh", "powershell"):  # which knows `rm` and others too
                self._told(text, "shell", node)

    def _program(self, name: str, args: list[str], given: str) -> tuple[str, list[str]]:
        """Return the program of an interpreter, and the arguments of it."""
        if name.endswith("awk"):
            return next((one for one in args if not one.startswith("-")), ""), []
        at = 0
        while at < len(args):
            arg = args[at]
            is_program = (
                re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", arg)
                if name in SHELLS
                else arg in _OTHER_PROGRAMS
            )
            if is_program:
                more = [one for one in args[at + 1 :] if not one.startswith("-")]
                return (more[0] if more else ""), more[2:]
            if arg == "-m" and name not in SHELLS:
                return "", []
            if arg in ("-", "/dev/stdin") or (arg == "-s" and name in SHELLS):
                return given, [one for one in args[at + 1 :] if one != "--"]
            if not arg.startswith("-"):
                if name in SHELLS and at and args[at - 1] in ("-o", "-O", "--rcfile"):
                    at += 1
                    continue
                return self._content(arg), args[at + 1 :]
            at += 1
        return given, []

    def _content(self, name: str) -> str:
        """Return what a file holds, as far as the script put it there."""
        if marks_of(name):
            return name
        return self._files.get(base_of(name), "")

    def _find(self, args: list[str], node: Node) -> str:
        found = [f"{place.rstrip('/')}/*" for place in finds_all(args)]
        for at, arg in enumerate(args):
            if arg in _FIND_RUNS:
                inner = list(args[at + 1 :])
                ends = [number for number, one in enumerate(inner) if one in (";", "+", "\\;")]
                inner = inner[: ends[0]] if ends else inner
                inner = [word.replace("{}", " ".join(found)) for word in inner if word]
                if inner and found:
                    self._do([one for word in inner for one in _roots(word)], "", node)
        return " ".join(found)

    def _builtin(self, name: str, args: list[str], given: str) -> str:
        """Do what changes the script, fetches, decodes, writes or passes on."""
        plain = [arg for arg in args if not arg.startswith("-")]
        if name in ("cd", "pushd"):
            self._place = plain[0] if plain else "~"
        elif name in ("read", "mapfile", "readarray"):
            for variable in plain or ["REPLY", "MAPFILE"]:
                self._values[variable] = given
        elif name == "set" and "--" in args:
            self._args = args[args.index("--") + 1 :]
        elif name == "alias":
            self._functions |= {
                key: f'{text} "$@"'
                for key, _, text in (one.partition("=") for one in plain)
                if text
            }
        elif name in FETCH:
            return self._fetched(name, args)
        elif name in ("echo", "printf"):
            return printed([name, *args])
        elif name in ("which", "type", "basename", "realpath", "readlink") and plain:
            return plain[-1]
        else:
            return self._passed(name, args, plain, given)
        return ""

    def _passed(self, name: str, args: list[str], plain: list[str], given: str) -> str:
        """Return what a filter makes of what it reads; remember what it writes to a file."""
        files = "".join(self._content(arg) for arg in plain)
        read = given if name == "tee" else files or given
        if name == "tee":
            self._files |= {base_of(arg): given for arg in plain}
        if name == "dd":
            self._files |= {base_of(arg[3:]): given for arg in args if arg.startswith("of=")}
        if name in ("cp", "mv", "install") and len(plain) > 1 and files:
            self._files[base_of(plain[-1])] = files
        if DECODERS.match(name) or (name in ("gzip", "bzip2", "xz") and _decodes(args)):
            return DECODED + marks_of(read)
        return read if name in ("cat", "tee", "dd") else marks_of(read)

    def _fetched(self, name: str, args: list[str]) -> str:
        for at, arg in enumerate(args):
            is_output = arg in ("--output", "--output-document", "-O", "-o") or (
                re.fullmatch(r"-\w*[oO]", arg) and name in ("curl", "wget")
            )
            if is_output and at + 1 < len(args) and not args[at + 1].startswith(("-", "http")):
                self._files[base_of(args[at + 1])] = FETCHED
            elif arg.startswith(("http://", "https://")) and name != "curl":
                self._files[base_of(arg.partition("?")[0])] = FETCHED
        return FETCHED

    # ---- what deletes

    def _deletes(self, name: str, args: list[str], node: Node) -> None:
        targets = [arg for arg in args if not arg.startswith("-")]
        broad = [target for target in targets if self._is_broad(target)]
        recursive = any(map(_RECURSIVE.match, args)) or any("*" in target for target in targets)
        wiped = name == "truncate" and any("*" in target for target in broad)
        if (
            (name in _DELETERS and broad and (recursive or name == "shred"))
            or wiped
            or (name in (*_DELETERS, "truncate") and any(map(VITAL.match, targets)))
            or (name == "mv" and broad and "/dev/null" in targets)
            or (name == "find" and "-delete" in args and finds_all(args))
            or (name == "rsync" and "--delete" in args and self._is_broad(targets[-1]))
            or (name == "git" and args[:1] == ["clean"] and broad)
            or name.startswith("mkfs")
            or name in ("wipefs", "fdisk")
            or (name == "dd" and any(re.match(r"of=/dev/(?!null|stdout)", arg) for arg in args))
        ):
            self._finds("code.deletes_broadly", node)

    def _is_broad(self, target: str) -> bool:
        if target in ("*", "./*", ".", "./") and self._place:
            return is_broad(self._place)
        return is_broad(target)


def _destinations(redirect: Node) -> list[Node]:
    """Return the words of a redirection to or from a file: the first is the file."""
    if redirect.type != "file_redirect":
        return []
    return [one for one in redirect.named_children if one.type != "file_descriptor"]


def _after(words: Sequence[str], options: tuple[str, ...]) -> str:
    """Return the word after one of these options."""
    return next((words[at + 1] for at, one in enumerate(words[:-1]) if one in options), "")


def _roots(word: str) -> list[str]:
    """Return the roots that stand in a word in the place of `{}`, or the word."""
    return word.split() if "/*" in word else [word]


def _parted(words: list[str], signs: tuple[str, ...]) -> tuple[list[str], str, list[str]]:
    at = next((number for number, word in enumerate(words) if word in signs), len(words))
    return words[:at], "", [word for word in words[at + 1 :] if word not in signs]


def _decodes(args: Sequence[str]) -> bool:
    return any(re.fullmatch(r"-\w*d\w*|--decompress|--uncompress", arg) for arg in args)


_STATEMENTS: dict[str, Callable[[Flow, Node, str], str]] = {
    "list": Flow._list,
    "subshell": Flow._subshell,
    "pipeline": Flow._pipeline,
    "redirected_statement": Flow._redirected,
    "variable_assignment": Flow._assign,
    "for_statement": Flow._for,
    "function_definition": Flow._function,
    "command": Flow._command,
}
