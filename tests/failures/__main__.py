"""Several campaigns of this folder, one after the other in one process, each as on its own line:
`python -m tests.failures "kills --kills 24" "calls --failures 15"`.

To import the product, and make what all need, takes longer than many of their cases.
"""

from __future__ import annotations

import sys
from importlib import import_module


def main() -> None:
    """The command."""
    for line in sys.argv[1:]:
        name, *sys.argv[1:] = line.split()
        try:
            import_module(f"tests.failures.{name}").main()
        except SystemExit as end:
            if end.code:
                raise


if __name__ == "__main__":
    main()
