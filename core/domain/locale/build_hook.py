"""Compile the catalogues of messages: when a wheel is built, and before tests of a checkout.

A text is found by the code of its message (`msgctxt`), so that English may be reworded and what
was stored by an older release is still told in other languages.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from babel.messages import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LOCALE = "core/domain/locale"


def compile_catalogues(root: Path) -> None:
    """Write the `messages.mo` of each language but English, where it is missing or old."""
    for source in (root / LOCALE).glob("*/LC_MESSAGES/messages.po"):
        _compile(source)


def _compile(source: Path) -> None:
    made = source.with_suffix(".mo")
    if made.exists() and made.stat().st_mtime > source.stat().st_mtime:
        return
    with source.open("rb") as file:
        written = read_po(file)
    compiled = Catalog(locale=source.parents[1].name)
    for message in written:
        if message.context:
            compiled.add(message.context, message.string)
    part = source.with_suffix(f".{os.getpid()}")
    with part.open("wb") as file:
        write_mo(file, compiled)
    part.replace(made)


class CatalogueHook(BuildHookInterface[Any]):
    """The build hook that pyproject.toml names."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and let what is not in the repository travel in the wheel."""
        del version
        compile_catalogues(Path(self.root))
        build_data["artifacts"].append(f"{LOCALE}/**/*.mo")
