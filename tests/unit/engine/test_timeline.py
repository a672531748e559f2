"""What supersteps took in a task: computing, waiting and transfer, in a bounded number of spans."""

from __future__ import annotations

import random
import socket
import threading
import time

import numpy as np

from graphtide.run.shards.mesh import Sockets
from graphtide.run.shards.tasks import MOST_SPANS, Timeline
from graphtide.store.parts import SuperstepSpan


class Clock:
    """A clock that is put forward by hand, and what was waited by it."""

    def __init__(self) -> None:
        self.now, self.waited = 100.0, 7.0

    def go(self, micros: int, *, waiting: bool = False) -> None:
        self.now += micros / 1e6
        self.waited += micros / 1e6 if waiting else 0.0


def test_a_superstep_is_computing_waiting_and_transfer() -> None:
    clock = Clock()
    timeline = Timeline(lambda: clock.waited, lambda: clock.now)
    clock.go(50)
    timeline.skip()
    clock.go(300)
    clock.go(20, waiting=True)  # What owners tell before the first superstep.
    timeline.computed()
    clock.go(5)
    clock.go(40, waiting=True)
    clock.go(10)
    timeline.exchanged(4)
    clock.go(1000)  # It is kept.
    timeline.skip()
    clock.go(200)
    timeline.computed()
    clock.go(3)
    timeline.exchanged(5)
    assert timeline.spans() == [
        SuperstepSpan(4, 1, 50, 300, 60, 15),
        SuperstepSpan(5, 1, 1425, 200, 0, 3),
    ]


def test_many_supersteps_share_spans_and_nothing_is_lost() -> None:
    pick, clock, count = random.Random(3), Clock(), 5 * MOST_SPANS + 7
    timeline = Timeline(lambda: clock.waited, lambda: clock.now)
    sums, began = [0, 0, 0], {}
    for superstep in range(1, count + 1):
        took = [pick.randrange(1, 900) for _ in range(3)]
        began[superstep] = sum(sums)
        clock.go(took[0])
        timeline.computed()
        clock.go(took[1], waiting=True)
        clock.go(took[2])
        timeline.exchanged(superstep)
        sums = [one + other for one, other in zip(sums, took, strict=True)]
    spans = timeline.spans()
    assert MOST_SPANS / 2 <= len(spans) <= MOST_SPANS
    assert sum(span.supersteps for span in spans) == count
    firsts = [1 + sum(span.supersteps for span in spans[:at]) for at in range(len(spans))]
    assert [span.superstep for span in spans] == firsts
    for span in spans:
        assert abs(span.began - began[span.superstep]) <= 1
    for at, total in enumerate(sums):
        assert abs(sum(span[3 + at] for span in spans) - total) <= count


def test_a_task_waits_until_the_last_other_one_begins_to_send() -> None:
    ends = socket.socketpair()
    one, other = (Sockets(rank, {1 - rank: ends[rank]}) for rank in (0, 1))

    def late() -> None:
        time.sleep(0.2)
        other.exchange({0: [np.zeros(1 << 20, np.uint8)]})

    thread = threading.Thread(target=late)
    thread.start()
    (found,) = one.exchange({1: [np.arange(3)]}).values()
    thread.join()
    assert len(found) == 1 << 20
    assert one.waited > 0.15
    alone = Sockets(0, {})
    alone.exchange({})
    assert alone.waited == 0
    one.close()
    other.close()
