"""A model with its prompts, judged: by a set in a home of its own, or by runs on record."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.domain.errors import InvalidInput
from core.domain.hashing import sha256
from core.domain.messages import Message
from core.domain.models import Usage
from core.domain.models.base import Model
from core.entrypoints.cli.progress import feedback_bar
from core.entrypoints.cli.session import load, load_apart
from core.entrypoints.evals.judging import CaseResult, Report
from core.entrypoints.evals.paired import Pair, Paired, compare
from core.entrypoints.evals.report import pairs, read_report

if TYPE_CHECKING:
    from core.domain.models.recorded_runs import RecordedRun
    from core.entrypoints.evals.cases import RoutingCase

OFFLINE = "offline"


@dataclass(frozen=True)
class Variant:
    """A model, and the folder of prompts it is given in place of ours."""

    model: str
    prompts: Path | None = None

    @classmethod
    def named(cls, text: str) -> Variant:
        """Read `MODEL` or `MODEL@DIR`."""
        model, _, folder = text.partition("@")
        return cls(model, Path(folder) if folder else None)

    @property
    def is_floor(self) -> bool:
        """Whether it is the offline stand-in as it is."""
        return self.model == OFFLINE and self.prompts is None

    @property
    def digest(self) -> str:
        """Which prompts it was given, "" for ours."""
        if self.prompts is None:
            return ""
        found = sorted(self.prompts.glob("*.md"))
        return sha256(b"\0".join(one.name.encode() + one.read_bytes() for one in found))[:16]

    def prompted(self) -> AbstractContextManager[None]:
        """Use its prompts while the block runs. Raises InvalidInput."""
        from core.agent.model.chat_model import with_prompts

        return with_prompts(self.prompts) if self.prompts else nullcontext()


class Sides(Model):
    """Two variants side by side, and what each cost."""

    first: str
    second: str
    paired: Paired
    first_usage: Usage
    second_usage: Usage


async def decided(
    name: str,
    cases: Sequence[RoutingCase],
    variants: Sequence[Variant],
    concurrency: int,
    stop: asyncio.Event,
) -> list[Report]:
    """Return a report of the cases for each variant; none is begun once `stop` is set."""
    reports: list[Report] = []
    for variant in variants:
        if reports and stop.is_set():
            break
        with variant.prompted():
            results = await _results(cases, variant, concurrency, stop)
        order = {case.id: number for number, case in enumerate(cases)}
        results.sort(key=lambda one: order[one.id])
        reports.append(
            Report(
                set=name,
                model=variant.model,
                prompts=variant.digest,
                results=tuple(results),
                undecided=tuple(
                    sorted(order.keys() - {one.id for one in results}, key=order.__getitem__)
                ),
            )
        )
    return reports


async def _results(
    cases: Sequence[RoutingCase], variant: Variant, concurrency: int, stop: asyncio.Event
) -> list[CaseResult]:
    from core.app import program
    from core.entrypoints.evals.running import decide_beside, decide_in

    inside = [case for case in cases if case.known is not None]
    beside = [case for case in cases if case.known is None]
    results: list[CaseResult] = []
    is_offline = variant.model == OFFLINE
    if inside:
        with tempfile.TemporaryDirectory(prefix="skill-worker-eval-") as home:
            rules = {"review_policy": "auto", "screen": "note"}
            settings = load_apart(Path(home), llm_model=variant.model, **rules)
            async with program.open_over_tenants(settings, model=True, offline=is_offline) as app:
                with feedback_bar(f"judging {variant.model}") as on_progress:
                    results += await decide_in(
                        app, inside, concurrency=concurrency, stop=stop, on_progress=on_progress
                    )
    if beside and not stop.is_set():
        settings = load({"llm_model": variant.model}, interactive=True)
        async with program.open_over_tenants(
            settings, model=True, offline=is_offline, dry_run=True
        ) as app:
            results += await decide_beside(app, beside, stop)
    return results


def from_reports(first: Path, second: Path) -> Sides:
    """Compare two results of `eval run`. Raises InvalidInput."""
    one, other = read_report(first), read_report(second)
    return Sides(
        first=_name(one),
        second=_name(other),
        paired=compare({pair.id: pair for pair in pairs(one, other)}),
        first_usage=one.usage,
        second_usage=other.usage,
    )


def _name(report: Report) -> str:
    return f"{report.model} with prompts {report.prompts}" if report.prompts else report.model


async def from_runs(first: str, second: str, tag: str, limit: int) -> Sides:
    """Repeat all runs with a tag by two variants; one does well that decides as on record.

    Raises InvalidInput if no run has the tag.
    """
    good: list[Mapping[str, bool]] = []
    spent: list[Usage] = []
    authors: dict[str, str] = {}
    for variant in (Variant.named(first), Variant.named(second)):
        with variant.prompted():
            found, usage = await _repeated(variant, tag, limit, authors)
        good.append(found)
        spent.append(usage)
    made = {
        run: Pair(id=run, author=authors[run], first=good[0][run], second=good[1][run])
        for run in good[0]
        if run in good[1]
    }
    return Sides(
        first=first,
        second=second,
        paired=compare(made),
        first_usage=spent[0],
        second_usage=spent[1],
    )


async def _repeated(
    variant: Variant, tag: str, limit: int, authors: dict[str, str]
) -> tuple[Mapping[str, bool], Usage]:
    """Repeat runs; return which it decides as on record, and what that cost."""
    from core.app import program
    from core.app.replaying import replay

    settings = load({"llm_model": variant.model}, interactive=True)
    usage, good = Usage(), {}
    async with program.open_over_tenants(
        settings, model=True, offline=variant.model == OFFLINE, dry_run=True
    ) as app:
        for run in await _tagged(app, tag, limit):
            found = await replay(app, run.id, model=variant.model)
            usage += found.usage
            good[run.id] = found.likeness != "otherwise"
            authors[run.id] = (await app.stores.inbox.get(run.feedback_id)).author or ""
    return good, usage


async def _tagged(app: object, tag: str, limit: int) -> Sequence[RecordedRun]:
    from core.app.program import App
    from core.domain.models.recorded_runs import RunFilter

    assert isinstance(app, App)
    found, _ = await app.stores.run_records.page(RunFilter(tag=tag), limit=limit, cursor=None)
    if not found:
        raise InvalidInput(Message("eval.no_tagged", tag=tag), hint=Message("eval.hint_tag"))
    return found
