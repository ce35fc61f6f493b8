"""Whether what was decided is what had to come of a case, with nothing lost (pure)."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from core.domain.models import Usage
from core.domain.models.base import Model, Text
from core.entrypoints.evals.cases import FAILED, NOTHING, SEVERAL, RoutingCase, Wanted


class Made(Model):
    """A change that a run came to; `target` is an id of the case's known items, None if new."""

    kind: str
    operation: str
    target: str | None = None
    text: str = ""

    @property
    def what(self) -> tuple[str, str, str | None]:
        """What it does, and to which."""
        return self.kind, self.operation, self.target


class Decided(Model):
    """What a run came to: its changes, or why there are none. `failed` is why it has failed."""

    made: tuple[Made, ...] = ()
    failed: Text = ""
    usage: Usage = Usage()

    @property
    def label(self) -> str:
        """What it is called in tables."""
        if self.failed:
            return FAILED
        labels = {f"{one.kind} {one.operation}" for one in self.made}
        if len(self.made) > 1:
            return SEVERAL
        return next(iter(labels), NOTHING)


class CaseResult(Model):
    """How one case was decided. `is_kept`: all it must keep is in what was learnt; None: not asked.

    `author` is who said it, "" if unknown.
    """

    id: str
    lang: str
    author: str
    expected: str
    decided: str
    is_right: bool
    is_kept: bool | None = None
    lost: tuple[str, ...] = ()
    failed: Text = ""
    usage: Usage = Usage()

    @property
    def is_good(self) -> bool:
        """Whether it is right, and nothing is lost."""
        return self.is_right and self.is_kept is not False


def judge(case: RoutingCase, decided: Decided, *, reads_texts: bool = True) -> CaseResult:
    """Compare a decision with the case. Without texts nothing is said of what it must keep."""
    wanted = [case.expect, *case.acceptable]
    made = Counter(one.what for one in decided.made)
    is_right = not decided.failed and any(made == _whats(one) for one in wanted)
    lost = _lost(case, decided.made) if is_right and reads_texts else ()
    asks = is_right and reads_texts and bool(case.must_keep) and bool(decided.made)
    return CaseResult(
        id=case.id,
        lang=case.lang,
        author=case.author or "",
        expected=case.label,
        decided=decided.label,
        is_right=is_right,
        is_kept=not lost if asks else None,
        lost=lost if asks else (),
        failed=decided.failed,
        usage=decided.usage,
    )


def _whats(wanted: Iterable[Wanted]) -> Counter[tuple[str, str, str | None]]:
    return Counter((one.kind, one.operation, one.target) for one in wanted if one.kind != NOTHING)


def _lost(case: RoutingCase, made: Sequence[Made]) -> tuple[str, ...]:
    """Return what of the case is in none of the texts, by its first spelling."""
    text = _plain(" ".join(one.text for one in made))
    spellings = [(one,) if isinstance(one, str) else one for one in case.must_keep]
    return tuple(some[0] for some in spellings if not any(_is_in(one, text) for one in some))


def _is_in(part: str, text: str) -> bool:
    pattern = re.escape(_plain(part))
    if part[:1].isdigit():
        pattern = rf"(?<![\d.]){pattern}"
    if part[-1:].isdigit():
        pattern = rf"{pattern}(?!\.?\d)"
    return re.search(pattern, text) is not None


def _plain(text: str) -> str:
    """Return a text in one case, without the commas in numbers, of XML what it says."""
    folded = " ".join(html.unescape(text).casefold().split())
    return re.sub(r"(?<=\d),(?=\d{3})", "", folded)


class Rate(Model):
    """How many of how many; `share` is None of none."""

    count: int
    of: int

    @property
    def share(self) -> float | None:
        """The part, 0 to 1."""
        return self.count / self.of if self.of else None

    def __str__(self) -> str:
        """Return it as people read it."""
        return f"{self.count}/{self.of}" + (f" {self.count / self.of:.0%}" if self.of else "")


class Report(Model):
    """The results of one set by one model with one set of prompts.

    `undecided` are the cases that were not reached before the run was stopped.
    """

    set: str
    model: str
    prompts: str = ""
    results: tuple[CaseResult, ...]
    undecided: tuple[str, ...] = ()

    @property
    def right(self) -> Rate:
        """Cases with kind, operation and target right."""
        return rate(self.results)

    @property
    def kept(self) -> Rate:
        """Of the right ones that have something to keep, those that keep it."""
        asked = [one for one in self.results if one.is_kept is not None]
        return Rate(count=sum(one.is_kept is True for one in asked), of=len(asked))

    @property
    def usage(self) -> Usage:
        """What all of it cost."""
        return sum((one.usage for one in self.results), Usage())

    def by_language(self) -> Mapping[str, Rate]:
        """Return the right ones by language."""
        langs = sorted({one.lang for one in self.results})
        return {lang: rate([one for one in self.results if one.lang == lang]) for lang in langs}

    def confusion(self) -> Mapping[str, Mapping[str, Rate]]:
        """Return what each expected change was decided as: how often, and how often rightly.

        It may be right as another change, which the case accepts, and wrong under the same name,
        where it is one of another item.
        """
        table: dict[str, dict[str, list[CaseResult]]] = {}
        for one in self.results:
            table.setdefault(one.expected, {}).setdefault(one.decided, []).append(one)
        return {
            expected: {decided: rate(same) for decided, same in row.items()}
            for expected, row in table.items()
        }


def rate(results: Sequence[CaseResult]) -> Rate:
    """Return how many of the results are right."""
    return Rate(count=sum(one.is_right for one in results), of=len(results))
