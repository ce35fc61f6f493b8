"""Screens of plug-ins: what they find, mask and fail at, in their own threads."""

from __future__ import annotations

import re
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import JsonValue
from structlog.testing import capture_logs

from core.app.bootstrap.screens import open_screens, see_plugins
from core.app.settings import Settings
from core.domain.errors import ConfigurationError, ScreenDown
from core.domain.models import (
    Addition,
    Found,
    Kind,
    MemoryRequest,
    NewFeedback,
    Operation,
)
from core.safety.config import ScreenConfig
from core.safety.masking import masked_feedback
from core.safety.plugins import Ask, PluginScreens
from tests.support.plugins import install, on_path

NUMBER = "CUST-1234"


def finding(severity: str, word: str = NUMBER) -> Ask:
    """Return a screen that finds a word."""

    async def find(texts: Sequence[Addition]) -> Sequence[Found]:
        return [
            Found(
                code="customer",
                text="the number of a customer",
                severity=severity,  # type: ignore[arg-type]
                place=text.place,
                start=at,
                end=at + len(word),
            )
            for text in texts
            if (at := text.text.find(word)) >= 0
        ]

    return find


async def raising(texts: Sequence[Addition]) -> Sequence[Found]:
    raise ValueError(texts[0].text)


async def hanging(texts: Sequence[Addition]) -> Sequence[Found]:
    threading.Event().wait()
    return ()


async def answering_wrong(texts: Sequence[Addition]) -> Sequence[Found]:
    end = len(texts[0].text) + 1
    return [Found(code="far", text="out of the text", place=texts[0].place, start=0, end=end)]


async def leaving(texts: Sequence[Addition]) -> Sequence[Found]:
    raise SystemExit(3)


def screens(config: Mapping[str, object] | None = None, **asks: Ask) -> PluginScreens:
    """Return screens by name, as a worker has them once they are open."""

    async def opened() -> Mapping[str, Ask]:
        return asks

    given = {"plugins": dict.fromkeys(asks), **(config or {})}
    return PluginScreens(opened, ScreenConfig.model_validate(given))


async def test_a_finding_has_the_name_of_its_screen_and_is_of_what_is_new() -> None:
    text = f"Ms. Kim is {NUMBER}.\nShe wants PDFs."
    (found,) = await screens(crm=finding("hold")).find([Addition(text=text)])
    assert (found.code, found.severity, found.quote) == ("crm.customer", "hold", NUMBER)
    assert (found.start, found.end) == (11, 20)
    assert found.text == "crm: the number of a customer"
    again = [Addition(text=f"{text} By mail.", before=text)]
    assert await screens(crm=finding("hold")).find(again) == ()
    (other,) = await screens(crm=finding("hold")).find([Addition(text=f"Mr. Lee is {NUMBER}.")])
    assert other.digest != found.digest  # what was allowed in one line is not in another


@pytest.mark.parametrize(
    ("says", "classes", "comes_to"),
    [
        ("hold", {}, "hold"),
        ("note", {}, "note"),
        ("mask", {}, "hold"),  # at the gate: what should have been masked stands there
        ("hold", {"crm": "note"}, "note"),
        ("note", {"crm": "off", "crm.customer": "hold"}, "hold"),
        ("hold", {"crm.customer": "off"}, None),
    ],
)
async def test_what_a_finding_comes_to_is_configured_by_name_and_code(
    says: str, classes: Mapping[str, str], comes_to: str | None
) -> None:
    made = screens({"classes": classes}, crm=finding(says))
    found = await made.find([Addition(text=f"it is {NUMBER}", kind=Kind.MEMORY)])
    assert [one.severity for one in found] == ([comes_to] if comes_to else [])


