"""A program on its way from its plan to machine code: all stages, in one place.

    plan --prove--> what may be left out --write--> a section --generate--> a module

A vertex program plays several *roles*: it is kept current in fixpoint mode or in exact mode, run
from scratch alone or in lanes. Each role has a module of its own, the program's section in front of
the templates that the role needs, so that nobody waits for machine code of a role that nobody asks
for. `program_code` keeps one `ProgramCode` for each plan: nothing is proved or written twice in a
process, whoever asks.

A module has a file in the cache folder, named after a hash of its text, so that people can read it
and that its machine code is found again. The text itself is what is run: a file that says anything
else is written anew, and no bytecode of Python's is kept beside it. Writing is atomic: two
processes that make the same file make the same file.

Most of a template does not depend on the program that is put into it, or only on a width or a
direction. Two kernels that say the same, and whose callees and constants say the same, are one
kernel: it is compiled once for all programs and roles that have it, and a wheel brings it for
programs that it never saw. So each function of a module gets a digest of its own text and of all
statements of the module that it reaches by name: the key of its machine code. A program's functions
are left out of one of two digests: kernels that call them are compiled without them
(`kernels/compiling/linking.py`), and say the same for all programs then. What is imported is named
by its import: the sources of `kernels` have a digest of their own, which names the folder of their
machine code (`kernels/jit.py`).
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from graphtide.engine.lanes.source import lanes_section, single_section, why_not_lanes
from graphtide.engine.source import selecting_section
from graphtide.engine.synchronous.source import plain_section, synchronous_section
from graphtide.kernels.jit import CONTENTS, INTERPRETED, Content, cache_folder, program_kernel
from graphtide.model.errors import LimitError
from graphtide.model.limits import parsed
from graphtide.plan.program_analysis import (
    Selection,
    explain_analysis,
    labels_components,
    selection,
    why_not_selection,
)
from graphtide.plan.program_reads import given_expression, with_given_facts
from graphtide.plan.program_text import explain
from graphtide.plan.programs import VertexProgram

_PROGRAM_KERNEL = program_kernel.__name__


def contents(source: str) -> dict[str, Content]:
    """Two digests of each function at the top of a module: without and with the program's own."""
    bound: dict[str, list[str]] = {}
    reads: dict[str, set[str]] = {}
    left_out: dict[str, _Said] = {}
    functions = []
    for statement in parsed(source).body:
        if isinstance(statement, ast.FunctionDef):
            functions.append(statement.name)
            if _is_program_kernel(statement):
                left_out[statement.name] = _as_gap(statement)
        for name, text in _bindings(statement):
            bound.setdefault(name, []).append(text)
            reads.setdefault(name, set()).update(_names(statement))
    said = {name: _Said(texts, reads[name]) for name, texts in bound.items()}
    return {
        name: Content(_digest(name, said, left_out), _digest(name, said, {})) for name in functions
    }


class _Said(NamedTuple):
    """The statements of a module that bind a name, and the names that they read."""

    texts: list[str]
    reads: set[str]


def _is_program_kernel(function: ast.FunctionDef) -> bool:
    return any(_PROGRAM_KERNEL in _names_in(item) for item in function.decorator_list)


def _as_gap(function: ast.FunctionDef) -> _Said:
    """What kernels that are compiled without a program's function know of it: its decorators."""
    texts = [ast.unparse(item) for item in function.decorator_list]
    reads = {name for item in function.decorator_list for name in _names_in(item)}
    return _Said(texts, reads)


