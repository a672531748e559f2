"""What people write who come from other languages, or from Graphsurge, and what to write here.

`mistakes` asks this module only about text that does not parse: a pattern is no part of the
language. It tries each pattern on the statement that fails, from its first word on, and looks up
each word that stands in the place of an expected one.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Habit(NamedTuple):
    """A way to begin a statement that fails, what is wrong with it, and what to write."""

    pattern: re.Pattern[str]
    what: str
    hint: str


def _habit(pattern: str, what: str, hint: str) -> Habit:
    return Habit(re.compile(pattern, re.IGNORECASE | re.DOTALL), what, hint)


_NAME = r"(?:[\w.-]+|`[^`]*`|\"[^\"]*\")"
_CREATE = r"create\s+(?:or\s+replace\s+)?"
_LOAD = r"load\s+(?:or\s+replace\s+)?graph\b"
_FILE = r"'[^']*'"
_AGGREGATION = (
    "make a grouped graph for each grouping: `create view NAME vertices group by city "
    "aggregate count(*) edges aggregate count(*)`"
)

NOT_OURS = (
    _habit(
        r"create\s+aggregated\s+cube\b", "aggregated cubes are not part of GVDL here", _AGGREGATION
    ),
    _habit(
        r"generate\s+cube\b",
        "random cubes are not part of GVDL here",
        "`create view collection NAME for i in 1..10 [...]` generates views",
    ),
    _habit(
        r"window\s+cube\b",
        "windows over random cubes are not part of GVDL here",
        "`create view collection NAME sliding windows over ts width 7 days step 1 day`",
    ),
    _habit(
        r"load\s+cube\b",
        "loading a cube from files of differences is not part of GVDL here",
        "load the graph and create the collection: `create view collection NAME [...]`",
    ),
    _habit(
        rf"{_LOAD}[^;]*?\b(?:vertices|edges)\s+type\b",
        "types of vertices and edges are not part of `load graph`",
        "leave them out; labels stand in a column (`label '...'`), or come from "
        "`graphtide load NAME --vertices LABEL=FILE --edges SOURCE-LABEL-TARGET=FILE`",
    ),
)
"""Statements that we know and do not have."""

HABITS = (
    _habit(
        rf"{_LOAD}[^;]*?\bedges\s+from\s+{_FILE}\s+and\s+vertices\b",
        "vertices stand before edges",
        "`load graph NAME with vertices from 'FILE' and edges from 'FILE'`",
    ),
    _habit(
        rf"{_LOAD}[^;]*?\b(?:(?:vertices|edges)\s*{_FILE}|graph\s+{_NAME}\s+{_FILE})",
        "`from` is missing before the file",
        "`load graph NAME from 'FILE'`, or `with vertices from 'FILE' and edges from 'FILE'`",
    ),
    _habit(
        rf"{_LOAD}[^;]*?\bwith\s+vertices\s+from\s+{_FILE}\s*(?:;|$)",
        "a graph needs edges",
        "go on with `and edges from 'FILE'`",
    ),
    _habit(
        rf"{_LOAD}[^;]*{_FILE}\s*,",
        "there are no commas in `load graph`",
        "`with vertices from 'FILE' and edges from 'FILE'`, and options one after the other",
    ),
    _habit(
        rf"{_LOAD}[^;]*{_FILE}\s+replace\b",
        "`replace` stands in front",
        "`load or replace graph NAME ...`",
    ),
    _habit(
        rf"{_LOAD}[^;]*{_FILE}\s+columns\b",
        "columns are named by what they are",
        "`src 'COLUMN' dst 'COLUMN'`, and `id 'COLUMN'` of the vertices",
    ),
    _habit(
        rf"{_LOAD}[^;]*{_FILE}\s+\w+\s*=",
        "an option and its value have no `=` between them",
        "`separator ';' src 'COLUMN'`",
    ),
    _habit(
        rf"{_CREATE}(?:collection|cube)\b",
        "a collection is created with `create view collection`",
        "`create view collection NAME on GRAPH [name: condition], ...`",
    ),
    _habit(
        rf"{_CREATE}view\s+{_NAME}\s+as\b",
        "a view is a condition on edges, not a query",
        "`create view NAME on GRAPH edges where ...`",
    ),
    _habit(
        rf"{_CREATE}view\s+(?:on|where)\s+{_NAME}\s+\w",
        "the view has no name",
        "`create view NAME on GRAPH edges where ...`",
    ),
    _habit(
        rf"{_CREATE}view\s+collection\s+(?:(?:on|where|within)\s+{_NAME}\s*[\[(\w]|\[)",
        "the collection has no name",
        "`create view collection NAME on GRAPH [name: condition], ...`",
    ),
    _habit(
        rf"{_CREATE}view\s+collection\b.*\]\s*(?:and|or)\s*\[",
        "views of a collection are a list",
        "put commas between them; a condition of several parts stands in one pair of brackets",
    ),
    _habit(
        rf"{_CREATE}view\s+collection\b.*\b(?:expanding|sliding|tumbling)\s+(?!windows)\w",
        "`windows over` is missing",
        "`expanding windows over year width 1`",
    ),
    _habit(
        rf"{_CREATE}view\b.*\bfor\s+\w+\s+in\s+(?:range\s*\(|[\w'-]+\s*(?:-|to\b|:))",
        "a range is written with two dots",
        "`for y in 2000..2020`, with `step 5` behind it if you like",
    ),
    _habit(
        r"run\b[^;(]*\([^;)]*\w\s*:",
        "a parameter and its value have `=` between them",
        "`run bfs(source='ann') on NAME`",
    ),
    _habit(
        r"run\b[^;(]*\([^;=)]*[,)]",
        "parameters go by name",
        "`run bfs(source='ann') on NAME`; `show computations` lists them",
    ),
    _habit(
        r"run\b[^;(]*\([^;)]*=\s*[\[(,\s]*[^\W\d]\w*",
        "a value is a number, a text in single quotes, or true or false",
        "ids that are text are written 'ann'",
    ),
    _habit(r"run\b[^;]*\bsave\s+to\b", "results are what is saved", "`save results to 'FOLDER'`"),
    _habit(
        rf"run\s+{_NAME}(?:\s*\([^;)]*\))?\s*(?:;|$)",
        "the statement does not say on what to run",
        "`run wcc on NAME`, the name of a collection or a view",
    ),
    _habit(
        rf"{_CREATE}query\s+(?:on|path|paths|hops|reach|regular)\s+(?!on\b)",
        "the query has no name",
        "`create query NAME on live graph GRAPH path from 'a' to 'b'`",
    ),
    _habit(
        rf"(?:{_CREATE}|drop\s+|show\s+|explain\s+)query\s+{_NAME}\s+(?:on\s+(?!live\b)|(?!on\b))",
        "a query is on a live graph",
        "`... query NAME on live graph GRAPH ...`; `show live graphs` lists them",
    ),
    _habit(
        rf"(?:{_CREATE}|drop\s+|show\s+|explain\s+)program\s+{_NAME}\s+(?:on\s+(?!live\b)|(?!on\b))",
        "a program is registered on a live graph",
        "`create program NAME on live graph GRAPH run page_rank`; `run` is for collections",
    ),
    _habit(
        rf"{_CREATE}program\s+{_NAME}\s+on\s+live\s+graph\s+{_NAME}\s+(?!run\b)",
        "the statement does not say what to run",
        "`create program NAME on live graph GRAPH run page_rank(iterations=10)`",
    ),
    _habit(
        rf"{_CREATE}query\b.*\bfrom\s+[^\W\d]",
        "a vertex is named by its id",
        "an id is a number, or a text in single quotes: `path from 'LHR' to 'SYD'`",
    ),
    _habit(
        rf"{_CREATE}query\b.*\bregular\s+[^'\s]",
        "a regular path is a text",
        "`regular 'knows/likes*' from 'ann' label kind`",
    ),
    _habit(
        r"(?:insert\s+(?:into|from|edges)|append|update\s+(?:live|graph|from))\b",
        "a live graph is brought to its next version by `advance`",
        "`advance live graph NAME insert from 'FILE' delete from 'FILE'`",
    ),
    _habit(
        rf"advance\s+(?:graph\s+)?(?!live\b){_NAME}",
        "only live graphs advance",
        "`advance live graph NAME insert from 'FILE'`",
    ),
    _habit(
        rf"advance\s+live\s+graph\s+{_NAME}\s+(?:insert|update|remove|vertices)\s+(?:{_FILE}|edges|into)",
        "`from` is missing before the file",
        "`advance live graph NAME insert from 'FILE'`",
    ),
    _habit(
        rf"show\s+(graph|view|collection|run)s\s+{_NAME}",
        "several things have no name",
        "`show graph NAME` shows one of them, `show graphs` lists all",
    ),
    _habit(
        r"show\s+(?:schema|properties|columns)\b",
        "there is nothing of that kind to show",
        "`show graph NAME` lists the properties of a graph and their types",
    ),
    _habit(
        r"set\s+threads\s*(?:=|to\b|\d+\.|\d+e)",
        "threads are a whole number, without anything before it",
        "`set threads 4`",
    ),
)
"""Statements that we have, written otherwise."""

OTHER_WORDS = {
    "delimiter": "separator",
    "sep": "separator",
    "header": "has_headers",
    "headers": "has_headers",
    "tz": "timezone",
    "destination": "dst",
    "type": "edge_label",
    "drop": "delete",
    "remove": "delete",
    "describe": "show",
    "list": "show",
    "import": "load",
    "compute": "run",
    "select": "create",
    "when": "where",
    "filter": "where",
    "output": "save",
}
"""Words of other languages by ours."""
