"""What a frontmatter may not say is refused by name and line; what it says stands where it is."""

from __future__ import annotations

import pytest

from core.domain.messages import Message
from core.skills.validation.head_reader import HeadError, Node, find_head, read_head

# A source, the rule that it breaks, the line in the document, the reason.
REFUSED = [
    ("a: 1\na: 2\n", "head-key-twice", 3, "head.key_twice"),
    ("a: 1\n'a': 2\n", "head-key-twice", 3, "head.key_twice"),
    ("x: {a: 1, a: 2}\n", "head-key-twice", 2, "head.key_twice"),
    ("x: {a: 1, 'a': 2}\n", "head-key-twice", 2, "head.key_twice"),
    ("x: [a b: c]\n", "head-yaml", 2, "head.expected"),
    ("x: [a} ]\n", "head-yaml", 2, "head.expected"),
    ("x: {a\n : 1}\n", "head-yaml", 3, "head.key_and_colon"),
    ("x: {'a\n b': 1}\n", "head-yaml", 3, "head.key_one_line"),
    ("x: {[a]: b}\n", "head-quotes", 2, "head.begins"),
    ("x: [a\n", "head-yaml", 3, "head.bracket_open"),
    ("x: {a: b\n", "head-yaml", 3, "head.bracket_open"),
    ("x: [#c\n b]\n", "head-quotes", 2, "head.begins"),
    ("x: [a #c]\n", "head-yaml", 3, "head.bracket_open"),
    ("x: [-a, - b]\n", "head-quotes", 2, "head.begins"),
    ("x: [?a]\n", "head-yaml", 2, "head.begins"),
    ("x: [a?b]\n", "head-yaml", 2, "head.expected"),
    ("<<: {a: b}\n", "head-anchor", 2, "head.merge_key"),
    ("x: {<<: y}\n", "head-anchor", 2, "head.merge_key"),
    ("'<<': y\n", "head-anchor", 2, "head.merge_key"),
    ("- a\n", "head-mapping", 0, "head.no_mapping"),
    ("a\n", "head-mapping", 0, "head.no_mapping"),
    ("\n", "head-mapping", 0, "head.no_mapping"),
    ("", "head-mapping", 0, "head.no_mapping"),
    ("# c\n", "head-mapping", 0, "head.no_mapping"),
    ("a: b\n c: d\n", "head-quotes", 3, "head.colon"),
    ("  a: b\nc: d\n", "head-yaml", 3, "head.indentation"),
    ("a: b\nc\n", "head-yaml", 3, "head.no_pair"),
    ("a: b\n- c\n", "head-quotes", 3, "head.begins"),
    ("a:\n- b\n d: e\n", "head-quotes", 4, "head.colon"),
    ("'a' b: c\n", "head-yaml", 2, "head.text_behind"),
    ("a: 'b' c\n", "head-yaml", 2, "head.text_behind"),
    ("a: [b] c\n", "head-yaml", 2, "head.text_behind"),
    ("a: [b]#c\n", "head-yaml", 2, "head.text_behind"),
    ("\ta: b\n", "head-yaml", 2, "head.tab_indent"),
    ("a:\n\tb: c\n", "head-yaml", 3, "head.tab_indent"),
    (" \ta: b\n", "head-yaml", 2, "head.tab_indent"),
    ("a: b\tc\n", "head-quotes", 2, "head.tab"),
    ("a: [b\tc]\n", "head-quotes", 2, "head.tab"),
    ("a: b: c\n", "head-quotes", 2, "head.colon"),
    ("a: b:\n", "head-quotes", 2, "head.colon"),
    ("a: &x b\n", "head-anchor", 2, "head.anchor"),
    ("a: *x\n", "head-anchor", 2, "head.anchor"),
    ("a: !t b\n", "head-tag", 2, "head.tag"),
    ("&x a: b\n", "head-anchor", 2, "head.anchor"),
    ("a: %b\n", "head-quotes", 2, "head.begins"),
    ("a: @b\n", "head-quotes", 2, "head.begins"),
    ("a: `b\n", "head-quotes", 2, "head.begins"),
    ("a: ]b\n", "head-quotes", 2, "head.begins"),
    ("a: ,b\n", "head-quotes", 2, "head.begins"),
    ("a: -\n", "head-quotes", 2, "head.begins"),
    ("a: - b\n", "head-quotes", 2, "head.begins"),
    ("a: ? b\n", "head-quotes", 2, "head.begins"),
    ("a: 'b\n", "head-yaml", 2, "head.quotes_open"),
    ("a: 'b\n c\n", "head-yaml", 2, "head.quotes_open"),
    ("a:\n  'b\nc'\n", "head-yaml", 3, "head.quotes_open"),
    ("a: 'b\nc'\n", "head-yaml", 2, "head.quotes_open"),
    ('a: "\\q"\n', "head-yaml", 2, "head.escape"),
    ('a: "\\ud800"\n', "head-yaml", 2, "head.no_character"),
    ('a: "\\U00110000"\n', "head-yaml", 2, "head.no_character"),
    ("a: |x\n", "head-yaml", 2, "head.block_header"),
    ("a: |0\n", "head-yaml", 2, "head.block_header"),
    ("a: |12\n", "head-yaml", 2, "head.block_header"),
    ("a: |\n   \n  b\n", "head-yaml", 3, "head.block_blank"),
    ("a: b\x07\n", "head-characters", 2, "path.invisible"),
    ("a: b\rc\n", "head-characters", 2, "path.invisible"),
    ("a: b\u2028c\n", "head-characters", 2, "path.invisible"),
    ("---\na: b\n", "head-yaml", 2, "head.second_document"),
    ("a: b\n---\n", "head-yaml", 3, "head.second_document"),
    ("a: b\n...\n", "head-yaml", 3, "head.second_document"),
    ("a: b\n--- x\n", "head-yaml", 3, "head.second_document"),
    ("%YAML 1.2\na: b\n", "head-quotes", 2, "head.begins"),
    ("? a\n: b\n", "head-quotes", 2, "head.begins"),
    ("a: b # x\n  c\n", "head-yaml", 3, "head.indentation"),
    ("a: b\n  # x\n  c\n", "head-yaml", 4, "head.indentation"),
    ("a:b\n", "head-mapping", 0, "head.no_mapping"),
    ("a: [,]\n", "head-quotes", 2, "head.begins"),
    ("a: [b,,c]\n", "head-quotes", 2, "head.begins"),
    ("a:\n - b\n -c\n", "head-yaml", 4, "head.indentation"),
]
TAKEN: list[tuple[str, dict[str, object], str]] = [
    ("x: {a :1}\n", {"x": {"a :1": ""}}, "{a :1}"),
    ("x: {a: 1 b}\n", {"x": {"a": "1 b"}}, "{a: 1 b}"),
    ("x: {a, b: }\n", {"x": {"a": "", "b": ""}}, "{a, b: }"),
    ("x: {a: , b}\n", {"x": {"a": "", "b": ""}}, "{a: , b}"),
    ("x: [a, # c\n b]\n", {"x": ["a", "b"]}, "[a, # c\n b]"),
    ("x: [a#c, b]\n", {"x": ["a#c", "b"]}, "[a#c, b]"),
    ("x: [-a]\n", {"x": ["-a"]}, "[-a]"),
    ("a:\n- b\n  c\n", {"a": ["b c"]}, "- b\n  c"),
    ("a: 'b' # c\n", {"a": "b"}, "'b'"),
    ("a: [b] # c\n", {"a": ["b"]}, "[b]"),
    ("a: b:c\n", {"a": "b:c"}, "b:c"),
    ("a:\n  'b\n  c'\n", {"a": "b c"}, "'b\n  c'"),
    ("a: 'b\n\n c'\n", {"a": "b\nc"}, "'b\n\n c'"),
    ('a: "\\U0010ffff"\n', {"a": "\U0010ffff"}, '"\\U0010ffff"'),
    ('a: "\\x41"\n', {"a": "A"}, '"\\x41"'),
    ("a: |-2\n", {"a": ""}, "|-2"),
    ("a: |2-\n    b\n", {"a": "  b"}, "|2-\n    b"),
    ("a: |\n  b\n", {"a": "b\n"}, "|\n  b"),
    ("a: |\n b\n  c\n", {"a": "b\n c\n"}, "|\n b\n  c"),
    ("a: |\n\nb: c\n", {"a": "", "b": "c"}, "|"),
    ("a: |\nb: c\n", {"a": "", "b": "c"}, "|"),
    ("a: >\n b\n\n c\n", {"a": "b\nc\n"}, ">\n b\n\n c"),
    ("a: |1\n  b\n", {"a": " b\n"}, "|1\n  b"),
    ("a: b\r\n", {"a": "b"}, "b"),
    ("a: b\n...x: c\n", {"a": "b", "...x": "c"}, "b"),
    ("a: ---\n", {"a": "---"}, "---"),
    ("a: b\n   c\n  d\n", {"a": "b c d"}, "b\n   c\n  d"),
    ("a:\n  b\n", {"a": "b"}, "b"),
    ("a: \n b\n", {"a": "b"}, "b"),
    ("a:   b   \n", {"a": "b"}, "b"),
    ("a: b #c\n", {"a": "b"}, "b"),
    ("a: b#c\n", {"a": "b#c"}, "b#c"),
    ('"a": b\n', {"a": "b"}, "b"),
    ("'a''b': c\n", {"a'b": "c"}, "c"),
    ("a : b\n", {"a": "b"}, "b"),
    ("a: {}\n", {"a": {}}, "{}"),
    ("a: []\n", {"a": []}, "[]"),
    ("a: {b}\n", {"a": {"b": ""}}, "{b}"),
    ("a: {b: c,}\n", {"a": {"b": "c"}}, "{b: c,}"),
    ("a: [b,]\n", {"a": ["b"]}, "[b,]"),
    ("a:\n- b\n-\n- - c\n  - d\n", {"a": ["b", "", ["c", "d"]]}, "- b\n-\n- - c\n  - d"),
    ("a:\n  - b\n  - c\nd: e\n", {"a": ["b", "c"], "d": "e"}, "- b\n  - c"),
]


