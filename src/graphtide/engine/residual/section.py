"""The program section of a settling sum, written out from its plan."""

from __future__ import annotations

from graphtide.engine.inputs import KernelInputs
from graphtide.engine.sections import directions, program_function
from graphtide.engine.write import Places, write_expression
from graphtide.plan.programs import VertexProgram
from graphtide.plan.settling_sums import SettlingSum

_DEGREES = {
    "out_degree": "np.int64(graph.out.live[source])",
    "in_degree": "np.int64(graph.into.live[source])",
    "degree": "(np.int64(graph.out.live[source]) + np.int64(graph.into.live[source]))",
}


def residual_section(program: VertexProgram, found: SettlingSum) -> str:
    """`base`, `share` and the ways that edges are taken."""
    places = _places(program)
    base = f"np.float64({write_expression(found.base, places)})"
    share = f"np.float64({write_expression(found.share, places)})"
    return "\n".join(
        [
            *directions(program),
            *program_function("np.float64", "base(vertex, read)", base),
            *program_function("np.float64", "share(source, graph, read)", share),
        ]
    )


def _places(program: VertexProgram) -> Places:
    """Names as they are in functions of one vertex: plain arguments."""
    inputs = KernelInputs(program)

    def vertex(which: str) -> str:
        return "source" if which == "u" else "vertex"

    def refuse(*_: object) -> str:
        raise AssertionError("a settling sum has no such thing")

    def refuse_send(*_: object) -> list[str]:
        raise AssertionError("a settling sum sends by its shares alone")

    def fact(which: str, name: str) -> str:
        return f"np.int64({vertex(which)})" if name == "id" else _DEGREES[name]

    return Places(
        parameter=inputs.parameter,
        edge_property=refuse,
        state=refuse,
        accumulator=refuse,
        fact=fact,
        vertex_property=lambda which, name: inputs.vertex_property(name, vertex(which)),
        text=inputs.text,
        member=lambda which, name: f"{inputs.parameter(name)}[{vertex(which)}]",
        assign=refuse,
        send=refuse_send,
    )
