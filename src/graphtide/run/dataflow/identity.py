"""What a dataflow program is, as text: equal for equal programs, in this process and the next.

Functions of Python that operators call are told by their source, or by their code where there is
no source to read; a change in what those call goes unnoticed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any

from graphtide.lang.python.dataflow_program import BoundDataflow
from graphtide.plan.programs import ParameterKind
from graphtide.run.dataflow.running import BuiltDataflow

_SMALL = 1 << 20
_STAND_INS: dict[ParameterKind, Any] = {ParameterKind.VERTEX: 0, ParameterKind.VERTICES: (0,)}


def dataflow_identity(bound: BoundDataflow) -> str:
    """The program, its parameters, and the plan of its dataflow for vertices of no matter."""
    kinds = [item.kind for item in bound.program.parameters]
    values = [
        _STAND_INS.get(kind, value) for kind, (_, value) in zip(kinds, bound.values, strict=True)
    ]
    built = BuiltDataflow(bound, values, memory=_SMALL)
    functions = "|".join(map(_source, built.flow.functions))
    program = bound.program
    facts = (program.name, program.result, bound.read, bound.values)
    text = f"{facts!r}|{built.flow.plan!r}|{functions}"
    built.close()
    return text


def _source(function: Callable[..., Any]) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        return repr(function) if code is None else _code(code)


def _code(code: CodeType) -> str:
    """Instructions, names and constants, those of functions within included."""
    constants = [_code(item) if isinstance(item, CodeType) else item for item in code.co_consts]
    return f"{code.co_code.hex()}|{code.co_names}|{constants}"
