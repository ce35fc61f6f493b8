"""The embedded skill server's MCP tools, and the skill that it ships."""

from __future__ import annotations

import base64
import subprocess
import sys
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from core.adapters.embedded.http_server import run_server
from core.adapters.embedded.skill_server import create_app
from core.adapters.embedded.skill_server_folders import SkillFolders
from core.domain.models import Bundle, SkillFile
from core.domain.ports import SkillDocuments
from core.mcp_client import McpServer, McpSkillDocuments, open_mcp
from core.skill_quick_validate import get_quick_validate_script
from core.skills.creator.shipped import init_skill_script, skill_creator_bundle
from core.testing.contracts.pods import SCRIPT, SCRIPT_TEXT, SKILL, SkillDocumentsContract
from tests.support.mcp_caller import McpCaller

DOCUMENT = "---\nname: {}\ndescription: {}\n---\n\n# 절차\n\n{}\n"
RULE = "=" * 80


def skill(name: str, description: str, body: str, **files: bytes) -> Bundle:
    text = DOCUMENT.format(name, description, body)
    data = {"SKILL.md": text.encode(), **files}
    return Bundle(name=name, files={path: SkillFile(data=each) for path, each in data.items()})


REFUND = skill(
    "refund", "부분 환불을 정산하는 절차", "환불 금액을 확인한다.", **{"assets/a.bin": b"\0\xff"}
)
VACATION = skill("vacation", "휴가를 신청하는 절차", "휴가 일수를 확인한다.")


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    folders = SkillFolders(tmp_path)
    for bundle in (REFUND, VACATION):
        folders.change("acme", bundle.name, lambda _, made=bundle: made)
    async with run_server(create_app(tmp_path)) as base:
        yield base


@pytest.fixture
def session(url: str) -> McpCaller:
    return McpCaller(f"{url}/mcp")


async def text(session: McpCaller, tool: str, **arguments: object) -> str:
    result = await session.call_tool(tool, arguments)
    assert not result.isError, result
    [block] = result.content
    assert block.type == "text"
    return block.text


class TestSkillDocuments(SkillDocumentsContract):
    """The worker's own adapter reads what this server serves."""

    @pytest.fixture
    async def documents(self, url: str) -> AsyncIterator[SkillDocuments]:
        server = McpServer("claude-skills", f"{url}/mcp", None)
        async with open_mcp([server], call_seconds=20) as client:
            yield McpSkillDocuments(client, "claude-skills")

    async def test_a_document_reads_as_it_is(self, documents: SkillDocuments) -> None:
        assert SCRIPT_TEXT
        assert await documents.read(SKILL, SCRIPT) == init_skill_script()


async def test_a_document_comes_under_its_path_and_a_rule(session: McpCaller) -> None:
    answer = await text(
        session,
        "read_skill_document",
        skill_name="refund",
        document_path="SKILL.md",
        tenant_id="acme",
    )
    assert answer == f"Document: SKILL.md\n{RULE}\n\n{REFUND.document}"


async def test_a_pattern_gives_every_document_that_matches(session: McpCaller) -> None:
    answer = await text(
        session, "read_skill_document", skill_name=SKILL, document_path="scripts/*_skill.py"
    )
    assert answer.count(RULE) == 2
    assert "Document: scripts/init_skill.py" in answer
    assert "Document: scripts/package_skill.py" in answer


async def test_binary_comes_as_base64_where_it_is_asked_for(session: McpCaller) -> None:
    asked = {"skill_name": "refund", "document_path": "assets/a.bin", "tenant_id": "acme"}
    plain = await text(session, "read_skill_document", **asked)
    assert "binary" in plain
    encoded = await text(session, "read_skill_document", **asked, include_base64=True)
    assert base64.b64decode(encoded.rpartition("\n")[2]) == b"\0\xff"


@pytest.mark.parametrize("name", ["nope", "../refund", "", "~", "skill-creator/scripts"])
async def test_an_unknown_skill_is_told_in_words(session: McpCaller, name: str) -> None:
    answer = await text(session, "read_skill_document", skill_name=name, document_path="SKILL.md")
    assert answer.startswith(f"Skill '{name}' not found")


@pytest.mark.parametrize("path", ["scripts/nope.py", "../refund/SKILL.md", "/etc/passwd"])
async def test_an_unknown_document_is_told_in_words(session: McpCaller, path: str) -> None:
    answer = await text(session, "read_skill_document", skill_name=SKILL, document_path=path)
    assert answer.startswith(f"No documents matching '{path}'")


