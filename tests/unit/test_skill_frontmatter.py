"""The frontmatter of a skill: it round-trips, and an edit touches one key only."""

from __future__ import annotations

import contextlib

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from core.domain.errors import BundleInvalid
from core.skills.document.frontmatter import (
    read_frontmatter,
    read_values,
    set_description,
    set_field,
    split_document,
    write_frontmatter,
)

AWKWARD = [
    "plain words",
    "환불을 처리합니다: 부분 환불 # 포함",
    "ends with colon:",
    "a: b",
    "a # b",
    "# all comment",
    "---",
    "- item",
    "yes",
    "null",
    "12",
    "1e3",
    "2024-01-01",
    "[a, b]",
    "{a: b}",
    "'single' and \"double\"",
    'back\\slash \\n "quoted"',
    "line\nbreak\n---\nname: other",
    "tab\there",
    "\u2028 \u2029 \x85 \x7f \ufeff",
    "*alias &anchor !tag |block >fold %directive @at `tick`",
    " leading and trailing ",
    "",
    "이모지 👩‍👩‍👧 끝",
]
anything = st.text(max_size=60) | st.text("ab :#'\"\\\n\t-|>&*!{}[],?%@`가\u2028\x85", max_size=20)


@pytest.mark.parametrize("text", AWKWARD)
def test_an_awkward_description_reads_back_equal(text: str) -> None:
    document = write_frontmatter("refund", text)
    assert read_frontmatter(document).description == text
    # as any YAML reader reads it, not just ours
    assert yaml.safe_load(document.split("---\n")[1]) == {"name": "refund", "description": text}


@given(anything, anything)
def test_what_is_written_reads_back_equal(name: str, description: str) -> None:
    document = write_frontmatter(name, description) + "\nbody\n---\nmore\n"
    front = read_frontmatter(document)
    assert (front.name, front.description) == (name, description)
    assert split_document(document)[1] == "\nbody\n---\nmore\n"


def test_a_plain_description_is_written_plainly() -> None:
    head = write_frontmatter("refund", "부분 환불을 맞춥니다")
    assert head == "---\nname: refund\ndescription: 부분 환불을 맞춥니다\n---\n"


@pytest.mark.parametrize("text", ["refunds --- partial ones too", "fees: --- see below"])
def test_hyphens_in_a_description_are_no_fence_to_any_reader(text: str) -> None:
    head = write_frontmatter("refund", text)
    assert head.count("---") == 2  # some readers split at three hyphens anywhere
    assert read_frontmatter(head).description == text


FORMS = [
    "description: old words",
    "description: old words # why",
    'description: "old: words"',
    "description: 'old words'",
    "description:\n  old\n  words",
    "description: |\n  old\n\n  words",
    "description: >-\n  old\n  words\n",
    "description:",
    '"description" : old',
]


@given(text=anything, form=st.sampled_from(FORMS), newline=st.sampled_from(["\n", "\r\n"]))
def test_setting_the_description_keeps_every_other_line(text: str, form: str, newline: str) -> None:
    above = "---\n# a comment\nname: refund   # ours\nmodel:   opus\n"
    below = "paths: [ 'a',  b ]\n# the end\n---\n\n# Title\n\ndescription: not this one\n"
    document, above, below = (
        part.replace("\n", newline) for part in (f"{above}{form}\n{below}", above, below)
    )
    edited = set_description(document, text)
    assert edited.startswith(above)
    assert edited.endswith(below)
    assert read_frontmatter(edited).description == text
    assert read_frontmatter(edited).keys == ("name", "model", "description", "paths")


def test_a_comment_behind_the_description_stays() -> None:
    edited = set_description("---\nname: a\ndescription: b # why\n---\n", "c: d")
    assert edited == '---\nname: a\ndescription: "c: d" # why\n---\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("---\nname: a\n---\nx", "---\nname: a\ndescription: b, c\n---\nx"),
        ("---\r\nname: a\r\n---\r\n", "---\r\nname: a\r\ndescription: b, c\r\n---\r\n"),
        ("---\n{name: a, description: x}\n---\n", '---\n{name: a, description: "b, c"}\n---\n'),
    ],
)
def test_unusual_heads_are_edited_too(before: str, after: str) -> None:
    assert set_description(before, "b, c") == after


