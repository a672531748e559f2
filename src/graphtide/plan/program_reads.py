"""What a program reads of the graph, and the same program reading it in another way.

What the functions of a program look at decides whose messages a change touches: a message that
reads u's degree changes on all of u's edges when one of them comes or goes, and a message that
reads v must be computed anew when v changes, not only when u does.

Three rewritings adapt a program to the graph that it runs on. Whoever runs, explains, checks or
stores the result sees a plain program; each computes what the original does.

- `with_columns`: the data call a property otherwise, `ShortestPaths(source=3, weight="km")`. A
  parameter of the program has precedence over a property of the same name.
- `with_given_facts`: whoever holds a part of a graph has other numbers for its vertices, and not
  all of their edges. Numbers and degrees then become vertex properties, given by who knows them.
- `both_ways`: an undirected edge is stored once, and no program may tell its two ends apart. Edges
  are traversed both ways, and all degrees are the number of edges at a vertex. A self-loop is
  visited once there, and once each way in a directed graph: `kernels.graph.adjacency` sees to that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

from graphtide.model.errors import InputError
from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import regular_paths as paths
from graphtide.plan import walks as w
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
    changed_body,
    expressions_of,
    rewrite,
    subexpressions,
    with_expressions,
)
from graphtide.plan.walks import WalkProgram, all_expressions, changed, walk_expressions


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
        """True where it depends on more of v than its properties, which never change."""
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
    return _collect(expressions_of(body))


def reads_expression(expression: x.Expression) -> Reads:
    return _collect(subexpressions(expression))


def edge_properties(program: VertexProgram) -> dict[str, x.ValueType]:
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
    """How to maintain the program by differences; None if some accumulator has no inverse."""
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
    """Why the program cannot be maintained by differences; None if it can."""
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


Plan = TypeVar("Plan", VertexProgram, w.WalkProgram)


def column_names(program: VertexProgram | w.WalkProgram) -> tuple[str, ...]:
    """The properties that a program reads and that may be called otherwise, in order of names."""
    taken = {item.name for item in program.parameters}
    read = {item.name for item in _read_properties(program)}
    return tuple(sorted(name for name in read - taken if not name.startswith(("_", "("))))


def columns_given(
    program: VertexProgram | w.WalkProgram, given: Mapping[str, object]
) -> tuple[tuple[str, str], ...]:
    """The columns among the values that a user gives; InputError if one is no name."""
    names = [name for name in column_names(program) if name in given]
    return tuple((name, _column_of(program, name, given[name])) for name in names)


def with_columns(program: Plan, columns: Iterable[tuple[str, str]]) -> Plan:
    """The program with properties called as the data call them."""
    names = {name: column for name, column in columns if name != column}
    if not names:
        return program

    def leaf(item: x.Expression) -> x.Expression:
        match item:
            case x.EdgeProperty(name=name) | x.VertexProperty(name=name) if name in names:
                return replace(item, name=names[name])
            case _:
                return item

    called = _rewritten(program, leaf)
    _check_types(called)
    return called


def _rewritten(program: Plan, leaf: Callable[[x.Expression], x.Expression]) -> Plan:
    """The program with the leaves of every expression of its three functions replaced."""

    def change(expression: x.Expression) -> x.Expression:
        return rewrite(expression, leaf)

    if isinstance(program, VertexProgram):
        return with_expressions(program, change)
    return replace(
        program,
        initialize=changed_body(program.initialize, change),
        traverse=changed(program.traverse, change),
        update=changed_body(program.update, change),
    )


def _read_properties(
    program: VertexProgram | w.WalkProgram,
) -> Iterable[x.EdgeProperty | x.VertexProperty]:
    return (
        item
        for item in expressions_in(program)
        if isinstance(item, x.EdgeProperty | x.VertexProperty)
    )


def _column_of(program: VertexProgram | w.WalkProgram, name: str, value: object) -> str:
    read = {type(item) for item in _read_properties(program) if item.name == name}
    if len(read) > 1:
        raise InputError(
            f"{program.name} reads '{name}' of edges and of vertices, and cannot be told which of "
            "the two has another name",
            hint="call the column so where the graph is made",
        )
    owners = "edges" if x.EdgeProperty in read else "vertices"
    return given_column(program.name, name, value, owners)


def given_column(program: str, name: str, value: object, owners: str = "edges") -> str:
    """The name of a column that is given for a property; InputError if it is none."""
    if isinstance(value, str) and value:
        return value
    raise InputError(
        f"{program}: '{name}' cannot be {value!r}: it is a property of {owners}",
        hint=f"give the name of the column that holds it: {name}='...'",
    )


def _check_types(program: VertexProgram | w.WalkProgram) -> None:
    """Refuse one column in the place of two that a program reads as different types."""
    known: dict[tuple[type, str], x.ValueType] = {}
    for item in _read_properties(program):
        kind = known.setdefault((type(item), item.name), item.type)
        if kind is not item.type:
            raise InputError(
                f"{program.name}: '{item.name}' stands for two properties, of which one is read as "
                f"{kind} and the other as {item.type}",
                hint="give the two different columns",
            )


FACTS: dict[str, x.Fact] = {
    f"({name})": name for name in ("id", "out_degree", "in_degree", "degree")
}
"""What the facts are called as properties: no property of a user's can have such a name."""


