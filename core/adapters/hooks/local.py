"""Hooks that run on this machine: a program without a shell, or a function of Python."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module

import psutil  # type: ignore[import-untyped]
from pydantic import JsonValue

from core.adapters.hooks.http import ANSWER_BYTES
from core.delivery.asking import read_answer
from core.domain.errors import ConfigurationError
from core.domain.messages import Message
from core.domain.messages import said as said_by
from core.domain.models.deliveries import HookAnswer, Notice, Outcome, Sent

_ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LANG": "C.UTF-8",
}


class CommandAsker:
    """Starts the program for each notice, which it gets on stdin as JSON.

    Status 0 is an answer: what it prints. It is killed with all that it has started when its time
    is over, and what it leaves running when it ends.
    """

    def __init__(
        self, run: Sequence[str], environment: Mapping[str, str], folder: str | None
    ) -> None:
        self._run = run
        self._environment = {**_ENVIRONMENT, **environment}
        self._folder = folder

    async def ask(self, notice: Notice) -> Sent:
        """Run the program, and read what it prints."""
        program = os.path.basename(self._run[0])
        try:
            process = await asyncio.create_subprocess_exec(
                *self._run,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=self._environment,
                cwd=self._folder,
                start_new_session=True,  # a group of its own, to be killed as a whole
            )
        except OSError as error:
            why = Message("hook.no_start", program=program, why=error)
            return Sent(outcome=Outcome.LATER, status="start", error=why)
        try:
            printed = await _exchanged(process, notice.body.encode())
            status = await process.wait()
        finally:
            await end_process(process)
        if status:
            why = Message("hook.exited", program=program, status=status)
            return Sent(outcome=Outcome.LATER, status=f"exit {status}", error=why)
        return _answered(printed.decode("utf-8", "replace"), "exit 0")


async def _exchanged(process: asyncio.subprocess.Process, given: bytes) -> bytes:
    """Give a program its input, and return the beginning of what it prints."""
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    async def write() -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # it need not read it
            stdin.write(given)
            await stdin.drain()
        stdin.close()

    async def read() -> bytes:
        printed = b""
        while part := await stdout.read(ANSWER_BYTES):
            printed = (printed + part)[:ANSWER_BYTES]
        return printed

    _, printed = await asyncio.gather(write(), read())
    return printed


async def end_process(process: asyncio.subprocess.Process) -> None:
    """Kill what is left of a program: its group, and children that left the group."""
    children: list[psutil.Process] = []
    with suppress(psutil.Error):
        children = psutil.Process(process.pid).children(recursive=True)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for child in children:
        with suppress(psutil.Error):
            child.kill()
    await process.wait()


def _answered(text: str, status: str) -> Sent:
    try:
        return Sent(outcome=Outcome.DONE, status=status, answer=read_answer(text))
    except ValueError as error:
        return Sent(outcome=Outcome.NEVER, status=status, error=said_by(error))


class PythonAsker:
    """Calls `package.module:function` with the notice as a dict.

    It returns nothing, a note, true or false, or a dict like an answer in JSON.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    async def ask(self, notice: Notice) -> Sent:
        """Call the function; one that is not async in a thread."""
        function = _found(self._path)
        if inspect.iscoroutinefunction(function):
            value = await function(notice.value)
        else:
            value = await asyncio.to_thread(function, notice.value)
        if value is None:
            return Sent(outcome=Outcome.DONE, status="returned", answer=HookAnswer())
        if isinstance(value, bool):
            value = {"decision": "yes" if value else "no"}
        return _answered(value if isinstance(value, str) else json.dumps(value), "returned")


def _found(path: str) -> Callable[[dict[str, JsonValue]], object]:
    module, _, name = path.rpartition(":" if ":" in path else ".")
    try:
        found: Callable[[dict[str, JsonValue]], object] = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigurationError(
            Message("hook.no_function", path=path, why=error), hint=Message("hook.hint_function")
        ) from error
    return found
