"""Walk programs by hand whose walks read state, most of them until nothing changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w
from tests.equivalence.walk_cases import BOTH, COUNT, ONE, OUT, SUM, less

MIN, MAX, OR, PRODUCT = (
    p.AccumulatorKind.MIN,
    p.AccumulatorKind.MAX,
    p.AccumulatorKind.OR,
    p.AccumulatorKind.PRODUCT,
)
FAR = x.Const(99, x.INT)


def program(name: str, state: tuple[p.StateField, ...], **given: Any) -> w.WalkProgram:
    """A program with nothing but what is given."""
    plain: dict[str, Any] = {
        "parameters": (),
        "accumulators": (),
        "globals": (),
        "matches": (),
        "initialize": (),
        "update": (),
    }
    return w.WalkProgram(name=name, state=state, root="u", **{**plain, **given})


def read(vertex: str, name: str = "level", kind: x.ValueType = x.INT) -> x.StateRef:
    return x.StateRef(vertex, name, kind)


def two_steps(way: p.Direction, *body: w.WalkStatement) -> w.Step:
    return w.Step("u", way, "v", None, (w.Step("v", way, "w", None, body),))


def far_labels() -> w.WalkProgram:
    """The least label within any even number of steps: a label goes two at a time."""
    least = x.Call("min", (read("v", "label"), x.AccumulatorRef("best", x.INT)), x.INT)
    return program(
        "FarLabels",
        (p.StateField("label", x.INT, 0),),
        accumulators=(p.Accumulator("best", MIN, x.INT),),
        initialize=(p.AssignState("label", x.VertexFact("v", "id")),),
        traverse=(two_steps(BOTH, w.SendAt("w", "best", read("u", "label"))),),
        update=(p.AssignState("label", least),),
    )


def far_ranks() -> w.WalkProgram:
    """Ranks that go two steps at a time, parted by the degrees on their way."""
    rank = x.StateRef("u", "rank", x.FLOAT)
    ways = x.Binary("*", x.VertexFact("u", "out_degree"), x.VertexFact("v", "out_degree"))
    part = x.Binary("/", rank, x.Call("float", (ways,), x.FLOAT))
    taken = x.Binary("*", x.Const(0.85, x.FLOAT), x.AccumulatorRef("arrived", x.FLOAT))
    inner = w.Step("v", OUT, "w", "f", (w.SendAt("w", "arrived", part),))
    return program(
        "FarRanks",
        (p.StateField("rank", x.FLOAT, 1.0),),
        accumulators=(p.Accumulator("arrived", SUM, x.FLOAT),),
        traverse=(w.Step("u", OUT, "v", "e", (inner,)),),
        update=(p.AssignState("rank", x.Binary("+", x.Const(0.15, x.FLOAT), taken)),),
        iterations=4,
    )


def rising_ranks() -> w.WalkProgram:
    """The same along edges of which the second weighs more: a range of a vertex's edges."""
    weights = (x.EdgeProperty("weight", x.FLOAT, edge) for edge in ("e", "f"))
    rises = x.Compare("<", *weights)
    sent = w.SendAt(
        "w", "arrived", x.Binary("*", read("u", "rank", x.FLOAT), x.Const(0.25, x.FLOAT))
    )
    inner = w.Step("v", OUT, "w", "f", (w.When(rises, (sent,)),))
    return replace(
        far_ranks(), name="RisingRanks", traverse=(w.Step("u", OUT, "v", "e", (inner,)),)
    )


def _levels(name: str, *walks: w.WalkStatement, **given: Any) -> w.WalkProgram:
    """Levels from one vertex, two steps at a time, and other walks beside."""
    here = x.Compare("==", x.VertexFact("v", "id"), x.ParameterRef("here", x.INT))
    start = x.Choice(here, x.Const(0, x.INT), FAR)
    next_level = x.Binary("+", read("u"), ONE)
    reached = two_steps(OUT, w.SendAt("w", "near", next_level))
    least = x.Call("min", (read("v"), x.AccumulatorRef("near", x.INT)), x.INT)
    found = p.Accumulator("near", MIN, x.INT)
    before = w.When(x.Compare("<", read("u"), FAR), (reached,))
    return program(
        name,
        (p.StateField("level", x.INT, 99), *given.pop("state", ())),
        parameters=(p.Parameter("here", p.ParameterKind.VERTEX),),
        accumulators=(found, *given.pop("accumulators", ())),
        initialize=(p.AssignState("level", start),),
        traverse=(before, *walks),
        update=(p.AssignState("level", least), *given.pop("update", ())),
        **given,
    )


def levels() -> w.WalkProgram:
    """How many times two steps it takes from one vertex; rounds come and go with the distance."""
    return _levels("Levels")


