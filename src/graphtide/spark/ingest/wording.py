"""Options of a load as a hint writes them: in the language that the load was asked for in.

A hint that its reader cannot follow is worse than none: whoever loads with GVDL is told
`src '...'`, whoever loads from the command line `--src ...`. In `graph.append` of Python, `id` is
the name of a batch, and `vertex_id` that of a column. GVDL has fewer options than a load; for the
others the hint names the command that has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Wording = Literal["python", "append", "gvdl", "shell"]
OptionValue = str | int | float | bool | None | tuple[str, ...] | Mapping[str, str]

_GVDL = {
    **{name: name for name in ("id", "src", "dst", "label", "edge_label")},
    **{name: name for name in ("separator", "comment", "timezone")},
    "header": "has_headers",
    "on_bad_rows": "on bad rows",
    "at_most": "at most",
}
_SHELL = {"types": "type", "formats": "format", "null_values": "null"}


def option_text(wording: Wording, name: str, value: OptionValue) -> str:
    """An option with its value as the user would write it."""
    if wording == "append" and name == "id":
        name = "vertex_id"
    if wording in ("python", "append"):
        return f"{name}={list(value) if isinstance(value, tuple) else value!r}"
    if wording == "gvdl" and name in _GVDL:
        return f"{_GVDL[name]} {_gvdl_value(name, value)}"
    written = " ".join(_shell_words(name, value))
    return f"{written} of `graphtide load`" if wording == "gvdl" else written


def _gvdl_value(name: str, value: OptionValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    return str(value) if name == "on_bad_rows" else f"'{value}'"


def _shell_words(name: str, value: OptionValue) -> list[str]:
    option = f"--{_SHELL.get(name, name).replace('_', '-')}"
    if isinstance(value, bool):
        return [option if value else f"--no-{name}"]
    if isinstance(value, Mapping):
        return [f"{option} {key}={item}" for key, item in value.items()]
    if isinstance(value, tuple):
        joined = [",".join(value)] if name.endswith("_columns") else value
        return [f"{option} {item}" for item in joined]
    return [f"{option} {'none' if value is None else value}"]
