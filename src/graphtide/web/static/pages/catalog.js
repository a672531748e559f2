/**
 * The catalog: everything that can be opened, each graph with what was made from it.
 *
 * @import { Asked } from "../answers.js"
 * @import { Catalog, Cell, Item, Kind } from "../types.d.ts"
 * @typedef {{ item: Item, depth: number }} Entry
 * @typedef {{ key: string, title: string, entries: Entry[] }} Group
 */

import { html, useEffect, useMemo, useRef, useState } from "gt/vendor/preact.js";
import { changePlace, linkTo } from "gt/address.js";
import { shownAnswer } from "gt/answers.js";
import { Digits, counted, inBytes, inSeconds } from "gt/parts/numbers.js";
import { asText } from "gt/parts/table.js";
import { source } from "gt/source.js";

/** What the server says about things that no store has. */
const MEMORY = "in memory";
/** Facts whose names say too little by themselves. @type {Record<string, string>} */
const LABELS = { seconds: "took", "given order": "differences in given order", bytes: "size" };
/** How often the store is looked at while something in it goes on, in milliseconds. */
const LOOKS_AGAIN = 3000;

/** @type {Record<Kind, string>} */
const KINDS = { graph: "graph", view: "view", collection: "collection", run: "run", live: "live graph" };
/** @type {Record<Kind, string>} */
const SIGNS = { graph: "●", view: "◐", collection: "▤", run: "▶", live: "◉" };
/** @type {Record<Item["state"], string>} */
const STATES = { ok: "", stale: "stale", damaged: "damaged", "going on": "going on", "left off": "left off" };

/** What to do about an item that is not as it should be; nothing where what it was made from is gone. @param {Item} item @param {boolean} orphan */
function advice({ kind, name, state }, orphan) {
  if (state === "damaged") return html`<code>graphtide check ${name}</code> says which file is damaged. Restore the file, or <code>graphtide delete ${kind === "live" ? "graph" : kind} ${name}</code> and make it again.`;
  if (state === "left off") return "It stopped before its end and can be resumed.";
  if (state !== "stale" || orphan) return "";
  return kind === "run" ? "Run the program again to have results of what is there now." : html`<code>graphtide refresh ${name}</code> brings it up to date.`;
}

/** @param {{ options: Record<string, string>, catalog: Asked<Catalog> }} props */
export default function CatalogPage({ options, catalog }) {
  return shownAnswer(catalog, (answer) => html`<${Shown} catalog=${answer} search=${options.search ?? ""} again=${catalog.again} />`);
}

/** @param {{ catalog: Catalog, search: string, again: () => void }} props */
function Shown({ catalog, search, again }) {
  const groups = useMemo(() => groupsOf(catalog.items), [catalog]);
  const found = useMemo(() => matching(groups, search), [groups, search]);
  const goesOn = catalog.items.some((item) => item.state === "going on");
  useEffect(() => {
    if (!goesOn || !source.live) return undefined;
    const timer = setInterval(again, LOOKS_AGAIN);
    return () => clearInterval(timer);
  }, [goesOn, again]);
  if (catalog.items.length === 0) return html`<${FirstSteps} catalog=${catalog} />`;
  return html`
    <div class="row heading">
      <h1>Catalog</h1>
      <p class="quiet">${overview(catalog.items)}</p>
      <span class="push row">
        <${SearchBox} text=${search} />
        ${source.live && html`<button type="button" onClick=${again} title="Look at the store again">Refresh</button>`}
      </span>
    </div>
    ${catalog.root && html`<p class="quiet">Store: <code dir="auto">${catalog.root}</code></p>`}
    ${found.map((group) => html`<${GroupPanel} key=${group.key} group=${group} />`)}
    ${found.length === 0 && html`<p class="empty">Nothing is called “${search}”. <button type="button" onClick=${() => changePlace({ search: null })}>Show everything</button></p>`}
  `;
}

/** @param {Item[]} items */
function overview(items) {
  const kinds = /** @type {Kind[]} */ (Object.keys(KINDS));
  const counts = kinds.map((kind) => [kind, items.filter((item) => item.kind === kind).length]);
  return counts.filter(([, count]) => count).map(([kind, count]) => counted(Number(count), KINDS[/** @type {Kind} */ (kind)])).join(", ");
}

/** @param {{ text: string }} props */
function SearchBox({ text }) {
  const box = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const hear = (event) => {
      if (event.key !== "/" || event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return;
      event.preventDefault();
      box.current?.focus();
    };
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  }, []);
  return html`<input type="search" ref=${box} placeholder="Search by name  ( / )" aria-label="Search the catalog" aria-keyshortcuts="/" dir="auto" value=${text}
    onInput=${(/** @type {any} */ event) => changePlace({ search: event.target.value || null })} />`;
}

