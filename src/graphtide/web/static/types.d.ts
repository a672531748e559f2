/**
 * What the server answers, path by path, and what the page sends: the contract between `web/answers.py` and the modules
 * of the page. Paths are relative to `/api/`; names in paths are percent-encoded.
 *
 *   GET  catalog                                                       Catalog
 *   GET  graph/NAME                                                    GraphFacts
 *   GET  graph/NAME/edges?start&count                                  Table
 *   GET  graph/NAME/vertices?search&start&count                        Table
 *   GET  collection/NAME                                               CollectionFacts
 *   GET  collection/NAME/plan                                          Plan
 *   GET  collection/NAME/similarity?order=given|planned                Similarity
 *   GET  collection/NAME/drawing?view&...DrawingOptions                Drawing
 *   GET  run/NAME                                                      RunFacts
 *   GET  run/NAME/summary | record | workers | supersteps | globals    Table
 *   GET  run/NAME/table?view&...TableOptions                           Table
 *   GET  run/NAME/changes?view&against&...TableOptions                 Table
 *   GET  run/NAME/history?vertex&to                                    Table         `to` where results are those of pairs
 *   GET  run/NAME/top?count&field | losses?against&field               Table
 *   GET  run/NAME/components?view&...TableOptions | matches?view&...   Table
 *   GET  run/NAME/drawing?view&...DrawingOptions                       Drawing
 *   GET  run/NAME/vertex?view&vertex                                   VertexFacts   (collection/ and live/ have it too)
 *   GET  run/NAME/edge?view&number                                     EdgeFacts     (collection/ and live/ have it too)
 *   GET  compare?run&view&other&other_view&...TableOptions             Table         id, then RESULT and other_RESULT; differs=1 leaves out equal rows
 *   GET  live/NAME                                                     LiveFacts
 *   GET  live/NAME/program/P?...TableOptions  |  query/Q?...           Table
 *   GET  live/NAME/changes/P?...TableOptions                           Table         what the last advance changed; of a query too
 *   GET  live/NAME/operators/P                                         Operators     dataflows and rules
 *   GET  live/NAME/drawing?program&field&...DrawingOptions             Drawing
 *   GET  live/NAME/events                                              server-sent events: LiveFacts, at most four a second
 *   GET  jobs                                                          { jobs: Job[] }
 *   GET  jobs/ID                                                       Job
 *   GET  jobs/ID/events                                                server-sent events: Job
 *   POST gvdl/check    { text }                                        { problems: GvdlProblem[] }
 *   POST gvdl/explain  { text }                                        { text: string, size: PlanSize | null }
 *   POST jobs          { statement } | { resume: RUN }                 Job           with --allow-changes
 *   POST jobs/ID/cancel                                                Job           with --allow-changes
 *
 * Tables without TableOptions come whole, but for those of edges and vertices, which have pages of 100 rows.
 * Every table takes `digits`: numbers that are not whole then have so many significant digits, for charts.
 * Every table can be had as a file: GET download/PATH?...&format=csv|parquet, whole, without start and count.
 * What cannot be answered is a Problem, with a status of 400 and above.
 */

/** A whole number beyond 2^53, an infinity and what is no number come as texts, in columns of numbers too. */
export type Cell = number | string | boolean | null | Cell[];

export interface Column {
  name: string;
  kind: "number" | "text" | "truth" | "time" | "list";
  values: Cell[];
}

/** Some rows of a table, from `start` on; `rows` counts those that the whole table has. */
export interface Table {
  columns: Column[];
  rows: number;
  start: number;
  /** What the table leaves out, in a sentence. */
  note?: string;
}

/** `sort` is a column, `down` is "1" for the greatest first, `search` a part of any text or number in a row. */
export interface TableOptions {
  search?: string;
  sort?: string;
  down?: "1";
  start?: number;
  count?: number;
  digits?: number;
}

export interface Problem {
  what: string;
  where?: string | null;
  hint?: string | null;
}

export type Kind = "graph" | "view" | "collection" | "run" | "live";

export interface Item {
  kind: Kind;
  name: string;
  state: "ok" | "stale" | "damaged" | "going on" | "left off";
  made_from: { kind: Kind; name: string } | null;
  /** Sizes and dates, in the order in which they are shown. */
  facts: Record<string, Cell>;
  note?: string;
}

export interface Catalog {
  root: string | null;
  version: string;
  /** Whether statements may be carried out. */
  changes: boolean;
  /** Whether there is a store that statements could be about. */
  store: boolean;
  items: Item[];
}

export interface GraphFacts {
  name: string;
  vertices: number;
  edges: number;
  directed: boolean;
  schema: Table;
  head: Table;
  collections: string[];
}

/** `note` says how the differences were estimated, or why they are null; null where all edges were counted. */
export interface PlanSize {
  views: number;
  differences: number | null;
  kind: string;
  note: string | null;
}

export interface CollectionFacts {
  name: string;
  graph: string;
  statement: string;
  stored: boolean;
  /** Appends that the graph has taken since. */
  stale: number;
  kind: "chain" | "tree" | "manual";
  differences: number;
  totals: { given: number; chain: number | null; tree: number | null; chain_bound: number | null; tree_bound: number | null };
  unviewed: Record<string, number>;
  views: { names: string[]; sizes: number[] };
  runs: string[];
  explain: string;
}

