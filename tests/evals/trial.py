"""Whether the gate of cases stops what harms what is known, and lets pass what does not.

Each story is an agent in a tenant of its own: what it knows is taught by feedback, with the cases
of a good author, and then the one learning. What it is taught and has to wait for a person is
accepted, but for what breaks its own cases. A scripted model makes the calls of the set; where one
is refused it insists, by the same call once more, and ends. Stopped is what is not applied: it is
refused, or held for a person. With `--control` the gate is off: the same stories without it.
"""

from __future__ import annotations

import asyncio
import json
import math
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import yaml
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from pydantic import JsonValue, PrivateAttr

from core.agent.loop.tool_args import ARGUMENTS
from core.agent.offline.model import AnsweringChatModel
from core.app.config_file import ConfigFile
from core.app.observability import configure_logging
from core.app.program import App, open_app
from core.app.settings import load_settings
from core.decision_table import parse_xml
from core.domain.errors import Refused
from core.domain.models import Agent, Kind, NewFeedback, ReceiptStatus
from core.domain.models.base import Model
from core.domain.tasks import over_all_tenants
from core.domain.text import read_fenced_json
from core.testing.scripted_model import calls, says

SETS = Path(__file__).with_name("sets")
HALVES = ("open", "sealed")
# The keys of skill-worker.yaml that turn the gate of cases off.
CONTROL: Mapping[str, JsonValue] = {"cases": {"gate": "off"}}
Args = dict[str, JsonValue]


class Asked(Model):
    """A tool call."""

    tool: str
    args: Args


class Call(Asked):
    """A call of a write tool, `cases` among its arguments; of a skill also what its author answers.

    `{{a}}` stands for the id of the item called `a`, `{{a.r2}}` for its second row.
    """

    author: Asked | None = None


class Known(Call):
    """An item that is known before, and how it was taught; `ref` is what calls name it by."""

    ref: str
    kind: Kind

    @property
    def said(self) -> str:
        """What a user says who teaches it."""
        if self.kind is Kind.SKILL and self.author is not None:
            return str(self.author.args["description"])
        if self.kind is Kind.MEMORY:
            return str(self.args["content"])
        rule = self.args["rule"]
        assert isinstance(rule, dict)
        rows = rule["rows"]
        assert isinstance(rows, list)
        notes = [str(row.get("annotation")) for row in rows if isinstance(row, dict)]
        return f"{rule['name']}: {', '.join(notes)}"


class Learning(Model):
    """What is said, and what the model asks for."""

    feedback: str
    calls: tuple[Call, ...]


class Story(Model):
    """What is known with its cases, and a learning that harms it or does not.

    `corrects` marks a learning whose feedback says that something known is no longer so: a case
    about the old answer does not count against it.
    """

    id: str
    story: str
    hand: str
    lang: str
    kind: Kind
    harmful: bool
    corrects: bool
    why: str
    before: tuple[Known, ...]
    learning: Learning
    expect: Literal["stopped", "applied"]

    @property
    def taught(self) -> str:
        """What is said of all that is known."""
        return "\n".join(item.said for item in self.before)


