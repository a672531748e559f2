"""GVDL, the graph view definition language: views and collections of views, by predicate.

`parse` reads text into a tree of `tree` and `statements`, `unparse` writes it back, `resolve`
gives a predicate its types, `lower` makes the views of a collection. The grammar is
`grammar.lark`; the reference for users is docs/reference/gvdl.md.
"""

from graphtide.lang.gvdl.facts import GraphFacts, NamedEdge, NamedVertex
from graphtide.lang.gvdl.lower import LoweredViews, lower_view, lower_views
from graphtide.lang.gvdl.parse import (
    parse_amount,
    parse_predicate,
    parse_property,
    parse_script,
    parse_statement,
    parse_views,
)
from graphtide.lang.gvdl.resolve import resolve_predicate
from graphtide.lang.gvdl.unparse import explain_tree, unparse

__all__ = [
    "GraphFacts",
    "LoweredViews",
    "NamedEdge",
    "NamedVertex",
    "explain_tree",
    "lower_view",
    "lower_views",
    "parse_amount",
    "parse_predicate",
    "parse_property",
    "parse_script",
    "parse_statement",
    "parse_views",
    "resolve_predicate",
    "unparse",
]