async def test_skills_of_a_tenant_are_listed_beside_the_built_in_one(
    session: McpCaller,
) -> None:
    assert (await text(session, "list_skills", tenant_id="acme")).startswith("Skills: 3")
    others = await text(session, "list_skills")
    assert "refund" not in others
    assert SKILL in others


@pytest.mark.parametrize("allowed", [None, "", "refund, vacation", ["refund", "vacation"]])
async def test_the_skill_that_fits_a_task_comes_first(session: McpCaller, allowed: object) -> None:
    answer = await text(
        session,
        "find_helpful_skills",
        task_description="고객이 환불을 요청했다",
        tenant_id="acme",
        allowed_skill_names=allowed,
    )
    assert answer.startswith("- refund: 부분 환불")
    assert "assets/a.bin" in answer


async def test_only_allowed_skills_are_found(session: McpCaller) -> None:
    answer = await text(
        session,
        "find_helpful_skills",
        task_description="환불",
        tenant_id="acme",
        allowed_skill_names="vacation",
        list_documents=False,
    )
    assert "refund" not in answer


async def test_the_built_in_skill_is_listed_over_http(url: str) -> None:
    async with httpx.AsyncClient() as http:
        answer = (await http.get(f"{url}/skills/list-builtin")).json()
    assert answer["count"] == 1
    assert answer["skills"][0]["name"] == SKILL
    assert answer["skills"][0]["document_count"] == len(skill_creator_bundle().files)


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    for path, file in skill_creator_bundle().files.items():
        target = tmp_path / SKILL / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.data)
    return tmp_path / SKILL / "scripts"


def run(scripts: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", _RUN, str(scripts), name, *arguments],
        capture_output=True,
        env={"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        check=False,
    )


# -I leaves out the script's folder; a pod runs the scripts with it.
_RUN = (
    "import runpy, sys\nsys.path.insert(0, sys.argv[1])\nsys.argv = sys.argv[2:]\n"
    "runpy.run_path(sys.path[0] + '/' + sys.argv[0], run_name='__main__')"
)


def test_its_scripts_make_check_and_package_a_skill(scripts: Path, tmp_path: Path) -> None:
    assert run(scripts, "init_skill.py", "a-b", "--path", str(tmp_path)).returncode == 0
    made = tmp_path / "a-b"
    for example in (
        "scripts/example.py",
        "references/api_reference.md",
        "assets/example_asset.txt",
    ):
        assert (made / example).is_file()
    (made / "assets" / "한글.txt").write_text("예", encoding="utf-8")
    (made / "__pycache__").mkdir()
    (made / "__pycache__" / "x.pyc").write_bytes(b"")
    checked = run(scripts, "quick_validate.py", str(made))
    assert (checked.returncode, checked.stdout.splitlines()) == (
        0,
        [b"Warning: left aside, as no part of a skill: __pycache__", b"Skill is valid!"],
    )
    packaged = run(scripts, "package_skill.py", str(made), str(tmp_path))
    assert packaged.returncode == 0, packaged
    with zipfile.ZipFile(tmp_path / "a-b.skill") as package:
        names = package.namelist()
    assert "a-b/assets/한글.txt" in names
    assert not [name for name in names if "__pycache__" in name]


def test_the_same_folder_is_packaged_to_the_same_bytes(scripts: Path, tmp_path: Path) -> None:
    run(scripts, "init_skill.py", "a-b", "--path", str(tmp_path))
    packages = []
    for out in ("one", "two"):
        run(scripts, "package_skill.py", str(tmp_path / "a-b"), str(tmp_path / out))
        packages.append((tmp_path / out / "a-b.skill").read_bytes())
    assert packages[0] == packages[1]


@pytest.mark.parametrize("name", ["A", "-a", "a--b", "../a", "x; touch y", "a" * 65, "가"])
def test_a_bad_name_makes_nothing(scripts: Path, tmp_path: Path, name: str) -> None:
    before = sorted(tmp_path.iterdir())
    assert run(scripts, "init_skill.py", "--path", str(tmp_path), "--", name).returncode == 1
    assert sorted(tmp_path.iterdir()) == before


def test_an_invalid_skill_is_not_packaged(scripts: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "SKILL.md").write_text("no frontmatter")
    assert run(scripts, "package_skill.py", str(broken), str(tmp_path)).returncode == 1
    assert not (tmp_path / "broken.skill").exists()


def test_the_shipped_validator_is_the_one_the_program_uses() -> None:
    served = skill_creator_bundle().files["scripts/quick_validate.py"].data.decode()
    assert served == get_quick_validate_script()
