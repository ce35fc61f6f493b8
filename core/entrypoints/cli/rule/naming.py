"""Whose fault a document is: errors of a DMN file name the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.domain.errors import RuleInvalid


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Put the file before what is wrong with its document. Raises RuleInvalid."""
    try:
        yield
    except RuleInvalid as error:
        name = "stdin" if str(file) == "-" else str(file)
        raise RuleInvalid(f"{name}: {error.message}", hint=error.hint) from None
