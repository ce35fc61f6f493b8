"""Text helpers: safe for a terminal, storable, shortened, folded for comparison."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from core.domain.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic import JsonValue


_LARGEST_FLOAT = 10**308
_MASK = "***"
_SHORTEST_SECRET = 8
_secrets: set[str] = set()
# What stands before a key is kept: the user of a password, the name of a header or a parameter.
_KEYS = re.compile(
    r"(://[^\s/@:]*:)[^\s/]+(?=@)"
    r"|(://)[^\s/@:]{16,}(?=@)"  # a token in the place of a user
    r"|(\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}"
    r"|(\b(?:api[-_ ]?key|passw(?:or)?d|secret|(?:access|auth)[-_]token)"
    r"[\"']?(?:\s*[:=]\s*|\s+provided:\s*)[\"']?)[^\s\"',;&*]+"
    r"|([?&](?:key|token|sig|signature|code)=)[^\s\"'&]+"
    r"|\b(?:sk|pk|rk)-[\w-]{16,}|\bgsk_\w{8,}|\bswk_[\w-]{8,}|\bAIza[\w-]{20,}"
    r"|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+",
    re.IGNORECASE,
)
_SIGNS_OF_KEYS = (
    *("://", "bearer", "basic", "api", "passw", "secret", "access", "auth", "key=", "sk-", "pk-"),
    *("token=", "sig=", "signature=", "code=", "rk-", "gsk_", "swk_", "aiza", "eyj"),
)
_ALLOWED = "\n\t"
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
# Letters and marks that show nothing: fillers of Hangul and others, and selectors of variants, in
# which whole texts can be hidden.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
_STYLES = "\ufe0e\ufe0f"
_JOINERS = "\u200c\u200d"
# Arabic, the scripts of India and their neighbours: they need joiners between letters.
_JOINING = ((0x0600, 0x109F), (0x1780, 0x18AF), (0xA800, 0xABFF))
# Letters that are written from right to left, and what numbers among them consist of: after
# Arabic, `110-999` would be shown as `999-110`.
_LEFTWARD_RANGES = (
    "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
)
LEFTWARD = re.compile(f"[{_LEFTWARD_RANGES}]")
NUMBER = re.compile(r"((?:[+#-])?\d[\d.,:/+*#-]*)")
# From a letter to the last on its line with no other letters between; two blanks divide columns.
_LEFTWARD_RUN = re.compile(
    rf"[{_LEFTWARD_RANGES}](?:(?:(?!\n|\s\s)[{_LEFTWARD_RANGES}\W\d_])*[{_LEFTWARD_RANGES}])?"
)
_ISOLATE, _ISOLATE_RIGHTWARD, _END = "\u2068", "\u2066", "\u2069"
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")
# Full-width ASCII (U+FF01 to U+FF5E), invisible blanks, and one form each for signs.
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_UNSEEN = dict.fromkeys((0x00AD, 0x200B, 0x2060, 0xFEFF))
_SIGNS = str.maketrans("‘’‚′“”„«»「」『』−", '\'\'\'\'"""""""""-')
_FORMS = {**_WIDE, **_UNSEEN, **_SIGNS}
# Where the case of a letter says something: paths and addresses, names with `_`, keys in which
# letters and digits alternate (`aB3k`), options (`-v`), and units (`mW` and `MW`, `Mb` and `MB`).
_CASED = re.compile(
    r"""
    (?<![A-Za-z0-9_])(?:
        [a-z]+://[^\s"'<>)가-힣]+
        |(?:[A-Za-z]:)?[~.]{0,2}[/\\](?=[A-Za-z_.])[\w./\\-]*
        |[\w.-]+(?:[/\\][\w.-]+)+
        |(?=[A-Za-z]*\d+[A-Za-z])[A-Za-z][A-Za-z0-9]{3,}
        |[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+
    )
    |(?<!\S)(?P<flag>-[A-Za-z])(?![\w-])
    |(?<=\d)\ ?(?P<unit>m(?:g|wh?|v|ah?|hz|pa)?|[kmgtp]?b(?:ps)?)(?![A-Za-z0-9])
    """,
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)
_ALTERNATING = re.compile(r"[a-z0-9][A-Z]")
# Quotation marks touch words from outside; after a digit a mark may be inches, inside a word an
# apostrophe.
_QUOTED = re.compile(r"(?<!\w)([\"'])(\S(?:[^\"']*\S)?)\1(?![a-z0-9_])")
_CLOSING = re.compile(r"(?<=[^\W\d_]|[)\]%'\"])[.!。…~]+(?=\s|$)|(?<=\d)[.。](?=\s|$)")


