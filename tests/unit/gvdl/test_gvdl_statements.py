"""Statements as the thesis, Graphsurge's scripts and we ourselves write them."""

from __future__ import annotations

import pytest

from graphtide.lang.gvdl import statements as s
from graphtide.lang.gvdl import tree as t
from graphtide.lang.gvdl.parse import parse_script, parse_statement
from graphtide.model.errors import LanguageError
from graphtide.plan.predicates import Operator

YEAR = t.PropertyName("year")


def test_the_view_of_the_thesis() -> None:
    found = parse_statement(
        "create view CA-Long-Calls on Calls\n"
        "edges where src.state = 'CA' and dst.state = 'CA'\n"
        "and duration > 10 and year = 2019"
    )
    assert found == s.CreateView(
        "CA-Long-Calls",
        t.And(
            (
                t.Compare(Operator.EQ, t.PropertyName("state", "src"), t.Literal("CA")),
                t.Compare(Operator.EQ, t.PropertyName("state", "dst"), t.Literal("CA")),
                t.Compare(Operator.GT, t.PropertyName("duration"), t.Literal(10)),
                t.Compare(Operator.EQ, YEAR, t.Literal(2019)),
            )
        ),
        base="Calls",
    )


def test_the_collection_of_the_thesis() -> None:
    found = parse_statement(
        "create view collection call-analysis on Calls\n"
        "  [GV1: ID < 100],\n"
        "  [GV2: ID ≥ 50 and ID < 199],\n"
        "  [GV3: ID ≥ 10 and ID < 100],\n"
        "  [GV4: ID >= 60 and ID < 199]\n"
    )
    assert isinstance(found, s.CreateCollection)
    assert (found.name, found.base) == ("call-analysis", "Calls")
    assert [item.name for item in found.items if isinstance(item, t.View)] == [
        "GV1",
        "GV2",
        "GV3",
        "GV4",
    ]


SCRIPT = """
/* The graph, as Graphsurge's own scripts load it. */
LOAD GRAPH WITH
    VERTICES FROM 'data/vertices.txt' and
    EDGES FROM 'data/edges.txt'
    SEPARATOR ',' COMMENT '#' HAS_HEADERS TRUE SAVE MAPPINGS TO 'maps' RANDOMIZE;
load graph with edges from 'graph/edges.txt' separator ' ';
SET THREADS 4 AND PROCESS_ID 0;
serialize to 'graph/serde' block_size 100 threads 15;
deserialize from '../graph/serde';
create view collection Years where
    [u.year <= 2000 and v.country = 'canada'],
    [u.year <= 2005 and ! (v.country = 'canada' and w <> -5)]
    [u.open = true and u.year <> v.year] ,
    manually_ordered materialized materialize_full_view hosts 'server1:9000' 'server2:9000';
RUN ARRANGED_DIFFERENTIAL COMPUTATION wcc on COLLECTION Years HOSTS 'server1:9000';
run computation wcc on collection Years save results to 'dir';
run adaptive 5 computation bfs(root=70) on collection Years noresults;
run adaptive upto 5 comp_x 1.5 diff_x 1.0 limit 5 algo avg computation
    mpsp(goals=[(1, 1283152), (1, 870029)]) on collection Years noresults hosts 'h0:9000';
run 2_stage_differential computation sssp(root=1 weight_cap=10) from 'lib' on collection Years
    diffresults indices [1 2 3];
show collections; show computations; show data for collection 'Years';
serialize cube Years to 'vcol' threads 10;
deserialize cube from 'vcol' threads 10;
save graph to 'dir';
save cube Years to 'ascii' 10 true;
delete cubes;
"""


def test_a_script_of_graphsurge_parses_unchanged() -> None:
    found = parse_script(SCRIPT)
    load, edges_only, threads, serialize, deserialize, years, *rest = found
    assert load == s.LoadGraph(
        "data/edges.txt",
        "data/vertices.txt",
        separator=",",
        comment="#",
        has_headers=True,
        mappings="maps",
        randomize=True,
    )
    assert edges_only == s.LoadGraph("graph/edges.txt", separator=" ")
    assert threads == s.SetThreads(4, 0)
    assert serialize == s.Serialize("graph/serde", block_size=100, threads=15)
    assert deserialize == s.Deserialize("../graph/serde")
    assert isinstance(years, s.CreateCollection)
    assert (years.ordering, years.materialized, years.full_view) == (s.Ordering.MANUAL, True, True)
    assert years.hosts == ("server1:9000", "server2:9000")
    assert len(years.items) == 3
    assert rest == [
        s.Run("wcc", "Years", s.Strategy("arranged_differential"), hosts=("server1:9000",)),
        s.Run("wcc", "Years", save_to="dir"),
        s.Run(
            "bfs",
            "Years",
            s.Strategy("adaptive", (("batch", 5),)),
            (("root", 70),),
            results="noresults",
        ),
        s.Run(
            "mpsp",
            "Years",
            s.Strategy(
                "adaptive",
                (("upto", 5), ("comp_x", 1.5), ("diff_x", 1.0), ("limit", 5), ("algo", "avg")),
            ),
            (("goals", ((1, 1283152), (1, 870029))),),
            results="noresults",
            hosts=("h0:9000",),
        ),
        s.Run(
            "sssp",
            "Years",
            s.Strategy("2_stage_differential"),
            (("root", 1), ("weight_cap", 10)),
            "lib",
            results="diffresults",
            indices=(1, 2, 3),
        ),
        s.Show("collections"),
        s.Show("computations"),
        s.Show("data", "Years"),
        s.Serialize("vcol", "Years", threads=10),
        s.Deserialize("vcol", "collection", 10),
        s.SaveGraph("dir"),
        s.SaveCollection("Years", "ascii", 10, True),
        s.Delete("collections"),
    ]


