"""Random regular paths drawn by a seed, as users write them and as the oracle has them.

The texts are written here, and not by the product: so they also go through its parser. Patterns of
Cypher are those in which no relationship can occur twice, because each label stands in one step.
"""

from __future__ import annotations

import random
from typing import Any

LABELS = ("a", "b", "c")
Drawn = tuple[str, Any]


def random_path(pick: random.Random, size: int = 4) -> Drawn:
    """A property path, or at times a pattern of Cypher; with its meaning."""
    return _pattern(pick) if pick.random() < 0.15 else _path(pick, size)


def _path(pick: random.Random, size: int) -> Drawn:
    if size <= 1:
        return _step(pick)
    kind = pick.randrange(4)
    if kind == 0:
        text, node = _path(pick, size - 1)
        return f"^({text})", ("inverse", node)
    if kind == 1:
        return _repeated(pick, *_path(pick, size - 1))
    first = pick.randrange(1, size)
    (one, left), (other, right) = _path(pick, first), _path(pick, size - first)
    if kind == 2:
        return f"({one})/({other})", ("sequence", [left, right])
    return f"({one})|({other})", ("alternative", [left, right])


def _step(pick: random.Random) -> Drawn:
    one, other = pick.sample(LABELS, 2)
    return pick.choice(
        [
            (one, ("step", one)),
            (one, ("step", one)),
            (f"^{one}", ("inverse", ("step", one))),
            (f"!{one}", ("except", (one,), None)),
            (f"!({one}|{other})", ("except", (one, other), None)),
            (f"!^{one}", ("except", None, (one,))),
            (f"!({one}|^{other})", ("except", (one,), (other,))),
            ("!()", ("except", (), None)),
        ]
    )


def _repeated(pick: random.Random, text: str, node: Any) -> Drawn:
    least, more = pick.randrange(3), pick.randrange(3)
    written, low, high = pick.choice(
        [
            ("*", 0, None),
            ("+", 1, None),
            ("?", 0, 1),
            (f"{{{least}}}", least, least),
            (f"{{{least},{least + more}}}", least, least + more),
            (f"{{{least},}}", least, None),
            (f"{{,{more}}}", 0, more),
        ]
    )
    return f"({text}){written}", ("repeat", node, low, high)


def _pattern(pick: random.Random) -> Drawn:
    """`(x)-[:a]->()<-[:b*1..3]-(y)`: each label in one relationship."""
    texts, nodes = ["(x)"], []
    for label in pick.sample(LABELS, pick.randrange(1, 4)):
        stars = [("", 1, 1), ("*", 1, None), ("*0..", 0, None), ("*1..3", 1, 3), ("*..2", 1, 2)]
        star, low, high = pick.choice(stars)
        back = pick.random() < 0.5
        inside = f"[:{label}{star}]"
        texts.append(f"<-{inside}-()" if back else f"-{inside}->()")
        step: Any = ("step", label)
        nodes.append(("repeat", ("inverse", step) if back else step, low, high))
    return "".join(texts), ("sequence", nodes)
