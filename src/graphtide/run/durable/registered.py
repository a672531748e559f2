"""Programs that a live graph remembers: what is stored of one, and the program made of it again.

A live graph may have been made by somebody else, so nothing that it stores is ever carried out. A
program of the library is stored by its name. A vertex or walk program of a user's own is stored as
text in our own languages, which is parsed by us and goes through every check that a program goes
through; so are rules of Datalog. A dataflow is a function, which no text of ours can say: only its
module and its name are stored. It is found again where the caller hands the function over, or says
that the module is trusted: then, and only then, that module is imported.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias

from graphtide import algorithms
from graphtide.lang import nga as nga_language
from graphtide.lang.datalog.graph_program import BoundRules, graph_rules
from graphtide.lang.datalog.program import read_datalog
from graphtide.lang.python import BoundDataflow, DataflowProgram, Program, unparse
from graphtide.lang.python.program_files import programs_of
from graphtide.lang.python.written import written_program
from graphtide.model.errors import GraphtideError, InputError
from graphtide.plan.program_values import VERTEX_COUNT
from graphtide.plan.programs import VertexProgram
from graphtide.plan.walks import WalkProgram
from graphtide.run.live.programs import Bound
from graphtide.store.seal import well_formed

Stored = dict[str, Any]


@dataclass(frozen=True)
class Trust:
    """What a live graph may make of the names that it stores: dataflows, and modules to import."""

    dataflows: tuple[DataflowProgram, ...] = ()
    modules: frozenset[str] = frozenset()

    def dataflow(self, stored: Stored) -> DataflowProgram:
        """The dataflow that is stored by its name."""
        name, module, within = (_text(stored, key) for key in ("name", "module", "within"))
        same = [item for item in self.dataflows if _home(item) == (module, within)]
        same += [item for item in self.dataflows if item.name == name]
        if same:
            return same[0]
        if module not in self.modules:
            raise InputError(
                f"the dataflow {name} is a function of the module {module!r}, which is not trusted",
                hint=f"if you trust it, open the graph with trust=[{module!r}], or hand the "
                f"function over: trust=[{within}]; with trust=False it opens without it",
            )
        try:
            item: Any = import_module(module)
        except (ImportError, ValueError) as error:
            raise InputError(
                f"the program {name} is not found again: {error}",
                hint=f"it was registered from the module '{module}': let Python find that, or "
                f"hand the function over: trust=[{within}]",
            ) from None
        for part in within.split("."):
            item = vars(item).get(part) if hasattr(item, "__dict__") else None
        if isinstance(item, DataflowProgram):
            return item
        raise InputError(
            f"the program {name} is not found again: the module '{module}' has no '{within}'",
            hint="define it there before the live graph is opened, or hand it over: "
            f"trust=[{within}]",
        )

    def also(self, program: Bound) -> Trust:
        """The same, and the dataflow that a program is made of, if it is made of one."""
        if not isinstance(program, BoundDataflow):
            return self
        return replace(self, dataflows=(program.program, *self.dataflows))


TrustedBy: TypeAlias = Iterable[str | DataflowProgram] | str | DataflowProgram | Literal[False]
"""What callers say that they trust; False: nothing, and what needs more is to be left out."""


def trusted(given: TrustedBy) -> Trust:
    """What a caller trusts: dataflows, names of modules, and files of Python that define some."""
    dataflows: list[DataflowProgram] = []
    modules: set[str] = set()
    for item in (given,) if isinstance(given, str | DataflowProgram) else given or ():
        if isinstance(item, DataflowProgram):
            dataflows.append(item)
        elif isinstance(item, str) and item.endswith(".py"):
            found = programs_of(Path(item)).values()
            dataflows += [one for one in found if isinstance(one, DataflowProgram)]
        elif isinstance(item, str) and all(map(str.isidentifier, item.split("."))):
            modules.add(item)
        else:
            raise InputError(
                f"{item!r} is nothing that can be trusted",
                hint="give dataflows, names of modules such as 'my_jobs.flows', and files of "
                "Python such as 'flows.py'",
            )
    return Trust(tuple(dataflows), frozenset(modules))


def stored_program(bound: Bound) -> Stored:
    """What is stored of a program and its parameters; InputError if it could not be made again."""
    if isinstance(bound, BoundRules):
        program = bound.program
        source = {"kind": "datalog", "name": program.name, "text": program.text}
    elif isinstance(bound, BoundDataflow):
        source = _stored_dataflow(bound.program)
    else:
        source = _stored_plan(bound.program)
    given = {name: value for name, value in bound.values if value is not VERTEX_COUNT}
    return {**source, "values": {name: _plain(value) for name, value in given.items()}}


def made_program(stored: Stored, trust: Trust) -> Bound:
    """The program of what was stored; InputError if it is none, or cannot be found again."""
    with well_formed(f"the program {told_program(stored)}"):
        program: Bound = _found(stored, trust)(**stored["values"])
    return program


def told_program(stored: Stored) -> str:
    """What a stored program is called."""
    return str(stored.get("name"))[:100]


def _stored_dataflow(program: DataflowProgram) -> Stored:
    known = _library_name(lambda item: item is program)
    if known:
        return {"kind": "library", "name": known}
    module, within = _home(program)
    if "<locals>" in within:
        raise InputError(
            f"the dataflow {program.name} cannot be registered: it is defined within a function",
            hint="define it at the top of a module, where it is found again after a start",
        )
    return {"kind": "module", "name": program.name, "module": module, "within": within}


def _home(program: DataflowProgram) -> tuple[str, str]:
    return program.build.__module__, program.build.__qualname__


def _stored_plan(plan: VertexProgram | WalkProgram) -> Stored:
    known = _library_name(lambda item: isinstance(item, Program) and item.plan == plan)
    if known:
        return {"kind": "library", "name": known}
    for kind, write in (("nga", nga_language.unparse), ("python", unparse)):
        try:
            text = write(plan)
            if _READERS[kind](text).plan == plan:
                return {"kind": kind, "name": plan.name, "text": text}
        except GraphtideError:
            continue
    raise InputError(
        f"{plan.name} cannot be registered: it cannot be written as text",
        hint="maintain it instead: graph.maintain(...), after every start",
    )


def _library_name(is_it: Callable[[Any], bool]) -> str | None:
    return next((name for name in algorithms.__all__ if is_it(getattr(algorithms, name))), None)


def _found(stored: Stored, trust: Trust) -> Any:
    name = _text(stored, "name")
    match stored.get("kind"):
        case "library" if name in algorithms.__all__:
            return getattr(algorithms, name)
        case "library":
            raise InputError(
                f"the program {name} is not found again: the library has none of that name",
                hint="it was registered with another version of graphtide: use that, or register "
                "another program",
            )
        case "nga" | "python" as kind:
            return _READERS[kind](_text(stored, "text"))
        case "datalog":
            found = read_datalog(_whole_text(_text(stored, "text")))
            return graph_rules(replace(found, name=name))
        case "module":
            return trust.dataflow(stored)
    raise ValueError("of no kind that there is")


_READERS: dict[str, Callable[[str], Program]] = {
    "nga": lambda text: nga_language.nga(_whole_text(text)),
    "python": written_program,
}


def _whole_text(text: str) -> str:
    """A text that is read as a program and not as the name of a file: those have one line."""
    return f"{text}\n"


def _text(stored: Stored, key: str) -> str:
    value = stored[key]
    if isinstance(value, str):
        return value
    raise TypeError(f"'{key}' is no text")


def _plain(value: Any) -> Any:
    """A value of a parameter as JSON has it; moments are in ISO form."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, dt.date) else value
