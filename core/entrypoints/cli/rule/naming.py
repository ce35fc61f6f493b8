"""Errors of a DMN document, prefixed with the name of its file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.domain.errors import RuleInvalid
from core.domain.messages import Message


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Prefix what is wrong with a document with its file. Raises RuleInvalid."""
    try:
        yield
    except RuleInvalid as error:
        name = "stdin" if str(file) == "-" else str(file)
        raise RuleInvalid(
            Message("call.says", where=name, why=error.message), hint=error.hint
        ) from None
