"""Regular paths as texts: property paths of SPARQL, and patterns of Cypher that mean the same.

`parse_path` reads either spelling into a tree of `plan.regular_paths`; `unparse_path` writes a tree
as a property path. The grammar is `grammar.lark`; the reference for users is
docs/reference/queries.md.
"""

from graphtide.lang.paths.text import parse_path, unparse_path

__all__ = ["parse_path", "unparse_path"]
