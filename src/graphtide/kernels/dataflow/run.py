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

from graphtide.kernels.dataflow import layout as at
from graphtide.kernels.dataflow.distinct import send_unseen
from graphtide.kernels.dataflow.exchange import first_posted, make_room, post
from graphtide.kernels.dataflow.join import join
from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.memory import free
from graphtide.kernels.dataflow.ports import NOWHERE, first_position, take_bucket
from graphtide.kernels.dataflow.reduce import reduce
from graphtide.kernels.dataflow.sending import send_batch, send_bucket, send_messages
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
    send_messages(memory)
    while True:
        counter = memory[at.COUNTER]
        place = schedule + counter * at.SCHEDULE_WORDS
        code, operand, jump = memory[place], memory[place + 1], memory[place + 2]
        if code == at.DO:
            if waits_at(memory, operand) == memory[at.POSITION]:
                ended = _activate(memory, operand)
                if ended != at.DONE:
                    return ended
                memory[at.SINCE_PAUSE] += 1
            memory[at.COUNTER] = counter + 1
            if memory[at.SINCE_PAUSE] >= at.RUN_LENGTH:
                memory[at.SINCE_PAUSE] = 0
                return at.PAUSED
        elif code == at.EXCHANGE:
            post(memory, operand, counter)
            memory[at.COUNTER] = counter + 1
            if memory[place + 3] != 0:
                return at.EXCHANGING
        elif code == at.STOP:
            memory[at.COUNTER] = 0
            waiting = _first_waiting(memory, schedule, 0, counter)
            if memory[at.WORKERS] > 1:
                waiting = min(waiting, first_posted(memory, schedule, 0, counter))
            return at.DONE if waiting == NOWHERE else at.STRANDED
        else:
            # LOOP or AGAIN: bits below the rounds of the loops around, and the loop's other end.
            before = memory[at.POSITION]
            first, last = (counter + 1, jump) if code == at.LOOP else (jump + 1, counter)
            found = _next_position(memory, schedule, first, last)
            if found == at.UNKNOWN:
                return at.AGREEING
            _enter_next_round(memory, found, first, last, operand, memory[place + 3])
            if code == at.AGAIN and memory[at.COUNTER] <= counter and memory[at.POSITION] <= before:
                return at.STRANDED


@inner_kernel
def waits_at(memory: Memory, operator: int) -> int:
    """The least position at which something waits for an operator, or NOWHERE."""
    if memory[operator + at.OP_PHASE] != 0:
        return memory[at.POSITION]  # type: ignore[no-any-return]
    found = first_position(memory, memory[operator + at.OP_PORT])
    if memory[operator + at.OP_LEFT_NEWS] != 0:
        found = min(found, memory[operator + at.OP_LEFT_AT])
    if memory[operator + at.OP_RIGHT_NEWS] != 0:
        found = min(found, memory[operator + at.OP_RIGHT_AT])
    return found


@inner_kernel
def _next_position(memory: Memory, schedule: int, first: int, last: int) -> int:
    """The least position at which something waits in a loop; UNKNOWN until all workers agree."""
    if memory[at.WORKERS] == 1:
        return _first_waiting(memory, schedule, first, last)
    found = memory[at.AGREED]
    if found == at.UNKNOWN:
        here = _first_waiting(memory, schedule, first, last)
        memory[at.LEAST] = min(here, first_posted(memory, schedule, first, last))
    memory[at.AGREED] = at.UNKNOWN
    return found  # type: ignore[no-any-return]


@inner_kernel
def _enter_next_round(
    memory: Memory, found: int, first: int, last: int, outer: int, inner: int
) -> None:
    """Go to the least position that waits in a loop with these rounds around it, or behind it.

    `outer` and `inner` are how many low bits hold rounds of this loop and the loops in it, and of
    the loops in it alone.
    """
    around = memory[at.POSITION] >> outer
    if found != NOWHERE and found >> outer == around:
        memory[at.POSITION] = (found >> inner) << inner
        memory[at.COUNTER] = first
    else:
        memory[at.POSITION] = around << outer
        memory[at.COUNTER] = last + 1


