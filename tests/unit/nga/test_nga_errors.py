"""Mistakes in L_NGA: each error says what, where in the text, and what to do."""

from __future__ import annotations

import pytest

from graphtide.lang.nga import nga
from graphtide.model.errors import LanguageError
from tests.unit.nga import listings
from tests.unit.programs.test_program_errors import marked

DECLARED = """
Parameter (root: vertex, among: vertices, scale: double = 1.0)
Edge (weight: double)
Vertex (id, degree, nbrs, n: long, xs: Array<double, 4>, best: Accm<double, MIN>)
GlobalVariable (total: Accm<long, SUM>)
"""
FUNCTIONS = {
    "Initialize": "If (u == root Or u in among)\n  u.n = 1;\nu.xs[0] = scale;",
    "Traverse": "For z in u.out_nbrs Via d\n  z.best.Accumulate(d.weight);\n  total.Accumulate(1);",
    "Update": "u.n = Int(u.best) + total;",
}


def text_with(function: str, statements: str) -> str:
    text = DECLARED
    for name, usual in FUNCTIONS.items():
        body = usual + "\n" + statements if name == function else usual
        text += f"{name} (u):\n" + "".join(f"  {line}\n" for line in body.split("\n"))
    return text


def refused(text: str) -> LanguageError:
    with pytest.raises(LanguageError) as caught:
        nga(text)
    return caught.value


def test_the_base_of_these_tests_is_no_mistake() -> None:
    assert nga(text_with("Update", "u.n = 2;")).name == "Program"


def test_an_error_shows_line_column_caret_and_hint() -> None:
    text = "Vertex (rank: double, sum: Accm<double, SUM>)\nTraverse (u):\n"
    text += "  For v in u.nbrs\n    v.sun.Accumulate(u.rank);\nUpdate (u): u.rank = u.sum;\n"
    assert str(refused(text)) == (
        "a vertex has no 'sun'\n"
        "  at: line 4, column 5\n"
        "    4 |     v.sun.Accumulate(u.rank);\n"
        "      |     ^^^^^\n"
        "  try: did you mean `sum`?"
    )


