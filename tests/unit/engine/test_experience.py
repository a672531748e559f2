"""What is not worth trying is not tried, but once in a while."""

from __future__ import annotations

import numpy as np

from graphtide.algorithms import BFS, WCC
from graphtide.engine.exact.maintainer import ExactMaintainer
from graphtide.engine.fixpoint.maintainer import FixpointMaintainer
from graphtide.engine.maintainer import LONGEST, Experience
from graphtide.engine.resident import ResidentGraph

NOTHING = np.empty(0, np.int32)


def trials(experience: Experience, edges: int, advances: int) -> list[int]:
    """Which of so many advances are tried, where all trials fail."""
    found = []
    for at in range(advances):
        if experience.worth_trying(edges):
            found.append(at)
            experience.learn(edges, broken_off=True)
    return found


def test_failures_are_tried_ever_less_often_but_never_given_up() -> None:
    tried = trials(Experience(), 1000, 200)
    gaps = np.diff(tried).tolist()
    assert tried[:4] == [0, 1, 2, 5]
    assert gaps[:6] == [1, 1, 3, 5, 9, LONGEST + 1]
    assert set(gaps[6:]) == {LONGEST + 1}


def test_one_success_is_enough_to_try_again() -> None:
    experience = Experience()
    trials(experience, 1000, 50)
    while not experience.worth_trying(1000):
        pass
    experience.learn(1000, broken_off=False)
    assert all(experience.worth_trying(1000) for _ in range(5))


def test_a_trial_that_is_put_off_is_still_due() -> None:
    """Whoever could not try yet is told so again."""
    experience = Experience()
    trials(experience, 1000, 3)
    assert [experience.worth_trying(1000) for _ in range(4)] == [False, False, True, True]


def test_sizes_do_not_speak_for_one_another() -> None:
    experience = Experience()
    trials(experience, 1000, 50)
    assert all(experience.worth_trying(edges) for edges in (0, 1, 50, 2000))
    assert not experience.worth_trying(1001)


def path_maintainer(length: int) -> FixpointMaintainer:
    path = np.arange(length, dtype=np.int32)
    maintainer = FixpointMaintainer(ResidentGraph(length + 1, path, path + 1), BFS.plan, (0,))
    maintainer.start()
    return maintainer


def test_a_path_that_breaks_at_its_head_is_soon_run_from_scratch() -> None:
    """Counted: after three trials an advance looks at the live edges once, and at nothing else."""
    maintainer = path_maintainer(9000)
    head, looked = np.array([10], np.int32), []
    for _ in range(5):
        maintainer.advance(NOTHING, head)
        looked.append((maintainer.touched, maintainer.graph.live))
        maintainer.verify()
        maintainer.rollback()
    assert all(touched < live / 2 for touched, live in looked[:3])
    assert all(touched == live for touched, live in looked[3:])
    assert maintainer.values().tolist() == list(range(9001))


def test_what_was_run_without_roots_is_repaired_and_undone_later() -> None:
    maintainer = path_maintainer(9000)
    head, tail = np.array([10], np.int32), np.array([8999], np.int32)
    for _ in range(2):
        maintainer.advance(NOTHING, head)
        maintainer.advance(head, NOTHING)
    assert maintainer.touched == maintainer.graph.live
    two = np.array([8998, 8999], np.int32)
    maintainer.advance(NOTHING, two)
    assert maintainer.touched == maintainer.graph.live, "the roots are made anew"
    maintainer.advance(two, NOTHING)
    assert maintainer.touched < 10
    maintainer.verify()
    for _ in range(6):
        maintainer.rollback()
    assert maintainer.values().tolist() == list(range(9001))
    maintainer.advance(NOTHING, np.concatenate([tail, tail - 1]))
    assert maintainer.touched < 10, "the first roots are back"
    maintainer.verify()


def test_components_without_roots_are_right() -> None:
    pick = np.random.default_rng(4)
    src, dst = (pick.integers(0, 3000, 4000).astype(np.int32) for _ in range(2))
    maintainer = FixpointMaintainer(ResidentGraph(3000, src, dst), WCC.plan, ())
    maintainer.patience = -1e6
    maintainer.start()
    first, live = maintainer.values().copy(), np.ones(4000, bool)
    for _ in range(12):
        chosen = pick.choice(4000, 60, replace=False).astype(np.int32)
        maintainer.advance(chosen[~live[chosen]], chosen[live[chosen]])
        live[chosen] ^= True
        maintainer.verify()
    for _ in range(12):
        maintainer.rollback()
    assert (maintainer.values() == first).all()


def test_exact_mode_learns_too_and_undoes_what_it_did_not_try() -> None:
    path = np.arange(20000, dtype=np.int32)
    graph = ResidentGraph(20001, path, path + 1)
    maintainer = ExactMaintainer(graph, BFS.plan, (0,))
    maintainer.start()
    head, looked = np.array([10], np.int32), []
    for _ in range(5):
        maintainer.advance(NOTHING, head)
        looked.append(maintainer.touched)
        assert maintainer.values()[10:13].tolist() == [10, np.inf, np.inf]
        maintainer.rollback()
    assert all(touched > 10 for touched in looked[:3])
    assert looked[3:] == [10, 10], "a run from the source ends where the path does"
    maintainer.advance(NOTHING, np.array([19999, 19998], np.int32))
    assert maintainer.touched < 10
    assert maintainer.values().tolist() == [*range(19999), np.inf, np.inf]
