"""A failing page says so in the reader's language; the cause goes to the log only."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from nicegui import Client, ui
from nicegui.page import page
from starlette.requests import Request
from structlog.testing import capture_logs

from core.domain.errors import InvalidInput, Refused
from core.domain.models import Receipt, ReceiptStatus
from core.domain.models.access import Principal
from core.entrypoints.console.language import Language
from core.entrypoints.console.pages.review.editing import _Editor
from core.entrypoints.console.parts.problem import notify_done, notify_failures
from core.entrypoints.console.site import fill
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.session import Session

if TYPE_CHECKING:
    from core.app.program import App
    from core.entrypoints.console.pages.review.editing import Save
    from core.entrypoints.service.changes import ChangesService
    from core.entrypoints.service.review_view.heads import ChangeHead

NO_SESSION = cast("Session", None)  # what breaks before it looks at anything


def _visit() -> Visit:
    scope = {"type": "http", "method": "GET", "scheme": "http", "server": ("test", 80)}
    request = Request({**scope, "path": "/console/review", "query_string": b"", "headers": []})
    return Visit(request, NO_SESSION, Language.KO, lambda: datetime.now(UTC))


async def _shown(error: Exception) -> tuple[int, str]:
    async def build(_: Visit) -> None:
        raise error

    visit = _visit()
    with Client(page("/broken"), request=visit.request) as client:
        await fill(visit, build)
        parts = [one.content for one in client.elements.values() if isinstance(one, ui.html)]
    return client.status_code, "".join(parts)


async def test_an_unplanned_error_is_told_without_its_text_and_logged_with_it() -> None:
    with capture_logs() as logged:
        status, shown = await _shown(ZeroDivisionError("secret of the program"))
    assert status == 500
    assert "예기치 않은 오류가 발생했습니다" in shown
    assert "secret" not in shown
    (entry,) = logged
    assert (entry["event"], entry["path"]) == ("console.failed", "/console/review")
    assert entry["exc_info"]


async def test_what_is_wrong_with_the_request_is_told_as_it_is_and_not_logged() -> None:
    with capture_logs() as logged:
        status, shown = await _shown(
            InvalidInput("'x' is no date", hint="write it like 2026-11-22")
        )
    assert status == 422
    assert "is no date" in shown
    assert "2026-11-22" in shown
    assert logged == []


@pytest.mark.parametrize(
    ("status", "tone", "begins"),
    [
        (ReceiptStatus.APPLIED, "positive", "되돌렸습니다: 통화"),
        (ReceiptStatus.HELD, "warning", "아직 바뀌지 않았습니다"),
    ],
)
async def test_what_only_waits_for_a_person_is_not_told_as_done(
    monkeypatch: pytest.MonkeyPatch, status: ReceiptStatus, tone: str, begins: str
) -> None:
    visit, said = _visit(), list[dict[str, Any]]()
    with Client(page("/done"), request=visit.request) as client:
        monkeypatch.setattr(
            client.outbox, "enqueue_message", lambda _k, data, _t: said.append(data)
        )
        notify_done(visit, "review.reverted", Receipt(status=status, message=""), "통화")
    (data,) = said
    assert data["type"] == tone
    assert data["message"].startswith(begins)


def test_what_was_refused_is_not_told_as_done() -> None:
    refused = Receipt(status=ReceiptStatus.REFUSED, message="it is there already")
    with pytest.raises(Refused, match="it is there already"):
        notify_done(_visit(), "review.reverted", refused, "통화")


def _break() -> None:
    raise ZeroDivisionError("secret of the program")


async def test_a_button_that_breaks_says_so_in_a_corner_and_the_page_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    visit, said = _visit(), list[tuple[str, Any]]()
    with Client(page("/broken"), request=visit.request) as client, capture_logs() as logged:
        monkeypatch.setattr(
            client.outbox, "enqueue_message", lambda kind, data, _: said.append((kind, data))
        )
        with notify_failures(visit):
            _break()
    ((kind, data),) = said
    assert kind == "notify"
    assert data["message"].startswith("예기치 않은 오류가 발생했습니다")
    assert "secret" not in str(data)
    (entry,) = logged
    assert (entry["event"], entry["path"]) == ("console.failed", "/console/review")


async def test_the_editor_says_what_is_hidden_in_the_text_on_screen() -> None:
    principal = Principal(token_id="1", name="kim")
    visit = replace(_visit(), session=Session(cast("App", None), principal))
    change = cast(
        "ChangeHead", SimpleNamespace(id="c", target_name="n\u202e", reach=None, content_hash="h")
    )
    texts = {"a.md": "환불 계좌 110-\u202e999\u3164", "b.md": "보통 글"}
    with Client(page("/editor"), request=visit.request) as client:
        editor = _Editor(visit, cast("ChangesService", None), change, texts, "a.md", {})
        editor.draw("", cast("Save", None))
        assert _boxes(client) == ["[U+202E]", "[U+202E]", "[U+3164]"]  # of the title, of the text
        editor._show("b.md")
        assert _boxes(client) == ["[U+202E]"]


def _boxes(client: Client) -> list[str]:
    parts = "".join(one.content for one in client.elements.values() if isinstance(one, ui.html))
    return re.findall(r"\[U\+\w+\]", parts)