def printable(text: str, *, keep: str = _ALLOWED) -> str:
    r"""Escape what `visible_parts` calls hidden, as `\x1b` or `\u202e`, for a terminal or a log."""
    if _is_plain(text, keep):
        return text
    return "".join(_escape(part) if is_hidden else part for part, is_hidden in _parts(text, keep))


def isolated(text: str) -> str:
    """Return a printable text for a terminal, where leftward letters reorder nothing around them.

    A run of them is isolated, and so is each number in it. It is for eyes only: nobody should read
    these marks back.
    """
    if text.isascii() or not LEFTWARD.search(text):
        return text
    return _LEFTWARD_RUN.sub(_isolated_run, text)


def _isolated_run(found: re.Match[str]) -> str:
    run = NUMBER.sub(rf"{_ISOLATE_RIGHTWARD}\1{_END}", found[0])
    return f"{_ISOLATE}{run}{_END}"


def visible_parts(text: str, *, keep: str = _ALLOWED) -> Iterator[tuple[str, bool]]:
    """Yield a text in parts: as it is seen, and, with True, each character that is not.

    These show nothing, or change how others are shown: controls, marks of direction, tags, blank
    letters, selectors of variants. Of them are left alone those in `keep`, joiners and selectors
    where emoji and scripts need them, and the carriage return before a line feed.
    """
    if _is_plain(text, keep):
        yield text, False
        return
    seen = ""
    for part, is_hidden in _parts(text.replace("\r\n", "\n"), keep):
        if not is_hidden:
            seen += part
            continue
        if seen:
            yield seen, False
        seen = ""
        yield part, True
    if seen:
        yield seen, False


def _parts(text: str, keep: str) -> Iterator[tuple[str, bool]]:
    """Yield each character, and whether it is hidden."""
    for at, char in enumerate(text):
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        yield char, not _is_safe(char, keep) or _is_stray(before, char, after)


def _is_stray(before: str, char: str, after: str) -> bool:
    """Whether a joiner or a selector stands where nothing needs it."""
    if char in _JOINERS:
        is_emoji = char == "\u200d" and _is_picture(before) and _is_picture(after)
        return not (is_emoji or (_is_joining(before) and _is_joining(after)))
    if not _BLANK.match(char):
        return False
    if char in _STYLES:
        return not before or before.isalpha() or bool(_BLANK.match(before))
    return not (char >= "\U000e0100" and "\u3400" <= before <= "\U0003ffff")


def _is_picture(char: str) -> bool:
    return bool(char) and (char in _STYLES or unicodedata.category(char) in {"So", "Sk"})


def _is_joining(char: str) -> bool:
    return bool(char) and any(first <= ord(char) <= last for first, last in _JOINING)


def parameters_of(text: str) -> dict[str, JsonValue]:
    """Return the parameters of a message, {} for any other text.

    One that is a message itself is `{"code", "detail", "params"}`.
    """
    if not isinstance(text, Message):
        return {}
    return {name: _parameter(value) for name, value in text.parameters.items()}


def _parameter(value: str | float) -> JsonValue:
    if isinstance(value, Message):
        return {"code": value.code, "detail": printable(value), "params": parameters_of(value)}
    return printable(value) if isinstance(value, str) else value


def code_of(text: str) -> str:
    """Return the code of a message; "" for any other text, and for several messages in a row."""
    return text.code if isinstance(text, Message) else ""


def keep_secret(value: str) -> None:
    """Mask a key or password wherever it would be logged or told from now on.

    A short one is masked only where its place tells what it is: it may be a common word.
    """
    if len(value) >= _SHORTEST_SECRET:
        _secrets.add(value)