/** A place for each step of the plan, depth first; `parent` is -1 where a step starts from nothing. */
export interface Plan {
  view: (string | null)[];
  stone: (string | null)[];
  edges: number[];
  parent: number[];
  inserted: number[];
  deleted: number[];
}

/** How like views are: `size` x `size` bytes from 0 (nothing shared) to 255 (the same), in base64, row by row. */
export interface Similarity {
  size: number;
  /** The view that a row begins with: of many views, neighbours share a row. */
  names: string[];
  cells: string;
}

export interface RunFacts {
  name: string;
  program: string;
  collection: string;
  fields: string[];
  kept: boolean;
  finished: boolean;
  /** Views that are finished. */
  done: number;
  views: string[];
  mode: string;
  strategy: string;
  seconds: number;
  of_pairs: boolean;
  matches: string[];
  globals: boolean;
  /** Whether the graph of a view can be drawn: its collection is still there. */
  drawable: boolean;
  /** Which result names components or other vertices; drawn in colours of their own. */
  naming: string[];
  explain: string;
  job: string | null;
  resumable: boolean;
}

/** `around` is an id, `hops` and `most` are numbers; `sample` is "1" for vertices from all over the graph. */
export interface DrawingOptions {
  /** Another version; the parent of the version in the plan, if none is named. */
  against?: string;
  /** "1": beside no other version. */
  alone?: "1";
  field?: string;
  around?: string;
  /** "1": all that is connected with `around`. */
  component?: "1";
  hops?: number;
  /** A list of ids in JSON: the edges at these vertices as well. */
  more?: string;
  /** The most edges. */
  most?: number;
  sample?: "1";
}

/** A part of one version of a graph, and what came and went against another. */
export interface Drawing {
  view: string;
  against: string | null;
  directed: boolean;
  field: string | null;
  vertices: {
    /** Ids as texts; they name vertices in other paths. */
    id: string[];
    /** How many edges they have in the version, drawn or not; a loop counts once. */
    degree: number[];
    /** 0 where a vertex stayed, 1 where it came, 2 where it is taken out of the version. */
    state: number[];
    /** Where they are, if the data say so; null where these do not know one of them. */
    x: (number | null)[] | null;
    y: (number | null)[] | null;
    value: Cell[] | null;
    /** The value in the other version. */
    before: Cell[] | null;
  };
  /** Places of ends in `vertices`; `state` is 0 where an edge stayed, 1 where it came, 2 where it went. */
  edges: { from: number[]; to: number[]; state: number[]; number: number[] };
  /** How large the version is of which this is a part. */
  whole: { vertices: number; edges: number };
  note: string | null;
}

export interface VertexFacts {
  id: string;
  degree: number;
  properties: Record<string, Cell>;
  results: Record<string, Cell>;
}

/** `number` of the path is that of a drawn edge. */
export interface EdgeFacts {
  from: string;
  to: string;
  properties: Record<string, Cell>;
}

export interface LiveFacts {
  name: string;
  folder: string | null;
  version: number;
  vertices: number;
  edges: number;
  writable: boolean;
  /** `dataflow`: it has operators. `matches` are kinds of rows: `program/P?matches=NAME`. `problem`: why it has no results. */
  programs: {
    name: string;
    program: string;
    mode: string;
    fields: string[];
    matches: string[];
    touched: number;
    dataflow: boolean;
    problem: string | null;
  }[];
  queries: { name: string; asked: string; bytes: number; rows: number; waits: boolean }[];
  budget: { bytes: number | null; used: number };
  log: { bytes: number; records: number } | null;
  checkpoint: { bytes: number; version: number; when: string } | null;
  /** Of the advances that this process made or saw, the last thousand; latencies in milliseconds. */
  pace: {
    advances: number;
    rows_a_second: number;
    p50: number | null;
    p90: number | null;
    p99: number | null;
    /** The last minute, second by second: rows, and the longest advance in milliseconds (none where it only reads). */
    rows: number[];
    longest: number[];
  };
}

/** The operators of a dataflow or of rules, with what each holds and what it took. */
export interface Operators {
  name: string;
  /** `rows` are those it holds; `came` and `sent` those that it took in and sent on, so far. */
  operators: {
    id: number;
    name: string;
    kind: string;
    rows: number;
    seconds: number;
    loop: number | null;
    came: number;
    sent: number;
    activations: number;
  }[];
  edges: [number, number][];
  loops: { id: number; name: string; parent: number | null }[];
}

export interface Job {
  id: string;
  title: string;
  statement: string;
  state: "going on" | "done" | "failed" | "cancelled";
  stage: string;
  /** The share that is done, if that is known. */
  done: number | null;
  /** Seconds left, if that is known. */
  left: number | null;
  seconds: number;
  /** Finished views and all views of the run that it makes. */
  views: [number, number] | null;
  /** What it made, or is making. */
  result: { kind: Kind; name: string } | null;
  answer: string;
  problem: Problem | null;
  resumable: boolean;
}

/** A mistake in GVDL; offsets count characters from the beginning of the text. */
export interface GvdlProblem extends Problem {
  from: number;
  to: number;
}
