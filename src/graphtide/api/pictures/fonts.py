"""Fonts for letters of any script, as far as they are installed.

The usual font has no Chinese, Japanese or Korean letters. Where another has them it stands in;
where none has, the picture shows boxes, and one warning says so.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from matplotlib import font_manager

from graphtide.model.audience import somebody_looks

_USUAL = "DejaVu Sans"
_OTHERS = (
    "Noto Sans CJK",
    "Noto Sans SC",
    "Noto Sans JP",
    "Noto Sans KR",
    "Source Han Sans",
    "WenQuanYi",
    "Droid Sans Fallback",
    "AR PL UMing",
    "PingFang",
    "Hiragino Sans",
    "Heiti",
    "Microsoft YaHei",
    "SimHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Apple SD Gothic",
    "Noto Sans",
    "Arial Unicode MS",
    "Unifont",
)
_MISSING = re.compile(r"Glyph (\d+) .*missing from")


@cache
def fonts() -> list[str]:
    """The usual font, and others for more letters where they are installed."""
    return [_USUAL, *chosen_fonts(font_manager.get_font_names())]


def chosen_fonts(installed: list[str]) -> list[str]:
    """One installed font of each family that has letters of other scripts, the best first."""
    families = (sorted(name for name in installed if name.startswith(item)) for item in _OTHERS)
    return list(dict.fromkeys(family[0] for family in families if family))


@contextmanager
def telling_of_boxes() -> Iterator[None]:
    """Within the block, warn once of letters that no font has, not once for each letter."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        missing = _MISSING.match(str(warning.message))
        if missing is None:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
        elif somebody_looks():
            _tell(chr(int(missing.group(1))))


_told: set[str] = set()


def _tell(letter: str) -> None:
    if _told:
        return
    _told.add(letter)
    print(
        f"graphtide: no installed font has letters such as '{letter}', so pictures show boxes; "
        "install one that does, such as Noto Sans CJK",
        file=sys.stderr,
    )