def test_a_head_that_cannot_be_edited_is_left_alone() -> None:
    with pytest.raises(BundleInvalid, match="cannot be edited"):
        set_description("---\n{name: a}\n---\n", "b")


def test_line_endings_and_a_byte_order_mark_do_not_matter() -> None:
    document = "\ufeff---\r\nname: refund\r\ndescription: two\r\n  lines\r\n---\r\nbody\r\n"
    front = read_frontmatter(document)
    assert (front.name, front.description) == ("refund", "two lines")
    assert "".join(split_document(document)) == document


@pytest.mark.parametrize("value", ["2024-01-01", "12", "yes", "1.50", "~"])
def test_values_are_text_whatever_yaml_takes_them_for(value: str) -> None:
    front = read_frontmatter(f"---\nname: {value}\ndescription: {value}\n---\n")
    assert (front.name, front.description) == (value, value)


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        ("", "No YAML frontmatter"),
        ("# Title\n", "No YAML frontmatter"),
        ("\n---\nname: a\n---\n", "No YAML frontmatter"),
        ("---\nname: a\ndescription: b\n", "not closed"),
        ("---\nname: a\ndescription: b\n --- \n", "not closed"),
        ("---\n---\n", "no mapping"),
        ("---\n- a\n---\n", "no mapping"),
        ("---\nname: a\n---\n", "no 'description'"),
        ("---\ndescription: a\n---\n", "no 'name'"),
        ("---\nname: a\nname: b\ndescription: c\n---\n", "twice"),
        ("---\nname: a\ndescription: [b]\n---\n", "no text"),
        ("---\nname: &x a\ndescription: *x\n---\n", "anchors"),
        ("---\nname: a\ndescription: !!python/name:os.system x\n---\n", "tags"),
        ("---\nname: a\ndescription: b: c\n---\n", "colon must be put in quotes"),
        ("---\nname: a\ndescription: 'b\n---\n", "quotes are not closed"),
        ("---\nname: a\ndescription: \x07\n---\n", "control or invisible"),
        ("---\n? [a]\n: b\n---\n", "cannot begin"),
        ("---\nname: 'a'\n  description: b\n---\n", "indentation does not fit"),
        ("---\nname: a\nl:\n- 'x'\n  - y\ndescription: b\n---\n", "indentation does not fit"),
        ("---\n" + "[" * 4000 + "\n---\n", "levels deep"),
    ],
)
def test_a_malformed_head_is_refused_by_the_rule_it_breaks(document: str, rule: str) -> None:
    with pytest.raises(BundleInvalid, match=rule):
        read_frontmatter(document)


@given(st.text("-abc:\n \"'#&*!|>[]{}\t\r가", max_size=60))
def test_no_text_raises_anything_but_our_own_error(text: str) -> None:
    with contextlib.suppress(BundleInvalid):
        read_frontmatter(f"---\n{text}\n---\n")


RICH = (
    "---\nname: refund\n# whose\nhooks: {Stop: [{run: x}]}\nallowed-tools:\n- Bash(git:*)\n- Read\n"
    "metadata:\n  author: kim\n  version: '1.0'\nmodel: opus\ndescription: d\n---\n\nbody\n---\n"
)
WAYS = st.sampled_from(["allowed-tools", "license", "compatibility", "metadata.team"])


@given(WAYS, anything.map(str.strip).filter(bool), st.sampled_from(["\n", "\r\n"]))
def test_a_field_is_set_and_every_other_line_stays(field: str, text: str, newline: str) -> None:
    document = RICH.replace("\n", newline)
    with contextlib.suppress(BundleInvalid):
        edited = set_field(document, field, text)
        key, _, entry = field.partition(".")
        value = read_values(edited)[key].value
        assert (value[entry].value if isinstance(value, dict) else value) == text
        rest = [
            line for line in document.split(newline) if not line.startswith(("-", " ", "allow"))
        ]
        assert [line for line in edited.split(newline) if line in rest] == rest
        assert set_field(edited, field, None).count(newline) <= document.count(newline)


