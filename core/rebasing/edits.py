"""An edit of a target, text and files, done to another state of it."""

from __future__ import annotations

from collections.abc import Mapping

from core.models import Kind, SkillFile
from core.rebasing.sequences import Clash, rebase
from core.rebasing.states import State
from core.rebasing.units import units


def rebased(kind: Kind, before: State, after: State, onto: State) -> State:
    """Do to `onto` what was done to `before` where it became `after`.

    Raises Clash where the edit rewrites what `onto` has not.
    """
    name = after.name if after.name != before.name else onto.name
    if kind is Kind.AGENT_SKILLS:
        return State(_names(before.text, after.text, onto.text), name)
    text = _text(kind, before.text, after.text, onto.text)
    if after.files is None:
        return State(text, name)
    files = _files(before.files or {}, after.files, onto.files or {})
    return State(text, name, files, after.runs)


def _text(kind: Kind, before: str, after: str, onto: str) -> str:
    made = "".join(rebase(units(kind, before), units(kind, after), units(kind, onto)))
    return made if after.endswith("\n") or not after else made.removesuffix("\n")


def _files(
    before: Mapping[str, SkillFile], after: Mapping[str, SkillFile], onto: Mapping[str, SkillFile]
) -> Mapping[str, SkillFile]:
    made = dict(onto)
    for path in before.keys() | after.keys():
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        if onto.get(path) == old or onto.get(path) == new:
            done = new
        else:
            done = _file(old, new, onto.get(path))
        if done is None:
            made.pop(path, None)
        else:
            made[path] = done
    return made


def _file(old: SkillFile | None, new: SkillFile | None, onto: SkillFile | None) -> SkillFile | None:
    """Do an edit of a file to another version of it. Raises Clash, as of what is no text."""
    if old is None or new is None:
        return new if old is None else None
    if onto is None:
        raise Clash
    try:
        before, after, there = (file.data.decode("utf-8") for file in (old, new, onto))
        made = _text(Kind.SKILL, before, after, there).encode("utf-8")
    except UnicodeDecodeError:
        raise Clash from None
    runs = new.executable if new.executable != old.executable else onto.executable
    return SkillFile(data=made, executable=runs)


def _names(before: str, after: str, onto: str) -> str:
    """Put on and take off a list of names what a change did; their order means nothing."""
    old, new, there = (set(text.splitlines()) for text in (before, after, onto))
    return "\n".join(sorted((there | (new - old)) - (old - new)))