@pytest.mark.parametrize(
    ("function", "statements", "what", "hint", "place"),
    [
        # Names.
        ("Update", "u.n = skale;", "nothing here is called 'skale'", "`scale`", "skale"),
        ("Update", "u.n = m;", "nothing here is called 'm'", "there are", "m"),
        ("Update", "u.n = n;", "nothing here is called 'n'", "write u.n", "n"),
        ("Update", "u.n = u;", "'u' alone is no value", "u.id", "u"),
        ("Update", "u.n = u.m;", "a vertex has no 'm'", "Vertex (m: double)", "u.m"),
        ("Update", "u.n = u.total;", "a vertex has no 'total'", "`total` alone", "u.total"),
        ("Update", "u.active = true;", "a vertex has no 'active'", "Vertex (active", "u.active"),
        ("Update", "u.n = w.n;", "not reached a vertex 'w'", "it has u", "w"),
        ("Update", "u.n = u.nbrs;", "'nbrs' is a set", "For v in u.nbrs", "u.nbrs"),
        ("Update", "Let u = 3;", "'u' has a value already", "another name", "u"),
        ("Update", "Let x = 3;\nLet x = 4;", "'x' has a value already", "another name", "x"),
        ("Update", "Let scale = 3;", "'scale' has a value already", "another name", "scale"),
        ("Update", "Let V = 3;", "'V' has a meaning", "another name", "V"),
        ("Update", "If (u.n > 1)\n  Let x = 3;\nu.n = x;", "called 'x'", "there are", "x"),
        ("Update", "u.n = Foo(3);", "no function 'Foo'", "there are Abs", "Foo"),
        ("Update", "u.n = Flor(2.5);", "no function 'Flor'", "`Floor`", "Flor"),
        ("Traverse", "u.best.Accumulate(e.weight);", "has no edge 'e' here", "Via e", "e"),
        ("Initialize", "u.n = Superstep;", "only Update knows", "use it there", "Superstep"),
        # Where things may stand.
        ("Traverse", "u.n = 3;", "Traverse cannot assign", "u.sum.Accumulate", "u.n"),
        ("Update", "u.best = 3;", "an accumulator and cannot be assigned", "Traverse", "u.best"),
        ("Update", "total = 3;", "an accumulator and cannot be assigned", "Traverse", "total"),
        ("Update", "u.degree = 3;", "what the graph says", "of your own", "u.degree"),
        ("Update", "x = 3;", "'x' is no attribute", "Let x = ...", "x"),
        ("Update", "u.best.Accumulate(1);", "Update cannot send", "in Traverse", "u.best"),
        (
            "Traverse",
            "u.best.Accumulate(u.best);",
            "cannot be read in Traverse",
            "Update",
            "u.best",
        ),
        ("Traverse", "u.best.Accumulate(total);", "cannot be read in Traverse", "Update", "total"),
        ("Traverse", "w.best.Accumulate(1);", "not reached a vertex 'w' here", "it has u", "w"),
        ("Traverse", "For v in u.nbrs { }\nv.best.Accumulate(1);", "'v' here", "it has u", "v"),
        ("Traverse", "u.n.Accumulate(1);", "'n' is no accumulator", "n: Accm<", "u.n"),
        ("Traverse", "scale.Accumulate(1);", "only accumulators are sent to", "v.sum", "scale"),
        ("Update", "For v in u.nbrs { }", "Update sees one vertex", "in Traverse", None),
        ("Update", "For v in u.nbrs\n  u.n = 1;", "Update sees one vertex", "in Traverse", None),
        ("Update", "If (u in u.nbrs)\n  u.n = 1;", "only Traverse asks for edges", "there", None),
        # Loops.
        ("Traverse", "For v in u.friends { }", "cannot go over 'friends'", "u.nbrs", "u.friends"),
        ("Traverse", "For v in u.nbr { }", "cannot go over 'nbr'", "`nbrs`", "u.nbr"),
        ("Traverse", "For v in w.nbrs { }", "not reached a vertex 'w'", "it has u", "w"),
        ("Traverse", "For v in among { }", "neighbours or numbers", "Range(8)", "among"),
        ("Traverse", "For u in u.nbrs { }", "'u' has a value already", "another name", "u"),
        ("Traverse", "For v in Distinct u.nbrs Via e { }", "without edges", "`Via`", None),
        ("Traverse", "For k in Range(2) Via e { }", "numbers have no edges", "`Via`", "Via e"),
        ("Traverse", "For k in Range(u.n) { }", "known before the walk", "parameters", None),
        (
            "Traverse",
            "For v in u.nbrs Via e\n  v.best.Accumulate(e.wait);",
            "no 'wait'",
            "",
            "e.wait",
        ),
        (
            "Traverse",
            "For v in u.nbrs Via e\n  v.best.Accumulate(e.weigt);",
            "edges have no 'weigt'",
            "`weight`",
            "e.weigt",
        ),
        # Types.
        ("Update", "u.n = 0.5;", "v.n is an int", "Int(...)", "0.5"),
        ("Update", "u.n = u.xs;", "an array of 4", "xs[k]", "u.xs"),
        ("Update", "u.n[0] = 3;", "no array", "index", None),
        ("Update", "u.xs[7] = 3;", "7 is outside", "0 to 3", None),
        ("Update", "If (u.n)\n  u.n = 1;", "true or false", "!= 0", "u.n"),
        ("Update", "u.n = true + 1;", "no arithmetic", "Int(...)", None),
        ("Traverse", "u.best.Accumulate();", "one value is sent", "Accumulate", None),
        ("Traverse", "If (u.id < 3 And u in root) { }", "`in` asks", "", None),
        # Words of other languages.
        ("Update", "u.n += 3;", "`+=` is not L_NGA", "u.x + ...", "+="),
        ("Update", "while (u.n > 3) { }", "`while` is not L_NGA", "For v in", "while"),
        ("Update", "return u.n;", "`return` is not L_NGA", "assign", "return"),
        ("Update", "u.n = u.n # 3", "`#` is not L_NGA", "comment", "#"),
        ("Update", "u.n = u.n /* 3", "comment is not closed", "*/", "/*"),
        ("Update", "Iff (u.n > 3) u.n = 2;", "is not expected here", "", None),
        ("Update", "If u.n > 3\n  u.n = 2;", "'u' is not expected here", "`(`", "u"),
        ("Update", "u.n = ;", "';' is not expected here", "a name", ";"),
        ("Update", "If (u.n > 3)", "block", "indent", None),
        ("Update", "u.n = 1;\n    u.n = 2;", "stands deeper", "alike", "u"),
        ("Update", "If (u.n > 1)\n    u.n = 1;\n  u.n = 2;", "stands deeper", "alike", "u"),
        ("Update", "u.n = 99999999999999999999;", "64 bits", "a point", None),
    ],
)
def test_mistakes_in_functions(
    function: str, statements: str, what: str, hint: str, place: str | None
) -> None:
    error = refused(text_with(function, statements))
    assert what in error.what
    assert hint in (error.hint or "")
    assert error.where is not None
    if place is not None:
        assert marked(error) == place


