"""The run: one physical batch through all operators, loop by loop, until nothing waits.

The schedule is a list of instructions in topological order, loops nested. An operator runs at a
position when something waits for it there. A loop goes from one position to the next that any
operator in it waits for, as long as the rounds of the loops around stay the same; then the run
goes on behind it. So everything that is not after the position, in the order of numbers, is final:
the frontier. The schedule promises that nothing arrives there any more (see `schedule` in
`engine.dataflow`), and the run does not take that on trust: where a round would go back, or a batch
would end while rows still wait for an operator, it ends with STRANDED.

Several workers run the same schedule, each on its share of the keys, and no worker passes an
instruction on which they have to meet before all have come to it: EXCHANGE, before an operator that
others send rows to, and the two ends of a loop, where they agree on the next round. So every
operator runs at the same positions in the same order as it would on one machine, and finds the same
rows, as far as they are of its keys.

A run that meets an operator of Python's stops there with all its state in memory, and goes on when
it is called again. So does one whose join has sent as much as it may in one go: nothing else runs
until that join has sent the rest.
"""

from __future__ import annotations

from graphtide.kernels.dataflow.distinct import send_unseen
from graphtide.kernels.dataflow.exchange import first_posted, make_room, post
from graphtide.kernels.dataflow.join import join
from graphtide.kernels.dataflow.layout import (
    AGAIN,
    AGREED,
    AGREEING,
    ARRANGE,
    BATCH_ROWS,
    BUCKET_COUNT,
    CONSOLIDATE,
    COUNTER,
    DISTINCT,
    DO,
    DONE,
    EXCHANGE,
    EXCHANGING,
    FOREIGN,
    IMPORT,
    JOIN,
    LEAST,
    LOOP,
    OP_ACTIVATIONS,
    OP_CYCLES,
    OP_IN,
    OP_KIND,
    OP_LEFT,
    OP_LEFT_AT,
    OP_LEFT_NEWS,
    OP_OUTPUT,
    OP_PHASE,
    OP_PORT,
    OP_RIGHT_AT,
    OP_RIGHT_NEWS,
    PASS,
    PAUSED,
    PORT_WIDTH,
    POSITION,
    REDUCE,
    RUN_LENGTH,
    RUNNING,
    SCHEDULE_WORDS,
    SINCE_PAUSE,
    STOP,
    STRANDED,
    SUM,
    TRACE_FRESH,
    UNKNOWN,
    WANTS_PYTHON,
    WORKERS,
    Memory,
)
from graphtide.kernels.dataflow.memory import free
from graphtide.kernels.dataflow.ports import NOWHERE, first_position, take_bucket
from graphtide.kernels.dataflow.reduce import reduce
from graphtide.kernels.dataflow.sending import send_batch, send_bucket, send_letters
from graphtide.kernels.dataflow.sorting import batch_of_bucket
from graphtide.kernels.dataflow.sums import add_up_keys
from graphtide.kernels.dataflow.traces import announce, batch_at, count_batches, settle_fresh
from graphtide.kernels.intrinsics import cycles
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel


@bare_kernel
def run(memory: Memory, schedule: int) -> int:
    """Run until nothing waits, Python is wanted (COUNTER names the operator), or for a while.

    STRANDED, which is a mistake of the schedule, where something waits that nobody will come to.
    """
    send_letters(memory)
    while True:
        counter = memory[COUNTER]
        place = schedule + counter * SCHEDULE_WORDS
        code, operand, jump = memory[place], memory[place + 1], memory[place + 2]
        if code == DO:
            if waits_at(memory, operand) == memory[POSITION]:
                ended = _activate(memory, operand)
                if ended != DONE:
                    return ended
                memory[SINCE_PAUSE] += 1
            memory[COUNTER] = counter + 1
            if memory[SINCE_PAUSE] >= RUN_LENGTH:
                memory[SINCE_PAUSE] = 0
                return PAUSED
        elif code == EXCHANGE:
            post(memory, operand, counter)
            memory[COUNTER] = counter + 1
            if memory[place + 3] != 0:
                return EXCHANGING
        elif code == STOP:
            memory[COUNTER] = 0
            waiting = _first_waiting(memory, schedule, 0, counter)
            if memory[WORKERS] > 1:
                waiting = min(waiting, first_posted(memory, schedule, 0, counter))
            return DONE if waiting == NOWHERE else STRANDED
        else:
            # LOOP or AGAIN: bits below the rounds of the loops around, and the loop's other end.
            before = memory[POSITION]
            first, last = (counter + 1, jump) if code == LOOP else (jump + 1, counter)
            found = _next_position(memory, schedule, first, last)
            if found == UNKNOWN:
                return AGREEING
            _enter_next_round(memory, found, first, last, operand, memory[place + 3])
            if code == AGAIN and memory[COUNTER] <= counter and memory[POSITION] <= before:
                return STRANDED


@inner_kernel
def waits_at(memory: Memory, operator: int) -> int:
    """The least position at which something waits for an operator, or NOWHERE."""
    if memory[operator + OP_PHASE] != 0:
        return memory[POSITION]  # type: ignore[no-any-return]
    found = first_position(memory, memory[operator + OP_PORT])
    if memory[operator + OP_LEFT_NEWS] != 0:
        found = min(found, memory[operator + OP_LEFT_AT])
    if memory[operator + OP_RIGHT_NEWS] != 0:
        found = min(found, memory[operator + OP_RIGHT_AT])
    return found


