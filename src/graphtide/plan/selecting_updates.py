"""The shapes of an update that keeps the better of what a vertex holds and what it is offered."""

from __future__ import annotations

from graphtide.plan import expressions as x


def keeps_better(
    update: x.Expression,
    held: x.StateRef,
    offered: x.AccumulatorRef,
    least: bool,
    *,
    strictly: bool,
) -> bool:
    """Whether an update is the lesser (or the greater) of the two, however it is written.

    min(held, offered)   offered if offered < held else held   held or offered   ...

    Of two that are equal it may be either, and anything of a NaN; unless `strictly`, which asks for
    what is held wherever the offer is not strictly better.
    """
    if strictly and not _keeps_on_ties(update, held, offered):
        return False
    match update:
        case x.Call("min" | "max" as function, arguments):
            return (function == "min") is least and _are(arguments, held, offered)
        case x.Boolean(operator, terms):
            return (operator == "and") is least and _are(terms, held, offered)
        case x.Choice(condition, yes, no):
            if held.type is x.BOOL and _is_logical(update, held, offered, least):
                return True
            return _are((yes, no), held, offered) and _prefers(condition, yes, no, least)
        case _:
            return False


def _keeps_on_ties(update: x.Expression, held: x.Expression, offered: x.Expression) -> bool:
    """True of `min(held, offered)`, which is held unless offered < held; also spelled out."""
    match update:
        case x.Call(_, arguments):
            return arguments == (held, offered)
        case x.Choice(x.Compare("<" | ">"), yes, no):
            return (yes, no) == (offered, held)
        case _:
            return False


def _are(pair: tuple[x.Expression, ...], held: x.Expression, offered: x.Expression) -> bool:
    return pair in ((held, offered), (offered, held))


def _prefers(condition: x.Expression, yes: x.Expression, no: x.Expression, least: bool) -> bool:
    """Whether the condition says that yes is better than no; ties do not matter."""
    match condition:
        case x.Compare(operator, left, right) if operator in ("<", "<=", ">", ">="):
            lesser, greater = (left, right) if operator.startswith("<") else (right, left)
            return (lesser, greater) == ((yes, no) if least else (no, yes))
        case _:
            return False


def _is_logical(choice: x.Choice, held: x.Expression, offered: x.Expression, least: bool) -> bool:
    """`True if offered else held` is an or, `held if offered else False` an and; either way."""
    for one, other in ((held, offered), (offered, held)):
        if choice.condition == one:
            if least and (choice.yes, choice.no) == (other, x.Const(False, x.BOOL)):
                return True
            if not least and (choice.yes, choice.no) == (x.Const(True, x.BOOL), other):
                return True
    return False
