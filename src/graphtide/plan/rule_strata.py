"""Strata: the relations of a program in an order in which each comes behind what it reads.

Relations that read each other are one stratum, a loop. A relation must not be in one stratum with
another that it reads under a negation or an aggregate: such a program has no least meaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphtide.plan.rules import Rule, reads


@dataclass(frozen=True)
class Stratum:
    """Relations that are derived together; `recursive` where one of them reads itself, or another
    that reads it."""

    relations: tuple[str, ...]
    recursive: bool


def strata(relations: Sequence[str], rules: Iterable[Rule]) -> list[Stratum]:
    """All relations, those first that others read; by Tarjan's algorithm, without recursion."""
    below: dict[str, list[str]] = {name: [] for name in relations}
    for rule in rules:
        for name, _, _ in reads(rule.body):
            if name not in below[rule.head]:
                below[rule.head].append(name)
    return [
        Stratum(tuple(group), len(group) > 1 or group[0] in below[group[0]])
        for group in components(below)
    ]


def components(below: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Strongly connected components, each behind those that it reaches."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    held: set[str] = set()
    components_in_order: list[list[str]] = []
    for root in below:
        work = [] if root in number else [(root, iter(below[root]))]
        while work:
            name, rest = work[-1]
            if name not in number:
                number[name] = low[name] = len(number)
                stack.append(name)
                held.add(name)
            for other in rest:
                if other not in number:
                    work.append((other, iter(below[other])))
                    break
                if other in held:
                    low[name] = min(low[name], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == number[name]:
                    group = stack[stack.index(name) :]
                    del stack[-len(group) :]
                    held.difference_update(group)
                    components_in_order.append([item for item in below if item in group])
    return components_in_order


def unstratified(
    relations: Sequence[str], rules: Sequence[Rule]
) -> tuple[int, str, list[str]] | None:
    """A rule that reads what depends on it other than monotonously; None where there is none.

    Its number, the relation that it reads so, and the way from there back to the head.
    """
    group_of = {
        name: place
        for place, stratum in enumerate(strata(relations, rules))
        for name in stratum.relations
    }
    for place, rule in enumerate(rules):
        for name, monotone, _ in reads(rule.body):
            if not monotone and group_of[name] == group_of[rule.head]:
                return place, name, _way(name, rule.head, rules)
    return None


def _way(start: str, end: str, rules: Sequence[Rule]) -> list[str]:
    """The shortest chain of relations, each of which reads the next one."""
    before: dict[str, str] = {}
    ring = [start]
    seen = {start}
    while end not in seen:
        following = []
        for name in ring:
            for rule in rules:
                for other, _, _ in reads(rule.body) if rule.head == name else ():
                    if other not in seen:
                        seen.add(other)
                        before[other] = name
                        following.append(other)
        ring = following
    way = [end]
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]
