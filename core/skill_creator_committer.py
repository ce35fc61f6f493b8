"""The pod path: initialise, write, validate and package a skill in a sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TypeVar

import structlog

from core.domain.errors import DependencyDown, McpDown, PodCallFailed, SkillWorkerError, StepFailed
from core.domain.hashing import sha256
from core.domain.messages import Message
from core.domain.models import Bundle, Operation, ShellResult
from core.domain.ports import NewId, Pod, Pods, SkillDocuments
from core.skills.bundle import is_text, zip_to_bundle
from core.skills.creator import commands
from core.skills.creator.commands import compared, read_scripts

log = structlog.get_logger(__name__)

SESSION_SECONDS = 600
RANGE_BYTES = 30_000  # of the zip in one answer, as long as the server passes that on
LEAST_RANGE_BYTES = 60
RANGES_AT_ONCE = 8
GRACE_SECONDS = 1.0
EXCERPT_CHARS = 500
VALID = "Skill is valid"
T = TypeVar("T")


@dataclass(frozen=True)
class SkillCreatorDeps:
    """The pods, the documents of the skill server, and unguessable ids."""

    pods: Pods
    documents: SkillDocuments
    new_id: NewId


async def commit_to_skill_via_skill_creator(
    skill_name: str,
    bundle: Bundle,
    operation: Operation,
    base: Bundle | None = None,
    *,
    deps: SkillCreatorDeps,
) -> Bundle:
    """Build a skill in a pod and return the packaged folder (contracts, section 3).

    Takes CREATE and UPDATE; `base` is the skill before an UPDATE. The change gate uploads the
    result. Raises StepFailed (permanent) or McpDown (worth a retry); both messages begin with
    the name of the step. The session is deleted in every case.
    """
    assert operation is not Operation.DELETE
    try:
        return await _build(skill_name, bundle, operation, base, deps)
    except SkillWorkerError as error:
        log.warning("skill_creator.failed", skill=skill_name, error=error.message)
        raise


async def _build(
    name: str, bundle: Bundle, operation: Operation, base: Bundle | None, deps: SkillCreatorDeps
) -> Bundle:
    is_new = operation is Operation.CREATE
    read = read_scripts(deps.documents, with_init=is_new, base=base)
    # At the same time: reading the scripts does not need the pod.
    async with _beside(read) as scripts, _session(deps.pods) as pod:
        build = _PodBuild(pod, name, bundle, "".join(filter(str.isalnum, deps.new_id())))
        with _step("read_scripts"):
            texts = await scripts
        await build.write_scripts(texts)
        await build.make_folder(is_new=is_new)
        await build.write_files(is_new=is_new)
        data = await build.package()
    with _step("parse"):
        returned = zip_to_bundle(data, name, root=False)
    return compared(bundle, returned, base)


@asynccontextmanager
async def _beside(work: Coroutine[None, None, T]) -> AsyncIterator[asyncio.Task[T]]:
    """Run `work` while the pod opens; cancel it when the context ends.

    If that fails, `work` may end first: servers log a call that is cut off as an error of theirs.
    """
    task = asyncio.create_task(work)
    try:
        yield task
    except SkillWorkerError:
        await asyncio.wait({task}, timeout=GRACE_SECONDS)
        raise
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def _session(pods: Pods) -> AsyncIterator[Pod]:
    """Open a pod, naming the step if that fails; it is deleted at the end."""
    is_open = False
    try:
        async with pods.open(ttl=SESSION_SECONDS) as pod:
            is_open = True
            yield pod
    except SkillWorkerError as error:
        if is_open:
            raise
        raise _named("create_session", error) from error


@dataclass(frozen=True)
class _PodBuild:
    """One skill in one pod; `nonce` frames the answers, so that no output can forge one."""

    pod: Pod
    name: str
    bundle: Bundle
    nonce: str

    async def write_scripts(self, scripts: dict[str, str]) -> None:
        """Write the scripts to the work folder."""
        with _step("write_scripts"):
            await _together(
                self.pod.create_file(f"{commands.WORK}/{path}", text)
                for path, text in scripts.items()
            )

    async def make_folder(self, *, is_new: bool) -> None:
        """Create the skill's folder: by init_skill, or a bare one for an UPDATE."""
        if not is_new:
            with _step("make_folder"):
                _ok(await self.pod.run_shell(commands.make_folders(self.name)))
            return
        with _step("init_skill"):
            result = await self.pod.run_shell(commands.init_skill(self.name, self.nonce))
            frame = await self._frame("init_skill", result.stdout)
            status = frame.status if frame else result.exit_code
            if status or (frame and status is None):
                output = frame.output if frame else result.stdout or result.stderr
                raise _ended(status, output)

    async def write_files(self, *, is_new: bool) -> None:
        """Write the skill's files over those of init_skill, and delete its example files."""
        leftovers = [p for p in commands.INIT_EXAMPLES if is_new and p not in self.bundle.files]
        with _step("write_files"):
            await _together(
                [
                    *(self._write(path, file.data) for path, file in self.bundle.files.items()),
                    *map(self._delete, leftovers),
                ]
            )

    async def package(self) -> bytes:
        """Validate, package and fetch the zip. Raises StepFailed naming the step."""
        text, status = await self._packaged()
        self._check("quick_validate", text, status, needs=VALID)
        self._check("package_skill", text, status)
        with _step("fetch"):
            return await self._fetched(text)

    async def _packaged(self) -> tuple[str, int | None]:
        """Return the output of the three commands: in one call or, if that is cut off, in three."""
        executable = [path for path, file in self.bundle.files.items() if file.executable]
        with _step("package_skill"):
            whole = await self.pod.run_shell(
                commands.validate_package_send(self.name, executable, self.nonce)
            )
            if self._is_whole(whole):
                return whole.stdout, whole.exit_code
            calls = (
                commands.outcome_again("quick_validate", self.nonce),
                commands.outcome_again("package_skill", self.nonce),
                commands.announce(self.name, self.nonce),
            )
            answers = [(await self.pod.run_shell(command)).stdout for command in calls]
            return "\n".join(answers), None

    def _is_whole(self, answer: ShellResult) -> bool:
        """Whether nothing but the file may be missing from an answer.

        A server that drops the frames passes the verdict on; one that replaces what is too long by
        a notice passes nothing on.
        """
        if commands.is_framed(answer.stdout, self.nonce):
            return not commands.is_cut_off(answer.stdout, self.nonce)
        return bool(answer.exit_code) or _says(answer.stdout, VALID)

    async def _frame(self, step: str, text: str) -> commands.Frame | None:
        """Return the frame in an answer; one that was cut off is asked for again, briefly."""
        frame = commands.read_frame(text, self.nonce, step)
        if not commands.is_framed(text, self.nonce) or (frame and frame.status is not None):
            return frame
        again = await self.pod.run_shell(commands.outcome_again(step, self.nonce))
        brief = commands.read_frame(again.stdout, self.nonce, step)
        return brief if brief and brief.status is not None else frame or brief

    def _check(self, step: str, text: str, exit_code: int | None, needs: str = "") -> None:
        """Raise StepFailed unless a step exited with 0 and printed what it must.

        A frame without its end is a failure; without any frame the plain output counts.
        """
        with _step(step):
            frame = commands.read_frame(text, self.nonce, step)
            output = frame.output if frame else text
            said = not needs or _says(output, needs)
            status = frame.status if frame else exit_code
            if status or not said or (frame and status is None):
                raise _ended(status, output)

    async def _fetched(self, text: str) -> bytes:
        payload = commands.read_payload(text, self.nonce)
        if payload is None:
            data = commands.unframed_base64(text)
            if data is None:
                raise StepFailed(Message("pod.no_zip", text=text[-300:]))
            return data
        return commands.decode(payload) or await self._in_ranges(payload)

    async def _in_ranges(self, payload: commands.Payload) -> bytes:
        """Fetch a zip in ranges after its answer was cut off, as large as what comes through."""
        first, size = await self._first_range(payload.size)
        starts = range(len(first), payload.size, size)
        pieces = [first]
        for at in range(0, len(starts), RANGES_AT_ONCE):
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._range(start, payload, size))
                    for start in starts[at : at + RANGES_AT_ONCE]
                ]
            pieces += [task.result() for task in tasks]
        data = b"".join(pieces)
        if len(data) != payload.size or sha256(data) != payload.sha256:
            raise StepFailed(Message("pod.other_package"))
        return data

    async def _first_range(self, whole: int) -> tuple[bytes, int]:
        """Return the beginning of the zip, and the size of range that the server passes on."""
        size = RANGE_BYTES
        while size >= LEAST_RANGE_BYTES:
            wanted = min(size, whole)
            text = await self._sent(0, wanted)
            piece = self._decoded(text, wanted)
            if piece is not None:
                return piece, wanted
            # 76 characters a line carry 57 bytes, and the frame and the server's notes take some.
            came = (len(text) - len(self.nonce) * 2 - 60) * 57 // 77
            size = min(came, size // 2) if came >= LEAST_RANGE_BYTES else size // 2
        raise StepFailed(Message("pod.no_bytes", start=0, end=LEAST_RANGE_BYTES))

    async def _range(self, start: int, payload: commands.Payload, size: int) -> bytes:
        end = min(start + size, payload.size)
        piece = self._decoded(await self._sent(start, end - start), end - start)
        if piece is None:
            raise StepFailed(Message("pod.no_bytes", start=start, end=end))
        return piece

    async def _sent(self, start: int, size: int) -> str:
        command = commands.send_range(self.name, self.nonce, start, size)
        return (await self.pod.run_shell(command)).stdout

    def _decoded(self, text: str, size: int) -> bytes | None:
        frame = commands.read_frame(text, self.nonce, "range")
        piece = commands.decode_base64(frame.output) if frame and frame.status == 0 else None
        return piece if piece is not None and len(piece) == size else None

    async def _write(self, inner_path: str, data: bytes) -> None:
        path = f"{commands.folder(self.name)}/{inner_path}"
        if is_text(data):
            await self.pod.create_file(path, data.decode("utf-8"))
            return
        for command in commands.write_binary(path, data):
            _ok(await self.pod.run_shell(command))

    async def _delete(self, path: str) -> None:
        """Delete an example file; one that remains is skipped by name when the zip is read."""
        try:
            await self.pod.delete_file(f"{commands.folder(self.name)}/{path}")
        except SkillWorkerError as error:
            log.info("example.left", path=path, error=error.message)


async def _together(calls: Iterable[Coroutine[None, None, None]]) -> None:
    """Run calls concurrently over the one session; the first failure cancels the others."""
    async with asyncio.TaskGroup() as group:
        for call in calls:
            group.create_task(call)


@contextmanager
def _step(name: str) -> Iterator[None]:
    """Prefix errors raised inside with the name of the step."""
    try:
        yield
    except BaseExceptionGroup as group:
        raise _named(name, _first(group)) from group
    except SkillWorkerError as error:
        raise _named(name, error) from error


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


def _named(step: str, error: BaseException) -> BaseException:
    if not isinstance(error, SkillWorkerError):
        return error
    message = error.message
    if not message.startswith(f"{step}:"):
        message = Message("pod.step", step=step, why=message)
    if isinstance(error, DependencyDown):
        return McpDown(message, hint=error.hint, retry_after=error.retry_after)
    return StepFailed(message, hint=error.hint)


def _says(output: str, beginning: str) -> bool:
    return any(line.startswith(beginning) for line in output.splitlines())


def _ended(status: int | None, output: str) -> StepFailed:
    shown = Message("pod.no_status")
    if status is not None:
        shown = Message("pod.the_status", status=status)
    return StepFailed(Message("pod.output", status=shown, output=output.strip()[-EXCERPT_CHARS:]))


def _ok(result: ShellResult) -> None:
    if result.exit_code:
        raise PodCallFailed(
            Message(
                "pod.status",
                status=result.exit_code,
                output=(result.stderr or result.stdout)[-300:],
            )
        )
