"""The parser's reductions to statements: one method for each rule of the grammar.

Options of a statement come as clauses, each of which names a field of the node; the same clause
twice is an error. Predicates, views and sections are built by `build_views`.
"""

from __future__ import annotations

from typing import Any, Literal, cast

from lark import Token

from graphtide.lang.diagnostics import language_error
from graphtide.lang.gvdl import statements, tree
from graphtide.lang.gvdl import statements as live
from graphtide.lang.gvdl.build_views import GroupBuilder, Option, collect_options
from graphtide.lang.gvdl.literals import read_name, read_string
from graphtide.lang.gvdl.statements import Ordering

# Each method is the rule of its name in grammar.lark, which is its documentation.


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


class LiveBuilder(GroupBuilder):
    """Builds statements on live graphs on top of everything else."""

    def create_live(self, name: Token, *rest: Any) -> live.CreateLive:
        files = rest[:2] if rest and not isinstance(rest[0], Option) else (None, None)
        options = tuple(item for item in rest if isinstance(item, Option))
        for option in options:
            if option.field in ("label", "edge_label"):
                raise language_error(
                    "a live graph has no labels",
                    option.span,
                    "leave it out: the column is a property of its own name",
                )
        vertices, edges = (None if word is None else read_string(word) for word in files)
        given = collect_options(options)
        keep, time = given.pop("keep", (None, None))
        return live.CreateLive(
            str(name), edges, vertices, keep=keep, time=time, span=self.around(name), **given
        )

    def live_keep(self, period: tree.Literal | tree.Duration, time: Token | None) -> Option:
        value = period, None if time is None else str(time)
        return self.option("keep", value, period)

    def live_separator(self, word: Token) -> Option:
        return self.option("separator", read_string(word), word)

    def advance_live(self, name: Token, *clauses: Option) -> live.AdvanceLive:
        return live.AdvanceLive(str(name), span=self.around(name), **collect_options(clauses))

    def insert_from(self, word: Token) -> Option:
        return self.option("insert", read_string(word), word)

    def delete_from(self, word: Token) -> Option:
        return self.option("delete", read_string(word), word)

    def vertices_from(self, word: Token) -> Option:
        return self.option("vertices", read_string(word), word)

    def update_from(self, word: Token) -> Option:
        return self.option("update", read_string(word), word)

    def remove_from(self, word: Token) -> Option:
        return self.option("remove", read_string(word), word)

    def match_by(self, *names: Token) -> Option:
        return self.option("match", tuple(map(str, names)), *names)

    def batch_id(self, role: Token, word: Token) -> Option:
        self._check_role(role, "id")
        return self.option("id", read_string(word), word)

    def create_query(
        self,
        replace: bool | None,
        _: Token,
        name: Token,
        graph: Token,
        asked: Option,
        *options: Option,
    ) -> live.CreateQuery:
        for option in options:
            if option.field not in _TAKES[asked.field]:
                raise language_error(
                    f"`{asked.field}` has no {option.field}", option.span, _INSTEAD[option.field]
                )
        given = collect_options(options)
        places = [(item.field, item.span) for item in (asked, *options)]
        return live.CreateQuery(
            str(name),
            str(graph),
            cast(live.Asked, asked.field),
            replace=bool(replace),
            places=tuple(places),
            span=self.around(name, graph),
            **asked.value,
            **given,
        )

    def ask_path(self, start: tree.Literal, target: tree.Literal) -> Option:
        value = {"start": start.value, "target": target.value}
        return self.option("path", value, start, target)

    def ask_paths(self, *pairs: Any) -> Option:
        value = {"pairs": tuple((one.value, other.value) for one, other in pairs)}
        return self.option("paths", value, *pairs)

    def pair(self, start: tree.Literal, target: tree.Literal) -> tuple[tree.Literal, tree.Literal]:
        return start, target

    def ask_hops(self, count: Token, start: tree.Literal) -> Option:
        value = {"hops": int(count), "start": start.value}
        return self.option("hops", value, count, start)

    def ask_reach(self, start: tree.Literal, target: tree.Literal | None) -> Option:
        value = {"start": start.value, "target": None if target is None else target.value}
        return self.option("reach", value, start, target)

    def ask_regular(self, path: Token, start: tree.Literal, target: tree.Literal | None) -> Option:
        value = {
            "path": read_string(path),
            "start": start.value,
            "target": None if target is None else target.value,
        }
        return self.option("regular", value, path, start, target)

    def create_program(
        self,
        replace: bool | None,
        _: Token,
        name: Token,
        graph: Token,
        computation: Token,
        *rest: Any,
    ) -> live.CreateProgram:
        parameters, library, *options = rest
        only = computation.type == "STRING"
        if only and library is not None:
            raise language_error(
                "two files are given here",
                self.around(library),
                "write `run 'file'`, or `run NAME from 'file'`",
            )
        library = computation if only else library
        words = {"computation": computation, "library": library}
        places = [(what, self.around(word)) for what, word in words.items()]
        places += [(f"({item.field})", item.span) for item in parameters or ()]
        places += [(option.field, option.span) for option in options]
        return live.CreateProgram(
            str(name),
            str(graph),
            "" if only else str(computation),
            tuple((item.field, item.value) for item in parameters or ()),
            None if library is None else read_string(library),
            replace=bool(replace),
            places=tuple(places),
            span=self.around(name, graph),
            **collect_options(tuple(options)),
        )

    def program_mode(self, word: Token) -> Option:
        return self.option("mode", word.lower(), word)

    def program_tolerance(self, number: tree.Literal) -> Option:
        return self.option("tolerance", number.value, number)

    def program_keep(self, count: Token) -> Option:
        return self.option("keep", int(count), count)

    def list_registered(self, plural: Token, graph: Token | None) -> live.ShowRegistered:
        what: live.Registered = "query" if plural.type == "QUERIES" else "program"
        named = None if graph is None else str(graph)
        return live.ShowRegistered(what, named, span=self.around(plural, graph))

    def show_registered(self, what: Token, name: Token, graph: Token) -> live.ShowRegistered:
        span = self.around(name, graph)
        return live.ShowRegistered(_registered(what), str(graph), str(name), span=span)

    def drop_registered(self, what: Token, name: Token, graph: Token) -> live.DropRegistered:
        span = self.around(name, graph)
        return live.DropRegistered(_registered(what), str(name), str(graph), span=span)

    def explain_registered(self, what: Token, name: Token, graph: Token) -> live.ExplainRegistered:
        span = self.around(name, graph)
        return live.ExplainRegistered(_registered(what), str(name), str(graph), span=span)

    def set_budget(self, given: Token, graph: Token) -> live.SetLive:
        to: int | str | None = None
        if given.type != "NONE":
            to = int(given) if given.type == "INT" else read_string(given)
        return live.SetLive(str(graph), "budget", to, span=self.around(given, graph))

    def set_landmarks(self, given: Token, *rest: Token | None) -> live.SetLive:
        *far, graph = rest
        count = None if given.type == "NONE" else int(given)
        far_given = any(word is not None for word in far)
        span = self.around(given, graph)
        return live.SetLive(str(graph), "landmarks", count, far_given, span=span)

    def query_weight(self, name: Token) -> Option:
        return self.option("weight", str(name), name)

    def query_label(self, role: Token, name: Token) -> Option:
        self._check_role(role, "label")
        return self.option("label", str(name), name)

    def _check_role(self, role: Token, expected: str) -> None:
        """Refuse a word that the grammar lets stand in the place of another."""
        if role.lower() != expected:
            hint = f"did you mean `{expected}`?"
            raise language_error(f"'{role}' is not expected here", self.around(role), hint)

    def query_bound(self, number: tree.Literal) -> Option:
        return self.option("bound", number.value, number)

    def query_direction(self, word: Token) -> Option:
        return self.option("direction", word.lower(), word)

    def show_live_graphs(self, word: Token) -> live.ShowLive:
        return live.ShowLive(span=self.around(word))

    def show_live_graph(self, name: Token) -> live.ShowLive:
        return live.ShowLive(str(name), span=self.around(name))


