"""Errors of a DMN document, prefixed with the name of its file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.domain.errors import RuleInvalid


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Prefix what is wrong with a document with its file. Raises RuleInvalid."""
    try:
        yield
    except RuleInvalid as error:
        name = "stdin" if str(file) == "-" else str(file)
        raise RuleInvalid(f"{name}: {error.message}", hint=error.hint) from None
