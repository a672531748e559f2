"""The order of operators: topological, and every loop in one piece.

What the order keeps true: a record never comes to an operator behind its back. When an operator has
run at a position, all that is sent later arrives at positions that the run has still to come to. So
a batch that has passed the schedule once leaves nothing waiting.

Records flow from operator to operator. In the innermost loop that holds both, each stands for
itself or for the outermost loop around it there, and the one that sends comes first. Only what goes
round a loop that holds *both* needs no such order: it arrives in a later round of that loop, to
which the run has still to come. What goes round a loop that holds the receiver alone comes from
outside of it, where no round is later: the sender has to be done before the loop begins.

Where several workers share the dataflow, each keeps a part of the keys, and they exchange rows
before the operators that others send rows to. One exchange serves all operators that nobody in
between sends to, so that workers meet as rarely as the order allows.

An order that does not exist, or a flow that leaves a loop and comes back into the same round of it,
means that a loop uses what comes out of it before it has come to rest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from graphtide.kernels.dataflow import layout
from graphtide.kernels.dataflow.numbers import MOST_COORDINATES, field_width
from graphtide.model.errors import InputError
from graphtide.plan.dataflow import DataflowPlan

Item = tuple[str, int]
"""("node", number) or ("loop", scope)."""


@dataclass(frozen=True)
class Flow:
    """Records, or fresh batches, go from one node to another.

    `round_of` is the depth of the outermost loop that they go round on the way, and `outermost` the
    least depth that they come to: which round of a loop further in they left is forgotten there.
    """

    source: int
    target: int
    round_of: int = MOST_COORDINATES + 1
    outermost: int = MOST_COORDINATES


@dataclass(frozen=True)
class _Order:
    """What the order is made of: operators by node, which items come after which, who exchanges."""

    plan: DataflowPlan
    operators: Mapping[int, int]
    after: Mapping[Item, set[Item]]
    exchanged: Collection[int]


def schedule(
    plan: DataflowPlan,
    operators: Mapping[int, int],
    flows: list[Flow],
    exchanged: Collection[int] = (),
) -> list[list[int]]:
    """The instructions for all operators of a plan; rows for some of them are `exchanged`."""
    after: dict[Item, set[Item]] = {}
    for flow in flows:
        shared = _shared_loops(plan, flow.source, flow.target)
        if flow.round_of <= min(len(shared), flow.outermost):
            continue
        if flow.outermost < len(shared):
            raise _uses_itself([plan.scopes[shared[flow.outermost]].name])
        source, target = _stand_ins(plan, flow.source, flow.target)
        if source != target:
            after.setdefault(source, set()).add(target)
    return _scope_instructions(_Order(plan, operators, after, exchanged), 0)


def _scope_instructions(order: _Order, scope: int) -> list[list[int]]:
    plan, operators = order.plan, order.operators
    items: list[Item] = [
        *(("node", number) for number in operators if plan.scope_of[number] == scope),
        *(
            ("loop", number)
            for number, inner in enumerate(plan.scopes)
            if number != 0 and inner.parent == scope
        ),
    ]
    instructions: list[list[int]] = []
    ordered = _in_order(plan, items, order.after)
    meetings = _meetings(order, ordered)
    for kind, number in ordered:
        meeting = meetings.get((kind, number), [])
        instructions += [
            [layout.EXCHANGE, operators[node], 0, 1 if node == meeting[-1] else 0]
            for node in meeting
        ]
        if kind == "node":
            instructions.append([layout.DO, operators[number], 0, 0])
        else:
            instructions += _loop(plan, _scope_instructions(order, number), number)
    return instructions


def _meetings(order: _Order, items: list[Item]) -> dict[Item, list[int]]:
    """The nodes for which workers exchange rows before an item, as few times as may be."""
    earliest: dict[int, int] = {}
    for place, item in enumerate(items):
        for kind, number in order.after.get(item, set()):
            if kind == "node":
                earliest[number] = max(earliest.get(number, 0), place + 1)
    waiting = [number for kind, number in items if kind == "node" and number in order.exchanged]
    meetings: dict[Item, list[int]] = {}
    for place, item in enumerate(items):
        if item[0] == "node" and item[1] in waiting:
            meetings[item] = [number for number in waiting if earliest.get(number, 0) <= place]
            waiting = [number for number in waiting if number not in meetings[item]]
    return meetings


def _loop(plan: DataflowPlan, body: list[list[int]], scope: int) -> list[list[int]]:
    """A loop around instructions; jumps are relative to where the loop begins, until placed."""
    depths = max(plan.depth(), 1)
    width = field_width(depths)
    depth = plan.scopes[scope].depth
    outer, inner = width * (depths - depth + 1), width * (depths - depth)
    size = len(body) + 1
    return [[layout.LOOP, outer, size, inner], *body, [layout.AGAIN, outer, -size, inner]]


def placed(instructions: list[list[int]]) -> list[list[int]]:
    """The instructions with jumps to where they stand in the whole list."""
    return [
        [code, operand, at + jump if code in (layout.LOOP, layout.AGAIN) else 0, inner]
        for at, (code, operand, jump, inner) in enumerate(instructions)
    ]


def _in_order(plan: DataflowPlan, items: list[Item], after: Mapping[Item, set[Item]]) -> list[Item]:
    here = set(items)
    waiting = dict.fromkeys(items, 0)
    for item in items:
        for other in after.get(item, set()) & here:
            waiting[other] += 1
    ready = [(number, kind) for (kind, number), count in waiting.items() if count == 0]
    heapify(ready)
    order: list[Item] = []
    while ready:
        number, kind = heappop(ready)
        order.append((kind, number))
        for other in after.get((kind, number), set()) & here:
            waiting[other] -= 1
            if waiting[other] == 0:
                heappush(ready, (other[1], other[0]))
    if len(order) < len(items):
        loops = [plan.scopes[number].name for kind, number in here - set(order) if kind == "loop"]
        raise _uses_itself(loops)
    return order


def _uses_itself(loops: list[str]) -> InputError:
    return InputError(
        "A loop uses, in the same round, what comes out of it",
        where=f"loop {', '.join(sorted(loops))}",
        hint="bring a collection back into its own loop through a variable of a loop around it",
    )


def _shared_loops(plan: DataflowPlan, source: int, target: int) -> list[int]:
    """The scopes of the loops that hold both nodes, outermost first."""
    one, other = _ancestry(plan, source), _ancestry(plan, target)
    return [a[1] for a, b in zip(one, other, strict=False) if a == b and a[0] == "loop"]


def _stand_ins(plan: DataflowPlan, source: int, target: int) -> tuple[Item, Item]:
    """Two nodes as items of the innermost scope that holds both."""
    one, other = _ancestry(plan, source), _ancestry(plan, target)
    while len(one) > 1 and len(other) > 1 and one[0] == other[0]:
        one, other = one[1:], other[1:]
    return one[0], other[0]


def _ancestry(plan: DataflowPlan, number: int) -> list[Item]:
    """The loops around a node, outermost first, then the node."""
    ancestors: list[Item] = [("node", number)]
    scope = plan.scope_of[number]
    while scope != 0:
        ancestors.insert(0, ("loop", scope))
        scope = plan.scopes[scope].parent
    return ancestors
