/**
 * Tables: one behind a path, searched, sorted and paged by the server, and one that is at hand.
 *
 * What a person chose stands in the address. A saved file holds some rows of a table: there the page searches
 * and sorts those itself.
 *
 * @import { Cell, Column, Table } from "../types.d.ts"
 * @import { Options } from "../source.js"
 * @import { Change } from "./changed_rows.js"
 * @typedef {{ search: string, sort: string, down: boolean, start: number }} Chosen
 * @typedef {(id: string, column: string) => string | null} LinkId
 */

import { html, useEffect, useMemo, useRef, useState } from "gt/vendor/preact.js";
import { changePlace, usePlace } from "gt/address.js";
import { ProblemBox, useAnswer } from "gt/answers.js";
import { useChangedRows } from "gt/parts/changed_rows.js";
import { Digits, digits } from "gt/parts/numbers.js";
import { saveText } from "gt/parts/save.js";
import { pathOf, source } from "gt/source.js";

const PAGE = 100;
const TYPING = 250;
const LONGEST = 80;
/** Columns whose values name vertices: their digits are no quantity, and `linkId` links them. */
const IDS = ["id", "vertex", "src", "dst"];

/**
 * A table behind a path of the contract. Its state stands in the address, each name behind `prefix`. Where its rows change
 * while it is shown, it is asked for again with each `version`, and the rows that have changed are marked for a moment.
 *
 * @param {{ parts: string[], options?: Options, prefix?: string, linkId?: LinkId, caption?: string, version?: string | number }} props
 */
export function AskedTable({ parts, options = {}, prefix = "t_", linkId, caption, version }) {
  const place = usePlace();
  const chosen = chosenOf(place.options, prefix);
  const wanted = { search: chosen.search, sort: chosen.sort, down: chosen.down ? "1" : null };
  const page = source.whole ? {} : { ...wanted, start: chosen.start || null, count: PAGE };
  const path = pathOf(parts, { ...options, ...page });
  const asked = useAnswer(path, version);
  const answer = /** @type {Table | null} */ (asked.answer);
  const table = useMemo(() => (answer && source.whole ? pageOf(answer, chosen) : answer), [answer, ...Object.values(chosen)]);
  const changes = useChangedRows(answer, version, asked.of ?? null);
  /** @param {Partial<Chosen>} change */
  const choose = (change) => {
    const next = { start: 0, ...change };
    changePlace(Object.fromEntries(Object.entries(next).map(([name, value]) => [prefix + name, asOption(value)])));
  };
  const name = caption ?? parts.join(" ");
  return html`<div class="table" aria-busy=${asked.loading && asked.of !== path}>
    <div class="row tools">
      <${Search} text=${chosen.search} label=${`Search ${name}`} onChange=${(/** @type {string} */ search) => choose({ search })} />
      ${table && html`<${Pages} table=${table} onStart=${(/** @type {number} */ start) => choose({ start })} />`}
      ${table && html`<${SaveTable} parts=${parts} options=${{ ...options, ...wanted }} table=${table} />`}
    </div>
    ${asked.problem && !(table && version !== undefined) && html`<${ProblemBox} problem=${asked.problem} again=${asked.again} />`}
    ${asked.problem && !table && (chosen.sort || chosen.search) && html`<button type="button" onClick=${() => choose({ sort: "", down: false, search: "" })}>Show all rows as they come</button>`}
    ${!table && !asked.problem && html`<p class="empty">Loading…</p>`}
    ${table && html`<${Rows} table=${table} caption=${name} chosen=${chosen} onChoose=${choose} linkId=${linkId} changes=${changes} />`}
  </div>`;
}

/**
 * A table at hand that the page searches, sorts and pages itself. Its state is not in the address.
 *
 * @param {{ table: Table, caption: string, linkId?: LinkId, ids?: string[] }} props  `ids`: columns whose values `linkId` links
 */
