"""How inner kernels are compiled.

Numba optimises every function with all that it calls and makes machine code of it, though what
only kernels call is there to become a part of them: they are optimised again as a whole. An inner
kernel is therefore kept as LLVM's intermediate code, simplified together with what is joined to it,
and linked into its callers.

Left to Numba: everything else. This module builds on the insides of one version and is imported
with no other (`LINKS` in jit.py): there, inner kernels are compiled like all others.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
from numba.core import types
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import Compiler, Flags
from numba.core.typed_passes import NoPythonSupportedFeatureValidation

from graphtide.kernels.compiling.indexing import IndexFromBeginning
from graphtide.kernels.compiling.keeping import KernelCache


class LinkedLibrary(JITCodeLibrary):
    """The intermediate code of an inner kernel and of what it calls. It has no address.

    `gaps` are the functions of a program that it calls and that are put in later (`closing.py`).
    """

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.gaps: dict[str, Any] = {}

    @property
    def codegen(self) -> Any:
        """For whom Numba tells where a function finds its module: there is no function to tell."""
        return _NoFunctions()

    def finalize(self) -> None:
        """Link what is called, and join to it what is to be joined.

        Joining them all in the end, in the kernel that Python calls, took LLVM minutes for the
        dataflow machine: here each is simplified as a part of its caller, once.
        """
        self._raise_if_finalized()
        own = [item.name for item in self._final_module.functions if not item.is_declaration]
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self.gaps.update(getattr(library, "gaps", {}))
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._join(own)
        self._close()

    def _join(self, own: list[str]) -> None:
        """Put joined kernels into their callers, drop them, and simplify those callers anew."""
        passes, builder = llvm.create_new_module_pass_manager(), self._codegen._pass_builder()
        passes.add_always_inliner_pass()
        passes.add_global_dead_code_eliminate_pass()
        passes.run(self._final_module, builder)
        for name in own:
            simplify, builder = self._codegen._function_pass_manager()
            simplify.run(self._final_module.get_function(name), builder)

    def get_pointer_to_function(self, name: str) -> int:
        """None, which Numba writes as 0."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> Any:
        """What the cache keeps; the name is Numba's."""
        return self.name, "linked", self._get_module_for_linking().as_bitcode(), self.gaps

    @classmethod
    def read(cls, codegen: Any, kept: Any) -> LinkedLibrary:
        """What the cache kept."""
        name, kind, code, gaps = kept
        assert kind == "linked"
        self = cls(codegen, name)
        self.gaps = gaps
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


class KernelFlags(Flags):
    """Flags of Numba's that compare by what is set, and not by thirty properties with defaults.

    Numba looks for every operation that it types under a key that has the flags in it: that was
    an eighth of all compiling.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(frozenset(self._values))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, KernelFlags):
            return bool(self._values == other._values)
        return bool(super().__eq__(other))


class KernelCompiler(Compiler):
    """Compiles as Numba does, with flags that compare quickly, and without Python's collector.

    Compiling makes millions of objects that are all in use until it is done: looking for garbage
    among them took a tenth of a cold dataflow machine's time (30.2 and 27.5 s, in turns).
    """

    def __init__(self, typing: Any, target: Any, library: Any, *more: Any) -> None:
        args, return_type, flags, places = more
        super().__init__(typing, target, library, args, return_type, KernelFlags(flags), places)

    def define_pipelines(self) -> Any:
        """Numba's, with indices that count from the beginning."""
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.add_pass_after(IndexFromBeginning, NoPythonSupportedFeatureValidation)
            pipeline.finalize()
        return pipelines

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """As Numba does; it holds a lock meanwhile, so that nobody else compiles."""
        collects = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            if collects:
                gc.enable()


class LinkedCompiler(KernelCompiler):
    """Compiles into a linked library."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """As Numba does, but for the library."""
        self.state.library = LinkedLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


def for_any_number(template: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel's way to be called by kernels, for which a constant is a number like any other.

    Numba compiles a function for every constant that it is called with. LLVM puts constants in
    where it joins the kernel to its caller.
    """

    def found(args: Any, keywords: Any) -> Any:
        plain: Any = types.unliteral
        return template(
            [plain(item) for item in args], {name: plain(it) for name, it in keywords.items()}
        )

    return found


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
