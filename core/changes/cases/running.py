"""How a case ends: judged by what is known of its item, or by a script that runs in a sandbox."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from posixpath import normpath
from shlex import quote

from core.decision_table import read_xml, search_text
from core.decision_table.learning.learn import decide_case, same_outcome
from core.decision_table.learning.wording import case_words, outcome_words
from core.domain.errors import BundleInvalid, RuleInvalid, SkillWorkerError
from core.domain.messages import Message
from core.domain.models import Change, DecisionTable, Kind, ShellResult
from core.domain.models.cases import Case, CaseResult, CaseStatus, Check
from core.domain.ports import CaseRunner, Pod, Pods, SkillStore
from core.domain.text import normal_form, shorten
from core.skills.bundle import is_text
from core.skills.document.edits import find_heading
from core.skills.document.markdown import headings, lines_of

# A question brings an item up if it is among these first: as many as an agent's search gives.
FIRST = 5
SEARCHING = frozenset((Check.RECALL, Check.SILENCE))
CHOOSING = frozenset((Check.CHOSEN, Check.NOT_CHOSEN))
_SHOWN = 160
_MARKS = re.compile(r"[*_`~#>\[\]|]+")
_LISTED = re.compile(r"^\s*(?:[-+*]|\d{1,3}[.)])\s+", re.MULTILINE)
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_KOREAN_SPACE = re.compile(r"(?<=[\uac00-\ud7a3]) | (?=[\uac00-\ud7a3])")
_SESSION_SECONDS = 300
_SECONDS = 60  # for one script
_FOLDER, _INPUT = "/tmp/skill", "/tmp/case-input"  # noqa: S108 - paths inside of the sandbox
_RUNNERS = {"py": "python3", "sh": "bash", "js": "node"}
Files = Mapping[str, bytes]


@dataclass(frozen=True)
class ItemState:
    """What a case asks about, as it stands: its text as stored, and who may find it."""

    content: str
    user: str | None = None
    agent_id: str | None = None


@dataclass(frozen=True)
class Found:
    """An item that a search found, by id and name."""

    id: str
    name: str


def judge(case: Case, item: ItemState | None) -> CaseResult:
    """Return how a case ends that asks nothing but the text of its item."""
    if item is None:
        return gone(case)
    body = case.body
    match body.check:
        case Check.DECISION:
            return _decided(case, item.content)
        case Check.UNSAID:
            text = item.content if case.kind is not Kind.DMN_RULE else _readable(item.content)
            is_there = says(text, body.text)
            return _ended(case, not is_there, Message("case.still_says", text=_cut(body.text)))
        case Check.STANDS | Check.WITHDRAWN:
            return _stands(case, item.content)
        case Check.BEHAVIOUR:
            return CaseResult(case=case, passed=None, why=Message("case.needs_model"))
        case _:
            return CaseResult(case=case, passed=None, why=Message("case.needs_sandbox"))


def gone(case: Case) -> CaseResult:
    """Return how a case ends whose item is not there: what must not be found or said is not."""
    passed = case.body.check in {
        *(Check.SILENCE, Check.NOT_CHOSEN, Check.UNSAID, Check.WITHDRAWN),
    }
    return _ended(case, passed, Message("case.item_gone"))


def _with_found(result: CaseResult, *ids: str) -> CaseResult:
    return result.model_copy(update={"found": ids})


def recalled(case: Case, found: Sequence[Found]) -> CaseResult:
    """Return how RECALL or SILENCE ends: whether the item is among the first that are found."""
    return _with_found(_recalled(case, found), *(one.id for one in found))


def _recalled(case: Case, found: Sequence[Found]) -> CaseResult:
    is_found = any(one.id == case.item_id for one in found)
    if case.body.check is Check.SILENCE:
        return _ended(case, not is_found, Message("case.is_found", question=_cut(case.body.text)))
    if not found:
        return _ended(case, is_found, Message("case.nothing_found", question=_cut(case.body.text)))
    first = ", ".join(f"'{_cut(one.name, 60)}'" for one in found)
    return _ended(
        case, is_found, Message("case.not_found", question=_cut(case.body.text), found=first)
    )


def chosen(case: Case, first: str | None) -> CaseResult:
    """Return how CHOSEN or NOT_CHOSEN ends: `first` is the skill that comes first."""
    return _with_found(_chosen(case, first), *([first] if first is not None else []))


def _chosen(case: Case, first: str | None) -> CaseResult:
    is_first, request = first == case.item_id, _cut(case.body.text)
    if case.body.check is Check.NOT_CHOSEN:
        return _ended(case, not is_first, Message("case.is_chosen", request=request))
    if first is None:
        return _ended(case, is_first, Message("case.none_chosen", request=request))
    return _ended(case, is_first, Message("case.other_chosen", request=request, skill=first))


def scripted(case: Case, status: int | None, output: str) -> CaseResult:
    """Return how SCRIPT ends: the output but for white space at the end of lines and of it all."""
    script = case.body.text
    if status not in {0, None}:
        return _ended(case, False, Message("case.script_failed", script=script, status=status or 0))
    wanted, found = _cut(case.body.output), _cut(output)
    told = Message("case.script_wrote", script=script, wanted=wanted, found=found)
    return _ended(case, _trimmed(output) == _trimmed(case.body.output), told)


def as_before(case: Case) -> CaseResult:
    """Return that a case passes which passed before, and which the change cannot reach."""
    return CaseResult(case=case, passed=True)


def says(text: str, statement: str) -> bool:
    """Whether a text says something, but for case, spacing, grouped digits and Markdown marks.

    A number or a word in Latin letters counts only whole: `3 days` is not in `13 days`.
    """
    wanted = plain(statement)
    if not wanted:
        return False
    before = r"(?<![0-9a-z])(?<![0-9][.,])" if wanted[0].isascii() else ""
    after = r"(?![0-9a-z])(?![.,][0-9])" if wanted[-1].isascii() else ""
    return re.search(f"{before}{re.escape(wanted)}{after}", plain(text)) is not None


@lru_cache(maxsize=32)  # one text is asked for many statements
def plain(text: str) -> str:
    """Return a text as statements are compared in it; spaces beside Hangul are nobody's."""
    folded = normal_form(_GROUPED.sub("", _MARKS.sub("", _LISTED.sub("", text))))
    return _KOREAN_SPACE.sub("", " ".join(folded.split()))


