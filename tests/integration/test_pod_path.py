"""Skills are built the same in every pod: layouts, answers, locales, with and without PyYAML."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from pydantic import SecretStr
from structlog.testing import capture_logs

from core.adapters.embedded.computer_use import run_computer_use
from core.adapters.embedded.sandbox import PlainProcess, find_wall
from core.adapters.embedded.sandbox_wall import Wall
from core.app.bootstrap.pods import skill_creator
from core.app.bootstrap.stores import skill_server, skill_store
from core.app.settings import Settings, load_settings
from core.domain.models import Bundle, Operation, ReceiptStatus, SkillArtifact, SkillFile
from core.learning_committers.skill_committer import commit_to_skill
from core.skill_creator_committer import commit_to_skill_via_skill_creator
from tests.support.examples import crossed
from tests.support.mcp_servers import SHELL_SHAPES
from tests.support.pods import LAYOUTS, PodGate, ScriptedPods, pod_env, scripted_pods
from tests.support.skills import REFUND

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXT = "---\nname: partial-refund\ndescription: 부분 환불을 정산한다\n---\n\n# 환불\n"
SKILL = Bundle(
    name="partial-refund",
    files={
        "SKILL.md": SkillFile(data=TEXT.encode()),
        "references/수수료.md": SkillFile(data="# 수수료\n".encode()),
        "scripts/split.py": SkillFile(data=b"print('x')\n", executable=True),
        "assets/logo.bin": SkillFile(data=bytes(range(256))),
    },
)
# What is refused today, in a skill that already has it: a key, and a description too long.
OLD = TEXT.replace("정산한다\n---", f"정산한다 {'길게 ' * 400}\nmodel: opus\n---")
BASE = Bundle(name="partial-refund", files={"SKILL.md": SkillFile(data=OLD.encode())})
EDITED = BASE.model_copy(update={"files": {**SKILL.files, **BASE.files}})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pods(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ScriptedPods]:
    async with scripted_pods(tmp_path_factory.mktemp("pods")) as both:
        yield both


@pytest.fixture(scope="module")
def shims(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shims")


@pytest.mark.parametrize(
    ("shape", "layout", "locale", "with_yaml"),
    crossed(SHELL_SHAPES, [*LAYOUTS], ("C.UTF-8", "C"), (True, False)),
)
async def test_a_skill_comes_back_as_it_was_sent(
    pods: ScriptedPods, shims: Path, layout: str, shape: str, locale: str, with_yaml: bool
) -> None:
    pods.skills.documents = dict(LAYOUTS[layout])
    pods.computer.shape = shape
    pods.computer.env = pod_env(locale, shims, with_yaml=with_yaml)
    pods.computer.calls.clear()
    create, update = Operation.CREATE, Operation.UPDATE
    made = await commit_to_skill_via_skill_creator(SKILL.name, SKILL, create, deps=pods.deps)
    assert made == SKILL
    edited = await commit_to_skill_via_skill_creator(
        SKILL.name, EDITED, update, BASE, deps=pods.deps
    )
    assert edited == EDITED
    assert not pods.computer.pods
    # Everything went over one session, and each skill took its calls and no more.
    assert pods.computer.initialized == 1
    assert pods.computer.calls.count("create_session") == 2
    assert pods.computer.calls.count("run_shell") == (1 + 2 + 1) * 2


@pytest.mark.parametrize(("locale", "with_yaml"), [("C", True), ("C.UTF-8", False)])
async def test_the_pods_differ_as_they_claim(
    pods: ScriptedPods, shims: Path, locale: str, with_yaml: bool
) -> None:
    pods.computer.shape = "fields"
    pods.computer.env = pod_env(locale, shims, with_yaml=with_yaml)
    async with pods.deps.pods.open(ttl=60) as pod:
        has_yaml = (await pod.run_shell("python3 -c 'import yaml'")).exit_code == 0
        printed = await pod.run_shell("python3 -c 'print(chr(0xd658))'")
    assert has_yaml is with_yaml
    assert (printed.exit_code == 0) is (locale == "C.UTF-8")


def settings(home: Path, **given: object) -> Settings:
    return load_settings({"skill_worker_home": home}, env_file=None).model_copy(
        update={
            "skill_api_base_url": None,
            "mcp_server_url": None,
            "use_skill_creator_workflow": True,
            **given,
        }
    )


@pytest.mark.parametrize("wall", [None, PlainProcess("a test asks for it")], ids=["best", "none"])
async def test_the_embedded_servers_carry_the_whole_path(tmp_path: Path, wall: Wall | None) -> None:
    async with run_computer_use(wall=wall or find_wall(), token="s3cret") as url:
        secret = SecretStr("s3cret")
        given = settings(tmp_path, computer_use_mcp_url=url, computer_use_mcp_token=secret)
        async with (
            skill_server(given) as skills_url,
            skill_store(given, skills_url) as store,
            skill_creator(given, skills_url) as creator,
        ):
            assert creator is not None
            gate = PodGate(creator, store)
            receipt = await commit_to_skill("a", REFUND, deps=gate.deps("create"))
            assert receipt.status is ReceiptStatus.APPLIED, receipt.message
            shorter = SkillArtifact.model_validate(
                {**REFUND.model_dump(), "description": "짧게: 나눈다", "additional_files": {}}
            )
            receipt = await commit_to_skill(
                "a", shorter, Operation.UPDATE, "partial-refund", deps=gate.deps("update")
            )
            assert receipt.status is ReceiptStatus.APPLIED, receipt.message
            stored = await store.read("partial-refund", "t")
    assert stored is not None
    assert "짧게: 나눈다" in stored.document
    assert set(stored.files) == {"SKILL.md", "references/fees.md", "scripts/split.py"}
    assert [row.status for row in gate.log.history] == ["applied", "applied"]


async def test_with_the_flag_and_no_address_skills_go_out_over_http(tmp_path: Path) -> None:
    with capture_logs() as logs:
        async with skill_creator(settings(tmp_path, computer_use_mcp_url=None), "http://x") as none:
            assert none is None
    assert [entry["reason"] for entry in logs] == ["COMPUTER_USE_MCP_URL 없음 → 기존 HTTP 사용"]
    receipt = await commit_to_skill("a", REFUND, deps=PodGate(none).deps())
    assert receipt.status is ReceiptStatus.APPLIED