def test_negation_of_graphsurge() -> None:
    found = parse_statement("create view collection C where [! (v.country = 'x' and w <> -5)]")
    country = t.Compare(Operator.EQ, t.PropertyName("country", "dst"), t.Literal("x"))
    weight = t.Compare(Operator.NE, t.PropertyName("w"), t.Literal(-5))
    assert found == s.CreateCollection("C", (t.View(t.Not(t.And((country, weight)))),))


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("use graph Calls", s.UseGraph("Calls")),
        ("show graphs", s.Show("graphs")),
        ("show views", s.Show("views")),
        ("show view `a b`", s.Show("view", "a b")),
        ('show collection "a b"', s.Show("collection", "a b")),
        ("show graph Calls", s.Show("graph", "Calls")),
        ("delete graph Calls", s.Delete("graph", "Calls")),
        ("delete view v-1", s.Delete("view", "v-1")),
        ("delete cube c", s.Delete("collection", "c")),
        ("delete collections", s.Delete("collections")),
        ("refresh cube c", s.Refresh("collection", "c")),
        ("refresh view v-1", s.Refresh("view", "v-1")),
        ("explain show graphs", s.Explain(s.Show("graphs"))),
        ("run pagerank on C", s.Run("pagerank", "C")),
        (
            "run pr (rounds=10, damping=0.85) on C",
            s.Run("pr", "C", parameters=(("rounds", 10), ("damping", 0.85))),
        ),
        ("load graph Calls from 'e.csv'", s.LoadGraph("e.csv", name="Calls")),
        (
            "load graph Calls with vertices from 'v.csv' and edges from 'e.csv' "
            "timezone 'Europe/Berlin' on bad rows quarantine",
            s.LoadGraph(
                "e.csv", "v.csv", "Calls", timezone="Europe/Berlin", on_bad_rows="quarantine"
            ),
        ),
        (
            "load or replace graph with edges from 'e.csv' src sid dst 'e id' id `k` label x",
            s.LoadGraph("e.csv", src="sid", dst="e id", id="k", label="x", replace=True),
        ),
        (
            "load graph G from 'e' source 'von' target nach on bad rows quarantine at most '5%'",
            s.LoadGraph(
                "e", name="G", src="von", dst="nach", on_bad_rows="quarantine", at_most="5%"
            ),
        ),
        ("load graph from 'e' at most 100", s.LoadGraph("e", at_most=100)),
        ("load graph from 'e' edge_label src", s.LoadGraph("e", edge_label="src")),
        ("set threads 8", s.SetThreads(8)),
        ("create or replace view v where true", s.CreateView("v", t.Literal(True), replace=True)),
        (
            "create view collection c within year > 5 [true] ordered by tree",
            s.CreateCollection(
                "c",
                (t.View(t.Literal(True)),),
                within=t.Compare(Operator.GT, YEAR, t.Literal(5)),
                ordering=s.Ordering.TREE,
            ),
        ),
        ("create view 2019_calls where true", s.CreateView("2019_calls", t.Literal(True))),
    ],
)
def test_statements(text: str, node: s.Statement) -> None:
    assert parse_statement(text) == node
    assert parse_statement(text.upper() if "'" not in text else text) is not None


def test_keywords_are_names_where_no_keyword_can_stand() -> None:
    text = "create view v where from = 1 and step < 2 and src.not = 3 and date > 4 and comment = 5"
    found = parse_statement(text)
    assert isinstance(found, s.CreateView)
    assert isinstance(found.predicate, t.And)
    assert len(found.predicate.terms) == 5


def test_comments_and_semicolons() -> None:
    text = ";; show graphs -- to the end; of the line\n/* a; ** b */ show views;;"
    assert parse_script(text) == (s.Show("graphs"), s.Show("views"))
    assert parse_script("") == ()


def test_an_option_twice_is_an_error() -> None:
    with pytest.raises(LanguageError, match="ordering is given twice"):
        parse_statement("create view collection c [true] manually_ordered ordered by tree")


def test_escapes_in_strings() -> None:
    found = parse_statement(r"create view v where a in ('it''s', 'it\'s', 'a\\b', '5\%', 'x\n')")
    assert isinstance(found, s.CreateView)
    assert isinstance(found.predicate, t.InList)
    values = [item.value for item in found.predicate.values if isinstance(item, t.Literal)]
    assert values == ["it's", "it's", "a\\b", "5\\%", "x\n"]


def test_a_run_knows_where_its_words_stand() -> None:
    text = "run pr(damping=0.5, iterations=3) from 'f.py' on C as n resume verify 2 indices [1]"
    found = parse_statement(text)
    assert isinstance(found, s.Run)
    assert (found.name, found.resume, found.verify, found.library) == ("n", True, 2, "f.py")
    words = {"computation": "pr", "collection": "C", "library": "'f.py'", "name": "n"}
    words |= {"(damping)": "damping", "(iterations)": "iterations", "verify": "2", "indices": "1"}
    for what, word in words.items():
        place = found.place(what)
        assert place is not None
        assert place.text == word
    assert found.place("nothing") == found.span
    assert found == s.Run(
        "pr",
        "C",
        parameters=(("damping", 0.5), ("iterations", 3)),
        library="f.py",
        indices=(1,),
        name="n",
        resume=True,
        verify=2,
    )


def test_parameters_are_given_once() -> None:
    assert parse_statement("run wcc() on C") == s.Run("wcc", "C")
    with pytest.raises(LanguageError, match="a is given twice"):
        parse_statement("run wcc(a=1, a=2) on C")
