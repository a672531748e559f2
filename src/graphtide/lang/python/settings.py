"""The settings of a program: which way edges go, how many iterations, and the tolerance.

`iterations` and `tolerance` are a number, the name of a parameter, or a parameter themselves:
`iterations: int = 10` declares one that the caller may give.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass

from graphtide.lang.python.source import ClassSource
from graphtide.plan.programs import Direction, Parameter, ParameterKind


@dataclass(frozen=True)
class Settings:
    """What a program says besides its fields and functions."""

    direction: Direction = Direction.OUT
    iterations: int | str | None = None
    tolerance: float | str = 0.0


def read_settings(
    source: ClassSource,
    places: Mapping[str, ast.stmt],
    parameters: Mapping[str, Parameter],
) -> Settings:
    """The settings that the class gives, and the usual ones where it gives none."""
    reader = _SettingReader(source, places, parameters)
    values = source.values
    return Settings(
        reader.direction(values.get("direction", "out")),
        reader.iterations(values.get("iterations")),
        reader.tolerance(values.get("tolerance", 0.0)),
    )


@dataclass(frozen=True)
class _SettingReader:
    source: ClassSource
    places: Mapping[str, ast.stmt]
    parameters: Mapping[str, Parameter]

    def direction(self, value: object) -> Direction:
        """One of the three ways."""
        if isinstance(value, str) and value in tuple(Direction):
            return Direction(value)
        raise self.source.error(
            self.places["direction"],
            f"edges cannot be traversed {value!r}",
            '`direction` is "out", "in" or "both"',
        )

    def iterations(self, value: object) -> int | str | None:
        """A number, a parameter, or None."""
        name = self._parameter("iterations", value, ParameterKind.INT)
        if name is not None or value is None:
            return name
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        raise self.source.error(
            self.places["iterations"],
            f"{value!r} is no number of iterations",
            "give a number, the name of an int parameter, or None to go on until nothing changes",
        )

    def tolerance(self, value: object) -> float | str:
        """A number or a parameter."""
        name = self._parameter("tolerance", value, ParameterKind.FLOAT)
        if name is not None:
            return name
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and 0 <= float(value) < math.inf:  # type: ignore[arg-type]
            return float(value)  # type: ignore[arg-type]
        raise self.source.error(
            self.places["tolerance"],
            f"{value!r} is no tolerance",
            "give 0 or more, as a share of the value, or the name of a float parameter",
        )

    def _parameter(self, setting: str, value: object, kind: ParameterKind) -> str | None:
        """The name of the parameter that the setting is, or names."""
        name = setting if setting in self.parameters else value
        if not isinstance(name, str):
            return None
        if name not in self.parameters or self.parameters[name].kind is not kind:
            raise self.source.error(
                self.places[setting],
                f"'{name}' is no {kind} parameter, so it cannot be the {setting}",
                f"declare it: `{name}: {kind} = ...`",
            )
        return name
