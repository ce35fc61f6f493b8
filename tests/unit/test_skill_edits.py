"""Edits of a skill: sections, files and the description, and nothing else."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.errors import ArtifactInvalid
from core.domain.models import SKILL_MD, Bundle, SkillEdit, SkillEdits, SkillFile
from core.skills.document.edits import apart_from_fields, apply_edits

HEAD = "---\n# ours\nname: refund\ndescription: Reconcile refunds\nmodel:  opus\n---\n"
BODY = """
# Refund

Intro.

## Steps

1. Look
2. Book

```sh
# Usage
```

### Details

More.

Usage
-----

Run `it`  daily.

## 환불 `규정` *요약*

끝.
"""


def skill(document: str = HEAD + BODY, **files: bytes) -> Bundle:
    named = {path: SkillFile(data=data) for path, data in files.items()}
    return Bundle(name="refund", files={SKILL_MD: SkillFile(data=document.encode()), **named})


def edited(bundle: Bundle, *edits: dict[str, str]) -> Bundle:
    return apply_edits(bundle, SkillEdits(edits=tuple(SkillEdit.model_validate(e) for e in edits)))


def problems_of(bundle: Bundle, *edits: dict[str, str]) -> list[str]:
    with pytest.raises(ArtifactInvalid) as caught:
        edited(bundle, *edits)
    return caught.value.problems


def replace(heading: str, text: str, **more: str) -> dict[str, str]:
    return {"op": "replace_section", "heading": heading, "text": text, **more}


def insert(heading: str, text: str, **more: str) -> dict[str, str]:
    return {"op": "insert_section", "heading": heading, "text": text, **more}


def test_replacing_a_section_takes_its_subsections_and_keeps_the_rest() -> None:
    after = edited(skill(), replace("Steps", "\n1. Only this\n\n")).document
    start, end = BODY.index("1. Look"), BODY.index("Usage\n-----")
    assert after == HEAD + BODY[:start] + "1. Only this\n\n" + BODY[end:]


def test_inserting_adds_at_the_end_of_the_section() -> None:
    after = edited(skill(), insert("Steps", "And check.")).document
    end = BODY.index("\nUsage\n-----")
    assert after == HEAD + BODY[:end] + "\nAnd check.\n" + BODY[end:]


def test_inserting_without_a_heading_adds_at_the_end_of_the_document() -> None:
    after = edited(skill(), insert("", "## Pitfalls\n\nNone.")).document
    assert after == HEAD + BODY + "\n## Pitfalls\n\nNone.\n"


def test_a_document_without_a_last_line_break_gets_one_before_additions() -> None:
    after = edited(skill(HEAD + "# A\n\nend"), insert("A", "more")).document
    assert after == HEAD + "# A\n\nend\n\nmore\n"


@pytest.mark.parametrize(
    "asked",
    [
        "환불 규정 요약",
        "## 환불 규정 요약",
        "환불 `규정` *요약*",
        "  환불   규정 요약 ",
        unicodedata.normalize("NFD", "환불 규정 요약"),
    ],
)
def test_headings_are_found_by_their_plain_text(asked: str) -> None:
    after = edited(skill(), replace(asked, "새 글")).document
    assert after == HEAD + BODY.replace("끝.", "새 글")


def test_headings_inside_code_fences_do_not_count() -> None:
    after = edited(skill(), replace("Usage", "Weekly.")).document
    assert after == HEAD + BODY.replace("Run `it`  daily.", "Weekly.")


def test_a_heading_that_the_author_repeats_is_not_doubled() -> None:
    after = edited(skill(), replace("Usage", "## Usage\n\nWeekly.")).document
    assert after == HEAD + BODY.replace("Run `it`  daily.", "Weekly.")


def test_another_heading_with_nothing_below_is_a_subsection() -> None:
    assert "## Steps\n\n### Later\n" in edited(skill(), replace("Steps", "### Later\n")).document


def test_crlf_documents_stay_crlf() -> None:
    document = (HEAD + BODY).replace("\n", "\r\n")
    after = edited(skill(document), insert("Usage", "One.\nTwo."), replace("Details", "New.\n"))
    assert "\n" not in after.document.replace("\r\n", "")
    assert "One.\r\nTwo.\r\n" in after.document


def test_sections_of_other_files_are_edited_too() -> None:
    bundle = skill(**{"references/a.md": b"# A\n\none\n\n# B\n\ntwo\n"})
    after = edited(bundle, replace("A", "1", path="references/a.md"))
    assert after.files["references/a.md"].data == b"# A\n\n1\n\n# B\n\ntwo\n"
    assert after.document == bundle.document


def test_the_description_is_set_and_the_other_keys_keep_their_bytes() -> None:
    after = edited(skill(), {"op": "set_description", "text": " 새 설명: 전액 "}).document
    assert after == HEAD.replace("Reconcile refunds", '"새 설명: 전액"') + BODY


def test_files_are_put_and_deleted() -> None:
    bundle = skill(**{"old.md": b"x", "keep.bin": b"\xff\x00"})
    after = edited(
        bundle,
        {"op": "put_file", "path": "scripts/a.sh", "text": "#!/bin/sh\r\necho\n"},
        {"op": "delete_file", "path": "old.md"},
    )
    script = SkillFile(data=b"#!/bin/sh\r\necho\n", executable=True)
    assert after.files == {
        SKILL_MD: bundle.files[SKILL_MD],
        "keep.bin": bundle.files["keep.bin"],
        "scripts/a.sh": script,
    }


def test_edits_apply_in_order_each_on_what_the_one_before_left() -> None:
    after = edited(skill(), insert("", "## New\n\na"), replace("New", "b")).document
    assert after == HEAD + BODY + "\n## New\n\nb\n"


def test_a_document_may_be_put_whole_under_the_same_name() -> None:
    whole = "---\nname: refund\ndescription: d\n---\nnew body\n"
    assert edited(skill(), {"op": "put_file", "text": whole}).document == whole
    other = whole.replace("refund", "other")
    assert (
        "the skill's folder 'refund'" in problems_of(skill(), {"op": "put_file", "text": other})[0]
    )
    assert "No YAML frontmatter" in problems_of(skill(), {"op": "put_file", "text": "just text"})[0]


@pytest.mark.parametrize(
    ("edit", "rule"),
    [
        (replace("Missing", "x"), "the headings are: 'Refund', 'Steps', 'Details', 'Usage'"),
        (replace("Stpes", "x"), "did you mean 'Steps'?"),
        (replace("", "x"), "no heading ''"),
        (replace("Steps", " \n"), "text is empty"),
        (replace("Steps", "## Steps\n"), "empty below the heading"),
        (replace("Steps", "```sh\nrm"), "code fence open"),
        (insert("Steps", "<!-- note"), "code fence open"),
        (insert("", "```\nnever closed"), "left open"),
        (insert("Steps", "x", path="no.md"), "no file 'no.md'; the files are: SKILL.md, b.bin"),
        (replace("Steps", "x", path="b.bin"), "not UTF-8 text"),
        (replace("Steps", "\ud800"), "half a character"),
        ({"op": "delete_file", "path": "gone.md"}, "no file 'gone.md'"),
        ({"op": "delete_file", "path": "skill.MD"}, "cannot be deleted"),
        ({"op": "delete_file"}, "cannot be deleted"),
        ({"op": "put_file", "path": "../x", "text": "x"}, "leaves its folder"),
        ({"op": "put_file", "path": "a/SKILL.md", "text": "x"}, "second SKILL.md"),
        ({"op": "put_file", "path": "a.md", "text": ""}, "'a.md' is empty"),
        ({"op": "put_file", "path": "a.md", "text": "# A\n\nTODO"}, "placeholder"),
        ({"op": "set_description", "text": "<b>"}, "angle brackets"),
        ({"op": "set_description", "text": ""}, "empty"),
        ({"op": "set_field", "field": "license", "text": " "}, "edit 1 (set_field)"),
        ({"op": "set_field", "field": "name", "text": "x"}, "'name' is none of the fields"),
        ({"op": "remove_field", "field": "license"}, "no 'license' in the frontmatter"),
        (replace("Refund > Missing", "x"), "no heading 'Refund > Missing'"),
        ({"op": "set_field", "field": "\ud800", "text": "x"}, "half a character"),
        (replace("\ud800", "x"), "half a character"),
        ({"op": "put_file", "path": "\ud800", "text": "x"}, "half a character"),
    ],
)
def test_an_edit_that_cannot_be_made_is_a_problem(edit: dict[str, str], rule: str) -> None:
    said = problems_of(skill(**{"b.bin": b"\xff"}), edit)
    assert rule in "\n".join(said)


def test_all_problems_are_told_at_once() -> None:
    said = problems_of(
        skill(), replace("No", "x"), insert("Steps", "ok"), {"op": "delete_file", "path": "no"},
        {"op": "put_file", "path": "/x", "text": "x"},
    )  # fmt: skip
    assert [problem.split(" (")[0] for problem in said[:2]] == ["edit 1", "edit 3"]
    assert "is absolute" in said[2]


lines = st.text("ab *`_>-1.가\t", max_size=12).map(lambda text: f"x{text}")
blocks = st.one_of(
    st.lists(lines, min_size=1, max_size=3).map("\n".join),
    st.sampled_from(
        ["```\necho\n# not a heading\n```", "- item\n  more", "| a | b |\n|---|---|", "> quote"]
    ),
)
documents = st.lists(st.tuples(st.integers(1, 3), blocks), min_size=1, max_size=6)


@given(
    parts=documents,
    target=st.integers(0, 5),
    text=blocks,
    op=st.sampled_from(["replace_section", "insert_section"]),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_sections_that_no_edit_names_keep_their_bytes(
    parts: list[tuple[int, str]], target: int, text: str, op: str, newline: str
) -> None:
    target %= len(parts)
    sections = [
        f"{'#' * level} head {number}\n\n{block}\n\n" for number, (level, block) in enumerate(parts)
    ]
    sections = [section.replace("\n", newline) for section in sections]
    head = HEAD.replace("\n", newline)
    bundle = skill(head + "".join(sections))
    after = edited(bundle, {"op": op, "heading": f"head {target}", "text": text}).document
    level = parts[target][0]
    below = [n for n in range(target + 1, len(parts)) if parts[n][0] <= level]
    rest = "".join(sections[below[0] :]) if below else ""
    assert after.startswith(head + "".join(sections[:target]))
    assert after.endswith(rest)
    inserted = text.replace("\n", newline)
    middle = after[len(head + "".join(sections[:target])) : len(after) - len(rest)]
    if op == "insert_section":
        old = "".join(sections[target : below[0] if below else None])
        assert middle.startswith(old.rstrip())
        assert middle[len(old.rstrip()) :].strip() == inserted.strip()
    else:
        assert middle.strip() == f"{'#' * level} head {target}{newline * 2}{inserted}".strip()


def test_fields_are_set_and_removed_by_name() -> None:
    once = edited(
        skill(),
        {"op": "set_field", "field": "license", "text": " MIT "},
        {"op": "set_field", "field": "metadata.team", "text": "ops"},
        {"op": "set_description", "text": " Reconcile all refunds "},
    )
    head = HEAD.replace("Reconcile refunds", "Reconcile all refunds")
    fields = "license: MIT\nmetadata:\n  team: ops\n---\n"
    assert once.document == head.removesuffix("---\n") + fields + BODY
    gone = edited(
        once, *({"op": "remove_field", "field": name} for name in ("license", "metadata"))
    )
    assert gone.document == head + BODY


def test_what_is_edited_by_name_is_no_loss_by_accident() -> None:
    base = skill(HEAD.replace("---\n#", "---\nlicense: MIT\nmetadata:\n  team: ops\n#") + BODY)
    named = SkillEdits(
        edits=(
            SkillEdit(op="remove_field", field="license"),
            SkillEdit(op="set_field", field="metadata.team", text="it"),
        )
    )
    after = apply_edits(base, named)
    old, new = apart_from_fields(base, after, named, kept=False)
    assert old.document == new.document == HEAD + BODY
    old, new = apart_from_fields(base, after, named, kept=True)
    assert old.document == HEAD.replace("---\n#", "---\nlicense: MIT\n#") + BODY
    assert new.document == HEAD + BODY
    none = SkillEdits(edits=(SkillEdit(op="set_description", text="x"),))
    assert apart_from_fields(base, after, none, kept=False) == (base, after)


def test_an_executable_file_stays_one_and_a_script_becomes_one() -> None:
    old = Bundle(
        name="refund", files={**skill().files, "bin/x": SkillFile(data=b"a", executable=True)}
    )
    made = edited(
        old,
        {"op": "put_file", "path": "bin/x", "text": "b"},
        {"op": "put_file", "path": "scripts/a.sh", "text": "#!/bin/sh\nls\n"},
        {"op": "put_file", "path": "scripts/b.sh", "text": "ls\n"},
        {"op": "put_file", "path": "c.sh", "text": "#!/bin/sh\nls\n"},
    )
    assert [path for path, file in made.files.items() if file.executable] == [
        "bin/x",
        "scripts/a.sh",
    ]
