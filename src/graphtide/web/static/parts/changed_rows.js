/**
 * Which rows of a table have changed since it was shown last: those with another value under the same id, and, in tables
 * without ids, those that were not there.
 *
 * @import { Cell, Table } from "../types.d.ts"
 * @typedef {{ version: string | number, columns: Set<number>, came: boolean }} Change
 */

import { useMemo, useRef } from "gt/vendor/preact.js";

const MOST = 5000;

/**
 * The changes by row. Nothing has changed where the table shows other rows than before: `same`
 * says which rows are asked for.
 *
 * @param {Table | null} table @param {string | number | undefined} version @param {string | null} same @returns {Map<number, Change>}
 */
export function useChangedRows(table, version, same) {
  const before = useRef(/** @type {{ same: string | null, table: Table | null, rows: Map<string, Cell[]> }} */ ({ same: null, table: null, rows: new Map() }));
  return useMemo(() => {
    const changes = new Map();
    if (!table || version === undefined) return changes;
    const rows = rowsOf(table);
    const last = before.current;
    if (last.same === same && last.table !== null && last.table !== table) {
      rows.forEach(([key, values], row) => {
        const change = changeOf(values, last.rows.get(key), table.columns[0]?.name === "id");
        if (change) changes.set(row, { version, ...change });
      });
    }
    const held = last.same === same ? last.rows : new Map();
    for (const [key, values] of rows) held.set(key, values);
    if (held.size > MOST) for (const key of [...held.keys()].slice(0, held.size - MOST)) held.delete(key);
    before.current = { same, table, rows: table.columns[0]?.name === "id" ? held : new Map(rows) };
    return changes;
  }, [table]);
}

/** @param {Cell[]} values @param {Cell[] | undefined} last @param {boolean} hasId */
function changeOf(values, last, hasId) {
  // Rows with an id that are new to the page may have been there all along, further down.
  if (!last) return hasId ? null : { columns: new Set(values.keys()), came: true };
  const columns = new Set([...values.keys()].filter((at) => JSON.stringify(values[at]) !== JSON.stringify(last[at])));
  return columns.size ? { columns, came: false } : null;
}

/** The rows with a key each: the id, or all of the row. @param {Table} table @returns {[string, Cell[]][]} */
function rowsOf(table) {
  const count = table.columns[0]?.values.length ?? 0;
  return Array.from({ length: count }, (_, row) => {
    const values = table.columns.map((column) => column.values[row]);
    return [table.columns[0].name === "id" ? String(values[0]) : JSON.stringify(values), values];
  });
}
