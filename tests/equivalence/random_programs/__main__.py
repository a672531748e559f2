"""Random programs for a given time: `python -m tests.equivalence.random_programs --minutes 10`."""

from __future__ import annotations

import argparse
import random
import sys
import time

from tests.equivalence.random_programs.cases import Case, pasteable
from tests.equivalence.random_programs.checking import failures
from tests.equivalence.random_programs.judging import Judge, Tally, WrongError
from tests.equivalence.random_programs.making import make_case
from tests.equivalence.random_programs.running import VersionRun
from tests.equivalence.random_programs.settings import make_ready
from tests.equivalence.random_programs.shrinking import shrink
from tests.equivalence.random_programs.walking import Walk


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.equivalence.random_programs")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=None, help="a fresh one unless given")
    parser.add_argument("--count", type=int, default=None, help="so many programs, not minutes")
    parser.add_argument("--family", default=None)
    parser.add_argument("--tame", action="store_true", help="no infinities, NaN or overflow")
    parser.add_argument("--steps", type=int, default=9)
    parser.add_argument("--show", type=int, default=5, help="print so many failures in full")
    given = parser.parse_args()
    make_ready()
    first = random.SystemRandom().randrange(10**9) if given.seed is None else given.seed
    print(f"seed {first}")
    tally, wrong, began, tried = Tally(), 0, time.monotonic(), 0
    at = first
    while (tried < given.count) if given.count else (time.monotonic() - began < 60 * given.minutes):
        case = make_case(at, steps=given.steps, wild=not given.tame)
        at += 1
        if given.family and case.family != given.family:
            continue
        tried += 1
        tally.note(f"family {case.family}")
        for mode, how in failures(case, tally):
            wrong += 1
            told = str(how)[:300]
            print(f"WRONG seed {at - 1} family {case.family} mode {mode}: {told}", flush=True)
            if wrong <= given.show:
                print(_reproduction(case, mode), flush=True)
    for what, count in sorted(tally.counts.items()):
        print(f"{count:9,}  {what}")
    steps = tally.counts["steps"]
    print(f"{tried:,} programs, {steps:,} steps, {wrong:,} wrong answers (seed {first})")
    return 1 if wrong else 0


def _reproduction(case: Case, mode: str) -> str:
    sort = _wrong(case, mode)[0]
    small = shrink(case, lambda smaller: _wrong(smaller, mode)[0] == sort)
    told = "\n".join(f"# {line}" for line in _wrong(small, mode)[1].splitlines())
    text = (
        str(VersionRun(small, Judge(small, Tally()))) if mode == "run" else pasteable(small, mode)
    )
    return f"{text}\n{told}\n"


def _wrong(case: Case, mode: str) -> tuple[str, str]:
    try:
        judge = Judge(case, Tally())
        VersionRun(case, judge).run() if mode == "run" else Walk(case, judge, mode).run()
    except WrongError as wrong:
        return wrong.sort, str(wrong)
    return "", ""


if __name__ == "__main__":
    sys.exit(main())
