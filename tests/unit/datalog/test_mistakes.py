"""What a text that is no program is told, and where."""

from __future__ import annotations

import pytest

from graphtide.lang.datalog import read_datalog
from graphtide.model.errors import LanguageError

HEAD = """.decl e(x: number, y: number)
.decl t(x: number, y: number)
.decl s(x: symbol)
.decl d(x: number, n: number)
"""


@pytest.mark.parametrize(
    ("text", "what", "line", "column"),
    [
        ("t(x, y) :- e(x, z).", "nothing binds 'y'", 5, 6),
        ("t(x, y) :- e(x, y), !e(z, y).", "nothing binds 'z'", 5, 24),
        ("t(x, n) :- e(x, _), n = count : { e(z, w), w < v }.", "nothing binds 'v'", 5, 48),
        ("t(x, x) :- e(x).", "e has 2 attributes, and is given 1", 5, 12),
        ("t(x, x) :- q(x).", "there is no relation 'q'", 5, 12),
        ("s(x) :- e(x, _).", "a number stands where a symbol is expected", 5, 3),
        ("t(x, 1.0) :- e(x, _).", "a float stands where a number is expected", 5, 6),
        ("t(x, y) :- e(x, y), x = \"a\".", "a symbol stands where a number is expected", 5, 25),
        ("t(x, y) :- e(x, y), y = x + \"a\".", "a symbol stands where a number is expected", 5, 29),
        ("t(x, y) :- e(x, y), !t(y, x).", "depends on the head: t -> !t", 5, 1),
        ("t(_, y) :- e(_, y).", "`_` in a head stands for no value", 5, 3),
        ("t(x, y) :- e(x, y), x.", "this says nothing that could hold", 5, 21),
        ("t(x, y) :- e(x, y), strlen(x).", "strlen gives a value", 5, 21),
        ("t(x, y) :- e(x, y), y = foo(x).", "there is no function 'foo'", 5, 25),
        ('s(x) :- s(x), match("(", x).', "this is no regular expression", 5, 21),
        ("t(x, y) :- e(x, y), x = count : { e(1, _); e(2, _) }.", "over one conjunction", 5, 25),
        ("t(x, y) :- e(x, y). .plan 0:(2, 1)", "names each of its 1 atoms once", 5, 1),
        (".decl e(x: number)", "relation 'e' is declared twice", 5, 1),
        (".decl u(x: unsigned)", "unsigned is not taken", 5, 9),
        (".decl u(x: city)", "there is no type 'city'", 5, 9),
        (".decl u(x: number, x: number)", "two attributes are called 'x'", 5, 9),
        (".type r = [a: r]", "type 'r' holds itself", 5, 12),
        (".type r = number | symbol", "have different values", 5, 1),
        (".input q", "there is no relation 'q'", 5, 1),
        (".input e(rfc4180=true)", "no setting 'rfc4180'", 5, 1),
        (".input e(IO=sqlite)", "cannot come or go by 'sqlite'", 5, 1),
        (".decl u(x: number) eqrel", "`eqrel` is not taken here", 5, 20),
        (".comp A { }", "`.comp` is not taken", 5, 1),
        (".pragma \"x\"", "`.pragma` is not taken", 5, 1),
        ("#include \"x.dl\"", "`#` is not taken", 5, 1),
        (".functor f(x: number): number", "`.functor` is not taken", 5, 1),
        ("t(x, y) :- e(x, y), x band y = 1.", "`band` is not taken", 5, 23),
        ("t(x, n) :- e(x, _), n = mean y : { e(x, y) }.", "`mean` is not taken", 5, 30),
        ("t($, 1).", "`$` is not taken", 5, 3),
        ("t(1, 2u).", "unsigned numbers are not taken", 5, 7),
        ("t(1, nil).", "`nil` is not taken", 5, 6),
        ("t(1, 2", "the text ends too early", 5, 7),
        ("s(\"a).", "this text is not closed on its line", 5, 3),
        ("t(x, y) :- e(x, y), !(x < y; x = 1).", "`!` stands before an atom", 5, 21),
        ("d(x, a) <= d(y, b) :- b <= a.", "equal but for the last attribute", 5, 1),
        ("d(x, a) <= d(x, b) :- b <= x.", "something else than the last attributes", 5, 1),
        ("t(x, y) :- e(x, y), y = 99999999999999999999.", "beyond 64 bits", 5, 25),
        ("t(1, 9223372036854775808).", "9223372036854775808 is beyond 64 bits", 5, 6),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_place(text: str, what: str, line: int, column: int) -> None:
    with pytest.raises(LanguageError) as error:
        read_datalog(HEAD + text)
    assert what in str(error.value)
    assert f"line {line}, column {column}" in str(error.value), str(error.value)
    assert error.value.hint


@pytest.mark.parametrize(
    ("text", "column", "instead"),
    [
        ("t(x, y) :- e(x, y), x == y.", 24, "write one `=`"),
        ("t(x, y) :- e(x, y), x <> y.", 24, "write `!=`"),
        ("t(x, y) :- e(x, y), x =< y.", 24, "write `<=`"),
        ("t(x, y) :- e(x, y), x ≠ y.", 23, "write `!=`"),
        ("t(x, y) :- e(x, y), 1 < x < 3.", 27, "two values at a time"),
        ("t(x, y) :- e(x, y), x ** 2 = y.", 24, "write `^`"),
        ("t(x, y) :- e(x, y), x mod 2 = y.", 23, "write `%`"),
        ("t(x, y) :- e(x, y), y is x.", 23, "write `=`"),
        ("t(x, y) :- e(x, y) & e(y, x).", 20, "write `,`"),
        ("t(x, y) :- e(x, y) and e(y, x).", 20, "write `,`"),
        ("t(x, y) :- e(x, y) | e(y, x).", 20, "write `;`"),
        ("t(x, y) :- e(x, y), \\+ e(y, x).", 21, "write `!`"),
        ("t(x, y) :- e(x, y), ~e(y, x).", 21, "write `!`"),
        ("t(x, y) :- e(x, y), -e(y, x).", 21, "write `!`"),
        ("t(x, y) :- e(x, y), x in s.", 23, "name each value"),
        ("t(x, y) :- e(x, y), true.", 21, "leave it out"),
        ("t(x, y) <- e(x, y).", 9, "head :- body."),
        ("t(x, y) := e(x, y).", 9, "head :- body."),
        ("t(x, y) = e(x, y).", 9, "head :- body."),
        ("e(x, y) -> t(x, y).", 9, "head :- body."),
        ("s('a').", 3, "double quotes"),
        ("t(1e3, 1).", 4, "1.0e3"),
        ("% told", 1, "a comment is"),
        ("-- told", 1, "a comment is"),
        ("/* told", 1, "close the comment"),
        ("decl q(x: number)", 6, "write `.decl`"),
        (".declare q(x: number)", 1, "the statements are .decl"),
        (".decl q(x: int)", 9, "write `number`"),
        (".decl q(x: string)", 9, "write `symbol`"),
        ("d(x, n) :- e(x, _), n = count { e(x, _) }.", 31, "count : { edge(x, _) }"),
        ("d(x, n) :- e(x, _), n = count(e(x, _)).", 25, "count : { edge(x, _) }"),
        ("d(x, n) :- e(x, _), n = sum : { e(x, n) }.", 29, "sum w : { road(x, _, w) }"),
        ("d(x, n) :- e(x, n), n = abs(x).", 25, "max(x, -x)"),
        ("d(x, n) :- e(x, n), n = ftoi(x).", 25, "to_number(x)"),
        ("d(x, n) :- e(x, n), n = strlen(\"a\", 1).", 25, "strlen(text)"),
        ("q(1).", 1, "`.decl q(x: number)` declares one"),
    ],
)  # fmt: skip
def test_habits_from_elsewhere_are_told_what_to_write(text: str, column: int, instead: str) -> None:
    with pytest.raises(LanguageError) as error:
        read_datalog(HEAD + text)
    assert f"line 5, column {column}" in str(error.value), str(error.value)
    assert instead in (error.value.hint or ""), str(error.value)


@pytest.mark.parametrize(
    "rule",
    [
        "d(y, n) :- d(x, n), e(x, y), n > 3.",
        "d(y, n) :- d(x, n), e(x, y), n = 3.",
        "d(y, 0 - n) :- d(x, n), e(x, y).",
        "d(y, m) :- d(x, n), e(x, y), m = y - n.",
        "d(n, y) :- d(x, n), e(x, y).",
        "d(y, n) :- d(x, n), e(n, y).",
        "d(y, n) :- d(x, n), d(y, n), e(x, y).",
        "d(y, n) :- d(x, n), e(x, y), !e(n, y).",
        "d(y, n * -2) :- d(x, n), e(x, y).",
    ],
)
def test_a_least_value_is_read_for_nothing_that_could_lose_by_it(rule: str) -> None:
    with pytest.raises(LanguageError, match="could lose by a better value"):
        read_datalog(f"{HEAD}d(x, a) <= d(x, b) :- b <= a.\n{rule}")


def test_a_greatest_value_is_not_held_below_a_limit() -> None:
    text = f"{HEAD}d(x, a) <= d(x, b) :- a <= b.\nd(y, n) :- d(x, n), e(x, y), n {{}} 9."
    read_datalog(text.format(">"))
    with pytest.raises(LanguageError, match="could lose by a better value"):
        read_datalog(text.format("<"))


@pytest.mark.parametrize(
    "rule",
    [
        "d(y, n + w) :- d(x, n), e(x, y), e(y, w), n + w < 9.",
        "d(y, m) :- d(x, n), e(x, y), m = min(n, 4) * 2 - 1.",
        "t(x, x) :- d(x, _). d(x, 1) :- t(x, _).",
    ],
)
def test_what_grows_with_a_least_value_may_be_one(rule: str) -> None:
    read_datalog(f"{HEAD}d(x, a) <= d(x, b) :- b <= a.\n{rule}")


def test_the_cycle_of_a_negation_is_named() -> None:
    text = HEAD + "t(x, y) :- e(x, y), !d(x, y).\nd(x, y) :- t(x, y), s(_)."
    with pytest.raises(LanguageError, match="t -> !d -> t"):
        read_datalog(text)
