"""FEEL text to trees, within limits; what does not parse is refused with its position."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from lark import Lark, Token, Tree, UnexpectedToken
from lark.common import LexerConf
from lark.lexer import Lexer

from core.decision_table.feel.functions import FUNCTIONS
from core.decision_table.feel.node import Node
from core.decision_table.feel.temporal import from_text
from core.decision_table.feel.values import NoValue, number
from core.decision_table.problems import either
from core.domain.errors import RuleInvalid
from core.domain.messages import Message, said

KEYWORDS = {
    word: word.upper()
    for word in ("and", "or", "not", "if", "then", "else", "in", "between", "true", "false", "null")
}
UNSUPPORTED = {
    "for": Message("feel.loop"),
    "some": Message("feel.some"),
    "every": Message("feel.every"),
    "function": Message("feel.definition"),
    "instance": "'instance of'",
    "external": Message("feel.external"),
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
    """Yield the tokens of `text`, which is in NFC. Raises RuleInvalid with the position.

    The longest known name wins (DMN 1.3, 10.3.1.2): `주문 금액` is one token if it is in `names`,
    and so is a name that contains an operator or a keyword. A `]` where a value may begin opens a
    range, except after `[`, where it ends an empty list. Words before a `:` in the parentheses of a
    function name a parameter.
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
    """Return the error that says what is wrong with an expression and where, counted from 1."""
    shown = text if len(text) <= 60 else text[:60] + "…"
    return RuleInvalid(Message("feel.problem", cell=shown, n=at + 1, why=problem))


def _placed(text: str, at: int, before: str) -> tuple[Token, int] | None:
    """Return a token recognised by what precedes it: a parameter, part of a two-word keyword."""
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
            raise fail(text, at, Message("feel.digits", most=MAX_DIGITS))
        return Token("NUMBER", found[0], start_pos=at), found.end()
    if found := _SIGN.match(text, at):
        return Token(SIGNS[found[0]], found[0], start_pos=at), found.end()
    if name := _name(text, at, names, functions):
        return name, name.end_pos or at
    if text[at] == "{":
        raise fail(text, at, Message("feel.context"))
    if text[at] == '"':
        raise fail(text, at, Message("feel.string_open"))
    raise fail(text, at, Message("feel.no_meaning", char=text[at]))


def _name(text: str, at: int, names: tuple[str, ...], functions: tuple[str, ...]) -> Token | None:
    called = _phrases(functions, _BRACKET).match(text, at)
    known = _phrases(names, "").match(text, at)
    word = _WORD.match(text, at)
    if known and known.end() > max(_end(called), _end(word) if word and word[0] in KEYWORDS else 0):
        return _token("NAME", known)
    if called:
        return _token("FUNCTION", called)
    if word and word[0] in UNSUPPORTED:
        raise fail(text, at, Message("feel.unsupported", what=UNSUPPORTED[word[0]]))
    if other := _phrases(UNSUPPORTED_FUNCTIONS, _BRACKET).match(text, at):
        raise fail(text, at, Message("feel.function_unsupported", name=other[0]))
    if word and word[0] not in KEYWORDS and _CALL.match(text, word.end()):
        raise fail(text, at, Message("feel.function_unknown", name=word[0]))
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
                raise fail(text, string.start(), Message("feel.no_character", code=code))
            return chr(point)
        return _ESCAPES.get(code, found[0])

    return _ESCAPE.sub(one, string[2])


MAX_LENGTH = 20_000
MAX_DEPTH = 60  # evaluation recurses over the levels of a tree

_Start = Literal["tests", "expression"]
_END_OF_TEXT = Message("feel.the_end")
_WORDS: dict[str, str] = {
    "NUMBER": Message("feel.a_number"),
    "STRING": Message("feel.a_string"),
    "AT": '@"…"',
    "NAME": Message("feel.a_name"),
    "FUNCTION": Message("feel.a_function"),
    "OPENED": "']'",
    "PARAMETER": Message("feel.a_parameter"),
    "$END": _END_OF_TEXT,
}
_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_SILENT = {
    "in",
    ".",
    ":",
    "(",
    ")",
    "[",
    "]",
    ",",
    "and",
    "or",
    "not",
    "between",
    "if",
    "then",
    "else",
}
_VALUES = {"NUMBER", "STRING", "AT", "SUBJECT", "FUNCTION", "LSQB", "OPENED", "LPAR", "IF", "NAME",
           "TRUE", "FALSE", "NULL", "MINUS", "NOT"}  # fmt: skip
