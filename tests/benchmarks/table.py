"""One measured figure, and the table of them."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Figure:
    """What was measured, the baseline, and the target; `target` None promises nothing."""

    name: str
    measured: str
    against: str
    ratio: float | None = None
    at_most: float | None = None
    at_least: float | None = None

    @property
    def is_met(self) -> bool:
        """Whether the ratio meets its target, or there is none."""
        if self.ratio is None:
            return True
        under = self.at_most is None or self.ratio <= self.at_most
        return under and (self.at_least is None or self.ratio >= self.at_least)

    @property
    def target(self) -> str:
        """The target in words."""
        if self.at_most is not None:
            return f"≤ {self.at_most:g}"
        return f"≥ {self.at_least:g}" if self.at_least is not None else "-"


def print_table(figures: list[Figure]) -> None:
    """Print the figures as a Markdown table, with date and machine."""
    print(f"{machine()}\n")
    print("| what | measured | against | ratio | target | met |")
    print("|---|---|---|---|---|---|")
    for figure in figures:
        ratio = "-" if figure.ratio is None else f"{figure.ratio:.2f}"
        met = "yes" if figure.is_met else "**no**"
        cells = (figure.name, figure.measured, figure.against, ratio, figure.target, met)
        print("| " + " | ".join(cells) + " |")


def machine() -> str:
    """Return when and on what it was measured, in words."""
    cores = os.cpu_count()
    return (
        f"{date.today()}, {cores} cores, {platform.machine()}, Python {platform.python_version()}"
    )
