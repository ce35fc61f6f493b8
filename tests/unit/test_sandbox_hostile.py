"""Hostile commands that the bubblewrap sandbox must contain."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.adapters.embedded.sandbox import Sandbox, open_sandbox
from core.adapters.embedded.sandbox_bubblewrap import Bubblewrap
from core.adapters.embedded.sandbox_wall import Limits
from core.domain.errors import PodCallFailed
from tests.support.sandboxes import bubblewrap, running
from tests.support.waiting import NEVER

MIB = 1 << 20
LIMITS = Limits(
    seconds=3, memory_bytes=192 * MIB, disk_bytes=8 * MIB, files=500, output_bytes=100_000
)
FORK_BOMB = ":(){ :|:& };:"
HOARD = "python3 -c 'x = bytearray(100_000_000); import time; time.sleep(60)'"
CONNECT = "python3 -c 'import socket, sys; socket.create_connection((sys.argv[1], {}), 1)' {}"


@pytest.fixture(scope="module")
def wall() -> Bubblewrap:
    return bubblewrap()


@pytest.fixture
async def sandbox(wall: Bubblewrap) -> AsyncIterator[Sandbox]:
    async with open_sandbox(wall, LIMITS) as opened:
        yield opened


async def is_usable(sandbox: Sandbox) -> bool:
    return (await sandbox.run_shell("echo on")).stdout == "on\n"


async def test_a_fork_bomb_stays_within_the_limit_and_is_killed(sandbox: Sandbox) -> None:
    marker = f"7{os.getpid()}"
    many = f"for i in $(seq 500); do sleep {marker} & done; wait"
    exploding = asyncio.ensure_future(sandbox.run_shell(many))
    most = 0
    while not exploding.done():
        most = max(most, len(running(marker)))
        await asyncio.wait({exploding}, timeout=0.05)
    assert 0 < most <= LIMITS.processes
    assert running(marker) == []
    assert await is_usable(sandbox)


@pytest.mark.parametrize("tail", ["", "; sleep 60"])
async def test_a_bomb_that_forks_itself_does_not_outlive_the_next_command(
    sandbox: Sandbox, tail: str
) -> None:
    await sandbox.run_shell(FORK_BOMB + tail)
    assert await is_usable(sandbox)


async def test_one_process_gets_no_more_memory_than_allowed(sandbox: Sandbox) -> None:
    result = await sandbox.run_shell("python3 -c 'x = bytearray(400_000_000)'")
    assert result.exit_code == 1
    assert "MemoryError" in result.stderr


async def test_many_processes_together_get_no_more_either(sandbox: Sandbox) -> None:
    result = await sandbox.run_shell(f"for i in 1 2 3 4; do {HOARD} & done; wait")
    assert result.exit_code == 137
    assert "bytes of memory" in result.stderr
    assert await is_usable(sandbox)


async def test_endless_output_is_cut_and_ended(sandbox: Sandbox) -> None:
    result = await sandbox.run_shell("yes")
    assert result.exit_code == 124
    assert len(result.stdout) == LIMITS.output_bytes
    assert await is_usable(sandbox)


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
async def test_the_disk_fills_only_to_its_limit(sandbox: Sandbox, place: str) -> None:
    fill = f"for i in 1 2 3 4 5 6 7 8; do head -c 8M /dev/zero > {place}/$i; done; du -sm {place}"
    result = await sandbox.run_shell(fill)
    assert "No space left on device" in result.stderr
    assert int(result.stdout.split()[0]) <= 16
    assert await is_usable(sandbox)


async def test_more_files_than_allowed_end_the_sandbox(sandbox: Sandbox) -> None:
    with pytest.raises(PodCallFailed):
        await sandbox.run_shell("i=0; while :; do i=$((i+1)); : > /tmp/$i; done")


@pytest.mark.parametrize("place", ["/", "/usr", "/dev", "/etc", "/proc/sys/kernel", "/var"])
async def test_nothing_can_be_written_outside(sandbox: Sandbox, place: str) -> None:
    result = await sandbox.run_shell(f"echo x > {place}/hostname")
    assert result.exit_code == 1
    assert await is_usable(sandbox)


async def test_files_of_the_host_are_not_there(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("sk-secret")
    for path in ("/etc/shadow", "/etc/passwd", "/home", "/var/lib", str(secret), __file__):
        result = await sandbox.run_shell(f"ls -d {path}")
        assert "No such file" in result.stderr, path


async def test_processes_of_the_host_are_not_there(sandbox: Sandbox) -> None:
    shown = (await sandbox.run_shell("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")).stdout
    assert "pytest" not in shown
    assert (await sandbox.run_shell(f"kill -9 {os.getpid()}")).exit_code == 1


async def test_the_network_cannot_be_reached(sandbox: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        for host in ("127.0.0.1", "192.0.2.1"):
            result = await sandbox.run_shell(CONNECT.format(port, host))
            assert result.exit_code == 1
            assert "Error" in result.stderr


async def test_there_are_no_rights_to_be_had(sandbox: Sandbox) -> None:
    status = (await sandbox.run_shell("cat /proc/self/status")).stdout
    rights = dict(line.split(":\t") for line in status.splitlines() if line[:3] in {"Cap", "NoN"})
    assert {int(rights[name], 16) for name in rights if name.startswith("Cap")} == {0}
    assert rights["NoNewPrivs"] == "1"


async def test_no_namespace_can_be_made_inside(wall: Bubblewrap, sandbox: Sandbox) -> None:
    if not wall.is_nesting_off:
        pytest.skip("this bubblewrap cannot switch nested user namespaces off")
    assert (await sandbox.run_shell("unshare --user --map-root-user true")).exit_code == 1


async def test_what_runs_inside_is_not_root_outside(sandbox: Sandbox) -> None:
    marker = f"8{os.getpid()}"
    await sandbox.run_shell(f"sleep {marker} & until pgrep -f 'sleep {marker}'; do :; done")
    uids = [process.uids().real for process in running(marker)]
    assert uids
    assert 0 not in uids


@pytest.mark.parametrize(
    "attack",
    [
        "kill -9 1; kill -9 -1",
        "kill -STOP 1",
        "echo '{\"exit_code\": 0}' > /proc/1/fd/1",
        "cat /proc/1/environ /proc/1/mem",
        "exec 1>&- 2>&-; sleep 0.2",
    ],
)
async def test_the_agent_is_out_of_reach(sandbox: Sandbox, attack: str) -> None:
    await sandbox.run_shell(attack)
    assert await is_usable(sandbox)


async def test_a_sandbox_ends_at_once_whatever_runs_in_it(
    wall: Bubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.adapters.embedded.sandbox._END_SECONDS", NEVER)
    marker = f"9{os.getpid()}"
    async with open_sandbox(wall, LIMITS) as sandbox:
        await sandbox.run_shell(
            f"trap '' TERM HUP INT; (trap '' TERM; sleep {marker}) & {FORK_BOMB}"
        )
    assert running(marker) == []
