"""Program analysis by rules: made-up facts that come and go, and the facts of a small C file."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from examples.analysis import RULES, graph_of, number_vertices, rules_table, together
from tests.oracle.program_analysis import Edge, aliases, null_flow

SOURCE = """
typedef unsigned long size_t;
void *malloc(size_t size);
struct node { struct node *next; int *value; };
static struct node *first;

struct node *make(int *value) {
    struct node *made = malloc(sizeof(struct node));
    made->value = value;
    made->next = 0;
    return made;
}
void push(int *value) {
    struct node *head = make(value);
    head->next = first;
    first = head;
}
int *pick(int which, int *one, int *other) {
    int *found = which ? one : other;
    return found;
}
void swap(int **left, int **right) {
    int *kept = *left;
    *left = *right;
    *right = kept;
}
int sum(void) {
    int a = 1, b = 2;
    int *p = &a, *q = &b;
    int *r = 0;
    swap(&p, &q);
    r = pick(a, p, r);
    push(r);
    return *r + *first->value;
}
"""
pytestmark = pytest.mark.compiled
KINDS = ("assign", "assign", "assign", "null", "address", "deref", "field")


def _random_edges(chance: random.Random, count: int) -> set[Edge]:
    return {
        (chance.randrange(9), chance.randrange(9), chance.choice(KINDS), chance.randrange(3))
        for _ in range(count)
    }


def _check(rules: dict[str, gt.Datalog], edges: set[Edge]) -> None:
    flows, warned = null_flow(edges)
    assert set(rules["nulls"].facts("flows")) == flows
    assert set(rules["nulls"].facts("warning")) == warned
    same, points = aliases(edges)
    for name in ("points", "points_restricted"):
        assert set(rules[name].facts("memory_alias")) == same
        assert set(rules[name].facts("points")) == points


@pytest.mark.parametrize("seed", range(3))
def test_facts_come_and_go(seed: int) -> None:
    chance = random.Random(seed)
    names = ("nulls", "points", "points_restricted")
    rules = {name: gt.datalog(RULES / f"{name}.dl") for name in names}
    edges: set[Edge] = set()
    for step in range(5):
        gone = {edge for edge in edges if chance.random() < 0.5}
        new = _random_edges(chance, 12 if step == 0 else 5) - edges
        edges = (edges - gone) | new
        for program in rules.values():
            program.delete("edge", list(gone))
            program.insert("edge", list(new))
            program.advance()
        _check(rules, edges)
    for program in rules.values():
        program.close()


def test_versions_of_a_program_are_views_of_its_facts() -> None:
    chance = random.Random(7)
    every = sorted(_random_edges(chance, 14))
    has = [(chance.random() < 0.7, chance.random() < 0.7) for _ in every]
    columns = dict(zip(("src", "dst", "kind", "line"), zip(*every, strict=True), strict=True))
    one, other = zip(*has, strict=True)
    graph = gt.Graph(**columns, one=one, other=other)
    versions = graph.collection("versions", "[one: one] [other: other]")
    run = versions.run(gt.datalog(RULES / "points.dl"), verify=1)
    for place, name in enumerate(("one", "other")):
        edges = [edge for edge, there in zip(every, has, strict=True) if there[place]]
        same, points = aliases(edges)
        found = run.matches(name, "memory_alias")
        assert set(zip(found["x"].to_pylist(), found["y"].to_pylist(), strict=True)) == same
        found = run.matches(name, "points")
        rows = zip(found["pointer"].to_pylist(), found["object"].to_pylist(), strict=True)
        assert set(rows) == points


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The facts of the small file, as a table."""
    pytest.importorskip("clang.cindex", reason="pip install libclang to extract facts from C")
    from examples.analysis.extract import extract

    path = tmp_path_factory.mktemp("source") / "small.c"
    path.write_text(SOURCE)
    return extract([path])


def _numbered(table: Any) -> tuple[list[str], set[Edge]]:
    names, src, dst = number_vertices(table)
    given = rules_table(table)
    rows = zip(src.tolist(), dst.tolist(), given["kind"], given["line"].tolist(), strict=True)
    return names, set(rows)


def test_the_facts_of_a_file(facts: Any) -> None:
    rows = set(zip(*(facts[name].to_pylist() for name in ("src", "dst", "kind")), strict=True))
    assert {
        ("&heap@make#1", "make:made", "assign"),
        ("make:value", "node.value", "assign"),
        ("null@make#1", "node.next", "null"),
        ("make:made", "*make:made", "field"),
        ("make:made", "make()", "assign"),
        ("push:value", "make:value", "assign"),
        ("pick:other", "pick:found", "assign"),
        ("swap:left", "*swap:left", "deref"),
        ("*swap:right", "*swap:left", "assign"),
        ("&sum:p", "swap:left", "assign"),
        ("&sum:p", "sum:p", "address"),
        ("null@sum#1", "sum:r", "null"),
        ("pick()", "sum:r", "assign"),
        ("node.value", "*node.value", "deref"),
        ("first", "node.next", "assign"),
    } <= rows
    assert not any(src == dst for src, dst, _ in rows)


def test_what_the_pointers_of_a_file_point_to(facts: Any) -> None:
    names, edges = _numbered(facts)
    found = {}
    for name in ("points", "points_restricted"):
        rules = gt.datalog(RULES / f"{name}.dl")
        rules.insert("edge", sorted(edges))
        found[name] = {(names[p], names[x]) for p, x in rules.facts("points")}
        rules.close()
    assert found["points"] == found["points_restricted"]
    assert {
        (p, x) for p, x in found["points"] if p in ("sum:p", "sum:q", "node.value", "first")
    } == {
        *((p, x) for p in ("sum:p", "sum:q") for x in ("sum:a", "sum:b")),
        *(("node.value", x) for x in ("sum:a", "sum:b")),
        ("first", "heap@make#1"),
    }
    assert {(names[p], names[x]) for p, x in aliases(edges)[1]} == found["points"]


def test_where_the_nulls_of_a_file_end_up(facts: Any) -> None:
    names, edges = _numbered(facts)
    rules = gt.datalog(RULES / "nulls.dl")
    rules.insert("edge", sorted(edges))
    last = SOURCE[: SOURCE.index("return *r")].count("\n") + 1
    warned = {(names[n], names[p], line) for n, p, line in rules.facts("warning")}
    assert warned == {("null@sum#1", "sum:r", last), ("null@sum#1", "node.value", last)}
    rules.close()


def test_versions_are_put_together_by_what_they_say(facts: Any, tmp_path: Path) -> None:
    from examples.analysis.extract import extract

    path = tmp_path / "patched.c"
    path.write_text("\n\n" + SOURCE.replace("int *r = 0;", "int *r = &b;"))
    table = together({"before": facts, "after": extract([path])})
    changed = table.filter(table["before"].to_numpy() != table["after"].to_numpy())
    assert set(zip(changed["src"].to_pylist(), changed["dst"].to_pylist(), strict=True)) == {
        ("null@sum#1", "sum:r"),
        ("&sum:b", "sum:r"),
    }
    versions = graph_of(table).collection("versions", "[before: before] [after: after]")
    run = versions.run(gt.datalog(RULES / "nulls.dl"))
    assert run.matches("before", "warning").num_rows == 2
    assert run.matches("after", "warning").num_rows == 0