@inner_kernel
def _first_waiting(memory: Memory, schedule: int, first: int, last: int) -> int:
    """The least position at which something waits for one of these instructions, or NOWHERE."""
    found = NOWHERE
    for counter in range(first, last):
        place = schedule + counter * at.SCHEDULE_WORDS
        if memory[place] == at.DO:
            found = min(found, waits_at(memory, memory[place + 1]))
    return found


@inner_kernel
def _activate(memory: Memory, operator: int) -> int:
    """Run one operator at the current position; PAUSED where it has not finished."""
    position, began = memory[at.POSITION], cycles()
    kind = memory[operator + at.OP_KIND]
    memory[at.RUNNING] = operator
    if memory[operator + at.OP_PHASE] == 0:
        memory[operator + at.OP_ACTIVATIONS] += 1
    ended = at.DONE
    if kind == at.JOIN:
        ended = at.PAUSED if join(memory, operator, position) else at.DONE
    elif kind == at.REDUCE:
        ended = at.WANTS_PYTHON if reduce(memory, operator, position) else at.DONE
    elif kind == at.SUM:
        add_up_keys(memory, operator, position)
    elif kind == at.ARRANGE:
        _arrange(memory, operator, position)
    elif kind == at.CONSOLIDATE:
        _consolidate(memory, operator, position)
    elif kind == at.DISTINCT:
        send_unseen(memory, operator, position)
    elif kind == at.PASS:
        _pass(memory, operator, position)
    elif kind == at.IMPORT:
        _import(memory, operator)
    elif kind == at.FOREIGN:
        ended = at.WANTS_PYTHON
    memory[operator + at.OP_CYCLES] += cycles() - began
    return ended


@joined_kernel
def _pass(memory: Memory, operator: int, position: int) -> None:
    """Send on what waits, as it is."""
    port = memory[operator + at.OP_PORT]
    bucket = take_bucket(memory, port, position)
    memory[operator + at.OP_IN] += memory[bucket + at.BUCKET_COUNT]
    if memory[at.WORKERS] > 1:
        make_room(memory, operator, memory[bucket + at.BUCKET_COUNT], position)
    send_bucket(memory, operator, bucket, position, memory[port + at.PORT_WIDTH] - 2)


@joined_kernel
def _import(memory: Memory, operator: int) -> None:
    """Send what is new in a trace of another dataflow: all of it at first, then fresh batches."""
    trace = memory[operator + at.OP_LEFT]
    everything = memory[operator + at.OP_LEFT_NEWS] == 2
    memory[operator + at.OP_LEFT_NEWS] = 0
    last = count_batches(memory, trace) - 1
    for place in range(0 if everything else last, last + 1):
        batch = batch_at(memory, trace, place)
        if batch != 0:
            memory[operator + at.OP_IN] += memory[batch + at.BATCH_ROWS]
            send_batch(memory, operator, trace, batch)


@joined_kernel
def _arrange(memory: Memory, operator: int, position: int) -> None:
    """Make what waits a fresh batch of the trace, tell its readers, and send it on."""
    trace = memory[operator + at.OP_OUTPUT]
    bucket = take_bucket(memory, memory[operator + at.OP_PORT], position)
    memory[operator + at.OP_IN] += memory[bucket + at.BUCKET_COUNT]
    settle_fresh(memory, trace)
    batch = batch_of_bucket(memory, trace, bucket, position)
    if batch != 0:
        memory[trace + at.TRACE_FRESH] = batch
        announce(memory, trace, position)
        send_batch(memory, operator, trace, batch)


@joined_kernel
def _consolidate(memory: Memory, operator: int, position: int) -> None:
    """Add up what waits and send it on; nothing is kept."""
    trace = memory[operator + at.OP_OUTPUT]
    bucket = take_bucket(memory, memory[operator + at.OP_PORT], position)
    memory[operator + at.OP_IN] += memory[bucket + at.BUCKET_COUNT]
    batch = batch_of_bucket(memory, trace, bucket, position)
    if batch != 0:
        send_batch(memory, operator, trace, batch)
        free(memory, batch)
