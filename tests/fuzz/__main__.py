"""The long run: `python -m tests.fuzz SECONDS [SEED]` goes through all targets in turn."""

from __future__ import annotations

import itertools
import random
import sys
import time
import tracemalloc
from collections import Counter

from tests.fuzz.targets import TARGETS


def main(seconds: float, seed: str) -> None:
    """Fuzz for that long; an input that breaks a promise is named by its seed and raises."""
    end, counts = time.monotonic() + seconds, Counter[str]()
    tracemalloc.start()
    for at in itertools.count():
        for name, target in TARGETS.items():
            try:
                counts[f"{name} taken"] += target(random.Random(f"{seed}:{name}:{at}"))
            except BaseException:
                print(f"failed: {name} with seed {seed}:{name}:{at}", file=sys.stderr)
                raise
            counts[name] += 1
        if time.monotonic() > end:
            break
    print(dict(counts))


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else str(time.time_ns()))
