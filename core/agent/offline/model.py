"""A deterministic stand-in for a language model, so that everything runs without an API key.

It speaks LangChain's tool-calling protocol and decides by rules of thumb: `rules` for a ReAct run,
`neighbours` for a memory near another, `match` for dividing feedback, `author` for skills. It
reads only what a model is given, the JSON document of the prompt, and says in its reasons that it
is a stand-in. Tokens are estimated at four characters each.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LangSmithParams, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import ToolCall
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from pydantic import JsonValue

from core.agent.offline import author as offline_author
from core.agent.offline import match as offline_match
from core.agent.offline import neighbours as offline_neighbours
from core.agent.offline import rules
from core.agent.offline import setup as offline_setup
from core.agent.offline.follow_ups import Talk, completed, follow_up, talk_time
from core.agent.offline.reach import is_timed, left_open, reach_in, timeless
from core.agent.offline.reasons import STAND_IN, noted
from core.domain.models import DENIED
from core.domain.text import compact, read_fenced_json, read_part


class AnsweringChatModel(BaseChatModel):
    """Adapts `answer(messages, tools)` to LangChain's chat model protocol."""

    @abstractmethod
    def answer(self, messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
        """Return the next message; `tools` are the names of the bound tools."""

    @property
    def _llm_type(self) -> str:
        return type(self).__name__

    def bind_tools(
        self,
        tools: Sequence[dict[str, JsonValue] | type | Callable[..., object] | BaseTool],
        *,
        tool_choice: str | None = None,  # noqa: ARG002
        **kwargs: object,  # noqa: ARG002
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools by name, all that `answer` needs."""
        return self.bind(tool_names=[_name(tool) for tool in tools])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        tool_names: Sequence[str] = (),
        **kwargs: object,  # noqa: ARG002
    ) -> ChatResult:
        message = self.answer(messages, tool_names)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        tool_names: Sequence[str] = (),
        **kwargs: object,  # noqa: ARG002
    ) -> ChatResult:
        return self._generate(messages, stop, None, tool_names)


def _name(tool: object) -> str:
    if isinstance(tool, dict):
        return str(tool.get("function", tool).get("name"))
    return str(getattr(tool, "name", getattr(tool, "__name__", "")))


_DONE = ("applied", "held", "known", "attached", "prepared")
Data = dict[str, JsonValue]


class OfflineChatModel(AnsweringChatModel):
    """Answer by rules of thumb; the same messages always get the same answer."""

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: object) -> LangSmithParams:
        """Return what traces call it."""
        told = super()._get_ls_params(stop, **kwargs)
        return LangSmithParams(
            **{**told, "ls_provider": "skill_worker", "ls_model_name": "offline"}
        )

    def answer(self, messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
        """Return the next message; the bound tools tell which conversation it is."""
        data = _document(messages)
        if "MatchAnswer" in tools:
            return _said(messages, ("MatchAnswer", offline_match.answer(data)))
        if "HookVerdict" in tools:
            return _said(messages, ("HookVerdict", {"answer": "note", "note": STAND_IN}))
        if "SkillArtifact" in tools:
            return _said(messages, offline_author.answer(data))
        view, answers = completed(_view(data), _talk(data)), _answers(messages)
        return _said(messages, *_allowed(view, data, _steps(view, data, messages, answers)))


def _steps(
    view: rules.View, data: Data, messages: list[BaseMessage], answers: Sequence[Data]
) -> Sequence[rules.Call | str]:
    if not answers and _part(data, "feedback").get("setup") is True:
        return offline_setup.propose(view)
    talk = _talk(data)
    if not answers and (calls := follow_up(view, talk)):
        return [_with_reach(view, talk, call) for call in calls]
    if (more := _more(messages)) is not None:
        return [more]
    corrected = _corrected(messages, answers)
    step = corrected or _next(_timed(view, talk), answers, _asked(messages))
    return [_with_reach(view, talk, step)]


def _allowed(
    view: rules.View, data: Data, steps: Sequence[rules.Call | str]
) -> Sequence[rules.Call | str]:
    """Return the steps less those that the policy denies; if none is left, why."""
    denied = _part(data, "denied")
    left = [step for step in steps if isinstance(step, str) or not _why_denied(step, denied)]
    if left or not steps:
        return left
    why = next(_why_denied(step, denied) for step in steps if not isinstance(step, str))
    return [rules.no_action(view, "unclear", "denied", why)]


def _why_denied(step: rules.Call, denied: Data) -> str:
    tool, args = step
    return str(denied.get(tool) or denied.get(f"{tool} {args.get('operation')}") or "")


def _next(view: rules.View, answers: Sequence[Data], asked: Sequence[Data]) -> rules.Call | str:
    """Return the next step of a run from the last tool answers: a call, or the closing reason.

    `asked` are the arguments of the answered calls.
    """
    if any(answer.get("status") in _DONE for answer in answers):
        return str(asked[-1].get("reason", STAND_IN)) if asked else STAND_IN
    for answer, args in zip(answers, asked, strict=False):
        call = _after(view, answer, args)
        if call is not None:
            return call
    if any(_is_refused_table(answer) for answer in answers):
        return rules.memory(view)
    if answers:
        told = str(answers[0].get("message") or answers[0].get("status") or "a tool failed")
        why = "denied" if answers[0].get("category") == DENIED else "failed"
        return rules.no_action(view, "unclear", why, told)
    return rules.decide(view)


def _is_refused_table(answer: Data) -> bool:
    """Whether a new table was refused for what it says: its text is then learnt as a memory."""
    if answer.get("category") == DENIED:
        return False
    kind = (answer.get("kind"), answer.get("operation"), answer.get("status"))
    return kind == ("DMN_RULE", "CREATE", "refused")


def _after(view: rules.View, answer: Data, args: Data) -> rules.Call | None:
    """Return the call that follows a table that was read, or a refusal beside a known item."""
    table, hits = answer.get("table"), answer.get("hits")
    if isinstance(table, dict):
        return rules.edit_rule(view, str(answer["id"]), table)
    if not isinstance(hits, list) or not hits or answer.get("status") != "refused":
        return None
    kind, item_id = str(answer["kind"]), str(answer["target_id"])
    if kind != "MEMORY":
        return rules.update_instead(view, kind, item_id)
    if answer.get("operation") == "CREATE" or answer.get("category") == "duplicate":
        content, ends = str(args.get("content") or view.text), bool(args.get("valid_until"))
        return offline_neighbours.settle(view, content, hits, ends=ends)
    if item_id == args.get("memory_id"):
        return _beside(view, args, hits[0])
    return rules.no_action(view, "duplicate", "known", f"MEMORY {item_id}")


def _beside(view: rules.View, args: Data, hit: JsonValue) -> rules.Call:
    """Return what follows the refusal of an UPDATE whose item holds for another time or for others.

    What adds to words of the same conversation holds as long as they do.
    """
    end = hit.get("valid_until") if isinstance(hit, dict) else None
    if view.is_answer and end and not args.get("valid_until"):
        return "commit_to_memory", args | {"valid_until": end}
    return offline_neighbours.beside(view, str(args["content"]), str(args["memory_id"]))


def _corrected(messages: Sequence[BaseMessage], answers: Sequence[Data]) -> rules.Call | None:
    """Return a refused rule edit again, now of the row that it clashed with; once per run."""
    calls = [c for m in messages if isinstance(m, AIMessage) for c in m.tool_calls]
    edits = [c["args"] for c in calls if c["args"].get("rule_id") and c["args"].get("rule")]
    read = [_parsed(text).get("table") for _, text in _told(messages)]
    tables = [table for table in read if isinstance(table, dict)]
    if len(edits) != 1 or not tables or not answers or answers[-1].get("status") in _DONE:
        return None
    return rules.correct_rule(edits[0], str(answers[-1].get("message")), tables[-1])


def _document(messages: Sequence[BaseMessage]) -> Data:
    for message in messages:
        if isinstance(message, HumanMessage):
            data = read_fenced_json(message.text)
            if isinstance(data, dict):
                return data
    return {}


def _answers(messages: Sequence[BaseMessage]) -> list[Data]:
    """Return the tool answers to the last turn."""
    last = max((at for at, m in enumerate(messages) if isinstance(m, AIMessage)), default=0)
    return [_parsed(text) for at, text in _told(messages) if at > last]


def _told(messages: Sequence[BaseMessage]) -> Iterator[tuple[int, str]]:
    """Yield the answers of tools and their places; parts of a long one together, with the last."""
    parts: dict[str, str] = {}
    for at, message in enumerate(messages):
        if not isinstance(message, ToolMessage):
            continue
        part = read_part(message.text)
        if part is None:
            yield at, message.text
            continue
        parts[part.handle] = parts.get(part.handle, "") + part.text
        if not part.left:
            yield at, parts.pop(part.handle)


def _more(messages: Sequence[BaseMessage]) -> rules.Call | None:
    """Return the call that reads on in the last answer, if that was cut."""
    part = read_part(messages[-1].text) if isinstance(messages[-1], ToolMessage) else None
    if part is None or not part.left:
        return None
    return "read_more", {"handle": part.handle, "offset": part.end}


def _asked(messages: Sequence[BaseMessage]) -> list[Data]:
    """Return the arguments of the last turn's calls; their reason closes the run."""
    said = [message for message in messages if isinstance(message, AIMessage)]
    return [call["args"] for call in said[-1].tool_calls] if said else []


def _parsed(text: str) -> Data:
    try:
        data: JsonValue = json.loads(text)
    except ValueError:
        return {"message": text}
    return data if isinstance(data, dict) else {"message": text}


def _view(data: Data) -> rules.View:
    candidate, feedback, agent = (_part(data, key) for key in ("candidate", "feedback", "agent"))
    related = data.get("related")
    hits = [hit for hit in related if isinstance(hit, dict)] if isinstance(related, list) else []
    return rules.View(
        text=str(candidate.get("content") or feedback.get("text") or ""),
        task=str(feedback.get("task") or ""),
        related=tuple(_related(hit, str(agent.get("id"))) for hit in hits),
    )


def _talk(data: Data) -> Talk:
    feedback, pieces = _part(data, "feedback"), data.get("conversation")
    author = feedback.get("author")
    return Talk(
        pieces=[one for one in pieces if isinstance(one, dict)] if isinstance(pieces, list) else [],
        said_at=str(feedback.get("said_at") or ""),
        author=author if isinstance(author, str) else None,
        is_missing=feedback.get("answered_missing") is True,
        has_output=feedback.get("output") is not None,
    )


def _timed(view: rules.View, talk: Talk) -> rules.View:
    """Return a view without the words that say until when, if they are the end of a memory."""
    lesson, said = rules.lesson_of(view.text), talk_time(talk)
    text = view.text.replace(lesson, timeless(lesson, said))
    timed = is_timed(lesson, said)
    return replace(view, text=text, said=lesson, is_timed=timed, is_answer=bool(talk.pieces))


def _with_reach(view: rules.View, talk: Talk, step: rules.Call | str) -> rules.Call | str:
    """Return a step that writes with how long and for whom the text says it holds, or leaves open.

    A table or a skill has neither; its reason says that an end was left open.
    """
    if isinstance(step, str) or not step[0].startswith("commit_to_"):
        return step
    tool, args = step
    if args["operation"] == "DELETE":
        return step
    lesson, is_memory = rules.lesson_of(view.text), tool == "commit_to_memory"
    stated = reach_in(lesson, talk_time(talk), talk.author) if is_memory else {}
    args = stated | args
    is_new = is_memory and args["operation"] == "CREATE"
    notes = [noted(view.text, why) for why in left_open(lesson, args, is_new=is_new)]
    return tool, args | {"reason": "; ".join([str(args["reason"]), *notes])}


def _related(hit: Data, agent_id: str) -> rules.Related:
    return rules.Related(
        id=str(hit["id"]),
        kind=str(hit["kind"]),
        name=str(hit["name"]),
        excerpt=str(hit["excerpt"]),
        is_own=hit["kind"] == "SKILL" or hit.get("agent_id") in {None, agent_id},
        on_agent=hit.get("on_agent") is True,
    )


def _part(data: Data, key: str) -> Data:
    part = data.get(key)
    return part if isinstance(part, dict) else {}


def _said(messages: Sequence[BaseMessage], *steps: rules.Call | str) -> AIMessage:
    read = sum(len(message.text) for message in messages) // 4 + 1
    turn = sum(isinstance(message, AIMessage) for message in messages) + 1
    text = "".join(step for step in steps if isinstance(step, str))
    calls = [
        ToolCall(name=step[0], args=step[1], id=f"offline-{turn}-{index}", type="tool_call")
        for index, step in enumerate(steps)
        if not isinstance(step, str)
    ]
    written = len(text) + sum(len(compact(call["args"])) for call in calls)
    return AIMessage(text, tool_calls=calls, usage_metadata=_usage(read, written))


def _usage(read: int, written: int) -> UsageMetadata:
    out = written // 4 + 1
    return UsageMetadata(input_tokens=read, output_tokens=out, total_tokens=read + out)
