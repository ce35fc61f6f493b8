"""What is taught in the chaos suite: each task is feedback, the model's part and the right end."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.models import Kind, NewFeedback, Operation

Json = dict[str, object]
Calls = list[tuple[str, Json]]

_MARK = re.compile(r"\[chaos ([a-z]+) ([a-z0-9-]+) ([a-z0-9-]+)\]")
_BLOCK = re.compile(r"```json\n(.*?)\n```", re.DOTALL)
_READS = {"search_similar_knowledge", "get_knowledge_detail"}
# What is taught differs in little more than its key.
_NEW: Json = {"operation": "CREATE", "relationship": "UNRELATED", "reason": "다른 고객의 일이다"}
_GARBLED = "not valid JSON"  # the answer to a call whose arguments were garbage
BASE = "base"  # the existing skill that `update` and `attach` work on
CREATES = {
    "memory": Kind.MEMORY,
    "rule": Kind.DMN_RULE,
    "skill": Kind.SKILL,
    "pair": Kind.SKILL,
}
# The model calls that each kind needs if nothing goes wrong.
CALLS = {
    "memory": 3,
    "rule": 4,
    "skill": 4,
    "update": 4,
    "agents": 7,
    "attach": 3,
    "nothing": 2,
    "pair": 6,
}
KINDS = ("memory", "rule", "skill", "update", "agents", "attach", "nothing")


@dataclass(frozen=True)
class Task:
    """One piece of feedback: its kind, its unique key, its tenant and what it works on."""

    kind: str
    key: str
    tenant: str
    target: str = BASE

    @property
    def agent_ids(self) -> tuple[str, ...]:
        """One agent, or two if the matcher has to ask the model."""
        names = ("a", "b") if self.kind == "agents" else ("a",)
        return tuple(f"{self.tenant}-{name}" for name in names)

    def feedback(self) -> NewFeedback:
        """Return the piece as the inbox takes it."""
        mark = f"[chaos {self.kind} {self.key} {self.target}]"
        return NewFeedback(
            id=self.key,
            tenant_id=self.tenant,
            agent_ids=self.agent_ids,
            task="chaos",
            content=f"{mark} 고객 {self.key}번은 금액을 소수점 없이 원화로 받기를 원합니다.",
        )

    @property
    def status(self) -> str:
        """The status in which the piece has to end."""
        return "no_action" if self.kind == "nothing" else "completed"

    @property
    def changes(self) -> tuple[tuple[Kind, Operation], ...]:
        """The changes that have to be applied for it, and no others.

        Of a `pair`, which teach one new skill concurrently, the second has an UPDATE.
        """
        if self.kind == "nothing":
            return ()
        if self.kind == "agents":
            return ((Kind.MEMORY, Operation.CREATE),) * 2
        if self.kind == "attach":
            return ((Kind.AGENT_SKILLS, Operation.UPDATE),)
        if self.kind == "update":
            return ((Kind.SKILL, Operation.UPDATE),)
        return ((CREATES[self.kind], Operation.CREATE),)


def mixed(count: int, prefix: str) -> list[Task]:
    """Return tasks of all kinds, ten per tenant: they share an agent, and some of them a skill."""
    kinds = ("memory", "update", "rule", "pair", "agents", "update", "skill", "pair", "nothing")
    tasks = []
    for number in range(count):
        tenant, place = f"{prefix}{number // 10}", number % 10
        if place == len(kinds):
            tasks.append(Task("attach", f"{prefix}-{number}", f"{tenant}x"))
            continue
        target = f"pair-{tenant}" if kinds[place] == "pair" else BASE
        tasks.append(Task(kinds[place], f"{prefix}-{number}", tenant, target))
    return tasks


def key_of(text: str) -> str:
    """Return the key of the feedback that a request to the model is about, or ""."""
    found = _MARK.search(text)
    return found.group(2) if found else ""


def answer(asked: Json) -> Calls:
    """Return the model's answer: tool calls, or none if it ends in prose."""
    messages = asked["messages"]
    assert isinstance(messages, list)
    kind, key, target = _marked(messages)
    tools = _tool_names(asked)
    if "MatchAnswer" in tools:
        return [("MatchAnswer", _match(messages))]
    if "SkillEdits" in tools:
        return [("SkillEdits", _edits(key))]
    if "SkillArtifact" in tools:
        return [("SkillArtifact", _artifact(key, target, kind))]
    return _react(kind, key, target, messages)