def _registered(word: Token) -> live.Registered:
    """What the last word of `drop query`, `program`, ... names."""
    return "query" if word.split()[-1].lower() == "query" else "program"


# Each method is the rule of its name in grammar.lark, which is its documentation.


MOST_THREADS = 10_000
_ROLES = {"source": "src", "target": "dst"}
_ALIASES = {"cube": "collection", "cubes": "collections"}


class ScriptBuilder(LiveBuilder):
    """Builds whole scripts."""

    def script(self, *found: statements.Statement) -> tuple[statements.Statement, ...]:
        return found

    def explain(self, statement: statements.Statement) -> statements.Explain:
        return statements.Explain(statement, span=statement.span)

    def name(self, word: Token) -> Token:
        return Token.new_borrow_pos("NAME", read_name(word), word)

    def string_name(self, word: Token) -> Token:
        return Token.new_borrow_pos("NAME", read_string(word), word)

    def replace(self) -> bool:
        return True

    def create_view(
        self, replace: bool | None, name: Token, base: Token | None, predicate: tree.Predicate
    ) -> statements.CreateView:
        return statements.CreateView(
            str(name), predicate, _text(base), bool(replace), span=self.around(name)
        )

    def create_collection(
        self, replace: bool | None, name: Token, base: Token | None, *rest: Any
    ) -> statements.CreateCollection:
        within, items, *options = rest
        return statements.CreateCollection(
            str(name),
            items,
            _text(base),
            within,
            replace=bool(replace),
            span=self.around(name),
            **collect_options(tuple(options)),
        )

    def manually_ordered(self, word: Token) -> Option:
        return self.option("ordering", Ordering.MANUAL, word)

    def ordered_by(self, word: Token) -> Option:
        return self.option("ordering", Ordering(word.lower()), word)

    def materialized(self, word: Token) -> Option:
        return self.option("materialized", True, word)

    def full_view(self, word: Token) -> Option:
        return self.option("full_view", True, word)

    def hosts(self, *words: Token) -> Option:
        return self.option("hosts", tuple(map(read_string, words)), *words)

    def load_graph(
        self, replace: bool | None, name: Token | None, *rest: Any
    ) -> statements.LoadGraph:
        vertices, edges, *options = rest
        return statements.LoadGraph(
            read_string(edges),
            None if vertices is None else read_string(vertices),
            _text(name),
            replace=bool(replace),
            span=self.around(name, vertices, edges),
            **collect_options(tuple(options)),
        )

    def no_vertices(self) -> None:
        return None

    def separator(self, word: Token) -> Option:
        return self.option("separator", read_string(word), word)

    def comment(self, word: Token) -> Option:
        return self.option("comment", read_string(word), word)

    def has_headers(self, value: bool) -> Option:
        return self.option("has_headers", value)

    def mappings(self, word: Token) -> Option:
        return self.option("mappings", read_string(word), word)

    def randomize(self, word: Token) -> Option:
        return self.option("randomize", True, word)

    def undirected(self, word: Token) -> Option:
        return self.option("directed", False, word)

    def timezone(self, word: Token) -> Option:
        return self.option("timezone", read_string(word), word)

    def on_bad_rows(self, word: Token) -> Option:
        return self.option("on_bad_rows", word.lower(), word)

    def at_most(self, word: Token) -> Option:
        return self.option(
            "at_most", read_string(word) if word.type == "STRING" else int(word), word
        )

    def column_role(self, role: Token, column: Token) -> Option:
        word = role.lower()
        return self.option(_ROLES.get(word, word), str(column), role, column)

    def column(self, word: Token) -> Token:
        read = read_string if word.type == "STRING" else read_name
        return Token.new_borrow_pos("NAME", read(word), word)

    def truth(self, word: Token) -> bool:
        return word.lower() == "true"

    def use_graph(self, name: Token) -> statements.UseGraph:
        return statements.UseGraph(str(name), span=self.around(name))

    def run(
        self, strategy: statements.Strategy | None, computation: Token, *rest: Any
    ) -> statements.Run:
        parameters, library, collection, *options = rest
        given = parameters or ()
        only = computation.type == "STRING"
        if only and library is not None:
            raise language_error(
                "two files are given here",
                self.around(library),
                "write `run 'file' on ...`, or `run NAME from 'file' on ...`",
            )
        library = computation if only else library
        words = {"computation": computation, "collection": collection, "library": library}
        places = [(what, self.around(word)) for what, word in words.items()]
        places += [(f"({parameter.field})", parameter.span) for parameter in given]
        places += [(option.field, option.span) for option in options]
        return statements.Run(
            "" if only else str(computation),
            str(collection),
            strategy,
            tuple((parameter.field, parameter.value) for parameter in given),
            None if library is None else read_string(library),
            span=self.around(strategy, computation, collection),
            places=tuple(places),
            **collect_options(tuple(options)),
        )

    def strategy(self, word: Token) -> statements.Strategy:
        return statements.Strategy(word.lower(), span=self.around(word))

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
        return self.option(str(name), _plain(value), name)

    def tuple_(self, *values: Any) -> tuple[Any, ...]:
        return tuple(map(_plain, values))

    def run_name(self, name: Token) -> Option:
        return self.option("name", str(name), name)

    def resume(self, word: Token) -> Option:
        return self.option("resume", True, word)

    def verify(self, word: Token) -> Option:
        return self.option("verify", int(word), word)

    def workers(self, word: Token) -> Option:
        return self.option("workers", int(word), word)

    def on_tasks(self, word: Token) -> Option:
        return self.option("on", word.lower(), word)

    def force(self, word: Token) -> Option:
        return self.option("force", True, word)

    def results(self, word: Token) -> Option:
        return self.option("results", word.lower(), word)

    def save_results(self, word: Token) -> Option:
        return self.option("save_to", read_string(word), word)

    def indices(self, *words: Token) -> Option:
        return self.option("indices", tuple(map(int, words)), *words)

    def show_all(self, word: Token) -> statements.Show:
        return statements.Show(cast(statements.Shown, word.lower()), span=self.around(word))

    def show_one(self, word: Token, name: Token) -> statements.Show:
        what = cast(statements.Shown, word.lower())
        return statements.Show(what, str(name), span=self.around(word, name))

    def show_data(self, name: Token) -> statements.Show:
        return statements.Show("data", str(name), span=self.around(name))

    def delete_all(self, word: Token) -> statements.Delete:
        return statements.Delete("collections", span=self.around(word))

    def refresh(self, word: Token, name: Token) -> statements.Refresh:
        what = cast(Literal["view", "collection"], _ALIASES.get(word.lower(), word.lower()))
        return statements.Refresh(what, str(name), span=self.around(word, name))

    def delete_one(self, word: Token, name: Token) -> statements.Delete:
        what = cast(statements.Deleted, _ALIASES.get(word.lower(), word.lower()))
        return statements.Delete(what, str(name), span=self.around(word, name))

    def set_threads(self, threads: Token, process: Token | None) -> statements.SetThreads:
        if not 1 <= int(threads) <= MOST_THREADS:
            raise language_error(
                f"threads cannot be {threads}",
                self.around(threads),
                f"give a number from 1 to {MOST_THREADS:,}: into so many parts Spark shuffles",
            )
        process_id = 0 if process is None else int(process)
        return statements.SetThreads(int(threads), process_id, span=self.around(threads, process))

    def serialize_graph(self, path: Token, *options: Option) -> statements.Serialize:
        given = collect_options(options)
        return statements.Serialize(read_string(path), span=self.around(path), **given)

    def serialize_collection(
        self, name: Token, path: Token, *options: Option
    ) -> statements.Serialize:
        given = collect_options(options)
        span = self.around(name, path)
        return statements.Serialize(read_string(path), str(name), span=span, **given)

    def deserialize_graph(self, path: Token, *options: Option) -> statements.Deserialize:
        given = collect_options(options)
        return statements.Deserialize(read_string(path), "graph", span=self.around(path), **given)

    def deserialize_collection(self, path: Token, *options: Option) -> statements.Deserialize:
        given = collect_options(options)
        span = self.around(path)
        return statements.Deserialize(read_string(path), "collection", span=span, **given)

    def block_size(self, word: Token) -> Option:
        return self.option("block_size", int(word), word)

    def threads(self, word: Token) -> Option:
        return self.option("threads", int(word), word)

    def save_graph(self, path: Token) -> statements.SaveGraph:
        return statements.SaveGraph(read_string(path), span=self.around(path))

    def save_collection(
        self, name: Token, path: Token, threads: Token, initial: bool
    ) -> statements.SaveCollection:
        return statements.SaveCollection(
            str(name), read_string(path), int(threads), initial, span=self.around(name, path)
        )


def _text(word: Token | None) -> str | None:
    return None if word is None else str(word)


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, tree.Literal) else value
