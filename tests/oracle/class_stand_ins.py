"""Stand-ins for `self`, `u`, `e` and `v`, which the functions of a program are called with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.oracle import machine_numbers as machine
from tests.oracle.class_texts import ClassText, Declared
from tests.oracle.given_values import given_value

if TYPE_CHECKING:
    from tests.oracle.class_runs import Run, State


class Self:
    """What `self` knows: the parameters, and in `update` the iteration."""

    def __init__(self, loaded: ClassText, values: Mapping[str, Any]) -> None:
        for name, kind in loaded.parameters.items():
            value = values[name]
            if kind == "vertices":
                value = _Set(value)
            elif kind == "pairs":
                value = _PairSource(machine.Int(value))
            else:
                value = given_value(kind if isinstance(kind, type) else int, value)
            setattr(self, name, value)


@dataclass(frozen=True)
class _PairSource:
    source: Any


class _Set:
    def __init__(self, vertices: Sequence[int]) -> None:
        self.vertices = set(map(int, vertices))

    def __contains__(self, vertex: Vertex) -> bool:
        return vertex._number in self.vertices


class Edge:
    def __init__(self, loaded: ClassText, properties: Mapping[str, Any]) -> None:
        self._loaded, self._properties = loaded, properties

    def __getattr__(self, name: str) -> Any:
        return self[name]

    def __getitem__(self, name: str) -> Any:
        return machine.of_type(self._loaded.properties.get(name, float), self._properties[name])


class Vertex:
    """One vertex in one call: it reads state, and writes it or sends where the function may."""

    def __init__(
        self,
        run: Run,
        number: int,
        state: State,
        accumulated: Mapping[str, Any],
        *,
        writes: bool = False,
        sends: bool = False,
    ) -> None:
        given = locals()
        for name in ("run", "number", "state", "accumulated", "writes", "sends"):
            object.__setattr__(self, f"_{name}", given[name])

    def __getattr__(self, name: str) -> Any:
        run, at = self._run, self._number
        if name in run.facts[at]:
            return run.facts[at][name]
        if name in run.loaded.vertex_properties:
            item, value = run.loaded.vertex_properties[name], run.given[at][name]
            return given_value(item.type, item.default if value is None else value)
        if name in run.loaded.state:
            value, item = self._state[name][at], run.loaded.state[name]
        else:
            value, item = self._accumulated[name][at], run.loaded.accumulators[name]
            if self._sends:
                return _Sending(item, run.setting(item.size), value)
        return _Array(item, value, self._writes) if isinstance(value, list) else value

    def __setattr__(self, name: str, value: Any) -> None:
        assert self._writes
        self._state[name][self._number] = machine.of_type(self._run.loaded.state[name].type, value)

    def __eq__(self, other: object) -> bool:
        mine = machine.Int(self._number)
        return bool(mine == (machine.Int(other._number) if isinstance(other, Vertex) else other))

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class _Array:
    item: Declared
    values: list[Any]
    writes: bool

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, at: Any) -> Any:
        return self.values[_within(at, len(self.values))]

    def __setitem__(self, at: Any, value: Any) -> None:
        assert self.writes
        self.values[_within(at, len(self.values))] = machine.of_type(self.item.type, value)


@dataclass(frozen=True)
class _Sending:
    item: Declared
    size: int | None
    sent: list[Any]
    at: int | None = None

    def __len__(self) -> int:
        assert self.size is not None
        return self.size

    def __getitem__(self, at: Any) -> _Sending:
        return _Sending(self.item, self.size, self.sent, _within(at, len(self)))

    def __call__(self, value: Any = 1) -> None:
        if isinstance(value, list):
            for at, one in enumerate(value):
                self[at](one)
        else:
            self.sent.append((self.at, machine.of_type(self.item.type, value)))


def _within(at: Any, size: int) -> int:
    if not 0 <= int(at) < size:
        raise IndexError(f"{at} is outside of an array of {size}")
    return int(at)
