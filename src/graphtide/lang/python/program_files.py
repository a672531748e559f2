"""Programs from a file: the one of a file of L_NGA (`.nga`) or of Datalog (`.dl`), and of a file
of Python every class that is decorated with `@gt.program`, and every function decorated with
`@gt.dataflow.program`.

A file of Python is carried out as Python would carry it out, with its own folder first among those
that it may import from. Files are read anew every time: what has been edited since is what runs.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType

from graphtide.lang.datalog.program import SUFFIX as DATALOG_SUFFIX
from graphtide.lang.datalog.program import RuleProgram, graph_rules, read_datalog
from graphtide.lang.diagnostics import text_of
from graphtide.lang.nga import SUFFIX, nga_file
from graphtide.lang.python import DataflowProgram, Program
from graphtide.model.errors import GraphtideError, InputError, LanguageError


def programs_of(path: Path) -> dict[str, Program | DataflowProgram | RuleProgram]:
    if path.suffix == DATALOG_SUFFIX:
        rules = graph_rules(read_datalog(path))
        return {rules.name: rules}
    if path.suffix == SUFFIX:
        program = nga_file(path)
        return {program.name: program}
    text = _read(path)
    try:
        code = compile(text, str(path), "exec")
    except SyntaxError as error:
        line = (error.text or "").strip()
        raise LanguageError(
            f"{path.name} is not Python: {error.msg}",
            where=f"{path}, line {error.lineno}" + (f": {line}" if line else ""),
        ) from None
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    with _importing_beside(path):
        _carry_out(path, code, module)
    programs = [
        item for item in vars(module).values() if isinstance(item, Program | DataflowProgram)
    ]
    return {program.name: program for program in programs}


def _read(path: Path) -> str:
    if path.suffix in (".so", ".dylib", ".dll"):
        raise InputError(
            f"'{path}' is a compiled library, and programs are read from Python",
            hint="write the computation as a class with @gt.program: `from 'file.py'`",
        )
    return text_of(path, "Python or L_NGA")


def _carry_out(path: Path, code: CodeType, module: ModuleType) -> None:
    try:
        exec(code, vars(module))
    except GraphtideError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame.lineno for frame in frames if frame.filename == str(path)]
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise InputError(
            f"{path.name} cannot be carried out: {said}",
            where=f"{path}, line {own[-1]}" if own else str(path),
        ) from None


@contextmanager
def _importing_beside(path: Path) -> Iterator[None]:
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
