"""Programs that a live graph remembers: what is stored of one, and the program made of it again.

A program of the library is stored by its name. A vertex or walk program of a user's own is stored
as text, which means the same wherever it is read; so are rules of Datalog. A dataflow is a
function: only its module and its name are stored, and it must be found there again.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from graphtide import algorithms
from graphtide.lang import nga as nga_language
from graphtide.lang.datalog.graph_program import BoundRules, graph_rules
from graphtide.lang.datalog.program import read_datalog
from graphtide.lang.python import BoundDataflow, DataflowProgram, Program, unparse
from graphtide.lang.python.program_files import programs_of
from graphtide.model.errors import GraphtideError, InputError
from graphtide.plan.program_values import VERTEX_COUNT
from graphtide.plan.programs import VertexProgram
from graphtide.plan.walks import WalkProgram
from graphtide.run.live.programs import Bound

_IMPORTS = """from itertools import pairwise
from math import inf, nan

import graphtide as gt"""
"""The names that a program as text may use."""


def stored_program(bound: Bound) -> dict[str, Any]:
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


def made_program(stored: dict[str, Any]) -> Bound:
    """The program of what was stored; InputError if it cannot be found again."""
    program: Bound = _found(stored)(**stored["values"])
    return program


def told_program(stored: dict[str, Any]) -> str:
    """What a stored program is called."""
    return str(stored["name"])


def _stored_dataflow(program: DataflowProgram) -> dict[str, Any]:
    known = _library_name(lambda item: item is program)
    if known:
        return {"kind": "library", "name": known}
    home, name = program.build.__module__, program.build.__qualname__
    if "<locals>" in name:
        raise InputError(
            f"the dataflow {program.name} cannot be registered: it is defined within a function",
            hint="define it at the top of a module, where it is found again after a start",
        )
    return {"kind": "module", "name": program.name, "module": home, "within": name}


def _stored_plan(plan: VertexProgram | WalkProgram) -> dict[str, Any]:
    known = _library_name(lambda item: isinstance(item, Program) and item.plan == plan)
    if known:
        return {"kind": "library", "name": known}
    for kind, write, read in (
        ("nga", nga_language.unparse, lambda text: nga_language.nga(text)),
        ("python", unparse, _python_program),
    ):
        try:
            text = write(plan)
            if read(text).plan == plan:
                return {"kind": kind, "name": plan.name, "text": text}
        except GraphtideError:
            continue
    raise InputError(
        f"{plan.name} cannot be registered: it cannot be written as text",
        hint="maintain it instead: graph.maintain(...), after every start",
    )


def _library_name(is_it: Callable[[Any], bool]) -> str | None:
    return next((name for name in algorithms.__all__ if is_it(getattr(algorithms, name))), None)


def _found(stored: dict[str, Any]) -> Any:
    match stored["kind"]:
        case "library":
            return _named(algorithms, "graphtide.algorithms", stored["name"], stored["name"])
        case "nga":
            return nga_language.nga(stored["text"])
        case "python":
            return _python_program(stored["text"])
        case "datalog":
            found = read_datalog(stored["text"])
            return graph_rules(replace(found, name=stored["name"]))
    module, name = stored["module"], stored["name"]
    try:
        home = sys.modules.get(module) or import_module(module)
    except ImportError as error:
        raise InputError(
            f"the program {name} is not found again: {error}",
            hint=f"it was registered from the module '{module}': let Python find that, or "
            "register the program again",
        ) from None
    return _named(home, module, stored["within"], name)


def _named(home: Any, module: str, place: str, name: str) -> Any:
    item: Any = home
    for part in place.split("."):
        item = getattr(item, part, None)
    if not isinstance(item, Program | DataflowProgram):
        raise InputError(
            f"the program {name} is not found again: the module '{module}' has no '{place}'",
            hint="define it there before the live graph is opened, or register it again",
        )
    return item


def _python_program(text: str) -> Program:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_text(f"{_IMPORTS}\n\n\n{text}", encoding="utf-8")
        (program,) = programs_of(path).values()
    assert isinstance(program, Program)
    return program


def _plain(value: Any) -> Any:
    """A value of a parameter as JSON has it; moments are in ISO form."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, dt.date) else value
