"""From the parser's reductions to statements: one method for each rule."""

# Each method is the rule of its name in grammar.lark, which is its documentation.
# ruff: noqa: D102

from __future__ import annotations

from typing import Any, Literal, cast

from lark import Token

from graphtide.lang.diagnostics import language_error
from graphtide.lang.gvdl import statements, tree
from graphtide.lang.gvdl.build_live import LiveBuilder
from graphtide.lang.gvdl.build_views import Option, collect_options
from graphtide.lang.gvdl.literals import read_name, read_string
from graphtide.lang.gvdl.statements import Ordering

MOST_THREADS = 10_000
_ROLES = {"source": "src", "target": "dst"}
_ALIASES = {"cube": "collection", "cubes": "collections"}


class Builder(LiveBuilder):
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
