"""The offline model's rules of thumb: the tool call for one candidate.

The first rule that applies decides; specific cues come before general ones, since a text about
steps often has amounts and conditions too:

1. "just this once", "이번 건만": `no_action` one_off
2. no lesson but praise, small talk, "try again", a passing error, another's task: noise
3. no lesson but questions, guesses, complaints, a few letters, "뭔가 이상한데": unclear
4. "no longer", "더 이상", "폐지": DELETE of the first related item that has what is named; if none
   has and a deletion is asked for: unclear. Deleting files and the like is work, no DELETE
5. a skill says it already: `attach_skills_to_agent`, or `no_action` duplicate if on the list
6. a memory or rule says it already: `no_action` duplicate
7. an order of steps ("먼저 … 다음", "first … then", 1. 2.): SKILL
8. a condition with an amount, unless a memory says nearly this: DMN_RULE
9. other words of procedure ("절차", "how to"), or a skill named: SKILL
10. if … then, unless a memory says nearly this: DMN_RULE
11. a similar memory and a word of change ("이제", "instead"): UPDATE of it
12. a rule says nearly this: `no_action` duplicate
13. else a new MEMORY; see `neighbours` for one refused beside a near one

A SKILL or DMN_RULE is an UPDATE if a similar one is related, else a CREATE.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import JsonValue

from core.agent.offline.edits import edited_table, instead_of, mode_of
from core.agent.offline.noise import lesson_of, nothing_in
from core.agent.offline.reasons import REASONS, STAND_IN
from core.agent.offline.tables import Row, new_table, rows_of
from core.agent.offline.text import (
    Cue,
    clauses,
    english_name,
    has,
    is_korean,
    letters,
    likeness,
    says_the_same,
)
from core.agent.offline.withdrawals import asks_to_delete, deletes_as_work, is_about
from core.knowledge.duplicates import Known, evidence

LIKE = 0.35  # share of common letter pairs from which texts count as similar
Call = tuple[str, dict[str, JsonValue]]


@dataclass(frozen=True)
class Related:
    """A hit as shown in the first message."""

    id: str
    kind: str
    name: str
    excerpt: str
    is_own: bool
    on_agent: bool

    def like(self, text: str) -> float:
        """Return the similarity of a text to the item, by excerpt or name, 0 to 1."""
        return max(likeness(text, self.excerpt), likeness(text, self.name) if self.name else 0.0)


@dataclass(frozen=True)
class View:
    """The input of the rules: the candidate's text, its task, and the related items."""

    text: str
    task: str
    related: tuple[Related, ...]

    def best(self, *kinds: str, at_least: float = LIKE) -> Related | None:
        """Return the related item of these kinds most similar to the text, if similar enough."""
        usable = [hit for hit in self.related if hit.kind in kinds and hit.is_own]
        best = max(usable, key=lambda hit: hit.like(self.text), default=None)
        return best if best is not None and best.like(self.text) >= at_least else None

    def beside(self, kind: str, *, same_values: bool = False) -> Related | None:
        """Return the agent's own item of a kind that says nearly the same as the text."""
        for hit in self.related:
            found = evidence(self.text, Known(hit.id, hit.name, hit.excerpt))
            is_other = any(d.what == "number" and d.new for d in found.differs)
            is_near = found.is_exact or found.is_near
            if hit.kind == kind and hit.is_own and is_near and not (same_values and is_other):
                return hit
        return None


def decide(view: View) -> Call:
    """Return the call of the first rule that applies."""
    nothing = _nothing(view)
    view = replace(view, text=lesson_of(view.text))
    return (
        nothing
        or _deleted(view)
        or _known(view)
        or _procedure(view, Cue.SEQUENCE)
        or _rule(view, number=True)
        or _procedure(view, Cue.PROCEDURE)
        or _rule(view, number=False)
        or _memory(view)
    )


def _nothing(view: View) -> Call | None:
    found = nothing_in(view.text)
    return no_action(view, *found) if found else None


def _deleted(view: View) -> Call | None:
    asked = asks_to_delete(view.text)
    is_work = has(view.text, Cue.SEQUENCE) or deletes_as_work(view.text)
    if not asked and (is_work or not has(view.text, Cue.DELETE)):
        return None
    kinds = {"SKILL"} if has(view.text, Cue.SKILL) else {"MEMORY", "DMN_RULE", "SKILL"}
    near = (hit for hit in view.related if hit.kind in kinds and hit.is_own)
    hit = next((hit for hit in near if is_about(view.text, hit)), None)
    if hit is not None:
        return _on(hit, "DELETE", reason(view, "withdrawn"))
    return no_action(view, "unclear", "nowhere") if asked else None


