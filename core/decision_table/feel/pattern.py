"""Regular expressions without backtracking, in a counted number of steps.

A pattern comes with a table, from outside, and Python's `re` takes exponential time on some of
them. Running all alternatives at once (Pike's algorithm) takes time in the text times the pattern.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from core.decision_table.feel.values import NoValue
from core.domain.messages import Message

# In steps, not seconds: a table decides alike on every machine.
MAX_STEPS = 300_000
MAX_CODE = 2_000

Fits = Callable[[str], bool]


@dataclass(frozen=True)
class Step:
    """One character that `fits`, or (`ways`) jumps relative to here, or an anchor.

    Anchors are `^` and `$`: the ends of the text, or with `lines` those of each line too.
    """

    fits: Fits | None = None
    ways: tuple[int, ...] = ()
    index: str = ""
    lines: bool = False

    def stands(self, text: str, here: int) -> bool:
        """Whether the anchor matches at `here`."""
        if self.index == "^":
            return here == 0 or (self.lines and text[here - 1] == "\n")
        return here == len(text) or (self.lines and text[here] == "\n")


Code = list[Step]


@dataclass
class Pattern:
    """A compiled pattern; its budget of steps covers all searches together."""

    code: Code
    steps: int = field(default=MAX_STEPS)

    def search(self, text: str, at: int = 0) -> tuple[int, int] | None:
        """Return start and end of the leftmost match from `at`, preferring alternatives in order.

        Raises NoValue when the budget is used up: time grows with text times pattern, no more.
        """
        found: tuple[int, int] | None = None
        threads: dict[int, int] = {}
        for here in range(at, len(text) + 1):
            if found is None:
                self._enter(0, here, here, text, threads)
            following: dict[int, int] = {}
            for index, start in threads.items():
                if index == len(self.code):
                    found = (start, here)
                    break
                fits = self.code[index].fits
                if fits and here < len(text) and fits(text[here]):
                    self._enter(index + 1, start, here + 1, text, following)
            threads = following
            if found and not threads:
                break
        return found

    def matches(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield all non-overlapping matches. Raises NoValue for an empty match."""
        at = 0
        while found := self.search(text, at):
            if found[0] == found[1]:
                raise NoValue(Message("pattern.matches_nothing"))
            yield found
            at = found[1]

    def _enter(self, index: int, start: int, here: int, text: str, threads: dict[int, int]) -> None:
        """Add a thread and everything it reaches without a character; the first to arrive stays."""
        waiting, seen = [index], set[int]()
        while waiting:
            index = waiting.pop()
            if index in threads or index in seen:
                continue
            seen.add(index)
            self.steps -= 1
            if self.steps < 0:
                raise NoValue(Message("pattern.steps", most=MAX_STEPS))
            step = self.code[index] if index < len(self.code) else None
            if step is None or step.fits:
                threads[index] = start
            elif step.ways:
                waiting += [index + way for way in reversed(step.ways)]
            elif step.stands(text, here):
                waiting.append(index + 1)


def one(fits: Fits) -> Code:
    """Return code for one character."""
    return [Step(fits)]


def either(first: Code, second: Code) -> Code:
    """Return code for one or the other, the first preferred."""
    jump = Step(ways=(len(second) + 1,))
    return bounded_code([Step(ways=(1, len(first) + 2)), *first, jump, *second])


def repeated(code: Code, least: int, most: int | None, *, lazy: bool) -> Code:
    """Return code for `least` to `most` times (None: unbounded), few preferred if lazy."""
    if len(code) * max(least, most or 0) > MAX_CODE:
        raise NoValue(Message("pattern.large"))
    skip = (len(code) + (1 if most is not None else 2), 1)
    fork = Step(ways=skip if lazy else skip[::-1])
    if most is None:
        return bounded_code(code * least + [fork, *code, Step(ways=(-len(code) - 1,))])
    return bounded_code(code * least + [fork, *code] * (most - least))


def bounded_code(code: Code) -> Code:
    """Return the code. Raises NoValue if it has grown too large."""
    if len(code) > MAX_CODE:
        raise NoValue(Message("pattern.large"))
    return code


_MAX_DEPTH = 30
_SPACE = re.compile(r"(\[(?:[^\\\]]|\\.)*\]|\\[^\s])|\s+", re.DOTALL)
_COUNT = re.compile(r"\{(\d{1,4})(,(\d{1,4})?)?\}", re.ASCII)
_CATEGORY = re.compile(r"[pP]\{([A-Z][a-z]?)\}")
_SPECIAL = set("\\|.?*+(){}[]^$-")
_SIMPLE = {"?": (0, 1), "*": (0, None), "+": (1, None)}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
_CLASSES: dict[str, Fits] = {
    "d": str.isdecimal,
    "s": lambda char: char in " \t\n\r",
    "w": lambda char: unicodedata.category(char)[0] not in "PZC",
}


