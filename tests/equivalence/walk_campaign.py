"""Random walk programs along random histories: `python -m tests.equivalence.walk_campaign`.

    --examples 200 --seed 7          # so many of each kind of program; any seed if none is given
    NUMBA_DISABLE_JIT=1 python ...   # hundreds in minutes; compiled, a program takes ten seconds

Each is compared with nested loops in plain Python after every advance and rollback. A wrong answer
ends in Hypothesis' smallest example of it. `make test` runs a few of the same, interpreted.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.equivalence.test_walk_ranges import follow as follow_ranges
from tests.equivalence.test_walk_rounds import follow_rounds
from tests.equivalence.test_walks import follow_history
from tests.property.range_plans import range_programs
from tests.property.walk_plans import walk_programs
from tests.property.walk_round_plans import round_programs

Follow = Callable[[Any, int], None]


def kinds() -> dict[str, tuple[st.SearchStrategy[Any], Follow]]:
    """What is drawn, and how it is followed."""
    return {
        "walks": (walk_programs(), follow_history),
        "walks that read state": (
            walk_programs(stateful=True),
            lambda program, number: follow_history(program, number, steps=3),
        ),
        "rounds": (round_programs(), lambda program, number: follow_rounds(program, number, 6)),
        "ranges": (range_programs(), follow_ranges),
        "ranges of ints that wrap around": (
            range_programs(counts=True),
            lambda program, number: follow_ranges(program, number, far=True),
        ),
    }


def attempt(programs: st.SearchStrategy[Any], follow: Follow, first: int, examples: int) -> int:
    """So many programs of a kind; how many different ones there were."""
    seen: set[str] = set()

    @seed(first)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(programs, st.integers(0, 10_000))
    def tried(program: Any, number: int) -> None:
        seen.add(repr(program))
        with np.errstate(all="ignore"):
            follow(program, number)

    tried()
    return len(seen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    given_ = parser.parse_args()
    for name, (programs, follow) in kinds().items():
        began = time.process_time()
        count = attempt(programs, follow, given_.seed, given_.examples)
        seconds = time.process_time() - began
        print(
            f"{name}: {given_.examples} histories, {count} programs, none wrong; "
            f"seed {given_.seed}, {seconds:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
