"""Walk programs in simpler terms: repeated loops as plain steps, and one hop as a vertex program.

    for v, path in u.out_edges.repeat(3):     for path_1, path_edge_1 in u.out_edges:
        if path.edges[0].time > 0:                for path_2, path_edge_2 in path_1.out_edges:
            v.found(1)                                for v, path_edge_3 in path_2.out_edges:
                                                          if path_edge_1.time > 0:
                                                              v.found(1)

`unrolled` makes a conjunction over its items of what must hold along a path, so that whoever runs
the steps can test each part as soon as its positions are bound.

    for v, e in u.out_edges:            direction out,    v.best(u.dist + e.weight)
        v.best(u.dist + e.weight)

    for v, e in u.in_edges:             direction out,    v.best(u.dist + e.weight)
        u.best(v.dist + e.weight)

`one_hop` finds the programs that look at one edge at a time. As vertex programs they get all that
the engine does for those. A loop over distinct neighbours is one over edges where it makes no
difference how often a message arrives: accumulators that select one of the values sent, and
messages that read no edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial, reduce
from itertools import combinations, pairwise

from graphtide.model.errors import InputError
from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w
from graphtide.plan.expressions import INT, Const, Expression, Joined, ParameterRef
from graphtide.plan.programs import Size, rewrite
from graphtide.plan.walks import changed, names_in, renamed, renamed_walk, with_locals

MOST_STEPS = 32
"""The most steps of one path: more than any compiled walk has, far below a million loops."""
Body = tuple[w.WalkStatement, ...]


def unrolled(program: w.WalkProgram, values: Mapping[str, object]) -> w.WalkProgram:
    """The program without `Paths`, `ForEach` and `Along`; InputError where values do not fit it."""
    again = _Unrolling(program, values)
    matches = tuple(map(again.matches, program.matches))
    return replace(program, matches=matches, traverse=again.body(program.traverse))


class _Unrolling:
    def __init__(self, program: w.WalkProgram, values: Mapping[str, object]) -> None:
        self.program, self.values = program, values
        self.sizes = {item.name: dict(item.sizes) for item in program.matches}
        self.columns = {item.name: item.columns for item in program.matches}
        self.used = {program.root, *_bound_names(program.traverse), *_spoken_names(program)}
        self.paths: dict[str, tuple[list[str], list[str]]] = {}

    def number(self, size: Size) -> int:
        value = self.values[size] if isinstance(size, str) else size
        assert isinstance(value, int)
        return value

    def matches(self, item: w.Matches) -> w.Matches:
        columns = []
        for name, kind in item.columns:
            size = self.sizes[item.name].get(name)
            if size is None:
                columns.append((name, kind))
            else:
                columns += [(f"{name}_{at + 1}", kind) for at in range(self.number(size))]
        names = [name for name, _ in columns]
        if len(set(names)) < len(names):
            raise InputError(
                f"{self.program.name}: two columns of '{item.name}' have one name",
                hint="call the columns of the class something else",
            )
        return replace(item, columns=tuple(columns), sizes=())

    def body(self, body: Body) -> Body:
        return tuple(found for statement in body for found in self.statement(statement))

    def statement(self, statement: w.WalkStatement) -> Body:
        match statement:
            case w.Paths():
                return (self.path(statement),)
            case w.ForEach():
                return tuple(self.copies(statement))
            case w.Along():
                return tuple(self.copies_along(statement))
            case w.Step(origin=origin, body=inner):
                self.check(origin)
                return (replace(statement, body=self.body(inner)),)
            case w.SendAt(vertex=vertex):
                self.check(vertex)
                return changed((statement,), self.plain)
            case w.When(condition, then, otherwise):
                return (w.When(self.plain(condition), self.body(then), self.body(otherwise)),)
            case w.Report(name, values):
                return (w.Report(name, self.row(name, values)),)
            case _:
                return changed((statement,), self.plain)

    def copies(self, loop: w.ForEach) -> Iterator[w.WalkStatement]:
        """The body for each number; from the second on, with names of their own."""
        numbers = range(self.number(loop.start), self.number(loop.stop), loop.step)
        for at, number in enumerate(numbers):
            known = {loop.variable: x.Const(number, x.INT)}
            body = changed(loop.body, partial(with_locals, values=known))
            yield from self.body(self.with_own_names(body) if at else body)

    def copies_along(self, loop: w.Along) -> Iterator[w.WalkStatement]:
        """The body for each item of a path, or for each two; each copy has names of its own."""
        for at, turn in enumerate(self.turns(loop)):
            body = renamed_walk(loop.body, dict(zip(loop.names, turn, strict=True)))
            yield from self.body(self.with_own_names(body) if at else body)

    def with_own_names(self, body: Body) -> Body:
        """The statements with new names for all that they bind."""
        return renamed_walk(body, {name: self.fresh(name) for name in _bound_names(body)})

    def path(self, loop: w.Paths) -> w.WalkStatement:
        """The steps of a path, each within the one before."""
        self.check(loop.origin)
        length = self.number(loop.length)
        if not 1 <= length <= MOST_STEPS:
            told = f"'{loop.length}'" if isinstance(loop.length, str) else "the number of steps"
            raise InputError(
                f"{self.program.name}: {told} is how often a loop is repeated, "
                f"and cannot be {length}",
                hint=f"give 1 to {MOST_STEPS}",
            )
        between = [self.fresh(f"{loop.path}_{at}") for at in range(1, length)]
        vertices = [loop.origin, *between, loop.vertex]
        edges = [self.fresh(f"{loop.path}_edge_{at + 1}") for at in range(length * loop.edges)]
        self.paths[loop.path] = vertices, edges
        body = self.body(renamed_walk(loop.body, _item_names(loop.path, vertices, edges)))
        for at in reversed(range(length)):
            edge = edges[at] if loop.edges else None
            body = (w.Step(vertices[at], loop.way, vertices[at + 1], edge, body),)
        return body[0]

    def plain(self, expression: x.Expression) -> x.Expression:
        """The expression in terms of positions and edges alone."""

        def leaf(item: x.Expression) -> x.Expression:
            match item:
                case x.Distinct(vertices):
                    return different([name for one in vertices for name in self.items(one)])
                case x.OverPath():
                    return self.folded(item)
                case _:
                    return item

        found = rewrite(expression, leaf)
        for name in names_in(found):
            self.check(name)
        return found

    def check(self, name: str) -> None:
        """Refuse an item that its path does not have: all others have names of their own."""
        path, dot, _ = name.partition(".")
        if dot:
            raise InputError(
                f"{self.program.name}: there is no {name} in a path of "
                f"{len(self.paths[path][0]) - 1} steps",
                hint="let the path be longer",
            )

    def row(self, name: str, values: tuple[x.Expression, ...]) -> tuple[x.Expression, ...]:
        found: list[x.Expression] = []
        for (column, _), value in zip(self.columns[name], values, strict=True):
            if not isinstance(value, x.OverPath) or value.function != "each":
                found.append(self.plain(value))
                continue
            each = self.values_along(value)
            size = self.number(self.sizes[name][column])
            if len(each) != size:
                raise InputError(
                    f"{self.program.name}: '{column}' of '{name}' takes {size} values, "
                    f"and gets {len(each)}",
                    hint=f"give it as many with the size in gt.Columns(..., size={size})",
                )
            found += each
        return tuple(found)

    def values_along(self, item: x.OverPath) -> list[x.Expression]:
        return [
            self.plain(renamed(item.value, dict(zip(item.names, turn, strict=True))))
            for turn in self.turns(item)
        ]

    def turns(self, item: x.OverPath | w.Along) -> Iterable[tuple[str, ...]]:
        """What the names stand for: each item, each two that follow each other, or any two."""
        names = self.items(item.items)
        if len(item.names) == 1:
            return [(name,) for name in names]
        return combinations(names, 2) if item.every else pairwise(names)

    def folded(self, item: x.OverPath) -> x.Expression:
        values = self.values_along(item)
        match item.function:
            case "all" | "any":
                return _joined("and" if item.function == "all" else "or", values)
            case "sum":
                zero = x.Const(0 if item.type is x.INT else 0.0, item.type)
                return reduce(lambda one, other: x.Binary("+", one, other), values or [zero])
            case "min" | "max" as function if values:
                return values[0] if len(values) == 1 else x.Call(function, tuple(values), item.type)
            case _:
                raise InputError(
                    f"{self.program.name}: {item.function}() of nothing has no value",
                    hint=f"let '{item.items.path}' be longer",
                )

    def items(self, wanted: str | x.PathItems) -> list[str]:
        """The positions or edges that are meant."""
        if isinstance(wanted, str):
            return [wanted]
        vertices, edges = self.paths[wanted.path]
        found = vertices if wanted.kind == "vertices" else edges
        return found[wanted.start : wanted.stop]

    def fresh(self, name: str) -> str:
        found = fresh_name(name, self.used)
        self.used.add(found)
        return found


def fresh_name(wanted: str, used: set[str]) -> str:
    """The name itself, or with the first number behind it that makes it new."""
    found, number = wanted, 1
    while found in used:
        number += 1
        found = f"{wanted}_{number}"
    return found


def different(vertices: list[str]) -> x.Expression:
    """That no two of these positions are the same vertex; each two are compared once."""
    found: list[x.Expression] = [
        x.Compare("!=", x.VertexFact(one, "id"), x.VertexFact(other, "id"))
        for one, other in combinations(vertices, 2)
    ]
    return _joined("and", found)


def _joined(operator: str, terms: list[x.Expression]) -> x.Expression:
    if len(terms) == 1:
        return terms[0]
    if not terms:
        return x.Const(operator == "and", x.BOOL)
    return x.Boolean("and" if operator == "and" else "or", tuple(terms))


def _item_names(path: str, vertices: list[str], edges: list[str]) -> dict[str, str]:
    """What `path.vertices[1]`, `path.vertices[-2]` and so on are called."""
    found = {}
    for kind, names in (("vertices", vertices), ("edges", edges)):
        for at, name in enumerate(names):
            found[f"{path}.{kind}[{at}]"] = name
            found[f"{path}.{kind}[{at - len(names)}]"] = name
    return found


def _bound_names(body: Body) -> Iterator[str]:
    for statement in w.walk_statements(body):
        match statement:
            case w.Step(vertex=vertex, edge=edge):
                yield vertex
                if edge is not None:
                    yield edge
            case w.Paths(vertex=vertex, path=path):
                yield from (vertex, path)
            case w.Along(names=names):
                yield from names
            case _:
                pass


def _spoken_names(program: w.WalkProgram) -> Iterator[str]:
    """The names by which values along a path speak of its items: no step may get one of them."""
    for item in w.walk_expressions(program.traverse):
        if isinstance(item, x.OverPath):
            yield from item.names


_REVERSED = {p.Direction.OUT: p.Direction.IN, p.Direction.IN: p.Direction.OUT}
Walk = tuple[w.WalkStatement, ...]


def one_hop(program: w.WalkProgram) -> p.VertexProgram | None:
    """The vertex program that computes the same; None where there is none."""
    steps = [item for item in w.walk_statements(program.traverse) if isinstance(item, w.Step)]
    ways = {step.way for step in steps}
    ends = set(_ends(program.traverse, program.root, None))
    if program.globals or program.matches or not program.state:
        return None
    if len(ways) != 1 or len(ends) != 1 or ends & {None} or not _may_repeat(program, steps):
        return None
    if any(isinstance(item, Joined) for item in w.walk_expressions(program.traverse)):
        return None
    pulls = ends == {"root"}
    way = ways.pop()
    return p.VertexProgram(
        name=program.name,
        parameters=program.parameters,
        state=program.state,
        accumulators=program.accumulators,
        initialize=program.initialize,
        traverse=_hop_body(program.traverse, {program.root: "v" if pulls else "u"}, pulls),
        update=program.update,
        direction=_REVERSED.get(way, way) if pulls else way,
        iterations=program.iterations,
        tolerance=program.tolerance,
        documentation=program.documentation,
    )


def _ends(body: Walk, root: str, step: w.Step | None) -> Iterator[str | None]:
    """Which end of its edge each send goes to; None for what no vertex program has."""
    for statement in body:
        match statement:
            case w.SendAt(vertex=vertex) if step is not None and vertex in (root, step.vertex):
                yield "root" if vertex == root else "other"
            case w.Step(origin=origin, body=inner) if step is None and origin == root:
                yield from _ends(inner, root, statement)
            case w.When(_, then, otherwise):
                yield from _ends((*then, *otherwise), root, step)
            case w.ForEach(body=inner):
                yield from _ends(inner, root, step)
            case _:
                yield None


def _may_repeat(program: w.WalkProgram, steps: Iterable[w.Step]) -> bool:
    """Whether every loop goes over edges, or may as well do so."""
    selects = all(item.kind.selects for item in program.accumulators)
    return all(step.edge is not None or selects for step in steps)


def _hop_body(body: Walk, names: dict[str, str], pulls: bool) -> p.Body:
    return tuple(statement for item in body for statement in _statements(item, names, pulls))


def _statements(
    statement: w.WalkStatement, names: dict[str, str], pulls: bool
) -> Iterator[p.Statement]:
    match statement:
        case w.SendAt(_, accumulator, value, index):
            at = None if index is None else renamed(index, names)
            yield p.Send(accumulator, renamed(value, names), at)
        case w.When(condition, then, otherwise):
            yield p.If(
                renamed(condition, names),
                _hop_body(then, names, pulls),
                _hop_body(otherwise, names, pulls),
            )
        case w.Step(vertex=vertex, edge=edge, body=inner):
            known = names | {vertex: "u" if pulls else "v"} | ({edge: "e"} if edge else {})
            yield from _hop_body(inner, known, pulls)
        case w.ForEach(variable, start, stop, inner, step):
            yield p.ForRange(
                variable, _bound(start), _bound(stop), _hop_body(inner, names, pulls), step
            )
        case _:
            raise AssertionError(f"{statement} is in no vertex program")


def _bound(size: p.Size) -> Expression:
    return ParameterRef(size, INT) if isinstance(size, str) else Const(size, INT)
