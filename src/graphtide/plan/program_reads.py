"""What the functions of a program look at: the facts that decide whose messages a change touches.

A message that reads u's degree changes on all of u's edges when one of them comes or goes; a
message that reads v must be taken anew when v changes, not only when u does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from graphtide.plan import expressions as x
from graphtide.plan.programs import (
    Accumulator,
    AssignLocal,
    AssignState,
    Body,
    ForRange,
    If,
    Send,
    StateField,
    VertexProgram,
    expressions_of,
    subexpressions,
)
from graphtide.plan.walks import WalkProgram, all_expressions, walk_expressions


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


def default_starts(program: VertexProgram | WalkProgram) -> tuple[StateField, ...]:
    """The state that begins with 0 or False because nothing says otherwise before it is read.

    Vertices may have a property of the same name, which a reader of the program then takes for
    what they begin with. A default that is another number says what the author means.
    """
    plain = (item for item in program.state if item.size is None and not item.default)
    return tuple(item for item in plain if _shows_default(program, item.name))


def _shows_default(program: VertexProgram | WalkProgram, name: str) -> bool:
    read, assigned = _first_use(program.initialize, name)
    if read or assigned:
        return read
    if isinstance(program, WalkProgram):
        sent = walk_expressions(program.traverse)
    else:
        sent = expressions_of(program.traverse)
    read, assigned = _first_use(program.update, name)
    return (
        read
        or not assigned
        or program.iterations == 0
        or any(_is_state(item, name) for item in sent)
    )


def _first_use(body: Body, name: str) -> tuple[bool, bool]:
    """Whether state may be read before it is assigned, and whether it surely is assigned.

    A loop counts as if it ran: what it assigns of an array, it mostly assigns whole.
    """
    for statement in body:
        match statement:
            case If(condition, then, otherwise):
                ways = _first_use(then, name), _first_use(otherwise, name)
                if _reads_state((condition,), name) or any(read for read, _ in ways):
                    return True, False
                assigned = all(assigned for _, assigned in ways)
            case ForRange(_, start, stop, inner):
                read, assigned = _first_use(inner, name)
                if read or _reads_state((start, stop), name):
                    return True, False
            case AssignState(target, value, index):
                if _reads_state((value,) if index is None else (value, index), name):
                    return True, False
                assigned = target == name
            case AssignLocal(_, value) | Send(_, value):
                if _reads_state((value,), name):
                    return True, False
                assigned = False
        if assigned:
            return False, True
    return False, False


def _reads_state(expressions: Iterable[x.Expression], name: str) -> bool:
    return any(_is_state(item, name) for whole in expressions for item in subexpressions(whole))


def _is_state(item: x.Expression, name: str) -> bool:
    return isinstance(item, x.StateRef) and item.name == name


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
