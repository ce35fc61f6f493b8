"""Packages with plug-ins, installed for the time of a test."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from pydantic import JsonValue

from core.domain.models import Addition, Found, ScreenSeverity


def install(folder: Path, package: str, entries: Mapping[str, Mapping[str, str]]) -> None:
    """Write what `pip install` leaves of a package's entry points: by group, name and place."""
    stem = package.replace("-", "_")
    info = folder / f"{stem}-0.1.0.dist-info"
    info.mkdir(parents=True)
    named = f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1.0\n"
    (info / "METADATA").write_text(named, encoding="utf-8")
    lines = [
        line
        for group, places in entries.items()
        for line in (f"[{group}]", *(f"{name} = {place}" for name, place in places.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


@contextmanager
def on_path(folder: Path) -> Iterator[Path]:
    """Have what is installed in a folder found by Python."""
    sys.path.insert(0, str(folder))
    try:
        yield folder
    finally:
        sys.path.remove(str(folder))


class WaryScreen:
    """Masks numbers of customers, and cannot look at poison."""

    async def find(self, texts: Sequence[Addition]) -> Sequence[Found]:
        if any("poison" in text.text for text in texts):
            raise ValueError(texts)
        return [
            Found(
                code="customer",
                text="the number of a customer",
                severity=ScreenSeverity.MASK,
                place=text.place,
                start=one.start(),
                end=one.end(),
            )
            for text in texts
            for one in re.finditer(r"CUST-\d+", text.text)
        ]


@asynccontextmanager
async def open_wary(given: Mapping[str, JsonValue]) -> AsyncIterator[WaryScreen]:
    """Open the screen, which takes nothing."""
    yield WaryScreen()
