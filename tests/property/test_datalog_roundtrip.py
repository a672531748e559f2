"""What is written of a tree is read as the same tree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.lang.datalog import parse_datalog, unparse_datalog
from graphtide.lang.datalog import tree as t
from tests.examples import examples

_names = st.sampled_from(["x", "y", "edge", "?odd", "sum_of", "_under", "minimum"])
_texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=4)
_values = st.one_of(
    st.integers(-(1 << 63), 1 << 62),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    _texts,
    st.sampled_from(['"', "\\", "\n\t"]),
)
_simple = st.one_of(_names.map(t.Variable), st.just(t.Anonymous()), _values.map(t.Literal))


def _deeper(terms: st.SearchStrategy[t.Term]) -> st.SearchStrategy[t.Term]:
    operators = st.sampled_from(["+", "-", "*", "/", "%", "^"])
    pairs = st.tuples(terms, terms)
    return st.one_of(
        st.builds(t.Call, operators, pairs),
        st.builds(t.Call, st.sampled_from(["cat", "min", "max"]), pairs),
        terms.filter(_is_no_number).map(lambda term: t.Call("neg", (term,))),
        st.lists(terms, max_size=2).map(lambda fields: t.Record(tuple(fields))),
    )


def _is_no_number(term: t.Term) -> bool:
    """A sign before a number is part of it."""
    return not (isinstance(term, t.Literal) and not isinstance(term.value, str))


_terms = st.recursive(_simple, _deeper, max_leaves=6)
_arguments = st.lists(_terms, max_size=3).map(tuple)
_atoms = st.builds(t.Atom, _names, _arguments)
_tests = st.builds(t.Test, st.sampled_from(["contains", "match"]), _arguments)
_plain = st.one_of(
    _atoms,
    _tests,
    st.one_of(_atoms, _tests).map(t.Negation),
    st.builds(t.Comparison, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), _terms, _terms),
)
_conjunctions = st.lists(_plain, min_size=1, max_size=3).map(tuple)
_aggregates = st.builds(
    lambda operation, target, body: t.Aggregate(
        operation, None if operation == "count" else target, (body,)
    ),
    st.sampled_from(["count", "sum", "min", "max"]),
    _simple,
    _conjunctions,
)
_alternatives = st.lists(_conjunctions, min_size=2, max_size=3).map(tuple)
_literals = st.one_of(
    _plain,
    st.builds(t.Comparison, st.just("="), _names.map(t.Variable), _aggregates),
    _alternatives.map(t.Disjunction),
)
_bodies = st.one_of(
    _alternatives,
    st.lists(_literals, min_size=2, max_size=3).map(lambda found: (tuple(found),)),
    st.lists(_plain, min_size=1, max_size=1).map(lambda found: (tuple(found),)),
)
_heads = st.lists(_atoms, min_size=1, max_size=2).map(tuple)
_orders = st.none() | st.lists(st.integers(1, 3), max_size=3).map(tuple)
_attributes = st.lists(st.builds(t.Attribute, _names, _names), max_size=2).map(tuple)
_statements = st.one_of(
    st.builds(t.Rule, _heads),
    st.builds(t.Rule, _heads, _bodies, _orders),
    st.builds(t.Subsumption, _atoms, _atoms, _bodies),
    st.builds(t.Query, _atoms),
    st.builds(t.RelationDeclaration, st.lists(_names, min_size=1).map(tuple), _attributes),
    st.builds(t.TypeDeclaration, _names, st.lists(_names, min_size=1, max_size=3).map(tuple)),
    st.builds(t.RecordDeclaration, _names, _attributes),
    st.builds(
        t.Directive,
        st.sampled_from(["input", "output", "printsize"]),
        st.lists(_names, min_size=1, max_size=2).map(tuple),
        st.lists(st.tuples(_names, _texts), max_size=2).map(tuple),
    ),
)


@settings(max_examples=examples(2000), deadline=None)
@given(st.lists(_statements, max_size=3).map(tuple))
def test_a_tree_is_read_back_from_its_text(statements: tuple[t.Statement, ...]) -> None:
    program = t.ProgramText(statements)
    assert parse_datalog(unparse_datalog(program)) == program


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a(x) :- (b(x)), (c(x), d(x)).", "a(x) :- b(x), c(x), d(x)."),
        ("a(x) :- x = (1 + 2) * -3.", "a(x) :- x = (1+2)*-3."),
        ("a(x) :- x = sum y : b(y).", "a(x) :- x = sum y : { b(y) }."),
        ("a(0x10). // sixteen", "a(16)."),
        (".type t", ".symbol_type t"),
        ("a(1).b(2)./* c */?-a(x).", "a(1). b(2). ?- a(x)."),
    ],
)
def test_spellings_of_one_program(one: str, other: str) -> None:
    assert parse_datalog(one) == parse_datalog(other)
