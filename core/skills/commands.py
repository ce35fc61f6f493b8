"""What a skill's `allowed-tools` lets it run: shell is parsed, and judged command by command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from core.domain.errors import BundleInvalid
from core.domain.messages import Message
from core.domain.models import SKILL_MD, Bundle
from core.skills.document.frontmatter import read_values
from core.skills.document.markdown import blocks, lines_of
from core.skills.validation.paths import WARNING, Problem

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

SHELL = "Bash"
MOST_CHARS = 30_000
MOST_ENTRIES = 100
SHOWN = 80
# Options by which a program runs another one: that one was not what a `*` was meant to cover.
_RUNS = {
    "git": "-c -O -x --config-env --exec-path --upload-pack --receive-pack --extcmd --exec"
    " --open-files-in-pager --output",
    "find": "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls",
    "tar": "-I -F --to-command --checkpoint-action --use-compress-program --info-script",
    "rsync": "-e --rsh --rsync-path",
    "ssh": "-o -F",
    "scp": "-o -F -S",
    "sort": "--compress-program",
    "man": "-P -H --pager --html",
    "wget": "--use-askpass",
}
# What a step may do beside the commands that count: these change nothing outside the shell.
_ASIDE = "cd echo printf pwd true false : test [ exit set"
_FENCES = frozenset(("bash", "sh", "shell", "zsh", "console"))
_RUNNERS = {"sh": ("bash", "sh"), "py": ("python3", "python"), "js": ("node",), "ts": ("tsx",)}
# What stands for a value in a description, which a shell would read as redirections.
_PLACEHOLDER = re.compile(r"<([^\W\d][\w .-]*\w|[^\W\d])>")


class Allowed(NamedTuple):
    """One entry of `allowed-tools`; a pattern of None is any use of the tool."""

    tool: str
    pattern: str | None = None


@dataclass(frozen=True)
class Command:
    """A simple command: its words, None where only a shell would know one, and its text."""

    words: tuple[str | None, ...]
    text: str
    line: int


def read_allowed(text: str) -> tuple[Allowed, ...]:
    """Return the entries of an `allowed-tools`: `Bash(git *) Read`, with blanks or commas."""
    entries: list[str] = []
    depth = 0
    begun = False
    for char in text:
        if depth == 0 and (char.isspace() or char == ","):
            begun = False
            continue
        if not begun:
            entries.append("")
            begun = True
        entries[-1] += char
        depth = max(0, depth + (char == "(") - (char == ")"))
    return tuple(map(_entry, entries))


def _entry(text: str) -> Allowed:
    tool, opened, inner = text.partition("(")
    pattern = inner.removesuffix(")").strip()
    if not opened or pattern == "*":
        return Allowed(tool)
    return Allowed(tool, f"{pattern.removesuffix(':*')} *" if pattern.endswith(":*") else pattern)


def uncovered(allowed: Sequence[Allowed], script: str) -> list[str]:
    """Return the parts of a shell text that are not covered, as they are written; none if all are.

    Each command of a list, a pipe, a loop or a function is judged by itself. Whatever gives a part
    another meaning is not covered by a pattern: substitutions, redirections, variables set before a
    command, options that run other programs, and text that is no shell.
    """
    rules = [entry.pattern for entry in allowed[:MOST_ENTRIES] if entry.tool == SHELL]
    if None in rules:
        return []
    if len(script) > MOST_CHARS:
        return [script[:SHOWN]]
    patterns = [pattern.split() for pattern in dict.fromkeys(rules) if pattern]
    root = _parsed(script)
    found = [_text(node) for node in _walk(root) if _is_more(node)]
    found += [
        command.text
        for command in commands_in(script)
        if not any(_covers(pattern, command) for pattern in patterns)
    ]
    return list(dict.fromkeys(found))


def commands_in(script: str) -> list[Command]:
    """Return all simple commands of a shell text, those within others too, in order."""
    return [
        Command(tuple(_words(node)), _text(node), node.start_point.row)
        for node in _walk(_parsed(script))
        if node.type in {"command", "declaration_command", "unset_command"}
    ]


def runs(document: str, patterns: Sequence[str]) -> bool:
    """Whether a step of a SKILL.md runs one of these commands, wherever it stands in it.

    True also where there is more shell code than is read. Raises BundleInvalid.
    """
    wanted = [pattern.split() for pattern in patterns]
    code = [code for _, code in steps_in(document)]
    if sum(map(len, code)) > MOST_CHARS:
        return True
    commands = (command.words for one in code for command in commands_in(one))
    return any(_like(pattern, words) for words in commands for pattern in wanted)


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _parsed(script: str) -> Node:
    return _parser().parse(script[:MOST_CHARS].encode(errors="replace")).root_node


def _walk(root: Node) -> Iterator[Node]:
    """Yield a node and all below it in order, without recursion."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


_MORE = {
    "command_substitution",
    "process_substitution",
    "variable_assignment",
    "variable_assignments",
    "herestring_redirect",
    "ERROR",
}
_HARMLESS_TARGETS = {"/dev/null", "/dev/stdout", "/dev/stderr"}


def _is_more(node: Node) -> bool:
    """Whether this is what no pattern covers."""
    if node.type == "file_redirect":
        return not _is_harmless(node)
    return node.type in _MORE or node.is_missing


def _is_harmless(redirect: Node) -> bool:
    """Whether a redirection writes nothing: to nowhere, or to another descriptor."""
    targets = redirect.children_by_field_name("destination")
    if len(targets) != 1:  # more are words of the command, as in `git > /dev/null -c …`
        return False
    (target,) = targets
    is_descriptor = target.type == "number" and any(
        child.type in {">&", "<&"} for child in redirect.children
    )
    return is_descriptor or _text(target) in _HARMLESS_TARGETS


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _words(command: Node) -> Iterator[str | None]:
    """Yield a command's words as the shell gives them to the program."""
    for child in command.children:
        if child.type == "command_name":
            yield _value(child.children[0]) if child.children else None
        elif child.type not in {"variable_assignment", "file_redirect", "herestring_redirect"}:
            yield _value(child)


