"""`skill-worker skill graph`, over the embedded skill server, as people and programs call it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.app import bootstrap
from core.app.settings import load_settings
from core.domain.models import SKILL_MD, Bundle, SkillFile
from core.entrypoints.cli.app import run
from core.entrypoints.cli.session import run_async

_BODIES = {"refund": "tax/SKILL.md references/없음.md", "tax": "refund/SKILL.md"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home of its own whose skill server has two skills of the tenant `가게`."""
    for name in ("DATABASE_URL", "SKILL_API_BASE_URL", "MCP_SERVER_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SKILL_WORKER_HOME", str(tmp_path))
    run_async(_fill())


async def _fill() -> None:
    settings = load_settings()
    async with (
        bootstrap.skill_server(settings) as url,
        bootstrap.skill_store(settings, url) as skills,
    ):
        for name, body in _BODIES.items():
            text = f"---\nname: {name}\ndescription: d\n---\n{body}\n"
            folder = Bundle(name=name, files={SKILL_MD: SkillFile(data=text.encode())})
            await skills.upload(folder, "가게")


@pytest.mark.usefixtures("home")
def test_the_graph_is_drawn_in_each_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["skill", "graph", "--tenant", "가게"]) == 0
    drawn = capsys.readouterr().out
    assert drawn.startswith("flowchart LR\n")
    assert '["refund/references/없음.md"]:::missing' in drawn
    assert run(["skill", "graph", "--tenant", "가게", "--format", "dot"]) == 0
    assert capsys.readouterr().out.startswith("digraph skills {\n")
    assert run(["skill", "graph", "--tenant", "가게", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [skill["name"] for skill in found["skills"]] == ["refund", "tax"]
    ends = [(edge["skill"], edge["to_skill"], edge["dangling"]) for edge in found["edges"]]
    assert ends == [
        ("refund", "refund", True),
        ("refund", "tax", False),
        ("tax", "refund", False),
    ]


@pytest.mark.usefixtures("home")
def test_as_a_check_it_fails_where_something_leads_nowhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["skill", "graph", "--tenant", "가게", "--dangling", "--json"]) == 1
    (edge,) = json.loads(capsys.readouterr().out)["edges"]
    assert edge["to_path"] == "references/없음.md"
    assert run(["skill", "graph", "--tenant", "elsewhere", "--dangling"]) == 0


def test_a_format_that_is_none_is_a_usage_error() -> None:
    assert run(["skill", "graph", "--tenant", "t", "--format", "svg"]) == 2


@pytest.mark.parametrize("form", ["dot", "mermaid"])
def test_json_beside_another_format_is_a_usage_error(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["skill", "graph", "--tenant", "t", "--format", form, "--json"]) == 2
    answered = capsys.readouterr()
    assert f"--format {form} was given" in answered.out + answered.err


@pytest.mark.usefixtures("home")
def test_json_said_twice_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["skill", "graph", "--tenant", "가게", "--format", "json", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["skills"]) == 2


@pytest.mark.usefixtures("home")
def test_of_a_tenant_without_skills_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["skill", "graph", "--tenant", "nope"]) == 0
    answered = capsys.readouterr()
    assert answered.out.startswith("flowchart LR")
    assert "there are no skills of tenant 'nope'" in answered.err


def test_a_skill_api_that_is_down_exits_3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILL_API_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("SKILL_API_MAX_RETRIES", "0")
    assert run(["skill", "graph", "--tenant", "t"]) == 3