def masked(text: str) -> str:
    """Return a text without keys and passwords: those kept secret, and what looks like one.

    A message stays one: its parameters are masked.
    """
    if isinstance(text, Message):
        clear = {name: _masked(value) for name, value in text.parameters.items()}
        return text if clear == text.parameters else Message.of(text.code, text.english, clear)
    for secret in _secrets:
        text = text.replace(secret, _MASK)
    folded = text.lower()  # looking for the signs first takes 2 µs a line, the pattern 130
    if any(sign in folded for sign in _SIGNS_OF_KEYS):
        return _KEYS.sub(_without_key, text)
    return text


def _masked(value: str | float) -> str | float:
    return masked(value) if isinstance(value, str) else value


def _without_key(found: re.Match[str]) -> str:
    before = next((part for part in found.groups() if part is not None), "")
    return f"{before}{_MASK}"


def one_line(text: str) -> str:
    """Return `text` on one line: white space collapses to one blank, the rest as in `printable`."""
    return printable(" ".join(text.split()), keep="")


def has_lone_surrogate(text: str) -> bool:
    """Whether `text` contains half a surrogate pair, which UTF-8 cannot encode."""
    return _LONE_SURROGATES.search(text) is not None


def to_json(value: JsonValue, *, indent: int | None = 2) -> str:
    """Return `value` as JSON that is safe to display."""
    return escape_json(json.dumps(value, ensure_ascii=False, indent=indent))


def escape_json(text: str) -> str:
    """Escape in JSON what a terminal would act on; the value stays the same."""
    if _is_plain(text, "\n"):
        return text
    return "".join(
        json.dumps(char)[1:-1].replace("\x7f", "\\u007f") if is_hidden else char
        for char, is_hidden in _parts(text, "\n")
    )


def _is_plain(text: str, keep: str) -> bool:
    """Whether nothing in `text` is hidden."""
    for char in keep:
        text = text.replace(char, "")
    return text.isprintable() and (text.isascii() or not _BLANK.search(text))


def _is_safe(char: str, keep: str) -> bool:
    if char in keep or char in _JOINERS:
        return True
    return unicodedata.category(char) not in _HIDDEN_CATEGORIES


