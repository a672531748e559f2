"""The reference of the command line: its examples are accepted, and no option is left out."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from graphtide.cli.main import app

REFERENCE = Path(__file__).parents[3].joinpath("docs/reference/cli.md").read_text(encoding="utf-8")
TOP: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
COMMANDS: dict[str, Any] = {
    " ".join([name, *inner]): found
    for name, command in TOP.items()
    for inner, found in [
        ([], command) if not hasattr(command, "commands") else ([one], sub)
        for one, sub in getattr(command, "commands", {"": command}).items()
    ]
}


def examples() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", REFERENCE, re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line.split("| ")[-1] for line in lines]


@pytest.mark.parametrize("line", examples())
def test_examples_are_accepted(line: str) -> None:
    program, name, *words = shlex.split(line)
    assert program == "graphtide"
    if name not in COMMANDS:
        name, words = f"{name} {words[0]}", words[1:]
    COMMANDS[name].make_context(name, words).close()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_described(name: str) -> None:
    options = [item for item in COMMANDS[name].params if item.param_type_name == "option"]
    for option in options:
        for word in (*option.opts, *option.secondary_opts):
            assert re.search(rf"`{word}[` ]|, `?{word}[` ]", REFERENCE), word
    assert f"## {name.split()[0]}\n" in REFERENCE
