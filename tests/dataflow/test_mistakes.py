"""What newcomers give a dataflow in place of what it takes: an error of ours says what to write."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest

import graphtide as gt
from graphtide.dataflow import Dataflow, col, least
from graphtide.model.errors import InputError
from tests.dataflow.building import MEMORY

RULES = ".decl c(x: number) .decl t(x: number) t(x) :- c(x). .output t"


@pytest.mark.parametrize(
    ("build", "what", "hint"),
    [
        (lambda f, e: e.map(lambda a, b: (a,), types=[int]), "names no columns", "types="),
        (lambda f, e: e.reduce(lambda k, r: [], by="src", types=int), "names no columns", "types="),
        (lambda f, e: e.count(by=col.src), "a column is named", "'src'"),
        (lambda f, e: e.select(col.src), "a column is named", "'src'"),
        (lambda f, e: e.sum(col.dst, by="src"), "a column is named", "'src'"),
        (lambda f, e: e.top("2", by="src"), "last of 2", "at least one record"),
        (lambda f, e: e.concat([e]), "no collection", "inputs and operators"),
        (lambda f, e: f.rules(RULES, c=[1]), "no collection", "inputs and operators"),
        (lambda f, e: Dataflow(beside=f).import_arrangement(e), "no arrangement", "arrange("),
        (lambda f, e: Dataflow(workers="2"), "workers cannot be '2'", "1 to 64"),
        (lambda f, e: e.map(x=col.name + "a"), "no meaning for str", "a.cat(b)"),
        (lambda f, e: e.map(x=least(col.name, "a")), "no meaning for str", "where(a < b, a, b)"),
        (lambda f, e: e.filter(col.day > "2020-01-01"), "no meaning", "a datetime.date"),
        (lambda f, e: e.map(x=col.at.year()), "no meaning", "as_date()"),
        (lambda f, e: e.filter(col.src & 1), "no meaning", "in parentheses"),
    ],
)
def test_a_mistake_is_told_with_what_to_write(
    build: Callable[[Dataflow, Any], Any], what: str, hint: str
) -> None:
    flow = Dataflow(memory=MEMORY)
    edges = flow.input("e", src=int, dst=int, name=str, day=datetime.date, at=datetime.datetime)
    with pytest.raises(InputError) as error:
        build(flow, edges)
    assert what in str(error.value)
    assert hint in (error.value.hint or "")


def _late(src: int, dst: int) -> Any:
    yield (src,)
    raise ValueError("too late")


@pytest.mark.parametrize(
    ("build", "what"),
    [
        (lambda e: e.flat_map(lambda a, b: 5, types={"x": int}), "returned 5, which is no list"),
        (lambda e: e.flat_map(_late, types={"x": int}), "_late failed with ValueError: too late"),
        (lambda e: e.reduce(lambda k, r: None, by="src", types={"x": int}), "returned None"),
    ],
)
def test_a_function_that_returns_no_records_is_named(build: Any, what: str) -> None:
    flow = Dataflow(memory=MEMORY)
    edges = flow.input("e", src=int, dst=int)
    output = build(edges).output()
    edges.insert([(1, 2)])
    with pytest.raises(gt.GraphtideError, match=what):
        flow.advance()
    flow.advance()
    assert output.records() == {}
