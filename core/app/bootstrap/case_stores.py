"""The stores of cases, and what runs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from core.adapters.embedded.local_pods import LocalPods
from core.adapters.postgres.case_figures import PostgresCaseFigures
from core.adapters.postgres.case_runner import PostgresCaseRunner
from core.adapters.postgres.case_upkeep import PostgresCaseUpkeep
from core.adapters.postgres.cases import PostgresCases, RunCases
from core.adapters.postgres.queries import Pool
from core.changes.cases.running import WithScripts
from core.domain.ports import (
    CaseFigures,
    CaseRunner,
    Cases,
    CaseUpkeep,
    Observer,
    Routes,
    SkillStore,
)


@dataclass(frozen=True)
class CaseStores:
    """The stores of cases; `run_on` runs them within a transaction."""

    runner: CaseRunner
    run_on: RunCases
    cases: Cases
    upkeep: CaseUpkeep
    figures: CaseFigures


def case_stores(
    pool: Pool, skills: SkillStore, observe: Observer, routes: Routes, now: Callable[[], datetime]
) -> CaseStores:
    """Return the adapters."""
    runner = PostgresCaseRunner(pool, now)
    return CaseStores(
        runner=WithScripts(runner, skills, LocalPods()),
        run_on=runner.run_on,
        cases=PostgresCases(pool, observe, routes),
        upkeep=PostgresCaseUpkeep(pool),
        figures=PostgresCaseFigures(pool),
    )
