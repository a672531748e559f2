"""Sections of a grouped graph to text; see `unparse` for what holds of it."""

from __future__ import annotations

from graphtide.lang.gvdl.literals import write_statement_name
from graphtide.lang.gvdl.sections import AggregateCall, Alternatives, Grouping, Section, Term
from graphtide.lang.gvdl.tree import PropertyName
from graphtide.lang.gvdl.unparse_views import unparse_item, unparse_operand, unparse_predicate


def unparse_section(kind: str, node: Section) -> str:
    """A section of `vertices` or `edges` as text."""
    parts = [kind]
    if node.label is not None:
        parts.append(f"as {write_statement_name(node.label)}")
    if node.between is not None:
        parts.append(f"between ({', '.join(map(write_statement_name, node.between))})")
    if node.where is not None:
        parts.append(f"where {unparse_predicate(node.where)}")
    if node.groupings:
        parts.append(f"group by {unparse_groupings(node.groupings)}")
    if node.aggregates:
        parts.append(f"aggregate {', '.join(map(unparse_aggregate, node.aggregates))}")
    return " ".join(parts)


def unparse_groupings(groupings: tuple[Grouping, ...]) -> str:
    """What stands behind `group by`; properties alone need no parentheses."""
    if len(groupings) == 1 and all(isinstance(term, PropertyName) for term in groupings[0].terms):
        return ", ".join(map(unparse_term, groupings[0].terms))
    return ", ".join(map(unparse_grouping, groupings))


def unparse_grouping(node: Grouping) -> str:
    """A grouping in its parentheses."""
    return f"({', '.join(map(unparse_term, node.terms))})"


def unparse_term(node: Term) -> str:
    """A property, a condition, or alternatives."""
    if isinstance(node, Alternatives):
        return ", ".join(map(unparse_item, node.views))
    return unparse_predicate(node)


def unparse_aggregate(node: AggregateCall) -> str:
    """`avg(age) as mean`."""
    operand = "*" if node.operand is None else unparse_operand(node.operand)
    name = "" if node.name is None else f" as {write_statement_name(node.name)}"
    return f"{node.function}({operand}){name}"
