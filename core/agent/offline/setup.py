"""What the offline model proposes from an agent's goal and persona, sentence by sentence.

Each sentence or list is judged separately, by the rules for feedback: an order of steps is a
SKILL, a condition with an outcome a DMN_RULE, a wish or a duty a MEMORY. Statements of the agent's
purpose are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from core.agent.offline import rules
from core.agent.offline.text import Cue, clauses, has

_LABEL = re.compile(r"^\[[^\]\n]+\]$", re.MULTILINE)
_LIST = re.compile(
    r"(?:^|\s)1[.)]\s+\S(?:[^\n]|\n(?=\s*\d{1,2}[.)]\s))*"
    r"(?:\n[ \t]*\d{1,2}[.)]\s+[^\n]+|[ \t]\d{1,2}[.)]\s+[^\n]+?(?:(?<=[.!?])(?=\s)|(?=\n)|$))"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_FIRST = re.compile(r"^(?:먼저|우선|1단계)|^first\b|^step 1\b", re.IGNORECASE)
_LAST = re.compile(
    r"^(?:그리고|그\s?다음|다음|이후|마지막|그\s?후|[2-9]단계)|^(?:then|next|finally|step \d)\b",
    re.IGNORECASE,
)
_LEARNS = {"commit_to_memory", "commit_to_dmn_rule", "commit_to_skill"}


def propose(view: rules.View) -> list[rules.Call]:
    """Return the calls that record what goal and persona state, or a `no_action`."""
    calls = [call for piece in _pieces(view.text) if (call := _proposed(view, piece))]
    return calls or [rules.no_action(view, "unclear", "aimless")]


def _proposed(view: rules.View, piece: str) -> rules.Call | None:
    tool, args = rules.decide(replace(view, text=piece))
    if tool not in _LEARNS or args["operation"] != "CREATE":
        return None
    if tool == "commit_to_memory" and not (has(piece, Cue.LESSON) or has(piece, Cue.WISH)):
        return None
    return tool, args | ({"relationship_analysis": piece} if tool == "commit_to_skill" else {})


def _pieces(text: str) -> Iterator[str]:
    """Yield the statements without section labels; steps over several sentences stay whole."""
    _, *sections = _LABEL.split(text)
    for section in sections:
        for paragraph in re.split(r"\n\s*\n", section):
            yield from _split(paragraph)


def _split(paragraph: str) -> Iterator[str]:
    """Yield a numbered list with the words that announce it, and the sentences around it."""
    found = _LIST.search(paragraph)
    if found is None:
        yield from _told(clauses(paragraph))
        return
    *before, lead = _SENTENCE.split(paragraph[: found.start()].rstrip()) or [""]
    announces = lead.rstrip().endswith((":", "：")) or has(lead, Cue.PROCEDURE)
    yield from _told(clauses("\n".join(before if announces else [*before, lead])))
    yield f"{lead if announces else ''} {found[0].strip()}".strip()
    yield from _split(paragraph[found.end() :])


def _told(parts: list[str]) -> Iterator[str]:
    """Yield sentences one by one, but those from a first step to a last one together."""
    begins = next((n for n, part in enumerate(parts) if _FIRST.search(part)), len(parts))
    ends = max((n for n, part in enumerate(parts) if _LAST.search(part)), default=-1)
    if begins < ends:
        yield from parts[:begins]
        yield " ".join(parts[begins : ends + 1])
        yield from parts[ends + 1 :]
    else:
        yield from parts