@dataclass(frozen=True)
class Tried:
    """A story, and what became of what was said: `applied`, or the status of what was not.

    It is `untaught` where what is known before could not be learnt: then it proves nothing.
    """

    story: Story
    ended: str
    message: str
    applied: int
    asked: int
    held: tuple[str, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether what harms was stopped, or what does not was applied."""
        if self.ended == "untaught":
            return False
        return (self.ended == "applied") == (self.story.expect == "applied")

    @property
    def is_known(self) -> bool:
        """Whether all that is known before was learnt."""
        return self.applied == len(self.story.before)


def stories(half: str, by: str = "a") -> list[Story]:
    """Read the stories that a hand has written for one half."""
    return read(SETS / half / f"trial-{by}.jsonl")


def read(path: Path) -> list[Story]:
    """Read the stories of a file."""
    return [Story.model_validate_json(line) for line in path.read_text("utf-8").splitlines()]


def together(told: Sequence[Story]) -> list[Story]:
    """Return the stories of a language as those of two agents, by whether they are harmful."""
    return [
        one.model_copy(update={"id": f"{one.lang}-{'harmful' if one.harmful else 'good'}"})
        for one in told
    ]


class Insisting(AnsweringChatModel):
    """Make the calls that belong to the feedback; what is refused is asked for once more."""

    _calls: dict[str, Sequence[Call]] = PrivateAttr(default_factory=dict)

    def expect(self, feedback: str, wanted: Sequence[Call]) -> None:
        """Take what is to be called for a piece of feedback."""
        self._calls[feedback] = wanted

    def answer(self, messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
        """Return the next message of a run, or of a skill's author."""
        document = _document(messages)
        if "SkillArtifact" in tools:
            return self._write(document)
        feedback = document["feedback"]
        assert isinstance(feedback, dict)
        wanted = self._calls[str(feedback["text"])]
        answers = [one for one in messages if isinstance(one, ToolMessage)]
        refused = [
            call for call, one in zip(wanted, answers[-len(wanted) :], strict=False) if _fails(one)
        ]
        if not answers:
            return _named(*wanted, at=0)
        if refused and len(answers) == len(wanted):
            return _named(*refused, at=len(answers))
        if any(not _fails(one) for one in answers):
            return says("Done.")
        why: Args = {"reason": "It was refused twice.", "category": "unclear"}
        return _named(Asked(tool="no_action", args=why), at=len(answers))

    def _write(self, document: Args) -> AIMessage:
        wanted = self._calls[str(document["feedback"])]
        name = document["skill_name"]
        (author,) = {
            call.args["skill_id"]: call.author
            for call in wanted
            if call.author is not None and call.args["skill_id"] == name
        }.values()
        return _named(author, at=0)


def _document(messages: Sequence[BaseMessage]) -> Args:
    for message in messages:
        data = read_fenced_json(str(message.text))
        if isinstance(data, dict) and "feedback" in data:
            return data
    raise AssertionError("nothing was said")


def _fails(answer: ToolMessage) -> bool:
    receipt = json.loads(str(answer.content))
    return not ReceiptStatus(receipt["status"]).is_outcome


def _named(*wanted: Asked, at: int) -> AIMessage:
    made = calls(*((call.tool, _known_to(call.tool, call.args)) for call in wanted))
    named = [{**call, "id": f"call-{at + n}"} for n, call in enumerate(made.tool_calls)]
    return made.model_copy(update={"tool_calls": named})


def _known_to(tool: str, args: Args) -> Args:
    """Return the arguments less `cases` where the tool takes none."""
    fields = ARGUMENTS[tool].model_fields if tool in ARGUMENTS else args
    return {name: value for name, value in args.items() if name != "cases" or name in fields}


async def try_all(app: App, model: Insisting, told: Sequence[Story]) -> list[Tried]:
    """Teach each agent what it knows, then put its learning to it."""
    for story in told:
        agent = Agent(id=_agent(story), tenant_id=story.id, name=f"Assistant {story.id}")
        await app.stores.agents.save(agent)
        model.expect(story.taught, story.before)
    taught = await _say(app, told, [story.taught for story in told])
    taught = [await _accepted(app, one) for one in taught]
    untaught = [replace(one, ended="untaught") for one in taught if not one.is_known]
    ready = [one.story for one in taught if one.is_known]
    for story in ready:
        model.expect(story.learning.feedback, await _resolved(app, story))
    return [*await _say(app, ready, [story.learning.feedback for story in ready]), *untaught]


async def _accepted(app: App, taught: Tried) -> Tried:
    """Accept what waits for a person before it is known, but for what its cases break."""
    applied = taught.applied
    for change_id in taught.held:
        with suppress(Refused):
            receipt = await app.gate.decisions.approve(change_id, by="kim", allow="It is so.")
            applied += receipt.status is ReceiptStatus.APPLIED
    return replace(taught, applied=applied)


def _agent(story: Story) -> str:
    return f"agent-{story.id}"


async def _say(app: App, told: Sequence[Story], said: Sequence[str]) -> list[Tried]:
    pieces = [
        NewFeedback(tenant_id=story.id, agent_ids=(_agent(story),), content=text, author="kim")
        for story, text in zip(told, said, strict=True)
    ]
    stored = await app.stores.inbox.add("trial", pieces)
    await app.run(True, 4, asyncio.Event(), lambda _: None)
    ids = [feedback_id for feedback_id, _ in stored]
    return [await _ended(app, story, one) for story, one in zip(told, ids, strict=True)]


async def _ended(app: App, story: Story, feedback_id: str) -> Tried:
    candidates = await app.stores.runs.candidates(feedback_id)
    verdicts = [one.verdict for one in candidates if one.verdict is not None]
    receipts = [receipt for verdict in verdicts for receipt in verdict.receipts]
    asked = [one for one in receipts if one.status is not ReceiptStatus.NO_ACTION]
    applied = sum(one.status is ReceiptStatus.APPLIED for one in asked)
    if not asked:
        error = (await app.stores.inbox.get(feedback_id)).error
        return Tried(story, "failed", error or "", applied, 0)
    last = asked[-1]
    held = tuple(
        one.change_id for one in asked if one.status is ReceiptStatus.HELD and one.change_id
    )
    return Tried(story, str(last.status), str(last.message), applied, len(asked), held)


async def _resolved(app: App, story: Story) -> list[Call]:
    """Return the calls of a learning with the ids of what is known."""
    ids: dict[str, str] = {}
    items = await app.stores.knowledge.list(tenant_id=story.id, agent_id=None, kind=None)
    for known in story.before:
        for item in items if known.kind is not Kind.SKILL else ():
            if item.kind is not known.kind or not _is_of(known, item.content, item.name):
                continue
            ids[known.ref] = item.id
            rows = parse_xml(item.content).rows if item.kind is Kind.DMN_RULE else ()
            ids |= {f"{known.ref}.r{n}": row.id for n, row in enumerate(rows, 1)}
    return [
        call.model_copy(update={"args": _filled(call.args, ids)}) for call in story.learning.calls
    ]


def _is_of(known: Known, content: str, name: str) -> bool:
    rule = known.args.get("rule")
    return name == rule["name"] if isinstance(rule, dict) else content == known.args["content"]


def _filled(value: JsonValue, ids: Mapping[str, str]) -> JsonValue:
    if isinstance(value, dict):
        return {key: _filled(one, ids) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, ids) for one in value]
    if isinstance(value, str):
        for ref, item_id in ids.items():
            value = value.replace("{{" + ref + "}}", item_id)
    return value


