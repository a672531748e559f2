"""How kernels become machine code: linked into callers, indexed from the beginning, closed late.

Numba optimises every function with all that it calls and makes machine code of it, though what
only kernels call is there to become a part of them: they are optimised again as a whole. An inner
kernel is therefore kept as LLVM's intermediate code, simplified together with what is joined to it,
and linked into its callers.

Numba takes a negative index to count from the end, and so compares every signed one with zero. No
index of ours is negative. Each is therefore cast to an unsigned number, which costs nothing, and
Numba compares no more: rules that run once took a third longer with it. With bounds checked
(NUMBA_BOUNDSCHECK=1) a negative index is an error, like any other that is out of bounds.

A kernel of a template calls functions of the program: what an edge carries, what a vertex starts
with. Such a function is a *gap*: the kernel is compiled for what the function is given and returns,
and calls a name that nobody has defined yet. The kernel is *open* then, and the same for all
programs. Whoever wants to call it from Python has it *closed*: the program's functions, which are
compiled by themselves, are linked in under those names, and LLVM optimises the whole and makes
machine code of it. So the long part, which is Numba's, is done once for all programs, and a program
of a user's own waits for its few lines and for LLVM.

Left to Numba: everything else. This module builds on the insides of one version and is imported
with no other (`LINKS` in jit.py): there, inner kernels are compiled like all others.
"""

from __future__ import annotations

import copy
import gc
import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numba
from numba.core import cgutils, event, ir, types
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.environment import _rebuild_env
from numba.core.typed_passes import NoPythonSupportedFeatureValidation
from numba.extending import intrinsic

from graphtide.kernels.compiling.keeping import KernelCache

_types: Any = types
_registered: Any = register_pass
"""Numba's, of which no types are known."""


@_registered(mutates_CFG=False, analysis_only=False)
class IndexFromBeginning(FunctionPass):
    """A pass before lowering, which casts an index to what the signature of its use says."""

    _name = "graphtide_index_from_beginning"

    def __init__(self) -> None:
        super().__init__()

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


_emitting: Any = cgutils
_environment: Any = _rebuild_env
"""Numba's, of which no types are known."""


def gap(name: str, returns: Any, filling: Any) -> Any:
    """What a kernel calls in place of a program's function, `filling`, whose result it knows."""
    result = _type_of(returns)

    def typed(_: Any, *given: Any) -> Any:
        signature = result(*map(_plain, given))
        text = repr((name, signature))
        symbol = f"graphtide_gap_{name}_{hashlib.sha256(text.encode()).hexdigest()[:20]}"

        def emit(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            target.active_code_library.gaps[symbol] = name, signature
            return _call(target, builder, symbol, signature, arguments)

        return signature, emit

    context = inspect.Parameter("_", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    taken = inspect.signature(filling.py_func).parameters.values()
    vars(typed)["__signature__"] = inspect.Signature([context, *taken])
    typed.__name__ = typed.__qualname__ = name
    opening: Any = intrinsic(typed)
    opening.filling = filling
    return opening


def _type_of(returns: Any) -> Any:
    """Numba's type for NumPy's, for a tuple of those, or for None."""
    if isinstance(returns, tuple):
        return _types.Tuple([_type_of(item) for item in returns])
    return _types.none if returns is None else numba.from_dtype(returns)


def _plain(given: Any) -> Any:
    """The type of an argument, whole numbers being of one kind: a gap is filled once."""
    plain: Any = _types.unliteral(given)
    return _types.int64 if isinstance(plain, _types.Integer) else plain


def _call(target: Any, builder: Any, symbol: str, signature: Any, arguments: Any) -> Any:
    """Call a function that is not there yet, in Numba's way."""
    convention, result = target.call_conv, signature.return_type
    kind = convention.get_function_type(result, signature.args)
    called = _emitting.get_or_insert_function(builder.module, kind, symbol)
    status, value = convention.call_function(builder, called, result, signature.args, arguments)
    with _emitting.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return value


class ClosingCache(KernelCache):
    """The machine code of one kernel closed for one program; it is made where it is not kept.

    So Numba never compiles the kernel that has this cache: `opened`, which says the same, is
    compiled in its place, once for all programs.
    """

    def __init__(
        self, function: Callable[..., Any], root: Path, kernels: str, content: str, opened: Any
    ) -> None:
        super().__init__(function, root, kernels, content)
        self._named = function.__globals__
        self._content = content
        self._opened = opened

    def load_overload(self, signature: Any, target: Any) -> Any:
        """What was closed for these types, now or earlier."""
        compiled = super().load_overload(signature, target)
        if compiled is None:
            with event.trigger_event(
                "numba:compile", data={"dispatcher": self._opened, "args": signature}
            ):
                compiled = self._closed(signature, target)
            self.save_overload(signature, compiled)
        return compiled

    def _closed(self, signature: Any, target: Any) -> Any:
        self._opened.compile(signature)
        kernel = self._opened.overloads[tuple(signature)]
        library = target.codegen().create_library(f"{kernel.library.name}_{self._content}")
        library.enable_object_caching()
        opened = kernel.library._final_module.clone()
        opened.get_function(kernel.fndesc.llvm_cpython_wrapper_name).linkage = "external"
        library._final_module.link_in(opened)
        self._fill(library._final_module, kernel.library.gaps)
        described = _renamed(library._final_module, kernel.fndesc, self._content)
        library._reload_init.update(kernel.library._reload_init)
        library.finalize()
        known = kernel.environment
        environment = _environment(described.modname, known.consts, described.env_name)
        return kernel._replace(
            library=library,
            fndesc=described,
            environment=environment,
            entry_point=target.get_executable(library, described, environment),
            target_context=target,
            metadata=None,
        )

    def _fill(self, module: Any, gaps: dict[str, Any]) -> None:
        """Link the program's functions in under the names that they are called by."""
        waiting, known = dict(gaps), set(gaps)
        while waiting:
            symbol, (name, signature) = waiting.popitem()
            filling = self._named[name].filling
            filling.compile(signature)
            made = filling.overloads[signature.args]
            part = made.library._get_module_for_linking().clone()
            part.get_function(made.fndesc.llvm_func_name).name = symbol
            module.link_in(part)
            waiting |= {at: gap for at, gap in made.library.gaps.items() if at not in known}
            known |= set(made.library.gaps)


def _renamed(module: Any, described: Any, mark: str) -> Any:
    """Keep all but the way in from Python to the module, and give all of it names of its own.

    What nobody else can call is put into its caller and dropped, or loses arguments that it does
    not need. LLVM keeps one table of names for the whole process, and what is a module's own is in
    it too: a kernel loaded later that calls a function of that name would call this one.
    """
    renamed = copy.copy(described)
    renamed.mangled_name = f"{described.mangled_name}_{mark}"
    renamed.env_name = f"{described.env_name}_{mark}"
    module.get_global_variable(described.env_name).name = renamed.env_name
    own = hashlib.sha256(renamed.mangled_name.encode()).hexdigest()[:20]
    for function in module.functions:
        if function.name == described.llvm_cpython_wrapper_name:
            function.name = renamed.llvm_cpython_wrapper_name
        elif not function.is_declaration:
            function.name = f"{function.name}_{own}"
            function.linkage = "internal"
    return renamed
