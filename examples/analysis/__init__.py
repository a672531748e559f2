"""Static analysis of C by rules: facts of a program, and what follows from them.

    table = extract(["list.c"])                     # the facts of a program, as a table of edges
    nulls = gt.datalog(RULES / "nulls.dl")          # where nulls end up
    nulls.insert("edge", rules_table(table))

`README.md` says how to run it, over the versions of a program too.
"""

from pathlib import Path

from examples.analysis.facts import graph_of, number_vertices, rules_table, together

RULES = Path(__file__).parent

__all__ = ["RULES", "graph_of", "number_vertices", "rules_table", "together"]
