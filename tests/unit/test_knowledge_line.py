"""Import lines of knowledge: what is accepted, and the problem of each refused line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from core.domain.errors import InvalidInput
from core.domain.input_formats.knowledge import MAX_LINE_BYTES, KnowledgeLine, read_knowledge_line
from core.domain.input_formats.lines import LineSplitter, RawLine
from core.domain.input_formats.skill_files import FileEntry, files_to_json, folder_of
from core.domain.models import SKILL_MD, SkillFile

MEMORY: dict[str, JsonValue] = {"kind": "MEMORY", "tenant_id": "t", "agent_id": "a", "content": "x"}
SKILL: dict[str, JsonValue] = {"kind": "SKILL", "name": "refund", "tenant_id": "t", "content": "#"}


def read(given: object, max_chars: int = 100) -> KnowledgeLine:
    data = given if isinstance(given, bytes) else json.dumps(given).encode()
    line = read_knowledge_line(RawLine(number=1, size=len(data), data=data), max_chars)
    assert line is not None
    return line


def refusal(given: object) -> str:
    with pytest.raises(InvalidInput) as refused:
        read(given)
    return refused.value.message


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b"{oops", "it is no JSON"),
        (b"\xff\xfe{", "it is not UTF-8 text"),
        (b"[1]", "it is no JSON object"),
        (b'{"kind":"MEMORY","kind":"SKILL"}', "the key 'kind' comes twice"),
        (b'{"kind":"MEMORY","content":NaN}', "NaN is no JSON number"),
        ({**MEMORY, "kind": "memory"}, "kind: 'memory' is none of MEMORY, DMN_RULE, SKILL"),
        ({**MEMORY, "kind": "AGENT_SKILLS"}, "'AGENT_SKILLS' is none of"),
        ({**MEMORY, "kind": ["{given}"]}, "kind: ['{given}'] is none of"),
        ({**MEMORY, "version": 3}, "version is no known field"),
        ({**MEMORY, "content": 5}, "content is no text"),
        ({**MEMORY, "content": " \u200b"}, "content is blank"),
        ({**MEMORY, "content": None}, "content is missing"),
        ({**MEMORY, "content": "a\0b"}, "content holds a NUL character"),
        ({**MEMORY, "content": "\ud800"}, "content holds a lone surrogate"),
        ({**MEMORY, "content": "가" * 101}, "content has 101 characters, more than 100"),
        ({**MEMORY, "id": "x" * 201}, "id has 201 characters"),
        ({**MEMORY, "agent_id": " "}, "agent_id is blank"),
        ({**MEMORY, "files": {"a": {"text": "x"}}}, "files does not belong to a MEMORY"),
        ({**MEMORY, "kind": "DMN_RULE", "content": None}, "either content (DMN XML) or rule"),
        ({**MEMORY, "kind": "DMN_RULE", "rule": {"name": "x"}}, "either content (DMN XML) or rule"),
        ({**SKILL, "rule": {"name": "x"}}, "rule does not belong to a SKILL"),
        ({**SKILL, "name": None}, "name is missing"),
        ({**SKILL, "id": "other"}, "a skill's id is its name"),
        ({**SKILL, "content": None}, "content is missing: the text of SKILL.md"),
        ({**SKILL, "files": {"a.md": {}}}, "files.a.md needs either text or base64"),
        ({**SKILL, "files": {"a.md": {"text": "a", "base64": "YQ=="}}}, "either text or base64"),
        ({**SKILL, "files": {"a.md": {"base64": "%%"}}}, "files.a.md.base64 is no base64"),
        ({**SKILL, "files": {"a.md": {"text": "\0"}}}, "files.a.md.text holds a NUL"),
        ({**SKILL, "files": {"a.md": "text"}}, "files.a.md is no object"),
        ({**SKILL, "files": {SKILL_MD: {"text": "x"}}}, "that one belongs into content"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(given: object, said: str) -> None:
    assert said in refusal(given)


def test_a_line_that_is_too_long_is_not_even_parsed() -> None:
    raw = RawLine(number=3, size=MAX_LINE_BYTES + 1, data=None)
    with pytest.raises(InvalidInput, match="more than"):
        read_knowledge_line(raw, 100)


def test_a_memory_as_long_as_a_skill_is_advised_to_be_one() -> None:
    with pytest.raises(InvalidInput, match="16385 bytes, more than 16384; make a skill of it"):
        read({**MEMORY, "content": "x" * 16385}, max_chars=20_000)


def test_a_blank_line_is_none() -> None:
    assert read_knowledge_line(RawLine(number=1, size=2, data=b" \r\n"), 100) is None


def test_ids_come_in_nfc_and_content_verbatim() -> None:
    nfd = "\u1112\u116a\u11ab"  # 환, decomposed
    line = read({**MEMORY, "agent_id": nfd, "id": nfd, "content": nfd})
    assert (line.entry.agent_id, line.entry.id, line.text) == ("환", "환", nfd)


def test_the_id_of_a_skill_may_stand_for_its_name() -> None:
    line = read({**SKILL, "name": None, "id": "refund"})
    assert (line.entry.name, line.entry.id) == ("refund", None)


FILES = st.dictionaries(
    st.text(st.characters(categories=["Ll", "Lo", "Nd"]), min_size=1, max_size=8),
    st.builds(SkillFile, data=st.binary(max_size=40), executable=st.booleans()),
    max_size=5,
)
DOCUMENT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(files=FILES, document=DOCUMENT, executable=st.booleans())
def test_a_folder_comes_back_byte_for_byte(
    files: dict[str, SkillFile], document: str, executable: bool
) -> None:
    head = SkillFile(data=document.encode(), executable=executable)
    folder = {**files, SKILL_MD: head}
    shown: JsonValue = json.loads(json.dumps(files_to_json(folder)))
    assert isinstance(shown, dict)
    entries = {path: FileEntry.model_validate(entry) for path, entry in shown.items()}
    assert folder_of(document, entries) == folder


@given(data=st.binary(max_size=60), sizes=st.lists(st.integers(1, 7), max_size=60))
def test_lines_are_the_same_however_the_bytes_arrive(data: bytes, sizes: list[int]) -> None:
    data = data.replace(b"a", b"\n")
    splitter, at, lines = LineSplitter(5), 0, []
    for size in sizes:
        lines += splitter.feed(data[at : at + size])
        at += size
    lines += [*splitter.feed(data[at:]), *splitter.end()]
    whole = data.split(b"\n")
    expected = [part + b"\n" for part in whole[:-1]] + ([whole[-1]] if whole[-1] else [])
    assert [line.size for line in lines] == [len(part) for part in expected]
    kept = [part if len(part) <= 5 else None for part in expected]
    if kept and kept[0]:
        kept[0] = kept[0].removeprefix(b"\xef\xbb\xbf")
    assert [line.data for line in lines] == kept


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    first, second = LineSplitter(99).feed(b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n")
    assert (first.data, second.data) == (b"a\n", b"\xef\xbb\xbfb\n")
