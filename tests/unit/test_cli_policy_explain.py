"""`skill-worker policy`: which rule decides a case and why, and whether a file is in order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from core.entrypoints.cli.app import run
from core.entrypoints.doctor import _see_config
from core.entrypoints.doctor.checks import Check, CheckStatus
from tests.unit.test_config_file import settings_of

RULES = """\
roles:
  guest: [guest]
rules:
  - name: no-skills
    when: {role: guest, kind: [SKILL, AGENT_SKILLS]}
    then: deny
    because: guests teach no skills
  - when: {finding: "payee.*"}
    then: hold
  - when: {agent: billing-*}
    then: allow
  - then: hold
"""
BILLING = ("--author", "kim", "--finding", "", "--agent", "billing-1")
CASE = ("--author", "guest", "--kind", "SKILL", "--operation", "DELETE")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKILL_WORKER_HOME", str(tmp_path))
    (found := tmp_path / "skill-worker.yaml").write_text(RULES, encoding="utf-8")
    return found


def explained(capsys: pytest.CaptureFixture[str], *case: str) -> dict[str, JsonValue]:
    assert run(["policy", "explain", *case, "--json"]) == 0
    told: dict[str, JsonValue] = json.loads(capsys.readouterr().out)
    return told


@pytest.mark.usefixtures("file")
def test_the_deciding_rule_is_named_with_what_is_not_offered(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["policy", "explain", *CASE]) == 0
    out = capsys.readouterr().out
    assert out.startswith("deny: guests teach no skills\nrule 1 (no-skills) of skill-worker.yaml")
    assert "not offered: commit_to_skill: guests teach no skills" in out
    tools = explained(capsys, *CASE)["tools"]
    assert isinstance(tools, dict)
    assert "commit_to_skill" not in str(tools["offered"])
    assert "commit_to_memory" in str(tools["offered"])


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(
    ("case", "effect", "rule"),
    [
        (("--role", "guest", "--kind", "skill"), "deny", 1),
        (("--author", "kim", "--finding", "payee.changed"), "hold", 2),
        (BILLING, "allow", 3),
        (("--author", "kim", "--finding", "", "--agent", "sales"), "hold", 4),
        (
            ("--author", "kim", "--finding", "", "--agent", "billing-1", "--scope", "tenant"),
            "hold",
            3,
        ),
        (("--author", "kim"), None, None),
        (("--kind", "SKILL"), None, None),
        (("--kind", "SKILL", "--origin", "import", "--agent", "x", "--finding", ""), "hold", 4),
    ],
)
def test_what_decides_depends_on_what_is_told(
    case: tuple[str, ...], effect: str, rule: int, capsys: pytest.CaptureFixture[str]
) -> None:
    told = explained(capsys, *case)
    assert (told["effect"], told["decided_by"]) == (effect, rule)


@pytest.mark.usefixtures("file")
def test_what_is_left_open_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policy", "explain", "--author", "kim"]) == 0
    assert capsys.readouterr().out.startswith("it depends on agent, finding\n")
    assert run(["policy", "explain", "--role", "gast"]) == 2
    assert "guest" in capsys.readouterr().err


def test_without_a_file_the_mode_decides(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file.unlink()
    monkeypatch.setenv("REVIEW_POLICY", "locked")
    assert run(["policy", "explain"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("deny: what agents learn is locked\nrule 2 of locked decides")
    assert "not offered: commit_to_memory" in out
    assert run(["policy", "check"]) == 0
    assert capsys.readouterr().out == "no file; REVIEW_POLICY=locked decides\n"


def test_a_wrong_file_is_named_as_its_user_named_it(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(RULES.replace("then: deny", "than: deny"), encoding="utf-8")
    assert run(["policy", "check", "skill-worker.yaml"]) == 4
    captured = capsys.readouterr().err
    assert "skill-worker.yaml: line 4: rules.0.then" in captured
    assert "line 6: rules.0.than: there is no 'than' here: is 'then' meant?" in captured
    assert run(["config", "show"]) == 4
    assert "error: skill-worker.yaml: line 4" in capsys.readouterr().err
    monkeypatch.setenv("SKILL_WORKER_CONFIG", str(file))
    assert run(["config", "show"]) == 4
    assert f"error: SKILL_WORKER_CONFIG={file}: line 4" in capsys.readouterr().err


@pytest.mark.usefixtures("file")
async def test_the_settings_and_the_doctor_tell_of_the_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["config", "show"]) == 0
    told = "skill-worker.yaml: 4 rules of its own, sections: roles, the rest as REVIEW_POLICY=auto"
    assert capsys.readouterr().out.endswith(f"\n{told}\n")
    assert await _see_config(settings_of()) == told


async def test_rules_that_never_decide_are_told(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("rules:\n  - then: hold\n  - {when: {kind: SKILL}, then: deny}\n")
    assert run(["policy", "check"]) == 0
    assert "from rule 2 on" in capsys.readouterr().err
    found = await _see_config(settings_of())
    assert isinstance(found, Check)
    assert found.status is CheckStatus.WARN
