"""A random program beside the oracle, through random changes of which many are deletions."""

from __future__ import annotations

import random
from typing import Any

import graphtide as gt
from graphtide.lang.datalog import read_datalog
from tests.oracle.datalog import Facts, derived_by, evaluate
from tests.rules.generating import GIVEN, RandomProgram, random_facts, random_program, rule_text

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


def check_demand(seed: int) -> int:
    """The same of a program that puts its last level out alone, with queries that come and go."""
    chance = random.Random(seed)
    program = random_program(chance)
    rules = gt.Datalog(read_datalog(program.text(program.levels[-1])))
    facts: Facts = {name: set() for name in GIVEN}
    standing: list[tuple[str, list[Any], gt.DatalogQuery]] = []
    answered = 0
    for step in range(STEPS):
        change_facts(rules, facts, chance, deleting=step > 0)
        relation = chance.choice(list(program.relations))
        goal = [_argument(chance, kind) for kind in program.relations[relation]]
        text = f"{relation}({', '.join(shown for shown, _ in goal)})"
        standing.append((relation, goal, rules.query(text)))
        rules.advance()
        answered += _compare(rules, program, facts, f"seed {seed}, step {step}")
        expected = evaluate(program.levels, program.rules, facts, program.best)
        for name, asked, query in standing:
            wanted = {fact for fact in expected[name] if _fits(fact, asked)}
            found = query.facts()
            assert set(found) == {_variables(fact, asked) for fact in wanted}, (
                f"seed {seed}, step {step}: {query}\n{program.text()}\n{facts}\n{query.explain()}"
            )
            answered += len(found)
        _check_proofs(rules, program, facts, expected, chance)
        if chance.random() < 0.4:
            standing.pop(chance.randrange(len(standing)))[2].close()
    rules.close()
    return answered


def _check_proofs(
    rules: gt.Datalog, program: RandomProgram, facts: Facts, expected: Facts, chance: random.Random
) -> None:
    """Facts that hold have proofs, by rules that derive them from their premises; others none."""
    name = chance.choice([name for level in program.levels for name in level])
    if not expected[name]:
        return
    fact = chance.choice(sorted(expected[name]))
    told = ", ".join(f'"{item}"' if isinstance(item, str) else str(item) for item in fact)
    _check_proof(rules.why(f"{name}({told})"), program, facts, expected)


def _check_proof(
    proof: gt.DatalogProof, program: RandomProgram, facts: Facts, expected: Facts
) -> None:
    name, fact = proof.fact
    if proof.rule is None:
        assert fact in facts[name], f"{name}{fact} is not given"
        return
    first = program.text().splitlines().index(rule_text(program.rules[0]))
    rule = program.rules[proof.line - 1 - first]
    # What the rule needs is what its premises hold; what it denies and counts, is read in full.
    held: Facts = {one: set() for one in program.relations}
    for premise in proof.premises:
        assert premise.height < proof.height
        held[premise.fact[0]].add(premise.fact[1])
    assert fact in derived_by(rule, held, expected), f"{name}{fact} does not follow by {rule}"
    for premise in proof.premises:
        _check_proof(premise, program, facts, expected)


def _argument(chance: random.Random, kind: str) -> tuple[str, Any]:
    """How an argument of a goal is written, and the value that it asks for; None for any."""
    roll = chance.random()
    if roll < 0.5:
        return (f'"{chance.choice(["a", "ab"])}"', None) if kind == "t" else _number(chance)
    name = chance.choice("xy") if kind == "n" else chance.choice("pq")
    return ("_" if roll < 0.6 else name, None)


def _number(chance: random.Random) -> tuple[str, Any]:
    value = chance.randrange(0, 4)
    return str(value), value


def _fits(fact: tuple[Any, ...], goal: list[tuple[str, Any]]) -> bool:
    known: dict[str, Any] = {}
    for value, (shown, wanted) in zip(fact, goal, strict=True):
        if shown.startswith('"') and shown != f'"{value}"':
            return False
        if wanted is not None and value != wanted:
            return False
        if shown.isalpha() and known.setdefault(shown, value) != value:
            return False
    return True


def _variables(fact: tuple[Any, ...], goal: list[tuple[str, Any]]) -> tuple[Any, ...]:
    found = {shown: value for value, (shown, _) in zip(fact, goal, strict=True) if shown.isalpha()}
    return tuple(found.values())


def change_facts(rules: gt.Datalog, facts: Facts, chance: random.Random, *, deleting: bool) -> None:
    """Insert some facts, again at times, and delete others, some of which are not there."""
    for name in GIVEN:
        new = [random_facts(chance, name) for _ in range(chance.randint(0, 6))]
        rules.insert(name, new)
        facts[name] |= set(new)
        if deleting:
            there = sorted(facts[name])
            gone = [
                *chance.sample(there, chance.randint(0, len(there))),
                random_facts(chance, name),
            ]
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
