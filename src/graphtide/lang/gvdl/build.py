"""Builds GVDL's tree while the parser reads: a row or method for each rule of `grammar.lark`.

Bottom up and in one pass: a statement of 200 views takes a few hundredths of a second. Arguments
are what a rule keeps, in order; None stands for an optional part that was left out. Only what the
text alone tells is checked here (dates that are none, owners that are neither `src` nor `dst`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import groupby
from typing import Any, cast

from lark import Token

from graphtide.lang.diagnostics import language_error
from graphtide.lang.gvdl import statements, tree
from graphtide.lang.gvdl.calendar import unit_of
from graphtide.lang.gvdl.literals import read_date, read_name, read_string, read_timestamp
from graphtide.lang.gvdl.statements import Ordering
from graphtide.lang.trees import (
    Builder,
    Option,
    Rule,
    clause,
    collect_options,
    keep,
    listed,
    lower,
    many,
    node,
    same,
    text,
)
from graphtide.model.text import shortened
from graphtide.plan.predicates import Operator, Owner

MOST_THREADS = 10_000
_OPERATORS = {
    "=": Operator.EQ,
    "==": Operator.EQ,
    "<>": Operator.NE,
    "!=": Operator.NE,
    "≠": Operator.NE,
    "<": Operator.LT,
    "<=": Operator.LE,
    "≤": Operator.LE,
    ">": Operator.GT,
    ">=": Operator.GE,
    "≥": Operator.GE,
}
_STRICT = {Operator.LE: Operator.LT, Operator.GE: Operator.GT}
_OWNERS: dict[str, Owner] = {"src": "src", "u": "src", "dst": "dst", "v": "dst", "edge": "edge"}
_EDGE = "e"
_ROLES = {"source": "src", "target": "dst"}
_ALIASES = {"cube": "collection", "cubes": "collections"}
_TAKES = {
    "path": ("weight", "bound", "direction"),
    "paths": ("weight", "bound", "direction"),
    "hops": ("direction",),
    "reach": ("direction",),
    "regular": ("label", "weight", "bound"),
}
"""The options of each kind of query."""

_INSTEAD = {
    "direction": "the path says which way an edge is taken: `^knows` is against it",
    "label": "labels are named by a regular path: `regular 'knows/likes*' from 'ann' label kind`",
    "weight": "it counts edges; what edges weigh is for `path`, `paths` and `regular`",
    "bound": "`hops 3 from ...` is a bound; costs are for `path`, `paths` and `regular`",
}


# ---- what parts of a rule become


def _string(word: Token | None) -> str | None:
    return None if word is None else read_string(word)


def _setting(word: Token) -> int | str | None:
    if word.type == "NONE":
        return None
    return int(word) if word.type == "INT" else read_string(word)


def _value(part: Any) -> Any:
    """The value of a literal; anything else as it is."""
    return part.value if isinstance(part, tree.Literal | Option) else part


def _some(parts: tuple[Any, ...] | None) -> tuple[Any, ...]:
    return parts or ()


def _always(value: object) -> Callable[[Token], object]:
    return lambda _: value


def _each(convert: Callable[[Token], object]) -> Callable[..., tuple[object, ...]]:
    return lambda *words: tuple(map(convert, words))


def _without_alias(word: Token) -> str:
    return _ALIASES.get(word.lower(), word.lower())


def _registered(word: Token) -> statements.Registered:
    """What the last word of `drop query`, `programs`, ... names."""
    return "query" if word.split()[-1].lower() in ("query", "queries") else "program"


def _section(kind: str, **fields: Any) -> tuple[str, tree.Section]:
    return kind, tree.Section(**fields)


def _one_grouping(**fields: Any) -> tuple[tree.Grouping]:
    return (tree.Grouping(**fields),)


def _renamed(read: Callable[[str], str], kind: str = "NAME") -> Rule:
    """A rule that is a name: its word, without quotes."""
    return lambda _, word: Token.new_borrow_pos(kind, read(word), word)


def _question(kind: str, **fields: Callable[[Any], object]) -> Rule:
    """A rule that says what a query asks: an option whose value are fields of the query."""

    def build(builder: Builder, *parts: Any) -> Option:
        value = {name: fields[name](part) for name, part in zip(fields, parts, strict=True)}
        return Option(kind, value, builder.around(*parts))

    return build


def _removal(what: str, *, pairs: bool = False) -> Rule:
    """What is removed, whether in pairs, and the last word, or the property whose values go."""
    return lambda _, *parts: (what, pairs, parts[-1])


class ScriptBuilder(Builder):
    """Each attribute is the rule of its name in grammar.lark, which is its documentation."""

    script = sections = groupings = aggregates = items = between_sections = pair = listed
    only_amount = only_property = only_predicate = only_groupings = only_aggregates = same
    name = _renamed(read_name)
    string_name = _renamed(read_string)
    view_name = _renamed(read_name, "VIEW_NAME")
    replace = _always(True)
    no_vertices = everything = _always(None)

    # ---- predicates

    or_ = node(tree.Or, terms=many)
    and_ = node(tree.And, terms=many)
    not_ = node(tree.Not, term=keep)
    compare = node(tree.Compare, left=keep, operator=_OPERATORS.__getitem__, right=keep)
    in_list = node(tree.InList, operand=keep, values=many)
    not_in_list = node(tree.InList, operand=keep, values=many, negated=True)
    between = node(tree.Between, operand=keep, low=keep, high=keep)
    not_between = node(tree.Between, operand=keep, low=keep, high=keep, negated=True)
    like = node(tree.LikeTest, operand=keep, pattern=keep)
    not_like = node(tree.LikeTest, operand=keep, pattern=keep, negated=True)
    is_true = node(tree.TruthTest, term=keep, _=keep, place="term")
    is_not_true = node(tree.TruthTest, term=keep, _=keep, negated=True, place="term")
    is_false = node(tree.TruthTest, term=keep, _=keep, value=False, place="term")
    is_not_false = node(tree.TruthTest, term=keep, _=keep, value=False, negated=True, place="term")
    variable = node(tree.Variable, name=lambda word: word[1:])
    string = node(tree.Literal, value=read_string)
    true = node(tree.Literal, value=_always(True))
    false = node(tree.Literal, value=_always(False))
    null = node(tree.Literal, value=_always(None))
    one_unit = node(tree.Duration, unit=unit_of, count=1)

    def compare_edge(
        self, left: tree.Operand, sign: Token, src: tree.Operand, dst: tree.Operand
    ) -> tree.Predicate:
        """Graphsurge's edge operand, `e = (6, 7)`, in terms of `src.id` and `dst.id`.

        Pairs compare as Graphsurge's do, by the first id and then by the second.
        """
        span = self.around(left, dst)
        if left != tree.PropertyName(_EDGE):
            raise language_error(
                "a pair compares with the edge only",
                span,
                f"write `{_EDGE} = (6, 7)` for the edges from 6 to 7, `... in (6, 7)` for a list",
            )

        def test(sign: Operator, end: Owner, id: tree.Operand) -> tree.Predicate:
            return tree.Compare(sign, tree.PropertyName("id", end, span=span), id, span=span)

        operator = _OPERATORS[sign]
        if operator is Operator.NE:
            return tree.Or((test(operator, "src", src), test(operator, "dst", dst)), span=span)
        same = tree.And((test(Operator.EQ, "src", src), test(operator, "dst", dst)), span=span)
        if operator is Operator.EQ:
            return same
        less = test(_STRICT.get(operator, operator), "src", src)
        return tree.Or((less, same), span=span)

    def is_null(self, term: tree.Predicate, _: Token, *, negated: bool = False) -> tree.Predicate:
        if isinstance(term, tree.PropertyName):
            return tree.NullTest(term, negated, span=term.span)
        raise self.refusal(
            "only a property can be null",
            term,
            "use `(...) is not true` for a condition that is false or unknown",
        )

    def is_not_null(self, term: tree.Predicate, word: Token) -> tree.Predicate:
        return self.is_null(term, word, negated=True)

    def property(self, first: Token, second: Token | None) -> tree.PropertyName:
        word = first if second is None else second
        owner = "edge" if second is None else _OWNERS.get(first.lower())
        if owner is None:
            raise self.refusal(
                f"'{first}' is neither end of an edge",
                first,
                "put `src.` or `dst.` (also `u.`, `v.`) before a property of an endpoint, "
                "nothing before one of the edge; a name with a dot in it goes in backticks",
            )
        span = self.around(first, second)
        return tree.PropertyName(read_name(word), owner, word.type == "QUOTED", span=span)

    def shifted(
        self, base: tree.PropertyName | tree.Variable, sign: Token, count: Token, unit: Token | None
    ) -> tree.Shifted:
        moved = -int(count) if sign == "-" else int(count)
        span = self.around(base, count, unit)
        return tree.Shifted(base, moved, None if unit is None else unit_of(unit), span=span)

    def number(self, sign: Token | None, digits: Token) -> tree.Literal:
        span = self.around(sign, digits)
        value = int(digits) if digits.type == "INT" else float(digits)
        if not math.isfinite(float(digits)):
            raise language_error(f"{shortened(digits, 40)} is too large a number", span)
        return tree.Literal(-value if sign == "-" else value, span=span)

    def amount(
        self, sign: Token | None, digits: Token, unit: Token | None
    ) -> tree.Literal | tree.Duration:
        number = self.number(sign, digits)
        singular = None if unit is None else unit_of(unit)
        if singular is None:
            return number
        span = self.around(sign, digits, unit)
        if not isinstance(number.value, int):
            hint = "use a smaller unit: 90 minutes rather than 1.5 hours"
            raise language_error(f"{digits} {unit} is not a whole number of a unit", span, hint)
        return tree.Duration(number.value, singular, span=span)

    def date(self, word: Token) -> tree.Literal:
        return self._moment(word, read_date(read_string(word)), "a date", "date '2020-01-31'")

    def iso_date(self, word: Token) -> tree.Literal:
        hint = "write 2020-01-31, or 2020-01-31T10:00"
        return self._moment(word, read_date(word) or read_timestamp(word), "a date", hint)

    def timestamp(self, word: Token) -> tree.Literal:
        hint = "timestamp '2020-01-31 10:00:00', with 'Z' or '+02:00' behind it for an offset"
        return self._moment(word, read_timestamp(read_string(word)), "a timestamp", hint)

    def _moment(self, word: Token, value: tree.LiteralValue, kind: str, hint: str) -> tree.Literal:
        if value is None:
            raise self.refusal(f"{word} is not {kind}", word, hint)
        return tree.Literal(value, span=self.around(word))

    # ---- views

    only_views = node(tree.ViewList, within=keep, items=keep, place="items")
    group = node(tree.Group, items=keep)
    product = node(tree.Product, factors=many)
    loop = node(tree.Loop, variable=str, values=keep, body=keep, place="variable values")
    range = node(tree.Range, start=keep, stop=keep, step=keep)
    value_list = node(tree.ValueList, values=many)
    window_from = clause("start", keep)
    window_until = clause("until", keep)
    window_width = clause("width", keep)
    window_step = clause("step", keep)
    window_timezone = timezone = clause("timezone", read_string)
    drop_partial = clause("drop_partial")
    drop_empty = clause("drop_empty")
    named = clause("name", read_string)
    combinations = node(
        tree.Combinations, _=keep, count=int, items=keep, name=_value, place="_ count"
    )
    each_edge = _removal("edge")
    each_vertex = _removal("vertex")
    each_value = _removal("value")
    each_pair_of_edges = _removal("edge", pairs=True)
    each_pair_of_vertices = _removal("vertex", pairs=True)
    each_pair_of_values = _removal("value", pairs=True)

    def view(self, name: Token | None, predicate: tree.Predicate) -> tree.View:
        return tree.View(predicate, text(name), span=self.around(name or predicate))

    def loop_body(self, body: tree.Item | tuple[tree.Item, ...]) -> tuple[tree.Item, ...]:
        return body if isinstance(body, tuple) else (body,)

    def windows(self, kind: Token, over: tree.PropertyName, *options: Option) -> tree.Windows:
        fields = collect_options(options)
        span = self.around(kind, over)
        if "width" not in fields:
            hint = "say how wide a window is: `width 7 days`, or `width 10` for a number"
            raise language_error("these windows have no width", span, hint)
        name = cast(tree.WindowKind, kind.lower())
        return tree.Windows(name, over, span=span, **fields)

    def outages(
        self, word: Token, removal: Any, where: tree.Predicate | None, name: Option | None
    ) -> tree.Outages:
        what, pairs, last = removal
        of = last if isinstance(last, tree.PropertyName) else None
        return tree.Outages(what, pairs, where, _value(name), of, span=self.around(word, last))

    # ---- grouped graphs

    vertex_section = node(
        partial(_section, "vertices"), label=text, where=keep, groupings=_some, aggregates=_some
    )
    edge_section = node(
        partial(_section, "edges"),
        label=text,
        between=lambda ends: ends and (str(ends[0]), str(ends[1])),
        where=keep,
        groupings=_some,
        aggregates=_some,
    )
    bare_grouping = node(_one_grouping, terms=many)
    aggregate = node(tree.AggregateCall, function=lower, operand=keep, name=text)
    named_aggregate = node(tree.AggregateCall, name=str, function=lower, operand=keep)

    def create_grouped(
        self,
        replace: bool | None,
        name: Token,
        base: Token | None,
        sections: tuple[tuple[str, tree.Section], ...],
        path: Token | None,
    ) -> statements.CreateGrouped:
        vertices, edges = (
            tuple(section for of, section in sections if of == kind)
            for kind in ("vertices", "edges")
        )
        return statements.CreateGrouped(
            str(name),
            vertices,
            edges,
            text(base),
            bool(replace),
            _string(path),
            span=self.around(name),
        )

    def grouping(self, *terms: tree.Predicate | tree.View) -> tree.Grouping:
        """Conditions in brackets that stand side by side are alternatives of each other."""
        parts: list[tree.Term] = []
        for is_view, run in groupby(terms, lambda term: isinstance(term, tree.View)):
            if is_view:
                views = cast(tuple[tree.View, ...], tuple(run))
                parts.append(tree.Alternatives(views, span=self.around(views)))
            else:
                parts.extend(cast(tuple[tree.Predicate, ...], tuple(run)))
        return tree.Grouping(tuple(parts), span=self.around(terms))

    # ---- views, collections and graphs of the catalog

    explain = node(statements.Explain, statement=keep)
    create_view = node(
        statements.CreateView, replace=bool, name=str, base=text, predicate=keep, place="name"
    )
    create_collection = node(
        statements.CreateCollection,
        replace=bool,
        name=str,
        base=text,
        within=keep,
        items=keep,
        place="name",
    )
    manually_ordered = clause("ordering", value=Ordering.MANUAL)
    ordered_by = clause("ordering", lambda word: Ordering(word.lower()))
    materialized = clause("materialized")
    full_view = clause("full_view")
    hosts = clause("hosts", _each(read_string))
    load_graph = node(
        statements.LoadGraph,
        replace=bool,
        name=text,
        vertices=_string,
        edges=_string,
        place="name vertices edges",
    )
    separator = live_separator = clause("separator", read_string)
    comment = clause("comment", read_string)
    has_headers = clause("has_headers", keep)
    mappings = clause("mappings", read_string)
    randomize = clause("randomize")
    undirected = clause("directed", value=False)
    on_bad_rows = clause("on_bad_rows", lower)
    at_most = clause("at_most", _setting)
    use_graph = node(statements.UseGraph, name=str)
    show_all = node(statements.Show, what=lower)
    show_one = node(statements.Show, what=lower, name=str)
    show_data = node(statements.Show, what="data", name=str)
    delete_all = node(statements.Delete, what="collections", _=keep)
    delete_one = node(statements.Delete, what=_without_alias, name=str)
    refresh = node(statements.Refresh, what=_without_alias, name=str)
    serialize_graph = node(statements.Serialize, path=read_string)
    serialize_collection = node(statements.Serialize, collection=str, path=read_string)
    deserialize_graph = node(statements.Deserialize, path=read_string, what="graph")
    deserialize_collection = node(statements.Deserialize, path=read_string, what="collection")
    block_size = clause("block_size", int)
    threads = clause("threads", int)
    save_graph = node(statements.SaveGraph, path=read_string)
    save_collection = node(
        statements.SaveCollection,
        name=str,
        path=read_string,
        threads=int,
        initial=keep,
        place="name path",
    )

    def column_role(self, role: Token, column: Token) -> Option:
        word = role.lower()
        return Option(_ROLES.get(word, word), str(column), self.around(role, column))

    def column(self, word: Token) -> Token:
        read = read_string if word.type == "STRING" else read_name
        return Token.new_borrow_pos("NAME", read(word), word)

    def truth(self, word: Token) -> bool:
        return word.lower() == "true"

    def set_threads(self, threads: Token, process: Token | None) -> statements.SetThreads:
        if not 1 <= int(threads) <= MOST_THREADS:
            raise self.refusal(
                f"threads cannot be {threads}",
                threads,
                f"give a number from 1 to {MOST_THREADS:,}: into so many parts Spark shuffles",
            )
        span = self.around(threads, process)
        return statements.SetThreads(int(threads), int(process or 0), span=span)

    # ---- runs

    strategy = node(statements.Strategy, name=lower)
    run_name = clause("name", str)
    resume = clause("resume")
    verify = clause("verify", int)
    workers = clause("workers", int)
    on_tasks = clause("on", lower)
    force = clause("force")
    results = clause("results", lower)
    save_results = clause("save_to", read_string)
    indices = clause("indices", _each(int))
    tuple_ = staticmethod(_each(_value))

    def run(
        self,
        strategy: statements.Strategy | None,
        computation: Token,
        parameters: tuple[Option, ...] | None,
        library: Token | None,
        collection: Token,
        *options: Option,
    ) -> statements.Run:
        fields = self._computation(
            computation, parameters, library, options, behind=" on ...", collection=collection
        )
        span = self.around(strategy, computation, collection)
        return statements.Run(collection=str(collection), strategy=strategy, span=span, **fields)

    def _computation(
        self,
        computation: Token,
        parameters: tuple[Option, ...] | None,
        library: Token | None,
        options: tuple[Option, ...],
        *,
        behind: str = "",
        **words: Token,
    ) -> dict[str, Any]:
        """What `run` and `create program` say of a computation, and where each part stands."""
        only = computation.type == "STRING"
        if only and library is not None:
            raise self.refusal(
                "two files are given here",
                library,
                f"write `run 'file'{behind}`, or `run NAME from 'file'{behind}`",
            )
        library = computation if only else library
        placed = {"computation": computation, **words, "library": library}
        places = [(what, self.around(word)) for what, word in placed.items()]
        places += [(f"({item.field})", item.span) for item in parameters or ()]
        places += [(option.field, option.span) for option in options]
        return {
            "computation": "" if only else str(computation),
            "parameters": tuple((item.field, item.value) for item in parameters or ()),
            "library": _string(library),
            "places": tuple(places),
            **collect_options(options),
        }

    def adaptive_batch(self, word: Token, batch: Token) -> statements.Strategy:
        options = (("batch", int(batch)),)
        return statements.Strategy("adaptive", options, span=self.around(word))

    def adaptive_upto(self, word: Token, *values: Any) -> statements.Strategy:
        upto, comp_x, diff_x, limit, algo = values
        options = (
            ("upto", int(upto)),
            ("comp_x", comp_x.value),
            ("diff_x", diff_x.value),
            ("limit", int(limit)),
            ("algo", str(algo)),
        )
        return statements.Strategy("adaptive", options, span=self.around(word))

    def parameters(self, *parameters: Option) -> tuple[Option, ...]:
        collect_options(parameters)
        return parameters

    def parameter(self, name: Token, value: Any) -> Option:
        return Option(str(name), _value(value), self.around(name))

    # ---- live graphs

    advance_live = node(statements.AdvanceLive, name=str)
    insert_from = clause("insert", read_string)
    delete_from = clause("delete", read_string)
    vertices_from = clause("vertices", read_string)
    update_from = clause("update", read_string)
    remove_from = clause("remove", read_string)
    match_by = clause("match", _each(str))
    ask_path = _question("path", start=_value, target=_value)
    ask_paths = clause(
        "paths", lambda *pairs: {"pairs": tuple((a.value, b.value) for a, b in pairs)}
    )
    ask_hops = _question("hops", hops=int, start=_value)
    ask_reach = _question("reach", start=_value, target=_value)
    ask_regular = _question("regular", path=read_string, start=_value, target=_value)
    query_weight = clause("weight", str)
    query_bound = clause("bound", _value)
    query_direction = clause("direction", lower)
    program_mode = clause("mode", lower)
    program_tolerance = clause("tolerance", _value)
    program_keep = clause("keep", int)
    show_live_graphs = node(statements.ShowLive, _=keep)
    show_live_graph = node(statements.ShowLive, name=str)
    list_registered = node(statements.ShowRegistered, what=_registered, graph=text)
    show_registered = node(
        statements.ShowRegistered, what=_registered, name=str, graph=str, place="name graph"
    )
    drop_registered = node(
        statements.DropRegistered, what=_registered, name=str, graph=str, place="name graph"
    )
    explain_registered = node(
        statements.ExplainRegistered, what=_registered, name=str, graph=str, place="name graph"
    )
    set_budget = node(statements.SetLive, what="budget", to=_setting, graph=str)

    def create_live(
        self, name: Token, vertices: Token | None, edges: Token | None, *options: Option
    ) -> statements.CreateLive:
        for option in options:
            if option.field in ("label", "edge_label"):
                raise language_error(
                    "a live graph has no labels",
                    option.span,
                    "leave it out: the column is a property of its own name",
                )
        fields = collect_options(options)
        fields["keep"], fields["time"] = fields.get("keep", (None, None))
        return statements.CreateLive(
            str(name), _string(edges), _string(vertices), span=self.around(name), **fields
        )

    def live_keep(self, period: tree.Literal | tree.Duration, time: Token | None) -> Option:
        return Option("keep", (period, text(time)), self.around(period))

    def batch_id(self, role: Token, word: Token) -> Option:
        self._check_role(role, "id")
        return Option("id", read_string(word), self.around(word))

    def query_label(self, role: Token, name: Token) -> Option:
        self._check_role(role, "label")
        return Option("label", str(name), self.around(name))

    def _check_role(self, role: Token, expected: str) -> None:
        """Refuse a word that the grammar lets stand in the place of another."""
        if role.lower() != expected:
            hint = f"did you mean `{expected}`?"
            raise self.refusal(f"'{role}' is not expected here", role, hint)

    def create_query(
        self,
        replace: bool | None,
        _: Token,
        name: Token,
        graph: Token,
        question: Option,
        *options: Option,
    ) -> statements.CreateQuery:
        for option in options:
            if option.field not in _TAKES[question.field]:
                raise language_error(
                    f"`{question.field}` has no {option.field}",
                    option.span,
                    _INSTEAD[option.field],
                )
        return statements.CreateQuery(
            str(name),
            str(graph),
            cast(statements.Asked, question.field),
            replace=bool(replace),
            places=tuple((item.field, item.span) for item in (question, *options)),
            span=self.around(name, graph),
            **question.value,
            **collect_options(options),
        )

    def create_program(
        self,
        replace: bool | None,
        _: Token,
        name: Token,
        graph: Token,
        computation: Token,
        parameters: tuple[Option, ...] | None,
        library: Token | None,
        *options: Option,
    ) -> statements.CreateProgram:
        return statements.CreateProgram(
            str(name),
            str(graph),
            replace=bool(replace),
            span=self.around(name, graph),
            **self._computation(computation, parameters, library, options),
        )

    def set_landmarks(self, count: Token, *rest: Token | None) -> statements.SetLive:
        *far, graph = rest
        to = cast(int | None, _setting(count))
        is_far = any(word is not None for word in far)
        span = self.around(count, graph)
        return statements.SetLive(str(graph), "landmarks", to, is_far, span=span)
