"""Arrays handed to a kernel once, by address, and not again at every call.

A call from Python looks at the type of every array it is given and unpacks it: a quarter of a
microsecond each, which for the thirty arrays of a graph and its state is more than a small batch
takes. So their addresses are written into one array of numbers, the block, when they are made or
replaced; a kernel that is given the block has them back for nothing.

A block is written from named tuples of arrays and read back by `record_reader` of the same classes,
so that their fields are the only list of what stands where.

The words of a block keep the arrays that they name. Who replaces an array makes a new block: the
old one goes on naming the old array.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, cast, get_args, get_type_hints

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import Adjacency

Int64 = NDArray[np.int64]

WORDS = 3
"""What a block says of an array: its address, its length, and the bytes from item to item."""


class Block:
    """Arrays of one dimension, and the words that say where they are."""

    __slots__ = ("arrays", "words")

    def __init__(self, *items: Any) -> None:
        self.arrays = list(_arrays(items))
        words = [(*_address(array), array.strides[0]) for array in self.arrays]
        memory = _Keeping(np.array(words, np.int64).tobytes())
        memory.arrays = self.arrays
        self.words: Int64 = np.frombuffer(memory, np.int64)


class _Keeping(bytearray):
    """The memory of words, which lives as long as they do, and their arrays with it."""

    arrays: list[NDArray[Any]]


def _arrays(item: Any) -> Iterator[NDArray[Any]]:
    """The arrays of nested tuples in order; a number is an array of one."""
    if isinstance(item, tuple):
        for part in item:
            yield from _arrays(part)
    else:
        yield np.atleast_1d(item)


_HEAD = object.__basicsize__
"""So many bytes of an array as an object come before the address of its items, as extensions of
NumPy read it."""


def _address(array: NDArray[Any]) -> tuple[int, int]:
    # NumPy makes a dictionary of the same: three times as slow, and the interpreter dies in it
    # where memory ends.
    return ctypes.c_size_t.from_address(id(array) + _HEAD).value, len(array)


def _twin(words: Int64, place: int, dtype: Any) -> NDArray[Any]:
    """The array at a place of a block where nothing is compiled."""
    return _view(*words[WORDS * place : WORDS * (place + 1)].tolist(), dtype)


@lru_cache(maxsize=1024)
def _view(address: int, length: int, stride: int, dtype: Any) -> NDArray[Any]:
    """Memory seen as an array. Made once for many uses: a program asks for it at every edge."""
    if not length:
        return np.empty(0, dtype)
    extent = (length - 1) * stride + np.dtype(dtype).itemsize
    memory = (ctypes.c_char * extent).from_address(address)
    return np.ndarray((length,), dtype, memory, strides=(stride,))


class _Column(NamedTuple):
    """An array of a record: its type, None for that of the program's values, and its layout."""

    dtype: Any
    layout: str


_Shape = list[Any]
"""A record's fields in order: columns, and pairs of a class and its shape."""


def _shape(record: Any, strided: frozenset[str]) -> _Shape:
    shape: _Shape = []
    for name, hint in get_type_hints(record).items():
        if hasattr(hint, "_fields"):
            shape.append((hint, _shape(hint, strided)))
        else:
            dtype = None if hint is Any else get_args(get_args(hint)[1])[0]
            shape.append(_Column(dtype, "A" if name in strided else "C"))
    return shape


def _size(shape: _Shape) -> int:
    return sum(1 if isinstance(item, _Column) else _size(item[1]) for item in shape)


def places(*records: Any) -> int:
    """How many places of a block the fields of some records take."""
    return sum(_size(_shape(record, frozenset())) for record in records)


def _read_twin(record: Any, shape: _Shape, words: Int64, first: int, value: Any) -> Any:
    fields, place = [], first
    for item in shape:
        if isinstance(item, _Column):
            fields.append(_twin(words, place, value if item.dtype is None else item.dtype))
            place += 1
        else:
            inner, inner_shape = item
            fields.append(_read_twin(inner, inner_shape, words, place, value))
            place += _size(inner_shape)
    return record(*fields)


def _array_type(column: _Column, value: Any) -> Any:
    array: Any = types.Array
    if column.dtype is None:
        return array(value, 1, column.layout)
    name = np.dtype(column.dtype).name
    return array(types.boolean if name == "bool" else getattr(types, name), 1, column.layout)


def _record_type(record: Any, shape: _Shape, value: Any) -> Any:
    fields = []
    for item in shape:
        if isinstance(item, _Column):
            fields.append(_array_type(item, value))
        else:
            inner, inner_shape = item
            fields.append(_record_type(inner, inner_shape, value))
    named: Any = types.NamedTuple
    return named(fields, record)


def _emit_word(builder: Any, data: Any, place: Any) -> Any:
    """A word of a block, which no kernel writes: LLVM may read it once and keep it."""
    word = builder.load(builder.gep(data, [place]))
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