export function HeldTable({ table, caption, linkId, ids }) {
  const [chosen, setChosen] = useState(/** @type {Chosen} */ ({ search: "", sort: "", down: false, start: 0 }));
  const page = useMemo(() => pageOf(table, chosen), [table, chosen]);
  /** @param {Partial<Chosen>} change */
  const choose = (change) => setChosen((before) => ({ ...before, start: 0, ...change }));
  const save = () => saveText(`${caption}.csv`, csvOf(pageOf(table, { ...chosen, start: 0 }, table.rows)), "text/csv");
  return html`<div class="table">
    <div class="row tools">
      <${Search} text=${chosen.search} label=${`Search ${caption}`} onChange=${(/** @type {string} */ search) => choose({ search })} />
      <${Pages} table=${page} onStart=${(/** @type {number} */ start) => choose({ start })} />
      <span class="save"><span class="quiet" aria-hidden="true">Save</span><button type="button" class="small" title="Save the whole table as CSV" onClick=${save}>CSV</button></span>
    </div>
    <${Rows} table=${page} caption=${caption} chosen=${chosen} onChoose=${choose} linkId=${linkId} ids=${ids} />
  </div>`;
}

/**
 * A table at hand, all rows of it.
 *
 * @param {{ table: Table, caption: string, linkId?: LinkId }} props
 */
export function PlainTable({ table, caption, linkId }) {
  return html`<div class="table"><${Rows} table=${table} caption=${caption} linkId=${linkId} /></div>`;
}

/** @param {Record<string, string>} options @param {string} prefix @returns {Chosen} */
function chosenOf(options, prefix) {
  const start = Number(options[`${prefix}start`] ?? 0);
  return {
    search: options[`${prefix}search`] ?? "",
    sort: options[`${prefix}sort`] ?? "",
    down: options[`${prefix}down`] === "1",
    start: Number.isSafeInteger(start) && start > 0 ? start : 0,
  };
}

/** @param {string | number | boolean} value */
function asOption(value) {
  if (typeof value === "boolean") return value ? "1" : null;
  return value === 0 || value === "" ? null : String(value);
}

