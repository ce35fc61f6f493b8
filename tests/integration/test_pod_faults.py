"""Each call of the pod sequence fails in each way: nothing is published, all of it is recorded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain.errors import SkillWorkerError
from core.domain.models import HistoryStatus, Operation, Receipt, ReceiptStatus
from core.learning_committers.skill_committer import commit_to_skill
from core.mcp_client import COMPUTER_USE, McpPods, McpServer, McpSkillDocuments, open_mcp
from core.skill_creator_committer import SkillCreatorDeps
from tests.support.examples import crossed
from tests.support.pods import SKILLS, PodGate, ScriptedPods, pod_env, scripted_pods
from tests.support.skills import REFUND

pytestmark = pytest.mark.asyncio(loop_scope="module")

READ = "read_skill_document:1"
# The calls of a CREATE: five scripts go in before the first file of the skill, of an UPDATE four.
CREATE = {
    READ: "read_scripts",
    "create_session:1": "create_session",
    "create_file:1": "write_scripts",
    "run_shell:1": "init_skill",
    "create_file:6": "write_files",
    "run_shell:2": "package_skill",
}
UPDATE = {"run_shell:1": "make_folder", "create_file:5": "write_files"}
FAULTS = ("tool_error", "gone", "cut", "silent", "hang", "garbage", "html", "expired", "restart")
# Text that is not an answer counts as none where the answer matters.
GARBLED = {
    "create_session:1": "create_session",
    "run_shell:2": "quick_validate",
    READ: "read_scripts",
}
MARKER = "<!-- [이력] skill-creator 반영 실패: "
HANG_SECONDS, LONG = 1.5, 20.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ScriptedPods]:
    async with scripted_pods(tmp_path_factory.mktemp("pods")) as both:
        yield both


@asynccontextmanager
async def faulty(
    servers: ScriptedPods, faults: Mapping[str, str], env: Mapping[str, str] | None = None
) -> AsyncIterator[PodGate]:
    """Yield a gate whose pods fail as specified, with a client of its own, then delete all pods."""
    is_reading = any(call.startswith("read") for call in faults)
    servers.skills.begin(faults if is_reading else {})
    servers.computer.begin({} if is_reading else faults)
    servers.computer.env = dict(env or {"LC_ALL": "C.UTF-8"})
    where = [
        McpServer(SKILLS, servers.skills.url),
        McpServer(COMPUTER_USE, servers.computer.url),
    ]
    seconds = HANG_SECONDS if "hang" in faults.values() else LONG
    try:
        async with open_mcp(where, call_seconds=seconds) as client:
            documents = McpSkillDocuments(client, SKILLS)
            yield PodGate(SkillCreatorDeps(McpPods(client), documents, lambda: "n0nce1"))
    finally:
        for server in (servers.skills, servers.computer):
            await server.settled()
            server.begin({})


async def submit(gate: PodGate, operation: Operation) -> Receipt | SkillWorkerError:
    try:
        name = "partial-refund" if operation is Operation.UPDATE else None
        return await commit_to_skill("a", REFUND, operation, name, deps=gate.deps())
    except SkillWorkerError as error:
        return error


def assert_only_on_record(gate: PodGate, outcome: Receipt | SkillWorkerError, step: str) -> None:
    """Check that the error names its step, is in history, and had no other effect."""
    message = outcome.message
    if isinstance(outcome, Receipt):
        assert outcome.status is ReceiptStatus.FAILED
    else:
        assert outcome.retryable
    assert f"{step}: " in message
    row = gate.log.history[-1]
    assert row.status is HistoryStatus.FAILED
    assert row.error
    assert row.error.startswith(f"{step}: ")
    assert row.new_content
    assert row.new_content.startswith("---\nname: partial-refund")
    assert MARKER in row.new_content
    assert row.new_content.rstrip().endswith("-->")
    assert row.new_files
    assert set(row.new_files) == {"SKILL.md", "references/fees.md", "scripts/split.py"}


async def fails(
    servers: ScriptedPods,
    faults: Mapping[str, str],
    step: str,
    env: Mapping[str, str] | None = None,
) -> None:
    before = set(servers.computer.pods)
    async with faulty(servers, faults, env) as gate:
        outcome = await submit(gate, Operation.CREATE)
        assert_only_on_record(gate, outcome, step)
        assert not gate.store.skills  # type: ignore[attr-defined]
        assert len(gate.log.history) == 1
    assert set(servers.computer.pods) <= before


@pytest.mark.parametrize(
    ("fault", "call"),
    [
        given
        for given in crossed(FAULTS, [*CREATE])
        if given.values != ("gone", READ)  # documents are read without a pod
    ],
)
async def test_a_call_that_fails_ends_the_attempt(
    servers: ScriptedPods, fault: str, call: str
) -> None:
    await fails(servers, {call: fault}, CREATE[call])


@pytest.mark.parametrize(("call", "step"), GARBLED.items())
async def test_an_answer_that_means_nothing_is_none(
    servers: ScriptedPods, call: str, step: str
) -> None:
    await fails(servers, {call: "nonsense"}, step)


@pytest.mark.parametrize(("fault", "call"), crossed(["tool_error", "cut", "restart"], [*UPDATE]))
async def test_an_update_that_fails_leaves_the_skill_as_it_was(
    servers: ScriptedPods, call: str, fault: str
) -> None:
    async with faulty(servers, {}) as gate:
        assert isinstance(await submit(gate, Operation.CREATE), Receipt)
        skills = dict(gate.store.skills)  # type: ignore[attr-defined]
    before = set(servers.computer.pods)
    async with faulty(servers, {call: fault}) as again:
        again.store.skills.update(skills)  # type: ignore[attr-defined]
        outcome = await submit(again, Operation.UPDATE)
        assert_only_on_record(again, outcome, UPDATE[call])
        assert again.store.skills == skills  # type: ignore[attr-defined]
    assert set(servers.computer.pods) <= before


@pytest.mark.parametrize("script", ["init_skill.py", "quick_validate.py", "package_skill.py"])
async def test_a_script_that_says_all_is_well_and_ends_with_an_error_has_failed(
    servers: ScriptedPods, tmp_path: Path, script: str
) -> None:
    env = pod_env("C.UTF-8", tmp_path, with_yaml=True)
    python = tmp_path / "with" / "python3"
    python.write_text(python.read_text().replace("exec ", "") + f'[ "$1" != {script} ] || exit 3\n')
    await fails(servers, {}, script.removesuffix(".py"), env)


@pytest.mark.parametrize(
    ("cut_off", "step"),
    [
        ({"run_shell": "truncated"}, "init_skill"),
        ({f"run_shell:{n}": "truncated" for n in range(2, 20)}, "fetch"),
    ],
)
async def test_answers_that_stay_cut_off_end_the_attempt(
    servers: ScriptedPods, cut_off: Mapping[str, str], step: str
) -> None:
    await fails(servers, cut_off, step)


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        ("delete_file:1", "tool_error"),
        ("delete_session:1", "tool_error"),
        ("delete_session:1", "cut"),
        ("delete_session:1", "restart"),
        ("run_shell:1", "truncated"),
        ("run_shell:2", "truncated"),
        ("run_shell:2", "exit_code"),  # the server's status of its shell; the scripts ended well
    ],
)
async def test_what_can_be_made_good_fails_nothing(
    servers: ScriptedPods, call: str, fault: str
) -> None:
    async with faulty(servers, {call: fault}) as gate:
        outcome = await submit(gate, Operation.CREATE)
        assert isinstance(outcome, Receipt)
        assert outcome.status is ReceiptStatus.APPLIED, outcome.message
        assert [row.status for row in gate.log.history] == [HistoryStatus.APPLIED]


async def test_after_any_fault_the_next_attempt_is_whole(servers: ScriptedPods) -> None:
    async with faulty(servers, {"run_shell:2": "restart"}) as gate:
        assert isinstance(await submit(gate, Operation.CREATE), SkillWorkerError)
        await servers.computer.settled()
        outcome = await submit(gate, Operation.CREATE)
        assert isinstance(outcome, Receipt)
        assert outcome.status is ReceiptStatus.APPLIED, outcome.message
        statuses = [row.status for row in gate.log.history]
        assert statuses == [HistoryStatus.FAILED, HistoryStatus.APPLIED]
        assert [row.attempt for row in gate.log.history] == [1, 2]