def _escape(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def compact(data: JsonValue, *, sort_keys: bool = False) -> str:
    """Return `data` as JSON on one line, with non-ASCII text unescaped."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys)


def clean_text(text: str) -> str:
    """Drop NUL and replace lone surrogates: neither can be stored as text."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    return text if text.isascii() else _LONE_SURROGATES.sub("\ufffd", text)


def clean(data: JsonValue) -> JsonValue:
    """Return `data` with every text in it cleaned."""
    if isinstance(data, str):
        return clean_text(data)
    if isinstance(data, list):
        return [clean(part) for part in data]
    if isinstance(data, dict):
        return {clean_text(key): clean(value) for key, value in data.items()}
    return data


def storable(data: JsonValue) -> JsonValue:
    """Return data without the numbers that are lost on the way to the database and back.

    Integers of more than 64 bits become floats, which the saver can store, and what is no number
    or too large for one its text, which JSON has.
    """
    if isinstance(data, dict):
        return {key: storable(value) for key, value in data.items()}
    if isinstance(data, list):
        return [storable(value) for value in data]
    if isinstance(data, int) and not -(2**63) <= data < 2**63:
        return float(data) if abs(data) < _LARGEST_FLOAT else str(data)
    return str(data) if isinstance(data, float) and not math.isfinite(data) else data


def shorten(text: str, limit: int) -> str:
    """Cut `text` to at most `limit` characters, marking the cut."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


_PART = re.compile(
    r'(?s)(.*)\n\[characters (\d+) to (\d+) of (\d+), (\d+) left: handle "([\d:]+)", offset \d+\]\Z'
)


class Part(NamedTuple):
    """A part of a long text, under a handle by which the next one is read; `left` characters."""

    text: str
    handle: str
    offset: int
    left: int

    @property
    def end(self) -> int:
        """Where the next part begins."""
        return self.offset + len(self.text)

    def __str__(self) -> str:
        total = self.end + self.left
        return (
            f"{self.text}\n[characters {self.offset} to {self.end} of {total}, {self.left} left:"
            f' handle "{self.handle}", offset {self.end}]'
        )


def read_part(text: str) -> Part | None:
    """Return the part that a text is; None if it is whole.

    What is whole is JSON on one line, so that no content can look like the last line of a part.
    """
    found = _PART.fullmatch(text)
    if found is None:
        return None
    said, offset, _, _, left, handle = found.groups()
    return Part(said, handle, int(offset), int(left))


def fold_case(text: str) -> str:
    """Return a text case folded, but for where case says something, as in paths and units."""
    folded = text.casefold()
    if folded == text:
        return folded
    parts, at = [""], 0
    for found in _CASED.finditer(text):
        parts += text[at : found.start()].casefold(), _cased(found)
        at = found.end()
    return "".join(parts) + text[at:].casefold() if at else folded


def _cased(found: re.Match[str]) -> str:
    part, folded = found[0], found[0].casefold()
    if found["unit"]:
        return cased_unit(part)
    if found["flag"]:
        return part
    if "://" in part:
        host = part.find("/", part.find("://") + 3)
        return folded if host < 0 else folded[:host] + part[host:]
    if "/" in part or "\\" in part:
        body = part.strip("./\\")
        is_path = body != part.rstrip("./\\") or "." in body or body.count("/") > 1
        return part if is_path or "\\" in part else folded
    is_key = "_" in part or (_ALTERNATING.search(part) and not part.isupper())
    return part if is_key else folded


def cased_unit(unit: str) -> str:
    """Return a unit case folded, but for what tells milli from mega, and bits from bytes."""
    folded = unit.casefold()
    if "B" in unit:
        folded = folded.replace("b", "B", 1)
    return folded.replace("m", "M", 1) if "M" in unit else folded


@lru_cache(maxsize=512)
def normal_form(text: str) -> str:
    """Fold what does not change meaning: NFC, case, white space, closing marks, quotation marks.

    Case stays where it tells things apart: see `fold_case`.

    Numbers, signs, question marks and symbols inside words (`C++`, `-5`, `1.5`) are preserved, as
    is a text that consists of such marks alone.
    """
    # Its hash is stored with each item (`same_key`): changing the form needs a migration. Case
    # folding decomposes some letters (`ΐ`), hence the second NFC.
    plain = fold_case(unicodedata.normalize("NFC", text).translate(_FORMS))
    plain = " ".join(unicodedata.normalize("NFC", plain).split())
    bare = " ".join(_CLOSING.sub("", _QUOTED.sub(r"\2", plain)).split())
    return bare or plain


_BLOCK = re.compile(r"```json\n(.*?)\n```", re.DOTALL)


def fenced_json(data: JsonValue) -> str:
    """Return `data` as a fenced block; backticks are escaped, so that content cannot close it."""
    text = json.dumps(clean(data), ensure_ascii=False, indent=1)
    return f"```json\n{text.replace('`', chr(92) + 'u0060')}\n```"


def read_fenced_json(text: str) -> JsonValue:
    """Return the data of the first fenced block, or None if it is missing or does not parse."""
    found = _BLOCK.search(text)
    if found is None:
        return None
    try:
        data: JsonValue = json.loads(found.group(1))
    except ValueError:
        return None
    return data


def decoded(data: bytes) -> str:
    """Return the text of a file; "" for one that is binary."""
    if b"\0" in data[:8000] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ""
    try:
        return data.decode("utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8")
    except UnicodeDecodeError:
        return data.decode("cp949", "replace")


def fair_shares(wanted: Sequence[int], room: int) -> list[int]:
    """Return the share of each: what it wants if all fit into `room`, else at most a fair share.

    What short texts leave over goes to the long ones (max-min fairness).
    """
    shares = [0] * len(wanted)
    left = max(room, 0)
    for served, index in enumerate(sorted(range(len(wanted)), key=lambda index: wanted[index])):
        shares[index] = min(wanted[index], left // (len(wanted) - served))
        left -= shares[index]
    return shares