@pytest.mark.parametrize(
    ("ask", "why"),
    [
        (raising, r"it raised ValueError in test_plugin_screens.py:\d+"),
        (answering_wrong, "no finding in the texts"),
    ],
)
async def test_a_screen_that_fails_holds_and_no_log_has_the_text(ask: Ask, why: str) -> None:
    with capture_logs() as logs:
        found = await screens({"classes": {"bad": "off"}}, bad=ask, crm=finding("note")).find(
            [Addition(text=f"secret words of {NUMBER}")]
        )
    assert [(one.code, one.holds) for one in found] == [
        ("bad.failed", True),
        ("crm.customer", False),
    ]
    assert re.search(why, found[0].text)
    assert [log["event"] for log in logs] == ["screen.failed"]
    assert "secret words" not in f"{logs}{found[0]}"


async def test_what_is_to_be_masked_never_gets_in_wherever_it_stands() -> None:
    piece = masked_feedback(
        NewFeedback(
            tenant_id="t",
            agent_ids=("a",),
            content=f"Ms. Kim is {NUMBER} and {NUMBER}x",
            task=NUMBER,
            output={"items": [{"note": f"for {NUMBER}"}, NUMBER]},
        )
    )
    made = await screens(crm=finding("mask")).masked(piece)
    assert NUMBER not in made.model_dump_json(exclude={"content"})
    assert made.content == f"Ms. Kim is [masked:crm.customer] and {NUMBER}x"  # it said only one
    places = {(one.place, one.severity) for one in made.masked}
    assert places == {
        (place, "mask") for place in ("", "task", "output.items.0.note", "output.items.1")
    }
    request = MemoryRequest(operation=Operation.CREATE, content=f"it is {NUMBER}", target_id=NUMBER)
    told = await screens(crm=finding("mask")).masked_request(request)
    assert (told.content, told.target_id) == ("it is [masked:crm.customer]", NUMBER)


async def test_patterns_of_ones_own_that_mask_are_never_stored(tmp_path: Path) -> None:
    (tmp_path / "skill-worker.yaml").write_text(
        "screen:\n  extra:\n"
        "    - {name: 사번, pattern: 'E-\\d{6}', severity: mask}\n"
        "    - {name: Staff Numbers, pattern: 'S-\\d{6}', severity: mask}\n"
        "    - {name: told, pattern: 'E-', severity: note}\n",
        encoding="utf-8",
    )
    many = " ".join(f"E-{number:06}" for number in range(300))
    piece = masked_feedback(
        NewFeedback(tenant_id="t", agent_ids=("a",), content=f"{many} S-000001 E-1")
    )
    settings = Settings(skill_worker_config=tmp_path / "skill-worker.yaml")
    async with open_screens(settings) as opened:
        assert opened
        made = await opened.masked(piece)
        again = await opened.masked(made)
        (held,) = await opened.find([Addition(text="by S-000002")])
    assert made.content == " ".join(["[masked:extra.pattern]"] * 300) + (
        " [masked:extra.staff_numbers] E-1"
    )
    assert again.content == made.content
    assert (held.code, held.severity) == ("extra.staff_numbers", "hold")
    assert held.quote == "[masked:extra.staff_numbers]"


async def test_what_a_slow_pattern_cannot_tell_is_not_stored(tmp_path: Path) -> None:
    (tmp_path / "skill-worker.yaml").write_text(
        "screen:\n  extra:\n    - {name: slow, pattern: '(a|aa)+$', severity: mask}\n"
    )
    piece = masked_feedback(NewFeedback(tenant_id="t", agent_ids=("a",), content="a" * 90 + "!"))
    async with open_screens(Settings(skill_worker_config=tmp_path / "skill-worker.yaml")) as opened:
        assert opened
        with pytest.raises(ScreenDown, match="extra could not look"):
            await opened.masked(piece)


async def test_what_a_screen_could_not_look_at_is_not_stored() -> None:
    piece = masked_feedback(NewFeedback(tenant_id="t", agent_ids=("a",), content="words"))
    with pytest.raises(ScreenDown, match="bad could not look"):
        await screens(bad=raising).masked(piece)
    request = MemoryRequest(operation=Operation.CREATE, content="words")
    assert await screens(bad=raising).masked_request(request) == request  # it is held later


