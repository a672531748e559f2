"""Ctrl-C while a lock is taken: nothing is left, and nobody is locked out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphtide.model import disk
from graphtide.store import commit
from graphtide.store.commit import begin


@pytest.mark.parametrize(
    ("place", "name"), [(disk, "make_folders"), (disk, "open_lock"), (commit, "_holds")]
)
def test_an_interrupt_right_behind_a_step_of_the_lock_leaves_no_folder(
    place: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = getattr(place, name)

    def interrupted(*given: Any) -> bool:
        step(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(place, name, interrupted)
        with pytest.raises(KeyboardInterrupt), begin(tmp_path / "g", replace=False, what="it"):
            pytest.fail("it was interrupted before")
    assert not (tmp_path / "g").exists()
    with begin(tmp_path / "g", replace=False, what="it"):
        assert (tmp_path / "g" / commit.LOCK).exists()