_OPERATORS = {"PLUS", "MINUS", "TIMES", "OVER", "POWER", "LT", "LE", "GT", "GE", "EQ", "NE", "IN",
              "BETWEEN", "AND", "OR", "DOT"}  # fmt: skip
_MAY_FAIL = {"name", "subject", "at_literal", "call"}
_WORDS |= {kind: f"'{sign}'" for sign, kind in SIGNS.items()}


def parse_tests(text: str, names: Sequence[str] = ()) -> Node:
    """Parse the unary tests of an input entry (DMN 1.3, 10.3.1.2, rules 12 to 17).

    `names` are those in scope: other inputs, in NFC, with single blanks. Raises RuleInvalid with
    the position and what was expected, also for an unknown name or function.
    """
    return _parse(text, tuple(names), "tests")


def parse_expression(text: str, names: Sequence[str] = ()) -> Node:
    """Parse an expression, as in an output entry. Raises RuleInvalid as `parse_tests` does."""
    return _parse(text, tuple(names), "expression")


@lru_cache(maxsize=4096)
def _parse(text: str, names: tuple[str, ...], start: _Start) -> Node:
    text = unicodedata.normalize("NFC", text)
    if len(text) > MAX_LENGTH:
        raise RuleInvalid(Message("feel.long", n=len(text), most=MAX_LENGTH))
    run = _parser().parse_interactive(start=start)
    try:
        for token in tokens_of(text, names, tuple(FUNCTIONS)):
            run.feed_token(token)
        root = run.feed_eof()  # type: ignore[no-untyped-call]
    except UnexpectedToken as error:
        raise _unexpected(text, error) from error
    if not isinstance(root, Node):
        raise fail(text, 0, Message("feel.nothing"))
    _check(text, root, names, start)
    return root


def _unexpected(text: str, error: UnexpectedToken) -> RuleInvalid:
    token = error.token
    if token.type == "LSQB":
        raise fail(text, token.start_pos or 0, Message("feel.filter"))
    ended = token.type == "$END"
    at = len(text) if ended else token.start_pos or 0
    found = _END_OF_TEXT if ended else f"'{token}'"
    kinds = set(error.expected)
    values = kinds >= {"NUMBER", "STRING", "NAME"}
    operators = kinds >= {"PLUS", "TIMES"}
    rest = kinds - (_VALUES if values else set()) - (_OPERATORS if operators else set())
    wanted = sorted(_WORDS.get(kind, f"'{kind.lower()}'") for kind in rest)
    some = [
        *[Message("feel.a_value")] * values,
        *[Message("feel.an_operator")] * operators,
        *wanted,
    ]
    expected = either(some or [_END_OF_TEXT])
    return fail(text, at, Message("feel.found_expected", found=found, expected=expected))


def _check(text: str, root: Node, names: tuple[str, ...], start: _Start) -> None:
    nodes = list(root.walk())
    if len(nodes) > MAX_DEPTH and root.depth() > MAX_DEPTH:
        raise fail(text, 0, Message("feel.nested", most=MAX_DEPTH))
    for node in nodes:
        if node.op in _MAY_FAIL and (problem := _problem(node, names, start)):
            raise fail(text, node.at, problem)
    for node in _misplaced(root, [node for node in nodes if node.op == "negated"]):
        raise fail(text, node.at, Message("feel.not_alone"))


def _misplaced(root: Node, negations: Sequence[Node]) -> Iterator[Node]:
    """Yield each `not` that is neither the whole of unary tests nor a function of one value."""
    listed = root.parts if root.op == "tests" else ()
    for node in negations:
        direct = any(node is test for test in listed)
        one = len(node.parts) == 1 and node.parts[0].op != "operator_test"
        if len(listed) > 1 if direct else not one:
            yield node


