"""How many examples the dearest properties are tried with."""

from __future__ import annotations

import os

USUAL = 100


def examples(most: int) -> int:
    """As many as Hypothesis tries by itself; `most` in the campaign."""
    return most if "GRAPHTIDE_CAMPAIGN" in os.environ else USUAL
