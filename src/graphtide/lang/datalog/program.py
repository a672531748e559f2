"""A Datalog program: its text, its plan, and the folder that its files are looked for in."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from graphtide.lang.datalog.parse import parse_datalog
from graphtide.lang.datalog.resolve import lower_datalog
from graphtide.lang.texts import text_of
from graphtide.model.errors import InputError
from graphtide.plan.rules import RulePlan

SUFFIX = ".dl"


@dataclass(frozen=True)
class DatalogText:
    """What a text of Datalog says; `name` is that of its file, or `rules`."""

    name: str
    plan: RulePlan
    text: str = field(default="", repr=False)


def read_datalog(text: str | PathLike[str]) -> DatalogText:
    """The program that a text says, or the file of that name if it ends in `.dl`."""
    if isinstance(text, PathLike) or is_file_name(text):
        path = Path(text)
        found = text_of(path, "Datalog")
        return DatalogText(path.stem, lower_datalog(parse_datalog(found, str(path))), found)
    if not isinstance(text, str):
        raise InputError(
            f"a Datalog program is a text, and this is a {type(text).__name__}",
            hint="give the text, or the name of a file that ends in .dl",
        )
    return DatalogText("rules", lower_datalog(parse_datalog(text)), text)


def is_file_name(text: object) -> bool:
    """Whether a text is the name of a file of Datalog, and no program."""
    return isinstance(text, str) and text.endswith(SUFFIX) and "\n" not in text