async def run(home: Path, told: Sequence[Story], *, control: bool) -> list[Tried]:
    """Try the stories in a program of their own."""
    keys = {key: value for key, value in CONTROL.items() if key in ConfigFile.model_fields}
    config = home / "skill-worker.yaml"
    config.write_text(yaml.safe_dump(keys if control else {}), "utf-8")
    place = {"database_url": None, "skill_api_base_url": None, "skill_worker_config": config}
    settings = load_settings({"skill_worker_home": home, **place, "max_attempts": 1}, env_file=None)
    model = Insisting()
    with over_all_tenants():
        async with open_app(settings, model=True, chat=model) as app:
            return await try_all(app, model, told)


def report(tried: Sequence[Tried], name: str) -> str:
    """Return the shares of what harms that was stopped, and of the rest that passed."""
    lines = [f"{name}, {len(tried)} stories"]
    for kind in (Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL):
        for lang in ("ko", "en"):
            of = [one for one in tried if (one.story.kind, one.story.lang) == (kind, lang)]
            lines.append(f"  {kind:9}{lang}  {_shares(of)}")
    ends = Counter(one.ended for one in tried)
    lines.append(f"  all          {_shares(tried)}")
    lines.append("  ended: " + ", ".join(f"{end} {ends[end]}" for end in sorted(ends)))
    return "\n".join(lines)


def _shares(tried: Sequence[Tried]) -> str:
    harmful = [one.is_right for one in tried if one.story.harmful]
    good = [one.is_right for one in tried if not one.story.harmful]
    return f"harmful stopped {share(harmful)}; good passed {share(good)}"


def share(right: Sequence[bool]) -> str:
    """Return how many of them, and the 95 % interval of their share by Wilson."""
    count, hits, z = len(right), sum(right), 1.96
    if not count:
        return "none"
    part = hits / count
    middle = (part + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(part * (1 - part) / count + z * z / (4 * count**2)) / (1 + z * z / count)
    low, high = 100 * max(0.0, middle - half), 100 * min(1.0, middle + half)
    return f"{hits:2} of {count:2} ({low:.0f}-{high:.0f} %)"


def main(arguments: Sequence[str]) -> int:
    """Print the figures of both arms, or of the control alone; `--show` what ended wrong.

    Without files they are those of hand `a`; with `--together` one agent knows all that is known of
    a language, and learns what is harmful, another one what is good. While no write tool takes
    cases there is no gate, and the control is all there is.
    """
    configure_logging("critical", "console")
    half = HALVES["--sealed" in arguments]
    files = [Path(argument) for argument in arguments if not argument.startswith("--")]
    files = files or [SETS / half / "trial-a.jsonl"]
    told = [story for file in files for story in read(file)]
    told = together(told) if "--together" in arguments else told
    is_open = all(file.resolve().parent == SETS / "open" for file in files)
    has_gate = "cases" in ARGUMENTS["commit_to_memory"].model_fields
    arms = (False, True) if has_gate and "--control" not in arguments else (True,)
    for control in arms:
        with tempfile.TemporaryDirectory(prefix="skill-worker-evals-") as home:
            tried = asyncio.run(run(Path(home), told, control=control))
        if "--show" in arguments and is_open:  # what is sealed is not to be read
            for one in (one for one in tried if not one.is_right):
                print(f"{one.story.story} {one.ended}: {one.story.why}\n    {one.message}")
        names = ", ".join(f"{file.parent.name}/{file.name}" for file in files)
        print(report(tried, f"{names}, {'without the gate' if control else 'with cases'}"))
    return 0
