"""The skill author: a chat model that turns feedback into a skill artifact or edits."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import JsonValue

from core.agent.budgets import Meter
from core.agent.model.chat_model import ask_structured, parse_structured, prompt
from core.domain.errors import ArtifactInvalid
from core.domain.models import SKILL_MD, AuthorRequest, Bundle, SkillArtifact, SkillEdits, Usage
from core.domain.ports import CircuitBreaker, Replies, Runs
from core.domain.tasks import aside
from core.domain.text import fair_shares, fenced_json, shorten
from core.skills.document.markdown import has_too_many_lines, headings

# In characters: more than a good skill has, and within the context of current models.
DOCUMENT_CHARS = 120_000
FILE_CHARS = 20_000
ALL_CHARS = 240_000
_HEADINGS = 200
_HEADING_CHARS = 120


def shown_files(bundle: Bundle) -> dict[str, JsonValue]:
    """Return a skill's files by path: text, or the beginning and headings of a long one.

    A binary file is shown as its size in bytes. The model must not edit text it was not shown;
    with the headings it can still insert under them.
    """
    texts = {
        path: text for path in sorted(bundle.files) if (text := _text(bundle, path)) is not None
    }
    order = sorted(texts, key=lambda path: path != SKILL_MD)
    rooms = [_most(path, texts[path]) for path in order]
    document = rooms[0] if order[:1] == [SKILL_MD] else 0
    others = rooms[1:] if document else rooms
    shares = fair_shares(others, ALL_CHARS - document)
    room = dict(zip(order, [document, *shares] if document else shares, strict=True))
    return {
        path: _shown(texts[path], room[path])
        if path in texts
        else {"binary": True, "bytes": len(bundle.files[path].data)}
        for path in sorted(bundle.files)
    }


def _text(bundle: Bundle, path: str) -> str | None:
    try:
        return bundle.files[path].data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _most(path: str, text: str) -> int:
    return min(len(text), DOCUMENT_CHARS if path == SKILL_MD else FILE_CHARS)


def _shown(text: str, room: int) -> JsonValue:
    if len(text) <= room:
        return text
    known = [] if has_too_many_lines(text) else headings(text)
    found = [shorten(heading.text, _HEADING_CHARS) for heading in known]
    return {
        "cut": True,
        "characters": len(text),
        "begins": text[:room],
        "headings": [*found[:_HEADINGS]],
    }


class SkillAuthorModel:
    """A chat model as the skill author (port `SkillAuthor`)."""

    def __init__(
        self,
        model: BaseChatModel,
        breaker: CircuitBreaker,
        replies: Replies,
        runs: Runs,
        meter: Meter | None = None,
        *,
        keeps_raw: bool = False,
    ) -> None:
        self._keeps_raw = keeps_raw
        self._meter = meter or Meter()
        self._model = model
        self._breaker = breaker
        self._replies = replies
        self._runs = runs

    async def write(
        self, request: AuthorRequest, *, key: str, ordinal: int, problems: Sequence[str]
    ) -> SkillArtifact | SkillEdits:
        """Write or edit one skill; see `core.domain.ports.SkillAuthor`.

        Raises ModelDown and the permanent kinds, and LeaseLost if the request's fence is stale.
        """
        raw = await self._reply(request, key, ordinal, problems)
        answer, problem = _read(raw, request)
        if answer is None:
            raise ArtifactInvalid([problem])
        return answer

    async def _reply(
        self, request: AuthorRequest, key: str, ordinal: int, problems: Sequence[str]
    ) -> JsonValue:
        """Return the stored reply, or ask and store it before anything acts on it."""
        stored = await self._replies.get(key, ordinal)
        if stored is not None:
            return stored[0]
        # From the store, so that a resumed attempt asks exactly what the first one asked.
        last = await self._replies.get(key, ordinal - 1) if problems else None
        size = request.existing.size if request.existing else 0
        messages = await aside(size, _question, request, problems, last[0] if last else None)
        if request.fence is not None:
            await self._runs.check(request.fence)
        tenant_id = request.tenant_id
        async with self._meter.budgets.call(tenant_id, key):
            async with self._breaker.call():
                raw, usage = await self._ask(messages, is_new=request.existing is None)
            await self._replies.put(key, ordinal, raw, usage, tenant_id=tenant_id)
        return raw

    async def _ask(self, messages: list[BaseMessage], *, is_new: bool) -> tuple[JsonValue, Usage]:
        price, keeps_raw = self._meter.price, self._keeps_raw
        if is_new:
            created = await ask_structured(
                self._model, messages, SkillArtifact, price=price, keeps_raw=keeps_raw
            )
            return created.raw, created.usage
        edited = await ask_structured(
            self._model, messages, SkillEdits, SkillArtifact, price=price, keeps_raw=keeps_raw
        )
        return edited.raw, edited.usage


def _read(raw: JsonValue, request: AuthorRequest) -> tuple[SkillArtifact | SkillEdits | None, str]:
    if request.existing is None:
        return parse_structured(raw, SkillArtifact)
    edited: tuple[SkillArtifact | SkillEdits | None, str]
    edited = parse_structured(raw, SkillEdits, SkillArtifact)  # type: ignore[assignment]
    return edited


def _question(
    request: AuthorRequest, problems: Sequence[str], last: JsonValue
) -> list[BaseMessage]:
    data: dict[str, JsonValue] = {
        "operation": request.operation,
        "skill_name": request.skill_name,
        "feedback": request.feedback_content,
        "candidate": request.candidate_content,
        "merge_mode": request.merge_mode,
        "relationship_analysis": request.relationship_analysis,
    }
    if request.existing is not None:
        data["existing"] = shown_files(request.existing)
    if problems:
        data |= {"last_answer": last, "problems": [*problems]}
    text = fenced_json(data) + _related(request)
    return [SystemMessage(prompt("skill_author")), HumanMessage(text)]


def _related(request: AuthorRequest) -> str:
    """Return the related skills under the heading that the author's guide refers to."""
    if not request.related and not request.related_unknown:
        return ""
    skills: list[JsonValue] = [
        skill.model_dump(mode="json", exclude_defaults=True) for skill in request.related
    ]
    skills += [{"not_shown": reason} for reason in request.related_unknown]
    return f"\n\n[관련 스킬 참고]\n{fenced_json(skills)}"