def test_what_a_field_was_is_replaced_and_removed_with_all_its_lines() -> None:
    edited = set_field(RICH, "allowed-tools", "Bash(python3:*) Read")
    lines = "allowed-tools:\n- Bash(git:*)\n- Read\n"
    assert edited == RICH.replace(lines, "allowed-tools: Bash(python3:*) Read\n")
    assert set_field(RICH, "allowed-tools", None) == RICH.replace(lines, "")
    assert set_field(RICH, "license", "MIT").count("description: d\nlicense: MIT\n---\n") == 1
    own = "metadata:\n  author: kim\n  version: '1.0'\n"
    both = set_field(RICH, "metadata.version", "2.0")
    assert both == RICH.replace(own, 'metadata:\n  author: kim\n  version: "2.0"\n')
    first = set_field(RICH, "metadata.author", "lee")
    assert first == RICH.replace(own, 'metadata:\n  author: lee\n  version: "1.0"\n')
    one = set_field(RICH, "metadata.version", None)
    assert one == RICH.replace(own, "metadata:\n  author: kim\n")
    assert set_field(RICH, "metadata", "team: ops\nsince: 2026") == RICH.replace(
        own, 'metadata:\n  team: ops\n  since: "2026"\n'
    )
    assert set_field(RICH, "metadata", None) == RICH.replace(own, "")


HOOKS = "Stop:\n- hooks:\n  - type: command\n    command: ./check.sh\n    timeout: 30"


@pytest.mark.parametrize(
    ("field", "text", "lines"),
    [
        ("paths", 'src/**, "*.py"', '  - src/**\n  - "*.py"\n'),
        ("arguments", "- issue\n- 파일", "  - issue\n  - 파일\n"),
        ("argument-hint", "[issue]", None),
        ("context", "fork", None),
        ("user-invocable", "False", " false\n"),
        ("hooks", HOOKS, "".join(f"  {line}\n" for line in HOOKS.splitlines())),
    ],
)
def test_what_coding_tools_read_is_written_as_they_read_it(
    field: str, text: str, lines: str | None
) -> None:
    edited = set_field(RICH, field, text)
    values = yaml.safe_load(edited.split("---\n")[1])
    given = values.pop(field)
    if lines is None:
        assert given == text
    else:
        begin = f"{field}:" if lines.startswith(" f") else f"{field}:\n"
        assert edited.count(f"{begin}{lines}") == 1
        assert given == yaml.safe_load(f"{begin}{lines}")[field]
    others = yaml.safe_load(RICH.split("---\n")[1])
    others.pop(field, None)
    assert values == others
    without = RICH.replace("hooks: {Stop: [{run: x}]}\n", "") if field == "hooks" else RICH
    assert set_field(edited, field, None) == without


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("name", "x", "none of the fields"),
        ("colour", "x", "none of the fields"),
        ("metadata.", "x", "none of the fields"),
        ("license.x", "x", "none of the fields"),
        ("license", None, "there are: name, hooks, allowed-tools"),
        ("metadata.team", None, "there are: author, version"),
        ("metadata", "just words", "`key: value`"),
        ("user-invocable", "perhaps", "true or false"),
        ("hooks", "./run.sh", "a mapping of events"),
        ("hooks", "Stop: [", "cannot be read as YAML"),
    ],
)
def test_a_field_that_cannot_be_set_is_named(field: str, text: str | None, said: str) -> None:
    with pytest.raises(BundleInvalid, match=said):
        set_field(RICH, field, text)
    with pytest.raises(BundleInvalid):
        set_field("---\n{name: a, description: d}\n---\n", field, text)
