"""Cases of scripts: run in a sandbox, on the files of a skill as they are or would be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from posixpath import normpath
from shlex import quote

from core.changes.cases.running import as_before, gone, scripted
from core.domain.errors import SkillWorkerError
from core.domain.messages import Message
from core.domain.models import Change, Kind, ShellResult
from core.domain.models.cases import Case, CaseResult, CaseStatus, Check
from core.domain.ports import CaseRunner, Pod, Pods, SkillStore
from core.skills.bundle import is_text

_SESSION_SECONDS = 300
_SECONDS = 60  # for one script
_FOLDER, _INPUT = "/tmp/skill", "/tmp/case-input"  # noqa: S108 - paths inside of the sandbox
_RUNNERS = {"py": "python3", "sh": "bash", "js": "node"}

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class WithScripts:
    """The `CaseRunner` port: those of scripts in a sandbox of `pods`, all others by `runner`.

    A script that cannot be run here has no result: no sandbox, or none that answers.
    """

    runner: CaseRunner
    skills: SkillStore
    pods: Pods

    async def before_and_after(
        self, change: Change, blobs: Mapping[str, bytes], cases: Sequence[Case]
    ) -> Sequence[tuple[bool | None, CaseResult]]:
        rest = [case for case in cases if case.body.check is not Check.SCRIPT]
        done = {one.case.id: (before, one) for before, one in await self._rest(change, blobs, rest)}
        for case in cases:
            if case.body.check is Check.SCRIPT:
                done[case.id] = await self._of_change(change, blobs, case)
        return [done[case.id] for case in cases]

    async def now(self, cases: Sequence[Case]) -> Sequence[CaseResult]:
        rest = [case for case in cases if case.body.check is not Check.SCRIPT]
        done = {one.case.id: one for one in (await self.runner.now(rest) if rest else ())}
        for case in cases:
            if case.body.check is Check.SCRIPT:
                done[case.id] = await self._now(case)
        return [done[case.id] for case in cases]

    async def _rest(
        self, change: Change, blobs: Mapping[str, bytes], cases: Sequence[Case]
    ) -> Sequence[tuple[bool | None, CaseResult]]:
        return await self.runner.before_and_after(change, blobs, cases) if cases else ()

    async def _of_change(
        self, change: Change, blobs: Mapping[str, bytes], case: Case
    ) -> tuple[bool | None, CaseResult]:
        if (case.kind, case.item_id) != (change.kind, change.target_id):
            is_green = case.status is CaseStatus.GREEN
            return None, as_before(case) if is_green else await self._now(case)
        refs = (change.after.files if change.after else None) or {}
        files = {path: blobs[ref.sha256] for path, ref in refs.items() if ref.sha256 in blobs}
        after = await self._run(case, files)
        if after.passed is None:
            return None, after
        before = await self._now(case) if change.before is not None else gone(case)
        return before.passed, after

    async def _now(self, case: Case) -> CaseResult:
        try:
            bundle = await self.skills.read(case.item_id, case.tenant_id)
        except SkillWorkerError as error:
            return CaseResult(case=case, passed=None, why=error.message)
        if bundle is None or case.kind is not Kind.SKILL:
            return gone(case)
        return await self._run(case, {path: file.data for path, file in bundle.files.items()})

    async def _run(self, case: Case, files: Files) -> CaseResult:
        script = normpath(case.body.text.strip())
        if script not in files:
            why = Message("case.no_script", script=case.body.text)
            return CaseResult(case=case, passed=False, why=why)
        try:
            async with self.pods.open(ttl=_SESSION_SECONDS) as pod:
                result = await _ran(pod, script, files, case.body.input)
        except SkillWorkerError as error:
            return CaseResult(case=case, passed=None, why=error.message)
        return scripted(case, result.exit_code, result.stdout)


async def _ran(pod: Pod, script: str, files: Files, given: str) -> ShellResult:
    for path, data in files.items():
        if is_text(data):
            await pod.create_file(f"{_FOLDER}/{path}", data.decode("utf-8"))
    await pod.create_file(_INPUT, given)
    runner = _RUNNERS.get(script.rpartition(".")[2], "sh")
    return await pod.run_shell(
        f"cd {_FOLDER} && timeout {_SECONDS} {runner} {quote(f'./{script}')} < {_INPUT}"
    )
