"""What counts as written by an author, and what is only a placeholder."""

from __future__ import annotations

import pytest

from core.skills.document.assembly import is_placeholder

EITHER = ("", " \n\t\n", "#!/bin/sh\n\n", "TODO", "**TBD**: later", "> fixme", "xxxx", "추후 작성")
MARKDOWN_ONLY = ("# Title\n## Steps\n", "---\n\n***\n", "- \n…\n", "# TODO")
WRITTEN = (
    "Refund it.",
    "# Title\n\nRefund it.\n",
    "a TODO stands here",
    "todos are listed",
    "TODO\nx",
)


@pytest.mark.parametrize("text", EITHER)
@pytest.mark.parametrize("markdown", [True, False])
def test_what_says_nothing_is_a_placeholder(text: str, markdown: bool) -> None:
    assert is_placeholder(text, markdown=markdown)


@pytest.mark.parametrize("text", MARKDOWN_ONLY)
def test_headings_and_rules_say_nothing_in_markdown(text: str) -> None:
    assert is_placeholder(text, markdown=True)


@pytest.mark.parametrize("text", ["# a comment of a script\n", "{}\n", "---\n"])
def test_what_is_no_markdown_may_be_comments_and_signs(text: str) -> None:
    assert not is_placeholder(text, markdown=False)


@pytest.mark.parametrize("text", WRITTEN)
@pytest.mark.parametrize("markdown", [True, False])
def test_what_says_something_is_no_placeholder(text: str, markdown: bool) -> None:
    assert not is_placeholder(text, markdown=markdown)
