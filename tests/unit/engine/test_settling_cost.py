"""What a run from scratch does beside its kernel: next to nothing."""

from __future__ import annotations

import numpy as np
import pytest

from graphtide.algorithms import WCC
from graphtide.engine.resident import ResidentGraph
from graphtide.plan import program_analysis, program_reads
from graphtide.run.live.computation import SumSettings, make_maintainer
from graphtide.run.live.programs import compiled_program


def test_a_program_is_not_analysed_again_for_every_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = ResidentGraph(3, np.array([0], np.int32), np.array([1], np.int32), {}, live=True)
    chosen = compiled_program(WCC(), "auto")
    maintainer = make_maintainer(graph, chosen.bound, (), chosen.choice, SumSettings())
    maintainer.scratch()

    def refuse(program: object) -> None:
        raise AssertionError("the analysis takes longer than a small version")

    monkeypatch.setattr(program_analysis, "_select", refuse)
    monkeypatch.setattr(program_reads, "_collect", refuse)
    (labels,) = maintainer.scratch().values()
    assert labels.tolist() == [0, 0, 2]
