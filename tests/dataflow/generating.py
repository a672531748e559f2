"""Random dataflows of all that the language has.

A dataflow is grown node by node. Loops are opened in each other or side by side; anything from
around a loop may enter it anywhere; a loop is closed by defining its variables, and then some of
what it holds leaves it. At last the nodes are put into a random order in which sources still come
first, since nothing may depend on the order of declaration. Whether loops come to rest is not
looked at here: whoever runs a description asks the oracle first.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from tests.dataflow.expressions import Expressions
from tests.oracle.flows import Description, Node, Schema

SHAPES: tuple[Schema, ...] = (
    (("a", "int"),),
    (("a", "int"), ("b", "int")),
    (("a", "int"), ("f", "float")),
    (("s", "str"), ("a", "int")),
    (("a", "int"), ("b", "int"), ("t", "bool")),
    (("a", "int"), ("n", "int | None")),
    (("u", "str | None"), ("a", "int")),
    (("d", "datetime.date"), ("p", "decimal(2)"), ("s", "str")),
)


class Generator:
    """One dataflow on its way."""

    def __init__(self, random: Random, imports: dict[int, Node] | None = None) -> None:
        self.random = random
        self.made = Description()
        self.shapes = random.sample(SHAPES, random.choice((1, 2, 2, 3)))
        self.strange = random.random() < 0.15
        self.expressions = Expressions(random, self.strange)
        self.open: list[int] = [0]
        self.imports = imports or {}

    def generate(self, size: int) -> Description:
        """A dataflow of about so many nodes."""
        self._inputs()
        if self._often(0.7):
            self._open_loop()
        while len(self.made.nodes) < size:
            self._grow()
        while len(self.open) > 1:
            self._close_loop()
        self._outputs()
        return shuffled(self.made, self.random)

    def _inputs(self) -> None:
        for number, node in self.imports.items():
            given = (number, self.random.random() < 0.3)
            self._add("import_arrangement", (), node.schema, 0, *given)
        for _ in range(self.random.choice((1, 2, 2, 3))):
            self._add("input", (), self.random.choice(self.shapes), 0)

    def _grow(self) -> None:
        chance = self.random.random()
        if chance < 0.12 and len(self.open) < 4:
            self._open_loop()
        elif chance < 0.2 and len(self.open) > 1:
            self._close_loop()
        elif chance < 0.22:
            self._add("input", (), self.random.choice(self.shapes), 0)
        elif chance < 0.32 and len(self.open) > 1:
            self._variable()
        elif chance < 0.37 and len(self.open) > 1:
            self._enter()
        else:
            self._operator()

    # Loops

    def _open_loop(self) -> None:
        self.made.loops.append(self.open[-1])
        self.open.append(len(self.made.loops) - 1)
        self._variable()

    def _variable(self) -> None:
        loop = self.open[-1]
        if self.random.random() < 0.75:
            source = self._source()
            self._add("variable", (source,), self._schema(source), loop)
        else:
            self._add("variable", (), self.random.choice(self.shapes), loop)

    def _enter(self) -> None:
        """From around the innermost loop, at once or each record in a round of its own."""
        loop = self.open[-1]
        sources = [n for n in self._usable() if self.made.nodes[n].scope != loop]
        if not sources:
            return
        source = self.random.choice(sources)
        ints = [name for name, kind in self._schema(source) if kind == "int"]
        given = (f"col.{self.random.choice(ints)} % 4",) if ints and self._often(0.6) else ()
        self._add("enter", (source,), self._schema(source), loop, *given)

    def _close_loop(self) -> None:
        loop = self.open[-1]
        for variable in [n for n, node in enumerate(self.made.nodes) if node.scope == loop]:
            if self.made.nodes[variable].operator == "variable":
                rounds = self.random.choice((None, None, None, 0, 1, 2, 5))
                self.made.definitions[variable] = (self._definition(variable, loop), rounds)
        inside = [n for n, node in enumerate(self.made.nodes) if node.scope == loop]
        self.open.pop()
        for number in self.random.sample(inside, min(len(inside), self.random.choice((1, 1, 2)))):
            self._add("leave", (number,), self._schema(number), self.made.loops[loop])

    def _definition(self, variable: int, loop: int) -> int:
        """Something of the loop that has, or is made to have, the columns of a variable.

        A step on the variable, or anything else there is, then more that comes in from anywhere,
        and in the end as it is or each record once.
        """
        schema = self._schema(variable)
        others = [n for n in self._usable() if n != variable]
        inside = [n for n in others if self.made.nodes[n].scope == loop] or [variable]
        if self._often(0.6):
            parts = [self._step(variable, others)]
        else:
            parts = [self._as(self.random.choice(inside[-4:]), schema)]
        while self._often(0.5):
            parts.append(self._as(self.random.choice([variable, *others]), schema))
        found = parts[0]
        if len(parts) > 1:
            found = self._together("concat", tuple(self.random.sample(parts, len(parts))), schema)
        if self._often(0.5):
            scope = self.made.nodes[found].scope
            found = self._add("threshold", (found,), self._schema(found), scope, 1)
        return found

    def _step(self, variable: int, others: list[int]) -> int:
        """What becomes of a variable in a round: smaller numbers, or what a join makes of it."""
        schema = self._schema(variable)
        ints = [name for name, kind in schema if kind == "int"]
        if self._often(0.4) and others:
            other = self.random.choice(others)
            on = self._on(variable, other)
            if on is not None:
                return self._as(self._joined(variable, other, on), schema, always=True)
        if not ints:
            return self._as(variable, schema, always=True)
        chosen = self.random.choice(ints)
        smaller = self._unary("filter", variable, f"col.{chosen} > {self.random.choice('012')}")
        kept = {name: f"col.{name}" for name, _ in schema}
        kept[chosen] = self.random.choice((f"col.{chosen} // 2", f"col.{chosen} - 1"))
        return self._unary("map", smaller, tuple(kept.items()))

    # Operators

    def _operator(self) -> None:
        source = self._source()
        choices = (
            self._map,
            self._map,
            self._filter,
            self._function,
            self._plain,
            self._concat,
            self._concat,
            self._join,
            self._join,
            self._some_join,
            self._ends,
            self._ends,
            self._aggregate,
            self._threshold,
            self._reduce,
            self._arrange,
        )
        self.random.choice(choices)(source)

    def _map(self, source: int) -> None:
        self._as(source, self.random.choice(self.shapes), always=True)

    def _filter(self, source: int) -> None:
        self._unary("filter", source, self.expressions.condition(self._schema(source)))

    def _plain(self, source: int) -> None:
        self._unary(self.random.choice(("negate", "consolidate", "inspect")), source)

    def _function(self, source: int) -> None:
        """Functions of Python; those of columns work on numbers and on arrays of them."""
        schema = self._schema(source)
        names = ", ".join(name for name, _ in schema)
        ints = [name for name, kind in schema if kind == "int"]
        if not ints or self.strange:
            return
        one, other = self.random.choice(ints), self.random.choice(ints)
        kind = self.random.choice(("filter", "flat_map", "map", "columns"))
        made = {
            "filter": f"lambda {names}: {one} >= {other} % 3",
            "flat_map": f"lambda {names}: [(x,) for x in range({one} % 3)]",
            "map": f"lambda {names}: ({one} % 4, {other} // 2)",
            "columns": f"lambda {names}: ({one} // 2, {one} - {other})",
        }[kind]
        shape = {"filter": schema, "flat_map": SHAPES[0]}.get(kind, SHAPES[1])
        self._add("function", (source,), shape, self.made.nodes[source].scope, made, kind)

    def _concat(self, source: int) -> None:
        schema = self._schema(source)
        others = [self._as(self._source(), schema) for _ in range(self.random.choice((1, 1, 2, 3)))]
        if self._often(0.3):
            self._together("minus", (source, others[0]), schema)
        else:
            self._together("concat", (source, *others), schema)

    def _join(self, source: int) -> None:
        other = self._source()
        on = self._on(source, other)
        if on is None or len(self._schema(source)) + len(self._schema(other)) > 7:
            return
        made = self._joined(source, other, on)
        if self._often(0.8):
            self._as(made, self.random.choice(self.shapes), always=True)

    def _joined(self, source: int, other: int, on: dict[str, str], kind: str = "join") -> int:
        kinds = dict(self._schema(source))
        outer = kind == "left_join"
        found = [(name, kinds[name] if outer else _plain(kinds[name])) for name in on]
        found += [item for item in self._schema(source) if item[0] not in on]
        for name, given in self._schema(other):
            if name not in on.values():
                while name in dict(found):
                    name += "_right"
                found.append((name, _or_null(given) if outer else given))
        return self._together(kind, (source, other), tuple(found), on)

    def _some_join(self, source: int) -> None:
        other = self._source()
        on = self._on(source, other)
        if on is not None:
            kind = self.random.choice(("semijoin", "antijoin", "left_join"))
            if kind == "left_join":
                self._joined(source, other, on, kind)
                return
            self._together(kind, (source, other), self._schema(source), on)

    def _on(self, source: int, other: int) -> dict[str, str] | None:
        pairs = [
            (one, two)
            for one, kind in self._schema(source)
            for two, same in self._schema(other)
            if kind == same
        ]
        if not pairs:
            return None
        chosen = self.random.sample(pairs, min(len(pairs), self.random.choice((1, 1, 2))))
        on = dict(chosen)
        return on if len(set(on.values())) == len(on) else dict(chosen[:1])

    def _ends(self, source: int) -> None:
        by, rest = self._split(source)
        if not rest:
            return
        of = self.random.sample(rest, self.random.randint(1, len(rest)))
        kind = self.random.choice(("min", "max", "first", "top"))
        count = self.random.choice((1, 2, 3)) if kind in ("first", "top") else 1
        self._reduced("ends", source, by, of, kind, count, by, of)

    def _aggregate(self, source: int) -> None:
        by, rest = self._split(source)
        kinds = dict(self._schema(source))
        parts: list[tuple[str, str, str | None]] = []
        made: list[tuple[str, str]] = []
        for number in range(self.random.choice((1, 1, 2, 3))):
            name = _free(f"n{number}", [*by, *rest])
            column = self.random.choice([None, *rest])
            kind, type_ = self._part(kinds.get(column or "", ""))
            parts.append((name, kind, column))
            made.append((name, type_))
        schema = tuple((name, kinds[name]) for name in by) + tuple(made)
        scope = self.made.nodes[source].scope
        found = self._add("aggregate", (source,), schema, scope, by, tuple(parts))
        if self._often(0.5):
            self._as(found, self.random.choice(self.shapes), always=True)

    def _part(self, given: str) -> tuple[str, str]:
        """An aggregate of a column of a type, or of no column, and the type that it has."""
        if not given:
            return "count", "int"
        choices = [("count", "int"), ("minimum", given), ("maximum", given)]
        choices.append(("count_distinct", "int"))
        if _plain(given) in ("int", "float", "decimal(2)"):
            mean = "float | None" if given != _plain(given) else "float"
            choices += [("total", given), ("total", given), ("mean", mean)]
        return self.random.choice(choices)

    def _threshold(self, source: int) -> None:
        self._unary("threshold", source, self.random.choice((1, 1, 1, 2, 3)))

    def _reduce(self, source: int) -> None:
        by, _ = self._split(source)
        text = self.random.choice(
            (
                "lambda key, rows: [(sum(times for _, times in rows),)]",
                "lambda key, rows: [(len(rows),), (3,)] if len(rows) % 2 else []",
                "lambda key, rows: [(at * times % 3,) for at, (_, times) in enumerate(rows)]",
            )
        )
        kinds = dict(self._schema(source))
        schema = (*((name, kinds[name]) for name in by), (_free("made", by), "int"))
        made = self._add("reduce", (source,), schema, self.made.nodes[source].scope, by, text)
        self._as(made, self.random.choice(self.shapes), always=True)

    def _arrange(self, source: int) -> None:
        by, rest = self._split(source)
        kinds = dict(self._schema(source))
        schema = tuple((name, kinds[name]) for name in [*by, *rest])
        how = self.random.choice(("value", "value", "time"))
        self._add("arrange", (source,), schema, self.made.nodes[source].scope, by, how)

    def _outputs(self) -> None:
        """All that nobody reads, and some that others read too."""
        outside = [n for n, node in enumerate(self.made.nodes) if node.scope == 0]
        read = {source for node in self.made.nodes for source in node.sources}
        ends = [n for n in outside if n not in read or self._often(0.1)]
        self.made.outputs = ends or outside[-1:]

    # What operators are made of

    def _add(
        self, operator: str, sources: tuple[int, ...], schema: Schema, scope: int, *given: Any
    ) -> int:
        self.made.nodes.append(Node(operator, sources, schema, scope, given))
        return len(self.made.nodes) - 1

    def _unary(self, operator: str, source: int, *given: Any) -> int:
        node = self.made.nodes[source]
        return self._add(operator, (source,), node.schema, node.scope, *given)

    def _together(
        self, operator: str, sources: tuple[int, ...], schema: Schema, *given: Any
    ) -> int:
        """An operator on several: it belongs to the innermost of their loops."""
        scopes = [self.made.nodes[source].scope for source in sources]
        scope = max(scopes, key=lambda loop: len(self.made.around(loop)))
        schema = self._schema(sources[0]) if operator in ("concat", "minus") else schema
        return self._add(operator, sources, schema, scope, *given)

    def _reduced(self, operator: str, source: int, by: Any, rest: Any, *given: Any) -> None:
        kinds = dict(self._schema(source))
        schema = tuple((name, kinds[name]) for name in [*by, *rest])
        scope = self.made.nodes[source].scope
        made = self._add(operator, (source,), schema, scope, *given)
        if self._often(0.5):
            self._as(made, self.random.choice(self.shapes), always=True)

    def _split(self, source: int) -> tuple[list[str], list[str]]:
        names = [name for name, _ in self._schema(source)]
        by = self.random.sample(names, self.random.randint(0, min(2, len(names))))
        return by, [name for name in names if name not in by]

    def _schema(self, number: int) -> Schema:
        return self.made.nodes[number].schema

    def _often(self, part: float) -> bool:
        return self.random.random() < part

    def _usable(self) -> list[int]:
        """The nodes of the loops that are open."""
        return [n for n, node in enumerate(self.made.nodes) if node.scope in self.open]

    def _source(self) -> int:
        """A node, more often one of the innermost loop and of the last ones."""
        usable = self._usable()
        inside = [n for n in usable if self.made.nodes[n].scope == self.open[-1]]
        if inside and self._often(0.6):
            usable = inside
        return self.random.choice(usable[-5:] if self._often(0.6) else usable)

    def _as(self, source: int, schema: Schema, *, always: bool = False) -> int:
        """A node as it is where it has these columns, mapped where it has not, or always."""
        if not always and dict(self._schema(source)) == dict(schema):
            return source
        given = self._schema(source)
        columns = tuple((name, self.expressions.expression(kind, given)) for name, kind in schema)
        return self._add("map", (source,), schema, self.made.nodes[source].scope, columns)


def _plain(kind: str) -> str:
    return kind.removesuffix(" | None")


def _or_null(kind: str) -> str:
    return f"{_plain(kind)} | None"


def _free(name: str, taken: list[str]) -> str:
    return _free(name + "_", taken) if name in taken else name


def shuffled(made: Description, random: Random) -> Description:
    """The same dataflow declared in another order: what is needed is still there before."""
    waiting = list(range(len(made.nodes)))
    order: list[int] = []
    while waiting:
        ready = [n for n in waiting if all(source in order for source in made.nodes[n].sources)]
        chosen = random.choice(ready)
        waiting.remove(chosen)
        order.append(chosen)
    return renumbered(made, order)


def renumbered(made: Description, order: list[int]) -> Description:
    """The nodes of a description in an order; those that are not in it are left out."""
    new = {old: place for place, old in enumerate(order)}
    nodes = [
        replace(made.nodes[old], sources=tuple(new[source] for source in made.nodes[old].sources))
        for old in order
    ]
    definitions = {
        new[variable]: (new[found], rounds)
        for variable, (found, rounds) in made.definitions.items()
        if variable in new
    }
    outputs = [new[number] for number in made.outputs if number in new]
    return Description(nodes, list(made.loops), definitions, outputs)