/** Every item below what it was made from; what stands alone begins a group. @param {Item[]} items @returns {Group[]} */
function groupsOf(items) {
  const known = new Set(items.map(keyOf));
  /** @type {Map<string, Item[]>} */
  const below = new Map();
  /** @type {Map<string, Group>} */
  const groups = new Map();
  for (const item of items) {
    const from = originOf(item, known);
    if (from === null) beginGroup(groups, item);
    else if (!below.get(from)?.push(item)) below.set(from, [item]);
  }
  /** @param {Item} item @param {number} depth @param {Set<Item>} above @returns {Entry[]} */
  const withBelow = (item, depth, above) => {
    if (above.has(item)) return [];
    const inside = new Set(above).add(item);
    return [{ item, depth }, ...(below.get(keyOf(item)) ?? []).flatMap((child) => withBelow(child, depth + 1, inside))];
  };
  for (const group of groups.values()) group.entries = group.entries.flatMap(({ item }) => withBelow(item, 0, new Set()));
  return [...groups.values()];
}

/**
 * What an item was made from, if it is there: of two that have one name, what is in memory was made from what is in memory.
 *
 * @param {Item} item @param {Set<string>} known
 */
function originOf(item, known) {
  if (!item.made_from) return null;
  const { kind, name } = item.made_from;
  const places = item.note === MEMORY ? [MEMORY, ""] : [""];
  return places.map((note) => keyOf({ kind, name, note })).find((key) => known.has(key)) ?? null;
}

/**
 * The group that an item begins, or that of others whose origin is gone too; what is in memory stands together.
 *
 * @param {Map<string, Group>} groups @param {Item} item
 */
function beginGroup(groups, item) {
  const from = item.made_from;
  const held = item.note === MEMORY;
  const key = held ? MEMORY : keyOf(from ?? item);
  const gone = from ? `Of ${KINDS[from.kind]} ${from.name}, which is not in the catalog` : "";
  const title = held ? (source.live ? "In memory" : "In this file") : gone;
  const group = groups.get(key) ?? { key, title, entries: [] };
  group.entries.push({ item, depth: 0 });
  groups.set(key, group);
}

/** @param {{ kind: Kind, name: string, note?: string }} item */
function keyOf({ kind, name, note }) {
  return `${note === MEMORY ? "memory" : "store"} ${kind} ${name}`;
}

/** The groups with what a search finds and what that was made from. @param {Group[]} groups @param {string} search */
function matching(groups, search) {
  const wanted = search.trim().toLowerCase();
  if (!wanted) return groups;
  return groups.map((group) => ({ ...group, entries: foundEntries(group.entries, wanted) })).filter((group) => group.entries.length);
}

/** @param {Entry[]} entries @param {string} wanted */
function foundEntries(entries, wanted) {
  let depth = -1;
  const kept = [];
  for (const entry of [...entries].reverse()) {
    const found = [entry.item.name, KINDS[entry.item.kind], entry.item.state].some((text) => text.toLowerCase().includes(wanted));
    if (found || entry.depth < depth) {
      kept.push(entry);
      depth = entry.depth;
    } else if (entry.depth === 0) depth = -1;
  }
  return kept.reverse();
}

/** @param {{ group: Group }} props */
function GroupPanel({ group }) {
  const [all, setAll] = useState(false);
  const most = 50;
  const shown = all ? group.entries : group.entries.slice(0, most);
  return html`<section class="panel" aria-label=${group.title || group.entries[0].item.name}>
    ${group.title && html`<h2 class="quiet" dir="auto">${group.title}</h2>`}
    <ul class="items">${shown.map(({ item, depth }) => html`<${ItemRow} key=${keyOf(item)} item=${item} depth=${depth} />`)}</ul>
    ${shown.length < group.entries.length && html`<button type="button" onClick=${() => setAll(true)}>Show ${counted(group.entries.length - most, "more", "more")}</button>`}
  </section>`;
}

