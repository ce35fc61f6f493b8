"""What a shell script does that may do harm, by its syntax tree (tree-sitter-bash)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

from core.safety.shell_flow import Flow
from core.safety.shell_values import behind
from core.safety.shell_words import (
    ASKERS,
    BROAD,
    CREDENTIALS,
    FETCH,
    HOST,
    KEY_VARIABLES,
    PREFIXES,
    REMOTE,
    RUNNERS,
    SENDERS,
    SENDS,
    SHELLS,
    UNCHECKED,
    UNPACKERS,
    URL,
    VENDORS,
)
from core.safety.surroundings import PERSISTENT, SECRETS, Found, Surroundings

_LONGEST_LINE = 8_000
_READERS = {
    *("env", "printenv", "set", "history", "whoami", "id", "ps"),
    *("cat", "tar", "zip", "find", "ls", "grep"),
}
_PROMPT = re.compile(r"^(\s*)[$%] (?=\S)", re.MULTILINE)
# The parser takes a line that begins with `\\rm` for more words of the line before.
_ESCAPED = re.compile(r"^(\s*)\\(?=[a-z])", re.MULTILINE)


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def shell_findings(code: str, around: Surroundings) -> Iterator[Found]:
    """Yield what a script does that may do harm, by spans of the script."""
    script = _Script(around)
    for start, part in _parts(_ESCAPED.sub(r"\1 ", _PROMPT.sub(r"\1  ", code))):
        if len(part) > _LONGEST_LINE:  # nobody reads it, and the parser's time grows by the square
            yield "code.hides", start, start + len(part)
        for found, begin, end in dict.fromkeys(script.findings(part[:_LONGEST_LINE])):
            yield found, start + begin, start + end


def _parts(code: str) -> Iterator[tuple[int, str]]:
    """Yield a script in parts of whole lines."""
    start = 0
    while start < len(code):
        end = start + _LONGEST_LINE
        if end < len(code):
            cut = code.rfind("\n", start, end) + 1 or code.find("\n", end) + 1
            end = cut or len(code)
        yield start, code[start:end]
        start = end


class _Script:
    """One script: its commands in order, what it fetched, what variables hold."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._data, self._ascii = b"", True
        self._fetched: set[str] = set()
        self._unpacked = False
        self._flow = Flow(around, _parser().parse)
        self._values: dict[str, str] = {}

    def findings(self, code: str) -> Iterator[Found]:
        """Yield what the next part of the script does, by spans of the part."""
        self._data = code.encode("utf-8", "replace")
        self._ascii = len(self._data) == len(code)
        root = _parser().parse(self._data).root_node
        # With a stack: scripts nest deeper than Python recurses.
        stack = [root]
        nodes: list[Node] = []
        while stack:
            node = stack.pop()
            nodes.append(node)
            stack.extend(reversed(node.named_children))
        for code_found, node in self._flow.findings(root, self._data):
            yield self._found(code_found, node)
        for node in nodes:
            if node.type == "variable_assignment":
                name, _, value = self._text(node).partition("=")
                self._values[name.rstrip("+")] = value.strip("\"'")
            if node.type == "pipeline":
                yield from self._pipeline(node)
            elif node.type == "command":
                yield from self._command(node)
            elif node.type in ("unset_command", "declaration_command") and "HIST" in self._text(
                node
            ):
                yield self._found("code.hides", node)
            elif node.type == "file_redirect":
                yield from self._redirect(node)
            elif node.type == "function_definition" and re.search(
                rb"\{\s*(\S+)\s*\|\s*\1\s*&", self._data[node.start_byte : node.end_byte]
            ):
                yield self._found("code.deletes_broadly", node)

    def _text(self, node: Node) -> str:
        return self._data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _found(self, code: str, node: Node) -> Found:
        start, end = node.start_byte, node.end_byte
        if not self._ascii:
            start = len(self._data[:start].decode("utf-8", "replace"))
            end = len(self._data[: node.end_byte].decode("utf-8", "replace"))
        return code, start, end

    def _words(self, node: Node) -> list[str]:
        """Return a command as words without quotes, without what only runs another command."""
        words = [self._word(child) for child in node.named_children if "redirect" not in child.type]
        while len(words) > 1 and words[0].rpartition("/")[2] in PREFIXES:
            inner, _ = behind([words[0].rpartition("/")[2], *words[1:]])
            if not inner:
                break
            words = inner
        if words and words[0].startswith("$"):
            words[:1] = self._expanded(words[0]).split() or words[:1]
        if words:
            words[0] = words[0].rpartition("/")[2] or words[0]
        return words

    def _word(self, node: Node) -> str:
        text = self._text(node)
        if node.type == "command_name" or len(text) > 4000:
            text = text.replace("\\", "") if "\\" in text and len(text) < 100 else text
        return re.sub(r"(?<!\\)[\"']", "", text) if node.type != "raw_string" else text[1:-1]

    def _commands(self, node: Node) -> Iterator[list[str]]:
        """Yield the words of each command of a pipeline; of what is none no word."""
        for child in node.named_children:
            if child.type not in ("command", "redirected_statement", "subshell"):
                continue
            inner = child
            if child.type == "redirected_statement" and child.named_children:
                inner = child.named_children[0]
            yield (self._words(inner) if inner.type == "command" else []) or [""]

    def _pipeline(self, node: Node) -> Iterator[Found]:
        """Yield what is private and goes through a pipe to what sends."""
        private = piped = False
        for words in self._commands(node):
            name = words[0]
            if (private and (name in FETCH or name in SENDERS)) or (piped and self._tells(words)):
                yield self._found("code.phones_out", node)
            piped = True
            private = private or (name in _READERS and self._is_private(words))

    def _tells(self, words: list[str]) -> bool:
        """Whether what comes through a pipe is written on another machine."""
        if words[0] != "ssh" or not any(re.search(r"\b(?:cat|tee|dd|tar)\b", one) for one in words):
            return False
        hosts = [
            word.rpartition("@")[2] for word in words[1:] if "@" in word or HOST.fullmatch(word)
        ]
        return any(not self._around.allows(host) for host in hosts)

    @staticmethod
    def _is_private(words: list[str]) -> bool:
        return words[0] in ("env", "printenv", "set", "history", "whoami", "id", "ps") or any(
            map(SECRETS.search, words[1:])
        )

    def _command(self, node: Node) -> Iterator[Found]:
        words = self._words(node)
        if not words:
            return
        name, args = words[0], words[1:]
        text = self._text(node)
        yield from self._runs(node, name, args, text)
        yield from self._sends(node, name, args, text)
        if any(SECRETS.search(self._expanded(arg)) for arg in args) and name not in (
            "echo",
            "printf",
            "grep",
            "rg",
            "touch",
            "git",
        ):
            yield self._found("code.reads_credentials", node)
        yield from self._unlocks(node, name, args)
        if (
            (name == "crontab" and "-l" not in args)
            or name in ("schtasks", "launchctl", "useradd", "adduser", "visudo", "at", "batch")
            or (name == "systemctl" and "enable" in args)
            or (
                name in ("tee", "cp", "mv", "install", "ln")
                and args
                and PERSISTENT.search(args[-1])
            )
            or (name == "git" and PERSISTENT.search(text))
        ):
            yield self._found("code.persists", node)
        if CREDENTIALS.match(" ".join(words[:4])):
            yield self._found("code.reads_credentials", node)
        if UNCHECKED.match(" ".join(words)):
            yield self._found("control.dropped", node)
        if (
            (name == "history" and "-c" in args)
            or (name in ("unset", "export", "set") and "HIST" in text)
            or (name == "set" and "history" in args)
            or (name in ("truncate", "rm", "shred") and re.search(r"/var/log|_history\b", text))
            or (name in ("powershell", "pwsh") and re.search(r"(?i)\s-e(?:nc\w*)?\s", text))
            or re.match(r"\w*\$\([^)]*\)\w+|\w+\$\([^)]*\)", text)
        ):
            yield self._found("code.hides", node)

    def _expanded(self, word: str) -> str:
        return re.sub(r"\$\{?(\w+)\}?", lambda one: self._values.get(one[1], one[0]), word)

    def _runs(self, node: Node, name: str, args: list[str], text: str) -> Iterator[Found]:
        inner = "".join(self._text(child) for child in self._substitutions(node))
        if name in ("eval", ".", "source", *SHELLS) and re.search(
            r"base64|xxd|openssl|\\x|rev\b|gunzip|printf", inner
        ):
            yield self._found("code.hides", node)
        if name == "eval" and re.search(r"base64|\\x", self._expanded(" ".join(args))):
            yield self._found("code.hides", node)
        yield from self._runs_unpacked(node, name, args, text)
        ran = [name, *args[:1]] if name in RUNNERS else [name]
        if name not in FETCH and any(
            word.rpartition("/")[2] in self._fetched for word in ran if word
        ):
            yield self._found("code.runs_fetched", node)
        if name in (
            "pip",
            "pip3",
            "npm",
            "uv",
            "pipx",
            "gem",
            "yarn",
            "pnpm",
            "npx",
            "uvx",
        ) and any(re.match(r"(?:git\+|https?://)", arg) or "index-url" in arg for arg in args):
            yield self._found("code.runs_fetched", node)
        if name in ("certutil", "mshta", "regsvr32", "bitsadmin"):
            yield self._found("code.runs_fetched", node)

    def _runs_unpacked(self, node: Node, name: str, args: list[str], text: str) -> Iterator[Found]:
        """Remember what is fetched and unpacked; yield what is run out of it."""
        if name in FETCH:
            self._fetched |= {word.rpartition("/")[2] for word in self._outputs(name, args)}
        unpacks = name in UNPACKERS
        self._unpacked |= unpacks and any(arg.rpartition("/")[2] in self._fetched for arg in args)
        if self._unpacked and not unpacks and re.match(r"\.{0,2}/?[\w.-]+/[\w./-]+\.?\w*$", text):
            yield self._found("code.runs_fetched", node)

    def _substitutions(self, node: Node) -> Iterator[Node]:
        stack = list(node.named_children)
        while stack:
            child = stack.pop()
            if child.type in ("command_substitution", "process_substitution"):
                yield child
            else:
                stack.extend(child.named_children)

    @staticmethod
    def _outputs(name: str, args: list[str]) -> Iterator[str]:
        for at, arg in enumerate(args):
            if (
                arg in ("-o", "-O", "--output", "--output-document")
                and at + 1 < len(args)
                and not args[at + 1].startswith(("-", "http"))
            ) or (
                re.match(r"-\w*[oO]\w*$", arg)
                and at + 1 < len(args)
                and name in ("curl", "wget")
                and not args[at + 1].startswith("-")
            ):
                yield args[at + 1]
            elif arg.startswith(("http://", "https://")):
                yield arg.partition("?")[0]

    def _sends(self, node: Node, name: str, args: list[str], text: str) -> Iterator[Found]:
        urls = [
            url
            for arg in args
            for url in URL.findall(self._expanded(arg))
            if "://" in url or name not in FETCH
        ]
        urls += [arg for arg in args if HOST.fullmatch(arg)]
        foreign = [url for url in urls if not self._around.allows(url)]
        if name in FETCH and (foreign or not urls):
            posts = (
                self._tells_keys(text, foreign)
                or any(map(SENDS.match, args))
                or re.search(r"(?:-X|--request|--method)[ =]?[\"']?(?:POST|PUT|PATCH)", text)
            )
            inner = "".join(self._text(child) for child in self._substitutions(node))
            tells = re.search(
                r"\b(?:cat|env|printenv|base64|whoami|hostname|id|history|grep|tar"
                r"|head|tail|jq|xxd)\b",
                inner,
            )
            if posts or tells:
                yield self._found("code.phones_out", node)
        elif (
            (name in SENDERS and (foreign or not urls) and "-h" not in args and args)
            or (
                name in ASKERS
                and re.search(r"\$[({\w]|`", text)
                and any("." in arg for arg in args)
            )
            or (
                name in ("scp", "rsync", "ssh", "aws", "gsutil", "rclone")
                and any(REMOTE.search(arg) for arg in args)
                and args[0] != "help"
            )
            or (name == "ssh" and any(re.match(r"-\w*[RDL]", arg) for arg in args))
            or (name == "git" and "push" in args and any("://" in arg for arg in args) and foreign)
        ):
            yield self._found("code.phones_out", node)
        if (
            name in ("env", "printenv")
            and not args
            and node.parent is not None
            and node.parent.type in ("command_substitution", "pipeline")
            and re.search(rb"curl|wget|nslookup|dig |nc |/dev/tcp|http", self._data)
        ):
            yield self._found("code.reads_credentials", node)

    @staticmethod
    def _tells_keys(text: str, foreign: list[str]) -> bool:
        """Whether a key goes into an address, or to another host than that of its vendor."""
        for one in KEY_VARIABLES.finditer(text):
            vendor = one[1].partition("_")[0].lower()
            header = re.search(r"-H\s*[\"'][^\"']*$|--header[ =][\"'][^\"']*$", text[: one.start()])
            if not header or (vendor in VENDORS and not any(vendor in url for url in foreign)):
                return True
        return False

    def _redirect(self, node: Node) -> Iterator[Found]:
        text = self._text(node)
        if "/dev/tcp/" in text or "/dev/udp/" in text:
            yield self._found("code.phones_out", node.parent or node)
        if text.lstrip("0123456789&").startswith(">") and PERSISTENT.search(text):
            yield self._found("code.persists", node.parent or node)
        if re.match(r">\s*\S*(?:_history\b|/var/log/)", text):
            yield self._found("code.hides", node.parent or node)
        if re.match(r"\d?>>?\s*/dev/(?:sd|nvme|hd|disk)", text):
            yield self._found("code.deletes_broadly", node.parent or node)
        if text.startswith("<") and SECRETS.search(text[1:].strip()):
            yield self._found("code.reads_credentials", node.parent or node)

    def _unlocks(self, node: Node, name: str, args: list[str]) -> Iterator[Found]:
        targets = [self._expanded(arg) for arg in args if not arg.startswith("-")]
        broad = any(
            BROAD.match(target) or BROAD.match(arg)
            for target, arg in zip(targets, [a for a in args if not a.startswith("-")], strict=True)
        )
        recursive = any(
            re.match(r"-\w*[rR]|--recursive|--no-preserve-root|/s\b", arg) for arg in args
        )
        if (
            (
                name in ("chmod", "chown")
                and (broad or any(target.startswith(("/etc/", "/usr/")) for target in targets))
                and (recursive or "777" in args)
            )
            or (name in ("sudo", "su", "doas") and args[:1] != ["--help"])
            or (name == "docker" and "--privileged" in args)
        ):
            yield self._found("tools.no_wall", node)
