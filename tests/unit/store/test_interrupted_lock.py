"""Ctrl-C right behind the taking of a lock: nothing is left, and nobody is locked out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphtide.store import lock
from graphtide.store.commit import begin


def test_an_interrupt_right_behind_the_lock_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holds = lock._holds

    def interrupted(*given: Any) -> bool:
        assert holds(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(lock, "_holds", interrupted)
        with pytest.raises(KeyboardInterrupt), begin(tmp_path / "g", replace=False, what="it"):
            pytest.fail("it was interrupted before")
    assert not (tmp_path / "g").exists()
    with begin(tmp_path / "g", replace=False, what="it"):
        assert (tmp_path / "g" / lock.LOCK).exists()
