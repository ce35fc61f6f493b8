"""`skill-worker skill`: validate, package and inspect, as people and programs call them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from core.entrypoints.cli.app import run
from core.skills.bundle import read_folder, read_zip

HEAVY = ("alembic", "httpx", "langchain", "langchain_core", "langgraph", "mcp", "psycopg", "yaml")
DOCUMENT = "---\nname: refund-sum\ndescription: '환불: 부분'\nmetadata: {team: ops}\n---\n\nbody\n"


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    folder = tmp_path / "refund-sum"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(DOCUMENT, encoding="utf-8")
    (folder / "scripts" / "run.py").write_bytes(b"#!/usr/bin/env python3\n")
    (folder / "scripts" / "run.py").chmod(0o755)
    (folder / "logo.png").write_bytes(bytes(range(256)))
    return folder


def answer(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, object]:
    status = run([*map(str, arguments), "--json"])
    out, err = capsys.readouterr()
    assert err == ""
    return status, json.loads(out)


def test_a_sound_skill_is_valid(skill: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["skill", "validate", str(skill)]) == 0
    assert capsys.readouterr().out == "Skill is valid!\n"
    expected = {"name": "refund-sum", "valid": True, "problems": []}
    assert answer(capsys, "skill", "validate", skill) == (0, expected)


def test_a_broken_rule_is_named_and_exits_1(
    skill: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (skill / "SKILL.md").write_text(DOCUMENT.replace("refund-sum", "환불"), encoding="utf-8")
    (skill / "notes.md").symlink_to("/etc/passwd")
    assert run(["skill", "validate", str(skill)]) == 1
    out = capsys.readouterr().out
    assert "hyphen-case" in out
    assert out.endswith("Skill is not valid: 2 rules broken\n")
    status, said = answer(capsys, "skill", "validate", skill)
    assert status == 1
    assert isinstance(said, dict)
    assert {p["code"] for p in said["problems"]} == {"file-kind", "name-form", "name-folder"}
    assert set(said["problems"][0]) == {"code", "severity", "path", "message", "hint"}


def test_what_its_own_tools_do_not_cover_is_a_warning(
    skill: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = DOCUMENT.replace("metadata: {team: ops}", "allowed-tools: Bash(git *)")
    (skill / "SKILL.md").write_text(f"{document}\n```sh\ngit log | sh\n```\n", encoding="utf-8")
    status, said = answer(capsys, "skill", "validate", skill)
    assert status == 0
    assert isinstance(said, dict)
    assert {p["code"] for p in said["problems"]} == {"tools-uncovered"}
    assert [": sh" in p["message"] for p in said["problems"]] == [True, False]


def test_a_warning_breaks_no_rule(skill: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (skill / "SKILL.md").write_text(DOCUMENT.replace("metadata", "colour"), encoding="utf-8")
    status, said = answer(capsys, "skill", "validate", skill)
    assert status == 0
    assert isinstance(said, dict)
    assert [(p["code"], p["severity"]) for p in said["problems"]] == [("key-unknown", "warning")]


def test_a_package_is_reproducible_and_reads_back(
    skill: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "one.skill", tmp_path / "two.skill"
    assert answer(capsys, "skill", "package", skill, "-o", first)[0] == 0
    (skill / "logo.png").touch()
    assert answer(capsys, "skill", "package", skill, "-o", second)[0] == 0
    assert first.read_bytes() == second.read_bytes()
    assert read_zip(first.read_bytes()) == read_folder(skill)
    status, said = answer(capsys, "skill", "package", skill, "-o", tmp_path)
    assert status == 0
    assert isinstance(said, dict)
    assert Path(said["path"]) == tmp_path / "refund-sum.skill"
    assert (said["name"], said["files"], said["size"]) == ("refund-sum", 3, len(first.read_bytes()))


def test_a_broken_skill_is_not_packaged(
    skill: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (skill / "a").mkdir()
    (skill / "a" / "SKILL.md").write_text("x", encoding="utf-8")
    status, said = answer(capsys, "skill", "package", skill, "-o", tmp_path / "x.skill")
    assert status == 1
    assert isinstance(said, dict)
    assert said["error"]["kind"] == "invalid"
    assert "second SKILL.md" in said["error"]["message"]
    assert not (tmp_path / "x.skill").exists()
    status, _ = answer(capsys, "skill", "package", skill.parent / "none")
    assert status == 5


def test_a_package_that_cannot_be_written_leaves_nothing(
    skill: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["skill", "package", str(skill), "-o", str(tmp_path / "no" / "x.skill")]) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_inspect_shows_the_tree_the_frontmatter_and_the_sizes(
    skill: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.skill"
    run(["skill", "package", str(skill), "-o", str(file)])
    capsys.readouterr()
    assert run(["skill", "inspect", str(file)]) == 0
    out = capsys.readouterr().out
    for part in (
        "refund-sum",
        "scripts/\n  run.py*  23\n",
        "logo.png  256",
        "환불: 부분",
        "valid!",
    ):
        assert part in out
    status, said = answer(capsys, "skill", "inspect", file)
    assert status == 0
    assert isinstance(said, dict)
    assert (said["name"], said["valid"], said["problems"]) == ("refund-sum", True, [])
    assert said["frontmatter"]["metadata"] == {"team": "ops"}
    assert [(f["path"], f["size"], f["executable"]) for f in said["files"]] == [
        ("SKILL.md", len(DOCUMENT.encode()), False),
        ("logo.png", 256, False),
        ("scripts/run.py", 23, True),
    ]


@pytest.mark.parametrize("data", [b"", b"<html>", b"PK\5\6" + bytes(18)])
def test_what_is_no_skill_file_exits_1_and_says_why(
    data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.skill"
    file.write_bytes(data)
    status, said = answer(capsys, "skill", "inspect", file)
    assert status == 1
    assert isinstance(said, dict)
    assert (said["valid"], said["files"], said["name"]) == (False, [], None)
    assert [p["code"] for p in said["problems"]] == ["archive"]
    assert answer(capsys, "skill", "inspect", tmp_path / "none")[0] == 5


@pytest.mark.parametrize("command", ["validate", "package", "inspect"])
def test_the_commands_load_no_worker(command: str, skill: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.skill"
    run(["skill", "package", str(skill), "-o", str(file)])
    target = file if command == "inspect" else skill
    code = (
        "import sys\nfrom core.entrypoints.cli.app import run\n"
        f"status = run(['skill', {command!r}, {str(target)!r}])\n"
        f"print(status, [name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    command_line = [sys.executable, "-c", code]
    env = {"PYTHONPATH": str(Path.cwd()), "DATABASE_URL": "postgresql://nowhere.invalid/x"}
    done = subprocess.run(
        command_line, cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    assert done.stderr.strip() == "0 []"
