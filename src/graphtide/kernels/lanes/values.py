"""Eight numbers side by side, which the processor adds in one instruction or two.

A lane is one of several versions of a graph on which a program is run at the same time. What a
vertex has in all of them is one value here: floats, ints or truth values, `LANES` of each. A loop
over eight places is unrolled by LLVM before it could be made one of vectors, which was four times
slower; so the vectors are written out.

Arithmetic, comparisons and choices take numbers alone as well (`single_values`). Nothing traps:
both sides of a choice are computed and one is taken. Every lane has the very bits that the same
operation gives on plain numbers, NaN included. Memory is read and written at any multiple of eight
bytes; rows that begin at a multiple of 64 are one line of the cache. Where kernels are interpreted,
lanes are small arrays of NumPy.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import llvmlite.ir as ir  # type: ignore[import-untyped]
import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model

from graphtide.kernels.jit import joined_kernel, quietly

LANES = 8
EVERY_LANE = (1 << LANES) - 1
"""A set of lanes is a number with a bit for each."""

_BIT, _BYTE, _WORD, _REAL = ir.IntType(1), ir.IntType(8), ir.IntType(64), ir.DoubleType()
_ALIGNMENT = 8
Emit = Callable[[Any, Any, tuple[Any, ...]], Any]
"""Writes instructions: (context, builder, operands) to the result."""


class LanesType(types.Type):
    """The type of one value in every lane."""

    def __init__(self, name: str, element: Any) -> None:
        super().__init__(name=f"lanes of {name}")
        self.vector = ir.VectorType(element, LANES)


FLOATS, INTS, TRUTHS = (
    LanesType("floats", _REAL),
    LanesType("ints", _WORD),
    LanesType("truths", _BIT),
)


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: LanesType) -> None:
        super().__init__(manager, kind, kind.vector)  # type: ignore[no-untyped-call]


_interpreted = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def operation(signature: Callable[..., Any], emit: Emit, twin: Callable[..., Any]) -> Any:
    """A function of kernels; `signature` takes the types of operands, `twin` is for interpreting.

    The number of operands is that of the twin.
    """
    if _interpreted:
        return quietly(twin)

    def write(context: Any, builder: Any, signature: Any, operands: tuple[Any, ...]) -> Any:
        return emit((context, signature), builder, operands)

    makers: dict[int, Callable[..., Any]] = {
        1: lambda typing, one: (signature(one), write),
        2: lambda typing, one, two: (signature(one, two), write),
        3: lambda typing, one, two, three: (signature(one, two, three), write),
    }
    return intrinsic(makers[twin.__code__.co_argcount])


def _same(kind: Any, *others: Any) -> Any:
    return kind(kind, *(kind for _ in others))


def _truth_of(kind: Any, *others: Any) -> Any:
    truth = TRUTHS if isinstance(kind, LanesType) else types.boolean
    return truth(kind, *(kind for _ in others))


def _is_real(operand: Any) -> bool:
    return bool(getattr(operand.type, "element", operand.type) == _REAL)


def _arithmetic(of_floats: str, of_ints: str, twin: Callable[..., Any]) -> Any:
    def emit(_: Any, builder: Any, operands: tuple[Any, ...]) -> Any:
        name = of_floats if _is_real(operands[0]) else of_ints
        return getattr(builder, name)(*operands)

    return operation(_same, emit, twin)


def _compare(builder: Any, sign: str, one: Any, other: Any) -> Any:
    if not _is_real(one):
        return builder.icmp_signed(sign, one, other)
    method = builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered
    return method(sign, one, other)


def _comparison(sign: str, twin: Callable[..., Any]) -> Any:
    def emit(_: Any, builder: Any, operands: tuple[Any, ...]) -> Any:
        return _compare(builder, sign, *operands)

    return operation(_truth_of, emit, twin)


def _better(sign: str, twin: Callable[..., Any]) -> Any:
    def emit(_: Any, builder: Any, operands: tuple[Any, ...]) -> Any:
        one, other = operands
        return builder.select(_compare(builder, sign, other, one), other, one)

    return operation(_same, emit, twin)


def _by_llvm(name: str, twin: Callable[..., Any]) -> Any:
    """What LLVM does to floats lane by lane, exactly rounded."""

    def emit(_: Any, builder: Any, operands: tuple[Any, ...]) -> Any:
        kind = operands[0].type
        suffix = f"v{LANES}f64" if kind == FLOATS.vector else "f64"
        shape = ir.FunctionType(kind, [kind])
        insert: Any = cgutils.get_or_insert_function
        return builder.call(insert(builder.module, shape, f"{name}.{suffix}"), operands)

    return operation(_same, emit, twin)


def _converted(kinds: tuple[LanesType, Any], method: str, twin: Callable[..., Any]) -> Any:
    """Lanes, or a number alone, as those of another type."""
    lanes, alone = kinds

    def signature(one: Any) -> Any:
        return lanes(one) if isinstance(one, LanesType) else alone(one)

    def emit(given: Any, builder: Any, operands: tuple[Any, ...]) -> Any:
        context, signature = given
        return getattr(builder, method)(operands[0], context.get_value_type(signature.return_type))

    return operation(signature, emit, twin)


def _address(given: Any, builder: Any, operands: tuple[Any, ...]) -> Any:
    context, signature = given
    kind = signature.args[0]
    made = context.make_array(kind)(context, builder, operands[0])
    place = builder.gep(made.data, [operands[1]])
    return builder.bitcast(place, _kind_in(kind).vector.as_pointer())


def _kind_in(array: Any) -> LanesType:
    return FLOATS if array.dtype == types.float64 else INTS


def _load(given: Any, builder: Any, operands: tuple[Any, ...]) -> Any:
    return builder.load(_address(given, builder, operands), align=_ALIGNMENT)


def _store(given: Any, builder: Any, operands: tuple[Any, ...]) -> Any:
    builder.store(operands[2], _address(given, builder, operands), align=_ALIGNMENT)
    return given[0].get_dummy_value()


def _store_twin(array: Any, at: int, values: Any) -> None:
    array[at : at + LANES] = values


def _spread(_: Any, builder: Any, operands: tuple[Any, ...]) -> Any:
    (number,) = operands
    kind, index = ir.VectorType(number.type, LANES), ir.IntType(32)
    empty = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(empty, number, index(0))
    everywhere = ir.Constant(ir.VectorType(index, LANES), [0] * LANES)
    return builder.shuffle_vector(first, empty, everywhere)


def _spread_type(number: Any) -> Any:
    if isinstance(number, types.Boolean):
        return TRUTHS(types.boolean)
    return FLOATS(types.float64) if isinstance(number, types.Float) else INTS(types.int64)


def _spread_twin(number: Any) -> Any:
    kind = np.bool_ if isinstance(number, bool | np.bool_) else np.int64
    return np.full(LANES, number, np.float64 if isinstance(number, float) else kind)


load = operation(
    lambda array, at: _kind_in(array)(array, types.intp),
    _load,
    lambda array, at: array[at : at + LANES].copy(),
)
"""load(array, at): the floats or ints from a place of an array on."""

store = operation(
    lambda array, at, values: types.void(array, types.intp, values), _store, _store_twin
)
"""store(array, at, values): write them there."""

spread = operation(_spread_type, _spread, _spread_twin)
"""spread(number): the same in every lane."""

lanes_in = operation(
    lambda lanes: TRUTHS(types.uint8),
    lambda _, builder, operands: builder.bitcast(operands[0], TRUTHS.vector),
    lambda lanes: np.array([bool(int(lanes) >> lane & 1) for lane in range(LANES)]),
)
"""lanes_in(lanes): true in the lanes of a set."""

set_of = operation(
    lambda truths: types.uint8(truths),
    lambda _, builder, operands: builder.bitcast(operands[0], _BYTE),
    lambda truths: np.uint8(sum(int(truth) << lane for lane, truth in enumerate(truths))),
)
"""set_of(truths): the set of lanes in which they are true."""

choose = operation(
    lambda truths, yes, no: yes(truths, yes, no),
    lambda _, builder, operands: builder.select(*operands),
    lambda truths, yes, no: np.where(truths, yes, no),
)
"""choose(truths, yes, no): lane by lane."""

add = _arithmetic("fadd", "add", lambda one, other: one + other)
subtract = _arithmetic("fsub", "sub", lambda one, other: one - other)
multiply = _arithmetic("fmul", "mul", lambda one, other: one * other)
divide = _arithmetic("fdiv", "fdiv", lambda one, other: one / other)
negative = _arithmetic("fneg", "neg", lambda one: -one)
less = _comparison("<", lambda one, other: one < other)
at_most = _comparison("<=", lambda one, other: one <= other)
equal = _comparison("==", lambda one, other: one == other)
differ = _comparison("!=", lambda one, other: one != other)
least = _better("<", lambda one, other: np.where(other < one, other, one))
greatest = _better(">", lambda one, other: np.where(other > one, other, one))
both = _arithmetic("and_", "and_", lambda one, other: one & other)
either = _arithmetic("or_", "or_", lambda one, other: one | other)
opposite = _arithmetic("not_", "not_", lambda one: np.logical_not(one))
magnitude = _by_llvm("llvm.fabs", lambda one: np.abs(one))
square_root = _by_llvm("llvm.sqrt", lambda one: np.sqrt(one))
as_floats = _converted((FLOATS, types.float64), "sitofp", lambda ints: np.float64(ints))
as_ints = _converted((INTS, types.int64), "zext", lambda truths: np.int64(truths))
"""as_floats takes ints, as_ints truth values."""


INFINITY = float("inf")


@joined_kernel
def floats_moved(before: Any, after: Any, tolerance: float) -> Any:
    """Where floats moved by more than a share of themselves; NaN stays where it is."""
    neither = both(differ(before, before), differ(after, after))
    differs = both(differ(before, after), opposite(neither))
    if tolerance == 0.0:
        return differs
    one, other = magnitude(before), magnitude(after)
    share = multiply(spread(tolerance), greatest(one, other))
    near = at_most(magnitude(subtract(before, after)), share)
    endless = either(equal(one, spread(INFINITY)), equal(other, spread(INFINITY)))
    return both(differs, either(endless, opposite(near)))
