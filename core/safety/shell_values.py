"""What words of a shell come to: values, braces, formats, and the command behind other commands."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from core.safety.shell_words import BROAD, NARROWED

if TYPE_CHECKING:
    from tree_sitter import Node


# Marks within a value: it came out of the net, it was decoded or computed.
FETCHED, DECODED = "\ue000", "\ue001"
MARKS = (FETCHED, DECODED)
_MOST = 24  # words that braces, and values that a loop, come to
_LONGEST = 20_000
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|0?[0-7]{1,3}|.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "", "b": "", "e": "", "f": "", "v": "", "c": ""}
_BRACES = re.compile(r"\{([^{},\s]*(?:,[^{},\s]*)+)\}")
_FORMATS = re.compile(r"%(?:[-+ #0]*\d*(?:\.\d+)?)([sbqdic%])")


class Wrapper(NamedTuple):
    """A command that runs the one in its arguments.

    `valued` are options that take a word, `before` how many words stand before the command, `rest`
    whether what it runs is the rest (else all is one text for a shell).
    """

    valued: str = ""
    before: int = 0
    is_text: bool = False


WRAPPERS = {
    "sudo": Wrapper("-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir"),
    "doas": Wrapper("-u -C"),
    "env": Wrapper("-u -C --unset --chdir"),
    **dict.fromkeys(
        ("nohup", "setsid", "time", "command", "builtin", "busybox", "toybox", "eatmydata"),
        Wrapper(),
    ),
    "exec": Wrapper("-a"),
    "nice": Wrapper("-n --adjustment"),
    "ionice": Wrapper("-c -n -p --class --classdata"),
    "chrt": Wrapper("-T -P -D", 1),
    "taskset": Wrapper("", 1),
    "numactl": Wrapper("-N -m -C"),
    "timeout": Wrapper("-s -k --signal --kill-after", 1),
    "stdbuf": Wrapper("-i -o -e --input --output --error"),
    "chroot": Wrapper("", 1),
    "unshare": Wrapper("-R -w --root --wd"),
    "nsenter": Wrapper("-t --target"),
    "bwrap": Wrapper(),
    "flock": Wrapper("-w -E --timeout", 1),
    "watch": Wrapper("-n --interval", 0, is_text=True),
    "strace": Wrapper("-e -o -p -s -u"),
    "ltrace": Wrapper("-e -o -p -s -u"),
    "xargs": Wrapper("-n -I -i -P -L -d -a -s -E --max-args --replace --max-procs --arg-file"),
    "parallel": Wrapper("-j -I -a -n -N -S -L --jobs --colsep --arg-file"),
    "runuser": Wrapper("-u -g -G -s"),
    "ssh": Wrapper("-p -i -l -o -F -J -L -R -D -b -c -E -m -S -W", 1, is_text=True),
    "docker": Wrapper(
        "-u -w -e -v --user --workdir --env --name --entrypoint --volume --network", 1
    ),
    "cmd": Wrapper(),
    "kubectl": Wrapper("-n -c --namespace --container --context", 1),
}
WRAPPERS["podman"] = WRAPPERS["nerdctl"] = WRAPPERS["docker"]
_WITHIN = {"docker": ("exec", "run"), "podman": ("exec", "run"), "kubectl": ("exec",)}
_ASK = {
    **dict.fromkeys(("su", "script", "flock", "runuser"), ("-c", "--command")),
    "env": ("-S", "--split-string"),
}
_CALL = {"tar", "bsdtar", "rsync", "git", "vi", "vim", "ex", "nvim", "less", "man"}
_CALLED = re.compile(r"(?:--[\w-]+=)?(?:exec=|:?!)(.+)|--to-command=(.+)", re.DOTALL)
_ASSIGNED = re.compile(r"^\w+=")


def behind(words: list[str]) -> tuple[list[str], bool]:
    """Return the command that a wrapper runs, and whether it is a text for a shell."""
    name = words[0]
    wrapper = WRAPPERS[name]
    valued, before, at = set(wrapper.valued.split()), wrapper.before, 1
    if name in _WITHIN:
        if len(words) < 2 or words[1] not in _WITHIN[name]:
            return [], False
        at = 2
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
            if name == "kubectl":
                before = 0
        elif (word.startswith("-") and len(word) > 1) or (name == "cmd" and word[:1] == "/"):
            at += 2 if word in valued else 1
            continue
        elif name in ("sudo", "doas", "env") and _ASSIGNED.match(word):
            at += 1
            continue
        if not before or at >= len(words):
            break
        if word != "--":
            before, at = before - 1, at + 1
    return words[at:], wrapper.is_text


def texts_of(words: Sequence[str]) -> Iterator[str]:
    """Yield arguments of a command that it has a shell run."""
    name, before = words[0], ""
    asks = _ASK.get(name, ())
    for word in words[1:]:
        called = _CALLED.match(word) if name in _CALL else None
        if before in asks:
            yield word
        elif called:
            yield called[1] or called[2]
        before = word
    if name == "trap" and len(words) > 1:
        yield words[1]


def unescaped(text: str) -> str:
    """Return a text with its escapes read, marked where letters were hidden by them."""

    def read(one: re.Match[str]) -> str:
        sign = one[1]
        if sign[0] in "xu":
            return chr(int(sign[1:], 16)) + DECODED
        if sign[0] in "01234567":
            return chr(int(sign, 8)) + DECODED
        return _LETTERS.get(sign, sign)

    return _ESCAPE.sub(read, text)


def printed(words: Sequence[str]) -> str:
    """Return what `echo` or `printf` writes."""
    name, args = words[0], list(words[1:])
    if name == "echo":
        flags = "".join(args.pop(0) for _ in range(len(args)) if args and args[0] in _OF_ECHO)
        text = " ".join(args)
        return unescaped(text) if "e" in flags or "\\x" in text else text
    if args[:1] == ["--"]:
        args.pop(0)
    if not args:
        return ""
    form, rest = unescaped(args[0]), args[1:]

    def put(one: re.Match[str]) -> str:
        if one[1] == "%":
            return "%"
        return rest.pop(0) if rest else ""

    text = _FORMATS.sub(put, form)
    while rest and _FORMATS.search(form):
        text += _FORMATS.sub(put, form)
    return text[:_LONGEST]


_OF_ECHO = {"-n", "-e", "-E", "-ne", "-en"}


def braced(text: str) -> list[str]:
    """Return the words that a word with braces comes to."""
    parts = _BRACES.split(text)
    if len(parts) == 1:
        return [text]
    choices = [part.split(",") if at % 2 else [part] for at, part in enumerate(parts)]
    made: list[str] = []
    for row in product(*choices):
        made.append("".join(row))
        if len(made) == _MOST:
            break
    return made


def marks_of(text: str) -> str:
    """Return the marks that a value bears."""
    return "".join(mark for mark in MARKS if mark in text)


def unmarked(text: str) -> str:
    """Return a value without its marks."""
    return text.replace(FETCHED, "").replace(DECODED, "")


def is_broad(target: str) -> bool:
    """Whether a path is a root: of the disk, of the system, of one's home."""
    if not target:
        return False
    path = re.sub(r"/(?:\.?/)+", "/", unmarked(target))
    path = re.sub(r"(?<=/)\.$", "", path)
    return bool(BROAD.match(path.rstrip("/") or "/"))


