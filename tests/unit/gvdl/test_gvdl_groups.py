"""Grouped graphs in the language: what is refused, and with which way out."""

from __future__ import annotations

import pytest

from graphtide.lang.gvdl.lower import lower_groups
from graphtide.lang.gvdl.parse import parse_aggregates, parse_groupings, parse_statement
from graphtide.lang.gvdl.requests import written_aggregates, written_groupings
from graphtide.lang.gvdl.statements import CreateGrouped
from graphtide.model.errors import InputError, LanguageError
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.plan.grouping import GroupPlan
from tests.unit.gvdl.conftest import SCHEMA


def lowered(text: str, schema: GraphSchema = SCHEMA) -> GroupPlan:
    statement = parse_statement(f"create view v {text}")
    assert isinstance(statement, CreateGrouped)
    return lower_groups(statement, schema)


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        ("vertices group by sate", "no property 'sate'", "did you mean `state`?"),
        ("vertices group by src.state", "has no meaning for a vertex", "write `state`"),
        (
            "vertices aggregate sum(state)",
            "state is string, and sum is for numbers",
            "`count(state)`",
        ),
        ("vertices aggregate avg(active)", "active is bool, and avg", "`count(active)`"),
        ("vertices aggregate max(active)", "has no order", "group by it"),
        ("vertices aggregate sum(*)", "sum needs a property", "`sum(age)`"),
        ("vertices aggregate mean(state)", "no aggregate 'mean'", "did you mean `avg`?"),
        ("vertices aggregate cuont(*)", "no aggregate 'cuont'", "did you mean `count`?"),
        ("vertices aggregate median(state)", "no aggregate 'median'", "count, sum, avg, min, max"),
        ("vertices aggregate count(_vertex)", "number of Graphtide's own", "id or a property"),
        ("vertices group by state aggregate count(*), count(*)", "name of another", "as ..."),
        ("vertices group by state aggregate max(id) as state", "that is grouped by", "max(id) as"),
        ("vertices aggregate count(*) as active", "grouped by or kept: 'active'", "as ..."),
        ("vertices group by (state), (state)", "there twice: by (state)", "leave one out"),
        ("vertices as a group by state vertices as a", "two sections", "name of its own"),
        ("vertices as one edges between (one, oen)", "called 'oen'", "did you mean `one`?"),
        (
            "vertices edges aggregate min(ts) as m edges aggregate max(day) as m",
            "'m' is date here and timestamp in another",
            "max(day) as ...",
        ),
        (
            "vertices group by (" + ", state, ".join(["[c1], [c2], [c3], [c4]"] * 6) + ")",
            "more than 1,000 groupings",
            "by a property",
        ),
    ],
)
def test_mistakes(text: str, what: str, hint: str) -> None:
    with pytest.raises(LanguageError) as caught:
        lowered(text)
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")


def test_two_ends_have_properties_of_their_own() -> None:
    plan = lowered("vertices edges group by src.state, dst.state aggregate max(src.id)")
    assert [item.name for item in plan.edges.shared] == ["src_state", "dst_state"]
    assert [item.name for item in plan.edges.aggregated] == ["max_src_id"]
    schema = GraphSchema(
        PropertyType.INT,
        vertex=(Property("city", PropertyType.STRING),),
        edge=(Property("src_city", PropertyType.STRING),),
    )
    with pytest.raises(LanguageError, match="would be called 'src_city'"):
        lowered("vertices edges group by src.city, src_city", schema)


def test_the_property_of_conditions_takes_a_free_name() -> None:
    schema = GraphSchema(PropertyType.INT, vertex=(Property("group", PropertyType.STRING),))
    assert (
        lowered("vertices group by (group, id > 3)", schema).vertices.condition_property == "group_"
    )
    assert lowered("vertices group by (id > 3)", schema).vertices.condition_property == "group"
    assert lowered("vertices group by id", schema).vertices.condition_property is None


def test_vertices_of_several_labels_are_called_by_label_and_id() -> None:
    schema = GraphSchema(PropertyType.INT, vertex_labels=("a", "b"))
    [alone] = lowered("with edges", schema).vertices.sections[0].groupings
    assert [key.name for key in alone.naming] == ["label", "id"]


def test_what_python_takes_is_what_the_text_says() -> None:
    assert written_groupings("city, state") == written_groupings(["city", "state"])
    assert written_groupings([["city"], ["state", "age > 30"]]) == parse_groupings(
        "(city), (state, age > 30)"
    )
    assert written_groupings({"young": "age < 30"}) == parse_groupings("([young: age < 30])")
    assert written_groupings(()) == ()
    assert written_aggregates({"n": "count(*)"}) == parse_aggregates("count(*) as n")
    assert written_aggregates(["count(*)", "avg(age)"]) == parse_aggregates("count(*), avg(age)")


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (lambda: written_groupings(3), "3 does not say what to group by"),  # type: ignore[arg-type]
        (lambda: written_groupings([{}]), "does not say what to group by"),
        (lambda: written_groupings([3]), "not a int"),  # type: ignore[list-item]
        (lambda: written_aggregates([3]), "not a int"),  # type: ignore[list-item]
        (lambda: written_aggregates({"n": "count(*), avg(a)"}), "'n' names 2 aggregates"),
    ],
)
def test_what_python_does_not_take(wrong: object, what: str) -> None:
    assert callable(wrong)
    with pytest.raises(InputError, match=what):
        wrong()