def _value(node: Node) -> str | None:
    """Return what a word comes to; None if that depends on what runs it."""
    text = _text(node)
    if node.type == "raw_string":
        return text[1:-1]
    if node.type in {"string", "concatenation"}:
        inner = [child for child in node.children if child.type != '"']
        parts = [_value(child) for child in inner]
        return None if None in parts else "".join(part for part in parts if part is not None)
    if node.type == "string_content":
        return re.sub(r'\\([$`"\\\n])', r"\1", text)
    if node.type in {"word", "number"} or not node.is_named:
        return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
    return None


def _covers(pattern: Sequence[str], command: Command) -> bool:
    words = command.words
    if not words or not _like(pattern, words):
        return False
    program = (words[0] or "").rpartition("/")[2]
    options = _RUNS.get(program, "").split()
    if options and len(words) > 1 and words[1] is None:
        return False  # an unknown word there may be any of them
    named = {part.partition("=")[0] for part in pattern}
    return not any(
        _is_option(word or "", option, is_git=program == "git")
        for word in words[1:]
        for option in options
        if option not in named
    )


def _is_option(word: str, option: str, *, is_git: bool) -> bool:
    """Whether a word is an option, with its value attached or among other letters too."""
    if word.partition("=")[0] == option:
        return True
    if len(option) > 2 or word.startswith("--") or not word.startswith("-"):
        return False
    return option == "-O" and word.startswith(option) if is_git else option[1] in word


def _like(pattern: Sequence[str], words: Sequence[str | None]) -> bool:
    """Whether words fit a pattern, in which `*` alone is any number of words.

    Skills bring both: the time is bounded by their product, as in matching of file names.
    """
    at, place = 0, 0
    star, resumed = -1, 0
    while at < len(words):
        if place < len(pattern) and pattern[place] == "*":
            star, resumed = place, at
            place += 1
        elif place < len(pattern) and _is_word(words[at], pattern[place]):
            at, place = at + 1, place + 1
        elif star >= 0:
            resumed += 1
            at, place = resumed, star + 1
        else:
            return False
    return all(part == "*" for part in pattern[place:])


def _is_word(word: str | None, pattern: str) -> bool:
    return word is not None and fnmatchcase(word, pattern)


def steps_in(document: str) -> list[tuple[int, str]]:
    """Return the shell code of a SKILL.md, with the line on which each block begins.

    Of a `console` block only what follows a prompt. Raises BundleInvalid for too many lines.
    """
    lines = lines_of(document)
    found = []
    for block in blocks(document):
        info = lines[block.first].replace("~", "`").rpartition("`")[2].split()
        if block.kind == "fence" and info and info[0].lower() in _FENCES:
            code = _prompted(block.content) if info[0].lower() == "console" else block.content
            found.append((block.first + 1, _PLACEHOLDER.sub(r"\1", code)))
    return found


def _prompted(text: str) -> str:
    lines = (line.lstrip() for line in text.splitlines())
    return "\n".join(line[2:] for line in lines if line.startswith(("$ ", "# ")))


def bundle_tool_problems(bundle: Bundle) -> list[Problem]:
    """Return what a skill runs that its own `allowed-tools` does not cover, as warnings."""
    file = bundle.files.get(SKILL_MD)
    document = file.data.decode("utf-8", "replace") if file else ""
    return tool_problems(document, [*bundle.files])


def tool_problems(document: str, paths: Sequence[str]) -> list[Problem]:
    """Return a warning for each step and each script that the skill's own tools do not cover.

    `paths` are those of its files. A skill that names no tools is not judged.
    """
    try:
        given = read_values(document).get("allowed-tools")
        steps = steps_in(document)
    except BundleInvalid:
        return []
    if given is None or isinstance(given.value, dict):
        return []
    if isinstance(given.value, str):
        allowed = read_allowed(given.value)
    else:
        parts = (one.value for one in given.value)
        allowed = tuple(_entry(part.strip()) for part in parts if isinstance(part, str))
    return [*_of_steps(allowed, steps), *_of_scripts(allowed, paths)]


def _of_steps(allowed: Sequence[Allowed], steps: Sequence[tuple[int, str]]) -> Iterator[Problem]:
    aside = [Allowed(SHELL, f"{name} *") for name in _ASIDE.split()]
    left = MOST_CHARS
    for line, code in steps:
        left -= len(code)
        if parts := uncovered([*aside, *allowed], code) if left > 0 else [code]:
            shown = "; ".join(part.partition("\n")[0][:SHOWN] for part in parts[:3])
            yield _problem(Message("skill.step_uncovered", n=line, command=shown))
        if left <= 0:
            return


def _of_scripts(allowed: Sequence[Allowed], paths: Sequence[str]) -> Iterator[Problem]:
    for path in sorted(path for path in paths if path.startswith("scripts/")):
        runners = _RUNNERS.get(path.rpartition(".")[2], ())
        ways = (path, f"./{path}", *(f"{runner} {path}" for runner in runners))
        calls = (f"{way}{arguments}" for way in ways for arguments in ("", " x"))
        if runners and all(uncovered(allowed, call) for call in calls):
            yield _problem(Message("skill.script_uncovered", path=path))


def _problem(why: str) -> Problem:
    return Problem("tools-uncovered", WARNING, SKILL_MD, why, Message("skill.hint_tools"))
