"""FEEL text as tokens: names may hold blanks, so those in scope are known beforehand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from lark import Token

from core.errors import RuleInvalid

KEYWORDS = {
    word: word.upper()
    for word in ("and", "or", "not", "if", "then", "else", "in", "between", "true", "false", "null")
}
UNSUPPORTED = {
    "for": "a loop ('for … in … return …')",
    "some": "a quantifier ('some … satisfies …')",
    "every": "a quantifier ('every … satisfies …')",
    "function": "a function definition ('function(…)')",
    "instance": "'instance of'",
    "external": "an external function",
}
UNSUPPORTED_FUNCTIONS = (
    "context", "context put", "context merge", "get value", "get entries", "sort", "list replace",
    "range", "before", "after", "meets", "met by", "overlaps", "overlaps before",
    "overlaps after", "finishes", "finished by", "includes", "during", "starts", "started by",
    "coincides",
)  # fmt: skip
SIGNS = {
    "..": "DOTS", "<=": "LE", ">=": "GE", "!=": "NE", "**": "POWER", "<": "LT", ">": "GT",
    "=": "EQ", "+": "PLUS", "-": "MINUS", "*": "TIMES", "/": "OVER", "(": "LPAR", ")": "RPAR",
    "[": "LSQB", "]": "RSQB", ",": "COMMA", "?": "SUBJECT", ".": "DOT",
    ":": "COLON",
}  # fmt: skip
_OPERAND_ENDS = {"NUMBER", "STRING", "AT", "NAME", "SUBJECT", "TRUE", "FALSE", "NULL", "RPAR",
                 "RSQB", "LSQB"}  # fmt: skip
MAX_DIGITS = 400
_START = r"[^\W\d]"
_SKIP = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_STRING = re.compile(r'(@?)"((?:[^"\\]|\\.)*)"', re.DOTALL)
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+")
_WORD = re.compile(rf"{_START}\w*")
_PARAMETER = re.compile(rf"{_START}\w*(?:\s+\w+)*(?=\s*:)")
_PART = re.compile(r"time\s+offset|(?:start|end)\s+included")
_BRACKET = r"(?=\s*\()"
_CALL = re.compile(r"\s*\(")
_SIGN = re.compile("|".join(re.escape(sign) for sign in SIGNS))
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{6}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}


def tokens_of(text: str, names: tuple[str, ...], functions: tuple[str, ...]) -> Iterator[Token]:
    """Give the tokens of `text`, which is in NFC. Raises RuleInvalid with the place.

    The longest known name wins (DMN 1.3, 10.3.1.2): `주문 금액` is one token where it is in
    `names`, and so is a name that holds a sign or a keyword. A `]` where a value may begin opens
    a range, save behind `[`, where it ends an empty list.
    Words before a `:` in the brackets of a function name a parameter.
    """
    at, before = 0, ""
    while True:
        skipped = _SKIP.match(text, at)
        at = skipped.end() if skipped else at
        if at == len(text):
            return
        token, at = _placed(text, at, before) or _next(text, at, names, functions)
        if token.type == "RSQB" and before not in _OPERAND_ENDS:
            token.type = "OPENED"
        before = token.type
        yield token


def fail(text: str, at: int, problem: str) -> RuleInvalid:
    """Say what is wrong with an expression and where, counted from 1."""
    shown = text if len(text) <= 60 else text[:60] + "…"
    return RuleInvalid(f"FEEL `{shown}` at character {at + 1}: {problem}")


def _placed(text: str, at: int, before: str) -> tuple[Token, int] | None:
    """Give a token that is known by what stands before it: a parameter, a part of two words."""
    kind, pattern = ("NAME", _PART) if before == "DOT" else ("PARAMETER", _PARAMETER)
    found = pattern.match(text, at) if before in {"DOT", "LPAR", "COMMA"} else None
    return (_token(kind, found), found.end()) if found else None


def _next(
    text: str, at: int, names: tuple[str, ...], functions: tuple[str, ...]
) -> tuple[Token, int]:
    if found := _STRING.match(text, at):
        kind = "AT" if found[1] else "STRING"
        return Token(kind, _unescaped(text, found), start_pos=at), found.end()
    if found := _NUMBER.match(text, at):
        if len(found[0]) > MAX_DIGITS:
            raise fail(text, at, f"the number has more than {MAX_DIGITS} digits")
        return Token("NUMBER", found[0], start_pos=at), found.end()
    if found := _SIGN.match(text, at):
        return Token(SIGNS[found[0]], found[0], start_pos=at), found.end()
    if name := _name(text, at, names, functions):
        return name, name.end_pos or at
    if text[at] == "{":
        raise fail(text, at, "a context ('{…}') is not supported")
    if text[at] == '"':
        raise fail(text, at, "the string is not closed")
    raise fail(text, at, f"{text[at]!r} has no meaning here")


def _name(text: str, at: int, names: tuple[str, ...], functions: tuple[str, ...]) -> Token | None:
    called = _phrases(functions, _BRACKET).match(text, at)
    known = _phrases(names, "").match(text, at)
    word = _WORD.match(text, at)
    if known and known.end() > max(_end(called), _end(word) if word and word[0] in KEYWORDS else 0):
        return _token("NAME", known)
    if called:
        return _token("FUNCTION", called)
    if word and word[0] in UNSUPPORTED:
        raise fail(text, at, f"{UNSUPPORTED[word[0]]} is not supported")
    if other := _phrases(UNSUPPORTED_FUNCTIONS, _BRACKET).match(text, at):
        raise fail(text, at, f"the function '{other[0]}' is not supported")
    if word and word[0] not in KEYWORDS and _CALL.match(text, word.end()):
        raise fail(text, at, f"the function '{word[0]}' is not known")
    return _token(KEYWORDS.get(word[0], "NAME"), word) if word else None


def _end(found: re.Match[str] | None) -> int:
    return found.end() if found else 0


def _token(kind: str, found: re.Match[str]) -> Token:
    return Token(kind, " ".join(found[0].split()), start_pos=found.start(), end_pos=found.end())


@lru_cache(maxsize=256)
def _phrases(names: tuple[str, ...], after: str) -> re.Pattern[str]:
    words = [
        r"\s+".join(re.escape(word) for word in name.split()) + (r"\b" if _ends(name) else "")
        for name in sorted(names, key=len, reverse=True)
        if re.match(_START, name)
    ]
    return re.compile(f"(?:{'|'.join(words) or '(?!)'}){after}")


def _ends(name: str) -> bool:
    return bool(re.search(r"\w\Z", name))


def _unescaped(text: str, string: re.Match[str]) -> str:
    def one(found: re.Match[str]) -> str:
        code = found[1]
        if len(code) > 1:
            point = int(code[1:], 16)
            if point > 0x10FFFF or 0xD800 <= point < 0xE000:
                raise fail(text, string.start(), f"'\\{code}' is no character")
            return chr(point)
        return _ESCAPES.get(code, found[0])

    return _ESCAPE.sub(one, string[2])
