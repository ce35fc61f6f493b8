"""A skill made from an artifact: its document, and what is sent back to the author."""

from __future__ import annotations

import unicodedata

import pytest

from core.domain.errors import ArtifactInvalid
from core.domain.models import SKILL_MD, Bundle, SkillArtifact, SkillFile
from core.skills.document.assembly import assemble
from core.skills.document.frontmatter import read_frontmatter, split_document


def artifact(**changes: object) -> SkillArtifact:
    fields = {
        "name": "refund-sum",
        "description": "Reconcile partial refunds",
        "body_markdown": "# Refunds\n\nFind the order.\n",
    }
    return SkillArtifact.model_validate({**fields, **changes})


def sections(**changes: object) -> SkillArtifact:
    texts = {"overview": "Why.", "steps": ("Look.", "2. Book it.\nTwice."), "usage": "Daily."}
    return artifact(body_markdown=None, **{**texts, **changes})


def problems_of(wrong: SkillArtifact, name: str | None = None, base: Bundle | None = None) -> str:
    with pytest.raises(ArtifactInvalid) as caught:
        assemble(wrong, name=name, base=base)
    return "\n".join(caught.value.problems)


def test_a_body_is_used_verbatim_below_the_frontmatter() -> None:
    body = "# Refunds\r\n\r\ntrailing blanks  \n\n\n---\nrule"
    bundle = assemble(artifact(body_markdown=body), name=None, base=None)
    head, rest = split_document(bundle.document)
    assert head == "---\nname: refund-sum\ndescription: Reconcile partial refunds\n---\n"
    assert rest == f"\n{body}"


def test_without_a_body_there_are_exactly_three_sections() -> None:
    bundle = assemble(sections(), name=None, base=None)
    assert split_document(bundle.document)[1] == (
        "\n# refund-sum\n\n## Overview\n\nWhy.\n\n"
        "## Steps\n\n1. Look.\n2. Book it.\n   Twice.\n\n## Usage\n\nDaily.\n"
    )


def test_korean_text_gets_korean_headings() -> None:
    steps = ("ERP를 엽니다.", "1,200,000 / 5% = 60,000 (2026-01-31)")
    korean = sections(overview="환불을 맞춥니다.", steps=steps, usage="매일 씁니다.")
    document = assemble(korean, name=None, base=None).document
    titles = [line for line in document.splitlines() if line.startswith("## ")]
    assert titles == ["## 개요", "## 절차", "## 사용법"]


@pytest.mark.parametrize(
    "description",
    ["a: b", "uses # signs", "---", "'quoted' \"twice\"", "환불: 부분", "👩‍👧 family"],
)
def test_an_awkward_description_is_kept(description: str) -> None:
    bundle = assemble(artifact(description=description), name=None, base=None)
    assert read_frontmatter(bundle.document).description == description


def test_the_given_name_wins_over_that_of_the_artifact() -> None:
    bundle = assemble(artifact(name="Not A Name"), name="refund-sum", base=None)
    assert bundle.name == read_frontmatter(bundle.document).name == "refund-sum"


def test_scripts_with_a_shebang_are_executable() -> None:
    files = {"scripts/a.py": "#!/usr/bin/env python3\nprint()\n", "scripts/b.py": "print()\n"}
    bundle = assemble(artifact(additional_files=files), name=None, base=None)
    modes = {path: file.executable for path, file in bundle.files.items()}
    assert modes == {SKILL_MD: False, "scripts/a.py": True, "scripts/b.py": False}


def test_a_decomposed_path_is_composed() -> None:
    path = unicodedata.normalize("NFD", "references/규정.md")
    bundle = assemble(artifact(additional_files={path: "글"}), name=None, base=None)
    assert "references/규정.md" in bundle.files


BASE = Bundle(
    name="Old Name",
    files={
        SKILL_MD: SkillFile(
            data=b"---\n# ours\nname: Old Name\ndescription: was <so>\nmodel:  opus\n---\n\nold\n"
        ),
        "assets/logo.png": SkillFile(data=b"\x89PNG\xff"),
        "bin/tool": SkillFile(data=b"echo", executable=True),
        "empty.txt": SkillFile(data=b""),
    },
)


def test_an_update_keeps_what_the_artifact_does_not_name() -> None:
    files = {"bin/tool": "echo 2\n", "references/new.md": "text"}
    after = assemble(artifact(additional_files=files), name=None, base=BASE)
    assert after.name == "Old Name"
    assert after.document == (
        "---\n# ours\nname: Old Name\ndescription: Reconcile partial refunds\nmodel:  opus\n---\n"
        "\n# Refunds\n\nFind the order.\n"
    )
    assert after.files["assets/logo.png"] == BASE.files["assets/logo.png"]
    assert after.files["bin/tool"] == SkillFile(data=b"echo 2\n", executable=True)
    assert set(after.files) == {*BASE.files, "references/new.md"}


