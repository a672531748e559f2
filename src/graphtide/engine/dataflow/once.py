"""Where a dataflow that runs once may keep distinct records in a table, and no times of them.

`distinct` then sends a record when it first comes, and that is all. It is what the general operator
sends too, wherever no record is ever taken away: where all that leads to it maps, filters, joins
and puts together what users insert, or comes from a reduction outside of loops, whose first results
are its only ones. What takes records away are negations, weights, reductions within a loop, and
variables that start as a collection, which is gone in the next round.

An arrangement in a loop whose readers all join it with arrangements from outside of all loops is
read while it is fresh alone: the other side has nothing new in later rounds. It forgets the rest.
"""

from __future__ import annotations

from graphtide.plan import dataflow as nodes

_KEEPING = (
    nodes.Arrange
    | nodes.Compute
    | nodes.Concat
    | nodes.Consolidate
    | nodes.Enter
    | nodes.Filter
    | nodes.Foreign
    | nodes.Input
    | nodes.Join
    | nodes.Leave
    | nodes.Map
    | nodes.Variable
)


def tables_of(plan: nodes.DataflowPlan) -> dict[int, int]:
    """The reductions that may be tables, each with the arrangement that it then does without."""
    readers: dict[int, list[int]] = {}
    for number, node in enumerate(plan.nodes):
        for source in nodes.sources_of(node):
            readers.setdefault(source, []).append(number)
    indexed = {
        source
        for node in plan.nodes
        if isinstance(node, nodes.Join | nodes.Reduce)
        for source in nodes.sources_of(node)
    }
    return {
        number: node.source
        for number, node in enumerate(plan.nodes)
        if isinstance(node, nodes.Reduce)
        and _is_distinct(node)
        and number not in indexed
        and readers[node.source] == [number]
        and node.source not in plan.definitions.values()
        and isinstance(plan.nodes[node.source], nodes.Arrange)
        and _only_come(plan, node.source)
    }


def forgetting(plan: nodes.DataflowPlan) -> set[int]:
    """The arrangements of which nobody reads what is not fresh any more."""
    others: dict[int, list[int]] = {}
    timed: set[int] = set()
    for node in plan.nodes:
        if isinstance(node, nodes.Join):
            others.setdefault(node.left, []).append(node.right)
            others.setdefault(node.right, []).append(node.left)
        elif isinstance(node, nodes.Reduce):
            timed.add(node.source)
    return {
        number
        for number, joined in others.items()
        if isinstance(plan.nodes[number], nodes.Arrange)
        and plan.scope_of[number] != 0
        and number not in timed
        and all(plan.scope_of[other] == 0 for other in joined)
    }


def _is_distinct(node: nodes.Reduce) -> bool:
    return node.reducer == "threshold" and node.argument == 1


def _only_come(plan: nodes.DataflowPlan, start: int) -> bool:
    """True where no record of a node is ever taken away."""
    waiting, known = [start], set()
    while waiting:
        number = waiting.pop()
        if number in known:
            continue
        known.add(number)
        node = plan.nodes[number]
        if not _keeps(plan, number, node):
            return False
        if isinstance(node, nodes.Reduce) and not _is_distinct(node):
            continue
        waiting.extend(nodes.sources_of(node))
        if number in plan.definitions:
            waiting.append(plan.definitions[number])
    return True


def _keeps(plan: nodes.DataflowPlan, number: int, node: nodes.Node) -> bool:
    """True where a node takes nothing away as long as nothing is taken from its sources."""
    if isinstance(node, nodes.Variable):
        return node.initial is None and number not in plan.rounds
    if isinstance(node, nodes.Reduce):
        return _is_distinct(node) or plan.scope_of[number] == 0
    return isinstance(node, _KEEPING)
