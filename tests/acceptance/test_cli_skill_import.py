"""`skill import` and `skill export`: folders, files, and folders of several, as authors call."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from core.entrypoints.cli.app import run
from core.skills.bundle import read_folder
from tests.support.home import Home

FILES = {
    "refund-sum/SKILL.md": "---\nname: refund-sum\ndescription: 부분 환불\n---\n\n"
    "scripts/run.sh, vat-report/references/vat.md\n",
    "refund-sum/scripts/run.sh": "#!/bin/sh\n",
    "refund-sum/.git/config": "x",
    "refund-sum/node_modules/a.js": "x",
    "vat-report/SKILL.md": "---\nname: vat-report\ndescription: d\ncolour: x\n---\n\n"
    "references/vat.md\n",
    "vat-report/references/vat.md": "# VAT\n",
    "zcopy/SKILL.md": "---\nname: vat-report\ndescription: other\n---\n\nother\n",
    "team/claude-helper/SKILL.md": "---\nname: claude-helper\ndescription: d\n---\n\nhelps\n",
    "broken/SKILL.md": "---\nname: broken\ndescription: a: b\n---\n\nx\n",
    "empty/notes.txt": "no skill",
}

OF_T = ("--tenant", "t")


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / "skills" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "skills" / path).write_text(text, encoding="utf-8")
    (tmp_path / "skills/refund-sum/scripts/run.sh").chmod(0o755)
    (tmp_path / "skills/refund-sum/logo.bin").write_bytes(bytes(range(256)))
    return tmp_path / "skills"


def test_a_dry_run_promises_what_the_import_says_and_all_come_back(
    home: Home, skills: Path, tmp_path: Path
) -> None:
    capsys = home.capsys

    def brought(*arguments: object) -> tuple[int, dict[str, object]]:
        capsys.readouterr()
        status = run(["skill", "import", *map(str, arguments), "--tenant", "t", "--json"])
        return status, json.loads(capsys.readouterr().out)

    status, promised = brought(skills, "--agent", "a", "--dry-run")
    assert (status, promised.pop("dry_run")) == (1, True)
    status, said = brought(skills, "--agent", "a")
    assert (status, said.pop("dry_run")) == (1, False)
    assert promised == said
    items = said["items"]
    assert isinstance(items, list)
    assert [(item["name"], item["outcome"]) for item in items] == [
        ("broken", "refused"),
        ("empty", "refused"),
        ("refund-sum", "created"),
        ("claude-helper", "created"),
        ("vat-report", "created"),
        ("vat-report", "refused"),
    ]
    assert [[problem["code"] for problem in item["problems"]] for item in items] == [
        ["head-quotes"],
        ["document-missing"],
        ["files-left-aside"],
        ["name-reserved"],
        ["key-unknown"],
        ["name-folder"],
    ]
    assert [item["warnings"] for item in items] == [[], [], [], [], [], []]
    _back(skills, tmp_path)
    status, said = brought(tmp_path / "out")
    assert (status, said["counts"]["known"]) == (0, 2)  # type: ignore[index]


def _back(skills: Path, tmp_path: Path) -> None:
    """Export a skill, unpack it with another tool, and compare."""
    out = tmp_path / "out"
    out.mkdir()
    assert run(["skill", "export", "refund-sum", "-o", str(out), *OF_T]) == 0
    assert run(["skill", "export", "refund-sum", "-o", str(out / "r.skill"), *OF_T]) == 0
    exported = read_folder(out / "refund-sum")
    assert exported == read_folder(skills / "refund-sum")
    with zipfile.ZipFile(out / "r.skill") as archive:
        unpacked = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    assert unpacked == {f"refund-sum/{path}": file.data for path, file in exported.files.items()}
    assert (
        run(["skill", "export", "refund-sum", "-o", str(out), *OF_T]) == 1
    )  # never over what is there


def test_what_is_held_is_promised_as_held(home: Home, skills: Path) -> None:
    home.policy("all")
    told = []
    for more in (["--dry-run"], []):
        code, out, _ = home.call("skill", "import", str(skills / "refund-sum"), *OF_T, *more)
        assert code == 0
        told.append(out.splitlines())
    assert told[0][:-1] == told[1][:-1]
    assert told[0][-1] == "dry run, nothing was stored: 1 held"
    assert told[1][-1] == "1 held"


def test_what_is_imported_is_built_in_a_pod_where_skills_are(home: Home, skills: Path) -> None:
    home.monkeypatch.setenv("USE_SKILL_CREATOR_WORKFLOW", "true")
    given = ("skill", "import", str(skills / "team"), *OF_T)
    home.monkeypatch.setenv("COMPUTER_USE_MCP_URL", "http://127.0.0.1:1/mcp")
    assert "computer-use" in str(home.fails(*given, code=3)["message"])
    home.monkeypatch.setenv("COMPUTER_USE_MCP_URL", "")
    code, out, err = home.call(*given)
    assert (code, out.splitlines()[-1]) == (0, "1 created")
    assert "COMPUTER_USE_MCP_URL 없음" in err
