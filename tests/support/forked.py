"""A Popen for commands and scripts, forked from a process that has all imports."""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, AnyStr

from tests.support.databases import HOME_VARIABLE
from tests.support.warm import HELD, LENGTH, SCRIPT, STREAMS, WORD

ROOT = Path(__file__).parents[2]


@cache
def warm_address() -> str:
    """Return the address of the warm process; of those of a run, whichever is first starts it.

    Its imports take four seconds of a processor. It lives as long as any process that asked here.
    """
    folder = os.environ.get(HOME_VARIABLE)
    if folder is None:
        folder = tempfile.mkdtemp(prefix="skill-worker-warm-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    address = Path(folder) / "warm"
    with address.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        held = _hold(address)
        if held is None:
            _start(address)
            held = _hold(address)
    assert held
    atexit.register(held.close)
    return str(address)


def _hold(address: Path) -> socket.socket | None:
    """Connect, so that the warm process stays; None if there is none."""
    held = socket.socket(socket.AF_UNIX)
    with suppress(OSError):
        held.connect(str(address))
        held.sendall(LENGTH.pack(0))
        if held.recv(len(HELD)) == HELD:
            return held
    held.close()
    return None


def _start(address: Path) -> None:
    address.unlink(missing_ok=True)
    warm = subprocess.Popen(
        [sys.executable, "-m", "tests.support.warm", str(address)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    assert warm.stdout
    with warm.stdout as said:
        assert said.readline() == b"ready\n"
    warm.returncode = 0  # it may outlive this process: nobody waits for it


def script(code: str, *arguments: str, **given: Any) -> Forked[str]:
    """Start a script that uses the program, as `python -c` would; it has ours as its folder."""
    return Forked([SCRIPT, code, *arguments], encoding="utf-8", **{"cwd": ROOT, **given})


class Forked(subprocess.Popen[AnyStr]):
    """`Popen(arguments, …)` of a command, in its own session.

    It is no child of this process and cannot be waited for: the warm process reports its end.
    """

    _keeper: socket.socket

    def _execute_child(  # type: ignore[no-untyped-def]
        self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo,
        creationflags, shell, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite, *rest,
    ) -> None:  # fmt: skip
        wanted = {
            "arguments": [*args],
            "cwd": str(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
        }
        data = json.dumps(wanted).encode()
        given = (p2cread, c2pwrite, errwrite)
        streams = [number if fd == -1 else fd for number, fd in enumerate(given)]
        assert len(streams) == STREAMS
        self._keeper = socket.socket(socket.AF_UNIX)
        try:
            self._keeper.connect(warm_address())
            socket.send_fds(self._keeper, [LENGTH.pack(len(data))], streams)
            self._keeper.sendall(data)
            self.pid = self._word()
            self._child_created = True
        finally:
            self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)  # type: ignore[attr-defined]

    def _word(self) -> int:
        (word,) = WORD.unpack(self._keeper.recv(WORD.size, socket.MSG_WAITALL))
        return int(word)

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        is_ready = select.select([self._keeper], [], [], 0 if wait_flags else None)[0]
        return (self.pid, self._word()) if is_ready else (0, 0)

    def _internal_poll(self, **_: object) -> int | None:
        lock = self._waitpid_lock  # type: ignore[attr-defined]
        if self.returncode is None and lock.acquire(False):
            try:
                pid, status = (0, 0) if self.returncode is not None else self._try_wait(os.WNOHANG)
                if pid:
                    self._ended(status)
            finally:
                lock.release()
        return self.returncode

    def _handle_exitstatus(self, sts: int, *_: object) -> None:
        self._ended(sts)

    def _ended(self, status: int) -> None:
        self.returncode = os.waitstatus_to_exitcode(status)
        self._keeper.close()
