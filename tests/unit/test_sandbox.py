"""What a sandbox offers well-behaved commands, with either isolation."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import struct
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.adapters.embedded import sandbox_seccomp as seccomp
from core.adapters.embedded.sandbox import (
    Sandbox,
    find_wall,
    open_sandbox,
    require_wall,
    sandbox_status,
)
from core.adapters.embedded.sandbox_wall import Limits, Wall
from core.domain.errors import ConfigurationError, PodCallFailed
from tests.support.sandboxes import WALLS, bubblewrap, running, wall_named
from tests.support.waiting import SOON

LIMITS = Limits(seconds=20, output_bytes=200_000)


@pytest.fixture(params=WALLS)
def wall(request: pytest.FixtureRequest) -> Wall:
    return wall_named(request.param)


@pytest.fixture
async def sandbox(wall: Wall) -> AsyncIterator[Sandbox]:
    async with open_sandbox(wall, LIMITS) as opened:
        yield opened


async def test_a_file_is_seen_at_the_same_path(sandbox: Sandbox) -> None:
    await sandbox.create_file("/tmp/skill_work/한글 파일.md", "# 환불\r\n$HOME `x`\n")
    result = await sandbox.run_shell("cat '/tmp/skill_work/한글 파일.md'; cd /tmp && pwd")
    assert result.stdout == "# 환불\r\n$HOME `x`\n/tmp\n"
    assert (result.exit_code, result.stderr) == (0, "")


async def test_status_and_streams_come_apart(sandbox: Sandbox) -> None:
    result = await sandbox.run_shell("echo out; echo err >&2; exit 3")
    assert (result.exit_code, result.stdout, result.stderr) == (3, "out\n", "err\n")


async def test_a_signal_is_told_as_a_shell_tells_it(sandbox: Sandbox) -> None:
    assert (await sandbox.run_shell("kill -TERM $$")).exit_code == 143


async def test_commands_run_in_python_3_and_utf_8(sandbox: Sandbox) -> None:
    result = await sandbox.run_shell("python3 -c 'import sys; print(sys.stdout.encoding, \"예\")'")
    assert result.stdout.lower() == "utf-8 예\n"


async def test_the_environment_is_empty(monkeypatch: pytest.MonkeyPatch, wall: Wall) -> None:
    monkeypatch.setenv("LLM_PROXY_API_KEY", "sk-secret")
    async with open_sandbox(wall, LIMITS) as sandbox:
        seen = (await sandbox.run_shell("env")).stdout
    names = {line.partition("=")[0] for line in seen.splitlines()}
    shell = {"PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"}
    assert names - shell == {"PATH", "HOME", "TMPDIR", "LANG", "USER"}


@pytest.mark.parametrize(
    "path",
    ["/etc/x", "a", "/tmp/../etc/x", "/tmp/", "/tmp/..", "/tmpx/a", "/tmp/out/x", "/tmp/a\0b"],
)
async def test_a_path_outside_is_refused(sandbox: Sandbox, path: str) -> None:
    await sandbox.run_shell("ln -s /usr /tmp/out")
    with pytest.raises(PodCallFailed):
        await sandbox.create_file(path, "x")
    with pytest.raises(PodCallFailed):
        await sandbox.delete_file(path)


async def test_a_link_is_not_written_through(sandbox: Sandbox) -> None:
    await sandbox.run_shell("echo kept > /tmp/target; ln -s /tmp/target /tmp/link")
    with pytest.raises(PodCallFailed):
        await sandbox.create_file("/tmp/link", "x")
    assert (await sandbox.run_shell("cat /tmp/target")).stdout == "kept\n"


async def test_a_deleted_file_is_gone(sandbox: Sandbox) -> None:
    await sandbox.create_file("/tmp/a", "x")
    await sandbox.delete_file("/tmp/a")
    assert (await sandbox.run_shell("ls /tmp")).stdout == ""
    with pytest.raises(PodCallFailed, match="No such file"):
        await sandbox.delete_file("/tmp/a")


async def test_long_output_is_cut_and_said_to_be(sandbox: Sandbox) -> None:
    result = await sandbox.run_shell("head -c 1000000 /dev/zero | tr '\\0' x")
    assert result.stdout == "x" * LIMITS.output_bytes
    assert result.stderr == "[sandbox] stdout is cut after 200000 bytes\n"
    assert result.exit_code == 0


async def test_a_command_may_be_as_long_as_one_argument(sandbox: Sandbox) -> None:
    assert (await sandbox.run_shell(f": {'x' * 100_000}")).exit_code == 0
    with pytest.raises(PodCallFailed, match="too long"):
        await sandbox.run_shell(f": {'x' * 200_000}")
    assert (await sandbox.run_shell("echo on")).stdout == "on\n"


async def test_what_runs_too_long_is_ended(wall: Wall) -> None:
    async with open_sandbox(wall, Limits(seconds=3)) as sandbox:
        result = await sandbox.run_shell("echo begun; sleep 30")
        assert (result.exit_code, result.stdout) == (124, "begun\n")
        assert "ended after 3 s" in result.stderr
        assert (await sandbox.run_shell("echo on")).stdout == "on\n"


async def test_a_command_does_not_wait_for_its_daemon(sandbox: Sandbox) -> None:
    result = await asyncio.wait_for(sandbox.run_shell("sleep 600 & echo started"), SOON)
    assert result.stdout == "started\n"


async def test_daemons_end_with_the_sandbox(wall: Wall) -> None:
    marker = f"6{os.getpid()}"
    async with open_sandbox(wall, LIMITS) as sandbox:
        await sandbox.run_shell(f"setsid nohup sleep {marker} >/dev/null 2>&1 & sleep {marker} &")
        await sandbox.run_shell(f"until [ $(pgrep -fc 'sleep {marker}') -ge 2 ]; do :; done")
        assert len(running(marker)) == 2
    assert running(marker) == []


async def test_a_caller_that_gives_up_leaves_the_sandbox_in_order(sandbox: Sandbox) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(sandbox.run_shell("sleep 1; echo first"), 0.1)
    assert (await sandbox.run_shell("echo second")).stdout == "second\n"


async def test_calls_at_once_each_get_their_own_answer(sandbox: Sandbox) -> None:
    results = await asyncio.gather(*(sandbox.run_shell(f"echo {n}") for n in range(10)))
    assert [result.stdout for result in results] == [f"{n}\n" for n in range(10)]


async def test_nothing_is_left_on_disk(wall: Wall) -> None:
    async with open_sandbox(wall, LIMITS) as sandbox:
        await sandbox.create_file("/tmp/left-behind-here", "x")
        await sandbox.run_shell("mkdir /tmp/d; touch /tmp/d/f; chmod 0 /tmp/d")
    left = Path(tempfile.gettempdir()).glob("skill-worker-sandbox-*/left-behind-here")
    assert list(left) == []


def test_without_bubblewrap_the_status_says_that_there_is_no_boundary(tmp_path: Path) -> None:
    wall = find_wall(search=str(tmp_path))
    assert (wall.name, wall.is_boundary) == ("process", False)
    assert "NO SECURITY BOUNDARY" in wall.detail
    assert "not installed" in wall.detail


def test_a_bubblewrap_that_does_not_work_is_not_used(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('no permission to unshare')\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    wall = find_wall(search=str(tmp_path))
    assert not wall.is_boundary
    assert "does not work here" in wall.detail


@pytest.mark.parametrize(
    ("is_root", "no_sandbox", "says"),
    [
        (True, False, "nothing isolates sandboxes"),
        (False, False, "nothing isolates sandboxes"),
        (True, True, "root serves no sandboxes without a wall"),
    ],
)
def test_without_a_wall_nothing_is_served(
    tmp_path: Path, is_root: bool, no_sandbox: bool, says: str
) -> None:
    here = {"is_root": is_root, "no_sandbox": no_sandbox, "search": str(tmp_path)}
    with pytest.raises(ConfigurationError, match=says) as caught:
        require_wall(user=None, **here)  # type: ignore[arg-type]
    assert ("--no-sandbox" in caught.value.hint) is (no_sandbox or not is_root)


def test_who_is_not_root_may_do_without_a_wall(tmp_path: Path) -> None:
    wall = require_wall(user=None, no_sandbox=True, is_root=False, search=str(tmp_path))
    assert not wall.is_boundary


def test_root_may_not_do_without_a_wall_even_where_one_works() -> None:
    with pytest.raises(ConfigurationError):
        require_wall(user=None, no_sandbox=True, is_root=True)


@pytest.mark.parametrize("is_root", [True, False])
def test_pods_never_run_as_root(is_root: bool) -> None:
    with pytest.raises(ConfigurationError, match="do not run as root"):
        require_wall(user=0, no_sandbox=False, is_root=is_root)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can choose the account of its sandboxes")
async def test_root_chooses_the_account_of_its_sandboxes() -> None:
    bubblewrap()
    wall, marker = require_wall(user=12_345, no_sandbox=False, is_root=True), f"7{os.getpid()}"
    async with open_sandbox(wall, LIMITS) as sandbox:
        await sandbox.run_shell(f"sleep {marker} & until pgrep -f 'sleep {marker}'; do :; done")
        assert {process.uids().real for process in running(marker)} == {12_345}


# What a process tries, and the number that the kernel must answer it with.
CALLS = {
    "unshare": "unshare(0x10000000)",
    "mount": "mount(b'x', b'/tmp', b'tmpfs', 0, None)",
    "ptrace": "ptrace(0, 0, 0, 0)",
    "keyctl": "syscall(NUMBERS['keyctl'], 0, 0)",
    "bpf": "syscall(NUMBERS['bpf'], 0, 0, 0)",
    "perf_event_open": "syscall(NUMBERS['perf_event_open'], 0, 0, 0, 0, 0)",
    "userfaultfd": "syscall(NUMBERS['userfaultfd'], 1)",
    "io_uring_setup": "syscall(NUMBERS['io_uring_setup'], 1, 0)",
    "kexec_load": "syscall(NUMBERS['kexec_load'], 0, 0, 0, 0)",
    "init_module": "syscall(NUMBERS['init_module'], 0, 0, 0)",
    "clone of a user namespace": "syscall(NUMBERS['clone'], 0x10000011, 0, 0, 0, 0)",
    "clone3": "syscall(435, 0, 0)",
    "vsock": "socket(40, 1, 0)",
}


async def test_denied_system_calls_fail_inside() -> None:
    wall = bubblewrap()
    column = {"x86_64": 0, "aarch64": 1}[os.uname().machine]
    calls = {**seccomp._DENIED, "clone": seccomp._CLONE}
    numbers = {name: pair[column] for name, pair in calls.items()}
    lines = [
        "import ctypes, errno, json",
        f"NUMBERS = {numbers}",
        "from ctypes import CDLL, get_errno",
        "libc, said = CDLL(None, use_errno=True), {}",
        "globals().update({n: getattr(libc, n) for n in "
        "('unshare', 'mount', 'ptrace', 'syscall', 'socket')})",
        f"for name, call in {CALLS}.items():",
        "    said[name] = errno.errorcode.get(get_errno()) if eval(call) == -1 else 'done'",
        "print(json.dumps(said))",
    ]
    async with open_sandbox(wall, LIMITS) as sandbox:
        await sandbox.create_file("/tmp/try.py", "\n".join(lines))
        done = await sandbox.run_shell("python3 /tmp/try.py")
    expected = dict.fromkeys(CALLS, "EPERM") | {"clone3": "ENOSYS", "vsock": "EAFNOSUPPORT"}
    assert json.loads(done.stdout or "null") == expected, done


WORK = r"""
set -e
python3 -c 'import threading, subprocess, socket; threading.Thread(target=print).start()
assert subprocess.check_output(["echo", "hi"]) == b"hi\n"; socket.socketpair()'
(echo one; echo two) | sort | tee sorted.txt | wc -l
if command -v git; then git init -q r; cd r; echo a > a; git add a
git -c user.name=a -c user.email=a@b.c commit -qm x; fi
if command -v node; then node -e 'require("fs").readFileSync("/proc/self/status")'; fi
"""


async def test_usual_work_goes_on_behind_the_filter() -> None:
    async with open_sandbox(bubblewrap(), LIMITS) as sandbox:
        done = await sandbox.run_shell(f"cd /tmp; {WORK}")
    assert done.exit_code == 0, done


def test_the_filter_is_a_whole_program_on_either_architecture() -> None:
    programs = {machine: seccomp.seccomp_filter(machine) for machine in ("x86_64", "aarch64")}
    assert len(set(programs.values())) == 2
    for program in programs.values():
        assert program is not None
        steps = [struct.unpack_from("<HBBI", program, at) for at in range(0, len(program), 8)]
        assert len(steps) < 4_096  # BPF_MAXINSNS
        for at, (operation, if_true, if_false, _) in enumerate(steps):
            assert at + 1 + max(if_true, if_false) < len(steps) or operation == 6
        assert steps[-1] == (6, 0, 0, 0x7FFF_0000)
    assert seccomp.seccomp_filter("riscv64") is None


def test_the_status_names_the_wall_that_is_used() -> None:
    wall = find_wall()
    assert sandbox_status() == (wall.name, wall.is_boundary, wall.detail)