def _known(view: View) -> Call | None:
    skill = view.best("SKILL")
    names_it = skill is not None and has(view.text, Cue.EXISTING) and has(view.text, Cue.SKILL)
    if skill is not None and (names_it or skill.like(view.text) >= 0.75):
        if not skill.on_agent:
            why = reason(view, "attach")
            return "attach_skills_to_agent", {"skill_ids": skill.id, "reason": why}
        if not has(view.text, Cue.CHANGE):
            return no_action(view, "duplicate", "known", f"SKILL {skill.id}")
    for hit in view.related:
        if hit.is_own and hit.kind != "SKILL" and says_the_same(view.text, hit.excerpt):
            return no_action(view, "duplicate", "known", f"{hit.kind} {hit.id}")
    return None


def _procedure(view: View, cue: Cue) -> Call | None:
    if not has(view.text, cue) and not (cue is Cue.PROCEDURE and has(view.text, Cue.SKILL)):
        return None
    skill = view.best("SKILL", at_least=0.25 if has(view.text, Cue.ADD) else LIKE)
    if skill is not None:
        why = reason(view, "near_skill", skill.id)
        return _on(skill, "UPDATE", why, merge_mode="EXTEND", relationship="EXTENDS")
    name = english_name([*clauses(view.text), view.task], view.text)
    why = reason(view, "new_skill")
    return "commit_to_skill", {"operation": "CREATE", "skill_id": name, "reason": why}


def _rule(view: View, *, number: bool) -> Call | None:
    rows = [row for row in rows_of(view.text) if row.is_number is number]
    if not rows or view.beside("MEMORY"):
        return None
    hit = _same_subject(view, rows[0])
    if hit is not None:
        return "get_knowledge_detail", {"knowledge_type": "DMN_RULE", "knowledge_id": hit.id}
    why = reason(view, "new_rule")
    return "commit_to_dmn_rule", {"operation": "CREATE", "rule": new_table(rows), "reason": why}


def _same_subject(view: View, row: Row) -> Related | None:
    if not row.is_number:
        return view.best("DMN_RULE", at_least=0.5)
    subject = letters(row.subject)
    for hit in view.related:
        if hit.kind == "DMN_RULE" and hit.is_own and subject in letters(hit.name + hit.excerpt):
            return hit
    return None


def edit_rule(view: View, rule_id: str, table: dict[str, JsonValue]) -> Call:
    """Return the UPDATE of a rule whose table was read."""
    edits = edited_table(rows_of(view.text), table, view.text)
    why = reason(view, "near_rule", rule_id)
    args: dict[str, JsonValue] = {"operation": "UPDATE", "rule_id": rule_id, "rule": edits}
    return "commit_to_dmn_rule", args | mode_of(edits) | {"reason": why}


def correct_rule(args: dict[str, JsonValue], told: str, table: dict[str, JsonValue]) -> Call | None:
    """Return a refused UPDATE again, changing the row that the added one clashed with."""
    edits = instead_of(args.get("rule"), told, table)
    return ("commit_to_dmn_rule", args | {"rule": edits} | mode_of(edits)) if edits else None


def _memory(view: View) -> Call:
    rule = view.beside("DMN_RULE", same_values=True)
    if rule is not None:
        return no_action(view, "duplicate", "known", f"DMN_RULE {rule.id}")
    hit = view.best("MEMORY") if has(view.text, Cue.CHANGE) else None
    if hit is not None:
        why = reason(view, "near_memory", hit.id)
        more = {"merge_mode": "REPLACE", "relationship": "SUPERSEDES"}
        return _on(hit, "UPDATE", why, content=view.text.strip(), **more)
    why = reason(view, "new_memory")
    args: dict[str, JsonValue] = {"operation": "CREATE", "content": view.text.strip()}
    return "commit_to_memory", args | {"reason": why}


def update_instead(view: View, kind: str, item_id: str) -> Call:
    """Return the UPDATE of an item that a CREATE was refused for."""
    if kind == "DMN_RULE":
        return "get_knowledge_detail", {"knowledge_type": kind, "knowledge_id": item_id}
    hit = Related(item_id, kind, item_id, "", is_own=True, on_agent=True)
    extra: dict[str, JsonValue] = {"content": view.text.strip()} if kind == "MEMORY" else {}
    return _on(hit, "UPDATE", reason(view, "taken", item_id), merge_mode="EXTEND", **extra)


def no_action(view: View, category: str, why: str, about: str = "") -> Call:
    """End the run with nothing learnt."""
    return "no_action", {"category": category, "reason": reason(view, why, about)}


def reason(view: View, why: str, about: str = "") -> str:
    """Return the reason in the user's language, marked as that of the stand-in."""
    text = REASONS[why][1 if is_korean(view.text) else 0]
    return f"[{STAND_IN}] {text}" + (f" ({about})" if about else "")


_TOOLS = {
    "MEMORY": ("commit_to_memory", "memory_id"),
    "DMN_RULE": ("commit_to_dmn_rule", "rule_id"),
    "SKILL": ("commit_to_skill", "skill_id"),
}


def _on(hit: Related, operation: str, why: str, **more: JsonValue) -> Call:
    tool, argument = _TOOLS[hit.kind]
    return tool, {"operation": operation, argument: hit.id, "reason": why, **more}
