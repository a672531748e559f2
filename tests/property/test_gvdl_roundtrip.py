"""Text and tree say the same: parse(unparse(x)) == x, whatever x is."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.lang.gvdl import statements as live
from graphtide.lang.gvdl import statements as s
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl import tree as t
from graphtide.lang.gvdl.parse import parse_predicate, parse_script, parse_statement, parse_views
from graphtide.lang.gvdl.unparse import unparse
from graphtide.plan.predicates import Operator
from tests.examples import examples

FEW = settings(deadline=None, max_examples=examples(100))


def short(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The same strategy with a short name: printed in full, nested ones grow without bound."""

    @st.composite
    def drawn(draw: st.DrawFn) -> Any:
        return draw(strategy)

    return drawn()


texts = short(st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
lines = texts.filter(lambda text: text and "\n" not in text)
words = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,5}", fullmatch=True)
odd_names = st.sampled_from(
    ["not", "true", "NULL", "date", "from", "collection", "with", "adaptive", "a b", "a-b", "a`b"]
)
names = short(words | odd_names | lines)
property_names = words | odd_names | lines | st.just("c{i}")
units = st.sampled_from(["millisecond", "second", "minute", "hour", "day", "week", "month", "year"])
zones = st.none() | st.integers(-720, 720).map(lambda m: dt.timezone(dt.timedelta(minutes=m)))
values = short(
    st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.booleans()
    | texts
    | st.dates()
    | st.datetimes(timezones=zones)
)
literals = st.builds(t.Literal, values)
properties = st.builds(
    t.PropertyName, property_names, st.sampled_from(["edge", "src", "dst"]), st.booleans()
)
variables = st.builds(t.Variable, words)
shifted = st.builds(
    t.Shifted,
    variables | st.builds(t.PropertyName, words.filter(lambda w: w.lower() not in RESERVED)),
    st.integers(),
    st.none() | units,
)
RESERVED = {"not", "true", "false", "null"}
operands = short(literals | properties | variables | shifted | st.just(t.Literal(None)))
flags = st.booleans()


def tuples(inner: st.SearchStrategy[Any], least: int = 1) -> st.SearchStrategy[Any]:
    return st.lists(inner, min_size=least, max_size=3).map(tuple)


tests = short(
    st.one_of(
        st.builds(t.Compare, st.sampled_from(list(Operator)), operands, operands),
        st.builds(t.InList, operands, tuples(operands), flags),
        st.builds(t.Between, operands, operands, operands, flags),
        st.builds(t.NullTest, properties, flags),
        st.builds(t.LikeTest, operands, operands, flags),
        operands,
    )
)
predicates = short(
    st.recursive(
        tests,
        lambda inner: st.one_of(
            st.builds(t.Not, inner),
            st.builds(t.And, tuples(inner, 2)),
            st.builds(t.Or, tuples(inner, 2)),
            st.builds(t.TruthTest, inner, flags, flags),
        ),
        max_leaves=8,
    )
)
optional_text = st.none() | texts
view_names = st.none() | lines | st.sampled_from(["a-{y}", "{s}", "view.1", "a:b"])
amounts = short(
    st.integers().map(t.Literal)
    | st.floats(allow_nan=False, allow_infinity=False).map(t.Literal)
    | st.builds(t.Duration, st.integers(), units)
)
windows = short(
    st.builds(
        t.Windows,
        st.sampled_from(["expanding", "sliding", "tumbling"]),
        properties,
        amounts,
        st.none() | amounts,
        st.none() | operands,
        st.none() | operands,
        optional_text,
        flags,
        flags,
        optional_text,
    )
)
loop_values = st.builds(t.Range, operands, operands, st.none() | amounts) | st.builds(
    t.ValueList, tuples(operands)
)
items = short(
    st.recursive(
        st.one_of(
            st.builds(t.View, predicates, view_names),
            windows,
            st.builds(
                t.Outages,
                st.sampled_from(["edge", "vertex"]),
                flags,
                st.none() | predicates,
                optional_text,
            ),
            st.builds(
                t.Outages,
                st.just("value"),
                flags,
                st.none() | predicates,
                optional_text,
                properties,
            ),
        ),
        lambda inner: st.one_of(
            st.builds(t.Loop, words, loop_values, tuples(inner)),
            st.builds(t.Group, tuples(inner)),
            st.builds(t.Product, tuples(inner.filter(lambda i: not isinstance(i, t.Product)), 2)),
            st.builds(t.Combinations, st.integers(0), tuples(inner), optional_text),
        ),
        max_leaves=4,
    )
)
paths = texts
optional_count = st.none() | st.integers(0)
scalars = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | texts
parameters = short(st.recursive(scalars, tuples, max_leaves=4))
strategies = st.one_of(
    st.builds(s.Strategy, st.sampled_from(["differential", "scratch", "2_stage_differential"])),
    st.builds(s.Strategy, st.just("adaptive")),
    st.integers(0).map(lambda n: s.Strategy("adaptive", (("batch", n),))),
    st.just(
        s.Strategy(
            "adaptive",
            (("upto", 5), ("comp_x", 1.5), ("diff_x", 1.0), ("limit", 5), ("algo", "avg")),
        )
    ),
)
alternatives = st.builds(tree.Alternatives, tuples(st.builds(t.View, predicates, view_names)))