def test_an_update_that_changes_nothing_changes_no_byte() -> None:
    same = artifact(description="was <so>", body_markdown="old\n")
    assert assemble(same, name=None, base=BASE) == BASE


def test_an_unreadable_head_is_written_anew() -> None:
    broken = Bundle(name="refund-sum", files={SKILL_MD: SkillFile(data=b"no head")})
    after = assemble(artifact(), name=None, base=broken)
    assert read_frontmatter(after.document).name == "refund-sum"


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("x; touch y", "hyphen-case"),
        ("../up", "hyphen-case"),
        ("-flag", "hyphen-case"),
        ("a" * 65, "65 characters"),
        ("환불", "hyphen-case"),
        ("Refund", "hyphen-case"),
        ("", "hyphen-case"),
        ("con", "device name"),
        ("claude-helper", "'claude'"),
        ("my-anthropic", "'anthropic'"),
    ],
)
def test_a_bad_name_is_refused(name: str, rule: str) -> None:
    assert rule in problems_of(artifact(name=name))
    assert rule in problems_of(artifact(), name=name or "-")


@pytest.mark.parametrize(
    ("description", "rule"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("two\nlines", "one line"),
        ("가" * 1025, "1025 characters"),
        ("use <this>", "angle brackets"),
        ("zero\u200bwidth", "invisible"),
        ("turned \u202e round", "invisible"),
        ("bell\x07", "invisible"),
        ("half \ud83d", "half a character"),
    ],
)
def test_a_bad_description_is_refused(description: str, rule: str) -> None:
    assert rule in problems_of(artifact(description=description))


@pytest.mark.parametrize(
    ("path", "text", "rule"),
    [
        ("../x", "x", "leaves its folder"),
        ("/etc/x", "x", "absolute"),
        ("SKILL.md", "x", "must not hold 'SKILL.md'"),
        ("skill.md", "x", "must not hold 'skill.md'"),
        ("a/SKILL.md", "x", "second SKILL.md"),
        (".git/config", "x", ".git"),
        ("x" * 300, "x", "255 bytes"),
        ("references/empty.md", " \n", "is empty"),
        ("references/todo.md", "# Guide\n\nTODO: write this\n", "only a placeholder"),
        ("scripts/x.py", "#!/usr/bin/env python3\n# TODO\n", "only a placeholder"),
        ("references/준비.md", "# 안내\n\n(추후 작성)\n", "only a placeholder"),
        ("assets/big.txt", "x" * 40_000_000, "bytes, more than"),
        ("assets/half.txt", "\ud800", "half a character"),
    ],
)
def test_a_bad_file_is_refused(path: str, text: str, rule: str) -> None:
    assert rule in problems_of(artifact(additional_files={path: text}))


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        (artifact(body_markdown=""), "empty or a placeholder"),
        (artifact(body_markdown="# Only a title\n\n## And another\n"), "empty or a placeholder"),
        (artifact(body_markdown="[TODO: explain]\n\n- TBD\n"), "empty or a placeholder"),
        (artifact(body_markdown="---\nname: x\n---\nbody"), "must not begin with frontmatter"),
        (sections(overview=""), "overview is empty"),
        (sections(steps=()), "steps is empty"),
        (sections(steps=("do it", " ")), "empty step"),
        (sections(usage="TODO"), "usage is empty or a placeholder"),
        (sections(overview="fine\n\n## Extra\n\nmore"), "overview has headings"),
    ],
)
def test_a_bad_body_is_refused(wrong: SkillArtifact, rule: str) -> None:
    assert rule in problems_of(wrong)


@pytest.mark.parametrize("body", ["Todoist: sync the list.", "# T\n\nTODO later.\n\nDo this now."])
def test_text_that_says_something_is_no_placeholder(body: str) -> None:
    assemble(artifact(body_markdown=body), name=None, base=None)


def test_all_problems_are_told_at_once() -> None:
    said = problems_of(
        artifact(
            name="Bad Name",
            description="<b>",
            body_markdown="TODO",
            additional_files={"../x": "x", "skill.md": "x", "e.md": ""},
        )
    )
    for rule in (
        "hyphen-case",
        "angle",
        "body of",
        "leaves its",
        "must not hold",
        "'e.md' is empty",
    ):
        assert rule in said


def test_what_was_wrong_before_an_update_is_not_the_authors_fault() -> None:
    old = {**BASE.files, "a/SKILL.md": SkillFile(data=b"x"), "CON": SkillFile(data=b"x")}
    base = Bundle(name="Old Name", files=old)
    after = assemble(artifact(), name=None, base=base)
    assert after.files["CON"].data == b"x"
    assert "second SKILL.md" in problems_of(
        artifact(additional_files={"b/SKILL.md": "x"}), base=base
    )
