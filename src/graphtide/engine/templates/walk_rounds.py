"""Walks that read state, followed round by round.

A round sends what its walks send otherwise than in the old run: through edges of the batch, with
the state that the old run had there, and then at vertices whose state of the round before is
another now. Who hears of it is updated, and so is everybody whose row of the round before differs;
vertices that came, and those whose degrees `update` looks at, are updated in every round. So the
cost is that of what differs, and of the batch in every round.
"""

from __future__ import annotations

from typing import Any

from graphtide.engine.templates.walks import (
    NEEDS,
    READS_DEGREES,
    clear_gathered,
    gather_in_round,
    initialize,
    keep_state,
    moved,
    parameters_at,
    round_terms,
    update,
)
from graphtide.kernels.jit import bare_kernel, joined_kernel
from graphtide.kernels.synchronous.histories import (
    COUNT,
    DONE,
    LACKING,
    PLACE,
    START,
    current_row,
    put_row,
    row_as_of,
    same_words,
)
from graphtide.kernels.synchronous.histories import touch as set_apart
from graphtide.kernels.walks.batch import clear_batch, take_batch
from graphtide.kernels.walks.records import (
    BUDGET,
    DOUBT,
    LOOKED,
    OLD_VERTICES,
    READ,
    REPORTED,
    SLOTS,
    STATE_WIDTH,
    SUMS_WIDTH,
    TOUCHED,
    VERTICES,
    walking_at,
)
from graphtide.kernels.walks.rounds import (
    CARRIED,
    DIFFERING,
    EVALUATED,
    MOVES,
    ROUND,
    SHIFTS,
    lacks_room,
    load_state,
    make_row,
    old_history,
    reach,
)


@bare_kernel
def open_batch(words: Any, inserted: Any, deleted: Any, sources: Any, targets: Any) -> None:
    """Bring the index to the version of the graph, and keep what tells it from the old one."""
    take_batch(walking_at(words, 0), inserted, deleted, sources, targets, NEEDS)


@bare_kernel
def close_batch(words: Any) -> None:
    """Take back all that tells the old version from the new one."""
    clear_batch(walking_at(words, 0))


@bare_kernel
def send_round(
    words: Any, rounds: Any, inserted: Any, deleted: Any, sources: Any, targets: Any
) -> None:
    """Let all vertices have what they are sent in the round; nothing is sure beyond the budget."""
    walking = walking_at(words, 0)
    counts = walking.counts
    counts[TOUCHED], counts[REPORTED], counts[DOUBT] = 0, 0, 0
    round_terms(words, rounds, inserted, deleted, sources, targets)
    for entry in range(counts[TOUCHED]):
        if walking.touched.doubt[entry] and counts[LOOKED] <= counts[BUDGET]:
            vertex = walking.touched.vertex[entry]
            clear_gathered(walking, parameters_at(words, READ), vertex)
            gather_in_round(words, rounds, vertex)


@bare_kernel
def list_round(words: Any, rounds: Any, everyone: bool) -> None:
    """Reach all who are to be updated, whatever they were sent; in round 0, who may start anew."""
    walking = walking_at(words, 0)
    counts, changed, progress = walking.counts, walking.changed, rounds.progress
    for number in range(progress[CARRIED]):
        reach(walking, rounds, rounds.carried[number])
    if READS_DEGREES:
        for slot in range(counts[SLOTS]):
            if changed.out_more[slot] != 0 or changed.into_more[slot] != 0:
                reach(walking, rounds, changed.vertex[slot])
    for vertex in range(counts[OLD_VERTICES], counts[VERTICES]):
        reach(walking, rounds, vertex)
    if everyone:
        for vertex in range(counts[VERTICES]):
            reach(walking, rounds, vertex)
    counts[LOOKED] += counts[TOUCHED]
    progress[CARRIED], progress[DIFFERING], progress[EVALUATED] = 0, 0, 0
    progress[MOVES], progress[SHIFTS] = 0, 0


@bare_kernel
def evaluate_round(words: Any, rounds: Any) -> int:
    """Update all who were reached, from where it left off; LACKING where room is to be made."""
    walking, parameters = walking_at(words, 0), parameters_at(words, READ)
    progress, counts = rounds.progress, walking.counts
    while progress[EVALUATED] < counts[TOUCHED]:
        vertex = walking.touched.vertex[progress[EVALUATED]]
        if lacks_room(rounds, vertex):
            return LACKING
        evaluate(walking, parameters, rounds, vertex)
        progress[EVALUATED] += 1
    return DONE


@joined_kernel
def evaluate(walking: Any, parameters: Any, rounds: Any, vertex: int) -> None:
    """The row of a vertex in the round; says where it differs from the old run.

    Its state in `states` is only borrowed: until the end, that is the one of its last row.
    """
    histories, progress, states = rounds.histories, rounds.progress, walking.states.whole
    state_width = walking.counts[STATE_WIDTH]
    width = state_width + walking.counts[SUMS_WIDTH]
    first, count = old_history(rounds, vertex)
    old = row_as_of(histories, first, count, progress[ROUND]) * width
    if progress[ROUND] == 0:
        initialize(walking, parameters, vertex)
    else:
        before = row_as_of(histories, first, count, progress[ROUND] - 1) * width
        load_state(walking, histories, vertex, before)
        keep_state(walking, vertex)
        load_state(walking, histories, vertex, old)
        progress[MOVES] -= 1 if moved(walking, parameters, vertex, 0.0) else 0
        progress[SHIFTS] -= 0 if same_words(histories.whole, before, old, state_width) else 1
        before = current_row(histories, vertex, progress[ROUND] - 1) * width
        load_state(walking, histories, vertex, before)
        keep_state(walking, vertex)
        update(walking, parameters, vertex, progress[ROUND])
        progress[MOVES] += 1 if moved(walking, parameters, vertex, 0.0) else 0
        shifts = False
        for at in range(state_width):
            shifts = shifts or walking.work.whole[at] != states[vertex * state_width + at]
        progress[SHIFTS] += 1 if shifts else 0
    make_row(walking, histories, vertex)
    differs = not same_words(histories.whole, 0, old, state_width)
    carried = differs or not same_words(histories.whole, 0, old, width)
    if carried or histories.line[vertex, PLACE] >= 0:
        put_in_round(walking, rounds, vertex, width)
    if differs:
        rounds.differing[progress[DIFFERING]] = vertex
        progress[DIFFERING] += 1
    if carried:
        rounds.carried[progress[CARRIED]] = vertex
        progress[CARRIED] += 1
    last = histories.line[vertex, START] + histories.line[vertex, COUNT] - 1
    load_state(walking, histories, vertex, last * width)


@joined_kernel
def put_in_round(walking: Any, rounds: Any, vertex: int, width: int) -> None:
    """Make row 0 of the pool the row of a vertex in the round, in a history that is set apart."""
    histories, iteration = rounds.histories, rounds.progress[ROUND]
    set_apart(histories, rounds.apart, vertex, walking.graph, width)
    if iteration > 0:
        put_row(histories, vertex, iteration, width)
        return
    start = histories.line[vertex, START] * width
    for at in range(width):
        histories.whole[start + at] = histories.whole[at]
