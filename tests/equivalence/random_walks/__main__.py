"""Random walk classes for a given time: `python -m tests.equivalence.random_walks --minutes 10`.

    NUMBA_DISABLE_JIT=1 python -m tests.equivalence.random_walks --minutes 5
    python -m tests.equivalence.random_walks --seed 7 --count 1      # one case again

Compiled, a class takes ten seconds and more; interpreted, a fraction of one.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter

from tests.equivalence.random_walks.checking import Case, check
from tests.oracle.walk_classes import UnjudgedError


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.equivalence.random_walks")
    parser.add_argument("--minutes", type=float, default=1.0, help="of the processor")
    parser.add_argument("--seed", type=int, default=None, help="a fresh one unless given")
    parser.add_argument("--count", type=int, default=None, help="so many classes, not minutes")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--show", type=int, default=5, help="print so many failures in full")
    given = parser.parse_args()
    first = random.SystemRandom().randrange(10**9) if given.seed is None else given.seed
    print(f"seed {first}", flush=True)
    tally, wrong, tried = Counter[str](), 0, 0
    while tried < given.count if given.count else time.process_time() < 60 * given.minutes:
        seed, tried = first + tried, tried + 1
        case = Case(seed, given.steps)
        try:
            tally += check(case)
        except UnjudgedError:
            tally["not judged"] += 1
        except Exception as error:  # A refusal is wrong as well: every class is meant to be legal.
            wrong += 1
            print(f"WRONG seed {seed}: {type(error).__name__}: {str(error)[:600]}", flush=True)
            if wrong <= given.show:
                print(f"{case.text}\n# {case.values}", flush=True)
    for what, count in sorted(tally.items()):
        print(f"{count:9,}  {what}")
    print(f"{tried:,} classes, {wrong:,} wrong (seed {first}), {time.process_time():.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