@pytest.mark.parametrize(
    ("declaration", "what", "hint", "place"),
    [
        ("Vertex (rank)", "'rank' has no type", "rank: double", "rank"),
        ("Vertex (activ)", "'activ' has no type", "`active`", "activ"),
        ("Vertex (id: long)", "'id' has its meaning already", "`id` alone", "id"),
        ("Vertex (a: text)", "there is no type 'text'", "double", "text"),
        ("Vertex (a: duble)", "there is no type 'duble'", "`double`", "duble"),
        ("Vertex (a: Accm<double, SUMM>)", "no accumulator 'SUMM'", "`SUM`", None),
        ("Vertex (a: Accm<double, OR>)", "OR is of truth values", "Accm<bool, OR>", None),
        ("Vertex (a: Accm<bool, SUM>)", "SUM is of numbers", "Accm<double, SUM>", None),
        ("Vertex (a: Accm<double, COUNT>)", "COUNT is an int", "Accm<long, COUNT>", None),
        ("Vertex (a: Accm<long, SUM> = 3)", "begins with what", "leave", "a"),
        ("Vertex (a: long, a: long)", "'a' is declared twice", "different names", "a"),
        ("Vertex (a: long = 9223372036854775808)", "cannot begin with 9223", "int", "a"),
        ("Vertex (a: long = 0.5)", "cannot begin with 0.5", "int", "a"),
        ("Vertex (a: Array<double, 0>)", "cannot have size 0", "1 or more", "a"),
        ("Vertex (a: Array<double, 2>)", "nothing assigns the array 'a'", "u.a[k]", None),
        ("Vertex (a: string = 3)", "nothing stands in for it", "leave it out", "a"),
        ("Vertex (a: Array<double, size>)", "'size' is no int parameter", "Parameter (size", None),
        ("Vertex (a: Array<Array<long, 2>, 2>)", "an array holds plain", "one array", None),
        ("Parameter (V: int)", "'V' has a meaning", "another name", "V"),
        ("Parameter (a: Accm<long, SUM>)", "is one value", "plain type", None),
        ("Parameter (a: vertices = 3)", "a list, and has no default", "leave", "a"),
        ("Parameter (a: vertexx)", "no type 'vertexx'", "`vertex`", "vertexx"),
        ("Parameter (unused: int)", "nothing uses the parameter 'unused'", "", "unused"),
        ("GlobalVariable (a: long)", "by many vertices at once", "Accm<long, SUM>", "long"),
        ("GlobalVariable (a: Accm<long, SUM>)", "nothing sends to 'a'", "", "a"),
        ("Vertex (a: Accm<long, SUM>)", "nothing sends to the accumulator 'a'", "Traverse", "a"),
        ("Edge (weight)", "'weight' has no type", "weight: double", "weight"),
        ("Edge (a: double = 1)", "what the graph says", "a: double", "a"),
        ("Iterations (rounds)", "'rounds' is no int parameter", "Parameter (rounds", "rounds"),
        ("Iterations (9223372036854775808)", "is no iterations", "", "9223372036854775808"),
        ("Iterations (1)\nIterations (2)", "given twice", "leave one out", None),
        ("Vertx (a: long)", "'Vertx' is not expected here", "`Vertex`", "Vertx"),
    ],
)
def test_mistakes_in_declarations(
    declaration: str, what: str, hint: str, place: str | None
) -> None:
    text = declaration + "\nVertex (n: long, found: Accm<long, SUM>)\n"
    text += "Traverse (u): For v in u.nbrs v.found.Accumulate(1)\nUpdate (u): u.n = u.found\n"
    error = refused(text)
    assert what in error.what
    assert hint in (error.hint or "")
    if place is not None:
        assert marked(error) == place


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "nothing to read"),
        ("Vertex (n: long)", "no Traverse"),
        ("Vertex (n: long) Traverse (u): For v in u.nbrs { }", "no Update"),
        ("Vertex (n: long, m: Accm<long, SUM>)\nUpdate (u):\n  u.n = u.m", "no Traverse"),
        ("Vertex (nbrs) Traverse (u): For v in u.nbrs { }", "no result"),
        ("Vertex (n: long) Traverse (u): { } Update (u): u.n = 1;", "goes nowhere"),
        (listings.TRIANGLE_COUNT + "\nUpdate (u1): { }", "two functions"),
        (
            listings.TRIANGLE_COUNT.replace("Update (u1):", "Update (u1): u1.active = true;"),
            "would empty the global variables",
        ),
    ],
)
def test_programs_that_are_not_whole(text: str, what: str) -> None:
    assert what in refused(text).what


def test_tabs_and_spaces() -> None:
    text = listings.LIBRARY["BFS"].replace("  For", "\t For")
    assert "tabs and spaces are mixed" in refused(text).what
    assert nga(listings.LIBRARY["BFS"].replace("    ", "\t\t").replace("  For", "\tFor"))
