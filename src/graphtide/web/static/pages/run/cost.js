/**
 * What each step of the plan cost and how it was reached: where sharing paid, and where it was given up.
 *
 * @import { Cell, RunFacts, Table } from "../../types.d.ts"
 * @import { Bar } from "../../parts/plot.js"
 */

import { html, useMemo } from "gt/vendor/preact.js";
import { changePlace } from "gt/address.js";
import { shownAnswer } from "gt/answers.js";
import { heightOf } from "gt/parts/axis.js";
import { BarChart, Swatch } from "gt/parts/chart.js";
import { counted, digits, inSeconds } from "gt/parts/numbers.js";
import { AskedTable } from "gt/parts/table.js";
import { useWholeTable, valuesOf } from "gt/pages/run/whole_table.js";

/** The ways to reach a step, by strategy and by what became of the state that later steps follow. */
const WAYS = /** @type {const} */ ([
  { key: "differential kept", label: "followed the delta", colour: "blue", pattern: "solid" },
  { key: "differential rebuilt", label: "state rebuilt, then followed", colour: "green", pattern: "dots" },
  { key: "scratch fresh", label: "split: from scratch, with a state to follow", colour: "orange", pattern: "stripes" },
  { key: "scratch none", label: "from scratch, no state", colour: "red", pattern: "cross" },
]);
const MEASURES = /** @type {const} */ ([
  { key: "seconds", label: "Time", unit: "s" },
  { key: "touched", label: "Touched edges", unit: "" },
  { key: "changed", label: "Changed results", unit: "" },
]);
/** From this spread on the scale is that of logarithms, unless a person says otherwise. */
const WIDE = 40;
const PREDICTED = /** @type {const} */ ([
  { name: "predicted_scratch", label: "predicted from scratch", colour: "ink" },
  { name: "predicted_differential", label: "predicted by following", colour: "pink" },
]);

/**
 * @param {{ facts: RunFacts, view: string, onView: (view: string) => void, options: Record<string, string>, finished: number }} props
 */
export function Cost({ facts, view, onView, options, finished }) {
  const asked = useWholeTable(["run", facts.name, "record"], {}, finished);
  return shownAnswer(asked, (/** @type {Table} */ table) => html`<${Shown} table=${table} view=${view} onView=${onView} options=${options} name=${facts.name} />`);
}

/** @param {{ table: Table, view: string, onView: (view: string) => void, options: Record<string, string>, name: string }} props */
function Shown({ table, view, onView, options, name }) {
  const measure = MEASURES.find((one) => one.key === options.cost) ?? MEASURES[0];
  const stones = options.stones !== "0";
  const steps = useMemo(() => stepsOf(table, stones), [table, stones]);
  const bars = useMemo(() => barsOf(steps, measure.key), [steps, measure.key]);
  const marks = useMemo(
    () => (measure.key === "seconds" ? PREDICTED.map((one) => ({ label: one.label, colour: one.colour, values: steps.of(one.name) })).filter((one) => one.values.some((value) => heightOf(value) !== null)) : []),
    [steps, measure.key],
  );
  const log = options.log === undefined ? spread(bars) > WIDE : options.log === "1";
  if (!table.rows) return html`<p class="empty">No step is finished yet.</p>`;
  if (!steps.ways.length) return html`<p class="empty">This run has no record of times: it is of an earlier Graphtide. Run it again.</p><${Record} name=${name} />`;
  const used = WAYS.filter((way) => steps.ways.includes(way.key));
  const hasStones = valuesOf(table, "stone").includes(true);
  return html`
    <div class="row choices">
      <label>Show <select value=${measure.key} onChange=${(/** @type {any} */ event) => changePlace({ cost: event.target.value })}>
        ${MEASURES.map((one) => html`<option key=${one.key} value=${one.key}>${one.label}</option>`)}
      </select></label>
      <label><input type="checkbox" checked=${log} onChange=${(/** @type {any} */ event) => changePlace({ log: event.target.checked ? "1" : "0" })} /> Log scale</label>
      ${hasStones && html`<label><input type="checkbox" checked=${stones} onChange=${(/** @type {any} */ event) => changePlace({ stones: event.target.checked ? null : "0" })} /> Stepping stones (◆)</label>`}
    </div>
    <${BarChart} title=${`${measure.label} by step, in the order of the plan`} names=${steps.names} bars=${bars} groups=${used} marks=${marks}
      at=${steps.names.indexOf(view)} onPick=${(/** @type {number} */ place) => !steps.stone[place] && onView(steps.names[place])} unit=${measure.unit} log=${log} height=${260} />
    <p class="quiet">Drag over the chart to look closer, double click to see all again. Where steps share a pixel, the greatest is shown; the rows above the bars say of each step how it was reached, in the order of the legend.</p>
    <${Totals} table=${table} />
    <${Record} name=${name} />
  `;
}

