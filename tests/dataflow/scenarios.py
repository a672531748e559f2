"""A random dataflow with a random history: run as its own text, compared at every version.

A scenario says what is built, what changes at which version, and where physical batches end. A
second dataflow, which imports arrangements of the first, may come late and go early. Expected
results are the oracle's, from the whole contents of the inputs at each version.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.dataflow.writing import HEADER, lines
from tests.oracle.flow_operators import NotLegalError, Records
from tests.oracle.flow_values import order, plain
from tests.oracle.flows import Description, Run

Change = tuple[int, int, tuple[Any, ...], int]
"""Input, version, record, diff."""


@dataclass(frozen=True)
class Guest:
    """A dataflow beside the first, there from one batch to another."""

    description: Description
    changes: tuple[Change, ...]
    comes: int
    goes: int


@dataclass(frozen=True)
class Scenario:
    """Versions are numbers; with `columns` they stand for pairs, row by row of so many."""

    description: Description
    changes: tuple[Change, ...]
    stops: tuple[int, ...]
    settings: tuple[tuple[str, Any], ...] = ()
    guest: Guest | None = None
    columns: int = 0
    held: tuple[int, ...] = ()
    """Before these batches a handle is taken, which keeps the version readable to the end."""


class MismatchError(AssertionError):
    """What a dataflow gave is not what it means; the script so far shows it."""


@dataclass
class _Seen:
    """What an output has put out: rows of record, version and diff."""

    rows: list[tuple[Any, Any, int]] = field(default_factory=list)


def expected(scenario: Scenario) -> dict[tuple[str, int], Run]:
    """The oracle's runs by dataflow and version, all of them made: an error where there is none."""
    found: dict[tuple[str, int], Run] = {}
    guest = scenario.guest
    for version in range(scenario.stops[-1]):
        first = Run(scenario.description, _contents(scenario, scenario.changes, version))
        _force(first)
        found["n", version] = first
        if guest is not None:
            inputs = _contents(scenario, guest.changes, version)
            for number, node in enumerate(guest.description.nodes):
                if node.operator == "import_arrangement":
                    inputs[number] = first.value(node.given[0])
            found["m", version] = Run(guest.description, inputs)
            _force(found["m", version])
    return found


def rests_ahead(scenario: Scenario) -> bool:
    """Whether loops come to rest at open versions, too, with what the closed ones bring there.

    A join of two closed versions that are not ordered has its rows at an open one, and what is
    behind it works on them at once.
    """
    versions = range(scenario.columns * scenario.columns)
    for stop in scenario.stops:
        changes = [change for change in scenario.changes if change[1] < stop]
        try:
            for version in versions:
                _force(Run(scenario.description, _contents(scenario, changes, version)))
        except NotLegalError:
            return False
    return True


def _force(run: Run) -> None:
    """Evaluate all that is outside of loops, and so every loop that something leaves."""
    for number, node in enumerate(run.description.nodes):
        if node.scope == 0:
            run.value(number)
    for loop, outer in enumerate(run.description.loops):
        if loop and outer == 0:
            run._last_round(loop, run.outside)


def _contents(scenario: Scenario, changes: Any, version: int) -> dict[int, Records]:
    found: dict[int, Records] = {}
    for number, at, record, diff in changes:
        if _part_of(scenario, at, version):
            key = tuple(plain(item) for item in record)
            held = found.setdefault(number, {})
            held[key] = held.get(key, 0) + diff
    return {n: {r: c for r, c in held.items() if c} for n, held in found.items()}


def _part_of(scenario: Scenario, one: int, other: int) -> bool:
    if not scenario.columns:
        return one <= other
    pairs = zip(divmod(one, scenario.columns), divmod(other, scenario.columns), strict=True)
    return all(a <= b for a, b in pairs)


