"""Datalog in the spelling of Soufflé: text to tree, tree to a plan of rules, and back to text.

The grammar is `grammar.lark`; the reference for users is docs/reference/datalog.md.
"""

from graphtide.lang.datalog.parse import parse_datalog, parse_goal
from graphtide.lang.datalog.program import DatalogText, read_datalog
from graphtide.lang.datalog.resolve import lower_datalog, lower_goal
from graphtide.lang.datalog.tree import unparse_datalog

__all__ = [
    "DatalogText",
    "lower_datalog",
    "lower_goal",
    "parse_datalog",
    "parse_goal",
    "read_datalog",
    "unparse_datalog",
]
