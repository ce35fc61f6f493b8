"""References of a skill: all are found, and each resolves or is reported."""

from __future__ import annotations

import unicodedata

import pytest

from core.domain.models import SKILL_MD, Bundle, SkillFile
from core.skills.references import dangling, find_references

FILES = (
    "references/fees.md",
    "references/환불 규정.md",
    "references/deep/more.md",
    "scripts/run.py",
    "scripts/run",
    "assets/logo(1).png",
    "top.md",
)
OTHERS = {"tax-rates": ("SKILL.md", "references/vat.md")}


def skill(text: str, file: str = SKILL_MD) -> Bundle:
    files = {path: SkillFile(data=b"x") for path in FILES}
    files[SKILL_MD] = SkillFile(data=b"# R\n")
    files[file] = SkillFile(data=text.encode())
    return Bundle(name="refund", files=files)


def targets(text: str, file: str = SKILL_MD) -> list[tuple[str, bool]]:
    return [(found.target, found.resolved) for found in find_references(skill(text, file), OTHERS)]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("[요금](references/fees.md)", "references/fees.md"),
        ("[요금](./references/fees.md#카드 'x')", "references/fees.md"),
        ("[요금](references/fees.md?raw=1#a)", "references/fees.md"),
        ("[규정](<references/환불 규정.md>)", "references/환불 규정.md"),
        ("[규정](references/%ED%99%98%EB%B6%88%20규정.md)", "references/환불 규정.md"),
        ("![로고](assets/logo(1).png)", "assets/logo(1).png"),
        ("[top](top.md)", "top.md"),
        ("[x]: references/fees.md 'title'", "references/fees.md"),
        ("`references/fees.md`를 읽는다", "references/fees.md"),
        ("references/fees.md를 읽는다.", "references/fees.md"),
        ("먼저 references/환불 규정.md를 읽는다", "references/환불 규정.md"),
        ("see references/fees.md.", "references/fees.md"),
        ("(references/fees.md)", "references/fees.md"),
        ("**references/fees.md**:", "references/fees.md"),
        ("| a | references/fees.md | b |", "references/fees.md"),
        ("```sh\npython3 scripts/run.py --all\n```", "scripts/run.py"),
        ("```sh\n./scripts/run --all\n```", "scripts/run"),
        ("scripts/run을 실행한다", "scripts/run"),
        ('python "${SKILL_DIR}/scripts/run.py"', "scripts/run.py"),
        ("{baseDir}/scripts/run.py", "scripts/run.py"),
        ("refund/references/fees.md", "references/fees.md"),
        ("tax-rates/references/vat.md", "tax-rates/references/vat.md"),
        ("[세율](tax-rates/references/vat.md)", "tax-rates/references/vat.md"),
        ("[세율](../tax-rates/references/vat.md)", "tax-rates/references/vat.md"),
        ("[세율](../tax-rates/SKILL.md)", "tax-rates/SKILL.md"),
        ("tax-rates/SKILL.md를 먼저 읽는다", "tax-rates/SKILL.md"),
        ("see ../tax-rates/references/vat.md", "tax-rates/references/vat.md"),
        (unicodedata.normalize("NFD", "[규정](<references/환불 규정.md>)"), FILES[1]),
    ],
)
def test_a_reference_is_found_wherever_it_stands(text: str, target: str) -> None:
    assert targets(text) == [(target, True)]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("[a](fees.md)", "references/fees.md"),
        ("[a](./deep/more.md)", "references/deep/more.md"),
        ("[a](../scripts/run.py)", "scripts/run.py"),
        ("../scripts/run.py", "scripts/run.py"),
        ("[a](references/fees.md)", "references/fees.md"),
        ("[a](../SKILL.md)", "SKILL.md"),
        ("[a](tax-rates/references/vat.md)", "tax-rates/references/vat.md"),
        ("[a](../../tax-rates/references/vat.md)", "tax-rates/references/vat.md"),
    ],
)
def test_links_of_a_reference_file_are_read_from_its_folder(text: str, target: str) -> None:
    assert targets(text, "references/guide.md") == [(target, True)]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("[a](references/gone.md)", "references/gone.md"),
        ("[a](gone.md)", "gone.md"),
        ("[a](references/gone)", "references/gone"),
        ("references/gone.md를 읽는다", "references/gone.md"),
        ("```\nscripts/gone.sh\n```", "scripts/gone.sh"),
        ("tax-rates/references/gone.md", "tax-rates/references/gone.md"),
        ("[a](no-such/assets/x.png)", "no-such/assets/x.png"),
        ("no-such/references/x.md", "no-such/references/x.md"),
        ("refund/references/gone.md", "references/gone.md"),
    ],
)
def test_what_leads_nowhere_is_told(text: str, target: str) -> None:
    assert targets(text) == [(target, False)]
    (found,) = dangling(find_references(skill(f"# A\n\n{text}"), OTHERS))
    assert found.file == SKILL_MD
    assert found.line >= 3


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/references/x.md",
        "[a](https://example.com/references/x.md)",
        "[a](mailto:a@b.c) [b](#anchor) [c](//host/references/x.md)",
        "/usr/share/references/x.md and ~/scripts/x.py",
        "[a](/references/x.md)",
        "C:\\scripts\\x.py src\\scripts/x.py",
        "references/<topic>.md, references/{topic}.md, references/*.md, scripts/$NAME.py",
        "references/… and scripts/...",
        "the references/ folder, scripts/and assets/or",
        "[folder](references/) [here](.)",
        "`[a](b)` is how links are written",
        "```py\nfoo[1](bar)\n```",
        "host:references/x.md user@scripts/x.py",
        "node_modules/pkg/scripts/x.js",
        "../../../elsewhere/scripts/x.sh",
        "[x](../../../up.md)",
    ],
)
def test_what_is_no_reference_is_not_taken_for_one(text: str) -> None:
    assert targets(text) == []


def test_references_are_found_in_every_text_file_and_not_in_binary_ones() -> None:
    bundle = skill("references/gone.md")
    files = {
        **bundle.files,
        "scripts/run.py": SkillFile(data=b"open('references/gone.md')\r\nopen('assets/no.csv')"),
        "assets/x.bin": SkillFile(data=b"\xff references/gone.md"),
    }
    found = find_references(Bundle(name="refund", files=files))
    assert [(item.place, item.path) for item in found] == [
        ("SKILL.md:1", "references/gone.md"),
        ("scripts/run.py:1", "references/gone.md"),
        ("scripts/run.py:2", "assets/no.csv"),
    ]


def test_the_same_reference_counts_once_a_line() -> None:
    assert len(targets("[references/fees.md](references/fees.md) references/fees.md")) == 1


@pytest.mark.parametrize(
    ("piece", "count"), [("a", 0), ("[a](b.md) ", 1), ("references/x.md ", 1), ("`a", 0)]
)
def test_two_million_characters_in_one_line_are_read(piece: str, count: int) -> None:
    assert len(targets(piece * (2_000_000 // len(piece)))) == count
