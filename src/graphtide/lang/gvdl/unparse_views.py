"""Predicates, view lists and sections to text; see `unparse` for what holds of it.

`explain_tree` shows the same tree as indented lines, one for each node: its kind, then its plain
fields; fields that were left out are not shown, operands and atoms are shown as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, Field, fields

from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.literals import write_literal, write_quoted_name, write_statement_name
from graphtide.lang.gvdl.tree import (
    AggregateCall,
    Alternatives,
    Grouping,
    PropertyName,
    Section,
    Term,
)
from graphtide.lang.trees import Node

_VIEW_NAME = re.compile(r"(?:[\w.+#%@&-]|\{[^\W\d]\w*\})+")


def unparse_predicate(node: tree.Predicate) -> str:
    """A predicate as text."""
    match node:
        case tree.Or(terms):
            return " or ".join(_term(term, tree.Or) for term in terms)
        case tree.And(terms):
            return " and ".join(_term(term, tree.Or, tree.And) for term in terms)
        case tree.Not(term):
            return f"not {_term(term, tree.Or, tree.And)}"
        case tree.TruthTest(term, value, negated):
            inner = unparse_predicate(term)
            inner = inner if isinstance(term, tree.PropertyName) else f"({inner})"
            return f"{inner} is {_no(negated)}{write_literal(value)}"
        case tree.Literal() | tree.PropertyName() | tree.Variable() | tree.Shifted():
            return unparse_operand(node)
        case _:
            return _test(node)


def _term(node: tree.Predicate, *looser: type[Node]) -> str:
    text = unparse_predicate(node)
    return f"({text})" if isinstance(node, looser) else text


def _test(node: tree.Test) -> str:
    match node:
        case tree.Compare(operator, left, right):
            return f"{unparse_operand(left)} {operator} {unparse_operand(right)}"
        case tree.InList(operand, values, negated):
            return f"{unparse_operand(operand)} {_no(negated)}in ({_operands(values)})"
        case tree.Between(operand, low, high, negated):
            ends = f"{unparse_operand(low)} and {unparse_operand(high)}"
            return f"{unparse_operand(operand)} {_no(negated)}between {ends}"
        case tree.NullTest(operand, negated):
            return f"{unparse_operand(operand)} is {_no(negated)}null"
        case tree.LikeTest(operand, pattern, negated):
            return f"{unparse_operand(operand)} {_no(negated)}like {unparse_operand(pattern)}"


def _no(negated: bool) -> str:
    return "not " if negated else ""


def unparse_operand(node: tree.Operand) -> str:
    """An operand as text."""
    match node:
        case tree.Literal(value):
            return write_literal(value)
        case tree.PropertyName():
            return _property(node)
        case tree.Variable(name):
            return f"${name}"
        case tree.Shifted(base, count, unit):
            sign = "-" if count < 0 else "+"
            amount = unparse_amount(tree.Duration(abs(count), unit)) if unit else str(abs(count))
            return f"{unparse_operand(base)} {sign} {amount}"


def _property(node: tree.PropertyName) -> str:
    name = write_quoted_name(node.name) if node.quoted else node.name
    return name if node.owner == "edge" else f"{node.owner}.{name}"


def _operands(values: Iterable[tree.Operand]) -> str:
    return ", ".join(map(unparse_operand, values))


def unparse_amount(node: tree.Literal | tree.Duration) -> str:
    """A width or step as text."""
    if isinstance(node, tree.Literal):
        return write_literal(node.value)
    return f"{node.count} {node.unit}{'' if node.count == 1 else 's'}"


def unparse_item(node: tree.Item) -> str:
    """A view or generator as text."""
    match node:
        case tree.View(predicate, name):
            label = "" if name is None else f"{_view_name(name)}: "
            return f"[{label}{unparse_predicate(predicate)}]"
        case tree.Loop(variable, values, body):
            return f"for {variable} in {_values(values)} {_body(body)}"
        case tree.Windows():
            return _windows(node)
        case tree.Group(items):
            return f"({unparse_items(items)})"
        case tree.Product(factors):
            return " cross ".join(_factor(factor) for factor in factors)
        case tree.Combinations(count, items, name):
            return f"without {count} of ({unparse_items(items)}){_named(name)}"
        case tree.Outages():
            return _outages(node)


def unparse_items(items: Iterable[tree.Item]) -> str:
    """A view list as text, on one line."""
    return ", ".join(map(unparse_item, items))


def unparse_views(node: tree.ViewList) -> str:
    """A view list with what all its views share."""
    within = f"within {unparse_predicate(node.within)} " if node.within is not None else ""
    return within + unparse_items(node.items)


def _view_name(name: str) -> str:
    return name if _VIEW_NAME.fullmatch(name) else write_quoted_name(name)


def _values(node: tree.Range | tree.ValueList) -> str:
    if isinstance(node, tree.ValueList):
        return f"({_operands(node.values)})"
    step = f" step {unparse_amount(node.step)}" if node.step is not None else ""
    return f"{unparse_operand(node.start)}..{unparse_operand(node.stop)}{step}"


def _body(body: tuple[tree.Item, ...]) -> str:
    if len(body) == 1 and isinstance(body[0], tree.View | tree.Loop):
        return unparse_item(body[0])
    return f"{{ {unparse_items(body)} }}"


def _factor(node: tree.Item) -> str:
    text = unparse_item(node)
    return f"({text})" if isinstance(node, tree.Product) else text


def _windows(node: tree.Windows) -> str:
    parts = [f"{node.kind} windows over {_property(node.property)}"]
    if node.start is not None:
        parts.append(f"from {unparse_operand(node.start)}")
    if node.until is not None:
        parts.append(f"until {unparse_operand(node.until)}")
    parts.append(f"width {unparse_amount(node.width)}")
    if node.step is not None:
        parts.append(f"step {unparse_amount(node.step)}")
    if node.timezone is not None:
        parts.append(f"timezone {write_literal(node.timezone)}")
    parts += ["drop partial"] * node.drop_partial + ["drop empty"] * node.drop_empty
    return " ".join(parts) + _named(node.name)


def _outages(node: tree.Outages) -> str:
    plural = {"edge": "edges", "vertex": "vertices", "value": "values"}[node.what]
    removed = f"pair of {plural}" if node.pairs else node.what
    if node.property is not None:
        removed = f"{removed} of {unparse_predicate(node.property)}"
    where = f" where {unparse_predicate(node.where)}" if node.where is not None else ""
    return f"without each {removed}{where}{_named(node.name)}"


def _named(name: str | None) -> str:
    return "" if name is None else f" named {write_literal(name)}"


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


_ATOMS = (
    tree.Compare,
    tree.InList,
    tree.Between,
    tree.NullTest,
    tree.LikeTest,
    tree.Literal,
    tree.PropertyName,
    tree.Variable,
    tree.Shifted,
)


def explain_tree(node: Node) -> str:
    """The tree below a statement, a view list or a predicate, without a trailing line break."""
    return "\n".join(_lines(node, ""))


def _lines(node: Node, label: str) -> Iterator[str]:
    if isinstance(node, _ATOMS):
        yield f"{label}{type(node).__name__} {unparse_predicate(node)}"
        return
    if isinstance(node, tree.Duration):
        yield f"{label}Duration {unparse_amount(node)}"
        return
    given = [(item.name, getattr(node, item.name)) for item in fields(node) if _given(item, node)]
    plain = [f"{name}={_text(value)}" for name, value in given if not _holds_nodes(value)]
    yield " ".join([f"{label}{type(node).__name__}", *plain])
    for name, value in given:
        if _holds_nodes(value):
            yield from ("  " + line for line in _nested(name, value))


def _given(item: Field[object], node: Node) -> bool:
    value = getattr(node, item.name)
    return item.compare and (item.default is MISSING or value != item.default)


def _holds_nodes(value: object) -> bool:
    if isinstance(value, tuple):
        return any(isinstance(part, Node) for part in value)
    return isinstance(value, Node)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))})"
    return write_literal(value if isinstance(value, int | float) else str(value))


def _nested(name: str, value: object) -> Iterator[str]:
    if isinstance(value, Node):
        yield from _lines(value, f"{name}: ")
    elif isinstance(value, tuple):
        yield name
        for part in value:
            yield from ("  " + line for line in _lines(part, ""))
