"""A text of too many lines is no Markdown; what is a placeholder, and what is said, is told."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.domain.errors import ArtifactInvalid, BundleInvalid
from core.domain.messages import Message
from core.domain.models import SKILL_MD, Bundle, MergeMode, SkillArtifact, SkillFile
from core.skills.document.assembly import assemble, is_placeholder
from core.skills.document.markdown import (
    MAX_LINES,
    has_too_many_lines,
    lines_of,
    newline_of,
    refuse_too_many_lines,
)
from core.skills.document.shrink import (
    grows,
    losses,
    missing_code,
    missing_lines,
    passages,
    refusals,
    surviving,
    turned_lines,
)


@pytest.mark.parametrize("newline", ["\n", "\r", "\r\n"])
def test_a_text_has_lines_whatever_ends_them(newline: str) -> None:
    most = f"a{newline}" * MAX_LINES
    refuse_too_many_lines(most)
    with pytest.raises(BundleInvalid, match="10,000 lines"):
        refuse_too_many_lines(f"{most}a{newline}")
    assert has_too_many_lines(f"{most}{newline}")
    assert lines_of(f"a{newline}{newline}b") == [f"a{newline}", newline, "b"]
    assert newline_of(f"a{newline}b\n") == newline


def test_a_text_of_one_line_ends_as_most_do() -> None:
    assert (newline_of("a"), lines_of(""), lines_of("a")) == ("\n", [], ["a"])


@pytest.mark.parametrize(
    ("text", "plain", "markdown"),
    [
        ("", True, True),
        (" \n\t\n", True, True),
        ("TODO", True, True),
        ("- todo: write this", True, True),
        ("*TBD*", True, True),
        ("xxx", True, True),
        ("xx", False, False),
        ("insert your text here", True, True),
        ("coming soon!", True, True),
        ("todos are listed", False, False),
        ("추후 작성", True, True),
        ("작성 예정입니다", True, True),
        ("#!/bin/sh", True, True),
        ("# A heading", False, True),
        ("---\n***", False, True),
        ("| - |", False, True),
        ("# A\n\nTODO\nSay hello", False, False),
        ("Say hello", False, False),
        ("1", False, False),
    ],
)
def test_a_text_without_content_is_a_placeholder(text: str, plain: bool, markdown: bool) -> None:
    assert is_placeholder(text, markdown=False) is plain
    assert is_placeholder(text, markdown=True) is markdown


def test_a_passage_is_a_sentence_or_a_line_and_not_too_long() -> None:
    assert passages(" One. Two! Three?\n\n - four\n") == ["One.", "Two!", "Three?", "- four"]
    assert passages("v1. 2 of them. 끝。 다음") == ["v1. 2 of them.", "끝。", "다음"]
    assert [len(part) for part in passages("x" * 401)] == [400, 1]
    assert [len(part) for part in passages("x" * 800)] == [400, 400]


@pytest.mark.parametrize(
    ("old", "new", "shared"),
    [
        (["a b", "c"], ["c", "a b"], [3, 1]),
        (["same", "same"], ["same"], [4, 0]),
        (["same", "same"], ["same", "same"], [4, 4]),
        (["pay the invoice"], ["pay the invoices"], [15]),
        (["pay the invoice"], ["something else entirely"], [0]),
        (["pay the invoice", "pay the invoice!"], ["pay the invoice."], [15, 0]),
        (["pay the invoice today"], ["pay an invoice", "pay the invoice tomorrow"], [18]),
        ([], ["x"], []),
        (["x"], [], [0]),
    ],
)
def test_what_survives_of_a_passage_is_what_one_new_one_shares(
    old: list[str], new: list[str], shared: list[int]
) -> None:
    assert surviving(old, new) == shared


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [
        ("a\nb\n", "a\n\nb\nc\n", []),
        ("a\nb\n", "b\na\n", ["b"]),  # not in this order
        ("a\nb\nc\n", "a\nc\n", ["b"]),
        ("a\na\n", "a\n", ["a"]),
        ("a\r\n", "a", []),
        ("a\n", "a \n", ["a"]),
        ("", "a", []),
    ],
)
def test_lines_that_are_gone_are_told_in_their_order(old: str, new: str, gone: list[str]) -> None:
    assert missing_lines(old, new) == gone


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [
        ("a(b)\n", "a(b, c)\n", []),
        ("a(b)\n", "x = a(b)\n", ["a(b)"]),  # its beginning stays
        ("a(b)\n", "a('b')\n", ["a(b)"]),
        ("a == b\n", "a >= b\n", ["a == b"]),
        ("a\nb\n", "b 1\na 1\n", ["b"]),
        ("".join(f"a{n}\n" for n in range(20)), "".join(f"a{n} b\n" for n in range(20)), []),
        ("# a\n", "# a b\n", ["# a"]),
        ("x # a\n", "x # a\ny\n", []),
    ],
)
def test_a_line_of_code_may_take_more_and_lose_nothing(old: str, new: str, gone: list[str]) -> None:
    assert missing_code(old, new) == gone


def test_a_line_that_becomes_another_kind_of_block_has_turned() -> None:
    assert turned_lines("run\n", "```\nrun\n```\n") == ["run"]
    assert turned_lines("```\nrun\n```\n", "```\nrun\nmore\n```\n") == []
    assert turned_lines("a\n\nb\n", "<!--\na\n-->\n\nb\n") == ["a"]
    assert turned_lines("a\n", "> a\n\na\n") == []
    assert turned_lines("a\n", "a\n===\n") == ["a"]
    assert turned_lines("- a\n", "- a\n  - b\n") == []


@pytest.mark.parametrize(
    ("old", "new", "is_grown"),
    [
        ("Pay invoices", "Pay all invoices by mail", True),
        ("Pay invoices", "Invoices: pay", False),
        ("Pay invoices", "Pay invoicing", True),  # another ending
        ("Pay invoices", "Pay in", False),
        ("pay", "PAY it", True),
        ("a b a", "a b", False),
        ("", "x", True),
        ("환불을 처리", "환불은 먼저 처리", True),
    ],
)
def test_a_text_has_grown_where_all_its_words_are_there(old: str, new: str, is_grown: bool) -> None:
    assert grows(old, new) is is_grown


def codes_of(told: Sequence[str]) -> list[str]:
    return [one.code for one in told if isinstance(one, Message)]


HEAD = "---\nname: s\ndescription: Pay invoices by mail\nlicense: MIT\n---\n"
BODY = "# Pay\n\nOpen the mail. Pay the invoice.\n\n```sh\npay --all\nsend --mail\n```\n\nEnd it.\n"


def skill(document: str = HEAD + BODY, **files: bytes) -> Bundle:
    named = {path: SkillFile(data=data) for path, data in files.items()}
    return Bundle(name="s", files={SKILL_MD: SkillFile(data=document.encode()), **named})


@pytest.mark.parametrize(
    ("after", "mode", "codes"),
    [
        (skill(), MergeMode.EXTEND, []),
        (skill(HEAD + BODY + "More.\n", **{"a.md": b"x"}), MergeMode.EXTEND, []),
        (skill(HEAD + BODY.replace("End it.", "End it!")), MergeMode.EXTEND, ["shrink.lines"]),
        (skill(HEAD + BODY.replace("End it.", "End it!")), MergeMode.REFINE, []),
        (skill(HEAD + BODY.replace("End it.", "> End it.")), MergeMode.REFINE, []),
        (
            skill(HEAD + BODY.replace("End it.", "```\nEnd it.\n```")),
            MergeMode.EXTEND,
            ["shrink.lines_turned"],
        ),
        (
            skill(HEAD.replace("MIT", "BSD") + BODY),
            MergeMode.EXTEND,
            ["shrink.keys_changed"],
        ),
        (skill(HEAD.replace("license: MIT\n", "") + BODY), MergeMode.REFINE, ["shrink.keys"]),
        (
            skill(HEAD.replace("Pay invoices by mail", "Invoices by mail") + BODY),
            MergeMode.EXTEND,
            ["shrink.description_words"],
        ),
        (
            skill(HEAD.replace("Pay invoices by mail", "Pay") + BODY),
            MergeMode.REFINE,
            ["shrink.description"],
        ),
        (
            skill(HEAD.replace("Pay invoices by mail", "TODO pay invoices") + BODY),
            MergeMode.REFINE,
            ["shrink.description"],
        ),
        (skill(HEAD + BODY.replace("# Pay", "# Paying")), MergeMode.REFINE, ["shrink.headings"]),
        (
            skill(HEAD + BODY.replace("pay --all\nsend --mail\n", "go\n")),
            MergeMode.REFINE,
            ["shrink.code"],
        ),
        (skill(HEAD + BODY.replace("pay --all\n", "")), MergeMode.REFINE, []),
        (skill(HEAD + BODY.replace("send --mail\n", "")), MergeMode.REFINE, ["shrink.code"]),
        (
            skill(HEAD + BODY.replace("Open the mail. Pay the invoice.", "Do.")),
            MergeMode.REFINE,
            ["shrink.text", "shrink.text"],
        ),
    ],
)
def test_what_an_update_would_drop_is_told_by_its_mode(
    after: Bundle, mode: MergeMode, codes: list[str]
) -> None:
    told = losses(skill(), after, mode, 30.0)
    assert codes_of(told) == codes
    assert len(refusals(skill(), after, mode, 30.0)) == len(codes)


def test_binary_files_are_lost_where_they_change() -> None:
    before = skill(**{"a.bin": b"\xff1", "b.bin": b"\xff2", "c.md": b"text"})
    for after, codes in (
        (skill(**{"a.bin": b"\xff1", "b.bin": b"\xff2", "c.md": b"text"}), []),
        (skill(**{"a.bin": b"\xff1", "b.bin": b"\xff3", "c.md": b"text"}), ["shrink.binary"]),
        (skill(**{"a.bin": b"\xff1", "c.md": b"text"}), ["shrink.binary"]),
    ):
        told = losses(before, after, MergeMode.REFINE, 90.0)
        assert codes_of(told) == codes
    gone = losses(before, skill(), MergeMode.EXTEND, 90.0)
    assert codes_of(gone) == ["shrink.files", "shrink.binary"]


ARTIFACT = SkillArtifact(
    name="s",
    description="Pay invoices",
    overview="Pays what is due.",
    steps=["1. Open the mail", "2) Pay\nall of it\n\nat once"],
    usage="Run it daily.",
)


def artifact(**given: object) -> SkillArtifact:
    return ARTIFACT.model_copy(update=given)


def test_an_artifact_becomes_a_folder_with_numbered_steps() -> None:
    made = assemble(ARTIFACT, name="pay", base=None)
    assert made.name == "pay"
    assert made.document == (
        "---\nname: pay\ndescription: Pay invoices\n---\n\n# pay\n\n"
        "## Overview\n\nPays what is due.\n\n"
        "## Steps\n\n1. Open the mail\n2. Pay\n   all of it\n\n   at once\n\n"
        "## Usage\n\nRun it daily.\n"
    )
    korean = assemble(
        artifact(overview="송장을 결제합니다.", steps=["메일을 연다"], usage="매일 실행"),
        name=None,
        base=None,
    )
    assert [line for line in korean.document.splitlines() if line.startswith("## ")] == [
        "## 개요",
        "## 절차",
        "## 사용법",
    ]
    half = assemble(
        artifact(overview="가나다라", steps=["마"], usage="abcde"), name=None, base=None
    )
    assert "## Overview" in half.document  # Korean is what is more than half


def test_of_a_skill_that_is_updated_the_rest_stays() -> None:
    base = skill(**{"a.md": b"text", "scripts/a.sh": b"#!/bin/sh\nls\n"})
    made = assemble(
        artifact(body_markdown="# Paid\n\nDo.\n", additional_files={"b.md": "more"}),
        name="other",
        base=base,
    )
    assert made.name == "s"
    head = HEAD.replace("Pay invoices by mail", "Pay invoices")
    assert made.document == f"{head}\n# Paid\n\nDo.\n"
    assert sorted(made.files) == [SKILL_MD, "a.md", "b.md", "scripts/a.sh"]
    tools = assemble(artifact(allowed_tools=" Read  Bash(ls:*) "), name=None, base=base)
    assert "allowed-tools: Read Bash(ls:*)\n" in tools.document
    same = assemble(artifact(description="Pay invoices by mail"), name=None, base=base)
    assert same.document.startswith(HEAD)


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        ({"overview": "TODO"}, ["artifact.section_empty"]),
        ({"usage": "## More\n\nx"}, ["artifact.section_headings"]),
        ({"usage": "### More\n\nx"}, []),
        ({"steps": ["a", " "]}, ["artifact.step_empty"]),
        ({"steps": []}, ["artifact.section_empty"]),
        ({"overview": "\ud800x"}, ["artifact.surrogate"]),
        ({"body_markdown": "---\nname: x\n---\n# A\n\nb"}, ["artifact.head_inside"]),
        ({"body_markdown": "---\n\nb"}, []),
        ({"body_markdown": "# A\n\nTODO"}, ["skill.body_empty"]),
        ({"additional_files": {"skill.md": "x"}}, ["artifact.document_twice"]),
        ({"additional_files": {"a.md": "# A\n\nTODO"}}, ["file.placeholder"]),
        ({"additional_files": {"a.txt": "# A"}}, []),
        ({"additional_files": {"a.md": " \n"}}, ["file.empty"]),
        ({"additional_files": {"lib/__init__.py": ""}}, []),
        ({"additional_files": {"a.md": "\ud800"}}, ["artifact.surrogate"]),
    ],
)
def test_what_keeps_an_artifact_from_being_a_skill_is_told(
    given: dict[str, object], codes: list[str]
) -> None:
    if not codes:
        assemble(artifact(**given), name="s", base=None)
        return
    with pytest.raises(ArtifactInvalid) as refused:
        assemble(artifact(**given), name="s", base=None)
    assert codes_of(refused.value.problems)[: len(codes)] == codes
