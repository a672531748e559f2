"""Text to tree. The grammar is `grammar.lark`; `mistakes` says what went wrong."""

from __future__ import annotations

import re
from functools import cache
from typing import cast

from graphtide.lang.diagnostics import Source
from graphtide.lang.grammars import Callbacks, Reader, parser_of
from graphtide.lang.paths.build_patterns import Builder
from graphtide.lang.paths.mistakes import explain_failure
from graphtide.model.errors import InputError
from graphtide.plan.regular_paths import RegularPath

_STARTS = ("only_path", "only_pattern")
_PATTERN = re.compile(r"\s*(?:\w+\s*=\s*)?\([^()/|^!]*\)\s*(?:<?\s*-|$)")
"""How a pattern begins: a node, and a dash behind it. No property path has one there."""


def parse_path(text: str) -> RegularPath:
    """A regular path in either spelling; LanguageError where it is none."""
    if not isinstance(text, str):
        raise InputError(f"a path cannot be {text!r}", hint="give a text, such as 'knows/likes*'")
    start = "only_pattern" if _PATTERN.match(text) and not _is_group(text) else "only_path"
    return cast(RegularPath, _reader().read(Source(text), start))


def _is_group(text: str) -> bool:
    """`(a)` alone is a property path in parentheses."""
    return text.strip().endswith(")") and "-" not in re.sub(r"\w-\w", "", text) and "=" not in text


@cache
def _reader() -> Reader:
    builder = Builder()
    parser = parser_of("paths", start=list(_STARTS), transformer=Callbacks(builder))
    return Reader(parser, builder, explain_failure)