def _bindings(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """The names that a statement binds, each with what it says of them."""
    if isinstance(statement, ast.FunctionDef):
        yield statement.name, ast.unparse(_without_docstring(statement))
    elif isinstance(statement, ast.ImportFrom | ast.Import):
        origin = statement.module if isinstance(statement, ast.ImportFrom) else None
        for item in statement.names:
            yield item.asname or item.name.split(".")[0], f"{origin} {item.name}"
    else:
        text = ast.unparse(statement)
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id, text


def _without_docstring(function: ast.FunctionDef) -> ast.FunctionDef:
    """A function without docstring and annotations, which do not change its machine code."""
    body = function.body
    if ast.get_docstring(function) is not None:
        body = body[1:] or [ast.Pass()]
    plain = [ast.arg(item.arg) for item in function.args.args]
    arguments = ast.arguments([], plain, None, [], [], None, [])
    return ast.FunctionDef(
        name=function.name,
        args=arguments,
        body=body,
        decorator_list=function.decorator_list,
        returns=None,
        lineno=1,
        col_offset=0,
    )


def _names(statement: ast.stmt) -> set[str]:
    """The names that a statement reads, where it is run and not where it is typed."""
    if isinstance(statement, ast.FunctionDef):
        statement = _without_docstring(statement)
    return _names_in(statement)


def _names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _digest(name: str, said: dict[str, _Said], left_out: dict[str, _Said]) -> str:
    """The digest of all statements that a name reaches, in an order that no module changes.

    What is left out is a gap wherever the name does not stand for it itself.
    """
    known = said | {at: gap for at, gap in left_out.items() if at != name}
    reached, waiting = set(), [name]
    while waiting:
        at = waiting.pop()
        if at not in reached and at in known:
            reached.add(at)
            waiting.extend(known[at].reads)
    texts = [(at, known[at].texts) for at in sorted(reached)]
    return hashlib.sha256(repr((name, texts)).encode()).hexdigest()[:20]


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
    text = source.encode()
    if path.is_file() and path.read_bytes() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_bytes(text)
    fresh.replace(path)


_WIDE = "graphtide.kernels.lanes.values"
_NARROW = "graphtide.kernels.lanes.single_values"


class Role(NamedTuple):
    """What a module is for: who writes the program's section, and what comes behind it."""

    name: str
    section: Callable[[VertexProgram, Selection | None], str]
    templates: tuple[str, ...]


def _selecting(program: VertexProgram, found: Selection | None) -> str:
    assert found is not None
    return selecting_section(program, found, settles=False)


def _settling(program: VertexProgram, found: Selection | None) -> str:
    assert found is not None
    return selecting_section(program, found, settles=True)


def _settling_given(program: VertexProgram, found: Selection | None) -> str:
    assert found is not None
    assert found.initial is not None
    message, initial = (given_expression(item) for item in (found.message, found.initial))
    found = replace(found, message=message, initial=initial)
    return selecting_section(with_given_facts(program), found, settles=True)


_HISTORIES = "selecting", "settling", "rounds", "exact"

FIXPOINT = Role(
    "fixpoint", _settling, ("selecting", "settling", "fixpoint", "stretch", "relabelling")
)
"""Kept current with one value a vertex; a large component is renamed in one sweep."""
EXACT = Role("exact", _selecting, _HISTORIES)
"""A selecting program kept current with its histories, on any edges."""
EXACT_SETTLING = Role("exact_settling", _settling, _HISTORIES)
"""The same on edges of which it is known that no message overtakes its source."""
RECORDED = Role(
    "recorded", lambda plan, _: synchronous_section(plan), ("synchronous", "phases", "recording")
)
"""Any program run from scratch, every iteration kept."""
REFINED = Role(
    "refined",
    lambda plan, _: synchronous_section(plan),
    ("differences", "evaluation", "refinement"),
)
"""What was kept, corrected."""
PLAIN = Role("plain", lambda plan, _: plain_section(plan), ("synchronous", "phases"))
"""Any program run from scratch, nothing kept: by one thread, by several, or by tasks."""
LANES = Role("lanes", lambda plan, _: lanes_section(plan), ("lanes", "phases"))
"""Up to eight versions run from scratch in one pass over the edges."""
SINGLE = Role("single", lambda plan, _: single_section(plan), ("lanes", "phases"))
"""The template of lanes with a number in place of a lane, for whatever `PLAIN` is for."""
LEAN_OFFERS = Role("lean_offers", _settling, ("selecting", "offers"))
"""A selecting program on edges of which it is known that no message overtakes its source."""
OWN_TRIMMING = Role("own_trimming", _settling_given, ("selecting", "own_trimming"))
"""What deleted edges take away from a selecting program, on a part of a graph."""


class ProgramCode:
    """What was proved of a program, and its modules by role; each is made when first asked for."""

    def __init__(self, plan: VertexProgram) -> None:
        self.plan = plan
        self._modules: dict[Role, ModuleType] = {}

    @cached_property
    def selection(self) -> Selection | None:
        """The program as a selection; None if it is none."""
        return selection(self.plan)

    @cached_property
    def why_not_selection(self) -> str | None:
        """The reason in words why it is no selection; None if it is one."""
        return None if self.selection is not None else why_not_selection(self.plan)

    @cached_property
    def labels_components(self) -> bool:
        return self.selection is not None and labels_components(self.plan, self.selection)

    @cached_property
    def why_not_lanes(self) -> str | None:
        """The reason in words why it has no form in lanes; None if it has one."""
        return why_not_lanes(self.plan)

    def module(self, role: Role) -> Any:
        """The module of a role; its kernels are compiled when they are first called."""
        if role not in self._modules:
            section = role.section(self.plan, self.selection)
            source = generated_source(section, *role.templates)
            if role is SINGLE:
                source = source.replace(_WIDE, _NARROW)
            self._modules[role] = generated_module(source, f"{self.plan.name}_{role.name}")
        return self._modules[role]

    def explain(self) -> list[str]:
        """The plan as text, and what was found out about it, with reasons."""
        lines = [explain(self.plan), "analysis"]
        return lines + [f"    {line}" for line in explain_analysis(self.plan)]


@cache
def program_code(plan: VertexProgram) -> ProgramCode:
    """The one `ProgramCode` of a plan."""
    return ProgramCode(plan)
