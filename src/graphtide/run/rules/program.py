"""A program of rules that is kept current: its facts, its dataflow, and what it has derived so far.

The dataflow is built when something is first asked of it: the facts that are there by then tell how
large relations are, and so in which order to join them. Only what the text puts out, and what that
needs, is kept current.

A dataflow counts how often a record was inserted; a relation holds a fact or does not. So a fact
set remembers what is there, about a hundred bytes per fact, and feeds only what makes a difference.
What a failed advance was fed is forgotten again. Facts come from and go to files as Souffle has
them, a line per fact, and become tables of Arrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.engine.dataflow.columns import Texts
from graphtide.engine.dataflow.records import Int64, encode
from graphtide.lang.datalog.program import DatalogText
from graphtide.model.errors import InputError
from graphtide.model.schema import name_hint
from graphtide.model.text import counted
from graphtide.plan.dataflow_expressions import FLOAT, INT, ColumnType
from graphtide.plan.rule_demand import demanded
from graphtide.plan.rules import FileOf, Relation
from graphtide.run.dataflow.collection import Arrangement
from graphtide.run.dataflow.flow import Dataflow
from graphtide.run.dataflow.inputs import InputCollection
from graphtide.run.dataflow.outputs import Change, Output
from graphtide.run.rules.bodies import UNIT, flow_columns
from graphtide.run.rules.build import BuiltRules, RuleBuilder
from graphtide.run.rules.functions import plain_digits


class FactSet:
    """The facts of one relation, and the input of a dataflow that holds the same."""

    def __init__(self, relation: Relation, texts: Texts) -> None:
        self.relation = relation
        self._schema = relation.columns
        self._texts = texts
        self._there: set[bytes] = set()
        self._waiting: list[tuple[Int64, int, bool]] = []
        self._pending: list[tuple[list[bytes], int]] = []
        self._input: InputCollection | None = None

    def __len__(self) -> int:
        return len(self._there)

    @property
    def is_settled(self) -> bool:
        """Whether nothing has changed since the last advance."""
        return not self._pending

    def insert(self, rows: Any) -> int:
        """Facts that are there from now on; how many were not before."""
        return self._change(rows, 1)

    def insert_for_good(self, rows: Any) -> None:
        """Facts of the text, which no failed advance takes away; before there is an input."""
        self._change(rows, 1, lasting=True)

    def delete(self, rows: Any) -> int:
        """Facts that are not there any more; how many were before."""
        return self._change(rows, -1)

    def connect(self, source: InputCollection) -> None:
        """Feed an input with what there is and with all that comes."""
        self._input = source
        for words, diff, lasting in self._waiting:
            self._feed(words, diff, lasting)
        self._waiting.clear()

    def settle(self) -> None:
        """All that has changed has gone into the dataflow."""
        self._pending.clear()

    def undo(self) -> None:
        """Nothing that has changed since the last advance has."""
        for keys, diff in reversed(self._pending):
            if diff > 0:
                self._there.difference_update(keys)
            else:
                self._there.update(keys)
        self._pending.clear()

    def _change(self, rows: Any, diff: int, *, lasting: bool = False) -> int:
        words = encode(_checked(rows, self.relation), self._schema, self._texts)
        kept = self._effective(words, diff, lasting)
        chosen = words if len(kept) == len(words) else words[kept]
        if not len(chosen):
            return 0
        if self._input is None:
            self._waiting.append((chosen, diff, lasting))
        else:
            self._feed(chosen, diff, lasting)
        return len(chosen)

    def _effective(self, words: Int64, diff: int, lasting: bool) -> list[int]:
        """Which rows make a difference, each once."""
        width = len(self._schema)
        keys = np.ascontiguousarray(words[:, :width])
        listed = keys.view(f"V{8 * width}").ravel().tolist() if width else [b""] * len(words)
        there, kept = self._there, []
        for at, key in enumerate(listed):
            if (key in there) == (diff < 0):
                kept.append(at)
                if diff > 0:
                    there.add(key)
                else:
                    there.remove(key)
        if kept and not lasting:
            self._pending.append(([listed[at] for at in kept], diff))
        return kept

    def _feed(self, words: Int64, diff: int, lasting: bool) -> None:
        assert self._input is not None
        if not self._schema:
            words = np.zeros((len(words), 3), np.int64)
        version = self._input.flow.clock.open_word(None)
        self._input.put_words(words, diff, version, lasting=lasting)


def _checked(rows: Any, relation: Relation) -> Any:
    """Rows as they come; one bare value is a row where there is one column."""
    if len(relation.columns) != 1 or not isinstance(rows, list | tuple | set | range):
        return list(rows) if isinstance(rows, set) else rows
    return [row if isinstance(row, tuple | list) else (row,) for row in rows]


_ESCAPES = {"\\t": "\t", "\\n": "\n"}


def read_facts(folder: Path, file: FileOf, relation: Relation) -> list[tuple[Any, ...]]:
    """The facts of a relation in its file, `<relation>.facts` if the text names none."""
    settings = dict(file.settings)
    path = folder / settings.get("filename", f"{relation.name}.facts")
    delimiter = _delimiter(settings)
    try:
        lines = _lines(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(f"'{path}' is not text in UTF-8", hint="save it as UTF-8") from None
    except OSError as error:
        raise InputError(
            f"cannot read the facts of {relation.name}: {error.strerror or error}",
            where=str(path),
            hint="name the folder of the files with `facts=`, or -F on the command line",
        ) from None
    first = 1 if settings.get("headers") == "true" else 0
    return [
        _fact(line, delimiter, relation, f"{path}, line {number}")
        for number, line in enumerate(lines[first:], start=1 + first)
    ]


def _lines(text: str) -> list[str]:
    """The lines of a text. Only line feeds end one: symbols may hold all other separators."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _fact(line: str, delimiter: str, relation: Relation, where: str) -> tuple[Any, ...]:
    values = line.split(delimiter) if relation.columns else []
    if len(values) != len(relation.columns):
        raise InputError(
            f"{relation.name} has {len(relation.columns)} columns, and this line {len(values)}",
            where=where,
            hint=f"values are divided by {delimiter!r}; `.input` takes another as delimiter",
        )
    columns = zip(values, relation.columns, strict=True)
    return tuple(_value(text, name, kind, where) for text, (name, kind) in columns)


