"""See that interpreted tests have entered every kernel: `python tools/kernels_reached.py FOLDER`.

A test run with NUMBA_DISABLE_JIT=1 and GRAPHTIDE_REACHED=FOLDER notes there which kernels it
enters (`tests/reached.py`). This command reads the notes, looks for every function under a
decorator of `kernels/jit.py` in `graphtide.kernels` and in the templates of the engine, and fails
with the names of those that no test has entered: they are dead, or lack a test.

A generated module holds functions of several templates. A function of it is known again by its name
and bytecode, which are those that it has in the file of its template.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

SOURCE = Path(__file__).resolve().parent.parent / "src" / "graphtide"
FOLDERS = "kernels", "engine/templates"
BEGIN, END = "# program section: begin", "# program section: end"


def name_of(code: CodeType) -> str:
    """A kernel's name and what it does, wherever its text stands."""
    return f"{code.co_qualname} {hashlib.sha256(code.co_code).hexdigest()[:16]}"


def kernels(source: Path = SOURCE) -> Iterator[tuple[str, str]]:
    """All kernels as (module.function, name), but for those of the programs in the templates."""
    for folder in FOLDERS:
        for path in sorted((source / folder).rglob("*.py")):
            module = ".".join(path.relative_to(source).with_suffix("").parts)
            for code in _kernels_of(path):
                yield f"{module}.{code.co_qualname}", name_of(code)


def _kernels_of(path: Path) -> list[CodeType]:
    text = path.read_text("utf-8")
    lines = text.splitlines()
    section = range(lines.index(BEGIN), lines.index(END)) if BEGIN in lines else range(0)
    lines_of_kernels = {
        node.decorator_list[0].lineno
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.lineno not in section
        if any(ast.unparse(item).endswith("kernel") for item in node.decorator_list)
    }
    codes = compile(text, str(path), "exec", dont_inherit=True).co_consts
    return [
        code
        for code in codes
        if isinstance(code, CodeType) and code.co_firstlineno in lines_of_kernels
    ]


def notes(folder: Path) -> set[str]:
    """Names of all kernels that some process has entered."""
    return {
        name
        for file in sorted(folder.glob("*.txt"))
        for name in file.read_text("utf-8").splitlines()
    }


def main() -> int:
    """0 if every kernel was entered; else their names, and 1."""
    entered, known = notes(Path(sys.argv[1])), list(kernels())
    missing = [kernel for kernel, name in known if name not in entered]
    print(f"{len(known) - len(missing)} of {len(known)} kernels entered")
    for kernel in missing:
        print(f"no interpreted test enters {kernel}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main())
