"""Merge a newly published skill with what was learnt since the last one was installed (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.changes.three_way_merge import Clash, rebase, spans, units
from core.domain.models import Kind, SkillFile

Files = Mapping[str, SkillFile]


@dataclass
class Merged:
    """The files of an upgraded skill; `clashes` are paths where both changed the same lines.

    There `files` has the newly published file, or none where it is published no more.
    """

    files: dict[str, SkillFile] = field(default_factory=dict)
    clashes: list[str] = field(default_factory=list)


def merged_skill(base: Files, new: Files, now: Files) -> Merged:
    """Apply to `now` what was published between `base` and `new`, file by file and line by line."""
    made = Merged()
    for path in sorted({*base, *new, *now}):
        try:
            file = _merged_file(base.get(path), new.get(path), now.get(path))
        except Clash:
            made.clashes.append(path)
            file = new.get(path)
        if file is not None:
            made.files[path] = file
    return made


def _merged_file(
    base: SkillFile | None, new: SkillFile | None, now: SkillFile | None
) -> SkillFile | None:
    """Return one file. Raises Clash; what is binary, or gone on one side, is not merged."""
    if new in (base, now):
        return now
    if now == base:
        return new
    if base is None or new is None or now is None:
        raise Clash
    is_set = new.executable != base.executable
    data = _merged_data(base.data, new.data, now.data)
    return SkillFile(data=data, executable=new.executable if is_set else now.executable)


def _merged_data(base: bytes, new: bytes, now: bytes) -> bytes:
    if new in (base, now):
        return now
    if now == base:
        return new
    try:
        old, published, learnt = (
            units(Kind.SKILL, data.decode("utf-8")) for data in (base, new, now)
        )
    except UnicodeDecodeError:
        raise Clash from None
    # What both changed alike is no change of either: an insertion would stand there twice.
    text = "".join(rebase(_with_common(old, published, learnt), published, learnt))
    ends = now if new.endswith(b"\n") == base.endswith(b"\n") else new
    return text.encode() if ends.endswith(b"\n") else text.removesuffix("\n").encode()


def _with_common(old: Sequence[str], one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return the old lines with what both have put there alike, or begun or ended alike."""
    theirs = {(span.start, span.end): span for span in spans(old, other)}
    made = [*old]
    for span in reversed(spans(old, one)):
        found = theirs.get((span.start, span.end))
        if found is None:
            continue
        here, there = (
            lines[at.to_start : at.to_end] for at, lines in ((span, one), (found, other))
        )
        if [*here] == [*there]:
            made[span.start : span.end] = here
        elif span.start == span.end:
            made[span.start : span.end] = _alike(here, there)
    return made


def _alike(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return the lines with which both begin, and those with which both end."""
    most = min(len(one), len(other))
    first = next((at for at in range(most) if one[at] != other[at]), most)
    last = next((at for at in range(most - first) if one[-1 - at] != other[-1 - at]), most - first)
    return [*one[:first], *one[len(one) - last :]]
