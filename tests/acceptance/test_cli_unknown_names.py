"""A name that nothing has is told, and does not look like an empty list."""

from __future__ import annotations

import io
import sys

from tests.support.home import Home

LISTS = (
    ("deliveries", "list", "--tenant", "zzz"),
    ("deliveries", "list", "--to", "zzz"),
    ("deliveries", "list", "--feedback", "zzz"),
    ("changes", "list", "--tenant", "zzz"),
    ("history", "list", "--tenant", "zzz"),
    ("history", "list", "--feedback", "zzz"),
    ("deliveries", "show", "zzz"),
    ("deliveries", "replay", "zzz"),
    ("hooks", "enable", "zzz"),
)


def test_lists_name_the_tenant_feedback_or_hook_that_is_not_there(home: Home) -> None:
    home.bring(id="m1", kind="MEMORY", content="Amounts are in KRW")
    for asked in LISTS:
        error = home.fails(*asked, code=5)
        assert (error["kind"], "zzz" in str(error["message"])) == ("not_found", True), asked
    for of in ("changes", "history"):
        assert len(home.items(of, "list", "--tenant", "t")) == 1
        assert home.items(of, "list", "--tenant", "other") == []
    assert home.items("deliveries", "list", "--tenant", "t", "--to", "platform") == []


def test_a_task_is_read_from_stdin(home: Home) -> None:
    home.bring(id="m1", kind="MEMORY", content="Quotes for Ms. Park are sent as a PDF")
    asked = ("knowledge", "context", "--agent", "a", "--task")

    def given(data: bytes) -> None:
        home.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    given(b"A quote for Ms. Park as a PDF\n")
    text = home.ask(*asked, "-")["text"]
    assert text == home.ask(*asked, "A quote for Ms. Park as a PDF")["text"]
    assert "PDF" in str(text)
    given(b"\xff\xfe")
    assert "UTF-8" in str(home.fails(*asked, "-", code=1)["message"])
    given(b" \n")
    assert home.fails(*asked, "-", code=1)["kind"] == "invalid"
