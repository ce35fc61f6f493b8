"""Put a prepared change in its place among what was said later about the same target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.changes.merging import overriding
from core.changes.problems import problem
from core.changes.said_order.folders import LaterFiles, settled_folder
from core.changes.said_order.tables import LaterRows, settled_table, stated
from core.changes.said_order.texts import Later, plain, settled
from core.changes.steps import Step, StoredStates, is_whole, read_steps, to_snapshot
from core.changes.three_way_merge import State, units
from core.decision_table import parse_xml
from core.domain.errors import RuleInvalid
from core.domain.hashing import content_hash, memory_name, name_key, sha256, state_hash
from core.domain.messages import Message
from core.domain.models import (
    Change,
    Kind,
    LaterWord,
    Operation,
    Relationship,
    RuleRequest,
)
from core.domain.ports import ChangeLog, Steps
from core.knowledge.duplicates import Known, evidence

Blobs = Mapping[str, bytes]
# All that was said before it is gone: of a deletion that later words overtook as a whole, and of
# what was to stand in the place of all and was there already.
GONE = ("gone",)


@dataclass(frozen=True)
class Settled:
    """A change with as much of it as stands, and the files behind it.

    `overtaken_by` is the last that was said later where some of it does not stand; if `is_whole`,
    nothing does.
    """

    change: Change
    blobs: Blobs
    overtaken_by: LaterWord | None = None
    is_whole: bool = False


async def settle(
    change: Change, blobs: Blobs, words: Sequence[LaterWord], steps: Steps, changes: ChangeLog
) -> Settled:
    """Return what of a prepared change stands beside the words said later. Raises NotFound."""
    own = [word for word in words if word.target_id == change.target_id]
    gone = next((word for word in reversed(words) if _was_about_it(change, word)), None)
    if gone is not None or (own and change.operation is Operation.CREATE):
        # A later word has deleted or replaced what this one would bring back.
        return Settled(change, blobs, gone or own[-1], is_whole=True)
    if not own:
        return Settled(change, blobs)
    stored = StoredStates(changes, blobs)
    before, after = await stored.read(change.before), await stored.read(change.after)
    assert before is not None
    chain = await read_steps(
        await steps.chain(change.kind, change.tenant_id, change.target_id), changes
    )
    found = _made(change.kind, before, after, _History(chain, own))
    if found is None or found.state == before:
        return Settled(change, blobs, own[-1], is_whole=True)
    if found.state == after:
        return Settled(change, blobs)
    if found.state is None or problem(change.kind, found.state, before):
        return Settled(change, blobs, own[-1], is_whole=True)
    return _with(change, blobs, found.state, found.left, own[-1])


def _was_about_it(change: Change, word: LaterWord) -> bool:
    """Whether what a later word did away with elsewhere was about what a change sets."""
    if word.gone is None:
        return False
    if change.kind is Kind.DMN_RULE:
        return name_key(word.gone.name) == name_key(change.target_name)
    if change.after is None:
        return False
    was = change.before.content if change.before else ""
    said = _added(was, change.after.content)
    found = evidence(said, Known(word.target_id, "", word.gone.content))
    # What is taken back is as if it had not been said: it says nothing of its neighbours.
    is_unrelated = word.is_undoing or change.relationship is Relationship.UNRELATED
    return found.is_exact or (found.is_neighbour and not is_unrelated)


def _added(before: str, after: str) -> str:
    """Return the lines of a text that another does not have."""
    known = before.splitlines()
    return "\n".join(line for line in after.splitlines() if line not in known)


@dataclass(frozen=True)
class _History:
    """The steps of a target, and which of what was said about it is later."""

    steps: Sequence[Step]
    words: Sequence[LaterWord]

    def is_later(self, step: Step) -> bool:
        return step.is_ours and step.change.id in {word.change_id for word in self.words}

    @property
    def repeats(self) -> Sequence[LaterWord]:
        return [word for word in self.words if word.change_id is None]

    def repeated(self, word: LaterWord) -> str | None:
        """Return the text that a word repeated as a whole; what came after it is not its own."""
        if word.units is not None:
            return None
        for step in self.steps:
            if step.after and step.is_ours and state_hash(step.change.after) == word.says:
                return step.after.text
        return None

    @property
    def replaces_all(self) -> bool:
        """Whether a later word deleted the target or put something else in its whole place.

        A deletion too of which words said later still left some, or all.
        """
        later = filter(self.is_later, self.steps)
        return any(
            _says_all(step) if step.before is None else is_whole(step) or step.change.is_deletion
            for step in later
        ) or any(GONE in (word.units or ()) for word in self.repeats)


_ADDS = {Relationship.EXTENDS, Relationship.EXCEPTION, Relationship.COMPLEMENTS}


def _says_all(step: Step) -> bool:
    """Whether a new memory was said to stand in the place of whatever there was."""
    is_memory = step.change.kind is Kind.MEMORY
    return is_memory and step.change.relationship is Relationship.SUPERSEDES


def _has_room_before(step: Step, said: str) -> bool:
    """Whether a new memory was said to add to others, and leaves room for an earlier whole text."""
    if step.before is not None or step.after is None:
        return False
    return step.change.relationship in _ADDS and not any(overriding(said, step.after.text))


@dataclass(frozen=True)
class _Made:
    """What becomes of the present state (None: it is deleted), and what stays of it as it is."""

    state: State | None
    left: Sequence[str] = ()


def _made(kind: Kind, before: State, after: State | None, history: _History) -> _Made | None:
    """Return what as much of a change as stands makes of a state, None if nothing of it does."""
    if history.replaces_all or not kind.is_built_in:
        return None  # what a package adds stands as a whole, or not at all
    if kind is Kind.DMN_RULE:
        return _table(before, after, history)
    if kind is Kind.SKILL:
        return _folder(before, after, history)
    if kind is Kind.AGENT_SKILLS:
        return _names(before, after, history)
    return _memory(before, after, history)


def _memory(before: State, after: State | None, history: _History) -> _Made:
    later = Later()
    for step in history.steps:
        later.follow(
            _units(step.before), _units(step.after), plain, is_later=history.is_later(step)
        )
        if _has_room_before(step, _added(before.text, after.text if after else "")):
            later.rewritten.clear()
    if any(word.units is None for word in history.repeats):
        later.rewritten.add("")
    later.replaced.clear()  # one that changed the only line has still left room beside it
    lines, left = settled(_units(before), _units(after), later, plain)
    text = "".join(lines).removesuffix("\n")
    reach = before.reach if after is None or _sets_reach(history) else after.reach
    made = replace(before, text=text, name=memory_name(text), reach=reach)
    return _Made(made if text else None, left)


def _sets_reach(history: _History) -> bool:
    """Whether a later step said how long or for whom the memory holds."""
    return any(
        step.before and step.after and step.before.reach != step.after.reach
        for step in filter(history.is_later, history.steps)
    )


def _units(state: State | None) -> Sequence[str]:
    return [] if state is None else units(Kind.MEMORY, state.text)


def _names(before: State, after: State | None, history: _History) -> _Made:
    changed: set[str] = set()
    for step in filter(history.is_later, history.steps):
        changed |= _listed(step.before) ^ _listed(step.after)
    old, new = _listed(before), _listed(after)
    made = old ^ ((old ^ new) - changed)
    return _Made(replace(before, text="\n".join(sorted(made))), sorted((old ^ new) & changed))


def _listed(state: State | None) -> set[str]:
    return set(state.text.splitlines()) if state else set()


def _table(before: State, after: State | None, history: _History) -> _Made | None:
    later = LaterRows()
    try:
        for step in filter(history.is_later, history.steps):
            later.follow(_text(step.before), _text(step.after))
        for word in history.repeats:
            later.states(history.repeated(word) or before.text, word.units)
        if after is None and not later.has_set_a_row(before.text):
            return _Made(None)
        text, left = settled_table(before.text, _text(after), later)
        return _Made(replace(before, text=text, name=parse_xml(text).name), left)
    except RuleInvalid:
        return None


def _text(state: State | None) -> str | None:
    return None if state is None else state.text


def _folder(before: State, after: State | None, history: _History) -> _Made | None:
    if after is None:
        return None  # without the rest, what was said later would make no skill
    later = LaterFiles()
    for step in history.steps:
        later.follow(step, is_later=history.is_later(step))
    return _Made(*settled_folder(before, after, later))


def _with(
    change: Change, blobs: Blobs, made: State, left: Sequence[str], word: LaterWord
) -> Settled:
    """Return the change to the state made; its warnings say what was left as it is."""
    after, folder = to_snapshot(made)
    warning = Message(
        "order.part_not_set",
        parts=", ".join(filter(None, left)) or change.target_name,
        **named(word),
    )
    update = {
        "after": after,
        "operation": Operation.UPDATE,
        "target_name": after.name,
        "warnings": (*change.warnings, *([warning] if left else ())),
    }
    settled_change = change.model_copy(update=update)
    return Settled(
        settled_change.model_copy(update={"content_hash": content_hash(settled_change)}),
        {**blobs, **{sha256(file.data): file.data for file in (folder or {}).values()}},
        word,
    )


def repeated_parts(change: Change) -> Sequence[Sequence[str]]:
    """Return the parts of its target that a change without effect states; of tables only."""
    if isinstance(change.request, RuleRequest) and change.after is not None:
        return stated(change.request, change.after.content)
    return ()


def states_every_row(change: Change, parts: Sequence[Sequence[str]]) -> bool:
    """Whether the parts that a change repeats are all rows of its table; true of other items."""
    asked = change.request
    if not isinstance(asked, RuleRequest) or asked.document or change.after is None:
        return True
    rows = {row.id for row in parse_xml(change.after.content).rows}
    return rows <= {part[1] for part in parts}


def named(word: LaterWord) -> dict[str, str]:
    """Return the parameters that name a later word in a message."""
    at = f"{word.said_at:%Y-%m-%d %H:%M}"
    return {"feedback": word.feedback_id or word.change_id or "", "said_at": at}
