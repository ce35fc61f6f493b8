"""The rules for SKILL.md: its frontmatter and the length of its body."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from core.domain.messages import Message
from core.skills.validation.head_reader import find_head, read_head
from core.skills.validation.head_values import HeadError, Node
from core.skills.validation.paths import (
    ERROR,
    SKILL_MD,
    WARNING,
    Problem,
    cut,
    folder_problems,
    is_device_name,
    is_invisible,
)

# The limits of the Agent Skills specification; those of the body are recommendations.
MAX_NAME = 64
MAX_DESCRIPTION = 1_024
MAX_COMPATIBILITY = 500
MAX_BODY_LINES = 500
MAX_BODY_TOKENS = 5_000
KEYS = ("name", "description", "license", "allowed-tools", "metadata", "compatibility")
# What coding tools read besides: kept and written, though the specification does not have it.
KEYS_OF_TOOLS = (
    *("paths", "arguments", "argument-hint", "context", "agent", "model", "hooks"),
    *("disable-model-invocation", "user-invocable"),
)
# Words that platforms refuse in the name of an uploaded skill.
RESERVED = ("claude", "anthropic")

# Plain scalars that YAML 1.1 or 1.2 reads as a number, a date, a truth value or nothing.
_TYPED = re.compile(
    r"~|null|true|false|yes|no|on|off|[yn]|[-+]?(?:\.?\d[\d_]*(?:\.[\d_]*)?(?:e[-+]?\d+)?|\.inf|\.nan)"
    r"|0[xob][\da-f_]+|\d{4}-\d\d?-\d\d?(?:[t \t].*)?|[-+]?\d+(?::\d\d)+(?:\.\d*)?",
    re.IGNORECASE,
)
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e007a]{1,6}\U000e007f")  # of a part of a country
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_JOINERS = "\u200c\u200d"  # between letters of several scripts, and inside emoji
_SEEN = frozenset((*_JOINERS, "\r", "\n", "\t", "\0"))  # NUL has a rule of its own
_SHOWN = 5
_BODY_HINT = Message("skill.hint_body")


def document_problems(folder_name: str, document: bytes | None) -> list[Problem]:
    """Return the rules that the bytes of SKILL.md break, in a folder of that name."""
    if document is None:
        return [
            _error(
                "document-missing",
                Message("skill.document_missing"),
                Message("skill.hint_root"),
            )
        ]
    try:
        text = document.decode("utf-8")
        start, end, body = find_head(text)
        head = read_head(text[start:end])
    except UnicodeDecodeError:
        return [
            _error("document-encoding", Message("skill.document_encoding"), Message("hint.utf8"))
        ]
    except HeadError as error:
        return [_error(error.code, error.message, Message("head.hint"))]
    return [
        *_head_problems(folder_name, head, text[start:end]),
        *_character_problems(text, start, head.get("description")),
        *_body_problems(text[body:]),
    ]


def written_problems(document: bytes | None) -> list[Problem]:
    """Return the rules that bind only what the program writes, and nothing that it reads.

    The reference validator of the specification reads no `[...]` and no `{...}`.
    """
    try:
        text = (document or b"").decode("utf-8")
        start, end, _ = find_head(text)
        head = read_head(text[start:end])
    except (UnicodeDecodeError, HeadError):
        return []  # document_problems reports it
    message = Message("skill.flow")
    flows = any(_is_flow(node, text[start:end]) for node in head.values())
    return [_error("head-flow", message, Message("skill.hint_flow"))] if flows else []


def _is_flow(node: Node, source: str) -> bool:
    if isinstance(node.value, str):
        return False
    parts = node.value.values() if isinstance(node.value, dict) else node.value
    return source[node.start] in "[{" or any(_is_flow(part, source) for part in parts)


def description_of(document: bytes) -> str | None:
    """Return the description in SKILL.md, or None if it cannot be read."""
    return _value_of(document, "description")


def name_of(document: bytes) -> str | None:
    """Return the name in SKILL.md, or None if it cannot be read."""
    return _value_of(document, "name")


def _value_of(document: bytes, key: str) -> str | None:
    try:
        text = document.decode("utf-8")
        start, end, _ = find_head(text)
        value = read_head(text[start:end]).get(key)
    except (UnicodeDecodeError, HeadError):
        return None
    return value.value if value and isinstance(value.value, str) else None


def name_problems(name: str) -> list[Problem]:
    """Return the rules for a skill's name that `name` breaks; the last three bind new skills."""
    found = []
    if not _NAME.fullmatch(name):
        message = Message("skill.name_form", name=cut(name))
        found.append(_error("name-form", message, Message("skill.hint_name")))
    if len(name) > MAX_NAME:
        message = Message("skill.name_length", n=len(name), most=MAX_NAME)
        found.append(_error("name-length", message, Message("hint.shorten")))
    if is_device_name(name):
        message = Message("skill.name_is_device", name=name)
        found.append(_warning("name-device", message, Message("hint.other_name")))
    for word in RESERVED:
        if word in name.lower():
            message = Message("skill.name_word", word=word)
            found.append(_warning("name-reserved", message, Message("skill.hint_reserved")))
    return found


