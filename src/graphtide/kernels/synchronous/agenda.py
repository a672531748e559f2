"""What is to be done in which iteration of an advance, for vertices by their place in `Touched`.

Two lists an iteration: whose changed messages are to be sent, and who is to be evaluated. All
that is for the iteration at hand or the next one stands in plain lists, which take turns; what is
for later waits in a heap. So an iteration in which nothing happens costs nothing. The lists have
room for all that are touched.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.heap import number_pop, number_push
from graphtide.kernels.jit import inner_kernel
from graphtide.kernels.synchronous.records import (
    EVALUATE,
    LAST,
    SEND,
    TICKET,
    WAITING,
    Agenda,
    Touched,
)


@inner_kernel
def lacks_waiting_room(agenda: Agenda) -> bool:
    """True if one vertex more may have nowhere to wait."""
    return bool(agenda.sizes[WAITING] + 4 > len(agenda.waiting))


@inner_kernel
def evaluate_in(agenda: Agenda, touched: Touched, place: int, iteration: int) -> None:
    """Have a vertex evaluated in this iteration or the next; once is enough."""
    if touched.note[place, TICKET] == iteration:
        return
    touched.note[place, TICKET] = iteration
    turn = iteration & 1
    agenda.evaluate[turn, agenda.sizes[EVALUATE + turn]] = place
    agenda.sizes[EVALUATE + turn] += 1


@inner_kernel
def send_in(agenda: Agenda, place: int, iteration: int) -> None:
    """Have a vertex's changed messages sent in the next iteration; asked once an iteration."""
    turn = iteration & 1
    agenda.send[turn, agenda.sizes[SEND + turn]] = place
    agenda.sizes[SEND + turn] += 1


@inner_kernel
def evaluate_later(agenda: Agenda, touched: Touched, place: int, now: int, iteration: int) -> None:
    """Have a vertex evaluated in some iteration after this one; nothing if it is past the last."""
    if iteration > agenda.sizes[LAST]:
        return
    if iteration == now + 1:
        evaluate_in(agenda, touched, place, iteration)
        return
    key = (np.int64(iteration) << 32) | np.int64(place)
    agenda.sizes[WAITING] = number_push(agenda.waiting, agenda.sizes[WAITING], key)


@inner_kernel
def take_waiting(agenda: Agenda) -> int:
    """The first of those who wait, out of the heap; its place."""
    place = agenda.waiting[0] & 0xFFFFFFFF
    agenda.sizes[WAITING] = number_pop(agenda.waiting, agenda.sizes[WAITING])
    return int(place)


@inner_kernel
def call_waiting(agenda: Agenda, touched: Touched, iteration: int) -> None:
    """Put those who waited for this iteration on its list."""
    while agenda.sizes[WAITING] > 0 and agenda.waiting[0] >> 32 == iteration:
        evaluate_in(agenda, touched, take_waiting(agenda), iteration)


@inner_kernel
def next_iteration(agenda: Agenda, iteration: int) -> int:
    """Empty the lists of an iteration, and say which one is next; -1 if nothing is left."""
    turn = iteration & 1
    agenda.sizes[EVALUATE + turn] = agenda.sizes[SEND + turn] = 0
    if agenda.sizes[EVALUATE + 1 - turn] + agenda.sizes[SEND + 1 - turn] > 0:
        return iteration + 1
    if agenda.sizes[WAITING] > 0:
        return int(agenda.waiting[0] >> 32)
    return -1
