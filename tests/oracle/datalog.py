"""Datalog by its definition: all rules applied to all facts, again and again, in plain Python.

A program is plain data, as `tests.rules.generating` makes it, and shares no code with the product:

    rule      (head, terms, literals)
    literal   ("atom", relation, terms), ("not", relation, terms),
              ("compare", operator, one, other),
              ("aggregate", variable, operation, target, literals), ("or", [literals, ...]),
              ("test", name, terms, wanted)
    term      ("variable", name), ("value", value), ("any",), (operator or function, term, ...)

Relations come in levels: what is negated or aggregated is of a lower level than the head.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

Facts = dict[str, set[tuple[Any, ...]]]
Binding = dict[str, Any]
_COMPARISONS = {
    "=": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


class NoValueError(Exception):
    """A term that has no value, such as a division by zero."""


def evaluate(
    levels: list[list[str]], rules: list[Any], given: Facts, best: dict[str, str]
) -> Facts:
    """All facts of all relations; `best` are the relations that keep the least or greatest."""
    facts: Facts = {name: set(found) for name, found in given.items()}
    for level in levels:
        for name in level:
            facts.setdefault(name, set())
        own = [rule for rule in rules if rule[0] in level]
        while True:
            new = {name: set(given.get(name, ())) | facts[name] for name in level}
            for head, terms, body in own:
                new[head] |= set(_derived(terms, body, facts))
            new = {name: _kept(found, best.get(name)) for name, found in new.items()}
            if all(new[name] == facts[name] for name in level):
                break
            facts.update(new)
    return facts


def derived_by(rule: Any, held: Facts, whole: Facts) -> set[tuple[Any, ...]]:
    """What one rule derives from some facts, where negations and aggregates read all of them."""
    _, terms, body = rule
    both = {name: set(found) for name, found in held.items()}
    both |= {f"all {name}": set(found) for name, found in whole.items()}
    return set(_derived(terms, [_reading_all(item) for item in body], both))


def _reading_all(literal: Any) -> Any:
    match literal:
        case ("not", relation, terms):
            return ("not", f"all {relation}", terms)
        case ("aggregate", variable, operation, target, inner):
            return ("aggregate", variable, operation, target, [_inner_all(item) for item in inner])
        case ("or", parts):
            return ("or", [[_reading_all(item) for item in part] for part in parts])
    return literal


def _inner_all(literal: Any) -> Any:
    if literal[0] in ("atom", "not"):
        return (literal[0], f"all {literal[1]}", literal[2])
    return literal


def _kept(facts: set[tuple[Any, ...]], best: str | None) -> set[tuple[Any, ...]]:
    if best is None:
        return facts
    found: dict[tuple[Any, ...], Any] = {}
    for *key, value in facts:
        place = tuple(key)
        if place not in found or (value < found[place]) == (best == "min"):
            found[place] = value
    return {(*key, value) for key, value in found.items()}


def _derived(terms: Any, body: Any, facts: Facts) -> Iterator[tuple[Any, ...]]:
    for literals in _ways(body):
        outside = set(_names(terms)) | {name for item in literals for name in _around(item)}
        for binding in _solve(literals, {}, facts, outside):
            try:
                yield tuple(_value(term, binding) for term in terms)
            except NoValueError:
                continue


def _ways(body: Any) -> list[list[Any]]:
    """The ways to choose one alternative of each `or`."""
    choices = [
        [way for part in item[1] for way in _ways(part)] if item[0] == "or" else [[item]]
        for item in body
    ]
    return [[literal for part in way for literal in part] for way in product(*choices)]


def _solve(
    literals: list[Any], binding: Binding, facts: Facts, outside: set[str]
) -> Iterator[Binding]:
    """All bindings that satisfy the literals: whichever can be told next is."""
    if not literals:
        yield binding
        return
    at = next((at for at, item in enumerate(literals) if _ready(item, binding, outside)), None)
    if at is None:
        raise AssertionError(f"nothing binds {literals} beside {binding}")
    rest = literals[:at] + literals[at + 1 :]
    for found in _satisfied(literals[at], binding, facts, outside):
        yield from _solve(rest, found, facts, outside)


def _ready(literal: Any, binding: Binding, outside: set[str]) -> bool:
    match literal:
        case ("atom", _, terms):
            # A term that is more than a variable must be bound.
            deep = [term for term in terms if term[0] not in ("variable", "any", "value")]
            return set(_names(deep)) <= set(binding)
        case ("compare", "=", one, other):
            free = (set(_names([one])) | set(_names([other]))) - set(binding)
            plain = [term for term in (one, other) if term[0] == "variable"]
            return not free or any(
                free == {term[1]} and term[1] not in _names([one if term is other else other])
                for term in plain
            )
        case ("aggregate", _, _, target, inner):
            used = {name for item in inner for name in _around(item)} | set(
                _names([] if target is None else [target])
            )
            return used & outside <= set(binding)
        case _:
            return set(_around(literal)) <= set(binding)


def _satisfied(
    literal: Any, binding: Binding, facts: Facts, outside: set[str]
) -> Iterator[Binding]:
    try:
        match literal:
            case ("atom", relation, terms):
                for fact in facts.get(relation, ()):
                    found = _unified(terms, fact, binding)
                    if found is not None:
                        yield found
            case ("not", relation, terms):
                if not any(
                    _unified(terms, fact, binding) is not None for fact in facts.get(relation, ())
                ):
                    yield binding
            case ("compare", operator, one, other):
                yield from _compared(operator, one, other, binding)
            case ("test", name, terms, wanted):
                if _holds(name, [_value(term, binding) for term in terms]) == wanted:
                    yield binding
            case ("aggregate", variable, operation, target, inner):
                value = _aggregated(operation, target, inner, binding, facts, outside)
                if value is not None and binding.get(variable, value) == value:
                    yield {**binding, variable: value}
    except NoValueError:
        return


def _unified(terms: Any, fact: tuple[Any, ...], binding: Binding) -> Binding | None:
    found = dict(binding)
    for term, value in zip(terms, fact, strict=True):
        if term[0] == "any":
            continue
        if term[0] == "variable" and term[1] not in found:
            found[term[1]] = value
        elif _value(term, found) != value:
            return None
    return found


def _compared(operator: str, one: Any, other: Any, binding: Binding) -> Iterator[Binding]:
    if operator == "=":
        for term, value in ((one, other), (other, one)):
            if term[0] == "variable" and term[1] not in binding:
                yield {**binding, term[1]: _value(value, binding)}
                return
    if _COMPARISONS[operator](_value(one, binding), _value(other, binding)):
        yield binding


def _aggregated(
    operation: str, target: Any, inner: Any, binding: Binding, facts: Facts, outside: set[str]
) -> Any:
    start = {name: value for name, value in binding.items() if name in outside}
    own = outside | {name for item in inner for name in _around(item)}
    values = [
        0 if target is None else _value(target, found)
        for found in _solve(list(inner), start, facts, own)
    ]
    match operation:
        case "count":
            return len(values)
        case "sum":
            return sum(values)
        case "min":
            return min(values, default=None)
        case _:
            return max(values, default=None)


def _value(term: Any, binding: Binding) -> Any:
    kind, *rest = term
    if kind == "variable":
        return binding[rest[0]]
    if kind == "value":
        return rest[0]
    values = [_value(item, binding) for item in rest]
    match kind:
        case "+":
            return values[0] + values[1]
        case "-":
            return values[0] - values[1]
        case "*":
            return values[0] * values[1]
        case "/" | "%":
            return _divided(kind, *values)
        case "min":
            return min(values)
        case "max":
            return max(values)
        case "cat":
            return "".join(values)
        case "strlen":
            return len(values[0])
        case "substr":
            text, start, length = values
            return text[start : start + length] if start >= 0 and length >= 0 else ""
        case "to_string":
            return str(values[0])
        case "to_number":
            if re.fullmatch(r"[+-]?\d+", values[0].strip()):
                return int(values[0])
            raise NoValueError
    raise AssertionError(kind)


def _divided(kind: str, one: int, other: int) -> int:
    """Towards zero."""
    if other == 0:
        raise NoValueError
    whole = abs(one) // abs(other)
    if (one < 0) != (other < 0):
        whole = -whole
    return whole if kind == "/" else one - whole * other


def _holds(name: str, values: list[str]) -> bool:
    if name == "contains":
        return values[0] in values[1]
    return re.fullmatch(values[0], values[1]) is not None


def _names(terms: Iterable[Any]) -> Iterator[str]:
    for term in terms:
        if term[0] == "variable":
            yield term[1]
        elif term[0] not in ("value", "any"):
            yield from _names(term[1:])


def _around(literal: Any) -> Iterator[str]:
    """The variables of a literal, those of aggregates' bodies left out."""
    match literal:
        case ("atom" | "not", _, terms) | ("test", _, terms, _):
            yield from _names(terms)
        case ("compare", _, one, other):
            yield from _names([one, other])
        case ("aggregate", variable, _, _, _):
            yield variable
        case ("or", parts):
            for part in parts:
                for item in part:
                    yield from _around(item)