@pytest.mark.parametrize(
    "given",
    [
        {"classes": {"payeee": "hold"}},
        {"classes": {"crm": "hold"}},
        {"classes": {"payee.account": "off"}},
        {"plugins": {"payee": None}},
        {"plugins": {"a.b": None}},
    ],
)
def test_a_class_nobody_has_and_a_taken_name_are_refused(given: Mapping[str, object]) -> None:
    with pytest.raises(ValueError, match=r"no class of findings|no screen can be called"):
        ScreenConfig.model_validate(given)


# ---- what is installed, each in its own thread ---------------------------------------------------


def _opens(ask: Ask) -> object:
    class Screen:
        async def find(self, texts: Sequence[Addition]) -> Sequence[Found]:
            return await ask(texts)

    @asynccontextmanager
    async def open_screen(given: Mapping[str, JsonValue]) -> AsyncIterator[Screen]:
        yield Screen()

    return open_screen


open_crm = _opens(finding("hold"))
open_hanging = _opens(hanging)
open_leaving = _opens(leaving)
NO_FUNCTION = 3


def open_plainly(given: Mapping[str, JsonValue]) -> object:
    return finding("hold")


@asynccontextmanager
async def open_nothing(given: Mapping[str, JsonValue]) -> AsyncIterator[object]:
    yield object()


@asynccontextmanager
async def open_never(given: Mapping[str, JsonValue]) -> AsyncIterator[object]:
    raise OSError("no disk")
    yield


PLACES = {
    "crm": "open_crm",
    "hanging": "open_hanging",
    "leaving": "open_leaving",
    "number": "NO_FUNCTION",
    "plainly": "open_plainly",
    "nothing": "open_nothing",
    "never": "open_never",
    "gone": "nowhere",
}


def _settings(folder: Path, *names: str) -> Settings:
    file = folder / "skill-worker.yaml"
    plugins = ", ".join(f"{name}: {{}}" for name in names)
    file.write_text(f"screen: {{plugins: {{{plugins}}}, plugin_seconds: 0.2}}", encoding="utf-8")
    return Settings(_env_file=None, skill_worker_config=file)  # type: ignore[call-arg]


async def test_one_that_hangs_or_leaves_holds_up_nothing_else(tmp_path: Path) -> None:
    places = {name: f"{__name__}:{place}" for name, place in PLACES.items()}
    install(tmp_path, "of-tests", {"skill_worker.screens": places})
    settings = _settings(tmp_path, "crm", "hanging", "leaving")
    with on_path(tmp_path), capture_logs():
        async with open_screens(settings) as made:
            assert made is not None
            found = await made.find([Addition(text=f"it is {NUMBER}")])
            again = await made.find([Addition(text=f"it is {NUMBER}")])
    codes = ["crm.customer", "hanging.failed", "leaving.failed"]
    assert [one.code for one in found] == [one.code for one in again] == codes
    assert "not answer in time" in found[1].text


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("number", "cannot be called"),
        ("plainly", "no asynchronous context manager"),
        ("nothing", "no TextScreen: it has no find"),
        ("never", "OSError: no disk"),
        ("gone", "AttributeError"),
        ("elsewhere", "no installed package has it"),
    ],
)
async def test_a_plug_in_that_does_not_fit_is_named(tmp_path: Path, name: str, told: str) -> None:
    places = {name: f"{__name__}:{place}" for name, place in PLACES.items()}
    install(tmp_path, "of-tests", {"skill_worker.screens": places})
    with on_path(tmp_path):
        with pytest.raises(ConfigurationError, match=told) as raised:
            await see_plugins(_settings(tmp_path, name))
        assert name in raised.value.message
        (loaded,) = await see_plugins(_settings(tmp_path, "crm"))
    assert str(loaded) == "crm of screens (of-tests 0.1.0)"


async def test_two_packages_with_one_name_are_refused(tmp_path: Path) -> None:
    for package, place in (("one", "open_crm"), ("two", "open_never")):
        install(tmp_path, package, {"skill_worker.screens": {"crm": f"{__name__}:{place}"}})
    with on_path(tmp_path), pytest.raises(ConfigurationError, match="several installed packages"):
        await see_plugins(_settings(tmp_path, "crm"))
