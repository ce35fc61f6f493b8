"""What a change takes from under other items: the rules, one by one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.domain.models import SKILL_MD, Change, Kind
from core.knowledge.interference import (
    Answer,
    Broken,
    Doubt,
    Item,
    find_reliance,
    read_known,
    read_memory,
    read_skill,
)
from tests.evals import interference

RELEASE = (
    "# 배포\n## 전제\n- 변경 이력이 적혀 있다.\n## 단계\n1. 서버에 올린다.\n2. 오류율을 본다.\n"
)


def skill(name: str, body: str, **files: str) -> Item:
    text = f"---\nname: {name}\ndescription: {name.replace('-', ' ')}\n---\n{body}"
    return read_skill(name, name, {SKILL_MD: text, **files})


def broken(name: str, before: str, after: str, *others: Item) -> list[tuple[Broken, str]]:
    found = find_reliance(skill(name, before), skill(name, after), others)
    return [(one.kind, one.item.id) for one in found]


def test_a_condition_that_waits_meets_a_skill_that_does_not_wait() -> None:
    hotfix = skill("hotfix", "1. 만든 지 10분 안에 `release`로 내보낸다.\n")
    waits = RELEASE.replace("있다.\n", "있다.\n- 팀장의 승인이 있다.\n")
    assert broken("release", RELEASE, waits, hotfix) == [(Broken.PRECONDITION, "hotfix")]
    notes = RELEASE.replace("있다.\n", "있다.\n- 빌드 번호가 적혀 있다.\n")
    assert broken("release", RELEASE, notes, hotfix) == []


def test_a_condition_that_the_other_sees_to_itself_breaks_nothing() -> None:
    script = "gpg --detach-sign app.tar\n# 10분 안에 나간다\nrun release\n"
    signs = read_skill("hotfix", "hotfix", {SKILL_MD: "# 급한 수정\n", "scripts/fix.sh": script})
    signed = RELEASE.replace("있다.\n", "있다.\n- 서명 파일이 놓여 있다.\n")
    assert broken("release", RELEASE, signed, signs) == []


def test_a_dropped_step_breaks_who_reads_the_file_that_it_wrote() -> None:
    steps = "1. Pack the boxes.\n2. Write the numbers to `out/tracking.csv`.\n3. Wave.\n"
    reader = skill("tell", "Mail them.\n", **{"scripts/tell.py": "open('out/tracking.csv')\n"})
    dropped = "1. Pack the boxes.\n2. Wave.\n"
    assert broken("ship", steps, dropped, reader) == [(Broken.STEP_REMOVED, "tell")]
    without_wave = steps.replace("3. Wave.\n", "")
    assert broken("ship", steps, without_wave, reader) == []  # and no number in the way


@pytest.mark.parametrize(("limit", "is_broken"), [("20", True), ("90", False)])
def test_a_limit_breaks_whoever_stands_between_the_old_and_the_new(
    limit: str, is_broken: bool
) -> None:
    memory = read_memory("m-1", "The partner gets 60 calls a minute from the catalogue.")
    steps = "# Calls to the partner\n1. Send the token.\n2. At most 100 calls a minute.\n"
    found = broken("partner-calls", steps, steps.replace("100", limit), memory)
    assert found == ([(Broken.VALUE_CHANGED, "m-1")] if is_broken else [])


def test_two_steps_that_change_places_break_who_relies_on_their_order() -> None:
    memory = read_memory("m-1", "재고를 뺀 뒤에 송장을 뽑는다. 송장에 남은 재고가 찍힌다.")
    steps = "# 출고\n1. 재고를 뺀다.\n2. 송장을 뽑는다.\n3. 상자를 닫는다.\n"
    turned = "# 출고\n1. 송장을 뽑는다.\n2. 재고를 뺀다.\n3. 상자를 닫는다.\n"
    assert broken("ship", steps, turned, memory) == [(Broken.REORDERED, "m-1")]


def test_a_word_that_many_items_share_ties_none_of_them_to_a_change() -> None:
    others = [read_memory(f"m-{n}", f"Desk {n} keeps the ledger in room {n}.") for n in range(9)]
    steps = "# Close the day\n1. Count the cash.\n2. Sign the ledger.\n3. Lock up.\n"
    dropped = steps.replace("2. Sign the ledger.\n", "")
    assert broken("close-day", steps, dropped, *others) == []
    assert broken(
        "close-day", steps, dropped, read_memory("m", "The day ends when the ledger is in.")
    )


def test_a_text_without_statements_is_relied_on_by_nobody() -> None:
    empty = read_known(Kind.DMN_RULE, "r", "", "")
    assert broken("ship", "1. Pack.\n", "", empty, read_memory("m", "")) == []
    assert broken("ship", "", "1. Pack.\n", empty) == []


def test_the_open_sets_are_found_as_often_as_is_written() -> None:
    """The figures of docs/explanation/interference.md; lower ones are a loss."""
    for hand, least, safe in (("a", 18, 20), ("b", 11, 20), ("c", 27, 39), ("d", 22, 21)):
        lines = list(interference.lines(interference.OPEN / f"interference-{hand}.jsonl"))
        right = [one for one in lines if interference.is_right(one, interference.by_rules(one))]
        assert sum(one.is_harmful for one in right) >= least
        assert sum(not one.is_harmful for one in right) >= safe


def test_what_relies_is_among_the_eight_that_a_model_is_asked_about() -> None:
    """Of hand c, with 40 items of other stories in between: what a search proposes."""
    lines = list(interference.lines(interference.OPEN / "interference-c.jsonl"))
    asked = 0
    for line in (one for one in lines if one.is_harmful):
        about = interference.asked_about(line, interference.strangers_of(line, lines)[:40])
        assert len(about) <= 8
        asked += any(one in line.others and one.id == line.relies for one in about)
    assert asked >= 39


async def test_a_model_is_counted_by_what_it_says_of_each_line() -> None:
    async def never_errs(change: Change, asked: Doubt) -> Sequence[Answer]:
        relies = {one.id: one.relies for one in some}[change.key]
        return [
            Answer(pair.item, pair.item.id == relies, pair.changed, pair.relies, "")
            for pair in asked.pairs
        ]

    some = list(interference.lines(interference.OPEN / "interference-a.jsonl"))[:8]
    told = await interference.judged(some, never_errs)
    assert all(interference.is_right(one, told[one.id]) for one in some)
