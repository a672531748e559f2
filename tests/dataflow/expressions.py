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
            return self._constant(kind, schema)
        if kind.endswith(" | None"):
            return self._maybe(kind, schema, depth - 1)
        method = kind.split("(")[0].split(".")[-1]
        return getattr(self, f"_{method}")(schema, depth - 1)  # type: ignore[no-any-return]

    def _constant(self, kind: str, schema: Schema) -> str:
        if kind.endswith(" | None"):
            there = self._constant(kind.removesuffix(" | None"), schema)
            return f"where(col.{schema[0][0]}.is_null(), None, {there})"
        if self.strange and STRANGE.get(kind) and self._often(0.2):
            return self.random.choice(STRANGE[kind])
        values = {
            "int": ("0", "1", "2", "3", "-1"),
            "float": ("0.0", "0.5", "2.0", "-1.5"),
            "bool": ("True", "False"),
            "str": ("'x'", "'y'", "'a long beginning, xa'"),
            "datetime.date": ("datetime.date(2020, 2, 29)", "datetime.date(1999, 12, 31)"),
            "decimal(2)": ("Decimal('0.25')", "Decimal('-2.00')"),
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
            # Python itself would multiply two constants, and come to more than a word.
            f"({one} * {other}) % 7" if "col" in one + other else f"{one} // 3",
            f"{one} // {other}" if other.startswith("col") else f"{one} - {one}",
        ]
        for name, kind in schema:
            choices += {
                "str": [f"col.{name}.length()"],
                "datetime.date": [f"col.{name}.{self.random.choice(('year', 'month', 'day'))}()"],
                "decimal(2)": [f"least(col.{name}, Decimal('9.99')).as_int()"],
                "int | None": [f"col.{name}.or_else({one})"],
            }.get(kind, [])
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
        name, kind = self.random.choice(schema)
        if kind.endswith(" | None"):
            return f"col.{name}.is_null()"
        one = self._term(kind, schema, depth)
        other = self.expression(kind, schema, depth)
        if "col" not in one:
            return self._constant("bool", schema)
        compare = ("<", "<=", ">", ">=", "==", "!=")
        first = f"({one} {self.random.choice(compare)} {other})"
        if kind == "str" and self._often(0.6):
            first = self._of_text(one, other)
        if kind == "bool":
            first = self.random.choice((one, f"~{one}", first))
        if depth and self._often(0.3):
            second = self._bool(schema, 0)
            if "col" in second:
                return f"({first} {self.random.choice('&|')} {second})"
        return first

    def condition(self, schema: Schema) -> str:
        """A condition that may be unknown: nulls are compared, and truths of three values met."""
        names = [name for name, kind in schema if kind == "int | None"]
        texts = [name for name, kind in schema if kind == "str | None"]
        first = self.expression("bool", schema)
        found = [f"(col.{name} {self.random.choice(('<', '==', '!='))} 2)" for name in names]
        found += [self._of_text(f"col.{name}", "'x'") for name in texts]
        if not found:
            return first
        test = self.random.choice(found)
        choices = (test, f"~{test}", f"({test} & {first})", f"(~{test} | {first})")
        return self.random.choice(choices) if "col" in first else test

    def _of_text(self, one: str, other: str) -> str:
        return self.random.choice(
            (
                f"{one}.like('%x_')",
                f"{one}.like('_')",
                f"{one}.contains({other})",
                f"{one}.starts_with('a l')",
                f"{one}.ends_with({other})",
                f"({one} < {other})",
            )
        )

    def _str(self, schema: Schema, depth: int) -> str:
        test = self._term("bool", schema, 0)
        names = [name for name, kind in schema if kind == "str"]
        if not names:
            return self._constant("str", schema)
        choices = [
            f"col.{names[0]}.substr({self.random.choice('012')}, 2)",
            f"col.{names[0]}.substr(0, 3).cat(col.{names[-1]}.substr(1, 1))",
            f"col.{names[0]}.upper()",
            f"col.{names[0]}.lower().substr(0, 20)",
        ]
        if "col" in test:
            choices += [f"where({test}, col.{names[0]}, {self._constant('str', schema)})"] * 2
        return self.random.choice(choices)

    def _date(self, schema: Schema, depth: int) -> str:
        one, number = self._term("datetime.date", schema, 0), self._term("int", schema, 0)
        if "col" not in one:
            return one
        return self.random.choice((f"{one} + {number} % 40", f"{one} - 31", f"least({one}, {one})"))

    def _decimal(self, schema: Schema, depth: int) -> str:
        one, other = (self._term("decimal(2)", schema, 0) for _ in range(2))
        number = self._term("int", schema, 0)
        choices = [f"least({one} + {other}, Decimal('9.00'))", f"-({one})", f"({one} - {other})"]
        if "col" in number:
            choices += [f"{number} % 5 + Decimal('0.25')", f"{number} % 3 * Decimal('0.50')"]
        return self.random.choice(choices) if "col" in one + other else one

    def _maybe(self, kind: str, schema: Schema, depth: int) -> str:
        """A value that may be null."""
        plain = kind.removesuffix(" | None")
        test = self._term("bool", schema, 0)
        one = self.expression(plain, schema, 0)
        choices = [self._constant(kind, schema)]
        if "col" in test:
            choices += [f"where({test}, {one}, None)"] * 2
        choices += [
            item
            for name, same in schema
            if same == kind
            for item in (
                [f"col.{name} // 2", f"least(col.{name} + 1, 4)", f"-col.{name} % 5"]
                if plain == "int"
                else [f"col.{name}.substr(0, 2)"]
                if plain == "str"
                else []
            )
        ]
        return self.random.choice(choices)

    def _term(self, kind: str, schema: Schema, depth: int) -> str:
        """An expression that names a column where one of the type is there."""
        names = [f"col.{name}" for name, same in schema if same == kind]
        if names and (depth == 0 or self._often(0.7)):
            return self.random.choice(names)
        found = self.expression(kind, schema, depth)
        return f"({found})"
