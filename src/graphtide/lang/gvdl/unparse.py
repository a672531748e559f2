"""Tree to text: `parse(unparse(x)) == x` for everything that can be written.

Names are quoted only where they must be, parentheses stand only where they change the meaning,
and Graphsurge's words become ours (`u.` is written `src.`, a cube is a collection). What cannot
be written, such as a name with a line break in it, is the caller's to avoid.

`explain_tree` shows the same tree as indented lines, one for each node: its kind, then its plain
fields; fields that were left out are not shown, operands and atoms are shown as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields
from typing import Any

from graphtide.lang.gvdl import statements, tree
from graphtide.lang.gvdl.literals import write_literal, write_quoted_name, write_statement_name
from graphtide.lang.gvdl.statements import Ordering
from graphtide.lang.trees import Node, Writer

# Words that would be read as a keyword where a name stands.
_KEYWORDS = re.compile(
    r"collection|with|from|computation|adaptive|scratch|basic|timely"
    r"|(?:arranged_|compare_|[12]_stage_)?differential|(?:arranged_|basic_)?individual",
    re.IGNORECASE,
)
_VIEW_NAME = re.compile(r"(?:[\w.+#%@&-]|\{[^\W\d]\w*\})+")
_PLURALS = {"edge": "edges", "vertex": "vertices", "value": "values"}


def unparse(node: statements.Statement | tree.ViewList | tree.Item | tree.Predicate) -> str:
    """A statement, a view list, one of its items or a predicate as text, without a semicolon."""
    return _GVDL.write(node)


def unparse_query(node: statements.CreateQuery) -> str:
    """What a query asks, as it stands behind its graph."""
    asked = _QUERIES.get(node.asked, "{asked} from {start:string}< to {target:string}>")
    options = "< label {label}>< weight {weight:name}>< bound {bound}>< direction {direction}>"
    return _GVDL.fill(asked + options, node)


# ---- fields


def _name(name: str) -> str:
    return write_quoted_name(name) if _KEYWORDS.fullmatch(name) else write_statement_name(name)


def _view_name(name: str) -> str:
    return name if _VIEW_NAME.fullmatch(name) else write_quoted_name(name)


def _flag(_: object) -> str:
    """Nothing: the words around the field say it."""
    return ""


def _ordering(ordering: Ordering) -> str:
    return "manually_ordered" if ordering is Ordering.MANUAL else f"ordered by {ordering}"


def _values(values: tuple[Any, ...]) -> str:
    return f"[{', '.join(map(_parameter, values))}]"


def _parameter(value: statements.ParameterValue) -> str:
    return _values(value) if isinstance(value, tuple) else write_literal(value)


def _pairs(pairs: tuple[tuple[statements.VertexId, statements.VertexId], ...]) -> str:
    listed = (f"({write_literal(a)}, {write_literal(b)})" for a, b in pairs)
    return f"[{', '.join(listed)}]"


def _computation(node: statements.Run | statements.CreateProgram) -> str:
    """A computation, by its name or else by its file, with its parameters."""
    file = None if node.library is None else write_literal(node.library)
    named = bool(node.computation) or file is None
    text = _name(node.computation) if named else str(file)
    if node.parameters:
        text += f" ({', '.join(f'{name}={_parameter(value)}' for name, value in node.parameters)})"
    return f"{text} from {file}" if named and file is not None else text


def _groupings(groupings: tuple[tree.Grouping, ...]) -> str:
    """What stands behind `group by`; properties alone need no parentheses."""
    plain = all(isinstance(term, tree.PropertyName) for term in groupings[0].terms)
    return _GVDL.write(groupings[0].terms if len(groupings) == 1 and plain else groupings)


def _loop_body(body: tuple[tree.Item, ...]) -> str:
    if len(body) == 1 and isinstance(body[0], tree.View | tree.Loop):
        return _GVDL.write(body[0])
    return f"{{ {_GVDL.write(body)} }}"


# ---- nodes


def _joined(sign: str, field: str, *looser: type[Node]) -> Callable[[Any], str]:
    """Parts with a sign between them, in parentheses where they are looser."""

    def write(node: Any) -> str:
        return sign.join(_within(part, *looser) for part in getattr(node, field))

    return write


def _within(node: Node, *looser: type[Node]) -> str:
    text = _GVDL.write(node)
    return f"({text})" if isinstance(node, looser) else text


def _truth_test(node: tree.TruthTest) -> str:
    inner = _GVDL.write(node.term)
    inner = inner if isinstance(node.term, tree.PropertyName) else f"({inner})"
    return f"{inner} is {'not ' * node.negated}{write_literal(node.value)}"


def _property(node: tree.PropertyName) -> str:
    name = write_quoted_name(node.name) if node.quoted else node.name
    return name if node.owner == "edge" else f"{node.owner}.{name}"


def _duration(node: tree.Duration) -> str:
    return f"{node.count} {node.unit}{'' if node.count == 1 else 's'}"


def _shifted(node: tree.Shifted) -> str:
    size = abs(node.count)
    amount = _duration(tree.Duration(size, node.unit)) if node.unit else str(size)
    return f"{_GVDL.write(node.base)} {'-' if node.count < 0 else '+'} {amount}"


def _outages(node: tree.Outages) -> str:
    removed = f"pair of {_PLURALS[node.what]}" if node.pairs else node.what
    return _GVDL.fill(
        f"without each {removed}< of {{property}}>< where {{where}}>< named {{name:string}}>", node
    )


def _create_grouped(node: statements.CreateGrouped) -> str:
    head = _GVDL.fill(f"{_CREATE} view {{name}}< on {{base}}>", node)
    parts = [head] + ["with"] * (not node.vertices)
    for kind, sections in (("vertices", node.vertices), ("edges", node.edges)):
        parts += [kind + _GVDL.write(section) for section in sections]
    return " ".join(parts) + _GVDL.fill("< save to {save_to:string}>", node)


def _strategy(node: statements.Strategy) -> str:
    words = [node.name]
    for name, value in node.options:
        words += [str(value)] if name == "batch" else [name, str(value)]
    return " ".join(words)


def _show(node: statements.Show) -> str:
    return _GVDL.fill(
        "show data for collection {name}" if node.what == "data" else "show {what}< {name}>", node
    )


def _show_registered(node: statements.ShowRegistered) -> str:
    if node.name is not None:
        return _GVDL.fill("show {what} {name} on live graph {graph}", node)
    plural = "queries" if node.what == "query" else "programs"
    return _GVDL.fill(f"show {plural}< on live graph {{graph}}>", node)


def _show_live(node: statements.ShowLive) -> str:
    return "show live graphs" if node.name is None else f"show live graph {_name(node.name)}"


_CREATE = "create< or replace{replace:flag}>"
_FILES = "< vertices from {vertices:string} and> edges from {edges:string}"
_QUERIES = {
    "paths": "paths {pairs}",
    "hops": "hops {hops} from {start:string}< to {target:string}>",
    "regular": "regular {path:string} from {start:string}< to {target:string}>",
}
_FORMS: dict[type, str | Callable[[Any], str]] = {
    # predicates
    tree.Or: _joined(" or ", "terms", tree.Or),
    tree.And: _joined(" and ", "terms", tree.Or, tree.And),
    tree.Not: lambda node: f"not {_within(node.term, tree.Or, tree.And)}",
    tree.TruthTest: _truth_test,
    tree.Compare: "{left} {operator} {right}",
    tree.InList: "{operand}< not{negated:flag}> in ({values})",
    tree.Between: "{operand}< not{negated:flag}> between {low} and {high}",
    tree.NullTest: "{operand} is< not{negated:flag}> null",
    tree.LikeTest: "{operand}< not{negated:flag}> like {pattern}",
    tree.Literal: lambda node: write_literal(node.value),
    tree.PropertyName: _property,
    tree.Variable: "${name:plain}",
    tree.Shifted: _shifted,
    tree.Duration: _duration,
    # views
    tree.ViewList: "<within {within} >{items}",
    tree.View: "[<{name:view_name}: >{predicate}]",
    tree.Loop: "for {variable} in {values} {body:loop_body}",
    tree.Range: "{start}..{stop}< step {step}>",
    tree.ValueList: "({values})",
    tree.Windows: "{kind} windows over {property}< from {start}>< until {until}> width {width}"
    "< step {step}>< timezone {timezone:string}>< drop partial{drop_partial:flag}>"
    "< drop empty{drop_empty:flag}>< named {name:string}>",
    tree.Group: "({items})",
    tree.Product: _joined(" cross ", "factors", tree.Product),
    tree.Combinations: "without {count} of ({items})< named {name:string}>",
    tree.Outages: _outages,
    # grouped graphs
    tree.Section: "< as {label}>< between ({between:names})>< where {where}>"
    "< group by {groupings}>< aggregate {aggregates}>",
    tree.Grouping: "({terms})",
    tree.Alternatives: "{views}",
    tree.AggregateCall: "{function}({operand:aggregated})< as {name}>",
    # statements
    statements.CreateView: f"{_CREATE} view {{name}}< on {{base}}> edges where {{predicate}}",
    statements.CreateCollection: f"{_CREATE} view collection {{name}}< on {{base}}>"
    "< within {within}> {items}< {ordering}>< materialized{materialized:flag}>"
    "< materialize_full_view{full_view:flag}>< hosts {hosts}>",
    statements.CreateGrouped: _create_grouped,
    statements.LoadGraph: f"load< or replace{{replace:flag}}> graph< {{name}}> with{_FILES}"
    "< separator {separator:string}>< comment {comment:string}>< has_headers {has_headers:string}>"
    "< save mappings to {mappings:string}>< timezone {timezone:string}>"
    + "".join(f"< {role} {{{role}:string}}>" for role in statements.COLUMN_ROLES)
    + "< randomize{randomize:flag}>< undirected{directed:flag}>< on bad rows {on_bad_rows}>"
    "< at most {at_most:string}>",
    statements.Run: "run< {strategy}> computation {:computation} on collection {collection}"
    "< as {name}>< resume{resume:flag}>< verify {verify}>< workers {workers}>< on {on}>"
    "< forced{force:flag}>< {results}>< save results to {save_to:string}>< hosts {hosts}>"
    "< indices [{indices:numbers}]>",
    statements.Strategy: _strategy,
    statements.Explain: "explain {statement}",
    statements.UseGraph: "use graph {name}",
    statements.Show: _show,
    statements.Delete: "delete {what}< {name}>",
    statements.Refresh: "refresh {what} {name}",
    statements.SetThreads: "set threads {threads} and process_id {process_id}",
    statements.Serialize: "serialize< cube {collection}> to {path:string}"
    "< block_size {block_size}>< threads {threads}>",
    statements.Deserialize: "deserialize< cube{what:flag}> from {path:string}< threads {threads}>",
    statements.SaveGraph: "save graph to {path:string}",
    statements.SaveCollection: "save cube {name} to {path:string} {threads} {initial:string}",
    # live graphs
    statements.CreateLive: f"create live graph {{name}}< with{_FILES}>"
    "< separator {separator:string}>< id {id:string}>< src {src:string}>< dst {dst:string}>"
    "< keep {keep}< by {time:name}>>< undirected{directed:flag}>",
    statements.AdvanceLive: "advance live graph {name}"
    + "".join(
        f"< {clause} from {{{clause}:string}}>"
        for clause in ("insert", "delete", "vertices", "update", "remove")
    )
    + "< match {match:names}>< separator {separator:string}>< id {id:string}>",
    statements.CreateQuery: f"{_CREATE} query {{name}} on live graph {{graph}} {{:query}}",
    statements.CreateProgram: f"{_CREATE} program {{name}} on live graph {{graph}} run computation "
    "{:computation}< mode {mode}>< tolerance {tolerance:string}>< keep {keep}>",
    statements.ShowRegistered: _show_registered,
    statements.ShowLive: _show_live,
    statements.DropRegistered: "drop {what} {name} on live graph {graph}",
    statements.ExplainRegistered: "explain {what} {name} on live graph {graph}",
    statements.SetLive: "set {what} {to:setting}< far{far:flag}> on live graph {graph}",
}
_GVDL: Writer = Writer(
    _FORMS,
    {
        **dict.fromkeys(("name", "base", "label", "collection", "graph"), _name),
        "names": lambda names: ", ".join(map(_name, names)),
        "string": write_literal,
        "bound": write_literal,
        "flag": _flag,
        "setting": lambda to: "none" if to is None else write_literal(to),
        "view_name": _view_name,
        "ordering": _ordering,
        "hosts": lambda hosts: " ".join(map(write_literal, hosts)),
        "numbers": lambda numbers: " ".join(map(str, numbers)),
        "pairs": _pairs,
        "computation": _computation,
        "query": unparse_query,
        "groupings": _groupings,
        "aggregated": lambda operand: "*" if operand is None else _GVDL.write(operand),
        "loop_body": _loop_body,
    },
)

# ---- explain

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
    tree.Duration,
)


def explain_tree(node: Node) -> str:
    """The tree below a statement, a view list or a predicate, without a trailing line break."""
    return "\n".join(_lines(node, ""))


def _lines(node: Node, label: str) -> Iterator[str]:
    if isinstance(node, _ATOMS):
        yield f"{label}{type(node).__name__} {_GVDL.write(node)}"
        return
    shown = [(item.name, getattr(node, item.name)) for item in fields(node) if _says(item, node)]
    plain = [f"{name}={_field_text(value)}" for name, value in shown if not _holds_nodes(value)]
    yield " ".join([f"{label}{type(node).__name__}", *plain])
    for name, value in shown:
        if _holds_nodes(value):
            yield from ("  " + line for line in _nested(name, value))


def _says(item: Field[object], node: Node) -> bool:
    value = getattr(node, item.name)
    return item.compare and (item.default is MISSING or value != item.default)


def _holds_nodes(value: object) -> bool:
    if isinstance(value, tuple):
        return any(isinstance(part, Node) for part in value)
    return isinstance(value, Node)


def _field_text(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_field_text, value))})"
    return write_literal(value if isinstance(value, int | float) else str(value))


def _nested(name: str, value: object) -> Iterator[str]:
    if isinstance(value, Node):
        yield from _lines(value, f"{name}: ")
    elif isinstance(value, tuple):
        yield name
        for part in value:
            yield from ("  " + line for line in _lines(part, ""))
