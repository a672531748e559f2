"""Try random dataflows for a while: `python -m tests.dataflow.campaign --minutes 10 --seed 1`.

`--workers 2 --way threads` lets two workers share each dataflow, by threads.
Prints how many dataflows and advances were tried. A wrong answer ends with a script that shows it,
shrunk, ready to be pasted.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from graphtide.model.errors import LimitError
from tests.dataflow.crews import WAYS, carried_out, shared_by
from tests.dataflow.histories import scenario
from tests.dataflow.scenarios import Player, Scenario, expected, rests_ahead
from tests.dataflow.shrinking import shrunk
from tests.oracle.flow_operators import NotLegalError


@dataclass
class Count:
    """What has been tried."""

    dataflows: int = 0
    advances: int = 0
    nodes: int = 0
    left_out: int = 0


def fault(tried: Scenario, count: Count | None = None) -> tuple[str, list[str]] | None:
    """What is wrong with a scenario and the script that shows it; None where nothing is."""
    try:
        runs = expected(tried)
    except NotLegalError:
        if count is not None:
            count.left_out += 1
        return None
    player = Player(tried, runs)
    try:
        player.play()
    except Exception as error:
        large = "64 bits" in str(error) and _has_large_numbers(tried)
        ahead = "too often" in str(error) and not rests_ahead(tried)
        if isinstance(error, LimitError) and (large or ahead):
            if count is not None:
                count.left_out += 1
            return None
        return f"{type(error).__name__}: {error}", player.script
    if count is not None:
        count.dataflows += 1
        count.advances += player.advances
        count.nodes += len(tried.description.nodes)
    return None


def _has_large_numbers(tried: Scenario) -> bool:
    """Whether ints may come to be one that a column with nulls cannot hold, which is an error."""
    changes = (*tried.changes, *(tried.guest.changes if tried.guest else ()))
    values = [item for _, _, record, _ in changes for item in record]
    flows = [tried.description, *([tried.guest.description] if tried.guest else [])]
    texts = [str(node.given) for flow in flows for node in flow.nodes]
    return any(type(item) is int and abs(item) > 1 << 30 for item in values) or any(
        "2**" in text for text in texts
    )


def seeds(first: int, seconds: float) -> Iterator[int]:
    """Numbers of scenarios, for so long."""
    end = time.monotonic() + seconds
    number = first * 1_000_000
    while time.monotonic() < end:
        yield number
        number += 1


def report(tried: Scenario, seed: int) -> str:
    """What is wrong, with the smallest script that shows it."""
    first = fault(tried)
    assert first is not None
    kind = first[0].split(":")[0]

    def fails(other: Scenario) -> bool:
        found = fault(other)
        return found is not None and found[0].split(":")[0] == kind

    found = fault(shrunk(tried, fails)) or first
    return "\n".join([f"scenario {seed}: {found[0]}", "", *found[1]])


def main() -> int:
    """The command; 1 where an answer was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1, help="how many share each dataflow")
    parser.add_argument("--way", choices=WAYS, default="turns", help="how several do their steps")
    parser.add_argument("--keep-going", action="store_true", help="do not stop at the first fault")
    options = parser.parse_args()
    count, wrong = Count(), 0
    for seed in seeds(options.seed, options.minutes * 60):
        tried = shared_by(scenario(seed), options.workers)
        with carried_out(options.way):
            if fault(tried, count) is not None:
                wrong += 1
                print(report(tried, seed), flush=True)
                if not options.keep_going:
                    break
    print(
        f"{count.dataflows:,} dataflows of {count.nodes:,} operators, {count.advances:,} advances, "
        f"{wrong} with wrong answers ({count.left_out:,} left out that do not come to rest)"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
