"""`skill-worker eval`: how well a model decides labelled feedback, and which of two does better."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.entrypoints.cli.evals.showing import show_paired, show_report
from core.entrypoints.cli.exits import FAILED
from core.entrypoints.cli.options import Json, Prompts
from core.entrypoints.cli.output import print_json, print_model, talk
from core.entrypoints.cli.session import chosen_model, run_async, run_until_stopped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.entrypoints.cli.evals.variants import Sides
    from core.entrypoints.evals.judging import Report

MOST_RUNS = 1000
_ENDING = (
    "Finishing the cases under way, then what is decided is written and shown; once more ends at"
    " once, and nothing is."
)
app = typer.Typer(help="Judge models, prompts and knowledge by labelled feedback.")


@app.command("run")
def run(
    name: Annotated[
        str, typer.Argument(metavar="SET", help="`routing`, or a file of cases of your own.")
    ],
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="MODEL", help="Model to judge; default is LLM_MODEL."),
    ] = None,
    prompts: Prompts = None,
    lang: Annotated[str | None, typer.Option("--lang", help="Only cases in this language.")] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Only the first N cases.")
    ] = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, max=1000, help="Cases at a time.")
    ] = 8,
    floor: Annotated[
        bool, typer.Option("--floor/--no-floor", help="Judge the offline stand-in beside it.")
    ] = True,
    least: Annotated[
        float | None,
        typer.Option("--least", min=0, max=1, help="Exit 1 if a smaller part is right, 0 to 1."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the results, to compare.")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write them as JUnit XML.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Have a model decide a set of labelled feedback, and show what it got wrong."""
    from core.entrypoints.cli.evals.variants import Variant, decided
    from core.entrypoints.evals import report as reports
    from core.entrypoints.evals.cases import read_set, some_of

    cases = some_of(read_set(name), name, lang=lang, limit=limit)
    variant = Variant(chosen_model(model), prompts)
    for path in filter(None, (out, junit)):
        reports.check_writable(path)
    variants = [variant, Variant("offline")] if floor and not variant.is_floor else [variant]
    found = run_until_stopped(
        lambda stop: decided(name, cases, variants, concurrency, stop),
        lambda: talk(_ENDING),
        whole=True,
        part=lambda part: _give(part, out, junit, as_json=as_json),
    )
    _give(found, out, junit, as_json=as_json)
    own = found[0]
    if least is not None and (own.right.share or 0.0) < least:
        raise typer.Exit(FAILED)


def _give(found: Sequence[Report], out: Path | None, junit: Path | None, *, as_json: bool) -> None:
    """Write and print the reports; the stand-in's beside only where it decided all."""
    from core.entrypoints.evals import report as reports

    own = found[0]
    if out:
        reports.write(out, own.model_dump_json(indent=1).encode())
    if junit:
        reports.write(junit, reports.junit(own))
    if as_json:
        print_json({"reports": [one.model_dump(mode="json") for one in found]})
    else:
        show_report(own, next((one for one in found[1:] if not one.undecided), None))


@app.command("compare")
def compare(
    first: Annotated[
        str, typer.Argument(metavar="A", help="Results of `eval run --out`; with --tag a model.")
    ],
    second: Annotated[str, typer.Argument(metavar="B", help="The other one.")],
    tag: Annotated[
        str | None,
        typer.Option(
            "--tag", help="Repeat all runs with this tag by both: MODEL, or MODEL@DIR with prompts."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say which of two does better on the same cases, or that it is undecided."""
    from core.entrypoints.cli.evals.variants import from_reports, from_runs

    sides: Sides = (
        run_async(from_runs(first, second, tag, MOST_RUNS))
        if tag is not None
        else from_reports(Path(first), Path(second))
    )
    if as_json:
        print_model(sides)
    else:
        show_paired(sides)