def level_edges() -> w.WalkProgram:
    """Triangles on one level, counted and reported, while levels are found."""
    same = x.Boolean(
        "and",
        (
            less("a", "b"),
            x.Joined("u", "b", "both"),
            x.Compare("==", read("u"), read("a")),
            x.Compare("==", read("a"), read("b")),
        ),
    )
    row = w.Report("sides", (x.VertexFact("u", "id"), x.VertexFact("b", "id"), read("u")))
    sends = (w.SendAt("u", "here_too", ONE), w.SendGlobal("total", read("a")), row)
    inner = w.Step("a", BOTH, "b", None, (w.When(same, sends),))
    return _levels(
        "LevelEdges",
        w.Step("u", BOTH, "a", None, (inner,)),
        state=(p.StateField("found", x.INT, 0),),
        accumulators=(p.Accumulator("here_too", COUNT, x.INT),),
        globals=(p.Accumulator("total", SUM, x.INT),),
        matches=(w.Matches("sides", (("u", "vertex"), ("b", "vertex"), ("level", x.INT))),),
        update=(p.AssignState("found", x.AccumulatorRef("here_too", x.INT)),),
    )


def lone_counters() -> w.WalkProgram:
    """Vertices without walks count to six, however short the runs of the others are."""
    count, own = x.AccumulatorRef("seen", x.INT), read("v", "n")
    more = x.Call("min", (x.Binary("+", own, ONE), x.Const(6, x.INT)), x.INT)
    alone = x.Compare("==", count, x.Const(0, x.INT))
    degrees = x.Binary("+", x.VertexFact("v", "degree"), x.Const(2, x.INT))
    small = x.Compare("<", read("u", "n"), x.Const(5, x.INT))
    return program(
        "Counters",
        (p.StateField("n", x.INT, 0),),
        accumulators=(p.Accumulator("seen", COUNT, x.INT),),
        traverse=(w.When(small, (two_steps(OUT, w.SendAt("w", "seen", ONE)),)),),
        update=(p.AssignState("n", x.Choice(alone, more, degrees)),),
        iterations=9,
    )


def spread() -> w.WalkProgram:
    """What spreads over two steps until enough have it: `update` reads the whole graph."""
    has, any_ = read("u", "has", x.BOOL), x.AccumulatorRef("any", x.BOOL)
    few = x.Compare("<", x.GlobalRef("total", x.INT), x.Const(5, x.INT))
    taken = x.Boolean("or", (read("v", "has", x.BOOL), x.Boolean("and", (any_, few))))
    here = x.Compare("==", x.VertexFact("v", "id"), x.ParameterRef("here", x.INT))
    reached = two_steps(BOTH, w.SendAt("w", "any", x.Const(True, x.BOOL)))
    return program(
        "Spread",
        (p.StateField("has", x.BOOL, False),),
        parameters=(p.Parameter("here", p.ParameterKind.VERTEX),),
        accumulators=(p.Accumulator("any", OR, x.BOOL),),
        globals=(p.Accumulator("total", COUNT, x.INT), p.Accumulator("least", MIN, x.INT)),
        initialize=(p.AssignState("has", here),),
        traverse=(
            w.When(has, (reached, w.SendGlobal("total", ONE))),
            w.When(has, (w.SendGlobal("least", x.VertexFact("u", "id")),)),
        ),
        update=(p.AssignState("has", taken),),
    )


def doubtful() -> w.WalkProgram:
    """Walks along edges of rising kind that go on from state to state, and send what no
    accumulator can give back: products with 0 and infinity, least and greatest values.
    """
    kinds = (x.EdgeProperty("kind", x.INT, edge) for edge in ("e", "f"))
    weight = x.EdgeProperty("weight", x.FLOAT, "f")
    own = x.EdgeProperty("kind", x.INT, "e")
    wanted = x.Boolean("and", (x.Compare("<", *kinds), x.Compare("<=", read("u"), read("w"))))
    sends = (
        w.SendGlobal("whole_product", weight),
        w.SendGlobal("whole_least", weight),
        w.SendGlobal("whole_most", own),
        w.SendAt("w", "least", own),
        w.SendAt("v", "product", weight),
        w.SendAt("u", "seen", ONE),
    )
    inner = w.Step("v", OUT, "w", "f", (w.When(wanted, sends),))
    few = x.Compare("<", x.GlobalRef("whole_most", x.INT), x.Const(2, x.INT))
    more = x.Binary("+", x.AccumulatorRef("seen", x.INT), x.Choice(few, ONE, x.Const(0, x.INT)))
    low = x.Compare("<", x.AccumulatorRef("least", x.INT), x.Const(1, x.INT))
    level = x.Binary("+", x.Binary("+", read("v"), more), x.Choice(low, ONE, x.Const(0, x.INT)))
    return program(
        "Doubtful",
        (p.StateField("level", x.INT, 0), p.StateField("times", x.FLOAT, 1.0)),
        accumulators=(
            p.Accumulator("least", MIN, x.INT),
            p.Accumulator("product", PRODUCT, x.FLOAT),
            p.Accumulator("seen", COUNT, x.INT),
        ),
        globals=(
            p.Accumulator("whole_product", PRODUCT, x.FLOAT),
            p.Accumulator("whole_least", MIN, x.FLOAT),
            p.Accumulator("whole_most", MAX, x.INT),
        ),
        traverse=(w.Step("u", OUT, "v", "e", (inner,)),),
        update=(
            p.AssignState("level", x.Binary("%", level, x.Const(3, x.INT))),
            p.AssignState("times", x.AccumulatorRef("product", x.FLOAT)),
        ),
        iterations=4,
    )
