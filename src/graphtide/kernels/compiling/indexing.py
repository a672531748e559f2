"""How kernels index arrays: from the beginning, never from the end.

Numba takes a negative index to count from the end, and so compares every signed one with zero. No
index of ours is negative. Each is therefore cast to an unsigned number, which costs nothing, and
Numba compares no more: rules that run once took a third longer with it. With bounds checked
(NUMBA_BOUNDSCHECK=1) a negative index is an error, like any other that is out of bounds.

Left to Numba: constant indices, which LLVM compares when it compiles, and slices. Like
`linking.py`, this builds on the insides of one version; with others, Numba goes on comparing.
"""

from __future__ import annotations

from typing import Any

from numba.core import ir, types
from numba.core.compiler_machinery import FunctionPass, register_pass

_types: Any = types
_registered: Any = register_pass
"""Numba's, of which no types are known."""


@_registered(mutates_CFG=False, analysis_only=False)
class IndexFromBeginning(FunctionPass):
    """A pass before lowering, which casts an index to what the signature of its use says."""

    _name = "graphtide_index_from_beginning"

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def run_pass(self, state: Any) -> bool:
        """Have every index of an array be unsigned; True where there was one."""
        changed = {}
        for use, said in state.calltypes.items():
            if _is_indexing(use) and isinstance(said.args[0], _types.Array):
                array, index, *value = said.args
                changed[use] = said.replace(args=(array, _unsigned(index), *value))
        for use, said in changed.items():
            del state.calltypes[use]  # Numba refuses to set what is set.
            state.calltypes[use] = said
        return bool(changed)


def _is_indexing(use: Any) -> bool:
    return isinstance(use, ir.SetItem) or (isinstance(use, ir.Expr) and use.op == "getitem")


def _unsigned(index: Any) -> Any:
    """The type that an index is cast to, which may be its own."""
    if isinstance(index, _types.Integer):
        return _types.uintp
    if isinstance(index, _types.BaseTuple):
        return _types.Tuple([_unsigned(item) for item in index])
    return index
