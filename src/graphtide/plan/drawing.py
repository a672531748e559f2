"""Trees drawn with lines, for `explain`.

A node that is an only child stands straight under its parent, at the same indentation, so that a
chain reads as a list and only real branches move to the right.
"""

from __future__ import annotations

from collections.abc import Sequence


def draw_tree(parents: Sequence[int], labels: Sequence[str]) -> list[str]:
    """One line a node, in the order of the nodes; -1 is the parent of a root.

    Nodes must be listed depth first, each after its parent.
    """
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        children.setdefault(parent, []).append(node)
    lead: dict[int, str] = {-1: "  "}
    lines: list[str] = []
    for node, parent in enumerate(parents):
        siblings = children[parent]
        if len(siblings) == 1:
            bullet, lead[node] = "", lead[parent]
        elif node == siblings[-1]:
            bullet, lead[node] = "└─ ", lead[parent] + "   "
        else:
            bullet, lead[node] = "├─ ", lead[parent] + "│  "
        lines.append(lead[parent] + bullet + labels[node])
    return lines