def _emit_array(context: Any, builder: Any, found: Any, data: Any, place: Any) -> Any:
    """The array whose address, length and stride stand at a place of a block."""
    first = builder.mul(place, place.type(WORDS))
    word = [_emit_word(builder, data, builder.add(first, first.type(at))) for at in range(WORDS)]
    made = context.make_array(found)(context, builder)
    item = context.get_data_type(found.dtype)
    size = context.get_constant(types.intp, context.get_abi_sizeof(item))
    pack: Any = cgutils.pack_array
    fill: Any = populate_array
    fill(
        made,
        data=builder.inttoptr(word[0], item.as_pointer()),
        shape=pack(builder, [word[1]]),
        strides=pack(builder, [word[2] if found.layout == "A" else size]),
        itemsize=size,
        meminfo=None,
    )
    return made._getvalue()


def _emit_record(context: Any, builder: Any, found: Any, data: Any, first: Any) -> tuple[Any, int]:
    """A record of arrays from a place on, and how many places it takes."""
    if isinstance(found, types.Array):
        return _emit_array(context, builder, found, data, first), 1
    fields, count = [], 0
    for kind in found.types:
        place = builder.add(first, first.type(count))
        made, size = _emit_record(context, builder, kind, data, place)
        fields.append(made)
        count += size
    return context.make_tuple(builder, found, fields), count


def _emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    given = context.make_array(signature.args[0])(context, builder, arguments[0])
    made, _ = _emit_record(context, builder, signature.return_type, given.data, arguments[1])
    return made


_interpreted = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def record_reader(record: Any, *, strided: tuple[str, ...] = ()) -> Callable[..., Any]:
    """at(words, first): the record whose arrays begin at a place of a block.

    Where it has fields of the type Any, at(words, first, dtype): these are of that type. Items of
    the `strided` fields do not lie side by side.
    """
    shape = _shape(record, frozenset(strided))
    if _interpreted:
        return _remembering(lambda *given: _read_twin(record, shape, *given))

    def typed(typing_context: Any, words: Any, first: Any, value: Any = None) -> Any:
        """The record at a place of a block."""
        plain = value is None
        found = _record_type(record, shape, None if plain else value.dtype)
        return found(words, types.intp) if plain else found(words, types.intp, value), _emit

    def plain(typing_context: Any, words: Any, first: Any) -> Any:
        """The record at a place of a block."""
        return typed(typing_context, words, first)

    def valued(typing_context: Any, words: Any, first: Any, value: Any) -> Any:
        """The record at a place of a block, with values of a type."""
        return typed(typing_context, words, first, value)

    return cast(Callable[..., Any], intrinsic(valued if _is_valued(shape) else plain))


def placed_reader(record: Any, first: int) -> Callable[[Int64], Any]:
    """of(words): the record whose arrays begin at one place of every block of a kind."""
    shape = _shape(record, frozenset())
    if _interpreted:
        read = _remembering(lambda *given: _read_twin(record, shape, *given))
        return lambda words: read(words, first)

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = context.get_constant(types.intp, first)
        return _emit(context, builder, signature, (arguments[0], place))

    def placed(typing_context: Any, words: Any) -> Any:
        return _record_type(record, shape, None)(words), emit

    return cast(Callable[[Int64], Any], intrinsic(placed))


def _remembering(read: Callable[..., Any]) -> Callable[..., Any]:
    """A reader that is asked for the same record again and again, as kernels do, reads it once.

    Threads share what it remembers, so that this is replaced as a whole.
    """
    last: tuple[Any, ...] = (None, None, None, None)

    def at(words: Int64, first: int, value: Any = None) -> Any:
        nonlocal last
        found = last
        if found[0] is not words or found[1] != first or found[2] is not value:
            last = found = words, first, value, read(words, first, value)
        return found[3]

    return at


def _is_valued(shape: _Shape) -> bool:
    return any(
        item.dtype is None if isinstance(item, _Column) else _is_valued(item[1]) for item in shape
    )


def _array_there(typing_context: Any, words: Any, place: Any, dtype: Any) -> Any:
    """The array at a place of a block, of that type."""
    return types.Array(dtype.dtype, 1, "C")(words, types.intp, dtype), _emit


array_at = cast(
    Callable[[Int64, int, Any], Any], _twin if _interpreted else intrinsic(_array_there)
)
"""array_at(words, place, dtype): one array."""


def _words_behind(typing_context: Any, words: Any, place: Any) -> Any:
    """The words of a block from a place on, as a block."""
    array: Any = types.Array
    return array(types.int64, 1, "C")(words, types.intp), _emit_words


def _emit_words(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    given = context.make_array(signature.args[0])(context, builder, arguments[0])
    made = context.make_array(signature.return_type)(context, builder)
    size = context.get_constant(types.intp, 8)
    first = builder.mul(arguments[1], arguments[1].type(WORDS))
    pack: Any = cgutils.pack_array
    fill: Any = populate_array
    fill(
        made,
        data=builder.gep(given.data, [first]),
        shape=pack(builder, [builder.sub(builder.extract_value(given.shape, 0), first)]),
        strides=pack(builder, [size]),
        itemsize=size,
        meminfo=None,
    )
    return made._getvalue()


words_from = cast(
    Callable[[Int64, int], Int64],
    (lambda words, place: words[WORDS * place :]) if _interpreted else intrinsic(_words_behind),
)
"""words_from(words, place): the rest of a block, for as long as the block is kept.

A slice would count a reference less than it gives up: kernels that count none make it, and hand it
to some that count.
"""

ADJACENCY = places(Adjacency)
adjacency_at = record_reader(Adjacency)
"""Both directions of the graph that a block names."""
