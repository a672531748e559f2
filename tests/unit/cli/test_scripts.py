"""What `graphtide run` takes for a script."""

from __future__ import annotations

import pytest

from graphtide.cli.run import given_script
from graphtide.model.errors import InputError


def test_a_program_is_no_script() -> None:
    with pytest.raises(InputError) as caught:
        given_script("ranks.nga", None)
    assert "'ranks.nga' is a program" in caught.value.what
    assert "graphtide run -e \"run 'ranks.nga' on COLLECTION\"" in (caught.value.hint or "")
