"""Datalog in the spelling of Soufflé: text to tree, tree to a plan of rules, and back to text."""

from graphtide.lang.datalog.parse import parse_datalog, parse_goal
from graphtide.lang.datalog.resolve import lower_datalog, lower_goal
from graphtide.lang.datalog.unparse import unparse_datalog

__all__ = ["lower_datalog", "lower_goal", "parse_datalog", "parse_goal", "unparse_datalog"]
