"""What every command can be told, and how a dataclass becomes a command's options.

A command's options are the fields of a dataclass below GlobalOptions, annotated for typer. So
`--data`, `--json` and their like may stand before the command or behind it; what stands behind
wins.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

_PANEL = "Options of every command"
DATA_VARIABLE = "GRAPHTIDE_DATA"
DEFAULT_DATA = "graphtide-data"


def everywhere(name: str, help: str, **more: Any) -> Any:
    """An option that every command has."""
    return typer.Option(name, help=help, rich_help_panel=_PANEL, **more)


def valued(metavar: str, help: str, **more: Any) -> Any:
    """An option of one command that takes a value."""
    return typer.Option(metavar=metavar, help=help, **more)


def flag(name: str, help: str) -> Any:
    """An option of one command that is said or not."""
    return typer.Option(name, help=help)


@dataclass(frozen=True, kw_only=True)
class GlobalOptions:
    """Where things are stored, on which Spark work runs, and what is printed."""

    data: Annotated[
        Path | None,
        everywhere(
            "--data",
            f"Folder of all that is stored: {DEFAULT_DATA}, unless {DATA_VARIABLE} names another.",
            metavar="FOLDER",
        ),
    ] = None
    master: Annotated[
        str | None,
        everywhere("--master", "Spark master, such as local[4] or spark://host:7077."),
    ] = None
    remote: Annotated[
        str | None, everywhere("--remote", "Spark Connect address, such as sc://host.")
    ] = None
    memory: Annotated[
        str | None, everywhere("--memory", "Memory of Spark's driver, such as 3g.")
    ] = None
    trust: Annotated[
        list[str] | None,
        everywhere(
            "--trust",
            "Python module, or .py file, whose dataflows live graphs may run. May be repeated.",
            metavar="MODULE",
        ),
    ] = None
    quiet: Annotated[bool, everywhere("--quiet", "Print errors only.")] = False
    json: Annotated[bool, everywhere("--json", "Print one JSON object a line.")] = False
    debug: Annotated[bool, everywhere("--debug", "Show the Python traceback of an error.")] = False

    @property
    def folder(self) -> Path:
        """The folder that was named, here or in the environment, or the usual one."""
        return self.data or Path(os.environ.get(DATA_VARIABLE) or DEFAULT_DATA)

    def over(self, before: GlobalOptions) -> GlobalOptions:
        """These options, and where they say nothing those given before the command."""
        names = [item.name for item in fields(GlobalOptions)]
        return GlobalOptions(
            **{name: getattr(self, name) or getattr(before, name) for name in names}
        )


def signature_of(options: type[GlobalOptions]) -> inspect.Signature:
    """A function that takes a typer context and each field of the dataclass as a keyword."""
    hints = get_type_hints(options, include_extras=True)
    keywords = [
        inspect.Parameter(
            item.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if item.default is MISSING else item.default,
            annotation=hints[item.name],
        )
        # A command's own options come before those of every command.
        for item in sorted(fields(options), key=_is_global)
    ]
    context = inspect.Parameter(
        "context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )
    return inspect.Signature([context, *keywords])


def taking(options: type[GlobalOptions], function: Callable[..., None]) -> Callable[..., None]:
    """The function, with its signature made from the dataclass, for typer to read."""
    function.__signature__ = signature_of(options)  # type: ignore[attr-defined]
    return function


def _is_global(item: Any) -> bool:
    return item.name in GlobalOptions.__dataclass_fields__