def plain(node: Node) -> object:
    if isinstance(node.value, dict):
        return {key: plain(item) for key, item in node.value.items()}
    return [plain(item) for item in node.value] if isinstance(node.value, list) else node.value


def why(error: HeadError) -> tuple[int, str]:
    """Return the line that an error names (0 for none), and the code of its reason."""
    assert isinstance(error.message, Message)
    if error.message.code != "head.invalid":
        return 0, error.message.code
    reason = error.message.parameters["why"]
    assert isinstance(reason, Message)
    return int(str(error.message.parameters["line"])), reason.code


@pytest.mark.parametrize(("source", "rule", "line", "reason"), REFUSED)
def test_what_readers_take_differently_is_refused_with_its_line(
    source: str, rule: str, line: int, reason: str
) -> None:
    with pytest.raises(HeadError) as refused:
        read_head(source)
    assert (refused.value.code, *why(refused.value)) == (rule, line, reason)


@pytest.mark.parametrize(("source", "values", "first"), TAKEN)
def test_what_is_taken_is_read_and_knows_where_it_stands(
    source: str, values: dict[str, object], first: str
) -> None:
    read = read_head(source)
    assert {key: plain(node) for key, node in read.items()} == values
    node = next(iter(read.values()))
    assert source[node.start : node.end] == first


