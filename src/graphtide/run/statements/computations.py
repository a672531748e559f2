"""Computations by the names that statements use: those of the library, and users' own.

A name is found whatever its case, dashes and underscores, so that `PageRank`, `page_rank` and
`pagerank` are one. Graphsurge's names of computations and parameters are known beside ours. An
error shows the place in the statement, the nearest name, and all names there are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

import pyarrow as pa

from graphtide import algorithms
from graphtide.algorithms import paths
from graphtide.lang.datalog.program import RuleProgram
from graphtide.lang.diagnostics import Span, language_error, render_span
from graphtide.lang.gvdl.statements import ParameterValue, Run
from graphtide.lang.python import DataflowProgram, Program
from graphtide.lang.python.program_files import programs_of
from graphtide.model.errors import InputError, LanguageError
from graphtide.model.names import given_path
from graphtide.model.schema import GraphSchema, PropertyType, closest, name_hint
from graphtide.run.catalog.listings import table_of
from graphtide.run.live.programs import Bound, bound_program

ALIASES = {
    "WCC": ("components", "cc", "wccopt"),
    "PageRank": ("pr",),
    "PersonalisedPageRank": ("personalized_page_rank", "ppr"),
    "ShortestPaths": ("sssp", "bellman_ford", "bf"),
    "DegreeStatistics": ("degrees",),
    "PairDistances": ("pairs",),
    "SCC": ("strong_components",),
    "Triangles": ("tc", "triangle_count"),
}
"""Other names of programs, Graphsurge's among them."""

PAIRS = ("mpsp", "spsp")
"""Shortest paths between pairs of vertices, by `weight` where edges have it: two programs."""

_PARAMETERS = {"root": "source", "rounds": "iterations", "goals": "pairs"}
_WEIGHTS = (
    "weight_cap: an edge weighs (u + v) % weight_cap + 1 of the numbers of its ends in the order "
    "of the input; leave it out for shortest paths by the edges' own property 'weight'"
)
_CAP = "weight_cap"
_OWN = "decorate a class of it with @gt.program, or a function with @gt.dataflow.program(...)"

Computation = Program | DataflowProgram | RuleProgram


@dataclass(frozen=True)
class ChosenComputation:
    """A program with its parameters, and notes on what the statement's words mean here."""

    program: Bound
    notes: tuple[str, ...] = ()


@cache
def library() -> dict[str, Computation]:
    """The programs of the library by their names in statements: `page_rank`, `wcc`."""
    exported = {name: getattr(algorithms, name) for name in algorithms.__all__}
    return {
        _spelled(name): item for name, item in exported.items() if isinstance(item, Computation)
    }


def computations_table() -> pa.Table:
    """One row per computation: its name, parameters, other names and what it computes."""
    rows = [
        (name, _signature(program), ", ".join(ALIASES.get(program.name, ())), _idea(program))
        for name, program in library().items()
    ]
    idea = "The least number of edges, or sum of `weight`, from each source to its target."
    rows.append((PAIRS[0], "goals=[(source, target), ...]", PAIRS[1], idea))
    return table_of(("computation", "parameters", "also", "computes"), sorted(rows))


def said_outright(schema: GraphSchema, statement: Run) -> Run:
    """The statement with the name of the program that it stands for on such a graph.

    Shortest paths between pairs are sums of `weight` where edges have such a number, by that name
    or the one that is given for it, or else numbers of edges.
    """
    if statement.library is not None or statement.computation.lower() not in PAIRS:
        return statement
    numbers = (PropertyType.INT, PropertyType.FLOAT)
    weight = dict(statement.parameters).get("weight", "weight")
    weighted = any(item.name == weight and item.type in numbers for item in schema.edge)
    return replace(statement, computation="pair_distances" if weighted else "pair_hops")


def chosen_computation(statement: Run) -> ChosenComputation:
    """The program that a statement names, with its parameters; LanguageError if it cannot be."""
    program = _program(statement)
    known = [item.name for item in program.parameters] + _columns(program)
    given = _given(statement, program, known)
    try:
        bound = bound_program(program(**given))
        return ChosenComputation(bound, (_WEIGHTS,) if _CAP in known else ())
    except InputError as error:
        place = error_place(error, statement)
        raise language_error(error.what, place, error.hint) from None


