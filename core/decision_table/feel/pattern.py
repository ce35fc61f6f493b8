"""Regular expressions without backtracking: all ways at once, in steps that are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from core.decision_table.feel.values import NoValue

MAX_STEPS = 300_000
MAX_CODE = 2_000

Fits = Callable[[str], bool]


@dataclass(frozen=True)
class Step:
    """One character that `fits`, or (`ways`) jumps relative to here, or a place.

    Places are `^` and `$`: the ends of the text, or with `lines` those of each line too.
    """

    fits: Fits | None = None
    ways: tuple[int, ...] = ()
    place: str = ""
    lines: bool = False

    def stands(self, text: str, here: int) -> bool:
        """Tell whether `here` is the place that is meant."""
        if self.place == "^":
            return here == 0 or (self.lines and text[here - 1] == "\n")
        return here == len(text) or (self.lines and text[here] == "\n")


Code = list[Step]


@dataclass
class Pattern:
    """A pattern ready to run; its budget of steps is for all searches together."""

    code: Code
    steps: int = field(default=MAX_STEPS)

    def search(self, text: str, at: int = 0) -> tuple[int, int] | None:
        """Give start and end of the leftmost match from `at`, preferring as written.

        Raises NoValue where the budget is used up: time grows with text times pattern, no more.
        """
        found: tuple[int, int] | None = None
        threads: dict[int, int] = {}
        for here in range(at, len(text) + 1):
            if found is None:
                self._enter(0, here, here, text, threads)
            following: dict[int, int] = {}
            for place, start in threads.items():
                if place == len(self.code):
                    found = (start, here)
                    break
                fits = self.code[place].fits
                if fits and here < len(text) and fits(text[here]):
                    self._enter(place + 1, start, here + 1, text, following)
            threads = following
            if found and not threads:
                break
        return found

    def matches(self, text: str) -> Iterator[tuple[int, int]]:
        """Give all matches that do not overlap. Raises NoValue also for one of no characters."""
        at = 0
        while found := self.search(text, at):
            if found[0] == found[1]:
                raise NoValue("the pattern matches where there is nothing")
            yield found
            at = found[1]

    def _enter(self, place: int, start: int, here: int, text: str, threads: dict[int, int]) -> None:
        """Add a thread with all that it reaches without a character; the first to come stays."""
        waiting, seen = [place], set[int]()
        while waiting:
            place = waiting.pop()
            if place in threads or place in seen:
                continue
            seen.add(place)
            self.steps -= 1
            if self.steps < 0:
                raise NoValue(f"the pattern takes more than {MAX_STEPS} steps on this text")
            step = self.code[place] if place < len(self.code) else None
            if step is None or step.fits:
                threads[place] = start
            elif step.ways:
                waiting += [place + way for way in reversed(step.ways)]
            elif step.stands(text, here):
                waiting.append(place + 1)


def one(fits: Fits) -> Code:
    """Give code for one character."""
    return [Step(fits)]


def either(first: Code, second: Code) -> Code:
    """Give code for one or the other, the first preferred."""
    jump = Step(ways=(len(second) + 1,))
    return bounded_code([Step(ways=(1, len(first) + 2)), *first, jump, *second])


def repeated(code: Code, least: int, most: int | None, *, lazy: bool) -> Code:
    """Give code for `least` to `most` times (None: any number), few of them preferred if lazy."""
    if len(code) * max(least, most or 0) > MAX_CODE:
        raise NoValue("the pattern is too large")
    skip = (len(code) + (1 if most is not None else 2), 1)
    fork = Step(ways=skip if lazy else skip[::-1])
    if most is None:
        return bounded_code(code * least + [fork, *code, Step(ways=(-len(code) - 1,))])
    return bounded_code(code * least + [fork, *code] * (most - least))


def bounded_code(code: Code) -> Code:
    """Give code back. Raises NoValue where it has grown too large."""
    if len(code) > MAX_CODE:
        raise NoValue("the pattern is too large")
    return code
