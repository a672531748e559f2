"""The machines of a host, and the dataflows that dwell on them: installed, shared, taken out.

A plan becomes the same operators in every machine. Dataflows share arrangements by the address of
their trace in the first machine; whoever holds one keeps its versions from being merged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from graphtide.engine.dataflow.checking import Checker
from graphtide.engine.dataflow.crew import Crew
from graphtide.engine.dataflow.dweller import Dweller, own_traces
from graphtide.engine.dataflow.foreign import Function
from graphtide.engine.dataflow.handlers import set_handlers
from graphtide.engine.dataflow.limits import limit_of
from graphtide.engine.dataflow.lower import Lowering
from graphtide.engine.dataflow.machine import DEFAULT_FUEL, DEFAULT_MEMORY, Machine
from graphtide.engine.dataflow.making import Installed
from graphtide.engine.dataflow.paths import MOST_ROUNDS
from graphtide.engine.dataflow.removing import remove
from graphtide.engine.dataflow.schedule import placed
from graphtide.engine.dataflow.texts import Texts
from graphtide.kernels.dataflow import layout
from graphtide.model.errors import InputError
from graphtide.plan.dataflow import DataflowPlan, Import, Input, Reduce


@dataclass
class Dwelling(ABC):
    """Settings of the machines, and who dwells there."""

    coordinates: int = 1
    memory: int = DEFAULT_MEMORY
    effort: int = 4
    fuel: int = DEFAULT_FUEL
    most_rounds: int = MOST_ROUNDS
    debug: bool = False
    once: bool = False
    workers: int = 1
    texts: Texts = field(default_factory=Texts)

    def __post_init__(self) -> None:
        self.crew = Crew(
            [
                Machine(
                    memory=self.memory // self.workers,
                    version_coordinates=self.coordinates,
                    effort=self.effort,
                    fuel=self.fuel,
                    workers=self.workers,
                    worker=worker,
                )
                for worker in range(self.workers)
            ]
        )
        self.machine = self.crew.machines[0]
        # An update takes twenty microseconds: one worker is asked itself, and not by way of a crew.
        self._runner: Machine | Crew = self.machine if self.workers == 1 else self.crew
        self.dwellers: list[Dweller] = []
        self.shared: set[int] = set()
        self.frontier: list[int] = [0]
        self.since: list[int] = [0]
        self.held: dict[int, list[int]] = {}
        self._fresh = self._fresh_history = False
        self._labelled = 0
        self._checkers: dict[int, Checker] = {}
        self._inputs: dict[int, int] = {}
        """The operators of inputs that send what is fed to them, by port."""
        self._keys: dict[int, int] = {}
        """Words of the keys that decide which worker has what is fed to a port."""

    def install(self, plan: DataflowPlan, functions: Sequence[Function]) -> Dweller:
        """Make a plan part of the machine; it takes part from the next batch on."""
        lowerings = [
            self._lowering(worker, machine, plan)
            for worker, machine in enumerate(self.crew.machines)
        ]
        installed = self._installed(lowerings)
        feeds = {
            number: lowerings[0].shortcut(number)
            for number, node in enumerate(plan.nodes)
            if isinstance(node, Input)
        }
        self.crew.note(installed)
        for machine, done in zip(self.crew.machines, installed, strict=True):
            set_handlers(machine, plan, done, functions, self.texts)
        if any(isinstance(node, Reduce) and node.texts for node in plan.nodes):
            self.machine.before_run = self._set_labels
        dweller = Dweller(plan, tuple(installed), feeds)
        self.dwellers.append(dweller)
        if not self.debug:
            ports, operators = dweller.installed.ports, dweller.installed.operators
            direct = {port: operators[n] for n, port in feeds.items() if port == ports[n]}
            self._inputs.update(direct)
            self._note_keys(lowerings[0], feeds.values())
        if self.debug:
            self._checkers[id(dweller)] = Checker(
                self.crew, self.texts, dweller, functions, self.owner_of
            )
        imports = [node for node in plan.nodes if isinstance(node, Import)]
        self._fresh |= bool(imports)
        self._fresh_history |= any(node.history for node in imports)
        self._reschedule()
        return dweller

    def _note_keys(self, lowering: Lowering, ports: Iterable[int]) -> None:
        """Note by which words of a row workers share what users feed straight to an index."""
        numbers = {port: number for number, port in lowering.done.ports.items()}
        for port in ports:
            if self.workers > 1 and port not in self._inputs:
                self._keys[port] = lowering.key_words(numbers[port]) or 0

    def _installed(self, lowerings: Sequence[Lowering]) -> list[Installed]:
        """What a plan becomes in each machine; nothing is left of one that cannot be installed."""
        try:
            return [lowering.install() for lowering in lowerings]
        except BaseException as error:
            for lowering in lowerings:
                done = lowering.done
                traces = own_traces(lowering.plan, done).values()
                remove(lowering.machine, done.operators.values(), done.ports.values(), traces)
            if isinstance(error, MemoryError):
                raise limit_of(error, len(self.machine.words) * 8) from error
            raise

    def _lowering(self, worker: int, machine: Machine, plan: DataflowPlan) -> Lowering:
        """A plan on its way into the machine of one worker."""
        return Lowering(
            machine,
            plan,
            {trace: self.crew.twin(worker, trace) for trace in self.shared},
            self.texts.code,
            self.frontier[0] if self.coordinates == 1 else 0,
            watch=self.debug,
            most_rounds=self.most_rounds,
            once=self.once,
        )

    def share(self, trace: int) -> int:
        """A number under which other dataflows can import a trace."""
        self.shared.add(trace)
        return trace

    def hold(self, trace: int, version: int) -> None:
        """Keep the versions from one on apart in a trace, until it is let go."""
        self.held.setdefault(trace, []).append(version)
        self.crew.set_held(trace, self.held[trace])

    def let_go(self, trace: int, version: int) -> None:
        """Undo one hold."""
        self.held[trace].remove(version)
        self.crew.set_held(trace, self.held[trace])

    def uninstall(self, dweller: Dweller) -> None:
        """Free all that a dataflow made; what it imported stays with its owner."""
        own = set(own_traces(dweller.plan, dweller.installed).values())
        users = [
            other.plan.name
            for other in self.dwellers
            if other is not dweller and own & set(other.installed.traces.values())
        ]
        if users:
            raise InputError(
                f"{dweller.plan.name} cannot be closed: {', '.join(users)} imports from it",
                hint="close that one first",
            )
        self.dwellers.remove(dweller)
        self._checkers.pop(id(dweller), None)
        self._reschedule()
        done = dweller.installed
        ports = {*done.ports.values(), *done.watched.values()}
        self._forget_fed(ports)
        self.shared -= own
        for port in ports:
            self._inputs.pop(port, None)
            self._keys.pop(port, None)
        for trace in own & set(self.held):
            self.crew.set_held(trace, [])
            del self.held[trace]
        for worker, machine in enumerate(self.crew.machines):
            done = dweller.shards[worker]
            ports = {*done.ports.values(), *done.watched.values()}
            traces = {self.crew.twin(worker, trace) for trace in own}
            remove(machine, done.operators.values(), ports, traces)
        done = dweller.installed
        self.crew.forget({*done.operators.values(), *done.ports.values(), *own})
        self.crew.forget(done.watched.values())

    def owner_of(self, trace: int) -> tuple[Checker, int]:
        """The checker of the dataflow that made a trace, and the node that it belongs to there."""
        for dweller in self.dwellers:
            for number, trace_there in dweller.installed.traces.items():
                if trace_there == trace and not isinstance(dweller.plan.nodes[number], Import):
                    return self._checkers[id(dweller)], number
        raise AssertionError("an import has an owner")

    def _set_labels(self) -> None:
        """Hand the labels of texts to the machine where texts have come."""
        if len(self.texts) != self._labelled:
            labels = self.texts.labels()
            for machine in self.crew.machines:
                machine.set_labels(labels)
            self._labelled = len(self.texts)

    def _shape(self) -> int:
        """How the words of versions are divided."""
        return int(self.machine.words[layout.VERSION_SHAPE])

    @abstractmethod
    def _forget_fed(self, ports: set[int]) -> None:
        """Drop what waits for ports that are no more."""

    def _reschedule(self) -> None:
        for worker, machine in enumerate(self.crew.machines):
            shards = [dweller.shards[worker] for dweller in self.dwellers]
            machine.set_schedule(placed([item for done in shards for item in done.instructions]))
