"""`python -m tests.mutate`: break the program in small ways, and see that some test notices."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from tests.mutate.equivalents import is_equivalent, lines_of
from tests.mutate.mutant import Mutant
from tests.mutate.records import recorded
from tests.mutate.runner import End, Result, running
from tests.mutate.scope import ROOT, mutants


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 where enough of the mutants that were tried are noticed, else 1."""
    options = _options(arguments)
    known = [*mutants(options.within)]
    shuffled = random.Random(options.seed).sample(known, len(known))
    counted = (mutant for mutant in shuffled if _counts(mutant))
    chosen = [*islice(counted, options.sample)]
    print(f"{len(chosen)} of {len(known)} mutants, seed {options.seed}", flush=True)
    began = time.monotonic()
    until = began + 60 * options.minutes
    with running(recorded(anew=options.record), options.processes) as runner:
        results = [*runner.run(chosen, until, _tell)]
    return _sum_up(results, time.monotonic() - began, options.at_least)


def _counts(mutant: Mutant) -> bool:
    return mutant.is_program((ROOT / mutant.path).read_text("utf-8")) and not is_equivalent(mutant)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__)
    parser.add_argument("--sample", type=int, default=150, help="how many mutants")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 100_000, help="which ones")
    parser.add_argument("--minutes", type=float, default=40.0, help="none is begun after that")
    parser.add_argument("--within", default="", help="only of files with this in their path")
    parser.add_argument("--processes", type=int, default=2, help="how many at a time")
    parser.add_argument("--at-least", type=float, default=85.0, help="percent to be noticed")
    parser.add_argument("--record", action="store_true", help="see anew which test executes what")
    return parser.parse_args(arguments)


def _tell(result: Result) -> None:
    mutant = result.mutant
    where = f"{mutant.path}:{mutant.line} ({mutant.place or 'module'}, {mutant.operator})"
    print(f"{result.end:8} {result.seconds:4.0f} s  {where}  {result.test}", flush=True)
    if result.end is not End.KILLED:
        _show(mutant)


def _show(mutant: Mutant) -> None:
    for sign, line in zip("-+", lines_of(mutant), strict=True):
        print(f"           {sign} {line}", flush=True)


def _sum_up(results: Sequence[Result], seconds: float, at_least: float) -> int:
    counted = Counter(result.end for result in results)
    judged = sum(counted.values()) - counted[End.UNJUDGED]
    rate = 100 * counted[End.KILLED] / judged if judged else 0.0
    parts = ", ".join(f"{number} {end}" for end, number in counted.items())
    print(f"{parts}: {rate:.1f} % killed in {seconds / 60:.1f} minutes")
    return 0 if rate >= at_least else 1


if __name__ == "__main__":
    sys.exit(main())
