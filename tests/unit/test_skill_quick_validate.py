"""The validator that runs here and, as one file, in a pod."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.skill_document.frontmatter import write_frontmatter
from core.skill_quick_validate import get_quick_validate_script, read_fields, validate_skill

GOOD = "---\nname: refund-sum\ndescription: 환불 합계를 맞춥니다\nmodel: opus\n---\n\nbody\n"


def skill(folder: Path, document: str) -> Path:
    (folder / "SKILL.md").write_bytes(document.encode())
    return folder


@pytest.mark.parametrize(
    "document",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD,
        '---\nname: "a"\ndescription: "b: c # d \\"e\\""\n---\n',
        "---\nname: 'a'\ndescription: 'it''s'\n---\n",
        "---\nname: a\ndescription: >-\n  folded\n  lines: too\n---\n",
        "---\n# note\nname: a # ours\ndescription:\n  two\n  lines\nallowed-tools:\n- Bash\n---\n",
        "---\nname: a\ndescription: b\nmetadata:\n  name: nested\n---\n",
    ],
)
def test_a_valid_skill_is_said_to_be_valid(tmp_path: Path, document: str) -> None:
    assert validate_skill(skill(tmp_path, document)) == (True, "Skill is valid!")


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("# no head\n", "No YAML frontmatter"),
        ("---\nname: a\n", "not closed"),
        ("---\ndescription: b\n---\n", "Missing 'name'"),
        ("---\nname: a\n---\n", "Missing 'description'"),
        ("---\nname: a\ndescription:\n---\n", "empty"),
        ("---\nname: Refund\ndescription: b\n---\n", "hyphen-case"),
        ("---\nname: -a\ndescription: b\n---\n", "hyphen-case"),
        ("---\nname: a--b\ndescription: b\n---\n", "hyphen-case"),
        ("---\nname: 환불\ndescription: b\n---\n", "hyphen-case"),
        (f"---\nname: {'a' * 65}\ndescription: b\n---\n", "65 characters"),
        ("---\nname: a\ndescription: use <b>\n---\n", "angle brackets"),
        (f"---\nname: a\ndescription: {'가' * 1025}\n---\n", "1025 characters"),
        ("---\nname: a\ndescription: b: c\n---\n", "colon"),
        ("---\nname: a\ndescription: [b]\n---\n", "must be text"),
        ('---\nname: a\ndescription: "b\n---\n', "not closed"),
        ("---\nname: a\nname: b\ndescription: c\n---\n", "twice"),
        ("---\nname: a\nwhat is this\ndescription: c\n---\n", "Invalid frontmatter line"),
    ],
)
def test_a_broken_rule_is_the_reason(tmp_path: Path, document: str, reason: str) -> None:
    valid, message = validate_skill(skill(tmp_path, document))
    assert not valid
    assert reason in message
    assert not message.startswith("Skill is valid")


def test_a_folder_without_a_document_or_with_bytes_is_invalid(tmp_path: Path) -> None:
    assert validate_skill(tmp_path) == (False, "SKILL.md not found")
    (tmp_path / "SKILL.md").write_bytes(b"---\nname: \xff\n---\n")
    assert validate_skill(str(tmp_path)) == (False, "SKILL.md is not UTF-8 text")


@given(st.text(max_size=40) | st.text("ab :#'\"\\\n\t-|>&{}[]가\u2028", max_size=20))
def test_it_reads_whatever_our_own_writer_writes(description: str) -> None:
    fields = read_fields(write_frontmatter("a", description))
    assert fields == {"name": "a", "description": description}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "work" / "quick_validate.py"
    path.parent.mkdir()
    path.write_text(get_quick_validate_script(), encoding="utf-8")
    return path


def run(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONUTF8": "0"}
    command = [sys.executable, "-I", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, check=False, timeout=30)


def test_the_script_stands_alone_and_exits_by_its_verdict(script: Path, tmp_path: Path) -> None:
    good = run(script, skill(tmp_path, GOOD), cwd=script.parent)
    assert (good.returncode, good.stdout, good.stderr) == (0, b"Skill is valid!\n", b"")
    bad = run(script, skill(tmp_path, GOOD.replace("refund-sum", "환불")), cwd=script.parent)
    assert bad.returncode == 1
    assert "'환불' must be hyphen-case" in bad.stdout.decode("utf-8")
    assert run(script, cwd=script.parent).returncode == 1


def test_the_script_can_be_imported_and_needs_no_package(script: Path, tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(script.parent)!r}); sys.modules['yaml'] = None;"
        f"from quick_validate import validate_skill; print(validate_skill({str(tmp_path)!r}))"
    )
    skill(tmp_path, GOOD)
    done = run("-S", "-c", code, cwd=script.parent)
    assert done.stdout == b"(True, 'Skill is valid!')\n"
