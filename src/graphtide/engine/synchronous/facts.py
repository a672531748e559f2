"""What the synchronous kernels want to know of a program, and when a run of it ends.

Each fact lets a kernel leave something out; where one cannot be shown, it is taken to be against
the program, which costs time and never changes a result.

A run ends after a number of iterations, or in the first one in which nothing moves. Where nothing
may move by a tolerance, or where `update` looks at the iteration, a run that went on after its end
would not stand still, and the histories of a longer run say nothing about a shorter one: such a run
is *stopping*, and its end is found by counting who moves in each iteration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphtide.engine.source import program_function
from graphtide.model.errors import InputError, LimitError
from graphtide.plan import programs as p
from graphtide.plan.expressions import StateRef
from graphtide.plan.program_reads import Reads, reads
from graphtide.plan.programs import ClosedFormError, VertexProgram, update_form


@dataclass(frozen=True)
class SynchronousFacts:
    """What a generated module says of its program.

    `reversible`: every accumulator can be corrected by what its messages differ by. `hoisted`:
    a vertex tells all its neighbours the same, at most once. `own_state`: what a vertex has next
    depends on what it has, because update looks at the state it replaces, or messages at v's.
    `source_out_degree`: messages look at how many edges leave u.
    """

    forward: bool
    backward: bool
    reversible: bool
    hoisted: bool
    own_state: bool
    reads_iteration: bool
    source_out_degree: bool
    source_in_degree: bool
    target_degrees: bool
    degrees: bool

    def functions(self) -> list[str]:
        return [
            line
            for name, value in vars(self).items()
            for line in program_function("np.bool_", f"{name}()", str(value))
        ]


def synchronous_facts(program: p.VertexProgram) -> SynchronousFacts:
    messages, starts, updates = map(reads, (program.traverse, program.initialize, program.update))
    own_degrees = starts.target_degrees or updates.target_degrees
    return SynchronousFacts(
        forward=program.direction in (p.Direction.OUT, p.Direction.BOTH),
        backward=program.direction in (p.Direction.IN, p.Direction.BOTH),
        reversible=_reversible(program, messages),
        hoisted=_hoisted(program, messages),
        own_state=bool(messages.target_state) or _update_reads_state(program),
        reads_iteration=updates.iteration,
        source_out_degree=bool(messages.source_facts & {"out_degree", "degree"}),
        source_in_degree=bool(messages.source_facts & {"in_degree", "degree"}),
        target_degrees=messages.target_degrees,
        degrees=own_degrees or messages.source_degrees or messages.target_degrees,
    )


def _reversible(program: p.VertexProgram, messages: Reads) -> bool:
    """A message that looks at v's state changes with v, on all edges into v at once."""
    lossy = (p.AccumulatorKind.MIN, p.AccumulatorKind.MAX)
    return not messages.target_state and all(
        item.kind not in lossy for item in program.accumulators
    )


def _hoisted(program: p.VertexProgram, messages: Reads) -> bool:
    if messages.edge_properties or messages.reads_target or not program.accumulators:
        return False
    return all(
        item.size is None and _most_sent(program.traverse, item.name) <= 1
        for item in program.accumulators
    )


def _most_sent(body: p.Body, name: str) -> int:
    """How often one edge may send to an accumulator; a loop counts as many times."""
    total = 0
    for statement in body:
        match statement:
            case p.Send(accumulator) if accumulator == name:
                total += 1
            case p.If(_, then, otherwise):
                total += max(_most_sent(then, name), _most_sent(otherwise, name))
            case p.ForRange(body=inner):
                total += 2 * _most_sent(inner, name)
    return total


def _update_reads_state(program: p.VertexProgram) -> bool:
    """True unless every field is a scalar that update replaces without looking at any field."""
    if any(item.size is not None for item in program.sized):
        return True
    try:
        forms = update_form(program).state.values()
    except ClosedFormError:
        return True
    return any(isinstance(part, StateRef) for form in forms for part in p.subexpressions(form))


MOST_ITERATIONS = 100_000
"""A run until nothing changes that goes on for longer is taken for one that never ends."""


@dataclass(frozen=True)
class Ending:
    """`last` is the last iteration that may be run, `kept` the last whose rows are kept.

    `settle` is the share of itself that a float may move by and still count as unmoved. A patient
    run goes on where nothing moves.
    """

    last: int
    kept: int
    settle: float
    bounded: bool
    patient: bool
    stopping: bool

    def check_limit(self, name: str, reached: int, *, resting: bool) -> None:
        """Refuse a run until nothing changes that goes on and on."""
        if not self.bounded and reached == MOST_ITERATIONS and not resting:
            raise LimitError(
                f"{name} still changes after {MOST_ITERATIONS:,} iterations",
                hint="give it a number of iterations, or a tolerance",
            )


def run_ending(
    program: VertexProgram, parameters: Mapping[str, Any], iterations: int | None, keep: int | None
) -> Ending:
    """How runs of a program end; `iterations` overrules the program."""
    wanted = program.iterations if iterations is None else iterations
    bound = parameters[wanted] if isinstance(wanted, str) else wanted
    settle = program.tolerance
    settle = float(parameters[settle] if isinstance(settle, str) else settle)
    for value, name in ((bound, "the number of iterations"), (keep, "keep")):
        if value is not None and value < 0:
            raise InputError(f"{program.name}: {name} cannot be {value}", hint="give 0 or more")
    reads_iteration = synchronous_facts(program).reads_iteration
    patient = bound is not None and reads_iteration
    last = MOST_ITERATIONS if bound is None else int(bound)
    return Ending(
        last=last,
        kept=last if keep is None else min(keep, last),
        settle=settle,
        bounded=bound is not None,
        patient=patient,
        stopping=not patient and (settle > 0 or (bound is None and reads_iteration)),
    )