def pattern(text: str, flags: str = "") -> Pattern:
    """Compile a pattern. Raises NoValue.

    Flags are `i` (ignore case), `s` (`.` matches line ends), `m` (`^` and `$` match at line ends
    too) and `x` (white space outside sets is ignored).
    """
    if set(flags) - {"i", "m", "s", "x"}:
        raise NoValue(Message("pattern.flags", flags=flags))
    text = _SPACE.sub(_retained, text) if "x" in flags else text
    reader = _Reader(text, flags)
    code = reader.choices(0)
    if reader.at < len(text):
        raise reader.fail(Message("pattern.not_opened"))
    return Pattern(code)


def _retained(found: re.Match[str]) -> str:
    return found[1] or ""


class _Reader:
    def __init__(self, text: str, flags: str) -> None:
        self._text = text
        self._flags = flags
        self.at = 0

    def fail(self, problem: str) -> NoValue:
        return NoValue(
            Message("pattern.wrong", pattern=self._text[:40], n=self.at + 1, why=problem)
        )

    def choices(self, depth: int) -> Code:
        if depth > _MAX_DEPTH:
            raise self.fail(Message("pattern.deep"))
        branches = [self._sequence(depth)]
        while self._take("|"):
            branches.append(self._sequence(depth))
        code = branches.pop()
        while branches:
            code = either(branches.pop(), code)
        return code

    def _sequence(self, depth: int) -> Code:
        code: Code = []
        while self._ahead() not in ("", "|", ")"):
            code += self._repetition(self._atom(depth))
        return code

    def _repetition(self, code: Code) -> Code:
        char = self._ahead()
        if char in _SIMPLE and char:
            self.at += 1
            least, most = _SIMPLE[char]
        elif count := _COUNT.match(self._text, self.at):
            self.at = count.end()
            least = int(count[1])
            most = least if not count[2] else int(count[3]) if count[3] else None
        else:
            return code
        if most is not None and most < least:
            raise self.fail(Message("pattern.repeats"))
        return repeated(code, least, most, lazy=self._take("?"))

    def _atom(self, depth: int) -> Code:
        char = self._next()
        if char == "(":
            if self._ahead() == "?" and not self._text.startswith("?:", self.at):
                raise self.fail(Message("pattern.groups"))
            self.at += 2 * self._text.startswith("?:", self.at)
            code = self.choices(depth + 1)
            if not self._take(")"):
                raise self.fail(Message("head.bracket_open"))
            return code
        if char == "[":
            return one(self._set())
        if char == ".":
            return one(lambda found: "s" in self._flags or found not in "\n\r")
        if char in "^$":
            return [Step(index=char, lines="m" in self._flags)]
        if char in "*+?{":
            raise self.fail(Message("pattern.repeats_nothing", char=char))
        return one(self._escape() if char == "\\" else self._same(char))

    def _set(self) -> Fits:
        outside = self._take("^")
        parts: list[Fits] = []
        while not self._take("]"):
            char = self._next()
            if char == "[":
                raise self.fail(Message("pattern.set_in_set"))
            fits = self._escape() if char == "\\" else None
            ahead = self._text[self.at : self.at + 2]
            if fits is None and ahead.startswith("-") and ahead != "-]":
                self.at += 1
                fits = self._span(char, self._next())
            parts.append(fits or self._same(char))
        return lambda found: any(fits(found) for fits in parts) is not outside

    def _span(self, low: str, high: str) -> Fits:
        if high in "\\[":
            raise self.fail(Message("pattern.range_end", char=high))
        if high < low:
            raise self.fail(Message("pattern.range"))
        return lambda found: any(low <= char <= high for char in self._cases(found))

    def _escape(self) -> Fits:
        if category := _CATEGORY.match(self._text, self.at):
            self.at = category.end()
            name, inside = category[1], category[0][0] == "p"
            return lambda found: unicodedata.category(found).startswith(name) is inside
        char = self._next()
        if char in _CONTROLS or char in _SPECIAL:
            return self._same(_CONTROLS.get(char, char))
        fits = _CLASSES.get(char.lower())
        if fits is None:
            raise self.fail(Message("pattern.escape", char=char))
        return fits if char.islower() else lambda found: not fits(found)

    def _same(self, char: str) -> Fits:
        return lambda found: char in self._cases(found)

    def _cases(self, char: str) -> tuple[str, ...]:
        return (char, char.lower(), char.upper()) if "i" in self._flags else (char,)

    def _ahead(self) -> str:
        return self._text[self.at : self.at + 1]

    def _take(self, char: str) -> bool:
        taken = self._ahead() == char
        self.at += taken
        return taken

    def _next(self) -> str:
        char = self._ahead()
        if not char:
            raise self.fail(Message("pattern.short"))
        self.at += 1
        return char