/** @param {{ item: Item, depth: number }} props */
function ItemRow({ item, depth }) {
  const from = item.made_from;
  const note = item.note && item.note !== MEMORY ? sentence(item.note) : "";
  const todo = advice(item, item.made_from !== null && depth === 0);
  const badge = STATES[item.state];
  return html`<li class=${`item depth-${Math.min(depth, 4)}`} data-kind=${item.kind}>
    <span class="sign" aria-hidden="true">${SIGNS[item.kind]}</span>
    <span class="named"><span class="kind">${KINDS[item.kind]}</span> <${Named} item=${item} />
      ${badge && html` <span class=${`badge ${item.state.replace(" ", "-")}`}>${badge}</span>`}
      ${from && html` <span class="from">from <a href=${pageOf(from)} dir="auto">${from.name}</a></span>`}
    </span>
    <span class="facts">${Object.entries(item.facts).map(([name, value]) => html`<${Fact} key=${name} name=${name} value=${value} />`)}</span>
    ${(note || todo) && html`<p class="says"><span class=${item.state === "damaged" ? "alarming" : ""}>${note}</span> ${todo}</p>`}
  </li>`;
}

/** @param {string} note */
function sentence(note) {
  return `${note[0].toUpperCase()}${note.slice(1)}.`;
}

/** @param {{ item: Item }} props */
function Named({ item }) {
  if (item.state === "damaged") return html`<strong dir="auto">${item.name}</strong>`;
  return html`<a class="name" href=${pageOf(item)} dir="auto">${item.name}</a>`;
}

/** Where something is shown: a view as a collection of one. @param {{ kind: Kind, name: string }} item */
function pageOf({ kind, name }) {
  return linkTo([kind === "view" ? "collection" : kind, name]);
}

/** @param {{ name: string, value: Cell }} props */
function Fact({ name, value }) {
  if (value === null) return null;
  return html`<span class="fact" title=${typeof value === "string" ? value : undefined}><span class="quiet">${LABELS[name] ?? name}</span> <${FactValue} name=${name} value=${value} /></span>`;
}

/** A size in its unit, a date as it is. @param {{ name: string, value: Cell }} props */
export function FactValue({ name, value }) {
  if (typeof value === "number" && /\b(bytes|size)\b/.test(name)) return html`<span title=${`${value} bytes`}>${inBytes(value)}</span>`;
  if (typeof value === "number" && name === "seconds") return html`<span title=${`${value} s`}>${inSeconds(value)}</span>`;
  if (typeof value === "number") return html`<${Digits} value=${value} />`;
  const moment = typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/.test(value) ? new Date(value) : null;
  if (moment) return html`<time datetime=${value} title=${value}>${localMinute(moment)}</time>`;
  return html`<bdi>${asText(value)}</bdi>`;
}

/** A moment on the clock of this machine: `2026-11-19 05:10`. @param {Date} moment */
function localMinute(moment) {
  const two = (/** @type {number} */ part) => String(part).padStart(2, "0");
  return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())} ${two(moment.getHours())}:${two(moment.getMinutes())}`;
}

/** What to do first. @param {{ catalog: Catalog }} props */
function FirstSteps({ catalog }) {
  return html`<section class="first">
    <h1>Nothing here yet</h1>
    ${catalog.root && html`<p class="quiet">The store <code dir="auto">${catalog.root}</code> is empty.</p>`}
    <h2>Load edges from a file</h2>
    <p>A CSV or Parquet file with a column for each end, <code>src</code> and <code>dst</code>, and any others:</p>
    <${Pasted} text="graphtide load calls --edges calls.csv" />
    <p>Then say which versions there are, and run a program over all of them:</p>
    <${Pasted} text=${"graphtide run -e 'create view collection years on calls for y in 2017..2020 [upto-{y}: year <= y]'\ngraphtide run -e 'run wcc on years'"} />
    ${catalog.changes && catalog.store && html`<p>What comes after the loading can also be done <a href=${linkTo(["gvdl"])}>here, in GVDL</a>.</p>`}
    <h2>Or begin with a sample, in Python</h2>
    <${Pasted} text=${SAMPLE} />
    <p class="quiet">What you make while this page is open is here when you refresh.</p>
  </section>`;
}

const SAMPLE = `import graphtide as gt

grid = gt.Graph.from_frame(gt.samples.power_grid())
hours = grid.collection("storm", "for h in 0..8 [hour-{h}: h < out_from or h >= out_until]")
hours.run(gt.algorithms.WCC).open()`;

/** A command with a button that copies it. @param {{ text: string }} props */
export function Pasted({ text }) {
  const [copied, setCopied] = useState(false);
  const copy = () => navigator.clipboard?.writeText(text).then(() => setCopied(true), () => setCopied(false));
  return html`<div class="pasted"><pre>${text}</pre><button type="button" class="small" onClick=${copy}>${copied ? "Copied" : "Copy"}</button></div>`;
}
