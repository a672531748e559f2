"""Random expressions over the columns of a record, as text."""

from __future__ import annotations

from random import Random

from tests.oracle.flows import Schema

STRANGE: dict[str, tuple[str, ...]] = {
    "int": ("2**40", "2**32"),
    "float": ("inf", "-inf", "nan", "-0.0"),
    "bool": (),
    "str": ("''",),
}


class Expressions:
    """Expressions of any type; `strange` ones have infinities, NaN and large numbers."""

    def __init__(self, random: Random, strange: bool) -> None:
        self.random = random
        self.strange = strange

    def _often(self, part: float) -> bool:
        return self.random.random() < part

    def expression(self, kind: str, schema: Schema, depth: int = 2) -> str:
        names = [f"col.{name}" for name, same in schema if same == kind]
        if depth == 0 or (names and self._often(0.4)):
            if names and self._often(0.8):
                return self.random.choice(names)
            return self._constant(kind)
        return getattr(self, f"_{kind}")(schema, depth - 1)  # type: ignore[no-any-return]

    def _constant(self, kind: str) -> str:
        if self.strange and STRANGE[kind] and self._often(0.2):
            return self.random.choice(STRANGE[kind])
        values = {
            "int": ("0", "1", "2", "3", "-1"),
            "float": ("0.0", "0.5", "2.0", "-1.5"),
            "bool": ("True", "False"),
            "str": ("'x'", "'y'"),
        }
        return self.random.choice(values[kind])

    def _int(self, schema: Schema, depth: int) -> str:
        one = self._term("int", schema, depth)
        other = self.expression("int", schema, depth)
        test = self._term("bool", schema, 0)
        floats = [name for name, kind in schema if kind == "float"]
        choices = [
            f"{one} // 2",
            f"{one} // 2",
            f"({one} + {other}) % 5",
            f"least({one} + 1, 4)",
            f"most({one} - 1, {other})",
            f"{one} % ({other})" if other.startswith("col") else f"{one} % 3",
            f"where({test}, {one}, {other})" if "col" in test else f"{one} // 3",
            f"bits({one})",
            f"least(-{one}, 5)",
            f"({one} * {other}) % 7",
            f"{one} // {other}" if other.startswith("col") else f"{one} - {one}",
        ]
        if floats:
            choices += [f"least(most(col.{floats[0]}, -4.0), 4.0).as_int()"]
        return self.random.choice(choices)

    def _float(self, schema: Schema, depth: int) -> str:
        one = self._term("float", schema, depth)
        other = self.expression("float", schema, depth)
        number = self._term("int", schema, 0)
        choices = [
            f"least({one} + 1, 4.0)",
            f"most({one} - {other}, -2.0)",
            f"{one} * 0.5",
            f"-({one})",
            f"({number}).as_float()" if number.startswith("col") else one,
            f"{number} / 2" if number.startswith("col") else one,
        ]
        if self.strange:
            choices += [f"{one} / {other}"] * 2
        return self.random.choice(choices) if "col" in one else one

    def _bool(self, schema: Schema, depth: int) -> str:
        kind = self.random.choice([kind for _, kind in schema])
        one = self._term(kind, schema, depth)
        other = self.expression(kind, schema, depth)
        if "col" not in one:
            return self._constant("bool")
        compare = ("==", "!=") if kind == "str" else ("<", "<=", ">", ">=", "==", "!=")
        first = f"({one} {self.random.choice(compare)} {other})"
        if kind == "bool":
            first = self.random.choice((one, f"~{one}", first))
        if depth and self._often(0.3):
            second = self._bool(schema, 0)
            if "col" in second:
                return f"({first} {self.random.choice('&|')} {second})"
        return first

    def _str(self, schema: Schema, depth: int) -> str:
        test = self._term("bool", schema, 0)
        names = [name for name, kind in schema if kind == "str"]
        if names and "col" in test:
            return f"where({test}, col.{names[0]}, {self._constant('str')})"
        return self._constant("str")

    def _term(self, kind: str, schema: Schema, depth: int) -> str:
        """An expression that names a column where one of the type is there."""
        names = [f"col.{name}" for name, same in schema if same == kind]
        if names and (depth == 0 or self._often(0.7)):
            return self.random.choice(names)
        found = self.expression(kind, schema, depth)
        return f"({found})"
