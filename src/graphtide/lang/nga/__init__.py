"""L_NGA, the language of neighbour-centric graph analytics: programs as texts.

`nga` reads a text into a program, `unparse` writes a plan as text. The reference for users is
docs/reference/nga.md.
"""

from graphtide.lang.nga.program import SUFFIX, nga, nga_file
from graphtide.lang.nga.unparse import unparse

__all__ = ["SUFFIX", "nga", "nga_file", "unparse"]
