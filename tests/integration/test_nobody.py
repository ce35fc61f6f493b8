"""A user of this machine without rights reads, writes and stalls nothing of ours."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.adapters.embedded.postgres import embedded_postgres
from core.adapters.embedded.sandbox_wall import hidden_above, our_python
from core.app.bootstrap import PodHost, computer_use
from core.app.bootstrap.pods import mcp_servers
from core.app.bootstrap.stores import skill_server, skill_store
from core.app.settings import Settings, load_settings
from core.mcp_client import COMPUTER_USE, open_mcp
from core.testing.contracts.skill_store import refund_skill
from tests.support.waiting import SOON

NOBODY = 65_534
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")

# Runs as nobody: tries everything, says what came of it, and holds what it got until stdin ends.
INTRUDER = r"""
import fcntl, json, os, socket, sys
paths, ports, folders = json.loads(sys.argv[1])
got, held = [], []

def attempt(what, do):
    try:
        do()
    except OSError:
        return
    got.append(what)

def lock(path):
    handle = os.open(path, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    held.append(handle)

def call(port, text):
    with socket.create_connection(("127.0.0.1", port), 10) as made:
        made.sendall(text.replace("\n", "\r\n").encode())
        return made.recv(12).decode()

def answers(port, token, line, body):
    head = f"{line} HTTP/1.1\nHost: 127.0.0.1:{port}\nContent-Type: application/json\n"
    bearer = f"Authorization: Bearer {token}\n" if token else ""
    said = call(port, f"{head}{bearer}Content-Length: {len(body)}\n\n{body}")
    if said[9:12] != "401":
        got.append(f"{line}: {said}")

def silent(port, said):
    made = socket.create_connection(("127.0.0.1", port), 10)
    made.sendall(said)
    held.append(made)

for path in paths:
    attempt(f"list {path}", lambda: os.listdir(path))
    attempt(f"read {path}", lambda: open(path, "rb").close())
    attempt(f"write {path}", lambda: open(path, "ab").close())
    attempt(f"make {path}", lambda: open(path + "/planted", "xb").close())
    attempt(f"lock {path}", lambda: lock(path))
    attempt(f"connect {path}", lambda: socket.socket(socket.AF_UNIX).connect(path))
for folder in folders:
    try:
        lock(folder)
    except OSError:
        pass
for port in ports:
    answers(port, "", "GET /skills/list?tenant_id=t", "")
    answers(port, "", "PUT /skills/refund/files/SKILL.md?tenant_id=t", '{"content": "x"}')
    answers(port, "", "DELETE /skills/refund?tenant_id=t", "")
    answers(port, "", "POST /mcp", "{}")
    answers(port, "swk_" + "A" * 43, "POST /mcp", "{}")
    answers(port, "swt_dA." + "A" * 43, "GET /skills/list?tenant_id=t", "")
    slow = "POST /skills/upload HTTP/1.1\nHost: localhost\nContent-Length: 9999\n\nx"
    for number in range(300):
        silent(port, [b"", b"GET /he", slow.replace("\n", "\r\n").encode()][number % 3])
print(json.dumps(got), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """Return a home in a folder that everybody may read: only its own modes protect it."""
    folder = Path(tempfile.mkdtemp(prefix="skill-worker-nobody-"))
    folder.chmod(0o755)
    yield folder / "home"
    shutil.rmtree(folder)


@asynccontextmanager
async def intruder(home: Path, *urls: str) -> AsyncIterator[list[str]]:
    """Let nobody try; yields what it got, while it holds on to that."""
    python = our_python().program
    program = python if hidden_above(python) is None else "/usr/bin/python3"
    paths = [str(path) for path in (home, *home.rglob("*"))]
    ports = [int(url.split(":")[2].split("/")[0]) for url in urls]
    asked = json.dumps([paths, ports, ["/etc", "/tmp", str(home.parent)]])
    process = await asyncio.create_subprocess_exec(
        *(program, "-I", "-c", INTRUDER, asked),
        stdin=PIPE,
        stdout=PIPE,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd="/",
    )
    try:
        yield json.loads(await _line(process))
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


async def _line(process: Process) -> bytes:
    assert process.stdout is not None
    return await asyncio.wait_for(process.stdout.readline(), 2 * SOON)


async def _work(settings: Settings, skills_url: str) -> None:
    """Do what a worker does with both servers, and start a database."""
    async with skill_store(settings, skills_url) as skills:
        assert [skill.name for skill in await skills.list("t")] == ["refund"]
        await skills.upload(refund_skill(), "u")
    async with open_mcp(mcp_servers(settings, skills_url), call_seconds=SOON) as client:
        assert "run_shell" in await client.tool_names(COMPUTER_USE)
    long = settings.skill_worker_home.parent / ("l" * 120)  # its sockets have no room in there
    with embedded_postgres(long):
        pass


async def test_nobody_reads_writes_and_stalls_nothing(home: Path) -> None:
    settings = load_settings({"skill_worker_home": home}, env_file=None)
    with embedded_postgres(home):
        async with skill_server(settings) as skills_url, computer_use(settings, PodHost()) as pods:
            worker = settings.model_copy(update={"computer_use_mcp_url": pods})
            async with skill_store(worker, skills_url) as skills:
                await skills.upload(refund_skill(), "t")
            async with intruder(home, skills_url, pods) as got:
                await asyncio.wait_for(_work(worker, skills_url), SOON)
    assert got == []


def test_a_home_that_was_open_is_closed_at_the_next_start(home: Path) -> None:
    with embedded_postgres(home):
        pass
    old = home / "skills" / "t" / "refund"
    old.mkdir(parents=True)
    (old / "SKILL.md").write_text("open to all")
    (home / "token").write_text("swk_")
    for path in (home, *home.rglob("skills"), *home.rglob("skills/**/*"), home / "token"):
        path.chmod(0o777)
    with embedded_postgres(home):
        others = stat.S_IRWXO
        assert [path for path in home.rglob("*") if path.stat().st_mode & others] == []
        assert not home.stat().st_mode & others


def test_a_home_with_other_uses_is_left_to_them(home: Path) -> None:
    home.mkdir(mode=0o755)
    (home / "notes.txt").write_text("everybody's")
    (home / "notes.txt").chmod(0o644)
    with embedded_postgres(home):
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (home, *home.iterdir())}
    assert (modes["home"], modes["notes.txt"]) == (0o755, 0o644)
    assert {modes[name] & 0o077 for name in modes.keys() - {"home", "notes.txt"}} == {0}
