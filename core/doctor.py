"""The doctor: asks each part how it is, and says of each that is not well how to mend it."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from pathlib import Path

from core.errors import ConfigurationError, SkillWorkerError
from core.models.base import Model

_GIB = 1024**3
_LOW_BYTES = _GIB
_FULL_BYTES = _GIB // 10
Probe = Callable[[], Awaitable[str]]
DiskUsage = Callable[[Path], int]


class CheckStatus(StrEnum):
    """How one part is."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


class Check(Model):
    """One part: how it is, what was found, how to mend it; `kind` is that of the error."""

    name: str
    status: CheckStatus
    detail: str
    fix: str = ""
    kind: str = ""


def free_bytes(home: Path) -> int:
    """Give the bytes that are free where `home` is or will be. Raises OSError."""
    existing = next(path for path in (home, *home.parents) if path.exists())
    return shutil.disk_usage(existing).free


async def examine(
    *,
    warnings: tuple[str, ...],
    home: Path,
    probes: Mapping[str, Probe],
    free: DiskUsage = free_bytes,
) -> list[Check]:
    """Check configuration and disk, then each probe in order.

    A probe gives a sentence about a part that is well, and raises SkillWorkerError otherwise.
    """
    checks = [_config(warnings), _disk(home, free)]
    checks += [await _probe(name, probe) for name, probe in probes.items()]
    return checks


def failed_config(error: ConfigurationError) -> Check:
    """Give the check of a configuration that cannot be read."""
    return _failed("config", error)


def _config(warnings: tuple[str, ...]) -> Check:
    if warnings:
        return Check(
            name="config",
            status=CheckStatus.WARN,
            detail="; ".join(warnings),
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
        return Check(name=name, status=CheckStatus.OK, detail=await probe())
    except SkillWorkerError as error:
        return _failed(name, error)


def _failed(name: str, error: SkillWorkerError) -> Check:
    return Check(
        name=name,
        status=CheckStatus.FAIL,
        detail=error.message,
        fix=error.hint,
        kind=error.kind,
    )