def not_side_by_side(terms: tuple[tree.Term, ...]) -> bool:
    """Alternatives that stand side by side are one."""
    kinds = [isinstance(term, tree.Alternatives) for term in terms]
    return (True, True) not in pairwise(kinds)


groupings = st.builds(
    tree.Grouping, tuples(predicates | properties | alternatives).filter(not_side_by_side)
)
aggregates = st.builds(
    tree.AggregateCall, words.map(str.lower), st.none() | properties, st.none() | names
)
vertex_sections = short(
    st.builds(
        tree.Section,
        st.none() | names,
        st.none() | predicates,
        tuples(groupings, 0),
        tuples(aggregates, 0),
    )
)
edge_sections = short(
    st.builds(
        tree.Section,
        st.none() | names,
        st.none() | predicates,
        tuples(groupings, 0),
        tuples(aggregates, 0),
        st.none() | st.tuples(names, names),
    )
)
ids = st.integers() | texts
bounds = st.none() | st.integers(0) | st.floats(0, allow_nan=False, allow_infinity=False)
ways = st.sampled_from([None, "out", "in", "both"])
registered = st.sampled_from(["query", "program"])
costs = {"weight": st.none() | names, "bound": bounds}


def asked(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(live.CreateQuery, names, names, st.just(kind), replace=flags, **fields)


live_statements = short(
    st.one_of(
        st.builds(
            live.CreateLive,
            names,
            keep=st.none() | amounts,
            separator=optional_text,
            src=optional_text,
            dst=optional_text,
        ),
        st.builds(
            live.CreateLive,
            names,
            paths,
            st.none() | paths,
            id=optional_text,
            keep=amounts,
            time=st.none() | names,
            directed=flags,
        ),
        st.builds(
            live.AdvanceLive,
            names,
            paths,
            **dict.fromkeys(
                ("delete", "vertices", "update", "remove", "separator", "id"), optional_text
            ),
            match=tuples(names, 0),
        ),
        asked("path", start=ids, target=ids, direction=ways, **costs),
        asked("paths", pairs=tuples(st.tuples(ids, ids)), direction=ways, **costs),
        asked("hops", start=ids, hops=st.integers(0), direction=ways),
        asked("reach", start=ids, target=st.none() | ids, direction=ways),
        asked(
            "regular",
            path=texts,
            start=ids,
            target=st.none() | ids,
            label=st.none() | names,
            **costs,
        ),
        st.builds(live.DropRegistered, registered, names, names),
        st.builds(live.ShowLive, st.none() | names),
        st.builds(live.ShowRegistered, registered, st.none() | names),
        st.builds(live.ShowRegistered, registered, names, names),
        st.builds(live.ExplainRegistered, registered, names, names),
        st.builds(
            live.CreateProgram,
            names,
            names,
            names,
            st.dictionaries(words, parameters, max_size=3).map(lambda found: tuple(found.items())),
            st.none() | texts,
            st.sampled_from([None, "fixpoint", "exact"]),
            bounds,
            st.none() | st.integers(0),
            replace=flags,
        ),
        st.builds(live.CreateProgram, names, names, st.just(""), library=texts),
        st.builds(live.SetLive, names, st.just("budget"), st.none() | st.integers(0) | texts),
        st.builds(live.SetLive, names, st.just("landmarks"), st.integers(0), flags),
        st.builds(live.SetLive, names, st.just("landmarks")),
    )
)
statements = short(
    st.recursive(
        st.one_of(
            live_statements,
            st.builds(s.CreateView, names, predicates, st.none() | names, flags),
            st.builds(
                s.CreateGrouped,
                names,
                tuples(vertex_sections, 0),
                tuples(edge_sections),
                st.none() | names,
                flags,
                optional_text,
            ),
            st.builds(
                s.CreateCollection,
                names,
                tuples(items),
                base=st.none() | names,
                within=st.none() | predicates,
                ordering=st.sampled_from(list(s.Ordering)),
                materialized=flags,
                full_view=flags,
                hosts=tuples(texts, 0),
                replace=flags,
            ),
            st.builds(
                s.LoadGraph,
                edges=paths,
                vertices=st.none() | paths.filter(bool),
                name=st.none() | names,
                separator=optional_text,
                comment=optional_text,
                has_headers=st.none() | flags,
                mappings=optional_text,
                randomize=flags,
                directed=flags,
                timezone=optional_text,
                on_bad_rows=st.sampled_from([None, "refuse", "quarantine"]),
                **dict.fromkeys(s.COLUMN_ROLES, optional_text),
                replace=flags,
            ),
            st.builds(
                s.Run,
                names,
                names,
                strategy=st.none() | strategies,
                parameters=st.dictionaries(words, parameters, max_size=3).map(
                    lambda given: tuple(given.items())
                ),
                library=optional_text,
                results=st.sampled_from([None, "noresults", "diffresults"]),
                save_to=optional_text,
                hosts=tuples(texts, 0),
                indices=st.none() | tuples(st.integers(0), 0),
                name=st.none() | names,
                resume=flags,
                verify=optional_count,
                workers=optional_count,
                on=st.sampled_from([None, "spark", "shards"]),
                force=flags,
            ),
            st.builds(s.UseGraph, names),
            st.builds(
                s.Show,
                st.sampled_from(["graphs", "views", "collections", "computations", "runs"]),
            ),
            st.builds(
                s.Show, st.sampled_from(["graph", "view", "collection", "run", "data"]), names
            ),
            st.builds(s.Delete, st.sampled_from(["graph", "view", "collection", "run"]), names),
            st.just(s.Delete("collections")),
            st.builds(s.Refresh, st.sampled_from(["view", "collection"]), names),
            st.builds(s.SetThreads, st.integers(1, 10_000), st.integers(0)),
            st.builds(s.Serialize, paths, st.none() | names, optional_count, optional_count),
            st.builds(
                s.Deserialize, paths, st.sampled_from(["graph", "collection"]), optional_count
            ),
            st.builds(s.SaveGraph, paths),
            st.builds(s.SaveCollection, names, paths, st.integers(0), flags),
        ),
        lambda inner: st.builds(s.Explain, inner),
        max_leaves=2,
    )
)


@FEW
@given(predicates)
def test_predicates_survive_the_way_through_text(node: t.Predicate) -> None:
    assert parse_predicate(unparse(node)) == node


@FEW
@given(st.builds(t.ViewList, tuples(items), st.none() | predicates))
def test_view_lists_survive_the_way_through_text(node: t.ViewList) -> None:
    assert parse_views(unparse(node)) == node


@FEW
@given(statements)
def test_statements_survive_the_way_through_text(node: s.Statement) -> None:
    assert parse_statement(unparse(node)) == node


@FEW
@given(live_statements)
def test_statements_on_live_graphs_survive_too(node: s.Statement) -> None:
    assert parse_statement(unparse(node)) == node


@st.composite
def scripts(draw: st.DrawFn) -> tuple[s.Statement, ...]:
    return tuple(draw(st.lists(statements, max_size=3)))


@settings(deadline=None, max_examples=examples(40))
@given(scripts(), st.sampled_from([";\n", " ", " -- so\n", "; /* so */ ;"]))
def test_scripts_need_no_semicolons(nodes: tuple[s.Statement, ...], between: str) -> None:
    assert parse_script(between.join(map(unparse, nodes))) == nodes
