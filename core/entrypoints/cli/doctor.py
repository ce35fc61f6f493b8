"""`skill-worker doctor`: what is in order, what is not, and how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from core.domain.errors import ConfigurationError
from core.entrypoints.cli.exits import exit_code_of
from core.entrypoints.cli.options import Json, Offline
from core.entrypoints.cli.output import print_page, print_table
from core.entrypoints.cli.session import load, run_async

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.entrypoints.doctor import Check


def doctor(offline: Offline = False, as_json: Json = False) -> None:
    """Check configuration, disk, database, a pause, skill API, models, and what builds skills."""
    checks = _checks(offline=offline)
    if as_json:
        print_page(checks)
    else:
        print_table(
            ("CHECK", "STATUS", "DETAIL", "FIX"),
            [(check.name, check.status, check.detail, check.fix) for check in checks],
        )
    failed = next((check for check in checks if check.status == "FAIL"), None)
    if failed:
        raise typer.Exit(exit_code_of(failed.kind))


def _checks(*, offline: bool) -> Sequence[Check]:
    from core.entrypoints.doctor import check_up, failed_config

    try:
        settings = load({"llm_model": "offline"} if offline else {}, interactive=True)
    except ConfigurationError as error:
        return [failed_config(error)]
    return run_async(check_up(settings))
