"""What a query is, how it is kept current, and what it takes, in words."""

from __future__ import annotations

from graphtide.engine.queries.engine import ENTRY
from graphtide.lang.paths import unparse_path
from graphtide.run.queries.kept import KeptQueries, KeptQuery


def explain_query(kept: KeptQueries, query: KeptQuery) -> str:
    """A few lines on one query."""
    kind = query.kind
    states = sum(search.automaton.states for search in query.searches)
    entries = sum(kept.engine.entries(number) for number in query.numbers)
    starts = len(query.searches)
    lines = [
        f"query '{query.name}': {kind}",
        f"walks of {unparse_path(kind.asked[0].path)} from "
        + (f"{starts:,} starts" if starts > 1 else "one start"),
        f"cost: {_cost(query)}",
        "mode: fixpoint, the least cost of every vertex and state that a walk reaches",
        f"automaton: {query.searches[0].automaton.states:,} states"
        + (f", {states:,} for all starts" if starts > 1 else ""),
        f"state: {entries:,} entries, {ENTRY * entries:,} bytes",
        f"all {len(kept.queries):,} queries: {kept.nbytes:,} bytes",
    ]
    return "\n".join(lines)


def _cost(query: KeptQuery) -> str:
    kind = query.kind
    cost = "1 for each edge" if kind.weight is None else f"e.{kind.weight}, which is never negative"
    return cost if kind.bound is None else f"{cost}; at most {kind.bound:g} in all"
