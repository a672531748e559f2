"""The compiled module of a program: its own functions, then the kernels of its templates.

A module has a file in the cache folder, named after a hash of its text, so that people can read it
and that its machine code is found again. The text itself is what is run: a file that says anything
else is written anew, and no bytecode of Python's is kept beside it. Writing is atomic: two
processes that make the same file make the same file.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import os
import sys
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import ModuleType

from graphtide.engine.contents import contents
from graphtide.kernels.jit import CONTENTS, INTERPRETED, cache_folder
from graphtide.model.errors import LimitError
from graphtide.model.syntax import parsed

_BEGIN, _END = "# program section: begin\n", "# program section: end\n"
_TEMPLATES = "graphtide.engine.templates"


@cache
def generated_source(section: str, template: str, *others: str) -> str:
    """The text of a template with a program's functions in place of the sample's.

    What other templates have comes behind it. They import from one another, so that they can be
    read, linted and typed alone; in one module those imports are left out.
    """
    before, rest = _text(template).split(_BEGIN)
    _, after = rest.split(_END)
    whole = f"{before}{_BEGIN}{section}\n\n{_END}{after}"
    return "\n\n".join([_alone(whole), *(_alone(_text(name), later=True) for name in others)])


def _text(template: str) -> str:
    return files(_TEMPLATES).joinpath(f"{template}.py").read_text("utf-8")


def _alone(text: str, *, later: bool = False) -> str:
    """A text without its imports from templates, nor what may stand only at the top of a module."""
    lines = text.splitlines()
    try:
        body = parsed(text).body
    except (SyntaxError, RecursionError, MemoryError) as error:
        # Python's parser takes so many parentheses, levels of indentation and nested loops.
        raise LimitError(
            f"the program cannot be compiled: {getattr(error, 'msg', None) or error}",
            hint="give parts of long expressions a name of their own, and nest fewer blocks",
        ) from None
    for node in body:
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        if node.module.startswith(_TEMPLATES) or (later and node.module == "__future__"):
            assert node.end_lineno is not None
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    return "\n".join(lines) + "\n"


@cache
def generated_module(source: str, name: str) -> ModuleType:
    """Run a generated text as a module, once a process; `name` is for people who look."""
    digest = hashlib.sha256(source.encode()).hexdigest()[:20]
    path = cache_folder() / "programs" / f"{name}_{digest}.py"
    with contextlib.suppress(OSError):  # Nothing needs the file: a full disk is no reason to stop.
        _keep(path, source)
    module = ModuleType(f"graphtide_generated_{name}_{digest}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    if not INTERPRETED:  # It is the key of machine code.
        setattr(module, CONTENTS, contents(source))
    exec(compile(source, str(path), "exec", dont_inherit=True), module.__dict__)
    return module


def _keep(path: Path, source: str) -> None:
    """Let the file say what it should."""
    text = source.encode()
    if path.is_file() and path.read_bytes() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_bytes(text)
    fresh.replace(path)
