"""The doctor names each part, how it is, and the fix."""

from __future__ import annotations

from pathlib import Path

from core.domain.errors import ConfigurationError, DatabaseDown
from core.entrypoints.doctor import Check, CheckStatus, Probe, examine, failed_config, free_bytes

GIB = 1024**3


async def _well() -> str:
    return "answers"


async def _down() -> str:
    raise DatabaseDown("nobody listens", hint="start it")


async def _examine(
    *, free: int = 10 * GIB, warnings: tuple[str, ...] = (), **probes: Probe
) -> dict[str, Check]:
    checks = await examine(
        warnings=warnings, home=Path("/x"), probes=probes, free=lambda _home: free
    )
    return {check.name: check for check in checks}


async def test_parts_are_asked_in_order() -> None:
    checks = await _examine(database=_well, model=_well)
    assert list(checks) == ["config", "disk", "database", "model"]
    assert {check.status for check in checks.values()} == {CheckStatus.OK}


async def test_one_part_that_is_down_hides_no_other() -> None:
    checks = await _examine(database=_down, model=_well)
    assert checks["database"] == Check(
        name="database",
        status=CheckStatus.FAIL,
        detail="nobody listens",
        fix="start it",
        kind="database",
    )
    assert checks["model"].status is CheckStatus.OK


async def test_a_full_disk_is_noticed_before_it_is_full() -> None:
    assert (await _examine(free=GIB // 2))["disk"].status is CheckStatus.WARN
    assert (await _examine(free=GIB // 20))["disk"].status is CheckStatus.FAIL
    assert (await _examine(free=GIB // 20))["disk"].fix


async def test_an_ignored_setting_is_a_warning() -> None:
    assert (await _examine(warnings=("X counts as off",)))["config"].status is CheckStatus.WARN


async def test_a_home_that_cannot_be_looked_at_fails_with_a_fix() -> None:
    def refuse(_home: Path) -> int:
        raise PermissionError(13, "Permission denied")

    checks = await examine(warnings=(), home=Path("/x"), probes={}, free=refuse)
    assert checks[1].status is CheckStatus.FAIL
    assert "SKILL_WORKER_HOME" in checks[1].fix


async def test_a_home_where_nothing_can_be_made_is_named_as_the_cause() -> None:
    checks = await examine(warnings=(), home=Path("/proc/nope"), probes={})
    assert (checks[1].status, checks[1].kind) == (CheckStatus.FAIL, "configuration")
    assert "/proc/nope cannot be used" in checks[1].detail


def test_looking_at_the_disk_leaves_nothing_there(tmp_path: Path) -> None:
    free_bytes(tmp_path / "home")
    assert list(tmp_path.iterdir()) == []


def test_the_disk_is_that_of_the_nearest_folder_there_is(tmp_path: Path) -> None:
    assert free_bytes(tmp_path / "not" / "yet") > 0


def test_a_configuration_that_cannot_be_read_is_a_check_too() -> None:
    check = failed_config(ConfigurationError("X: wrong", hint="mend it"))
    assert (check.status, check.kind, check.fix) == (CheckStatus.FAIL, "configuration", "mend it")
