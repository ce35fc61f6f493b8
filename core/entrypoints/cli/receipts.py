"""How commands print the receipt of a change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from core.entrypoints.cli.exits import FAILED
from core.entrypoints.cli.output import print_model, say, talk

if TYPE_CHECKING:
    from core.domain.models import Receipt


def has_failed(receipt: Receipt) -> bool:
    """Whether a command with this receipt ends with FAILED."""
    return not receipt.status.is_outcome


def tell_receipt(receipt: Receipt, *, as_json: bool) -> None:
    """Print a receipt; if it is not an outcome the command ends with FAILED."""
    if as_json:
        print_model(receipt)
    else:
        say(f"{receipt.status}: {receipt.message}")
        tell_warnings(receipt.warnings)
    if has_failed(receipt):
        raise typer.Exit(FAILED)


def tell_warnings(warnings: Iterable[str]) -> None:
    """Print each warning beside the data."""
    for warning in warnings:
        talk(f"warning: {warning}")