def _value(text: str, name: str, kind: ColumnType, where: str) -> Any:
    try:
        if kind is INT:
            return _number(text, name, where)
        return float(plain_digits(text)) if kind is FLOAT else text
    except ValueError:
        wanted = "number" if kind is INT else "float"
        raise InputError(
            f"{text!r} is no {wanted}, as '{name}' has it",
            where=where,
            hint="correct the line, or declare the column as a symbol",
        ) from None


def _number(text: str, name: str, where: str) -> int:
    number = int(text, 0) if text[:2] in ("0x", "0b") else int(plain_digits(text))
    if not -(1 << 63) <= number < 1 << 63:
        raise InputError(
            f"{text} is beyond the 64 bits of '{name}'",
            where=where,
            hint="declare the column as a float, or as a symbol",
        )
    return number


def write_facts(
    folder: Path, file: FileOf, relation: Relation, facts: Iterable[Sequence[Any]]
) -> Path:
    """Write the facts of a relation in order, to `<relation>.csv` if the text names no file."""
    settings = dict(file.settings)
    path = folder / settings.get("filename", f"{relation.name}.csv")
    lines = facts_as_text(settings, relation, facts)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(lines, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"cannot write the facts of {relation.name}: {error.strerror or error}",
            where=str(path),
            hint="name another folder with -D",
        ) from None
    return path


def facts_as_text(
    settings: dict[str, str], relation: Relation, facts: Iterable[Sequence[Any]]
) -> str:
    delimiter = _delimiter(settings)
    ordered = sorted(map(tuple, facts))
    for fact in ordered:
        _check_line(fact, delimiter, relation)
    lines = [delimiter.join(map(str, fact)) for fact in ordered]
    if settings.get("headers") == "true":
        lines.insert(0, delimiter.join(relation.names))
    return "".join(f"{line}\n" for line in lines)


def _check_line(fact: Sequence[Any], delimiter: str, relation: Relation) -> None:
    """Refuse a symbol that would be read back as several values, or as several facts."""
    for value in fact:
        if isinstance(value, str) and (delimiter in value or "\n" in value):
            raise InputError(
                f"a line cannot hold a fact of {relation.name}",
                where=repr(value),
                hint=f"values are divided by {delimiter!r}, and facts by line feeds: `.output` "
                "takes another delimiter; without -D facts are printed",
            )


def _delimiter(settings: dict[str, str]) -> str:
    delimiter = settings.get("delimiter", "\t")
    if not delimiter:
        raise InputError("a delimiter has a character at least", hint='the usual one is "\\t"')
    return _ESCAPES.get(delimiter, delimiter)