@inner_kernel
def _next_position(memory: Memory, schedule: int, first: int, last: int) -> int:
    """The least position at which something waits in a loop; UNKNOWN until all workers agree."""
    if memory[WORKERS] == 1:
        return _first_waiting(memory, schedule, first, last)
    found = memory[AGREED]
    if found == UNKNOWN:
        here = _first_waiting(memory, schedule, first, last)
        memory[LEAST] = min(here, first_posted(memory, schedule, first, last))
    memory[AGREED] = UNKNOWN
    return found  # type: ignore[no-any-return]


@inner_kernel
def _enter_next_round(
    memory: Memory, found: int, first: int, last: int, outer: int, inner: int
) -> None:
    """Go to the least position that waits in a loop with these rounds around it, or behind it.

    `outer` and `inner` are how many low bits hold rounds of this loop and the loops in it, and of
    the loops in it alone.
    """
    around = memory[POSITION] >> outer
    if found != NOWHERE and found >> outer == around:
        memory[POSITION] = (found >> inner) << inner
        memory[COUNTER] = first
    else:
        memory[POSITION] = around << outer
        memory[COUNTER] = last + 1


@inner_kernel
def _first_waiting(memory: Memory, schedule: int, first: int, last: int) -> int:
    """The least position at which something waits for one of these instructions, or NOWHERE."""
    found = NOWHERE
    for counter in range(first, last):
        place = schedule + counter * SCHEDULE_WORDS
        if memory[place] == DO:
            found = min(found, waits_at(memory, memory[place + 1]))
    return found


@inner_kernel
def _activate(memory: Memory, operator: int) -> int:
    """Run one operator at the current position; PAUSED where it has not finished."""
    position, began = memory[POSITION], cycles()
    kind = memory[operator + OP_KIND]
    memory[RUNNING] = operator
    if memory[operator + OP_PHASE] == 0:
        memory[operator + OP_ACTIVATIONS] += 1
    ended = DONE
    if kind == JOIN:
        ended = PAUSED if join(memory, operator, position) else DONE
    elif kind == REDUCE:
        ended = WANTS_PYTHON if reduce(memory, operator, position) else DONE
    elif kind == SUM:
        add_up_keys(memory, operator, position)
    elif kind == ARRANGE:
        _arrange(memory, operator, position)
    elif kind == CONSOLIDATE:
        _consolidate(memory, operator, position)
    elif kind == DISTINCT:
        send_unseen(memory, operator, position)
    elif kind == PASS:
        _pass(memory, operator, position)
    elif kind == IMPORT:
        _import(memory, operator)
    elif kind == FOREIGN:
        ended = WANTS_PYTHON
    memory[operator + OP_CYCLES] += cycles() - began
    return ended


@joined_kernel
def _pass(memory: Memory, operator: int, position: int) -> None:
    """Send on what waits, as it is."""
    port = memory[operator + OP_PORT]
    bucket = take_bucket(memory, port, position)
    memory[operator + OP_IN] += memory[bucket + BUCKET_COUNT]
    if memory[WORKERS] > 1:
        make_room(memory, operator, memory[bucket + BUCKET_COUNT], position)
    send_bucket(memory, operator, bucket, position, memory[port + PORT_WIDTH] - 2)


@joined_kernel
def _import(memory: Memory, operator: int) -> None:
    """Send what is new in a trace of another dataflow: all of it at first, then fresh batches."""
    trace = memory[operator + OP_LEFT]
    everything = memory[operator + OP_LEFT_NEWS] == 2
    memory[operator + OP_LEFT_NEWS] = 0
    last = count_batches(memory, trace) - 1
    for place in range(0 if everything else last, last + 1):
        batch = batch_at(memory, trace, place)
        if batch != 0:
            memory[operator + OP_IN] += memory[batch + BATCH_ROWS]
            send_batch(memory, operator, trace, batch)


@joined_kernel
def _arrange(memory: Memory, operator: int, position: int) -> None:
    """Make what waits a fresh batch of the trace, tell its readers, and send it on."""
    trace = memory[operator + OP_OUTPUT]
    bucket = take_bucket(memory, memory[operator + OP_PORT], position)
    memory[operator + OP_IN] += memory[bucket + BUCKET_COUNT]
    settle_fresh(memory, trace)
    batch = batch_of_bucket(memory, trace, bucket, position)
    if batch != 0:
        memory[trace + TRACE_FRESH] = batch
        announce(memory, trace, position)
        send_batch(memory, operator, trace, batch)


@joined_kernel
def _consolidate(memory: Memory, operator: int, position: int) -> None:
    """Add up what waits and send it on; nothing is kept."""
    trace = memory[operator + OP_OUTPUT]
    bucket = take_bucket(memory, memory[operator + OP_PORT], position)
    memory[operator + OP_IN] += memory[bucket + BUCKET_COUNT]
    batch = batch_of_bucket(memory, trace, bucket, position)
    if batch != 0:
        send_batch(memory, operator, trace, batch)
        free(memory, batch)
