/**
 * The names that a statement may use, and the properties of the graph that it is about.
 *
 * @import { Catalog, GraphFacts, Item, Table } from "../../types.d.ts"
 * @import { Names, Property } from "../../parts/gvdl.js"
 */

import { useEffect, useMemo, useState } from "gt/vendor/preact.js";
import { pathOf, source } from "gt/source.js";
import { statementBefore, subject } from "gt/parts/gvdl.js";

/** @param {Catalog | null} catalog @returns {Names} */
export function namesOf(catalog) {
  const items = catalog?.items ?? [];
  const named = (/** @type {string} */ kind) => items.filter((item) => item.kind === kind).map((item) => item.name);
  return { graphs: named("graph"), views: named("view"), collections: named("collection"), runs: named("run"), live: named("live") };
}

/**
 * The graph at the bottom of what a text is about; the only graph there is where it does not say.
 *
 * @param {string} text @param {Catalog | null} catalog @returns {string | null}
 */
export function graphOf(text, catalog) {
  const items = catalog?.items ?? [];
  const named = (/** @type {string} */ name) => items.find((item) => item.name === name && item.kind !== "run" && item.kind !== "live");
  const statement = statementBefore(text.replace(/;\s*$/, ""));
  /** @type {Item | undefined} */
  let item = named(subject(statement) ?? "");
  for (let steps = 0; item && item.kind !== "graph" && steps < items.length; steps += 1) item = named(item.made_from?.name ?? "");
  if (item) return item.name;
  const graphs = items.filter((one) => one.kind === "graph");
  return graphs.length === 1 ? graphs[0].name : null;
}

/** The facts of graphs by name, each asked for once. @param {string | null} name @returns {GraphFacts | null} */
export function useGraph(name) {
  const [facts, setFacts] = useState(/** @type {Record<string, GraphFacts>} */ ({}));
  useEffect(() => {
    if (name === null || facts[name]) return undefined;
    const stopper = new AbortController();
    source.get(pathOf(["graph", name]), stopper.signal).then(
      (answer) => setFacts((before) => ({ ...before, [name]: answer })),
      () => {},
    );
    return () => stopper.abort();
  }, [name]);
  return name === null ? null : (facts[name] ?? null);
}

/** @param {GraphFacts | null} graph @returns {Property[]} */
export function useProperties(graph) {
  return useMemo(() => (graph ? propertiesOf(graph.schema) : []), [graph]);
}

/** Properties as a schema lists them: a row each, with what has it, its name and its type. @param {Table} schema @returns {Property[]} */
export function propertiesOf(schema) {
  const column = (/** @type {string[]} */ ...names) => schema.columns.find((one) => names.includes(one.name))?.values ?? [];
  const [of, names, types] = [column("of", "on", "kind"), column("property", "name"), column("type")];
  return names.map((name, row) => ({
    of: String(of[row] ?? "edge").startsWith("vert") ? "vertex" : "edge",
    name: String(name),
    type: String(types[row] ?? ""),
  }));
}
