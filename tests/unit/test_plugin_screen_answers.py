"""What screens of plug-ins may answer, and what becomes of it text by text."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from structlog.testing import capture_logs

from core.domain.errors import ScreenDown
from core.domain.models import Addition, Found, Kind, NewFeedback, ScreenSeverity
from core.safety.config import ExtraPattern, ScreenConfig
from core.safety.masking import masked_feedback
from core.safety.plugins import Ask, PluginScreens, own_masks

HOLD, MASK, NOTE = ScreenSeverity.HOLD, ScreenSeverity.MASK, ScreenSeverity.NOTE


def found(start: int, end: int, place: str = "", severity: ScreenSeverity = HOLD) -> Found:
    return Found(code="x", text="odd", severity=severity, place=place, start=start, end=end)


def answering(*told: object) -> Ask:
    async def find(texts: Sequence[Addition]) -> Sequence[Found]:
        return told  # type: ignore[return-value]

    return find


def screens(given: Mapping[str, object] | None = None, **asks: Ask) -> PluginScreens:
    async def opened() -> Mapping[str, Ask]:
        return asks

    config = {"plugins": dict.fromkeys(asks), **(given or {})}
    return PluginScreens(opened, ScreenConfig.model_validate(config))


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ([found(0, 4)], "crm.x"),
        ([found(0, 5)], "crm.failed"),  # behind the end
        ([found(2, 2)], "crm.failed"),  # of nothing
        ([found(0, 1, "other")], "crm.failed"),  # in no text of these
        (["odd"], "crm.failed"),
        ([found(0, 1), None], "crm.failed"),
    ],
)
async def test_an_answer_that_is_of_no_text_is_none(told: Sequence[object], code: str) -> None:
    with capture_logs():
        made = await screens(crm=answering(*told)).find([Addition(text="text")])
    assert [one.code for one in made] == [code]


async def test_a_screen_may_find_as_much_as_ours_and_no_more() -> None:
    text = "x" * 300
    most, more = ([found(at, at + 1) for at in range(number)] for number in (200, 201))
    assert len(await screens(crm=answering(*most)).find([Addition(text=text)])) == 200
    with capture_logs():
        (failed,) = await screens(crm=answering(*more)).find([Addition(text=text)])
    assert failed.code == "crm.failed"


async def test_texts_are_told_apart_by_their_places_and_blank_ones_are_not_shown() -> None:
    shown: list[Addition] = []

    async def find(texts: Sequence[Addition]) -> Sequence[Found]:
        shown.extend(texts)
        return [found(0, 3, "a"), found(8, 11, "b")]

    made = await screens(crm=find).find(
        [
            Addition(place="a", text="One is new", before="It is."),
            Addition(place="b", text="It is. Two is old", before="Two is old"),
            Addition(place="c", text=" \n"),
            Addition(place="d", text="<text>Three</text>", kind=Kind.DMN_RULE),
        ]
    )
    assert [(one.place, one.quote) for one in made] == [("a", "One")]
    assert [one.place for one in shown] == ["a", "b", "d"]
    assert "<text>" not in shown[2].text
    shown.clear()
    assert await screens(crm=find).find([Addition(text=" ")]) == ()
    assert shown == []


async def test_what_a_screen_says_is_masked_and_short() -> None:
    told = Found(code="x", text="password: Sommer24\n" + "so " * 200, severity=HOLD, start=4, end=8)
    (made,) = await screens(crm=answering(told)).find([Addition(text="the text")])
    assert "Sommer24" not in made.text
    assert len(made.text) <= len("crm: ") + 300
    assert (made.start, made.end, made.quote) == (4, 8, "text")


async def test_a_screen_that_fails_may_be_told_only_and_is_known_by_its_texts() -> None:
    async def slow(texts: Sequence[Addition]) -> Sequence[Found]:
        await asyncio.Event().wait()
        return ()

    noted = {"classes": {"crm.failed": "note"}, "plugin_seconds": 0.001}
    with capture_logs():
        (one,) = await screens(noted, crm=slow).find([Addition(text="one")])
        (same,) = await screens({"plugin_seconds": 0.001}, crm=slow).find([Addition(text="one")])
        (other,) = await screens(noted, crm=slow).find([Addition(text="other")])
    assert (one.severity, same.severity) == (NOTE, HOLD)
    assert one.digest == same.digest != other.digest
    assert (one.start, one.end) == (0, 0)


def piece(content: str, task: str = "") -> NewFeedback:
    return NewFeedback(tenant_id="t", agent_ids=("a",), content=content, task=task)


async def test_spans_that_overlap_are_masked_as_one_and_each_text_by_its_own() -> None:
    async def find(texts: Sequence[Addition]) -> Sequence[Found]:
        (content,) = (one for one in texts if one.text.startswith("0"))
        spans = ((6, 9), (1, 4), (3, 6), (8, 9))
        return [found(start, end, content.place, MASK) for start, end in spans]

    made = await screens(crm=find).masked(masked_feedback(piece("0123456789", "another")))
    assert made.content == "0[masked:crm.x][masked:crm.x]9"
    assert made.task == "another"
    assert [(one.start, one.end, one.severity) for one in made.masked] == [
        (1, 4, MASK),
        (6, 9, MASK),
    ]


@pytest.mark.parametrize(
    ("severity", "classes", "content"),
    [
        (MASK, {}, "[masked:crm.x]bc"),
        (MASK, {"crm": "note"}, "[masked:crm.x]bc"),
        (MASK, {"crm.x": "off"}, "abc"),
        (HOLD, {}, "abc"),
        (NOTE, {"crm": "hold"}, "abc"),
    ],
)
async def test_what_is_off_or_only_found_is_not_masked(
    severity: ScreenSeverity, classes: Mapping[str, str], content: str
) -> None:
    async def find(texts: Sequence[Addition]) -> Sequence[Found]:
        return [found(0, 1, texts[0].place, severity)]

    made = await screens({"classes": classes}, crm=find).masked(masked_feedback(piece("abc")))
    assert made.content == content


async def test_a_text_that_stands_twice_is_shown_once_and_masked_twice() -> None:
    shown: list[str] = []

    async def find(texts: Sequence[Addition]) -> Sequence[Found]:
        shown.extend(one.text for one in texts)
        return [found(0, 1, one.place, MASK) for one in texts if one.text == "abc"]

    output = {"abc": "abc", "other": "abc", "": " "}
    given = masked_feedback(piece("abc")).model_copy(update={"output": output})
    made = await screens(crm=find).masked(given)
    assert shown == ["abc", "other"]
    assert made.output == {
        "[masked:crm.x]bc": "[masked:crm.x]bc",
        "other": "[masked:crm.x]bc",
        "": " ",
    }


async def test_screens_that_cannot_be_opened_or_look_are_told() -> None:
    async def failing() -> Mapping[str, Ask]:
        raise ScreenDown("no disk")

    with pytest.raises(ScreenDown, match="no disk"):
        await PluginScreens(failing, ScreenConfig()).check()
    assert await PluginScreens(failing, ScreenConfig()).find([]) == ()  # nothing to be shown


async def test_patterns_that_mask_are_a_screen_that_finds_no_empty_match() -> None:
    told = ExtraPattern(name="told", pattern="b")
    assert own_masks(ScreenConfig(extra=(told,))) is None
    masks = ExtraPattern(name="Number", pattern="a*", severity=MASK)
    find = own_masks(ScreenConfig(extra=(told, masks)))
    assert find is not None
    made = await find([Addition(place="p", text="baab"), Addition(place="q", text="b")])
    assert [(one.code, one.text, one.place, one.start, one.end) for one in made] == [
        ("number", "Number", "p", 1, 3)
    ]
