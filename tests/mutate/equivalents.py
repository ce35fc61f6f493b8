"""Mutants that no test can notice, each with the reason; they count for nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from tests.mutate.mutant import Mutant
from tests.mutate.scope import ROOT

FILE = Path(__file__).with_name("equivalent.yaml")


@dataclass(frozen=True)
class Equivalent:
    """A file, the lines that a mutant takes out and puts in there, and why nothing comes of it."""

    file: str
    was: str
    becomes: str
    because: str


@cache
def equivalents() -> tuple[Equivalent, ...]:
    """Return those that are known."""
    return tuple(Equivalent(**each) for each in yaml.safe_load(FILE.read_text("utf-8")) or ())


def is_equivalent(mutant: Mutant) -> bool:
    """Whether a mutant is known to change nothing that anybody sees."""
    of_file = [known for known in equivalents() if known.file == mutant.path]
    return bool(of_file) and lines_of(mutant) in {(each.was, each.becomes) for each in of_file}


def lines_of(mutant: Mutant) -> tuple[str, str]:
    """Return what a mutant takes out and puts in, each on one line."""
    lines = mutant.difference((ROOT / mutant.path).read_text("utf-8")).splitlines()
    parts = ([line[1:].split() for line in lines if line.startswith(sign)] for sign in "-+")
    was, becomes = (" ".join(" ".join(line) for line in part) for part in parts)
    return was, becomes
