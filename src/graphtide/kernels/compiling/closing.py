"""How kernels that programs share are compiled once, and a program's own functions put in later.

A kernel of a template calls functions of the program: what an edge carries, what a vertex starts
with. Such a function is a *gap*: the kernel is compiled for what the function is given and returns,
and calls a name that nobody has defined yet. The kernel is *open* then, and the same for all
programs. Whoever wants to call it from Python has it *closed*: the program's functions, which are
compiled by themselves, are linked in under those names, and LLVM optimises the whole and makes
machine code of it. So the long part, which is Numba's, is done once for all programs, and a program
of a user's own waits for its few lines and for LLVM.

Left to Numba: everything else. Like `linking.py`, this builds on the insides of one version.
"""

from __future__ import annotations

import copy
import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import cgutils, event, types
from numba.core.environment import _rebuild_env
from numba.extending import intrinsic

from graphtide.kernels.compiling.keeping import KernelCache

_types: Any = types
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
