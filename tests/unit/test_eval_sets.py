"""The sets in `tests/evals/sets` are whole; what fails here is counted, so that none is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from pydantic import JsonValue

SETS = Path(__file__).parents[1] / "evals" / "sets"
HANDS = ("open", "sealed")
SHIPPED = Path(__file__).parents[2] / "core" / "entrypoints" / "evals"  # the open sets that ship
Line = Mapping[str, JsonValue]
ROUTING = (
    {"id", "hand", "agent", "known", "feedback", "in_reply_to", "output", "expect"}
    | {"acceptable", "must_keep", "category", "why"},
    ("feedback",),
)
INTERFERENCE = (
    {"id", "story", "hand", "kind", "part", "said", "others", "relies", "item"}
    | {"harmful", "breaks", "why"},
    ("id",),
)
TRIAL = (
    {"id", "story", "hand", "kind", "harmful", "corrects", "why", "before", "learning", "expect"},
    ("learning",),
)
POISON = ({"class", "poisoned", "kind", "text", "span", "why"}, ("text",))
# The fields of a line besides `lang`, and the one or two that no two lines share.
FIELDS: Mapping[str, tuple[set[str], tuple[str, ...]]] = {
    "differences": ({"a", "b", "differs"}, ("a", "b")),
    "same": ({"a", "b"}, ("a", "b")),
    "unlike": ({"a", "b"}, ("a", "b")),
    "meaning": ({"query", "answer", "others", "kind"}, ("query",)),
    "named": ({"text", "names", "others", "is_named"}, ("text", "names")),
    "rules": ({"text", "becomes", "rows"}, ("text",)),
    "poison": POISON,
    "streams": ({"pieces", "state", "gone", "asks"}, ("pieces",)),
    "search_short": ({"query", "item", "id"}, ("query",)),
    "search_long": ({"query", "item", "id"}, ("query",)),
    "routing-a": ROUTING,
    "routing-b": ROUTING,
    "interference-a": INTERFERENCE,
    "interference-b": INTERFERENCE,
    "trial-a": TRIAL,
}
CONTEXT = ({"id", "task", "relevant"}, ("task",))
OPEN_ALONE: Mapping[str, tuple[set[str], tuple[str, ...]]] = {
    "context": CONTEXT,
    "context_c": CONTEXT,
    "context_held_back": CONTEXT,
    "interference-c": INTERFERENCE,
    "interference-d": INTERFERENCE,
    "poison_d": POISON,
    "poison_e": POISON,
    "rules_c": FIELDS["rules"],
    "rules_d": FIELDS["rules"],
    "rules_e": FIELDS["rules"],
    "rules_f": FIELDS["rules"],
    "rules_h1": FIELDS["rules"],
    "rules_h2": FIELDS["rules"],
    "rules_h3": FIELDS["rules"],
    "rules_h4": FIELDS["rules"],
    "rules_h5": FIELDS["rules"],
    "rules_q": FIELDS["rules"],
    "rules_s": FIELDS["rules"],
    "rules_u": FIELDS["rules"],
    "rules_v": FIELDS["rules"],
    "rules_z": FIELDS["rules"],
    "trial-b": TRIAL,
    "trial-c": TRIAL,
}
SEALED_ALONE: Mapping[str, tuple[set[str], tuple[str, ...]]] = {
    "context-s": CONTEXT,
    "interference-s": INTERFERENCE,
    "interference-v": INTERFERENCE,
    "poison-s": POISON,
    "rules-r1": FIELDS["rules"],
    "rules-r2": FIELDS["rules"],
    "rules-r3": FIELDS["rules"],
    "rules-w": FIELDS["rules"],
}
ALL = {**FIELDS, **OPEN_ALONE, **SEALED_ALONE}
WHERE = [
    *((half, name) for half in HANDS for name in FIELDS),
    *(("open", name) for name in OPEN_ALONE),
    *(("sealed", name) for name in SEALED_ALONE),
]


def lines(hand: str, name: str) -> Sequence[Line]:
    folder = SHIPPED if hand == "open" and name.startswith("routing") else SETS / hand
    text = (folder / f"{name}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def count(hand: str, name: str, holds: Callable[[Line], bool]) -> int:
    return sum(map(holds, lines(hand, name)))


@pytest.mark.parametrize(("hand", "name"), WHERE)
def test_each_line_of_a_set_has_its_fields(hand: str, name: str) -> None:
    fields, _ = ALL[name]
    spared = {"memory": {"rows"}}  # what stays whole may go without
    wanted = fields | {"lang"}
    assert (
        count(hand, name, lambda line: {*line, *spared.get(str(line.get("becomes")), ())} != wanted)
        == 0
    )


@pytest.mark.parametrize("name", ALL)
def test_no_line_stands_in_a_set_twice(name: str) -> None:
    _, keys = ALL[name]
    told = [
        json.dumps([line[key] for key in keys], ensure_ascii=False)
        for hand in HANDS
        if (hand, name) in WHERE
        for line in lines(hand, name)
    ]
    assert len(told) - len(set(told)) == 0


@pytest.mark.parametrize("hand", HANDS)
@pytest.mark.parametrize("name", ["search_short", "search_long"])
def test_an_id_names_one_item(hand: str, name: str) -> None:
    items = {(line["id"], line["item"]) for line in lines(hand, name)}
    assert len(items) - len({id_ for id_, _ in items}) == 0


@pytest.mark.parametrize("hand", HANDS)
def test_a_reply_answers_an_earlier_piece(hand: str) -> None:
    def is_wrong(line: Line) -> bool:
        pieces = line["pieces"]
        assert isinstance(pieces, list)
        answered = [piece["in_reply_to"] for piece in pieces if isinstance(piece, dict)]
        return any(to is not None and not 0 <= int(str(to)) < at for at, to in enumerate(answered))

    assert count(hand, "streams", is_wrong) == 0


@pytest.mark.parametrize("hand", HANDS)
def test_a_rule_has_rows_where_it_becomes_a_table(hand: str) -> None:
    assert (
        count(hand, "rules", lambda line: bool(line["rows"]) != (line["becomes"] == "table")) == 0
    )


@pytest.mark.parametrize("name", ["routing-a", "routing-b"])
@pytest.mark.parametrize("hand", HANDS)
def test_a_routed_piece_aims_at_what_is_known(hand: str, name: str) -> None:
    def is_wrong(line: Line) -> bool:
        known, expected, other = line["known"], line["expect"], line["acceptable"]
        assert isinstance(known, list)
        assert isinstance(expected, list)
        assert isinstance(other, list)
        ids = {item["id"] for item in known if isinstance(item, dict)}
        asked = [one for list_ in (expected, *other) if isinstance(list_, list) for one in list_]
        aims = [(one["operation"], one["target"]) for one in asked if isinstance(one, dict)]
        return any(
            target not in ids if operation in ("UPDATE", "DELETE") else target is not None
            for operation, target in aims
        )

    assert count(hand, name, is_wrong) == 0


@pytest.mark.parametrize(
    ("hand", "name"), [where for where in WHERE if where[1].startswith("interference")]
)
def test_each_change_that_breaks_something_has_a_safe_twin(hand: str, name: str) -> None:
    twins: dict[str, list[bool]] = {}
    for line in lines(hand, name):
        assert line["harmful"] == (line["relies"] is not None) == (line["breaks"] is not None)
        twins.setdefault(str(line["story"]), []).append(bool(line["harmful"]))
    assert sum(sorted(pair) != [False, True] for pair in twins.values()) == 0
