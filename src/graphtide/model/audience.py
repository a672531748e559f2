"""Whether a person sees what is written to standard error."""

from __future__ import annotations

import sys


def somebody_looks() -> bool:
    """True in a terminal and in a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules
