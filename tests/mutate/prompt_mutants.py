"""Mutants of prompts: a paragraph left out, or all of it replaced by filler."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.mutate.mutant import Mutant

FILLER = "Do what seems right."


def prompt_mutants(path: Path, source: str) -> Iterator[Mutant]:
    """Yield every mutant of a prompt; headings stay, since the program looks texts up by them."""
    yield Mutant(str(path), "filler", 1, "", _filled)
    for number, line in enumerate(source.splitlines()):
        if line.strip() and not line.startswith("#"):
            yield Mutant(str(path), "drop paragraph", number + 1, "", partial(_without, number))


def _filled(source: str) -> str:
    lines = source.splitlines()
    return "\n".join(line if line.startswith("#") or not line else FILLER for line in lines)


def _without(number: int, source: str) -> str:
    lines = source.splitlines(keepends=True)
    return "".join([*lines[:number], "\n", *lines[number + 1 :]])
