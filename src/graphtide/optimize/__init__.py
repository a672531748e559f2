"""Choosing how the views of a collection are reached: chains, trees, stepping stones, bounds.

Everything here works on the classes of a collection and their weights, never on edges, and knows
nothing of Spark, files or languages. `plan_collection` is the way in.
"""

from graphtide.optimize.planner import plan_collection

__all__ = ["plan_collection"]
