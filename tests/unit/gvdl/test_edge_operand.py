"""`e = (6, 7)`: an edge compared by the ids of its ends, as pairs compare."""

from __future__ import annotations

import operator
from itertools import product

import pytest

from graphtide.lang.gvdl import parse_predicate, parse_views, resolve_predicate, unparse
from graphtide.model.errors import LanguageError
from graphtide.model.schema import GraphSchema, Property, PropertyType
from tests.oracle.predicates import holds

SCHEMA = GraphSchema(PropertyType.INT, edge=(Property("e", PropertyType.INT),))
SIGNS = {
    "=": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    "≤": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@pytest.mark.parametrize("sign", SIGNS)
def test_edges_compare_as_pairs(sign: str) -> None:
    node = parse_predicate(f"e {sign} (6, 7)")
    assert parse_predicate(unparse(node)) == node
    predicate = resolve_predicate(node, SCHEMA)
    for src, dst in product((5, 6, 7, 8), repeat=2):
        row = {"src": {"id": src}, "dst": {"id": dst}, "edge": {"e": 1}}
        assert holds(predicate, row) == SIGNS[sign]((src, dst), (6, 7))


def test_a_property_called_e_is_meant_everywhere_else() -> None:
    node = parse_predicate("e = 6 and ! (e = (6, 7) or e < 3)")
    assert parse_predicate(unparse(node)) == node
    found = str(resolve_predicate(node, SCHEMA))
    assert "e = 6" in found
    assert "src.id = 6 and dst.id = 7" in found


def test_ids_of_the_wrong_type_are_told_at_their_place() -> None:
    with pytest.raises(LanguageError, match="does not compare with a string") as caught:
        resolve_predicate(parse_predicate("e = (6, '7')"), SCHEMA)
    assert "'7'" in str(caught.value.where)


def test_in_a_loop_the_ids_may_be_variables() -> None:
    found = parse_views("for x in 1..2 [from-{x}: e = (x, 7)]")
    assert "e" not in unparse(found).split()
    assert "src.id = x and dst.id = 7" in unparse(found)