def section_of(document: str, asked: str) -> str | None:
    """Return the text under a heading of a skill, its subsections included; None without one."""
    found = headings(document)
    try:
        at = find_heading(found, asked)
    except BundleInvalid:
        return None
    ends = (one.first for one in found[at + 1 :] if one.level <= found[at].level)
    lines = lines_of(document)
    return "".join(lines[found[at].after : next(ends, len(lines))])


def _stands(case: Case, document: str) -> CaseResult:
    body = case.body
    text: str | None = section_of(document, body.section) if body.section else document
    is_there = text is not None and says(text, body.text)
    said, section = _cut(body.text), _cut(body.section)
    if body.check is Check.WITHDRAWN:
        return _ended(case, not is_there, Message("case.still_says", text=said))
    if text is None:
        return _ended(case, False, Message("case.no_section", text=said, section=section))
    if body.section:
        return _ended(case, is_there, Message("case.section_lacks", text=said, section=section))
    return _ended(case, is_there, Message("case.no_longer_says", text=said))


def _decided(case: Case, xml: str) -> CaseResult:
    """Decide the inputs: `must` and `must_not` are rows that must match, and must not.

    Without these, no `outputs` mean that nothing is decided.
    """
    body = case.body
    asked = case_words(body.inputs)
    try:
        outcome = decide_case(_table(xml), body.inputs)
    except RuleInvalid as error:
        return _ended(case, False, Message("case.undecided", case=asked, why=error.message))
    if outcome.why:
        return _ended(case, False, Message("case.undecided", case=asked, why=outcome.why))
    told = Message(
        "case.decided_otherwise",
        case=asked,
        wanted=outcome_words(body.outputs),
        found=outcome_words(outcome.result),
        rows=", ".join(outcome.fired) or Message("learn.no_row"),
    )
    matched = {*outcome.matched}
    is_matched = matched.issuperset(body.must) and matched.isdisjoint(body.must_not)
    if not is_matched:
        wanted = ", ".join([*body.must, *(f"!{row}" for row in body.must_not)])
        rows = ", ".join(outcome.matched) or Message("learn.no_row")
        return _ended(
            case, False, Message("case.rows_otherwise", case=asked, wanted=wanted, found=rows)
        )
    is_asked = body.outputs is not None or not (body.must or body.must_not)
    passed = not is_asked or same_outcome(outcome.result, body.outputs)
    return CaseResult(case=case, passed=passed, why="" if passed else told)


@lru_cache(maxsize=16)  # the cases of a table come together
def _table(xml: str) -> DecisionTable:
    return read_xml(xml)


def _readable(xml: str) -> str:
    try:
        return search_text(_table(xml))
    except RuleInvalid:
        return xml


def _ended(case: Case, passed: bool, why: str) -> CaseResult:
    return CaseResult(case=case, passed=passed, why="" if passed else why)


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").split("\n")).rstrip("\n")


def _cut(text: str, most: int = _SHOWN) -> str:
    return shorten(" ".join(text.split()), most)


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