def nested(levels: int) -> str:
    return f"a: {'[' * levels}{']' * levels}\n"


def below(levels: int) -> str:
    return "".join(f"{' ' * level}a:\n" for level in range(levels))


@pytest.mark.parametrize(
    ("most", "more", "reason"),
    [
        (nested(31), nested(32), "head.too_deep"),
        (below(32), below(33) + " " * 33 + "b\n", "head.too_deep"),
        (f"{'k' * 255}: v\n", f"{'k' * 256}: v\n", "head.key_length"),
        (f"x: y\n{'#' * (2**16 - 5)}", f"x: y\n{'#' * (2**16 - 4)}", "head.too_long"),
    ],
)
def test_a_head_has_its_bounds(most: str, more: str, reason: str) -> None:
    read_head(most)
    with pytest.raises(HeadError) as refused:
        read_head(more)
    assert why(refused.value)[1] == reason


def test_levels_that_were_left_do_not_count() -> None:
    lists = "".join(f"k{number}: [[a], {{b: [c]}}]\n" for number in range(40))
    blocks = "".join(f"l{number}:\n  m:\n    - n\n" for number in range(40))
    assert len(read_head(lists + blocks)) == 80


@pytest.mark.parametrize(
    ("document", "parts"),
    [
        ("---\na: b\n---\nbody", ("a: b\n", "body")),
        ("\ufeff--- \t\r\na: b\r\n---\t\r\nbody", ("a: b\r\n", "body")),
        ("---\na: b\n---", ("a: b\n", "")),
        ("---\n---\n", ("", "")),
        ("---\na: ---\n---\n---\n", ("a: ---\n", "---\n")),
    ],
)
def test_a_head_stands_between_its_fences(document: str, parts: tuple[str, str]) -> None:
    start, end, body = find_head(document)
    assert (document[start:end], document[body:]) == parts


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        ("---\na: b\n", "head-unclosed"),
        ("\ufeff---\na: b\n --- \n", "head-unclosed"),
        ("a: b\n---\n", "head-missing"),
        ("----\na: b\n---\n", "head-missing"),
        ("\n---\na: b\n---\n", "head-missing"),
    ],
)
def test_a_document_without_a_head_is_told(document: str, rule: str) -> None:
    with pytest.raises(HeadError) as refused:
        find_head(document)
    assert refused.value.code == rule
