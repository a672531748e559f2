"""What the synchronous kernels want to know of a program before they are written.

Each fact lets a kernel leave something out; where one cannot be shown, it is taken to be against
the program, which costs time and never changes a result.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphtide.engine.sections import program_function
from graphtide.plan import programs as p
from graphtide.plan.expressions import StateRef
from graphtide.plan.program_reads import Reads, reads
from graphtide.plan.program_symbols import ClosedFormError, update_form


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
        """As functions of a module."""
        return [
            line
            for name, value in vars(self).items()
            for line in program_function("np.bool_", f"{name}()", str(value))
        ]


def synchronous_facts(program: p.VertexProgram) -> SynchronousFacts:
    """What holds of a program."""
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