/** How many times the greatest value is the one in the middle. @param {Bar[]} bars */
function spread(bars) {
  const values = bars.map((bar) => heightOf(bar.value) ?? 0).filter((value) => value > 0).sort((one, other) => one - other);
  return values.length ? values[values.length - 1] / values[values.length >> 1] : 1;
}

/** @param {{ name: string }} props */
function Record({ name }) {
  return html`<details class="panel"><summary>Every step</summary>
    <${AskedTable} parts=${["run", name, "record"]} prefix="r_" caption="Every step of the plan" />
  </details>`;
}

/** The steps that are shown, column by column. @param {Table} table @param {boolean} stones */
function stepsOf(table, stones) {
  const stone = valuesOf(table, "stone");
  const rows = [...stone.keys()].filter((row) => stones || !stone[row]);
  const of = (/** @type {string} */ name) => {
    const values = valuesOf(table, name);
    return values.length ? rows.map((row) => values[row]) : [];
  };
  const state = of("state");
  const ways = of("strategy").map((strategy, row) => `${strategy} ${state[row]}`);
  return { names: /** @type {string[]} */ (of("view").map(String)), stone: of("stone"), ways, parent: of("parent"), inserted: of("inserted"), deleted: of("deleted"), of };
}

/** @param {ReturnType<typeof stepsOf>} steps @param {string} measure @returns {Bar[]} */
function barsOf(steps, measure) {
  const values = steps.of(measure);
  return steps.names.map((_, row) => {
    const delta = `+${steps.inserted[row]} −${steps.deleted[row]} edges from ${steps.parent[row] ?? "nothing"}`;
    const stone = steps.stone[row] === true;
    return { value: values[row] ?? null, group: steps.ways[row] ?? "", note: stone ? `stepping stone, ${delta}` : delta, sign: stone ? "◆" : undefined };
  });
}

/** What each way took in all, beside what was predicted from scratch. @param {{ table: Table }} props */
function Totals({ table }) {
  const totals = useMemo(() => totalsOf(table), [table]);
  const all = totals.reduce((sum, one) => sum + one.seconds, 0);
  const scratch = totals.reduce((sum, one) => sum + one.scratch, 0);
  return html`
    ${scratch > 0 && all > 0 && html`<p>${inSeconds(all)} in all; each step from scratch would have taken about ${inSeconds(scratch)}: ${saidRatio(scratch / all)}.</p>`}
    <div class="scroll"><table class="totals">
      <caption class="hidden">Totals by strategy</caption>
      <thead><tr><th scope="col">How</th>${["Steps", "Time", "Share of time", "From scratch, predicted", "Touched edges", "Changed results"].map((name) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
      <tbody>${totals.map(
        (one) => html`<tr key=${one.key}>
          <th scope="row"><${Swatch} colour=${one.colour} pattern=${one.pattern} /> ${one.label}${one.stones > 0 && html` <span class="quiet">(${counted(one.stones, "stepping stone")})</span>`}</th>
          <td class="number">${digits(one.steps)}</td><td class="number">${inSeconds(one.seconds)}</td>
          <td class="number">${all > 0 ? `${(100 * one.seconds / all).toFixed(1)}%` : "–"}</td>
          <td class="number">${one.scratch > 0 ? inSeconds(one.scratch) : "–"}</td>
          <td class="number">${digits(one.touched)}</td><td class="number">${digits(one.changed)}</td>
        </tr>`,
      )}</tbody>
    </table></div>`;
}

/** @param {number} ratio */
function saidRatio(ratio) {
  return ratio >= 1 ? `sharing made it ${Number(ratio.toPrecision(3))} times faster` : `it took ${Number((1 / ratio).toPrecision(3))} times as long`;
}

/** @param {Table} table */
function totalsOf(table) {
  const steps = stepsOf(table, true);
  const numbers = (/** @type {string} */ name) => steps.of(name).map((value) => heightOf(value) ?? 0);
  const [seconds, predicted, touched, changed] = ["seconds", "predicted_scratch", "touched", "changed"].map(numbers);
  return WAYS.map((way) => {
    const rows = [...steps.ways.keys()].filter((row) => steps.ways[row] === way.key);
    const sum = (/** @type {number[]} */ values) => rows.reduce((total, row) => total + (values[row] ?? 0), 0);
    const own = way.key.startsWith("scratch");
    return { ...way, steps: rows.length, stones: rows.filter((row) => steps.stone[row]).length, seconds: sum(seconds), scratch: sum(own ? seconds : predicted), touched: sum(touched), changed: sum(changed) };
  }).filter((one) => one.steps > 0);
}