def _problem(node: Node, names: tuple[str, ...], start: _Start) -> str | None:
    if node.op == "name" and node.value not in names:
        known = ", ".join(f"'{name}'" for name in names) or Message("list.none")
        return Message("feel.unknown_name", name=str(node.value), known=known)
    if node.op == "subject" and start == "expression":
        return Message("feel.no_subject")
    if node.op == "at_literal":
        return _temporal_problem(str(node.value))
    if node.op == "call":
        name = str(node.value)
        function = FUNCTIONS[name]
        if any(part.op == "argument" for part in node.parts):
            return Message("feel.other_names", name=name, parameters=function.parameters)
        if not function.takes(len(node.parts)):
            return Message("feel.arity", name=name, arity=function.arity, n=len(node.parts))
    return None


def _temporal_problem(text: str) -> str | None:
    try:
        from_text(text)
    except NoValue as error:
        return said(error)
    return None


@lru_cache(maxsize=1)
def _parser() -> Lark:
    grammar = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        grammar,
        parser="lalr",
        lexer=_Fed,
        start=["tests", "expression"],
        transformer=_Builder(),
        maybe_placeholders=False,
    )


# Names with blanks and signs are tokens only if they are in scope (DMN 1.3, 10.3.1.2), which no
# regular expression of the grammar can express: `tokens_of` splits the text instead.
class _Fed(Lexer):
    """A lexer that reads nothing: the parser is fed tokens one by one."""

    def __init__(self, conf: LexerConf) -> None:
        del conf

    def lex(self, *_: object) -> Iterator[Token]:
        """Return no tokens."""
        return iter(())


class _Builder:
    """Builds nodes bottom-up, as the parser reduces."""

    def __default__(
        self, op: str, children: list[Token | Node | Tree[Token | Node]], _meta: object
    ) -> Node | Tree[Token | Node]:
        """Return a node with its parts, and the one name or operator that the operation needs."""
        if op.startswith("_"):  # a repetition, which the enclosing rule flattens
            return Tree(op, children)  # the same list: copying it per item is quadratic
        parts = tuple(child for child in children if isinstance(child, Node))
        named = (str(child) for child in children if isinstance(child, Token))
        sign = next((text for text in named if text not in _SILENT), None)
        return Node(op, parts, sign, _at(children))

    def group(self, children: list[Node | Token]) -> Node:
        """Return the expression inside parentheses."""
        return next(child for child in children if isinstance(child, Node))

    def call(self, children: list[Node | Token]) -> Node:
        """Return a call with named arguments in their positions; omitted ones are null."""
        name = str(children[0])
        parts = tuple(child for child in children if isinstance(child, Node))
        names = [str(part.value) for part in parts if part.op == "argument"]
        order = FUNCTIONS[name].order(names) if names else None
        if order is not None:
            by_position = dict(zip(order, parts, strict=True))
            parts = tuple(
                by_position[position].parts[0] if position in by_position else Node("literal")
                for position in range(max(order) + 1)
            )
        return Node("call", parts, name, _at(children))

    def number(self, children: list[Token]) -> Node:
        """Return a number literal."""
        return Node("literal", value=number(children[0]), at=_at(children))

    def string(self, children: list[Token]) -> Node:
        """Return a string literal."""
        return Node("literal", value=str(children[0]), at=_at(children))

    def constant(self, children: list[Token]) -> Node:
        """Return a literal of true, false or null."""
        return Node("literal", value=_CONSTANTS[children[0]], at=_at(children))

    def range(self, children: list[Node | Token]) -> Node:
        """Return a range with its ends as `[]`, `(]`, ...; outward brackets are turned round."""
        low, high = str(children[0]), str(children[-1])
        ends = ("[" if low == "[" else "(") + ("]" if high == "]" else ")")
        parts = tuple(child for child in children if isinstance(child, Node))
        return Node("range", parts, ends, _at(children))


def _at(children: Sequence[Token | Node | Tree[Token | Node]]) -> int:
    first = children[0]
    if isinstance(first, Node):
        return first.at
    return (first.start_pos or 0) if isinstance(first, Token) else 0
