"""A rewrite is no refinement, and struck-out text is no extension."""

from __future__ import annotations

import pytest

from core.domain.models import SKILL_MD, Bundle, MergeMode, SkillFile
from core.skills.document.shrink import losses, passages, surviving

HEAD = "---\nname: refund\ndescription: Use when refunding an order in part\n---\n"
STEPS = [f"Step {n}: call the payment gateway with order {n} and wait." for n in range(200)]
CODE = "```python\nrefund(order)\ncheck(order)\n```\n"
EMPTY = "```\n```\n"


def skill(body: str, head: str = HEAD) -> Bundle:
    return Bundle(name="refund", files={SKILL_MD: SkillFile(data=(head + body).encode())})


def document(steps: list[str], code: str = CODE) -> str:
    return "# Refund\n\n" + "\n".join(steps) + "\n\n" + code


def lost(after: Bundle, mode: MergeMode = MergeMode.REFINE, before: str = "") -> str:
    return "; ".join(losses(skill(before or document(STEPS)), after, mode, 20))


@pytest.mark.parametrize(
    "steps",
    [
        ["Advice: " + "x" * 13_000],
        [f"General advice number {n}: be careful, polite and think of it." for n in range(200)],
        [f"{n}단계: 손님에게 먼저 사과하고 차분하게 기다린다." for n in range(200)],
    ],
)
def test_other_text_of_the_same_length_makes_up_for_nothing(steps: list[str]) -> None:
    found = lost(skill(document(steps)))
    assert "100 % of SKILL.md would be gone" in found or "99 % of SKILL.md" in found


@pytest.mark.parametrize("code", [EMPTY, "```python\npass\n```\n", "```\nx\n```\n"])
def test_a_code_block_that_is_emptied_is_gone(code: str) -> None:
    assert "code blocks would be gone (1 → 1): 'refund(order)" in lost(skill(document(STEPS, code)))


@pytest.mark.parametrize(
    "after",
    [
        document([step.replace("order", "receipt") for step in STEPS]),
        document([*STEPS[100:], *STEPS[:100]]),
        document(["Whatever is new. " + STEPS[0], *STEPS[1:]]),
        document([*STEPS[:170], "Ask a manager to do what is left."]),
        document(STEPS, CODE.replace("check(order)", "check(order, strict=True)")),
    ],
)
def test_what_is_reworded_moved_or_replaced_in_part_is_a_refinement(after: str) -> None:
    assert lost(skill(after)) == ""


@pytest.mark.parametrize("description", ["Nothing", "TODO: to be written when there is time"])
@pytest.mark.parametrize("mode", [MergeMode.REFINE, MergeMode.EXTEND])
def test_a_description_is_not_gutted(description: str, mode: MergeMode) -> None:
    head = HEAD.replace("Use when refunding an order in part", description)
    assert "the description would lose" in lost(skill(document(STEPS), head), mode)


def test_a_description_may_be_written_anew_by_a_refinement_only() -> None:
    head = HEAD.replace("Use when refunding an order in part", "Use for refunds of single items")
    assert lost(skill(document(STEPS), head)) == ""
    found = lost(skill(document(STEPS), head), MergeMode.EXTEND)
    assert found == "the description would lose words; it may only grow"


def test_letters_strewn_over_other_words_are_no_description_that_grew() -> None:
    strewn = "Ubiquitous nonsense a worker handles every refusal undoing inner gin or derision part"
    head = HEAD.replace("Use when refunding an order in part", strewn)
    assert "would lose words" in lost(skill(document(STEPS), head), MergeMode.EXTEND)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ("Never do this:\n~~~\nDo A.\n\nDo B.\n~~~\n", "'Do A.', 'Do B.'"),
        ("Never do this:\n<!--\nDo A.\n\nDo B.\n-->\n", "'Do A.', 'Do B.'"),
        ("<!--\nDo A.\n\nDo B.\n-->\n", "'Do A.', 'Do B.'"),
        ("> It was said once:\nDo A.\n\nDo B.\n", "'Do A.'"),
        ("Do A.\n\nDo B.\n---\n", "'Do B.'"),
        ("Do A.\n\nAnd then:\n\nDo B.\n\n```\ncheck\n```\n", ""),
        ("- first\n\nDo A.\n\nDo B.\n> quoted\n", ""),
    ],
)
def test_what_was_said_stays_what_it_is_read_as(after: str, said: str) -> None:
    found = lost(skill(after), MergeMode.EXTEND, before="Do A.\n\nDo B.\n")
    if said:
        assert f"would be read as another kind of block: {said}" in found
    else:
        assert found == ""


def test_each_passage_stands_in_for_one_other() -> None:
    assert surviving(["pay the bill today"] * 3, ["pay the bill today!"]) == [18, 0, 0]
    assert surviving(["a b", "a b"], ["a b"]) == [3, 0]
    assert surviving([], ["a"]) == []
    assert surviving(["a"], []) == [0]


def test_a_long_line_is_compared_by_its_sentences() -> None:
    one = "First, weigh the parcel. Then print the label. 3. Call the courier."
    assert passages(one) == [
        "First, weigh the parcel.",
        "Then print the label.",
        "3. Call the courier.",
    ]
    assert max(map(len, passages("x" * 1_000))) <= 400