def error_place(error: InputError, statement: Run) -> Span | None:
    """Where the parameter stands that an error names, or else the computation."""
    for name, _ in statement.parameters:
        if any(f"'{item}'" in error.what for item in (name, _PARAMETERS.get(name, name))):
            return statement.place(f"({name})")
    return statement.place("computation")


def _given(statement: Run, program: Computation, known: list[str]) -> dict[str, ParameterValue]:
    """The parameters by our names; refuses one that the program does not have."""
    values: dict[str, ParameterValue] = {}
    for name, value in statement.parameters:
        ours = _PARAMETERS.get(name, name)
        if name in known or ours not in known:
            ours = name
        if ours in known and ours not in values:
            values[ours] = value
        elif ours in values:
            raise language_error(f"'{ours}' is given twice", statement.place(f"({name})"))
        else:
            raise _no_parameter(statement, program, name, known)
    return values


def _program(statement: Run) -> Computation:
    wanted = _plain(statement.computation)
    if statement.library is not None:
        return _own_program(statement, wanted)
    names = {_plain(name): program for name, program in library().items()}
    names |= {_plain(alias): names[_plain(of)] for of, all_ in ALIASES.items() for alias in all_}
    if wanted in names:
        return _by_weights(statement, names[wanted])
    spelled = [*library(), *(alias for all_ in ALIASES.values() for alias in all_), *PAIRS]
    near = closest(statement.computation, spelled)
    hint = f"did you mean `{near}`? " if near else ""
    raise language_error(
        f"there is no computation named '{statement.computation}'",
        statement.place("computation"),
        f"{hint}there is: {', '.join(library())}; your own: `run NAME from 'file.py' on ...`",
    )


def _by_weights(statement: Run, program: Computation) -> Computation:
    """Shortest paths by the weights that the statement asks for: the edges' own, or made up."""
    cap = dict(statement.parameters).get(_CAP)
    if cap is None or program.name != "ShortestPaths":
        return program
    if isinstance(cap, int) and cap < 1:
        raise language_error(
            f"weight_cap cannot be {cap}",
            statement.place(f"({_CAP})"),
            "give a whole number from 1 on: weights are from 1 to it",
        )
    capped: Computation = vars(paths)["CappedPaths"]
    return capped


def _own_program(statement: Run, wanted: str) -> Computation:
    assert statement.library is not None
    path = given_path(statement.library)
    try:
        programs = programs_of(path)
    except (InputError, LanguageError) as error:
        error.where = error.where or _rendered(statement, "library")
        raise
    for name, program in programs.items():
        if _plain(name) == wanted or (not wanted and len(programs) == 1):
            return program
    if programs and not wanted:
        raise language_error(
            f"{path.name} has {len(programs)} programs",
            statement.place("library"),
            f"name one: `run {next(iter(programs))} from '{statement.library}' on ...`",
        )
    there = f"it has {', '.join(programs)}" if programs else _OWN
    raise language_error(
        f"{path.name} has no program"
        + (f" named '{statement.computation}'" if wanted else " that could be run"),
        statement.place("computation"),
        name_hint(statement.computation, programs, there),
    )


def _no_parameter(
    statement: Run, program: Computation, name: str, known: list[str]
) -> LanguageError:
    near = closest(name, known)
    listed = f"it has {', '.join(known)}" if known else "it has none: leave it out"
    return language_error(
        f"{program.name} has no parameter '{name}'",
        statement.place(f"({name})"),
        f"did you mean `{near}`? {listed}" if near else listed,
    )


def _rendered(statement: Run, what: str) -> str | None:
    place = statement.place(what)
    return None if place is None else render_span(place)


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _spelled(name: str) -> str:
    """`PageRank` as `page_rank`, `KHops` as `k_hops`, `WCC` as `wcc`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _signature(program: Computation) -> str:
    named = [
        item.name if item.default is None else f"{item.name}={item.default}"
        for item in program.parameters
    ]
    named += [f"[{name}]" for name in _columns(program)]
    return ", ".join([*named, *([f"[{_CAP}]"] if program.name == "ShortestPaths" else [])])


def _columns(program: Computation) -> list[str]:
    """The properties that a program reads, which may be given by other names."""
    return [] if isinstance(program, RuleProgram) else list(program.columns)


def _idea(program: Computation) -> str:
    """The first paragraph of the documentation, on one line."""
    return " ".join((program.__doc__ or "").split("\n\n")[0].split())