def description_problems(description: str) -> list[Problem]:
    """Return the rules for a skill's description that it breaks; some bind new texts only."""
    found = []
    if not description.strip():
        found.append(
            _error(
                "description-empty",
                Message("skill.description_empty"),
                Message("skill.hint_description"),
            )
        )
    if "<" in description or ">" in description:
        message = Message("skill.description_brackets")
        found.append(_warning("description-brackets", message, Message("skill.hint_markup")))
    if len(description) > MAX_DESCRIPTION:
        message = Message("skill.description_length", n=len(description), most=MAX_DESCRIPTION)
        found.append(_error("description-length", message, Message("skill.hint_details")))
    if re.search(r"[\r\n]", description.strip()):
        message = Message("skill.description_lines")
        found.append(_warning("description-lines", message, Message("skill.hint_lines")))
    if any(is_invisible(char) and char not in _JOINERS + "\r\n" for char in description):
        message = Message("skill.description_invisible")
        found.append(_warning("description-invisible", message, Message("skill.hint_leave_out")))
    return found


def _head_problems(folder_name: str, head: dict[str, Node], source: str) -> Iterator[Problem]:
    texts = {}
    for key in ("name", "description"):
        value = head[key].value if key in head else None
        if value is None:
            yield _error(
                f"{key}-missing",
                Message("skill.key_missing", key=key),
                Message("skill.hint_add_key", key=key),
            )
        elif isinstance(value, str):
            texts[key] = value
        else:
            yield _error(f"{key}-text", Message("skill.key_no_text", key=key), "")
    if "name" in texts:
        yield from name_problems(texts["name"])
        yield from _folder_problems(folder_name, texts["name"])
    if "description" in texts:
        yield from description_problems(texts["description"])
    yield from _other_problems(head)
    for key in ("name", "description", "compatibility"):
        if key in head and _is_typed(head[key], source):
            message = Message("skill.unquoted", key=key, value=cut(str(head[key].value)))
            yield _warning("head-unquoted", message, Message("skill.hint_quotes"))


def _is_typed(node: Node, source: str) -> bool:
    """Whether other readers take an unquoted value for something else than text."""
    value = node.value
    plain = source[node.start : node.start + 1] not in {'"', "'", "|", ">"}
    return plain and isinstance(value, str) and _TYPED.fullmatch(value) is not None


def _folder_problems(folder_name: str, name: str) -> Iterator[Problem]:
    if name != folder_name:
        message = Message("skill.name_not_folder", name=cut(name), folder=cut(folder_name))
        yield _warning("name-folder", message, Message("skill.hint_same_name"))