def _marked(messages: Sequence[Json]) -> tuple[str, str, str]:
    found = _MARK.search(" ".join(str(message["content"]) for message in messages))
    if found is None:
        return "nothing", "probe", BASE
    return found.group(1), found.group(2), found.group(3)


def _tool_names(asked: Json) -> set[str]:
    tools = asked.get("tools") or []
    assert isinstance(tools, list)
    return {tool["function"]["name"] for tool in tools}


def _react(kind: str, key: str, target: str, messages: Sequence[Json]) -> Calls:
    called = _answered_calls(messages)
    if not called:
        return [("search_similar_knowledge", {"content": key})]
    if kind == "rule" and called[-1] == "search_similar_knowledge":
        return [("get_knowledge_detail", {"knowledge_type": "DMN_RULE", "knowledge_id": "none"})]
    if called[-1] in _READS:
        return [_commit(kind, key, target)]
    said = (str(message["content"]) for message in messages if message["role"] == "tool")
    told = [text for text in said if _GARBLED not in text]
    if kind == "pair" and "exists" in told[-1]:
        return [_skill("UPDATE", target)]
    return []


def _answered_calls(messages: Sequence[Json]) -> list[str]:
    """Return the names of the well-formed calls, in order; they tell the model its turn."""
    answers = {str(m["tool_call_id"]): str(m["content"]) for m in messages if m["role"] == "tool"}
    calls = [call for m in messages for call in m.get("tool_calls") or []]  # type: ignore[attr-defined]
    return [
        call["function"]["name"]
        for call in calls
        if _GARBLED not in answers.get(call["id"], _GARBLED)
    ]


def _commit(kind: str, key: str, target: str) -> tuple[str, Json]:
    if kind == "nothing":
        return "no_action", {"reason": "감사 인사입니다", "category": "noise"}
    if kind == "rule":
        return "commit_to_dmn_rule", _rule(key)
    if kind == "skill":
        return _skill("CREATE", f"skill-{key}")
    if kind == "pair":
        return _skill("CREATE", target)
    if kind == "update":
        return _skill("UPDATE", target)
    if kind == "attach":
        return "attach_skills_to_agent", {"skill_ids": target, "reason": "그대로 맞습니다"}
    content = f"고객 {key}번은 금액을 소수점 없이 원화로 받는다"
    unsaid = {"check": "unsaid", "text": "달러"}
    return "commit_to_memory", {"content": content, "cases": [unsaid], **_NEW}


def _skill(operation: str, name: str) -> tuple[str, Json]:
    return "commit_to_skill", {**_NEW, "operation": operation, "skill_id": name}


def _rule(key: str) -> Json:
    return {
        **_NEW,
        "rule": {
            "name": f"담당 {key}",
            "inputs": [{"name": "amount", "type": "number"}],
            "outputs": [{"name": "approver", "type": "string"}],
            "rows": [{"inputs": {"amount": "> 1000000"}, "outputs": {"approver": '"manager"'}}],
        },
    }


def _artifact(key: str, target: str, kind: str) -> Json:
    return {
        "name": target if kind == "pair" else f"skill-{key}",
        "description": f"Reconciles partial refunds of customer {key}. Use it for refunds.",
        "body_markdown": f"# 환불\n\n## 단계\n\n1. {key}의 환불을 확인한다.\n",
        "additional_files": {
            f"references/{key}.md": _reference(key),
            f"scripts/{key}.py": f'"""Say {key}."""\n\nprint("{key}")\n',
        },
    }


def _edits(key: str) -> Json:
    """Return edits of three files, so that the skill can be found half-written."""
    return {
        "edits": [
            {"op": "insert_section", "text": f"\n## 고객 {key}\n\n원화로 적는다.\n"},
            {"op": "put_file", "path": f"references/{key}.md", "text": _reference(key)},
            {"op": "put_file", "path": "references/last.md", "text": f"# Last\n\n{key}\n"},
        ]
    }


def _reference(key: str) -> str:
    return f"# 참고 {key}\n\n환불 금액은 소수점 없이 원화로 적고, 담당자가 확인한다.\n"


def _match(messages: Sequence[Json]) -> Json:
    """Assign the whole feedback to each agent."""
    text = str(messages[1]["content"])
    found = _BLOCK.search(text)
    assert found is not None
    data = json.loads(found.group(1))
    said = data["feedback"]["text"]
    return {"agents": [{"agent_id": agent["id"], "content": said} for agent in data["agents"]]}