class Player:
    """Plays a scenario, line by line; `script` is what has been run."""

    def __init__(self, scenario: Scenario, runs: dict[tuple[str, int], Run]) -> None:
        self.scenario = scenario
        self.runs = runs
        self.script: list[str] = []
        self.names: dict[str, Any] = {}
        self.seen: dict[tuple[str, int], _Seen] = {}
        self.advances = 0

    def play(self) -> None:
        """Run the whole scenario and compare after every batch."""
        scenario = self.scenario
        settings = "".join(f", {name}={item!r}" for name, item in scenario.settings)
        for line in HEADER:
            self.do(line)
        self.do(f"n_flow = Dataflow('n', memory=1 << 28, most_rounds=1 << 12{settings})")
        try:
            self._build("n", scenario.description)
            self._batches()
        finally:
            self.names["n_flow"].host.end()

    def do(self, line: str) -> Any:
        """Run a line of the script."""
        self.script.append(line)
        exec(line, self.names)

    def get(self, text: str) -> Any:
        """The value of an expression of the script."""
        return eval(text, self.names)

    def _batches(self) -> None:
        scenario, guest = self.scenario, self.scenario.guest
        before = 0
        handles: list[int] = []
        for batch, stop in enumerate(scenario.stops):
            if batch in scenario.held and before > 0 and not scenario.columns:
                handles.append(before - 1)
                for number in self._arrangements():
                    self.do(f"n{number}_hold{before - 1} = n{number}.hold()")
            if guest is not None and batch == guest.comes:
                self.do("m_flow = Dataflow('m', beside=n_flow)")
                self._build("m", guest.description)
            there = guest is not None and guest.comes <= batch < guest.goes
            if guest is not None and batch == guest.goes:
                self.do("m_flow.close()")
            self._feed("n", scenario.changes, before, stop, 0)
            if guest is not None and there:
                since = scenario.stops[guest.comes - 1] if guest.comes else 0
                self._feed("m", guest.changes, before, stop, since)
            self.do(f"n_flow.advance_to({self._frontier(stop)})")
            self.advances += 1
            self._compare("n", scenario.description, before, stop)
            if guest is not None and there:
                self._compare("m", guest.description, before, stop)
            self._read(handles, stop)
            before = stop

    def _build(self, prefix: str, description: Description) -> None:
        for line in lines(description, prefix, "n"):
            self.do(line)
        for number in description.outputs:
            self.seen[prefix, number] = _Seen()

    def _frontier(self, stop: int) -> str:
        """What stays open when all versions before one are closed: a staircase, for pairs."""
        if not self.scenario.columns:
            return str(stop)
        row, column = divmod(stop, self.scenario.columns)
        stairs = [(row, column)] if column == 0 else [(row, column), (row + 1, 0)]
        return ", ".join(map(str, stairs))

    def _time(self, version: int) -> str:
        return str(divmod(version, self.scenario.columns) if self.scenario.columns else version)

    def _feed(self, prefix: str, changes: Any, before: int, stop: int, since: int) -> None:
        """Feed the changes of a batch, and every third one that is due later, ahead of time.

        Inputs with an odd number get all of them in one go, with a version a record.
        """
        together: dict[int, list[Change]] = {}
        for place, (number, at, record, diff) in enumerate(changes):
            if at < since:
                continue
            early = place % 3 == 0
            due = at < stop and (at >= before) if not early else before == since
            if due and number % 2:
                together.setdefault(number, []).append((number, at, record, diff))
            elif due:
                self.do(f"{prefix}{number}.update([{record!r}], [{diff}], at={self._time(at)})")
        for number, listed in together.items():
            records, diffs = [item[2] for item in listed], [item[3] for item in listed]
            times = ", ".join(self._time(item[1]) for item in listed)
            self.do(f"{prefix}{number}.update({records!r}, {diffs!r}, at=[{times}])")

    def _compare(self, prefix: str, description: Description, before: int, stop: int) -> None:
        for number in description.outputs:
            seen = self.seen[prefix, number]
            seen.rows += self.get(f"{prefix}{number}_out.changes()")
            for version in range(before, stop):
                self._same(prefix, number, version, self._as_of(seen, version))
        if not self.scenario.columns:
            for number in description.outputs:
                total = self.get(f"{prefix}{number}_out.records()")
                self._same(prefix, number, stop - 1, _canonical(total))

    def _as_of(self, seen: _Seen, version: int) -> Records:
        found: Records = {}
        for record, at, diff in seen.rows:
            word = at[0] * self.scenario.columns + at[1] if self.scenario.columns else at
            if _part_of(self.scenario, word, version):
                key = tuple(plain(item) for item in record)
                found[key] = found.get(key, 0) + diff
        return {record: count for record, count in found.items() if count}

    def _same(self, prefix: str, number: int, version: int, found: Records) -> None:
        wanted = self.runs[prefix, version].value(number)
        if found != wanted:
            self.script.append(f"print({prefix}{number}_out.records())")
            raise MismatchError(
                f"{prefix}{number} at version {self._time(version)} is {_shown(found)}, "
                f"and should be {_shown(wanted)}"
            )

    def _arrangements(self) -> list[int]:
        """What can be read as it is: the first few arrangements outside of loops."""
        nodes = self.scenario.description.nodes
        kinds = ("arrange", "threshold", "ends")
        return [n for n, node in enumerate(nodes) if node.scope == 0 and node.operator in kinds][:3]

    def _read(self, handles: list[int], stop: int) -> None:
        """Read arrangements: now, by key, and as of the versions that are held."""
        if self.scenario.columns or ("once", True) in self.scenario.settings:
            return
        for number in self._arrangements():
            for version in [stop - 1, *handles]:
                read = _canonical(self.get(f"n{number}.read(at={version})"))
                self._same("n", number, version, read)
            for record, count in list(self.runs["n", stop - 1].value(number).items())[:2]:
                key = record[: self.get(f"n{number}.key")]
                found = _canonical(self.get(f"n{number}").lookup(*key))
                if found.get(record) != count:
                    raise MismatchError(f"n{number}.lookup{key} gives {_shown(found)}")


def _canonical(records: dict[Any, int]) -> Records:
    return {tuple(plain(item) for item in record): count for record, count in records.items()}


def _shown(records: Records) -> str:
    listed = sorted(records.items(), key=lambda item: [order(part) for part in item[0]])
    return "{" + ", ".join(f"{record}: {count}" for record, count in listed) + "}"