def _other_problems(head: dict[str, Node]) -> Iterator[Problem]:
    for key in head:
        if key in KEYS_OF_TOOLS:
            yield _warning("key-of-tools", Message("skill.key_of_tools", key=key), "")
        elif key not in KEYS:
            message = Message("skill.key_unknown", key=cut(key), keys=", ".join(KEYS))
            yield _warning("key-unknown", message, Message("skill.hint_metadata"))
    value = head["compatibility"].value if "compatibility" in head else "none"
    if not isinstance(value, str) or not 0 < len(value) <= MAX_COMPATIBILITY:
        message = Message("skill.compatibility", n=MAX_COMPATIBILITY)
        yield _warning("compatibility", message, Message("hint.shorten"))


def _character_problems(document: str, start: int, described: Node | None) -> Iterator[Problem]:
    """Yield what is wrong with characters that nobody sees, apart from those in the description."""
    if document.startswith("\ufeff"):
        message = Message("skill.byte_order_mark")
        yield _warning("document-mark", message, Message("skill.hint_mark"))
    if "\0" in document:
        message = Message("skill.document_nul")
        yield _error("document-nul", message, Message("skill.hint_leave_out"))
    text = document.lstrip("\ufeff")
    if described is not None:
        text = document[:start].lstrip("\ufeff") + document[start : start + described.start]
        text += document[start + described.end :]
    unseen = {char for char in set(_FLAG.sub("", text)) if is_invisible(char)} - _SEEN
    if unseen:
        # Which ones, not where: a change elsewhere in the text must not make them new.
        listed = ", ".join(f"U+{ord(char):04X}" for char in sorted(unseen)[:_SHOWN])
        message = Message("skill.document_invisible", n=len(unseen), listed=listed)
        yield _warning("document-invisible", message, Message("skill.hint_leave_out"))


def _body_problems(body: str) -> Iterator[Problem]:
    if not body.strip():
        message = Message("skill.body_empty", file=SKILL_MD)
        yield _warning("body-empty", message, Message("skill.hint_procedure"))
    lines = len(body.splitlines())
    if lines > MAX_BODY_LINES:
        message = Message("skill.many_lines", lines=lines, most=MAX_BODY_LINES)
        yield _warning("body-lines", message, _BODY_HINT)
    # A token is about four bytes of UTF-8, in English as in Korean.
    tokens = len(body.encode("utf-8")) // 4
    if tokens > MAX_BODY_TOKENS:
        message = Message("skill.many_tokens", tokens=tokens, most=MAX_BODY_TOKENS)
        yield _warning("body-tokens", message, _BODY_HINT)


def _error(code: str, message: str, hint: str) -> Problem:
    return Problem(code, ERROR, SKILL_MD, message, hint)


def _warning(code: str, message: str, hint: str) -> Problem:
    return Problem(code, WARNING, SKILL_MD, message, hint)


# Warnings for what is read; what the program itself writes must not have them.
_BIND_WHAT_IS_NEW = frozenset(
    (
        "body-empty",
        "compatibility",
        "description-brackets",
        "description-invisible",
        "description-lines",
        "document-invisible",
        "document-mark",
        "head-unquoted",
        "key-unknown",
        "name-device",
        "name-folder",
        "name-reserved",
    )
)


def skill_problems(
    name: str, sizes: Mapping[str, int], document: bytes | None, folders: Iterable[str] = ()
) -> list[Problem]:
    """Return the rules that a skill breaks: its folder's name, files (path -> bytes) and SKILL.md.

    Errors come first, each kind in the order of the rules.
    """
    found = [*document_problems(name, document), *folder_problems(sizes, folders)]
    return sorted(found, key=lambda problem: problem.severity != ERROR)


def as_new(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems as they bind what is written: the platforms' upload rules are errors."""
    return [
        problem._replace(severity=ERROR) if problem.code in _BIND_WHAT_IS_NEW else problem
        for problem in problems
    ]


def tolerated(problems: Iterable[Problem], known: Iterable[tuple[str, str]]) -> list[Problem]:
    """Return the problems, those whose (code, path) was `known` before as warnings."""
    before = set(known)
    return [
        problem._replace(severity=WARNING) if (problem.code, problem.path) in before else problem
        for problem in problems
    ]
