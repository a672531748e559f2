/**
 * Statements to begin with, made of the graphs and properties that are there.
 *
 * @import { Catalog, Cell, GraphFacts } from "../../types.d.ts"
 * @import { Property } from "../../parts/gvdl.js"
 */

import { written, writtenProperty } from "gt/parts/gvdl.js";

/** @typedef {{ what: string, text: string }} Example */

/**
 * @param {Catalog} catalog @param {GraphFacts | null} graph @param {Property[]} properties @returns {Example[]}
 */
export function examplesFor(catalog, graph, properties) {
  const collections = catalog.items.filter((item) => item.kind === "collection");
  const examples = graph ? [...collectionsOf(graph, properties), ...viewsOf(graph, properties)] : [];
  if (!graph && !catalog.items.some((item) => item.kind === "graph")) {
    examples.push({ what: "Load a graph from files", text: "load graph Calls with vertices from 'customers.csv' and edges from 'calls.csv'" });
  }
  for (const item of collections.slice(0, 1)) {
    examples.push({ what: `Components in every view of ${item.name}`, text: `run computation wcc on collection ${written(item.name)}` });
    examples.push({ what: `Ranks in every view of ${item.name}`, text: `run page_rank(iterations=10) on collection ${written(item.name)}` });
  }
  examples.push({ what: "What can be computed", text: "show computations" });
  return examples;
}

/** @param {GraphFacts} graph @param {Property[]} properties @returns {Example[]} */
function collectionsOf(graph, properties) {
  const name = written(graph.name);
  const examples = [];
  const time = properties.find((one) => one.of === "edge" && /time|date/.test(one.type));
  if (time) {
    const head = `create view collection growth on ${name}`;
    examples.push({ what: `Months of ${time.name}, one after the other`, text: `${head}\n  expanding windows over ${writtenProperty(time.name)} width 1 month` });
  }
  const number = properties.find((one) => one.of === "edge" && /^int/.test(one.type) && spread(graph, one.name));
  const range = number && spread(graph, number.name);
  if (number && range) {
    const property = writtenProperty(number.name);
    const text = `create view collection upto on ${name}\n  for x in ${range.least}..${range.most} step ${range.step} [upto-{x}: ${property} <= x]`;
    examples.push({ what: `Edges up to each ${number.name}`, text });
  }
  const words = properties.find((one) => one.of === "edge" && /^(?:str|text)/.test(one.type));
  if (words) {
    examples.push({ what: `Without each ${words.name} in turn`, text: `create view collection without on ${name}\n  without each value of ${writtenProperty(words.name)}` });
  } else if (graph.edges <= 5000) {
    examples.push({ what: "Without each edge in turn", text: `create view collection without on ${name} without each edge` });
  }
  return examples;
}

/** @param {GraphFacts} graph @param {Property[]} properties @returns {Example[]} */
function viewsOf(graph, properties) {
  for (const property of properties) {
    if (property.of !== "edge") continue;
    const value = firstValue(graph, property.name);
    if (value === null) continue;
    const written_value = typeof value === "string" ? `'${value.replaceAll("\\", "\\\\").replaceAll("'", "''")}'` : String(value);
    const sign = typeof value === "number" ? ">=" : "=";
    const text = `create view chosen on ${written(graph.name)}\n  edges where ${writtenProperty(property.name)} ${sign} ${written_value}`;
    return [{ what: `Edges by ${property.name}`, text }];
  }
  return [];
}

/** The first plain value of a property in the first rows of a graph. @param {GraphFacts} graph @param {string} name @returns {Cell} */
function firstValue(graph, name) {
  const column = graph.head.columns.find((one) => one.name === name);
  if (!column || column.kind === "time" || column.kind === "list") return null;
  return column.values.find((value) => value !== null && !(typeof value === "string" && /[\n\r]/.test(value))) ?? null;
}

/** From where to where the first rows go, in about ten steps; null where they do not. @param {GraphFacts} graph @param {string} name */
function spread(graph, name) {
  const values = graph.head.columns.find((one) => one.name === name)?.values ?? [];
  const numbers = values.filter((value) => typeof value === "number" && Number.isInteger(value)).map(Number);
  if (numbers.length === 0) return null;
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return most > least ? { least, most, step: Math.max(1, Math.round((most - least) / 10)) } : null;
}
