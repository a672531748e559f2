/**
 * All rows of a table, which the server answers in pieces.
 *
 * @import { Asked } from "../../answers.js"
 * @import { Cell, Column, Table } from "../../types.d.ts"
 * @import { Options } from "../../source.js"
 */

import { useCallback, useEffect, useState } from "gt/vendor/preact.js";
import { asProblem } from "gt/answers.js";
import { pathOf, source } from "gt/source.js";

const PIECE = 10_000;

/**
 * Ask for a whole table; what was there before stays until it has come.
 *
 * @param {string[] | null} parts @param {Options} [options] @param {number} [version]  asks again when it changes
 * @returns {Asked<Table>}
 */
export function useWholeTable(parts, options = {}, version = 0) {
  const [state, setState] = useState(
    /** @type {{ answer: Table | null, problem: import("../../types.d.ts").Problem | null, loading: boolean }} */
    ({ answer: null, problem: null, loading: parts !== null }),
  );
  const [times, setTimes] = useState(0);
  useEffect(() => {
    if (parts === null) return undefined;
    const stopper = new AbortController();
    setState((before) => ({ ...before, loading: true }));
    wholeTable(parts, options, stopper.signal).then(
      (answer) => stopper.signal.aborted || setState({ answer, problem: null, loading: false }),
      (error) => stopper.signal.aborted || setState((before) => ({ ...before, problem: asProblem(error), loading: false })),
    );
    return () => stopper.abort();
  }, [parts && pathOf(parts, options), times, version]);
  const again = useCallback(() => setTimes((count) => count + 1), []);
  return { ...state, again };
}

/** @param {string[]} parts @param {Options} options @param {AbortSignal} signal @returns {Promise<Table>} */
async function wholeTable(parts, options, signal) {
  if (source.whole) return source.get(pathOf(parts, options), signal);
  const first = await source.get(pathOf(parts, { ...options, count: PIECE }), signal);
  const pieces = [first];
  let rows = lengthOf(first);
  while (rows < first.rows && !signal.aborted) {
    const piece = await source.get(pathOf(parts, { ...options, count: PIECE, start: rows }), signal);
    if (!lengthOf(piece)) break;
    pieces.push(piece);
    rows += lengthOf(piece);
  }
  if (pieces.length === 1) return first;
  const columns = first.columns.map((/** @type {Column} */ column, /** @type {number} */ at) => ({ ...column, values: pieces.flatMap((piece) => piece.columns[at].values) }));
  return { ...first, columns };
}

/** @param {Table} table */
export function lengthOf(table) {
  return table.columns.length ? table.columns[0].values.length : 0;
}

/** The values of a column; none where the table does not have it. @param {Table | null} table @param {string} name @returns {Cell[]} */
export function valuesOf(table, name) {
  return table?.columns.find((column) => column.name === name)?.values ?? [];
}
