"""From the parser's reductions to statements on live graphs: one method for each rule."""

# Each method is the rule of its name in grammar.lark, which is its documentation.
# ruff: noqa: D102

from __future__ import annotations

from typing import Any, cast

from lark import Token

from graphtide.lang.diagnostics import language_error
from graphtide.lang.gvdl import live_statements as live
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.build_groups import GroupBuilder
from graphtide.lang.gvdl.build_views import Option, collect_options
from graphtide.lang.gvdl.literals import read_string

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
