"""`gt.nga`: a program from a text of L_NGA, or from a file of it."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path

from graphtide.lang.nga.lower import lower
from graphtide.lang.nga.parse import parse_program
from graphtide.lang.python.program import Program
from graphtide.lang.texts import text_of
from graphtide.model.errors import InputError

SUFFIX = ".nga"


def nga(text: str | PathLike[str], *, name: str | None = None) -> Program:
    """The program that a text of L_NGA says, or the file of that name if it ends in `.nga`.

    It is a program like any other: `gt.nga(text)(root="ann")` gives it its parameters. It is called
    what the text says (`Program Ranks`), or `name`, or after its file. The page "L_NGA" of the
    documentation says what a text means.
    """
    if isinstance(text, PathLike) or is_file_name(text):
        return nga_file(Path(text), name)
    if not isinstance(text, str):
        raise InputError(
            f"a program in L_NGA is a text, and this is a {type(text).__name__}",
            hint="give the text, or the name of a file that ends in .nga",
        )
    return _program(text, None, name or "Program")


def nga_file(path: Path, name: str | None = None) -> Program:
    """The program in a file of L_NGA."""
    text = text_of(path, "L_NGA")
    return _program(text, str(path), name or _named_after(path))


def _program(text: str, file: str | None, name: str) -> Program:
    try:
        return Program(lower(parse_program(text, file), name))
    except RecursionError:
        # Trees are walked by recursion, which Python ends after some hundred levels.
        raise InputError(
            f"{file or 'this text'} has an expression too long or too deeply nested to be read",
            hint="a sum or a nest of parentheses takes a few hundred; send its parts one by one",
        ) from None


def is_file_name(text: object) -> bool:
    """Whether a text is the name of a file of L_NGA, and no program."""
    return isinstance(text, str) and text.endswith(SUFFIX) and "\n" not in text


def _named_after(path: Path) -> str:
    """`page-rank.nga` as `page_rank`: a name of Python."""
    name = re.sub(r"\W", "_", path.stem)
    return name if name.isidentifier() else f"program_{name}"
