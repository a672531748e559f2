"""Narrow a plan: records lose the columns that nothing behind them reads.

Users join whole tables and name what they want at the end. Kept as they are, indexes would hold
every column of every table; narrowed, they hold keys and what is read of them. That is right since
taking columns away commutes with all that multiplicities pass through linearly: maps, filters,
joins, sums of weights. Reductions, functions of Python and outputs read whole records; what users
hold as an arrangement they may look up or import, so it keeps all columns, too. What is held by
nobody and looked up by no other node needs no index.

`needs` holds for each node the columns that are left. What hands records on as they are has the
columns of its source; an arrangement may have fewer, and then a map is put before it. Nodes keep
their numbers; those maps stand behind them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from graphtide.plan import dataflow as nodes
from graphtide.plan.dataflow_expressions import Column, Expression, Operation


def narrowed(plan: nodes.DataflowPlan, kept: Collection[int]) -> nodes.DataflowPlan:
    """The same plan with fewer columns; `kept` are the nodes that keep all of theirs."""
    needs = _Needs(plan, kept).found
    made = replace(
        plan,
        nodes=list(plan.nodes),
        scope_of=list(plan.scope_of),
        schemas=[_chosen(schema, needs[n]) for n, schema in enumerate(plan.schemas)],
    )
    for number, node in enumerate(plan.nodes):
        if isinstance(node, nodes.Map):
            columns = tuple(item for item in node.columns if item[0] in needs[number])
            made.nodes[number] = replace(node, columns=columns)
        elif isinstance(node, nodes.Arrange) and needs[node.source] != needs[number]:
            columns = tuple((name, Column(name)) for name, _ in made.schemas[number])
            scope, schema = plan.scope_of[node.source], made.schemas[number]
            made.nodes[number] = replace(
                node, source=made.add(nodes.Map(node.source, columns), scope, schema)
            )
    looked_up = {*kept, *_looked_up(plan)}
    for number, node in enumerate(plan.nodes):
        if isinstance(node, nodes.Reduce):
            made.nodes[number] = replace(node, indexed=number in looked_up)
    return made


def _looked_up(plan: nodes.DataflowPlan) -> Iterator[int]:
    """The nodes whose records others look up by key."""
    for node in plan.nodes:
        if isinstance(node, nodes.Join | nodes.Reduce):
            yield from nodes.sources_of(node)


class _Needs:
    """The columns that each node needs, found by asking backwards until no answer grows."""

    def __init__(self, plan: nodes.DataflowPlan, kept: Collection[int]) -> None:
        self.plan = plan
        self.found: list[set[str]] = [set() for _ in plan.nodes]
        self._grew = True
        for number in kept:
            self._all(number)
        while self._grew:
            self._grew = False
            for number in reversed(range(len(plan.nodes))):
                self._ask(number, plan.nodes[number])

    def _ask(self, number: int, node: nodes.Node) -> None:
        """Let a node ask its sources for what it needs, and take what they have anyway."""
        needs = self.found
        match node:
            case nodes.Map():
                wanted = (how for name, how in node.columns if name in needs[number])
                self._more(node.source, _columns(*wanted))
            case nodes.Filter():
                self._more(node.source, _columns(node.predicate))
                self._same(number, node.source)
            case nodes.Enter():
                self._more(node.source, _columns(*(() if node.delay is None else (node.delay,))))
                self._same(number, node.source)
            case nodes.Negate() | nodes.Leave() | nodes.Consolidate() | nodes.Concat():
                self._same(number, *nodes.sources_of(node))
            case nodes.Variable():
                self._same(number, *nodes.sources_of(node), self.plan.definitions[number])
            case nodes.Weigh():
                self._more(node.source, needs[number] | {node.column})
                self._more(number, needs[node.source] - {node.column})
            case nodes.Arrange():
                self._more(number, {name for name, _ in self.plan.schemas[number][: node.key]})
                self._more(node.source, needs[number])
            case nodes.Join():
                self._join(number, node)
            case nodes.Compute():
                made = {name for name, _ in node.columns}
                self._more(node.source, needs[number] - made)
                self._more(node.source, _columns(*(how for _, how in node.columns)))
                self._more(number, needs[node.source] | made)
            case nodes.Reduce() | nodes.Foreign() | nodes.Output():
                self._all(number)
                self._all(node.source)
            case nodes.Import():
                self._all(number)
            case nodes.Input() if not needs[number]:  # a record has one column at least
                self._more(number, {name for name, _ in self.plan.schemas[number][:1]})

    def _join(self, number: int, node: nodes.Join) -> None:
        """A joined record is the left one and, behind it, the right one without its key."""
        plan = self.plan
        left = [name for name, _ in plan.schemas[node.left]]
        right = [name for name, _ in plan.schemas[node.right][plan.key_of(node.right) :]]
        names = [name for name, _ in plan.schemas[number]]
        for source, theirs, ours in (
            (node.left, left, names[: len(left)]),
            (node.right, right, names[len(left) :]),
        ):
            pairs = list(zip(theirs, ours, strict=True))
            self._more(source, {one for one, other in pairs if other in self.found[number]})
            self._more(number, {other for one, other in pairs if one in self.found[source]})

    def _same(self, *numbers: int) -> None:
        """Let nodes that hand records on as they are have the same columns."""
        wanted = set().union(*(self.found[number] for number in numbers))
        for number in numbers:
            self._more(number, wanted)

    def _all(self, number: int) -> None:
        self._more(number, {name for name, _ in self.plan.schemas[number]})

    def _more(self, number: int, names: set[str]) -> None:
        if not names <= self.found[number]:
            self.found[number] |= names
            self._grew = True


def _chosen(schema: nodes.Schema, names: set[str]) -> nodes.Schema:
    return tuple(item for item in schema if item[0] in names)


def _columns(*expressions: Expression) -> set[str]:
    """The columns that expressions read."""
    return {name for item in expressions for name in _read(item)}


def _read(expression: Expression) -> Iterator[str]:
    if isinstance(expression, Column):
        yield expression.name
    elif isinstance(expression, Operation):
        for operand in expression.operands:
            yield from _read(operand)
