"""Text to tree. The grammar is `grammar.lark`; `mistakes` says what went wrong."""

from __future__ import annotations

import re
import threading
from functools import cache
from typing import cast

from lark import Lark, UnexpectedInput
from lark.exceptions import VisitError

from graphtide.lang.diagnostics import Source
from graphtide.lang.grammars import Callbacks, parser_of
from graphtide.lang.paths.build_patterns import Builder
from graphtide.lang.paths.mistakes import explain_failure
from graphtide.model.errors import GraphtideError, InputError
from graphtide.plan.regular_paths import RegularPath

_STARTS = ("only_path", "only_pattern")
_PATTERN = re.compile(r"\s*(?:\w+\s*=\s*)?\([^()/|^!]*\)\s*(?:<?\s*-|$)")
"""How a pattern begins: a node, and a dash behind it. No property path has one there."""

# One builder serves all texts and holds the one being read.
_READING = threading.Lock()


def parse_path(text: str) -> RegularPath:
    """A regular path in either spelling; LanguageError where it is none."""
    if not isinstance(text, str):
        raise InputError(f"a path cannot be {text!r}", hint="give a text, such as 'knows/likes*'")
    source = Source(text)
    start = "only_pattern" if _PATTERN.match(text) and not _is_group(text) else "only_path"
    parser, builder = _parser()
    with _READING:
        builder.source = source
        try:
            return cast(RegularPath, parser.parse(text, start=start))
        except UnexpectedInput as failure:
            raise explain_failure(failure, source, start) from None
        except VisitError as failure:
            if isinstance(failure.orig_exc, GraphtideError):
                raise failure.orig_exc from None
            raise


def _is_group(text: str) -> bool:
    """`(a)` alone is a property path in parentheses."""
    return text.strip().endswith(")") and "-" not in re.sub(r"\w-\w", "", text) and "=" not in text


@cache
def _parser() -> tuple[Lark, Builder]:
    builder = Builder()
    return parser_of("paths", start=list(_STARTS), transformer=Callbacks(builder)), builder
