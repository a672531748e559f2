"""The help of the shell: a topic a text, each with examples that can be typed as they stand."""

from __future__ import annotations

from graphtide.model.schema import closest

_GENERAL = """\
Statements end with ';' and may span lines. Keywords in any case; -- begins a comment.

  help TOPIC    one of: {topics}
  quit, exit    leave (or Ctrl-D)
  Ctrl-C        drop what has been typed, or stop the statement that runs
  Tab           complete a keyword or the name of a graph, view or collection
"""

TOPICS = {
    "load": """\
Load a graph from CSV or Parquet files; 'graphtide load --help' lists all there is to say.

  load graph Calls with vertices from 'customers.csv' and edges from 'calls.csv';
  load graph Mail from 'mail.txt' separator ' ' comment '#' has_headers false;
  load graph Grid from 'branch.csv' src 'fbus' dst 'tbus';
  load graph Calls with edges from 'calls.csv' on bad rows quarantine;
  use graph Calls;
""",
    "views": """\
A view is the edges of a graph, or of another view, that satisfy a predicate.

  create view CA-calls on Calls edges where src.state = 'CA' and dst.state = 'CA';
  create or replace view long on CA-calls edges where duration > 10;
""",
    "collections": """\
A collection is many views of one graph, stored as the deltas between them.

  create view collection ages on Calls [young: src.age < 30], [old: src.age >= 60];
  create view collection years on Calls within duration > 5
    for y in 2010..2020 [upto-{y}: year <= y] ordered by tree;
  create view collection given on Calls [year < 2015], [year < 2012] manually_ordered;

Without 'ordered by' the cheaper of chain and tree is taken.
""",
    "groups": """\
A grouped graph has groups of vertices, and one edge for all edges between two groups.

  create view Cities on Calls vertices group by city aggregate count(*), avg(age)
    edges aggregate count(*), sum(duration);
  create view Ages on Calls vertices group by ([young: age < 30], [old: age >= 30], city)
    edges where year = 2019 aggregate count(*) as calls;

Aggregates are count, sum, avg, min and max. The result is a graph like any other.
""",
    "predicates": """\
Compare a property of the edge, of src or of dst with a value or another property.

  create view v on Calls edges where year = 2019 and not (duration <= 10 or src.vip);
  create view v on Calls edges where src.state in ('CA', 'NY') and dst.name like 'A%';
  create view v on Calls edges where day between date '2019-01-01' and date '2019-03-31';
  create view v on Calls edges where src.state <> dst.state and rating is not null;

A missing value compares as in SQL: the result is unknown, and the edge is left out.
""",
    "windows": """\
Windows over a number, a date or a timestamp. From is included, until is not.

  create view collection days on Mail tumbling windows over ts width 1 day;
  create view collection weeks on Mail sliding windows over ts width 7 days step 1 day
    from timestamp '2020-01-01 00:00:00' timezone 'Europe/Berlin';
  create view collection grow on Mail expanding windows over ts width 1 month drop empty;
""",
    "loops": """\
A loop writes a view for each value; 'cross' joins every view of one side with each of the other.

  create view collection years on Calls for y in 2010..2020 [upto-{y}: year <= y];
  create view collection some on Calls for s in ('CA', 'NY') [{s}: src.state = s];
  create view collection both on Calls
    (for y in 2010..2020 [y{y}: year = y]) cross (for d in 1..3 [d{d}: duration >= d]);
""",
    "removals": """\
Views of what is left when something is removed.

  create view collection outages on Grid without each edge;
  create view collection pairs on Grid without each pair of vertices where voltage > 300;
  create view collection airlines on Flights without each value of airline;
  create view collection communities on Papers
    without 2 of ([a: src.field = 'a'], [b: src.field = 'b'], [c: src.field = 'c']);
""",
    "runs": """\
Run a computation on every view of a collection; 'show computations' lists those there are.

  run wcc on years;
  run pagerank(iterations=20, damping=0.85) on years as ranks;
  run bfs(source='LHR') on years verify 10 save results to 'hops';
  run differential shortest_paths(source='LHR') on years;
  run my_program(limit=3) from 'programs.py' on years;
  run wcc on years resume;

Results are kept under a name: 'show runs', 'show run years-WCC', and 'graphtide results'.
""",
    "show": """\
What there is, and one thing by its name.

  show graphs;
  show views;
  show collections;
  show runs;
  show computations;
  show graph Calls;
  show collection years;
  show run years-WCC;
""",
    "explain": """\
What a statement would do: its tree, views, atoms, buckets and the plan of Spark.

  explain create view collection years on Calls for y in 2010..2020 [year <= y];
  explain run wcc on years;
""",
    "refresh": """\
Bring a collection or a view to the state that its graph is in now, after appends.

  refresh collection years;
  refresh view long;
""",
    "live": """\
A live graph changes now, and is on disk after every batch. Files are CSV or Parquet; no Spark.

  create live graph pay with edges from 'payments.csv' keep 7 days by at;
  advance live graph pay insert from 'today.csv' delete from 'cancelled.csv' id 'monday';
  show live graphs;
""",
    "queries": """\
A query on a live graph is kept current until it is dropped. Ids are numbers, or texts in quotes.

  create query trip on live graph flights path from 'LHR' to 'SYD' weight km;
  create query near on live graph flights hops 2 from 'LHR';
  create query tips on live graph people regular 'knows+/likes' from 'ann' label kind;
  show queries;
  show query trip on live graph flights;
  explain query trip on live graph flights;
  drop query trip on live graph flights;
  set budget '2 GB' on live graph flights;
  set landmarks 10 far on live graph flights;
""",
    "programs": """\
A program registered on a live graph is kept current until it is dropped, also after every start.

  create program ranks on live graph pay run page_rank(iterations=10) tolerance 0.01;
  create program rings on live graph pay run rings from 'mine.py';
  show programs;
  show program ranks on live graph pay;
  explain program ranks on live graph pay;
  drop program ranks on live graph pay;
""",
    "delete": """\
Delete by name. A collection outlives its graph, and says on use that the graph is gone.

  delete collection years;
  delete view long;
  delete graph Calls;
  delete run years-WCC;
""",
}


def help_text(topic: str) -> str:
    """The text on a topic, or the list of topics."""
    word = topic.strip().lower()
    if not word:
        return _GENERAL.format(topics=", ".join(TOPICS)).rstrip()
    known = word if word in TOPICS else closest(word, TOPICS)
    if known is None:
        return f"there is no help on '{topic}'; topics: {', '.join(TOPICS)}"
    return TOPICS[known].rstrip()
