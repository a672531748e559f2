"""A regular path as a property path; reading that gives the same tree."""

from __future__ import annotations

import re

from graphtide.plan.regular_paths import (
    Alternative,
    Except,
    Inverse,
    Label,
    RegularPath,
    Repeat,
    Sequence,
    Step,
)

_NAME = re.compile(r"[^\W\d]\w*(?:-\w+)*")
_SIGNS = {(0, None): "*", (1, None): "+", (0, 1): "?"}


def unparse_path(path: RegularPath) -> str:
    """The path as a text, with as few parentheses as there can be."""
    match path:
        case Alternative(parts):
            return "|".join(_within(part, Alternative) for part in parts)
        case Sequence(parts):
            return "/".join(_within(part, Alternative, Sequence) for part in parts)
        case Inverse(inner):
            return "^" + _within(inner, Alternative, Sequence, Inverse)
        case Repeat(inner, least, most):
            return _within(inner, Alternative, Sequence, Inverse, Repeat) + _times(least, most)
        case Except(labels, back):
            return _excluded(labels or (), back or ())
        case Step(label):
            return _label(label)


def _within(part: RegularPath, *looser: type) -> str:
    text = unparse_path(part)
    return f"({text})" if isinstance(part, looser) else text


def _times(least: int, most: int | None) -> str:
    if (least, most) in _SIGNS:
        return _SIGNS[least, most]
    if most == least:
        return f"{{{least}}}"
    return f"{{{least},{'' if most is None else most}}}"


def _excluded(labels: tuple[Label, ...], back: tuple[Label, ...]) -> str:
    names = [*map(_label, labels), *(f"^{_label(item)}" for item in back)]
    return f"!{names[0]}" if len(names) == 1 else f"!({'|'.join(names)})"


def _label(label: Label) -> str:
    if isinstance(label, int):
        return str(label)
    if _NAME.fullmatch(label):
        return label
    return "'" + label.replace("'", "''") + "'"