@cache
def with_given_facts(program: p.VertexProgram) -> p.VertexProgram:
    """The program with vertex properties in place of facts."""
    return _rewritten(program, _fact_as_property)


def given_expression(expression: x.Expression) -> x.Expression:
    """An expression with vertex properties in place of facts."""
    return rewrite(expression, _fact_as_property)


def _fact_as_property(leaf: x.Expression) -> x.Expression:
    match leaf:
        case x.VertexFact(vertex, fact):
            return x.VertexProperty(vertex, f"({fact})", x.INT)
        case _:
            return leaf


_DEGREES = ("out_degree", "in_degree")


@cache
def both_ways(program: p.VertexProgram) -> p.VertexProgram:
    """The vertex program that sends along edges both ways."""
    return replace(_rewritten(program, _undirected_leaf), direction=p.Direction.BOTH)


@cache
def walks_both_ways(program: w.WalkProgram) -> w.WalkProgram:
    """The walk program each step of which goes both ways."""
    program = _rewritten(program, _undirected_leaf)
    return replace(program, traverse=_both_ways_steps(program.traverse))


def path_both_ways(path: paths.RegularPath) -> paths.RegularPath:
    """The regular path that takes every edge along its way or against it."""
    match path:
        case paths.Step():
            return paths.Alternative((path, paths.Inverse(path)))
        case paths.Except(labels, back):
            # Either way: whatever one of the two leaves is taken.
            left = [item for item in (labels, back) if item is not None]
            return _one_of(paths.Except(item, item) if item else paths.EITHER for item in left)
        case paths.Inverse(inner):
            return paths.Inverse(path_both_ways(inner))
        case paths.Repeat(inner):
            return replace(path, path=path_both_ways(inner))
        case paths.Sequence(parts):
            return paths.Sequence(tuple(map(path_both_ways, parts)))
        case paths.Alternative(parts):
            return _one_of(map(path_both_ways, parts))


def _one_of(parts: Iterable[paths.RegularPath]) -> paths.RegularPath:
    flat = dict.fromkeys(
        one
        for part in parts
        for one in (part.parts if isinstance(part, paths.Alternative) else (part,))
    )
    return paths.Alternative(tuple(flat)) if len(flat) > 1 else next(iter(flat))


def _both_ways_steps(body: tuple[w.WalkStatement, ...]) -> tuple[w.WalkStatement, ...]:
    return tuple(map(_both_ways_step, body))


def _both_ways_step(statement: w.WalkStatement) -> w.WalkStatement:
    match statement:
        case w.Step(body=inner) | w.Paths(body=inner):
            return replace(statement, way=p.Direction.BOTH, body=_both_ways_steps(inner))
        case w.When(condition, then, otherwise):
            return w.When(condition, _both_ways_steps(then), _both_ways_steps(otherwise))
        case w.ForEach(body=inner) | w.Along(body=inner):
            return replace(statement, body=_both_ways_steps(inner))
        case _:
            return statement


def _undirected_leaf(leaf: x.Expression) -> x.Expression:
    """Degrees and joins that do not tell the ways apart."""
    match leaf:
        case x.VertexFact(_, fact) if fact in _DEGREES:
            return replace(leaf, fact="degree")
        case x.Joined():
            return replace(leaf, way="both")
        case _:
            return leaf
