"""The 22 queries of TPC-H as maintained views: see README.md."""

from examples.tpch.first_queries import FIRST
from examples.tpch.more_queries import MORE
from examples.tpch.tables import Tables

QUERIES = {**FIRST, **MORE}
"""The queries by number: each takes the tables and gives a collection."""

__all__ = ["QUERIES", "Tables"]
