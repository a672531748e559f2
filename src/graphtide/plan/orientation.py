"""Programs on undirected graphs: what they say of out and in is said of both.

An undirected edge is stored once, from the end that was given first to the other, and no program
may tell the two apart. So edges are gone along both ways, `u.out_neighbours` and `u.in_neighbours`
are `u.neighbours`, and all degrees are the number of edges at a vertex. Everything that follows
(proofs, modes, machine code, shards) is that of the program which says so itself: nothing else
knows that there are such graphs, except for loops. A program visits a loop once there, and a
directed graph's loop once each way: which entries and edges those are is the graph's business
(`kernels.graph.adjacency`).

Doing it twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import regular_paths as paths
from graphtide.plan import walks as w
from graphtide.plan.program_symbols import changed_body, rewrite, with_expressions
from graphtide.plan.walk_names import changed

_DEGREES = ("out_degree", "in_degree")


@cache
def both_ways(program: p.VertexProgram) -> p.VertexProgram:
    """The vertex program that sends along edges both ways."""
    return replace(with_expressions(program, _undirected), direction=p.Direction.BOTH)


@cache
def walks_both_ways(program: w.WalkProgram) -> w.WalkProgram:
    """The walk program each step of which goes both ways."""
    return replace(
        program,
        initialize=changed_body(program.initialize, _undirected),
        traverse=_steps(changed(program.traverse, _undirected)),
        update=changed_body(program.update, _undirected),
    )


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


def _steps(body: tuple[w.WalkStatement, ...]) -> tuple[w.WalkStatement, ...]:
    return tuple(map(_step, body))


def _step(statement: w.WalkStatement) -> w.WalkStatement:
    match statement:
        case w.Step(body=inner) | w.Paths(body=inner):
            return replace(statement, way=p.Direction.BOTH, body=_steps(inner))
        case w.When(condition, then, otherwise):
            return w.When(condition, _steps(then), _steps(otherwise))
        case w.ForEach(body=inner) | w.Along(body=inner):
            return replace(statement, body=_steps(inner))
        case _:
            return statement


def _undirected(expression: x.Expression) -> x.Expression:
    """An expression in which degrees and joins do not tell the ways apart."""
    return rewrite(expression, _leaf)


def _leaf(leaf: x.Expression) -> x.Expression:
    match leaf:
        case x.VertexFact(_, fact) if fact in _DEGREES:
            return replace(leaf, fact="degree")
        case x.Joined():
            return replace(leaf, way="both")
        case x.StateRef(index=index) | x.AccumulatorRef(index=index) | x.GlobalRef(index=index) if (
            index is not None
        ):
            return replace(leaf, index=_undirected(index))
        case x.OverPath(value=value):
            return replace(leaf, value=_undirected(value))
        case _:
            return leaf