/** A box that reports what was typed once the typing rests. @param {{ text: string, label: string, onChange: (text: string) => void }} props */
function Search({ text, label, onChange }) {
  const [typed, setTyped] = useState(text);
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  const reported = useRef(text);
  useEffect(() => {
    if (text !== reported.current) setTyped(text);
    reported.current = text;
  }, [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  /** @param {string} next @param {number} rest */
  const type = (next, rest) => {
    setTyped(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      reported.current = next;
      onChange(next);
    }, rest);
  };
  return html`<input type="search" placeholder="Search" aria-label=${label} value=${typed} dir="auto"
    onInput=${(/** @type {any} */ event) => type(event.target.value, TYPING)}
    onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Enter" && type(typed, 0)} />`;
}

/** @param {{ table: Table, onStart: (start: number) => void }} props */
function Pages({ table, onStart }) {
  const { rows, start } = table;
  const shown = lengthOf(table);
  const last = rows > 0 ? Math.floor((rows - 1) / PAGE) * PAGE : 0;
  const count = rows === 0 ? "no rows" : shown === rows ? `${digits(rows)} ${rows === 1 ? "row" : "rows"}` : `${digits(start + 1)} to ${digits(start + shown)} of ${digits(rows)} rows`;
  if (shown === rows) return html`<span class="quiet" role="status">${count}</span>`;
  /** @param {string} label @param {string} sign @param {number} to @param {boolean} off */
  const button = (label, sign, to, off) => html`<button type="button" class="small" title=${label} aria-label=${label} disabled=${off} onClick=${() => onStart(to)}>${sign}</button>`;
  return html`<span class="pages">
    ${button("First page", "«", 0, start === 0)}
    ${button("Page before", "‹", Math.max(0, start - PAGE), start === 0)}
    <span class="quiet" role="status">${count}</span>
    ${button("Next page", "›", start + PAGE, start + shown >= rows)}
    ${button("Last page", "»", last, start + shown >= rows)}
  </span>`;
}

/** @param {{ parts: string[], options: Options, table: Table }} props */
function SaveTable({ parts, options, table }) {
  const whole = (/** @type {string} */ format) => source.download(pathOf(parts, { ...options, format }));
  const name = parts.join("-");
  if (whole("csv") === null) {
    const save = () => saveText(`${name}.csv`, csvOf(table), "text/csv");
    return html`<span class="save"><button type="button" class="small" title="Save the rows that are shown as CSV" onClick=${save}>Save rows</button></span>`;
  }
  return html`<span class="save" role="group" aria-label="Save the whole table">
    <span class="quiet" aria-hidden="true">Save</span>
    <a class="button small" href=${whole("csv")} download=${`${name}.csv`} title="Save the whole table as CSV">CSV</a>
    <a class="button small" href=${whole("parquet")} download=${`${name}.parquet`} title="Save the whole table as Parquet">Parquet</a>
  </span>`;
}

/**
 * The rows themselves. A click on a header sorts: upwards, downwards, as they come.
 * Page keys at the upper or lower end of the rows go on to other pages.
 *
 * @param {{ table: Table, caption: string, chosen?: Chosen, onChoose?: (change: Partial<Chosen>) => void, linkId?: LinkId, ids?: string[], changes?: Map<number, Change> }} props
 */
function Rows({ table, caption, chosen, onChoose, linkId, ids, changes }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const shown = lengthOf(table);
  useEffect(() => {
    if (box.current) box.current.scrollTop = 0;
  }, [table.start, chosen?.sort, chosen?.down, chosen?.search]);
  /** @param {KeyboardEvent} event */
  const turn = (event) => {
    const region = box.current;
    if (!onChoose || !region) return;
    const above = region.scrollTop <= 0;
    const below = region.scrollTop + region.clientHeight >= region.scrollHeight - 1;
    let start = table.start;
    if (event.key === "PageDown" && below && start + shown < table.rows) start += PAGE;
    else if (event.key === "PageUp" && above && start > 0) start = Math.max(0, start - PAGE);
    else return;
    event.preventDefault();
    onChoose({ start });
  };
  const places = Array.from({ length: shown }, (_, row) => row);
  return html`
    <div class="scroll" ref=${box} tabindex="0" role="region" aria-label=${caption} onKeyDown=${turn}>
      <table>
        <caption class="hidden">${caption}</caption>
        <thead><tr>${table.columns.map((column) => html`<${Header} key=${column.name} column=${column} chosen=${chosen} onChoose=${onChoose} />`)}</tr></thead>
        <tbody>${places.map((row) => {
          const change = changes?.get(row);
          return html`<tr key=${change ? `${row} ${change.version}` : row}>${table.columns.map((column, at) => html`<${CellBox} key=${column.name} column=${column} value=${column.values[row]} linkId=${linkId} ids=${ids} changed=${change?.columns.has(at)} />`)}</tr>`;
        })}</tbody>
      </table>
      ${shown === 0 && html`<p class="empty">${nothing(table, chosen)}</p>`}
      ${shown === 0 && table.rows > 0 && onChoose && html`<p class="empty"><button type="button" onClick=${() => onChoose({ start: 0 })}>To the first page</button></p>`}
    </div>
    ${table.note && html`<p class="quiet">${table.note}</p>`}
  `;
}

/** @param {Table} table @param {Chosen} [chosen] */
function nothing(table, chosen) {
  if (table.rows > 0) return "The table has no rows so far down.";
  return chosen?.search ? `No row has “${chosen.search}”.` : "No rows.";
}

/** @param {{ column: Column, chosen?: Chosen, onChoose?: (change: Partial<Chosen>) => void }} props */
function Header({ column, chosen, onChoose }) {
  const side = column.kind === "number" ? "number" : "";
  if (!chosen || !onChoose) return html`<th scope="col" class=${side} dir="auto">${column.name}</th>`;
  const here = chosen.sort === column.name;
  const sorted = !here ? "none" : chosen.down ? "descending" : "ascending";
  const next = !here ? { sort: column.name, down: false } : chosen.down ? { sort: "", down: false } : { down: true };
  return html`<th scope="col" class=${side} aria-sort=${sorted}>
    <button type="button" class="sort" title=${`Sort by ${column.name}`} onClick=${() => onChoose(next)}>
      <span dir="auto">${column.name}</span>${here && html`<span class="arrow" aria-hidden="true">${chosen.down ? "▼" : "▲"}</span>`}
    </button>
  </th>`;
}

/** @param {{ column: Column, value: Cell, linkId?: LinkId, ids?: string[], changed?: boolean }} props */
function CellBox({ column, value, linkId, ids = IDS, changed = false }) {
  const side = column.kind === "number" ? "number" : "";
  if (value === null || value === undefined) return html`<td class=${`${side} null`} title="missing">–</td>`;
  const names = ids.includes(column.name);
  const text = asText(value);
  const link = names && linkId ? linkId(text, column.name) : null;
  const long = text.length > LONGEST;
  const short = long ? `${text.slice(0, LONGEST - 1)}…` : text;
  const inside = column.kind === "number" && !names ? html`<${Digits} value=${value} />` : html`<bdi dir="auto">${short}</bdi>`;
  return html`<td class=${changed ? `${side} changed` : side} title=${long ? text : undefined}>${link ? html`<a href=${link}>${inside}</a>` : inside}</td>`;
}

/** A value as a person reads it. @param {Cell} value @returns {string} */
export function asText(value) {
  if (value === true) return "yes";
  if (value === false) return "no";
  if (Array.isArray(value)) return value.map((item) => (item === null ? "–" : asText(item))).join(", ");
  return String(value);
}

/** How many rows of a table are at hand. @param {Table} table */
export function lengthOf(table) {
  return table.columns.length ? table.columns[0].values.length : 0;
}

/** The rows at hand that are asked for, of a table that is all there is. @param {Table} table @param {Chosen} chosen @param {number} [count] @returns {Table} */
function pageOf(table, { search, sort, down, start }, count = PAGE) {
  let rows = Array.from({ length: lengthOf(table) }, (_, row) => row);
  const wanted = search.toLowerCase();
  if (wanted) rows = rows.filter((row) => table.columns.some(({ values }) => asText(values[row] ?? "").toLowerCase().includes(wanted)));
  const by = table.columns.find((column) => column.name === sort);
  if (by) rows.sort((one, other) => compared(by, by.values[one], by.values[other], down) || one - other);
  const page = rows.slice(start, start + count);
  return {
    columns: table.columns.map((column) => ({ ...column, values: page.map((row) => column.values[row]) })),
    rows: rows.length,
    start,
    note: table.note,
  };
}

/** What is missing comes last, whichever way. @param {Column} column @param {Cell} one @param {Cell} other @param {boolean} down */
function compared(column, one, other, down) {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  const order = column.kind === "number" ? asNumber(one) - asNumber(other) : asText(one) < asText(other) ? -1 : Number(asText(one) > asText(other));
  return down ? -order : order;
}

/** Infinities come as texts. @param {Cell} value */
function asNumber(value) {
  if (value === "inf") return Number.MAX_VALUE;
  return value === "-inf" ? -Number.MAX_VALUE : Number(value);
}

/** The rows at hand as CSV. @param {Table} table */
export function csvOf(table) {
  /** @param {Cell} value */
  const field = (value) => {
    const text = value === null ? "" : Array.isArray(value) ? JSON.stringify(value) : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [table.columns.map((column) => field(column.name)).join(",")];
  for (let row = 0; row < lengthOf(table); row += 1) lines.push(table.columns.map((column) => field(column.values[row])).join(","));
  return `${lines.join("\r\n")}\r\n`;
}
