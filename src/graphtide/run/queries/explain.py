"""What a query is, how it is kept current, and what it takes, in words."""

from __future__ import annotations

from graphtide.engine.histories.engine import HistoryEngine
from graphtide.engine.queries.engine import QueryEngine
from graphtide.lang.paths import unparse_path
from graphtide.model.machine import in_words
from graphtide.model.text import counted
from graphtide.plan.regular_paths import automaton_of
from graphtide.run.queries.standing_queries import StandingQueries
from graphtide.run.queries.standing_query import StandingQuery

_SHOWN = 5


def explain_query(kept: StandingQueries, query: StandingQuery) -> str:
    """A text of some lines on one query."""
    kind = query.kind
    states = sum(search.automaton.states for search in query.searches)
    starts = len(kind.asked)
    lines = [
        f"query '{query.name}': {kind}",
        *([told_absent(kept, query)] if query.absent else []),
        f"walks of {unparse_path(query.asked[0].path)} from "
        + (f"{starts:,} starts" if starts > 1 else "one start"),
        f"cost: {_cost(query)}",
        f"mode: {_mode(kept, query)}",
        f"automaton: {counted(automaton_of(query.asked[0].path).states, 'state')}"
        + (f", {states:,} for all starts" if starts > 1 else ""),
        f"state: {_state(kept, query)}",
        f"a batch: {_milliseconds(kept, query)} ms of its own, in the mean",
        f"all {counted(len(kept.queries), 'query', 'queries')}: {kept.nbytes:,} bytes",
    ]
    return "\n".join(lines)


def told_absent(kept: StandingQueries, query: StandingQuery) -> str:
    """A line on the vertices that a query names and that are not there, with what is like one."""
    named = ", ".join(map(repr, query.absent[:_SHOWN]))
    more = f" and {len(query.absent) - _SHOWN:,} more" if len(query.absent) > _SHOWN else ""
    one = len(query.absent) == 1
    hint = kept.known.ids.hint(query.absent[0])
    until = "it comes" if one else "they come"
    return f"not in the graph yet: {named}{more}; until {until}, the answer is none ({hint})"


def query_bytes(kept: StandingQueries, query: StandingQuery) -> int:
    return sum(map(kept.engine.bytes_of, kept.numbers_of(query)))


def explain_queries(kept: StandingQueries) -> str:
    """A line for each query, and what all of them take."""
    engine, count = kept.engine, len(kept.queries)
    lines = [
        f"{counted(count, 'query', 'queries')}, {_limit(engine)}",
        f"in use: {in_words(kept.nbytes)}{_share(engine)}",
        f"a batch: {1e3 * engine.times.mean:.3f} ms, the mean of {engine.times.followed:,}",
    ]
    if isinstance(engine, QueryEngine):
        dropped = sum(_dropped(engine, query) > 0 for query in kept.queries.values())
        dropped_text = counted(dropped, "query", "queries")
        lines.insert(2, f"without their state: {dropped_text}, {dropped / max(count, 1):.0%}")
        lines += _landmarks(kept, engine)
    return "\n".join([*lines, *(_line(kept, query) for query in kept.queries.values())])


def _landmarks(kept: StandingQueries, engine: QueryEngine) -> list[str]:
    """A line on landmarks, where the graph shall have some."""
    landmarks = engine.states.landmarks
    if landmarks.settings is None:
        return []
    if landmarks.lacks_room:
        return ["landmarks: none, the budget has no room for them"]
    if not landmarks.vertices:
        return ["landmarks: none, there is no pair without its state"]
    ids = kept.known.ids
    first = ", ".join(str(ids[vertex]) for vertex in landmarks.vertices[:_SHOWN])
    more = ", ..." if len(landmarks.vertices) > _SHOWN else ""
    return [
        f"landmarks: {len(landmarks.vertices):,} by {landmarks.settings.choice} ({first}{more}), "
        f"{in_words(landmarks.nbytes)}, begun {counted(landmarks.begun, 'time')}"
    ]


def _limit(engine: QueryEngine | HistoryEngine) -> str:
    if isinstance(engine, HistoryEngine):
        return f"kept by {_settings(engine)}"
    most = engine.budget.most
    return f"budget: {'no limit' if most is None else in_words(most)}"


def _share(engine: QueryEngine | HistoryEngine) -> str:
    if isinstance(engine, HistoryEngine):
        return ""
    budget = engine.budget
    share = f", {budget.used / budget.most:.0%}" if budget.most else ""
    return f"{share}; at most: {in_words(budget.highest)}"


def _line(kept: StandingQueries, query: StandingQuery) -> str:
    line = f"  {query.name}: {_state(kept, query)}; {_milliseconds(kept, query)} ms a batch"
    if isinstance(kept.engine, HistoryEngine):
        return line
    records = [kept.engine.states.records[number] for number in kept.numbers_of(query)]
    again = sum(record.again for record in records)
    seconds = sum(record.seconds for record in records)
    took = f", {1e3 * seconds / again:.3f} ms each" if again else ""
    return f"{line}; computed anew {counted(again, 'time')}{took}"


def _milliseconds(kept: StandingQueries, query: StandingQuery) -> str:
    """Mean milliseconds of a batch that a query took itself."""
    return f"{1e3 * sum(map(kept.engine.seconds_of, query.numbers)):.3f}"


def _dropped(engine: QueryEngine, query: StandingQuery) -> int:
    return sum(not engine.states.keeps_entries(number) for number in query.numbers)


def _mode(kept: StandingQueries, query: StandingQuery) -> str:
    if isinstance(kept.engine, HistoryEngine):
        return _settings(kept.engine)
    dropped = _dropped(kept.engine, query)
    if not dropped:
        return "fixpoint, the least cost of every vertex and state that a walk reaches"
    how = "its answer, computed anew at a batch that concerns it"
    return how if dropped == len(kept.numbers_of(query)) else f"{how}, of {dropped:,} starts"


def _settings(engine: HistoryEngine) -> str:
    settings = engine.settings
    if not settings.join_on_demand:
        return "histories, and the messages of the join"
    if settings.drop is None:
        return "histories, join on demand"
    return (
        f"histories, join on demand, {settings.drop:.0%} dropped by {settings.policy}, "
        f"{settings.how}"
    )


def _state(kept: StandingQueries, query: StandingQuery) -> str:
    engine, numbers = kept.engine, kept.numbers_of(query)
    entries, size = sum(map(engine.entries, numbers)), query_bytes(kept, query)
    if isinstance(engine, QueryEngine):
        size_text = f"{counted(entries, 'entry', 'entries')}, {size:,} bytes"
        dropped = _dropped(engine, query)
        return size_text if not dropped else f"{size_text}, {dropped / len(numbers):.0%} dropped"
    parts = [f"{entries:,} differences"]
    if not engine.settings.join_on_demand:
        parts.append(f"{sum(map(engine.messages, numbers)):,} messages")
    if engine.settings.drop is not None:
        dropped = sum(map(engine.dropped, numbers))
        share = dropped / max(dropped + entries, 1)
        again = sum(map(engine.recomputed, numbers))
        parts.append(f"{dropped:,} more dropped ({share:.0%}), {again:,} recomputed")
    return f"{', '.join(parts)}, {size:,} bytes"


def _cost(query: StandingQuery) -> str:
    kind = query.kind
    cost = "1 for each edge" if kind.weight is None else f"e.{kind.weight}, which is never negative"
    return cost if kind.bound is None else f"{cost}; at most {kind.bound:g} in all"
