"""What the functions of a program look at: the facts that decide whose messages a change touches.

A message that reads u's degree changes on all of u's edges when one of them comes or goes; a
message that reads v must be taken anew when v changes, not only when u does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from graphtide.plan import expressions as x
from graphtide.plan.programs import Accumulator, Body, VertexProgram, expressions_of, subexpressions
from graphtide.plan.walks import WalkProgram, all_expressions


@dataclass(frozen=True)
class Reads:
    """Everything that a function or an expression looks at besides accumulators."""

    source_state: frozenset[str]
    target_state: frozenset[str]
    source_facts: frozenset[x.Fact]
    target_facts: frozenset[x.Fact]
    edge_properties: frozenset[x.EdgeProperty]
    parameters: frozenset[str]
    iteration: bool
    target_membership: bool
    target_properties: bool = False

    @property
    def source_degrees(self) -> bool:
        """True where it depends on how many edges u has."""
        return bool(self.source_facts - {"id"})

    @property
    def target_degrees(self) -> bool:
        """True where it depends on how many edges v has."""
        return bool(self.target_facts - {"id"})

    @property
    def reads_target(self) -> bool:
        """True where it depends on v in any way."""
        return self.target_properties or self.reads_changing_target

    @property
    def reads_changing_target(self) -> bool:
        """True where it depends on more of v than the properties that the data give it."""
        return bool(self.target_state or self.target_facts or self.target_membership)


@dataclass(frozen=True)
class Invertible:
    """A program whose accumulators can all take a contribution back: sum, product, count.

    `traverse` is what its messages look at.
    """

    accumulators: tuple[Accumulator, ...]
    traverse: Reads
    reason: str


def reads(body: Body) -> Reads:
    """What a function looks at."""
    return _collect(expressions_of(body))


def reads_expression(expression: x.Expression) -> Reads:
    """What one expression looks at."""
    return _collect(subexpressions(expression))


def edge_properties(program: VertexProgram) -> dict[str, x.ValueType]:
    """The edge properties that the program needs, with the type it takes each as."""
    properties = reads(program.traverse).edge_properties
    return {item.name: item.type for item in sorted(properties, key=lambda item: item.name)}


@cache
def vertex_properties(program: VertexProgram | WalkProgram) -> dict[str, x.VertexProperty]:
    """The vertex properties that the program needs, by name; each as one of v."""
    properties = {
        item.name: replace(item, vertex="v")
        for item in expressions_in(program)
        if isinstance(item, x.VertexProperty)
    }
    return dict(sorted(properties.items()))


@cache
def text_constants(program: VertexProgram | WalkProgram) -> tuple[str, ...]:
    """The texts that a program compares others with, each once."""
    texts = {item.value for item in expressions_in(program) if isinstance(item, x.Text)}
    return tuple(sorted(texts))


def expressions_in(program: VertexProgram | WalkProgram) -> Iterator[x.Expression]:
    """Every expression of the three functions of a vertex or walk program."""
    if isinstance(program, WalkProgram):
        return all_expressions(program)
    bodies = program.initialize, program.traverse, program.update
    return (item for body in bodies for item in expressions_of(body))


def invertible(program: VertexProgram) -> Invertible | None:
    """What maintaining by differences needs to know; None if some accumulator has no inverse."""
    if why_not_invertible(program) is not None:
        return None
    read = reads(program.traverse)
    names = " and ".join(dict.fromkeys(str(item.kind) for item in program.accumulators))
    reason = f"{names} can take a contribution back"
    if read.source_degrees:
        reason += "; a change of u's degree changes all messages of u"
    if read.target_degrees or read.target_state:
        reason += "; a change of v changes all messages to v"
    return Invertible(program.accumulators, read, reason)


def why_not_invertible(program: VertexProgram) -> str | None:
    """The reason in words why differences do not do; None if they do."""
    for item in program.accumulators:
        if item.kind.selects:
            return f"the {item.kind} '{item.name}' cannot take a contribution back"
    if not program.accumulators:
        return "it has no accumulators"
    return None


def _collect(expressions: Iterable[x.Expression]) -> Reads:
    items = list(expressions)
    states = [item for item in items if isinstance(item, x.StateRef)]
    facts = [item for item in items if isinstance(item, x.VertexFact)]
    members = [item for item in items if isinstance(item, x.Member)]
    named = [item.name for item in items if isinstance(item, x.ParameterRef)]
    named += [item.parameter for item in items if isinstance(item, x.PairSource)]
    return Reads(
        source_state=frozenset(item.name for item in states if item.vertex == "u"),
        target_state=frozenset(item.name for item in states if item.vertex == "v"),
        source_facts=frozenset(item.fact for item in facts if item.vertex == "u"),
        target_facts=frozenset(item.fact for item in facts if item.vertex == "v"),
        edge_properties=frozenset(item for item in items if isinstance(item, x.EdgeProperty)),
        parameters=frozenset([*named, *(item.parameter for item in members)]),
        iteration=any(isinstance(item, x.Iteration) for item in items),
        target_membership=any(item.vertex == "v" for item in members),
        target_properties=any(
            isinstance(item, x.VertexProperty) and item.vertex == "v" for item in items
        ),
    )
