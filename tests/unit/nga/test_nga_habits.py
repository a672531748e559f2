"""What newcomers to L_NGA write by habit, and texts at the edge of what can be read."""

from __future__ import annotations

import pytest

from graphtide.lang.nga import nga
from graphtide.model.errors import GraphtideError, LanguageError

TEXT = """
Edge (kind: string)
Vertex (n: long, s: Accm<long, SUM>)
Traverse (u):
  For v in u.out_nbrs Via e Where ({where})
    {send};
Update (u): u.n = u.s;
"""
USUAL = {"where": 'e.kind == "a"', "send": "v.s.Accumulate(1)"}


@pytest.mark.parametrize(
    ("part", "written", "hint"),
    [
        ("where", "u = v", "write `==` to compare"),
        ("where", "u < v < 3", "compare two at a time: `u < v And v < w`"),
        ("where", "e.kind == 'a'", "texts and names of properties take double quotes"),
        ("send", "v.s(1)", "to send, write `v.sum.Accumulate(...)`"),
        ("send", "v.s.Acumulate(1)", "to send, write `v.sum.Accumulate(...)`"),
    ],
)
def test_habits_of_other_languages_are_told_what_to_write(
    part: str, written: str, hint: str
) -> None:
    with pytest.raises(LanguageError) as caught:
        nga(TEXT.format(**{**USUAL, part: written}))
    assert hint in str(caught.value)


def test_an_operation_that_is_none_is_answered_with_those_that_are() -> None:
    with pytest.raises(LanguageError) as caught:
        nga(TEXT.format(**USUAL).replace("Accm<long, SUM>", "Accm<SUM, long>"))
    assert "there are MIN, MAX, SUM" in str(caught.value)


@pytest.mark.parametrize("value", ["(" * 3000 + "1" + ")" * 3000, "+".join(["1"] * 3000)])
def test_an_expression_too_deep_for_python_is_refused_in_our_words(value: str) -> None:
    with pytest.raises(GraphtideError, match="nested more than 100 deep"):
        nga(TEXT.format(**{**USUAL, "send": f"v.s.Accumulate({value})"}))


HEADS = "Parameter (k: int)\nVertex (n: long, s: Accm<long, SUM>)\n"
LOOP = "Traverse (u): For v in u.nbrs v.s.Accumulate(k);\n"
END = "Update (u): u.n = u.s;"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            f"GlobalVariable (g: Accm<long, MAX>)\n{HEADS}{LOOP}Update (u): u.n = u.s + g;",
            "write g.Accumulate(...) in Traverse, or remove it",
        ),
        (f"{HEADS}Traverse (u): u.s.Accumulate(k);\n{END}", "write a loop, `For v in u.nbrs ...`"),
        (f"{HEADS}{LOOP}Update (u): u.n = u.s / 2;", "or write Int(...) around the value"),
        (f"{HEADS}{LOOP}{END}".replace("(k);", "(self.k);"), "written by their names alone"),
        (
            f"Edge (rank: long)\n{HEADS}{LOOP}{END}".replace("(k);", "(k * e.rank);"),
            "name the edge of a loop: `For v in u.nbrs Via e`",
        ),
        (f"{HEADS}{LOOP}{END} u.n = 3;", "put several statements in braces, or indent them"),
        (
            f'Parameter (town: string = "a")\n{HEADS}{LOOP}{END}',
            "a parameter that is a text has no default",
        ),
    ],
)
def test_hints_are_said_in_words_of_the_language(text: str, hint: str) -> None:
    with pytest.raises(LanguageError) as caught:
        nga(text)
    assert hint in str(caught.value)


@pytest.mark.parametrize("where", ["u == 10", "v == k", 'u == "ann"'])
def test_a_vertex_is_not_its_number_beside_what_looks_like_an_id(where: str) -> None:
    with pytest.raises(LanguageError, match="is a vertex, and it is compared with") as caught:
        nga(f"{HEADS}{LOOP}{END}".replace("u.nbrs ", f"u.nbrs Where ({where}) "))
    assert "`Parameter (source: vertex)`, which is given its id" in str(caught.value)
