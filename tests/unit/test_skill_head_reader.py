"""The frontmatter reader against PyYAML: it agrees on what it accepts, and refuses the rest."""

from __future__ import annotations

import random

import pytest
import yaml

from core.skills.validation.head_reader import HeadError, Node, read_head

FRAGMENTS = (
    *("a", "b: ", "c: ", "- ", "\n", "\n  ", "\n    ", "x y", "# c", " # c", ": ", "'", '"', "''"),
    *("\\", "[", "]", "{", "}", ", ", "|", "|-\n", "|+\n", ">\n", ">-\n", "> #c\n", "|2\n", "가"),
    *("---", "...", "?", "&", "*", "!t", "%", "\t", "  ", "\\n", "\\u0041", "\\x4", "name: "),
    *("key: v\n", "l:\n- ", "-x", ":y", "?z", "http://a:b", "\r\n", "1", "~", "<<: ", '"q": ', "@"),
)
Plain = str | list["Plain"] | dict[str, "Plain"]


def ours(node: Node) -> Plain:
    if isinstance(node.value, dict):
        return {key: ours(item) for key, item in node.value.items()}
    return [ours(item) for item in node.value] if isinstance(node.value, list) else node.value


def theirs(node: yaml.Node) -> Plain:
    if isinstance(node, yaml.MappingNode):
        return {str(theirs(key)): theirs(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [theirs(item) for item in node.value]
    return str(node.value)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_taken_reads_as_yaml_reads_it(seed: int) -> None:
    chance, taken = random.Random(seed), 0
    for _ in range(4_000):
        count = chance.randint(1, 12)
        source = (
            "k: " * (chance.random() < 0.6) + "".join(chance.choices(FRAGMENTS, k=count)) + "\n"
        )
        try:
            read = {key: ours(node) for key, node in read_head(source).items()}
        except HeadError:
            continue
        assert read == theirs(yaml.compose(source, Loader=yaml.SafeLoader)), source
        taken += 1
    assert taken > 300


HEADS = {
    "nested": "a:\n  b:\n    - c: d\n      e: f\n    - g\nh:\n- i\n- - j\n  - k\n",
    "flow": "a: [b, 'c, d', {e: f, g: [h]}, ]\ni: {j: k, l, \"m\":n}\n",
    "flow over lines": "a: [\n  b,  # why\n  c\n]\nd: {\n e: f,\n}\n",
    "quotes": "a: 'it''s'\nb: \"x\\ty \\u00e9 \\\n   z\"\nc: 'one\n\n  two'\n\"d e\": f\n",
    "blocks": "a: |\n  x\n   y\n\n  z\n",
    "more blocks": "b: >-\n  x\n  y\n\n    z\n  w\nc: |+\n  x\n\nd: |2-\n    x\n",
    "plain": "a: b\n  c\n\n  d # e\nf: http://g:h#i\nj: -k ?l :m\n",
    "nothing": "a:\nb: # c\nd: ''\n",
    "korean": "설명: 환불\n키 둘: '값: 하나'\n",
}


@pytest.mark.parametrize("source", HEADS.values(), ids=HEADS)
def test_common_forms_are_taken(source: str) -> None:
    for text in (source, source.replace("\n", "\r\n")):
        read = {key: ours(node) for key, node in read_head(text).items()}
        assert read == theirs(yaml.compose(text, Loader=yaml.SafeLoader))


QUOTED = (
    "'  a  '", "'a \t\n  b'", "'a\n  b  '", "'a\n\n\n  b'", "'\n  a'", "'\n\n  a'", "'a\n  '",
    "'a\n\n  '",
    "'a\n  b\n  c'",
    "'a\\\n  b'", "'a''\n  ''b'", "'\n  '", "'\n\n  '",
    '"  a  "', '"a \t\n  b"', '"a\n  b  "', '"a\n\n\n  b"', '"\n  a"', '"\n\n  a"', '"a\n  "',
    '"a\n\n  "',
    '"a\\\n  b"', '"a \\\n  b"', '"a\\\n\n  b"', '"a\\\n  \\ b"', '"a\\ \n  b"', '"a\\\\\n  b"',
    '"a\\\n  \\\n  b"', '"\\\n  a"', '"a\\\n  "', '"a\n  \\\n  b"', '"a\\t \n  b"',
)  # fmt: skip


@pytest.mark.parametrize("value", QUOTED)
def test_quoted_text_over_lines_reads_as_yaml_reads_it(value: str) -> None:
    source = f"k: {value}\n"
    read = {key: ours(node) for key, node in read_head(source).items()}
    assert read == theirs(yaml.compose(source, Loader=yaml.SafeLoader))


@pytest.mark.parametrize("source", HEADS.values(), ids=HEADS)
def test_values_know_where_they_stand(source: str) -> None:
    for key, node in read_head(source).items():
        if isinstance(node.value, str) and not source[node.start :].startswith("|+"):
            again = read_head(f"{key}: {source[node.start : node.end]}\n")
            assert again[key].value == node.value


@pytest.mark.parametrize(
    "line", [" " * 60_000, "a" * 60_000, "- " * 30_000, "a: " + " " * 60_000 + "x", "'" * 60_001]
)
def test_no_line_takes_long(line: str) -> None:
    with pytest.raises(HeadError):
        read_head(f"{line}\n{line}")
