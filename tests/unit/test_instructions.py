"""What of a repository's files is an instruction, where it stands, and what is left alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.knowledge.instructions.passages import passages, unmanaged
from core.knowledge.instructions.reading import MAX_TEXT_BYTES, Repository, read_repository


def read(folder: Path, files: dict[str, str | bytes]) -> Repository:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode() if isinstance(text, str) else text)
    return read_repository(folder)


def said(found: Repository) -> list[tuple[str, int, str]]:
    return [(one.path, one.line, one.text) for one in found.instructions]


def troubles(found: Repository) -> list[tuple[str, int, str]]:
    return [(one.path, one.line, one.why) for one in found.troubles]


def test_each_bullet_and_paragraph_counts_with_its_line_and_heading() -> None:
    text = (
        "# Shop\n\nAlways answer\nin Korean.\n\n## Build\n\n```bash\nmake all\n```\n\n"
        "Run the tests with:\n\n```\npytest\n```\n\n- Use `pnpm`\n  never npm\n"
        "1. [ ] One\n   - nested\n\n---\n\n[guide](g.md) ![badge](b.svg)\n\n"
        "<!-- a comment -->\n\nWhen testing:\n\n* no mocks <!-- hidden -->\n\n"
        "| a | b |\n|---|---|\n| c | d |\n"
    )
    assert [(one.line, one.text) for one in passages(text)] == [
        (3, "Always answer in Korean."),
        (8, "Build:\n```bash\nmake all\n```"),
        (14, "Build: Run the tests with:\n```\npytest\n```"),
        (18, "Build: Use `pnpm` never npm"),
        (20, "Build: One\n- nested"),
        (31, "Build: When testing: no mocks"),
        (33, "Build:\n| a | b |\n|---|---|\n| c | d |"),
    ]


def test_what_knowledge_sync_wrote_is_not_learnt_again(tmp_path: Path) -> None:
    begin, end = "<!-- skill-worker:begin k 1 -->", "<!-- skill-worker:end k 1 -->"
    block = f"{begin}\n- managed\n<!-- skill-worker:end other -->\n- too\n{end}\n"
    assert unmanaged(f"- ours\n{block}- mine\n") == "- ours\n" + "\n" * 5 + "- mine\n"
    assert unmanaged(f"# T\n{begin}\n- managed\n") == ""
    found = read(
        tmp_path,
        {
            "AGENTS.md": f"- ours\n\n{block}\n- mine\n",
            ".claude/rules/a.md": f"---\npaths: src/**\n---\n{begin}\n- managed\n",
            ".claude/skills/theirs/SKILL.md": "---\nname: theirs\ndescription: d\n---\nx\n",
            ".claude/skills/own/SKILL.md": "---\nname: own\ndescription: d\n---\nx\n",
            ".claude/skills/known/SKILL.md": "---\nname: known\ndescription: d\n---\nx\n",
            "rules/synced.dmn": "<x/>",
            ".skill-worker/sync.json": '{"sources": {"claude t/a": {"AGENTS.md": {},'
            ' "rules/synced.dmn": {}, ".claude/skills/theirs/SKILL.md": {},'
            ' ".claude/skills/known/SKILL.md": {"sha256": "aa", "found": "aa"}}}}',
        },
    )
    assert said(found) == [("AGENTS.md", 1, "ours"), ("AGENTS.md", 9, "mine")]
    assert [one.path for one in found.skills] == [".claude/skills/known", ".claude/skills/own"]
    assert not found.tables
    assert not found.troubles


def test_a_skill_that_stands_in_several_places_is_read_once(tmp_path: Path) -> None:
    skill = "---\nname: {0}\ndescription: d\n---\nx\n"
    files = {
        ".agents/skills/one/SKILL.md": skill.format("one"),
        ".agents/skills/two/SKILL.md": skill.format("two"),
        ".codex/skills/one/SKILL.md": skill.format("one"),
        ".cursor/skills/two/SKILL.md": skill.format("two") + "other steps\n",
        ".github/skills/three/SKILL.md": skill.format("three"),
    }
    for folder in (".claude/skills", ".cursor/skills"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".claude/skills/one").symlink_to("../../.agents/skills/one")
    (tmp_path / ".cursor/skills/away").symlink_to("/tmp")
    found = read(tmp_path, files)
    assert [one.path for one in found.skills] == [
        ".agents/skills/one",
        ".agents/skills/two",
        ".github/skills/three",
    ]
    assert [one[0] for one in troubles(found)] == [".cursor/skills/away", ".cursor/skills/two"]
    assert "'two' that is read from another folder" in troubles(found)[1][2]


def test_scopes_of_four_tools_are_stated_in_the_text(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        {
            "api/AGENTS.md": "- nested\n- 한국어로 답합니다\n",
            ".claude/rules/deep/py.md": '---\npaths:\n- "a/**/*.{py,pyi}"\n- *.md\n---\n- typed\n',
            ".cursor/rules/ts.mdc": "---\nglobs: *.ts,*.tsx\nalwaysApply: false\n---\n- strict\n",
            ".cursor/rules/all.mdc": "---\nglobs: *.ts\nalwaysApply: true\n---\n- always\n",
            ".cursor/rules/some.mdc": "---\ndescription: Releases\nglobs:\n---\n- tag it\n",
            ".github/copilot-instructions.md": "- for copilot\n",
            ".github/instructions/x.instructions.md": '---\napplyTo: "**"\n---\n- everywhere\n',
        },
    )
    assert {one.path: one.text for one in found.instructions if "nested" not in one.text} == {
        "api/AGENTS.md": "`api/**` 파일에서: 한국어로 답합니다",
        ".claude/rules/deep/py.md": "For files `a/**/*.{py,pyi}`, `*.md`: typed",
        ".cursor/rules/ts.mdc": "For files `*.ts`, `*.tsx`: strict",
        ".cursor/rules/all.mdc": "always",
        ".cursor/rules/some.mdc": "Releases: tag it",
        ".github/copilot-instructions.md": "for copilot",
        ".github/instructions/x.instructions.md": "everywhere",
    }
    assert "For files `api/**`: nested" in [one.text for one in found.instructions]


def test_includes_are_read_as_claude_code_reads_them(tmp_path: Path) -> None:
    deep = {f"d/{n}.md": f"- at {n}\n- @{n + 1}.md\n" for n in range(1, 8)}
    found = read(
        tmp_path,
        {
            "CLAUDE.md": "See @docs/a.md, and `@docs/not.md` by @jane or @types/node.\n\n"
            "```\n@docs/not.md\n```\n\n@d/1.md\n@package.json\n",
            "docs/a.md": "- from a, with @../CLAUDE.md\n- @missing.md\n",
            "docs/not.md": "- never\n",
            "package.json": "{}",
            **deep,
        },
    )
    texts = [one.text for one in found.instructions]
    assert [text for text in texts if text.startswith("at")] == [f"at {n}" for n in range(1, 6)]
    assert ("docs/a.md", 1, "from a, with @../CLAUDE.md") in said(found)
    assert "never" not in texts
    assert troubles(found) == [
        ("docs/a.md", 1, "@../CLAUDE.md is not included: it includes itself"),
        ("docs/a.md", 2, "@missing.md is not included: there is no such file"),
        ("d/5.md", 2, "@6.md is not included: it is more than 5 files deep"),
        ("CLAUDE.md", 8, "@package.json is not included: it is no text of instructions"),
    ]
    assert [one.is_note for one in found.troubles] == [True, True, False, True]


def test_no_more_includes_than_a_person_writes_are_read(tmp_path: Path) -> None:
    many = "".join(f"@{n}.md @again.md\n" for n in range(1_100))
    found = read(tmp_path, {"CLAUDE.md": many, "999.md": "- in\n", "1000.md": "- out\n"})
    assert "out" not in [one.text for one in found.instructions]
    too_many = "more than 1000 paths are included in one file; from here on they are not read"
    assert [one for one in troubles(found) if "more than" in one[2]] == [
        ("CLAUDE.md", 1000, too_many)
    ]


def test_nothing_outside_the_folder_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("- the secret\n", encoding="utf-8")
    inside = tmp_path / "repository"
    (inside / ".claude/skills").mkdir(parents=True)
    (inside / "docs").symlink_to(tmp_path)
    (inside / "link.md").symlink_to(secret)
    (inside / "sub").mkdir()
    (inside / "sub/AGENTS.md").symlink_to(secret)
    (inside / ".claude/skills/linked").symlink_to(tmp_path)
    (inside / "sub/CLAUDE.md").symlink_to("../CLAUDE.md")
    lines = ("@../secret.md", f"@{secret}", "@~/secret.md", "@link.md", "@docs/secret.md")
    found = read(inside, {"CLAUDE.md": "".join(f"- {line}\n" for line in lines)})
    assert not found.instructions
    outside = "it is outside the folder, of which nothing is read"
    link = "it is a symbolic link, and links are not followed"
    why = [outside, outside, outside, link, link]
    assert troubles(found) == [
        *(
            ("CLAUDE.md", at + 1, f"{line} is not included: {why[at]}")
            for at, line in enumerate(lines)
        ),
        ("sub/AGENTS.md", 1, link),
        ("sub/CLAUDE.md", 1, link),
        (".claude/skills/linked", 1, link),
    ]
    # Nothing is lost by the link to what is read by its own name.
    assert [one.path for one in found.troubles if one.is_note] == ["sub/CLAUDE.md"]


def test_what_cannot_be_read_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe/AGENTS.md")
    found = read(
        tmp_path,
        {
            "AGENTS.md": "- good\n",
            "a/AGENTS.md": b"- x\n\x00\n",
            "b/AGENTS.md": "- caf\xe9\n".encode("latin-1"),
            "c/AGENTS.md": b"a" * (MAX_TEXT_BYTES + 1),
            "d/AGENTS.md": "\n".join(f"- {n}" for n in range(10_002)),
            ".claude/rules/1.md": "---\npaths: [a\n---\n- x\n",
            ".claude/rules/2.md": "---\npaths: src\n- x\n",
            ".claude/rules/3.md": "---\npaths:\n  a: b\n---\n- x\n",
            ".claude/rules/4.md": "---\n- a\n---\n- x\n",
            ".claude/rules/5.md": f"---\npaths: {'[' * 2000}\n---\n- x\n",
            ".claude/skills/bad/SKILL.md": "no head\n",
            "t.dmn": "<no/>",
            ".skill-worker/sync.json": "[",
        },
    )
    assert said(found) == [("AGENTS.md", 1, "good")]
    told = {(one.path, one.line) for one in found.troubles if not one.is_note}
    assert told >= {("a/AGENTS.md", 2), ("b/AGENTS.md", 1), ("c/AGENTS.md", 1)}
    assert {path for path, _ in told} == {
        *("a/AGENTS.md", "b/AGENTS.md", "c/AGENTS.md", "d/AGENTS.md", "pipe/AGENTS.md"),
        *(f".claude/rules/{n}.md" for n in range(1, 6)),
        *(".claude/skills/bad/SKILL.md", "t.dmn", ".skill-worker/sync.json"),
    }


@pytest.mark.parametrize(
    "text", ["<!-- " * 50_000, "- [" * 60_000, "` `` " * 40_000, "> " * 90_000]
)
def test_hostile_markup_takes_no_longer_than_any_other(tmp_path: Path, text: str) -> None:
    files = {"CLAUDE.md": text, "x/CLAUDE.md": "@../y1.md\n", "AGENTS.md": "- read\n"}
    every = "".join(f"@y{n}.md\n" for n in range(30))
    found = read(tmp_path, files | {f"y{n}.md": every for n in range(30)})
    assert "read" in [one.text for one in found.instructions]
