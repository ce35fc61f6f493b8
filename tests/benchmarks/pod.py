"""A skill of 40 files through the pod, against its floor and against the naive way."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from shlex import quote
from statistics import median

from core.adapters.embedded.sandbox import Sandbox, find_wall, open_sandbox
from core.adapters.embedded.sandbox_wall import Limits, Wall
from core.domain.models import Bundle, Operation
from core.domain.ports import SkillStore
from core.mcp_client import COMPUTER_USE, McpClient, McpPods, McpServer, McpSkillDocuments, open_mcp
from core.skill_api_client import open_skill_api
from core.skill_creator_committer import SkillCreatorDeps, commit_to_skill_via_skill_creator
from core.skills.creator import commands
from core.skills.creator.commands import read_scripts
from tests.benchmarks.pod_world import FILES, served, skill
from tests.benchmarks.table import Figure

ROUNDS = 11
TENANT = "benchmark"
SKILLS = "claude-skills"
CALL_SECONDS = 60.0


@dataclass(frozen=True)
class World:
    """Both servers, the skill API, and numbers that no skill has had yet."""

    servers: tuple[McpServer, McpServer]
    store: SkillStore
    numbers: Iterator[int]

    def new_skill(self) -> Bundle:
        """Return a skill that the store does not have."""
        return skill(next(self.numbers))


@dataclass
class Times:
    """Milliseconds of each way, one number per round."""

    floor: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)
    naive: list[float] = field(default_factory=list)


async def measure() -> list[Figure]:
    """Measure all ways in turn, round by round, in one run; each time includes the upload."""
    times, wall = Times(), await asyncio.to_thread(find_wall)
    async with opened() as world, open_mcp(world.servers, call_seconds=CALL_SECONDS) as client:
        kept = creator(world, client)
        scripts = await read_scripts(kept.documents, with_init=True)
        await through_pod(world, kept)
        for number in range(ROUNDS):
            times.floor.append(await floor(world, wall, scripts))
            times.warm.append(await timed(through_pod(world, kept)))
            times.cold.append(await timed(with_new_sessions(world)))
            if number % 4 == 0:
                times.naive.append(await timed(naively(world, scripts)))
    return figures(times)


def figures(times: Times) -> list[Figure]:
    """Return the table's rows. Ratios are medians over rounds, so that load affects both sides."""
    warm, cold, naive = map(median, (times.warm, times.cold, times.naive))
    least, name = f"floor {median(times.floor):.0f} ms", f"pod, {FILES} files"
    rounds = list(zip(times.floor, times.warm, times.cold, strict=True))
    return [
        Figure(
            f"{name}, sessions open",
            f"{warm:.0f} ms",
            least,
            median(w / f for f, w, _ in rounds),
            at_most=2,
        ),
        Figure(
            f"{name}, new sessions",
            f"{cold:.0f} ms",
            least,
            median(c / f for f, _, c in rounds),
            at_most=3,
        ),
        Figure(
            f"{name}, times as fast",
            f"{warm:.0f} ms",
            f"naively {naive:.0f} ms",
            naive / warm,
            at_least=10,
        ),
    ]


@asynccontextmanager
async def opened() -> AsyncIterator[World]:
    """Start both servers as processes of their own, as in production."""
    with tempfile.TemporaryDirectory(prefix="skill-worker-bench-") as home:
        async with (
            served("skills", Path(home)) as skills,
            served("computer-use", Path(home)) as pods,
            open_skill_api(skills, None, CALL_SECONDS) as store,
        ):
            servers = McpServer(SKILLS, f"{skills}/mcp"), McpServer(COMPUTER_USE, pods)
            yield World(servers, store, count())


async def timed(way: Awaitable[None]) -> float:
    """Return the milliseconds that one way takes."""
    began = time.perf_counter()
    await way
    return (time.perf_counter() - began) * 1000


async def floor(world: World, wall: Wall, scripts: dict[str, str]) -> float:
    """Time what cannot be saved: a sandbox's start and end, the scripts in it, the upload.

    The folder already exists, and no protocol is spoken with the sandbox.
    """
    bundle, stack = world.new_skill(), AsyncExitStack()
    began = time.perf_counter()
    sandbox = await stack.enter_async_context(open_sandbox(wall, Limits()))
    opening = (time.perf_counter() - began) * 1000
    for path, text in written(scripts, bundle).items():
        await sandbox.create_file(path, text)
    working = await timed(run_scripts(sandbox, bundle.name))
    uploading = await timed(world.store.upload(bundle, TENANT))
    return opening + working + uploading + await timed(stack.aclose())


async def run_scripts(sandbox: Sandbox, name: str) -> None:
    """Run the three scripts directly, on an existing folder."""
    for command in (
        f"python3 init_skill.py {name}-0 --path /tmp",
        f"python3 quick_validate.py /tmp/{name}",
        f"python3 package_skill.py /tmp/{name} /tmp",
    ):
        result = await sandbox.run_shell(f"cd {commands.WORK} && {command}")
        assert result.exit_code == 0, result


def written(scripts: dict[str, str], bundle: Bundle) -> dict[str, str]:
    """Return every text that the sandbox must contain: path -> text."""
    texts = {f"{commands.WORK}/{path}": text for path, text in scripts.items()}
    for path, file in bundle.files.items():
        texts[f"{commands.folder(bundle.name)}/{path}"] = file.data.decode()
    return texts


def creator(world: World, client: McpClient) -> SkillCreatorDeps:
    """Return the program's own parts over a client."""
    return SkillCreatorDeps(
        pods=McpPods(client),
        documents=McpSkillDocuments(client, SKILLS),
        new_id=lambda: f"nonce{next(world.numbers)}",
    )


async def through_pod(world: World, deps: SkillCreatorDeps) -> None:
    """Build a skill the program's own way, from the scripts to the upload."""
    bundle = world.new_skill()
    built = await commit_to_skill_via_skill_creator(
        bundle.name, bundle, Operation.CREATE, deps=deps
    )
    await world.store.upload(built, TENANT)


async def with_new_sessions(world: World) -> None:
    """Build a skill the same way, with MCP sessions that are opened for it."""
    async with open_mcp(world.servers, call_seconds=CALL_SECONDS) as client:
        await through_pod(world, creator(world, client))


async def naively(world: World, scripts: dict[str, str]) -> None:
    """Use one MCP session per call, two calls per file: the folder, then the file."""
    bundle, pods = world.new_skill(), world.servers[1]
    session_id = (await naive_call(pods, "create_session", ttl=600))["session_id"]

    async def call(tool: str, **given: str) -> None:
        await naive_call(pods, tool, session_id=session_id, **given)

    for path, text in written(scripts, bundle).items():
        await call("run_shell", command=f"mkdir -p {quote(str(Path(path).parent))}")
        await call("create_file", file_path=path, content=text)
        if path.endswith("init_skill.py"):
            await call("run_shell", command=commands.init_skill(bundle.name, "n"))
    for command in commands.one_by_one(bundle.name, "n"):
        await call("run_shell", command=command)
    await call("run_shell", command=f"base64 /tmp/{bundle.name}.skill")
    await call("delete_session")
    await world.store.upload(bundle, TENANT)


async def naive_call(server: McpServer, tool: str, **given: object) -> dict[str, str]:
    """Call a tool over a session of its own, which lists its tools first."""
    from langchain_mcp_adapters.client import MultiServerMCPClient

    connection = {"transport": "streamable_http", "url": server.address}
    client = MultiServerMCPClient({server.name: connection})  # type: ignore[dict-item]
    async with client.session(server.name) as session:
        return (await session.call_tool(tool, given)).structuredContent or {}