def finds_all(args: Sequence[str]) -> list[str]:
    """Return the roots of which `find` with these words finds all, or all that is here."""
    at = next((number for number, arg in enumerate(args) if arg.startswith("-")), len(args))
    narrow = any(map(NARROWED.match, args))
    return [
        place for place in args[:at] if is_broad(place) and (place not in (".", "./") or not narrow)
    ]


LONGEST_VALUE = 20_000
_EXPANSION = re.compile(r"\$\{[!#]?(\w+|[@*#?])(\[[^\]]*\])?(?:(:?[-=+?])(.*))?", re.DOTALL)
_SPREAD = {"simple_expansion", "expansion", "command_substitution", "concatenation"}
_USUAL = {"SHELL": "bash", "BASH": "bash", "IFS": " "}


class Words(ABC):
    """What variables, arguments and files of a script hold, and what its words come to."""

    def __init__(self) -> None:
        self._data = b""
        self._values: dict[str, str] = dict(_USUAL)
        self._files: dict[str, str] = {}
        self._args: list[str] = []
        self._place = ""  # where the script has gone by `cd`; "" where it began

    @abstractmethod
    def _all(self, node: Node, given: str) -> str:
        """Run the statements within a node; return what they write."""

    def _text(self, node: Node) -> str:
        return self._data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _value(self, node: Node) -> str:
        """Return what a word comes to as one text."""
        return _VALUES.get(node.type, Words._plain)(self, node)

    def _words_of(self, node: Node) -> list[str]:
        """Return the words that a word comes to."""
        value = self._value(node)
        if node.type in ("word", "concatenation") and "{" in value:
            return braced(value)
        is_quoted = node.type == "concatenation" and re.search(r"[\"']", self._text(node))
        if node.type in _SPREAD and not is_quoted:
            return value.split() or ([value] if marks_of(value) else [])
        if self._text(node) in ('"$@"', '"${@}"'):
            return list(self._args)
        if "[@]" in self._text(node):
            return value.split()
        return [value]

    def _plain(self, node: Node) -> str:
        text = self._text(node)
        return re.sub(r"\\(.)", r"\1", text) if "\\" in text and len(text) < 4000 else text

    def _raw(self, node: Node) -> str:
        return self._text(node)[1:-1]

    def _ansi(self, node: Node) -> str:
        return unescaped(self._text(node)[2:-1])

    def _string(self, node: Node) -> str:
        return re.sub(r'\\(["\\$`])', r"\1", self._within(node)[1:-1])

    def _within(self, node: Node) -> str:
        """Return a text with what is expanded in it."""
        parts: list[str] = []
        at = node.start_byte
        for child in node.named_children:
            if child.type in _SPREAD:
                parts += [self._data[at : child.start_byte].decode("utf-8", "replace")]
                parts += [self._value(child)]
                at = child.end_byte
        parts += [self._data[at : node.end_byte].decode("utf-8", "replace")]
        return "".join(parts)[:LONGEST_VALUE]

    def _joined(self, node: Node) -> str:
        return "".join(map(self._value, node.named_children))

    def _spaced(self, node: Node) -> str:
        return " ".join(map(self._value, node.named_children))

    def _expanded(self, node: Node) -> str:
        text = self._text(node)
        one = _EXPANSION.match(text.rstrip("}")) if text.startswith("${") else None
        name = one[1] if one else text.lstrip("$")
        known = self._known(name)
        if one and one[2] and known and one[2][1:-1].isdigit():
            values = known.split()
            known = values[int(one[2][1:-1])] if int(one[2][1:-1]) < len(values) else ""
        if known is None and one and one[3] and one[3].strip(":") in "-=":
            return unmarked(one[4]).strip("\"'")
        return text if known is None else known

    def _known(self, name: str) -> str | None:
        if name in ("@", "*"):
            return " ".join(self._args) if self._args else None
        if name.isdigit() and name != "0":
            return self._args[int(name) - 1] if len(self._args) >= int(name) else None
        return self._values.get(name)

    def _substituted(self, node: Node) -> str:
        place, values = self._place, dict(self._values)
        written = self._all(node, "")
        self._place, self._values = place, values
        return written.strip("\n") or self._text(node)  # what is not known stays as it is written

    def _process(self, node: Node) -> str:
        name = f"/dev/fd/{node.start_byte}"
        if self._text(node).startswith("<"):
            self._files[base_of(name)] = self._substituted(node)
        else:
            self._all(node, "")
        return name


def base_of(path: str) -> str:
    """Return the name of a file without its folders."""
    return path.rpartition("/")[2]


_VALUES: dict[str, Callable[[Words, Node], str]] = {
    "raw_string": Words._raw,
    "ansi_c_string": Words._ansi,
    "string": Words._string,
    "concatenation": Words._joined,
    "array": Words._spaced,
    "simple_expansion": Words._expanded,
    "expansion": Words._expanded,
    "command_substitution": Words._substituted,
    "process_substitution": Words._process,
}