class StandingRules:
    """One program with its facts; see `api.datalog.Datalog` for what users do with it."""

    def __init__(
        self, program: DatalogText, settings: Mapping[str, Any], *, magic: bool = True
    ) -> None:
        self._magic = magic
        self.program = program
        self.plan = program.plan
        self.flow = Dataflow(program.name, **settings)
        heads = set(self.plan.derived)
        given = {item.relation for item in self.plan.inputs} | dict(self.plan.facts).keys()
        self.facts = {
            item.name: FactSet(item, self.flow.host.texts)
            for item in self.plan.relations
            if item.name not in heads or item.name in given
        }
        for name, facts in self.plan.facts:
            self.facts[name].insert_for_good(list(facts))
        self._built: BuiltRules | None = None
        self.outputs: dict[str, Output] = {}
        self.bases: dict[str, Arrangement] = {}

    def read_files(self, folder: Path) -> None:
        """Insert what the files of `.input` hold."""
        for file in self.plan.inputs:
            self.fact_set(file.relation).insert(
                read_facts(folder, file, self.relation(file.relation))
            )

    def relation(self, name: str) -> Relation:
        """A relation by its name; InputError where there is none."""
        for item in self.plan.relations:
            if item.name == name:
                return item
        known = [item.name for item in self.plan.relations]
        raise InputError(
            f"There is no relation '{name}'",
            hint=name_hint(name, known, f"there is: {', '.join(known)}", "'"),
        )

    def fact_set(self, name: str) -> FactSet:
        """The facts of a relation that users may change."""
        self.relation(name)
        if name not in self.facts:
            raise InputError(
                f"{name} is what rules derive, and cannot be changed",
                hint=f"change what it is derived from, or say `.input {name}` in the text",
            )
        return self.facts[name]

    def built(self) -> BuiltRules:
        """The program as operators, built at the first call."""
        if self._built is None:
            self._built = self._build()
        return self._built

    def _build(self) -> BuiltRules:
        flow = self.flow
        inputs = {
            name: flow.input(name, **flow_columns(item.relation))
            for name, item in self.facts.items()
        }
        unit = flow.input("unit", **{UNIT: int})
        sizes = {name: len(item) for name, item in self.facts.items()}
        plan = self.plan
        if self._magic:
            plan = demanded(plan, plan.wanted, (), asked=False)
        builder = RuleBuilder(flow, plan, inputs, unit, sizes)
        built = builder.build(self.plan.wanted)
        for name in self.plan.wanted:
            self.outputs[name] = built.collection(name).output(name)
        for name, source in inputs.items():
            # By their first column, unless a rule has arranged them already: for queries to import.
            known = [by for number, by, _ in flow.arranged if number == source.number]
            self.bases[name] = source.arrange(known[0] if known else source.names[:1])
        unit.insert_for_good([(0,)])
        for name, item in self.facts.items():
            item.connect(inputs[name])
        return built

    def advance(self) -> None:
        """Derive what follows from all that has changed; where that fails, nothing has."""
        self.built()
        try:
            self.flow.advance()
        except BaseException:
            for item in self.facts.values():
                item.undo()
            raise
        for item in self.facts.values():
            item.settle()

    def output(self, name: str) -> Output:
        """What a relation holds, brought up to date."""
        self.relation(name)
        if name not in self.plan.wanted:
            wanted = ", ".join(self.plan.wanted) or "nothing"
            raise InputError(
                f"{name} is not put out",
                where=f"the text puts out {wanted}",
                hint=f"write `.output {name}`, or ask for it: query('{name}(...)')",
            )
        self.bring_up()
        return self.outputs[name]

    def bring_up(self) -> None:
        """Close a first version, where none has been, so that there is something to read."""
        self.built()
        if self.flow.version == 0:
            self.advance()

    def settle(self) -> None:
        """Close the open version where facts have changed, or none has been closed."""
        if self.flow.version == 0 or not all(item.is_settled for item in self.facts.values()):
            self.advance()

    def changes(self, name: str) -> list[Change]:
        """What has come and gone since the last call."""
        return [
            (self._seen(name, fact), version, diff)
            for fact, version, diff in self.output(name).changes()
        ]

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        """The facts of a relation that is put out, in order."""
        return sorted(self._seen(name, fact) for fact in self.output(name).records())

    def _seen(self, name: str, fact: tuple[Any, ...]) -> tuple[Any, ...]:
        return fact if self.relation(name).columns else ()

    def told(self, name: str) -> str | None:
        """How many facts of a relation users gave; None where they give none."""
        return f"{counted(len(self.facts[name]), 'fact')} given" if name in self.facts else None

    def close(self) -> None:
        """Give all memory back to the system."""
        self.flow.host.end()
        self.flow.clock.flows.clear()


_TYPES = {"int": pa.int64(), "float": pa.float64(), "str": pa.string(), "bool": pa.bool_()}


def facts_table(relation: Relation, facts: Sequence[tuple[Any, ...]]) -> pa.Table:
    """One row a fact, with the columns of the relation."""
    try:
        columns = {
            name: pa.array([fact[at] for fact in facts], _TYPES[kind.value])
            for at, (name, kind) in enumerate(relation.columns)
        }
    except UnicodeEncodeError as error:
        raise InputError(
            f"{relation.name} holds half of a character, which no table can",
            where=repr(error.object),
            hint="read what the facts come from as UTF-8; facts() gives them as they are",
        ) from None
    if not columns:  # A table that is made of columns alone has no rows without any.
        return pa.Table.from_struct_array(pa.array([{}] * len(facts), pa.struct([])))
    return pa.table(columns)
