"""What the stand-in makes of rules as people say them: the right table, a memory, or a wrong table.

A table is right if it decides every case around its limits as the set's rows do. Columns, units
and values may be named otherwise; outcomes are in the words of the text, so they are told apart
by numbers and by which of them is nearest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

from pydantic import JsonValue

from core.agent.offline import rules
from core.agent.offline.stated.amounts import amounts
from core.agent.offline.stated.days import days_of
from core.agent.offline.text import is_korean, letters
from core.decision_table import decide, draft_to_table
from core.decision_table.feel import parse_tests
from core.domain.errors import RuleInvalid
from core.domain.models import DecisionRow as Row
from core.domain.models import DecisionTable, InputColumn, OutputColumn, RuleDraft

SETS = Path(__file__).parent / "sets"
RIGHT, WRONG, MEMORY, OTHER = "right table", "wrong table", "memory", "other"
_FACTORS = [Fraction(n) for n in (1, 12, 7, 24, 60, 100, 1000, 10_000, 3600, 365, 30)]
_FACTORS += [1 / factor for factor in _FACTORS[1:]]
_LITERAL = re.compile(r'(?:date|time)\("[^"]*"\)|"[^"]*"|-?\d+(?:\.\d+)?|\btrue\b|\bfalse\b')
_UNITS = re.compile(r"""(?<=\d)\s*[A-Za-z가-힣%°₩$€£]+(?=[^"]*(?:"[^"]*"[^"]*)*$)""")
_MOMENT = re.compile(r"(?<![\d\"])(?:(\d{4}-\d\d-\d\d)|(\d\d:\d\d)(?::00)?)(?![\d\"])")
_GROUPS = re.compile(r"(?<=\d),(?=\d{3})")
_NO = re.compile(
    r"without|\bno\b|\bnot\b|\bnone\b|없|미(?=납|제출|동의|완료|인증|개봉|참석|가입|신청|취업|성년|접종|결제|수령|등록|착용"
    r"|확인|사용|지참|작성|회원)|비(?=회원|대상|정상|공개)|(?<![가-힣])(?:안|못) |않"
    r"|못(?=[하했합받쓰])|아님|아니|아닌"
    r"|불(?=가|합|참|허|량|일치|필요|포함|이행|출석)|(?<![가-힣])무(?=사고|료|상|보험|면허|자격|결석|단)|false|n't|\bun(?=\w{4})",
    re.I,
)

_NOTHING = re.compile(r"\bfree\b|\bnever\b|\bwaive|\bnothing\b|\bzero\b|무료|공짜|면제", re.I)
_PRESENT = {"있음", "없음", "yes", "no", "with", "without"}


@dataclass(frozen=True)
class Judged:
    """A text, what it should become, and what it became."""

    text: str
    becomes: str
    made: str

    @property
    def is_wrong(self) -> bool:
        """Whether a table was stored that says other than the text."""
        return self.made == WRONG


def lines(hand: str) -> list[Mapping[str, JsonValue]]:
    """Return the lines of a set of the hands that wrote the others."""
    return read(SETS / hand / "rules.jsonl")


def read(path: Path) -> list[Mapping[str, JsonValue]]:
    """Return the lines of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def judge(hand: str) -> list[Judged]:
    """Put each text of a set to the stand-in, with nothing known before."""
    return judged(lines(hand))


def judged(lines: Sequence[Mapping[str, JsonValue]]) -> list[Judged]:
    """Put the text of each line to the stand-in."""
    return [_judged(line) for line in lines]


def counts(judged: Sequence[Judged]) -> dict[str, int]:
    """Return how many texts became what, those that should become a memory apart."""
    tables = [one for one in judged if one.becomes == "table"]
    return {
        "tables": len(tables),
        "right": sum(one.made == RIGHT for one in tables),
        "wrong": sum(one.is_wrong for one in judged),
        "neither": sum(one.made == OTHER for one in judged),
        "as a memory": sum(one.made == MEMORY for one in tables),
        "memories": len(judged) - len(tables),
        "kept as a memory": sum(one.made == MEMORY for one in judged if one not in tables),
    }


def _judged(line: Mapping[str, JsonValue]) -> Judged:
    text = str(line["text"])
    tool, args = rules.decide(rules.View(text=text, task="", related=()))
    made = MEMORY if tool == "commit_to_memory" else OTHER
    if tool == "commit_to_dmn_rule":
        made = RIGHT if line.get("rows") and says_the_same(args["rule"], line["rows"]) else WRONG
    return Judged(text, str(line["becomes"]), made)


def says_the_same(draft: JsonValue, rows: JsonValue) -> bool:
    """Whether a drafted table decides as the rows do, under some naming of its columns."""
    ids = iter(range(1000))
    made = draft_to_table(RuleDraft.model_validate(draft), new_row_id=lambda: f"r{next(ids)}")
    wanted = _without_named(_wanted(rows), made)
    if len(made.inputs) != len(wanted.inputs):
        return False
    return any(_agree(made, wanted, order) for order in permutations(range(len(made.inputs))))


def _without_named(wanted: DecisionTable, made: DecisionTable) -> DecisionTable:
    """Leave out a text that every row asks for where a made column is named after it.

    `overtime hours > 10` says what `kind = "overtime", hours > 10` does.
    """
    names = letters(" ".join(column.name for column in made.inputs))
    kept = []
    for at, _ in enumerate(wanted.inputs):
        cells = set(_column(wanted, at))
        texts = [letters(text) for cell in cells for text in re.findall(r'^"([^"]+)"$', cell)]
        if len(cells) > 1 or not texts or texts[0] not in names or len(texts[0]) < 2:
            kept.append(at)
    rows = [
        row.model_copy(update={"inputs": tuple(row.inputs[at] for at in kept)})
        for row in wanted.rows
    ]
    inputs = tuple(wanted.inputs[at] for at in kept)
    return wanted.model_copy(update={"inputs": inputs, "rows": tuple(rows)}) if kept else wanted


def _wanted(rows: JsonValue) -> DecisionTable:
    assert isinstance(rows, list)
    whens = [{str(k): _feel(str(v)) for k, v in row["when"].items()} for row in rows]  # type: ignore
    names = list(dict.fromkeys(name for when in whens for name in when))
    thens = [" ".join(map(str, row["then"].values())) for row in rows]  # type: ignore
    return DecisionTable(
        name="wanted",
        hit_policy="RULE ORDER",  # type: ignore[arg-type]
        inputs=tuple(InputColumn(name=name, type=_kind(whens, name)) for name in names),
        outputs=(OutputColumn(name="then", type="string"),),
        rows=tuple(
            Row(
                id=f"w{number}",
                inputs=tuple(when.get(name, "-") for name in names),
                outputs=(json.dumps(then, ensure_ascii=False),),
            )
            for number, (when, then) in enumerate(zip(whens, thens, strict=True))
        ),
    )


def _feel(test: str) -> str:
    """Return a test of the set as FEEL.

    Units, commas within numbers, and dates and times without quotes are for its readers.
    """
    test = _MOMENT.sub(lambda one: f'date("{one[1]}")' if one[1] else f'time("{one[2]}:00")', test)
    for text in (
        test,
        _UNITS.sub("", test.replace("%", "")),
        _GROUPS.sub("", _UNITS.sub("", test)),
    ):
        try:
            parse_tests(text)
        except RuleInvalid:
            continue
        return text
    return json.dumps(test, ensure_ascii=False)


def _kind(whens: Sequence[Mapping[str, str]], name: str) -> str:
    found = {_kind_of(lit) for when in whens for lit in _LITERAL.findall(when.get(name, ""))}
    return found.pop() if len(found) == 1 else "Any"


def _kind_of(literal: str) -> str:
    if literal in {"true", "false"}:
        return "boolean"
    if literal.startswith(("date", "time")):
        return literal[:4]
    return "string" if literal.startswith('"') else "number"


def _agree(made: DecisionTable, wanted: DecisionTable, order: Sequence[int]) -> bool:
    """Whether both decide alike; input `order[n]` of the made one stands for input n."""
    pairs = [(made.inputs[o], _column(made, o), w, _column(wanted, n))
             for n, (o, w) in enumerate(zip(order, wanted.inputs, strict=True))]  # fmt: skip
    samples = [_samples(*pair) for pair in pairs]
    if any(not sample for sample in samples):
        return False
    outcomes: set[tuple[str, str]] = set()
    for point in product(*samples):
        mine = _outcomes(
            made, {pair[0].name: value[0] for pair, value in zip(pairs, point, strict=True)}
        )
        theirs = _outcomes(
            wanted, {pair[2].name: value[1] for pair, value in zip(pairs, point, strict=True)}
        )
        if mine is None or theirs is None or len(mine) != len(theirs) or len(mine) > 1:
            return False
        outcomes |= set(zip(mine, theirs, strict=True))
    return _matched(sorted(outcomes))


def _column(table: DecisionTable, number: int) -> list[str]:
    return [row.inputs[number] for row in table.rows]


def _outcomes(table: DecisionTable, case: Mapping[str, JsonValue]) -> tuple[str, ...] | None:
    try:
        result = decide(table, case).outputs
    except RuleInvalid:
        return None
    return tuple(sorted({str(next(iter(one.values()))) for one in result}))


def _samples(
    mine: InputColumn, my_tests: list[str], theirs: InputColumn, their_tests: list[str]
) -> list[tuple[JsonValue, JsonValue]]:
    """Return values around the limits of a column as both name them; none if they differ."""
    ours, wanted = (
        list(dict.fromkeys(lit for test in tests for lit in _LITERAL.findall(test)))
        for tests in (my_tests, their_tests)
    )
    if (mine.type, theirs.type) == ("time", "number"):
        return list(_hours({*ours, *map(_clock, wanted)}))
    if (mine.type, theirs.type) == ("number", "string") and (ahead := _days_ahead(wanted)):
        return ahead
    if mine.type != theirs.type and not {mine.type, theirs.type} <= {"string", "boolean"}:
        return []
    if mine.type == "number":
        return list(_numbers([*map(Fraction, ours)], [*map(Fraction, wanted)]))
    if mine.type in {"date", "time"}:
        return list(_moments(mine.type, {*ours, *wanted}))
    if halves := _halves(ours, wanted, my_tests, their_tests):
        return halves
    return list(_days(ours, wanted) or _values(ours, wanted, theirs.name, mine.name))


def _numbers(ours: list[Fraction], wanted: list[Fraction]) -> Iterator[tuple[JsonValue, JsonValue]]:
    factor = next((f for f in _FACTORS if {one * f for one in ours} == set(wanted)), None)
    if factor is not None:
        steps = (Fraction(-1, 1000), Fraction(0), Fraction(1, 1000))
        for limit in ours:
            for step in steps:
                yield float(limit + step), float((limit + step) * factor)
        return
    limits = {*ours, *wanted}  # "11 or more" is "over 10" of things that are counted
    if all(limit.denominator == 1 and limit < 1000 for limit in limits):
        for number in range(int(min(limits)) - 2, int(max(limits)) + 3):
            yield number, number


_AHEAD = re.compile(r"(?:(?P<due>당일)|(?P<days>\d+일|하루|이틀|사흘|나흘) 전)(?P<till>까지)?")
_SPOKEN_DAYS = {"하루": 1, "이틀": 2, "사흘": 3, "나흘": 4}


def _days_ahead(wanted: list[str]) -> list[tuple[JsonValue, JsonValue]]:
    """Pair days left with what a set calls them: `"하루 전까지"`, `"당일"`; none for others."""
    found = [(one.strip('"'), _AHEAD.fullmatch(one.strip('"'))) for one in wanted]
    limits = []
    for text, one in found:
        if one is None:
            return []
        spoken = one["days"] or "0일"
        days = _SPOKEN_DAYS.get(spoken) or int(spoken.removesuffix("일"))
        limits.append((text, days, bool(one["till"])))
    named = {
        day: next((t for t, days, till in limits if day == days or (till and day > days)), "none")
        for day in range(max(days for _, days, _ in limits) + 3)
    }
    return list(named.items())


def _clock(hours: str) -> str:
    minutes = round(Fraction(hours) * 60)
    return f'time("{minutes // 60 % 24:02}:{minutes % 60:02}:00")'


def _hours(literals: set[str]) -> Iterator[tuple[JsonValue, JsonValue]]:
    """Pair times of day with the hours since midnight as which a set may write them."""
    for text, _ in _moments("time", literals):
        hour, minute, second = map(int, str(text).split(":"))
        yield text, hour + minute / 60 + second / 3600


def _moments(kind: str, literals: set[str]) -> Iterator[tuple[JsonValue, JsonValue]]:
    texts = sorted(literal.split('"')[1] for literal in literals)
    beyond = ("0001-01-01", "9999-12-31") if kind == "date" else ("00:00:00", "23:59:59")
    between = [f"{text[:-2]}01" for text in texts] if kind == "time" else []
    for text in (*beyond, *texts, *between):
        yield text, text


def _days(ours: list[str], wanted: list[str]) -> list[tuple[JsonValue, JsonValue]]:
    """Pair what two columns of weekdays call each day; none if a value is no day."""
    mine, theirs = ({one.strip('"'): days_of(one.strip('"')) for one in side}
                    for side in (ours, wanted))  # fmt: skip
    if not all((*mine.values(), *theirs.values())):
        return []
    called = [[next((name for name, days in side.items() if day in days), "another day")
               for side in (mine, theirs)] for day in range(7)]  # fmt: skip
    return [(one, other) for one, other in called]


def _halves(
    ours: list[str], wanted: list[str], my_tests: list[str], their_tests: list[str]
) -> list[tuple[JsonValue, JsonValue]]:
    """Pair the values of two columns of which one names both halves, and the other only one.

    `VIPs pay nothing, others $5`: whether the others are `not("VIP")` or `"others"` is naming.
    """
    one, two = sorted((ours, wanted), key=len)
    tests = my_tests if one is ours else their_tests
    both = their_tests if one is ours else my_tests
    splits = any(test.startswith("not(") for test in tests) and "not(" not in "".join(both)
    if (len(one), len(two)) != (1, 2) or not splits or {"true", "false"} & {*one, *two}:
        return []
    named = one[0].strip('"')
    first, second = sorted((text.strip('"') for text in two), key=lambda text: -_like(named, text))
    if not _like(named, first) > _like(named, second):
        return []
    pairs = [(named, first), ("something else", second)]
    return list(pairs) if one is ours else [(b, a) for a, b in pairs]


def _values(
    ours: list[str], wanted: list[str], column: str, named: str
) -> Iterator[tuple[JsonValue, JsonValue]]:
    """Pair the values of two columns by their words; a truth by whether they say no.

    `unpaid: none` says no twice.
    """
    mine = [literal.strip('"') for literal in ours]
    if {"true", "false"} & set(wanted):
        for value in mine:
            yield value, _says_no(value, named) is bool(_NO.search(column))
        if len(mine) == 1:
            no = _says_no(mine[0], named) is bool(_NO.search(column))
            yield "something else", not no
        return
    theirs = [literal.strip('"') for literal in wanted]
    if len(mine) != len(theirs):
        return
    best = max(permutations(theirs), key=lambda order: sum(map(_near, mine, order)))
    if sum(_like(a, b) == 0 for a, b in zip(mine, best, strict=True)) > 1:
        return
    yield from zip(mine, best, strict=True)
    yield "something else", "something else"


def _says_no(value: str, column: str) -> bool:
    """Whether a value says no, with what its column says where it only says that there is."""
    said = bool(_NO.search(value))
    return said is not bool(_NO.search(column)) if value in _PRESENT else said


def _near(one: str, other: str) -> float:
    return _like(one, other) + (letters(one) == letters(other))


def _like(one: str, other: str) -> float:
    a, b = ({text[i : i + 2] for i in range(len(text) - 1)} or {text}
            for text in (letters(one), letters(other)))  # fmt: skip
    return len(a & b) / max(1, min(len(a), len(b)))


def _matched(outcomes: Sequence[tuple[str, str]]) -> bool:
    """Whether each made outcome goes with one expected, by its numbers, and with the nearest.

    An outcome may be said in two ways, `permit required` and `require a permit`, if either way
    is nearer to it than to all others.
    """
    mine = [a for a, _ in outcomes]
    if len(set(mine)) < len(mine) or not outcomes:
        return False
    if not all(_same_numbers(a, b) for a, b in outcomes):
        return False
    best: dict[str, str] = {}
    for a, b in outcomes:
        best[b] = max(a, best.get(b, a), key=lambda one, b=b: _fits(one, b))  # type: ignore[misc]
    for a, b in outcomes:
        again = best[b] != a
        if again and any(_fits(a, other) >= _fits(a, b) for other in best if other != b):
            return False
    theirs, told = list(best), sum(_fits(a, b) for b, a in best.items())
    return all(
        sum(map(_fits, best.values(), order)) <= told + 1e-9 for order in permutations(theirs)
    )


def _fits(mine: str, theirs: str) -> float:
    """Return how well two outcomes go together: words, numbers, and whether they say no."""
    no = _is_nothing(theirs) or theirs in {"0", "0%", "False"}
    return _like(mine, theirs) + (_is_nothing(mine) is no) + _same_numbers(mine, theirs)


def _is_nothing(outcome: str) -> bool:
    return bool(_NO.search(outcome) or _NOTHING.search(outcome))


def _same_numbers(mine: str, theirs: str) -> bool:
    """Whether the numbers of an expected outcome but zero stand in the made one, in any unit."""
    wanted = {Fraction(n) for n in re.findall(r"\d+(?:\.\d+)?", theirs)} - {Fraction(0)}
    said = [
        Fraction(one.text) for one in amounts(mine, korean=is_korean(mine)) if one.kind == "number"
    ]
    found = {number * factor for number in said for factor in _FACTORS}
    return not wanted or not said or wanted <= found


def report(name: str, judged: Sequence[Judged], *, shows: bool = False) -> str:
    """Return the counts of a set as a line; with `shows` also what did not become as it should."""
    told = ", ".join(f"{name} {number}" for name, number in counts(judged).items())
    unlike = [one for one in judged if one.made != (RIGHT if one.becomes == "table" else MEMORY)]
    shown = [f"  {one.made} for {one.becomes}: {one.text}" for one in unlike if shows]
    return "\n".join([f"{name}: {told}", *shown])


def main(arguments: Sequence[str]) -> int:
    """Print the counts of files, or of the sets; of files and sealed sets, figures alone."""
    if arguments:
        found = {path: judged(read(Path(path))) for path in arguments}
    else:
        found = {hand: judge(hand) for hand in ("open", "sealed")}
    for name, all_judged in found.items():
        print(report(name, all_judged, shows=name == "open"))
    return int(any(one.is_wrong for one in found.get("open", ())))
