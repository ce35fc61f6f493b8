"""A process that has all imports, and forks commands on request (see forked.py).

A forked command takes a fifth of the CPU time of one from the shell. It treats its arguments,
environment, signals and streams in the same way; what it imports goes untested.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import struct
import sys
import tempfile
import threading
from typing import Any, TextIO

LAZY = (
    "core.entrypoints.console",
    "core.skills.creator.shipped",
    "core.testing",
)
SCRIPT = "-c"
STREAMS = 3
HELD = b"."  # the answer to a connection that says: stay as long as it lasts
PATIENCE = 60.0  # seconds until the first
LENGTH = struct.Struct("!I")
WORD = struct.Struct("!i")


def main(address: str) -> None:
    """Fork commands until no process that asked for some is left; in each child, run it."""
    _import_all()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        print("ready", flush=True)
        if not _serve(listener):
            return
    _be_command()


def _serve(listener: socket.socket) -> bool:
    """Fork commands; return True in one of them, False once nobody holds a connection."""
    holders: list[socket.socket] = []
    while True:
        ready, _, _ = select.select([listener, *holders], [], [], None if holders else PATIENCE)
        for gone in {*ready} - {listener}:  # nobody says more on such a connection
            holders.remove(gone)
            gone.close()
        if listener not in ready:
            if not holders:
                return False
            continue
        asked, _ = listener.accept()
        head, streams, _, _ = socket.recv_fds(asked, LENGTH.size, STREAMS, socket.MSG_WAITALL)
        if not streams:
            asked.send(HELD)
            holders.append(asked)
            continue
        if os.fork() == 0:
            for other in (listener, *holders):
                other.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            if _keep(asked, head, streams):
                return True
        asked.close()
        for stream in streams:
            os.close(stream)


def _import_all() -> None:
    import core
    import tests.chaos.warm

    assert tests.chaos.warm
    for module in pkgutil.walk_packages(core.__path__, "core."):
        if not module.name.startswith(LAZY) and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    from core.entrypoints.api.app import create_api
    from core.entrypoints.api.opened import Opened
    from core.entrypoints.cli.app import command_tree, names

    for name in ("", *names()):  # takes each command longer than most else that it does
        command_tree(name)
    create_api(Opened())
    gc.collect()
    gc.freeze()


def _keep(asked: socket.socket, head: bytes, streams: list[int]) -> bool:
    """Fork the command, report how it ended and exit; in the command, return True."""
    (length,) = LENGTH.unpack(head)
    wanted = json.loads(asked.recv(length, socket.MSG_WAITALL))
    pid = os.fork()
    if pid == 0:
        asked.close()
        _become(streams, **wanted)
        return True
    for stream in streams:
        os.close(stream)
    asked.sendall(WORD.pack(pid))
    _, status = os.waitpid(pid, 0)
    asked.sendall(WORD.pack(status))
    os._exit(0)


def _become(
    streams: list[int], arguments: list[str], cwd: str, environment: dict[str, str]
) -> None:
    os.setsid()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout = _opened(0, "r"), _opened(1, "w")
    sys.stderr = _opened(2, "w", buffering=1, errors="backslashreplace")
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    sys.argv = ["skill-worker", *arguments]
    tempfile.tempdir = None


def _opened(number: int, mode: str, **how: Any) -> TextIO:
    return open(number, mode, encoding="utf-8", closefd=False, **how)


def _be_command() -> None:
    """Run the command, and end as Python does but for the teardown of its modules.

    That would copy the memory shared with the warm process: 0.25 s of CPU time for each command.
    """
    code = 0
    try:
        _run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _run() -> None:
    """Run a command, or a script given as Python's own `-c` takes it."""
    if sys.argv[1] == SCRIPT:
        _, _, script, *arguments = sys.argv
        sys.argv = [SCRIPT, *arguments]
        exec(script, {"__name__": "__main__"})
        return
    from core.entrypoints.cli import main as command

    command()


if __name__ == "__main__":
    main(sys.argv[1])
