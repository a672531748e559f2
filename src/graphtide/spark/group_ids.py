"""What a group is called: the values that its rows share, as a text that no other group has.

Values stand side by side, `Berlin, 30`, or as `city=Berlin, age=30` where several groupings make
one graph. A missing value is `null`. A text stands as it is if it can be taken for nothing else;
otherwise it stands in single quotes, with a backslash before quotes and backslashes.
"""

from __future__ import annotations

import re

from pyspark.sql import Column
from pyspark.sql import functions as F

from graphtide.model.schema import PropertyType
from graphtide.plan.grouping import Grouping, GroupSection
from graphtide.spark.columns import Names

# Neither empty nor blank at an end, without the signs that hold an id together. Java and Python
# read it alike: `$` would also match before a line break at the end.
_END = r"(?![\s\S])"
_PLAIN = rf"^(?!null{_END})(?=\S)[^,=:'\\\x00-\x1f]*[^,=:'\\\x00-\x1f\s]{_END}"
_IS_PLAIN = re.compile(_PLAIN, re.ASCII)


def group_id(section: GroupSection, grouping: Grouping, names: Names, *, named: bool) -> Column:
    """The id of the group that a row is in, if it is in one of the grouping."""
    parts = []
    if grouping.condition_name is not None:
        parts.append(F.lit(quoted_text(grouping.condition_name)))
    for key in grouping.naming:
        value = _value(names(key.item), key.item.type)
        parts.append(F.concat(F.lit(f"{key.name}="), value) if named else value)
    text = F.concat_ws(", ", *parts) if parts else F.lit("all")
    if section.qualifier is None:
        return text
    return F.concat(F.lit(f"{quoted_text(section.qualifier)}: "), text)


def key_value(value: Column, type_: PropertyType) -> Column:
    """A value as groups know it: minus zero is zero."""
    return value + F.lit(0.0) if type_ is PropertyType.FLOAT else value


def quoted_text(text: str) -> str:
    """A text as it stands in an id."""
    if _IS_PLAIN.match(text):
        return text
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _value(value: Column, type_: PropertyType) -> Column:
    text = key_value(value, type_).cast("string")
    if type_ is PropertyType.STRING:
        escaped = F.replace(F.replace(text, F.lit("\\"), F.lit("\\\\")), F.lit("'"), F.lit("\\'"))
        in_quotes = F.concat(F.lit("'"), escaped, F.lit("'"))
        text = F.when(text.rlike(_PLAIN), text).otherwise(in_quotes)
    return F.when(value.isNull(), F.lit("null")).otherwise(text)
