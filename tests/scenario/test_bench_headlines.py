"""The figures of the README can be measured, and sharing gives what runs from scratch give."""

from __future__ import annotations

import pytest

from bench import headlines


@pytest.mark.interpreted
def test_quick_run() -> None:
    found = headlines.run(quick=True)
    measured = {item.name: item.measured for item in found}
    differing = [name for name in measured if "differ" in name]
    assert len(differing) == 3
    assert all(measured[name] == 0 for name in differing)
    assert None not in measured.values()
