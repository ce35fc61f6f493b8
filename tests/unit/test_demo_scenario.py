"""The demo's scenario covers every feature it promises to show."""

from __future__ import annotations

import re

from core.entrypoints.demo.scenario import load_scenario

EVERYTHING = {
    *(
        f"{kind} {op}"
        for kind in ("MEMORY", "DMN_RULE", "SKILL")
        for op in ("CREATE", "UPDATE", "DELETE")
    ),
    *("attached", "noise", "duplicate", "one_off", "unclear"),
}


def test_it_covers_every_kind_operation_and_category() -> None:
    shown = {outcome for piece in load_scenario().feedback for outcome in piece.expected}
    assert shown == EVERYTHING


def test_it_has_sixteen_pieces_or_more_half_of_them_korean() -> None:
    pieces = load_scenario().feedback
    korean = [piece for piece in pieces if re.search("[가-힣]", piece.content)]
    assert len(pieces) >= 16
    assert 2 * len(korean) >= len(pieces)


def test_one_piece_is_for_several_agents() -> None:
    assert any(len(piece.agents) > 1 for piece in load_scenario().feedback)


def test_everyone_named_is_there() -> None:
    scenario = load_scenario()
    known = {agent.id for agent in scenario.agents}
    assert {a for piece in scenario.feedback for a in piece.agents} <= known
    assert {item.agent for item in scenario.known} <= known
