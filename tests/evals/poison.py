"""How much of what is poisoned is held by the screen, and how much of what is not.

`poison.jsonl` is the set of which another hand wrote the sealed half, `poison_more.jsonl` and
`poison_third.jsonl` are inventions of those who built the screen, `poison_indirect.jsonl` says it
without a word that gives it away; `poison_d.jsonl` and `poison_e.jsonl` are of two more hands. Of
files that are named, figures alone are printed, whatever else is asked. With `--second-look` the
model of LLM_MODEL is asked too, once for each piece that the rules let through. What counts is
what would be stored: a text is masked first. A poisoned piece is stopped if a finding holds it, or
if what is poisoned was a secret and is masked away. With no setting, no trust, and nothing known.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from core.changes.gate.screening import Look
from core.domain.models import Change, Finding, Kind, ScreenSeverity
from core.safety.masking import mask
from core.safety.screen import screen

SETS = Path(__file__).parent / "sets"
OPEN = ("open/poison.jsonl", "open/poison_more.jsonl", "open/poison_third.jsonl")
HANDS = {f"open, hand {hand}": (f"open/poison_{hand}.jsonl",) for hand in "de"}
INDIRECT = ("open/poison_indirect.jsonl",)
SEALED = ("sealed/poison.jsonl",)


@dataclass(frozen=True)
class Piece:
    """A piece of feedback, and whether it is poisoned."""

    text: str
    lang: str
    about: str
    kind: Kind
    poisoned: bool
    span: str | None

    @property
    def is_held_out(self) -> bool:
        """Whether its failures were not looked at while tuning; it had been read before."""
        return sha256(self.text.encode("utf-8", "surrogatepass")).digest()[0] % 2 == 0


@dataclass(frozen=True)
class Judged:
    """A piece, what holds it, whether its secret is masked away, and what it took."""

    piece: Piece
    holds: Sequence[Finding]
    is_masked: bool
    seconds: float
    findings: Sequence[Finding] = ()

    @property
    def is_stopped(self) -> bool:
        """Whether what is poisoned does not become knowledge without a person."""
        return bool(self.holds) or self.is_masked

    @property
    def is_right(self) -> bool:
        return self.is_stopped if self.piece.poisoned else not self.holds


def pieces(files: Sequence[str | Path]) -> Iterator[Piece]:
    """Yield the pieces of the files of a set: in the folder of the sets, or by a whole path."""
    for name in files:
        for line in (SETS / name).read_text("utf-8").splitlines():
            row = json.loads(line)
            yield Piece(
                row["text"],
                row["lang"],
                row["class"],
                Kind(row["kind"]),
                row["poisoned"],
                row.get("span"),
            )


def judge(piece: Piece) -> Judged:
    """Put a piece to the screen as it would be stored."""
    begun = time.process_time()
    masked = mask(piece.text)
    findings = screen(None, masked.text, kind=piece.kind)
    seconds = time.process_time() - begun
    secret = any(one.code.startswith("secret.") for one in masked.findings)
    gone = piece.span is not None and piece.span not in masked.text
    holds = [one for one in findings if one.severity is ScreenSeverity.HOLD]
    return Judged(piece, holds, piece.poisoned and secret and gone, seconds, findings)


async def looked_at(judged: Sequence[Judged], look: Look) -> list[Judged]:
    """Return what holds each piece after a model has looked at those that the rules let through."""
    made = []
    for number, one in enumerate(judged):
        if not one.is_stopped:
            change = Change.model_construct(key=str(number), tenant_id="t", kind=one.piece.kind)
            found = await look(change, {"": ("", mask(one.piece.text).text)})
            one = replace(one, holds=[*one.holds, *found])
        made.append(one)
    return made


def report(judged: Sequence[Judged], name: str) -> str:
    """Return the figures of a set: of the poisoned what is stopped, of the benign what is held."""
    lines = [f"{name}: {_share(judged, True)}; {_share(judged, False)}"]
    for poisoned in (True, False):
        for about in sorted({one.piece.about for one in judged if one.piece.poisoned is poisoned}):
            of = [one for one in judged if one.piece.about == about]
            told = ", ".join(
                f"{lang} {_count([one for one in of if one.piece.lang == lang])}"
                for lang in sorted({one.piece.lang for one in of})
            )
            lines.append(f"  {'poisoned' if poisoned else 'benign':8}  {about:22}{told}")
    masked = sum(one.is_masked and not one.holds for one in judged)
    took = 1e6 * sum(one.seconds for one in judged) / sum(len(one.piece.text) for one in judged)
    lines.append(f"  stopped by masking alone: {masked}; {took:.1f} ms of CPU for 1,000 characters")
    return "\n".join(lines)


def _share(judged: Sequence[Judged], poisoned: bool) -> str:
    of = [one for one in judged if one.piece.poisoned is poisoned]
    found = sum(one.is_stopped if poisoned else bool(one.holds) for one in of)
    word = "poisoned stopped" if poisoned else "benign held"
    return f"{word} {found} of {len(of)} ({100 * found / max(1, len(of)):.1f} %)"


def _count(judged: Sequence[Judged]) -> str:
    found = sum(one.is_stopped if one.piece.poisoned else bool(one.holds) for one in judged)
    return f"{found}/{len(judged)}"


def main(arguments: Sequence[str], look: Look | None = None) -> int:
    """Print the figures of the open sets by halves, and with --sealed those of the sealed one.

    Of files that are named figures alone: they may be sealed.
    """
    named = [Path(one).resolve() for one in arguments if not one.startswith("--")]
    if named:
        of_named = {path.name: [judge(piece) for piece in pieces([path])] for path in named}
        if look is not None:
            of_named = asyncio.run(_all_looked_at(of_named, look))
        print("\n".join(report(of, name) for name, of in of_named.items()))
        return 0
    files = {"open": OPEN, **HANDS, "open, indirect": INDIRECT}
    files |= {"sealed": SEALED} if "--sealed" in arguments else {}
    judged = {name: [judge(piece) for piece in pieces(of)] for name, of in files.items()}
    if look is not None:
        judged = asyncio.run(_all_looked_at(judged, look))
    of_open = judged.pop("open")
    tuned = [one for one in of_open if not one.piece.is_held_out]
    print(report(tuned, "open, tuned on"))
    print(report([one for one in of_open if one.piece.is_held_out], "open, held out"))
    if "--show" in arguments:
        for one in (one for one in tuned if not one.is_right):
            why = "; ".join(f"{found.code}: {found.quote}" for found in one.holds)
            print(f"  {'MISSED' if one.piece.poisoned else 'HELD'} {one.piece.text!r} {why}")
    for name, of in judged.items():  # what is sealed is not to be read: figures alone
        print(report(of, name))
    return 0


async def _all_looked_at(
    judged: Mapping[str, Sequence[Judged]], look: Look
) -> dict[str, list[Judged]]:
    return {name: await looked_at(of, look) for name, of in judged.items()}
