"""`python -m bench rules [--part PART]`: rules and maintained views, a part a file."""

from __future__ import annotations

import importlib

from bench.figures import Figure

PARTS = {"datalog": "rules_datalog"}


def run(*, quick: bool, part: str | None = None) -> list[Figure]:
    """The figures of one part, or of all."""
    found: list[Figure] = []
    for name in PARTS if part is None else (part,):
        module = importlib.import_module(f"bench.{PARTS[name]}")
        found += module.run(quick=quick)
    return found
