"""A regular path as a property path; reading that gives the same tree."""

from __future__ import annotations

import re

from graphtide.plan import regular_paths as paths

_NAME = re.compile(r"[^\W\d]\w*(?:-\w+)*")
_SIGNS = {(0, None): "*", (1, None): "+", (0, 1): "?"}


def unparse_path(path: paths.RegularPath) -> str:
    """The path as a text, with as few parentheses as there can be."""
    match path:
        case paths.Alternative(parts):
            return "|".join(_within(part, paths.Alternative) for part in parts)
        case paths.Sequence(parts):
            return "/".join(_within(part, paths.Alternative, paths.Sequence) for part in parts)
        case paths.Inverse(inner):
            return "^" + _within(inner, paths.Alternative, paths.Sequence, paths.Inverse)
        case paths.Repeat(inner, least, most):
            return _within(
                inner, paths.Alternative, paths.Sequence, paths.Inverse, paths.Repeat
            ) + _times(least, most)
        case paths.Except(labels, back):
            return _excluded(labels or (), back or ())
        case paths.Step(label):
            return _label(label)


def _within(part: paths.RegularPath, *looser: type) -> str:
    text = unparse_path(part)
    return f"({text})" if isinstance(part, looser) else text


def _times(least: int, most: int | None) -> str:
    if (least, most) in _SIGNS:
        return _SIGNS[least, most]
    if most == least:
        return f"{{{least}}}"
    return f"{{{least},{'' if most is None else most}}}"


def _excluded(labels: tuple[paths.Label, ...], back: tuple[paths.Label, ...]) -> str:
    names = [*map(_label, labels), *(f"^{_label(item)}" for item in back)]
    return f"!{names[0]}" if len(names) == 1 else f"!({'|'.join(names)})"


def _label(label: paths.Label) -> str:
    if isinstance(label, int):
        return str(label)
    if _NAME.fullmatch(label):
        return label
    return "'" + label.replace("'", "''") + "'"
