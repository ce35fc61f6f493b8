"""What a check is, how each part is probed, and the two checks that depend on no other part."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from pathlib import Path

from core.domain.errors import ConfigurationError, SkillWorkerError
from core.domain.messages import joined
from core.domain.models.base import Model

_GIB = 1024**3
_LOW_BYTES = _GIB
_FULL_BYTES = _GIB // 10
DiskUsage = Callable[[Path], int]


class CheckStatus(StrEnum):
    """The state of one part."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


class Check(Model):
    """One part: its state, what was found, how to mend it; `kind` is that of the error."""

    name: str
    status: CheckStatus
    detail: str
    fix: str = ""
    kind: str = ""


Probe = Callable[[], Awaitable[str | Check]]


def free_bytes(home: Path) -> int:
    """Return the free bytes where `home` is or will be.

    Raises OSError, also if nothing can be created there.
    """
    existing = next(path for path in (home, *home.parents) if path.exists())
    Path(tempfile.mkdtemp(prefix=".doctor-", dir=existing)).rmdir()
    return shutil.disk_usage(existing).free


async def examine(
    *,
    warnings: tuple[str, ...],
    home: Path,
    probes: Mapping[str, Probe],
    free: DiskUsage = free_bytes,
) -> list[Check]:
    """Check configuration and disk, then each probe in order.

    A probe returns a sentence about a part that is well, or a whole check, and raises
    SkillWorkerError if something is wrong.
    """
    checks = [_config(warnings), _disk(home, free)]
    checks += [await _probe(name, probe) for name, probe in probes.items()]
    return checks


def failed_config(error: ConfigurationError) -> Check:
    """Return the check of a configuration that cannot be read."""
    return failed("config", error)


def _config(warnings: tuple[str, ...]) -> Check:
    if warnings:
        return Check(
            name="config",
            status=CheckStatus.WARN,
            detail=joined(warnings),
            fix="mend it, or leave it out",
        )
    return Check(name="config", status=CheckStatus.OK, detail="all settings can be read")


def _disk(home: Path, free: DiskUsage) -> Check:
    try:
        left = free(home)
    except OSError as error:
        return Check(
            name="disk",
            status=CheckStatus.FAIL,
            detail=f"{home} cannot be used: {error.strerror}",
            fix="set SKILL_WORKER_HOME to a folder you may write to",
            kind="configuration",
        )
    status = CheckStatus.OK
    if left < _LOW_BYTES:
        status = CheckStatus.FAIL if left < _FULL_BYTES else CheckStatus.WARN
    return Check(
        name="disk",
        status=status,
        detail=f"{left / _GIB:.1f} GiB free for {home}",
        fix="" if status is CheckStatus.OK else "free some space, or move SKILL_WORKER_HOME",
        kind="" if status is CheckStatus.OK else "dependency",
    )


async def _probe(name: str, probe: Probe) -> Check:
    try:
        found = await probe()
    except SkillWorkerError as error:
        return failed(name, error)
    return found if isinstance(found, Check) else well(name, found)


def well(name: str, detail: str) -> Check:
    """Return the check of a part that is well."""
    return Check(name=name, status=CheckStatus.OK, detail=detail)


def failed(name: str, error: SkillWorkerError) -> Check:
    """Return the check of a part that has failed."""
    return Check(
        name=name,
        status=CheckStatus.FAIL,
        detail=error.message,
        fix=error.hint,
        kind=error.kind,
    )
