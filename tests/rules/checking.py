"""A random program beside the oracle, through random changes of which many are deletions."""

from __future__ import annotations

import random

import graphtide as gt
from graphtide.lang.datalog import read_datalog
from tests.oracle.datalog import Facts, evaluate
from tests.rules.generating import GIVEN, RandomProgram, random_facts, random_program

STEPS = 4


def check_program(seed: int) -> int:
    """Run a program through its versions; how many facts it derived. AssertionError if wrong."""
    chance = random.Random(seed)
    program = random_program(chance)
    rules = gt.Datalog(read_datalog(program.text()))
    facts: Facts = {name: set() for name in GIVEN}
    derived = 0
    for step in range(STEPS):
        change_facts(rules, facts, chance, deleting=step > 0)
        rules.advance()
        derived += _compare(rules, program, facts, f"seed {seed}, step {step}")
    rules.close()
    return derived


def change_facts(rules: gt.Datalog, facts: Facts, chance: random.Random, *, deleting: bool) -> None:
    """Insert some facts, again at times, and delete others, some of which are not there."""
    for name in GIVEN:
        new = [random_facts(chance, name) for _ in range(chance.randint(0, 6))]
        rules.insert(name, new)
        facts[name] |= set(new)
        if deleting:
            there = sorted(facts[name])
            gone = [*chance.sample(there, chance.randint(0, len(there))), random_facts(chance, name)]
            rules.delete(name, gone)
            facts[name] -= set(gone)


def _compare(rules: gt.Datalog, program: RandomProgram, facts: Facts, where: str) -> int:
    expected = evaluate(program.levels, program.rules, facts, program.best)
    derived = 0
    for name in rules.outputs:
        found = rules.facts(name)
        assert set(found) == expected[name], f"{where}: {name}\n{program.text()}\n{facts}"
        assert len(found) == len(expected[name])
        derived += len(found)
    return derived
