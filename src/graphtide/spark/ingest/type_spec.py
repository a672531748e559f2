"""How the values of one column are to be read: a property type, and a unit or a format."""

from __future__ import annotations

from dataclasses import dataclass, replace

from graphtide.model.errors import InputError
from graphtide.model.schema import PropertyType, name_hint, parse_property_type
from graphtide.spark.ingest.options import IngestOptions

# Seconds in one unit, as a power of ten.
UNIX_UNITS = {"unix_seconds": 0, "unix_millis": -3, "unix_micros": -6}


@dataclass(frozen=True)
class TypeSpec:
    """A type; for numbers that are times their unit; for dates and timestamps maybe a format."""

    type: PropertyType
    unit: str | None = None
    format: str | None = None

    def __str__(self) -> str:
        return self.unit or self.type.value


def parse_type_spec(text: str, format: str | None = None) -> TypeSpec:
    """A user's word for a type: one of the property types, or a unix time unit."""
    word = text.strip().lower()
    if word in UNIX_UNITS:
        return TypeSpec(PropertyType.TIMESTAMP, unit=word)
    spec = TypeSpec(_parse(text), format=format)
    if format is not None and not spec.type.is_time:
        raise InputError(f"a format needs the type date or timestamp, not {spec.type}")
    return spec


def given_spec(options: IngestOptions, kind: str, name: str) -> TypeSpec | None:
    """What the user said about the column of that name, or what is known of it."""
    format = options.formats.get(f"{kind}.{name}", options.formats.get(name))
    text = options.types.get(f"{kind}.{name}", options.types.get(name)) or _known(
        options, kind, name
    )
    if text is not None:
        return parse_type_spec(text, format)
    return TypeSpec(PropertyType.TIMESTAMP, format=format) if format is not None else None


def key_spec(options: IngestOptions, kind: str, name: str) -> TypeSpec | None:
    """The same for an id or an end."""
    said = given_spec(replace(options, known=None), kind, name)
    if said is None and options.known is not None:
        return TypeSpec(options.known.id_type)
    return said


def _known(options: IngestOptions, kind: str, name: str) -> str | None:
    if options.known is None:
        return None
    declared = options.known.vertex if kind == "vertices" else options.known.edge
    return next((item.type.value for item in declared if item.name == name), None)


def check_names_are_columns(options: IngestOptions, columns: dict[str, set[str]]) -> None:
    """Every name that the user gives a type, a format or the sack must be a column somewhere."""
    known = set().union(*columns.values())
    qualified = {f"{kind}.{name}" for kind, names in columns.items() for name in names}
    for option in ("types", "formats", "drop"):
        for name in getattr(options, option):
            if name not in known | qualified:
                raise InputError(
                    f"{option} names the column '{name}', which no table has",
                    hint=name_hint(name, known, f"there is: {', '.join(sorted(known))}", "'"),
                )


def _parse(text: str) -> PropertyType:
    try:
        return parse_property_type(text)
    except InputError as error:
        units = ", ".join(UNIX_UNITS)
        raise InputError(error.what, hint=f"{error.hint}, {units}") from None
