"""How inner kernels are compiled.

Numba optimises every function with all that it calls and makes machine code of it, though what
only kernels call is there to become a part of them: they are optimised again as a whole. An inner
kernel is therefore kept as LLVM's intermediate code, simplified by itself, and linked into its
callers. That takes a third off compiling; what a caller becomes is the same.

Left to Numba: everything else. This module builds on the insides of one version and is imported
with no other (`LINKS` in jit.py): there, inner kernels are compiled like all others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import Compiler

from graphtide.kernels.compiling.keeping import KernelCache


class LinkedLibrary(JITCodeLibrary):
    """The intermediate code of an inner kernel and of what it calls. It has no address."""

    @property
    def codegen(self) -> Any:
        """For whom Numba tells where a function finds its module: there is no function to tell."""
        return _NoFunctions()

    def finalize(self) -> None:
        """Link what is called."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._close()

    def get_pointer_to_function(self, name: str) -> int:
        """None, which Numba writes as 0."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> Any:
        """What the cache keeps; the name is Numba's."""
        return self.name, "linked", self._get_module_for_linking().as_bitcode()

    @classmethod
    def read(cls, codegen: Any, kept: Any) -> LinkedLibrary:
        """What the cache kept."""
        name, kind, code = kept
        assert kind == "linked"
        self = cls(codegen, name)
        self._final_module = self._shared_module = llvm.parse_bitcode(code)
        self._close()
        return self

    def _close(self) -> None:
        called = (item.name for item in self._final_module.global_variables)
        if any(name.startswith(RuntimeLinker.PREFIX) for name in called):
            raise AssertionError(f"{self.name} calls itself, for which it needs an address")
        self._finalize_dynamic_globals()
        self._finalized = True


class _NoFunctions:
    def set_env(self, name: str, environment: Any) -> None:
        """Where a function finds what it uses of its module: inner kernels use nothing of it."""


class LinkedCompiler(Compiler):
    """Compiles into a linked library."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """As Numba does, but for the library."""
        self.state.library = LinkedLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


class LinkedCache(KernelCache):
    """Keeps linked libraries."""

    def rebuilt(self, target: Any, kept: Any) -> Any:
        """With libraries that are read as linked ones."""
        return super().rebuilt(_Reading(target), kept)._replace(target_context=target)


class _Reading:
    """A target that reads linked libraries, and is the given one otherwise."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def codegen(self) -> Any:
        return self

    def unserialize_library(self, kept: Any) -> LinkedLibrary:
        return LinkedLibrary.read(self._target.codegen(), kept)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)
