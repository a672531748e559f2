"""How many examples a property is tried with."""

from __future__ import annotations

import os

USUAL = 25
_TIMES = 10


def examples(most: int) -> int:
    """At most a few for what is tried at every change; ten times `most` in the campaign."""
    return most * _TIMES if "GRAPHTIDE_CAMPAIGN" in os.environ else min(most, USUAL)


def repeats(usual: int) -> int:
    """So many for what is tried at every change, or as many as GRAPHTIDE_CAMPAIGN_EXAMPLES says."""
    return int(os.environ.get("GRAPHTIDE_CAMPAIGN_EXAMPLES", usual))
