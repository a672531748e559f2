"""Arrays handed to a kernel once, by address, and not again at every call.

A call from Python looks at the type of every array it is given and unpacks it: a quarter of a
microsecond each, which for the thirty arrays of a graph and its state is more than a small batch
takes. So their addresses are written into one array of numbers, the block, when they are made or
replaced; a kernel that is given the block has them back for nothing.

A block keeps the arrays that it names. Who replaces an array makes a new block: the old one goes
on naming the old array.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from typing import Any, Literal, cast

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array
from numpy.typing import NDArray

from graphtide.kernels.adjacency import Adjacency, Slabs
from graphtide.kernels.jit import joined_kernel

Int64 = NDArray[np.int64]

WORDS = 3
"""What a block says of an array: its address, its length, and the bytes from item to item."""

SLABS = len(Slabs._fields)
ADJACENCY = 2 * SLABS
"""How many places of a block they take."""


class Block:
    """Arrays of one dimension, and the words that say where they are."""

    __slots__ = ("arrays", "words")

    def __init__(self, *items: Any) -> None:
        self.arrays = list(_arrays(items))
        words = [(*_address(array), array.strides[0]) for array in self.arrays]
        self.words: Int64 = np.array(words, np.int64).reshape(-1)


def _arrays(item: Any) -> Iterator[NDArray[Any]]:
    """The arrays of nested tuples in order; a number is an array of one."""
    if isinstance(item, tuple):
        for part in item:
            yield from _arrays(part)
    else:
        yield np.atleast_1d(item)


def _address(array: NDArray[Any]) -> tuple[int, int]:
    return array.__array_interface__["data"][0], len(array)


def _twin(words: Int64, place: int, dtype: Any) -> NDArray[Any]:
    """The array at a place of a block where nothing is compiled."""
    address, length, stride = words[WORDS * place : WORDS * (place + 1)].tolist()
    if not length:
        return np.empty(0, dtype)
    extent = (length - 1) * stride + np.dtype(dtype).itemsize
    memory = (ctypes.c_char * extent).from_address(address)
    return np.ndarray((length,), dtype, memory, strides=(stride,))


def _array_there(layout: Literal["C", "A"]) -> Any:
    def typed(typing_context: Any, words: Any, place: Any, dtype: Any) -> Any:
        """The array at a place of a block, of that type."""
        found = types.Array(dtype.dtype, 1, layout)

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            given = context.make_array(signature.args[0])(context, builder, arguments[0])
            first = builder.mul(arguments[1], arguments[1].type(WORDS))
            word = [
                builder.load(builder.gep(given.data, [builder.add(first, first.type(at))]))
                for at in range(WORDS)
            ]
            made = context.make_array(found)(context, builder)
            item = context.get_data_type(found.dtype)
            size = context.get_constant(types.intp, context.get_abi_sizeof(item))
            pack: Any = cgutils.pack_array
            fill: Any = populate_array
            fill(
                made,
                data=builder.inttoptr(word[0], item.as_pointer()),
                shape=pack(builder, [word[1]]),
                strides=pack(builder, [word[2] if layout == "A" else size]),
                itemsize=size,
                meminfo=None,
            )
            return made._getvalue()

        return found(words, types.intp, dtype), emit

    return intrinsic(typed)


_interpreted = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
Handed = Callable[[Int64, int, Any], Any]
array_at = cast(Handed, _twin if _interpreted else _array_there("C"))
"""array_at(words, place, dtype): an array whose items lie side by side."""
strided_at = cast(Handed, _twin if _interpreted else _array_there("A"))
"""strided_at(words, place, dtype): one with a field of other items, or of records, in between."""


@joined_kernel
def slabs_at(words: Int64, first: int) -> Slabs:
    """The slabs whose arrays begin at a place of a block."""
    return Slabs(
        start=array_at(words, first, np.int64),
        live=array_at(words, first + 1, np.int32),
        used=array_at(words, first + 2, np.int32),
        room=array_at(words, first + 3, np.int32),
        neighbour=array_at(words, first + 4, np.int32),
        edge=array_at(words, first + 5, np.int32),
        slot=array_at(words, first + 6, np.int32),
    )


@joined_kernel
def adjacency_at(words: Int64, first: int) -> Adjacency:
    """Both directions."""
    return Adjacency(slabs_at(words, first), slabs_at(words, first + SLABS))
