"""How many examples the dearest properties are tried with."""

from __future__ import annotations

import os

USUAL = 60


def examples(most: int) -> int:
    """Enough for what is tried at every change; `most` in the campaign."""
    return most if "GRAPHTIDE_CAMPAIGN" in os.environ else USUAL
