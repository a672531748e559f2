/**
 * Two views side by side, of one run or of two: their summaries, their results, what differs, both drawn.
 *
 * @import { Asked } from "../answers.js"
 * @import { Catalog, Cell, RunFacts, Table } from "../types.d.ts"
 * @typedef {{ facts: RunFacts, names: string[], at: number, go: (place: number) => void, summary: Table | null }} Side
 */

import { html, useMemo, useState } from "gt/vendor/preact.js";
import { changePlace, linkTo } from "gt/address.js";
import { ProblemBox } from "gt/answers.js";
import { exactText, heightOf } from "gt/parts/axis.js";
import { BarChart } from "gt/parts/chart.js";
import { counted, digits, inSeconds } from "gt/parts/numbers.js";
import { ViewSlider } from "gt/parts/slider.js";
import { AskedTable } from "gt/parts/table.js";
import { Tabs } from "gt/parts/tabs.js";
import { FieldChoice, fieldOf, useDrawing } from "gt/pages/run/graph.js";
import { useRun } from "gt/pages/run/progress.js";
import { useKeys, useViewPlace } from "gt/pages/run/view_place.js";
import { useWholeTable, valuesOf } from "gt/pages/run/whole_table.js";

/** @param {{ options: Record<string, string>, catalog: Asked<Catalog> }} props */
export default function ComparePage({ options, catalog }) {
  const runs = useMemo(() => (catalog.answer?.items ?? []).filter((item) => item.kind === "run").map((item) => item.name), [catalog.answer]);
  const one = options.one ?? runs[0];
  if (one === undefined) {
    if (catalog.loading) return html`<p class="empty" aria-busy="true">Loading…</p>`;
    return html`<p class="empty">There is no run yet to compare. Run a program on a collection first: the <a href=${linkTo([])}>catalog</a> has both.</p>`;
  }
  const other = options.other ?? one;
  return html`<${Pair} key=${`${one}\n${other}`} one=${one} other=${other} runs=${runs} options=${options} />`;
}

/** @param {{ one: string, other: string, runs: string[], options: Record<string, string> }} props */
function Pair({ one, other, runs, options }) {
  const left = useSide(one, options.view, "view", (names) => names[0]);
  const beside = left.side?.names[left.side.at];
  const right = useSide(other, options.other_view, "other_view", (names) => (one === other ? (names[1] ?? names[0]) : beside !== undefined && names.includes(beside) ? beside : names[0]));
  const choose = (/** @type {Record<string, string | null>} */ change) => changePlace(change, { keep: true });
  useKeys((by) => {
    left.side?.go(left.side.at + by);
    right.side?.go(right.side.at + by);
  }, {});
  const swap = () => left.side && right.side && choose({ one: other, other: one, view: right.side.names[right.side.at] ?? null, other_view: left.side.names[left.side.at] ?? null });
  return html`
    <div class="row heading"><h1>Compare</h1><p class="quiet">Left and right arrow keys step both views.</p><button type="button" class="push" onClick=${swap}>⇄ Swap</button></div>
    <div class="columns">
      <${Chosen} side=${left} runs=${runs} name=${one} label="One" onRun=${(/** @type {string} */ name) => choose({ one: name, other, view: null })} />
      <${Chosen} side=${right} runs=${runs} name=${other} label="The other" onRun=${(/** @type {string} */ name) => choose({ one, other: name, other_view: null })} />
    </div>
    ${(!left.side || !right.side) && !left.problem && !right.problem && html`<p class="empty" aria-busy="true">Loading…</p>`}
    ${left.side && right.side && html`<${Both} left=${left.side} right=${right.side} options=${options} />`}
  `;
}

/**
 * One side: a run and the view of it that is looked at.
 *
 * @param {string} name @param {string | undefined} wanted @param {string} option
 * @param {(names: string[]) => string | undefined} usual  the view where the address names none
 */
function useSide(name, wanted, option, usual) {
  const run = useRun(name);
  const { facts } = run;
  const asked = useWholeTable(facts === null ? null : ["run", name, "summary"], {}, facts?.finished ? 1 : 0);
  const summary = asked.answer;
  const names = useMemo(() => (facts === null ? [] : facts.finished || summary === null ? facts.views : valuesOf(summary, "view").map(String)), [facts?.views, facts?.finished, summary]);
  const { at, go, known } = useViewPlace(names, wanted ?? usual(names), option);
  return { problem: run.problem ?? asked.problem, again: run.again, known, side: facts === null ? null : { facts, names, at, go, summary } };
}

/** @param {{ side: ReturnType<typeof useSide>, runs: string[], name: string, label: string, onRun: (name: string) => void }} props */
function Chosen({ side, runs, name, label, onRun }) {
  const known = runs.includes(name) ? runs : [name, ...runs];
  const { facts, names, at, go } = side.side ?? {};
  return html`<section class="panel" aria-label=${label}>
    <div class="row choices">
      <label>Run <select dir="auto" value=${name} onChange=${(/** @type {any} */ event) => onRun(event.target.value)}>${known.map((run) => html`<option key=${run} value=${run}>${run}</option>`)}</select></label>
      ${facts && html`<span class="quiet"><code>${facts.program}</code> on <a href=${linkTo(["collection", facts.collection])}>${facts.collection}</a>, ${inSeconds(facts.seconds)}</span>
      <a class="push" href=${linkTo(["run", name], { view: names?.[at ?? 0] })}>Open</a>`}
    </div>
    ${side.problem && html`<${ProblemBox} problem=${side.problem} again=${side.again} />`}
    ${facts && html`<${ViewSlider} names=${names} at=${at} onChange=${go} label=${`View of ${label.toLowerCase()}`} />`}
    ${!side.known && html`<p class="problem" role="alert">This run has no view of that name; its first is shown.</p>`}
  </section>`;
}

/** @param {{ left: Side, right: Side, options: Record<string, string> }} props */
function Both({ left, right, options }) {
  if (!left.names.length || !right.names.length) return html`<p class="empty">A run has no finished view yet.</p>`;
  const tabs = [
    { key: "differs", label: "What differs", show: () => html`<${Differs} left=${left} right=${right} />` },
    { key: "tables", label: "Results", show: () => html`<${Tables} left=${left} right=${right} />` },
    { key: "graph", label: "Graph", show: () => html`<${Drawings} left=${left} right=${right} options=${options} />` },
    { key: "cost", label: "Cost", show: () => html`<${Costs} left=${left} right=${right} />` },
  ].filter((tab) => tab.key !== "graph" || (left.facts.drawable && right.facts.drawable));
  return html`
    <${Figures} left=${left} right=${right} />
    <${Tabs} tabs=${tabs} at=${options.tab ?? "differs"} onChange=${(/** @type {string} */ key) => changePlace({ tab: key === "differs" ? null : key }, { keep: true })} />
  `;
}

/** Where a side stands, in words. @param {Side} side @param {Side} beside */
function said(side, beside) {
  const view = side.names[side.at];
  return side.facts.name === beside.facts.name ? view : `${side.facts.name}, ${view}`;
}

/** The summaries of both views, figure by figure. @param {{ left: Side, right: Side }} props */
function Figures({ left, right }) {
  const names = [...new Set([left, right].flatMap((side) => side.summary?.columns.map((column) => column.name) ?? []))].filter((name) => name !== "view");
  if (!names.length) return null;
  const alike = left.facts.program === right.facts.program;
  const comparable = (/** @type {string} */ name) => alike || name === "edges" || name === "vertices";
  return html`<div class="scroll panel"><table>
    <caption class="hidden">Summaries of both views</caption>
    <thead><tr><th scope="col">Figure</th><th scope="col" class="number" dir="auto">${said(left, right)}</th><th scope="col" class="number" dir="auto">${said(right, left)}</th><th scope="col" class="number">Difference</th></tr></thead>
    <tbody>${names.map((name) => {
      const cells = [left, right].map((side) => valuesOf(side.summary, name)[side.at]);
      return html`<tr key=${name}><th scope="row" dir="auto">${name}</th>${cells.map((cell) => html`<td class="number">${cell === undefined ? "–" : exactText(cell)}</td>`)}<td class="number">${comparable(name) ? difference(cells[0], cells[1]) : "–"}</td></tr>`;
    })}</tbody>
  </table></div>`;
}

/** @param {Cell | undefined} one @param {Cell | undefined} other */
function difference(one, other) {
  if (typeof one === "boolean" || typeof one !== typeof other) return "–";
  const [from, to] = [heightOf(one), heightOf(other)];
  if (from === null || to === null) return "–";
  const by = to - from;
  const text = Number.isInteger(by) ? digits(Math.abs(by)) : String(Math.abs(Number(by.toPrecision(6))));
  const share = from !== 0 && by !== 0 ? ` (${by > 0 ? "+" : "−"}${Math.abs((100 * by) / from).toPrecision(3)}%)` : "";
  return by === 0 ? "the same" : `${by > 0 ? "+" : "−"}${text}${share}`;
}

/** @param {{ left: Side, right: Side }} props */
function Differs({ left, right }) {
  const options = { run: left.facts.name, view: left.names[left.at], other: right.facts.name, other_view: right.names[right.at], differs: "1" };
  return html`
    <p class="quiet">Rows whose results differ: those of <bdi>${said(left, right)}</bdi>, and with <code>other_</code> before their names those of <bdi>${said(right, left)}</bdi>.</p>
    <${AskedTable} parts=${["compare"]} options=${options} prefix="d_" linkId=${linkOf(left)} caption=${`What differs between ${said(left, right)} and ${said(right, left)}`} />
  `;
}

/** @param {Side} side @returns {(id: string) => string | null} */
function linkOf({ facts, names, at }) {
  return (id) => (facts.of_pairs ? null : linkTo(["run", facts.name], { view: names[at], tab: "vertex", vertex: id }));
}

/** @param {{ left: Side, right: Side }} props */
function Tables({ left, right }) {
  const table = (/** @type {Side} */ side, /** @type {Side} */ beside, /** @type {string} */ prefix) => html`<section>
    <h2 dir="auto">${said(side, beside)}</h2>
    <${AskedTable} parts=${["run", side.facts.name, "table"]} options=${{ view: side.names[side.at] }} prefix=${prefix} linkId=${linkOf(side)} caption=${`Results in ${said(side, beside)}`} />
  </section>`;
  return html`<div class="columns">${table(left, right, "t_")}${table(right, left, "u_")}</div>`;
}

/** Both graphs, where a vertex has the same place in both. @param {{ left: Side, right: Side, options: Record<string, string> }} props */
function Drawings({ left, right, options }) {
  const { module, problem } = useDrawing();
  const places = useMemo(() => (module ? new module.Places() : undefined), [module, left.facts.name, right.facts.name]);
  const [selected, setSelected] = useState(/** @type {string | null} */ (null));
  const drawing = (/** @type {Side} */ side, /** @type {Side} */ beside) => {
    const same = side.facts.collection === beside.facts.collection && side.names[side.at] !== beside.names[beside.at];
    const against = same && side.names.includes(beside.names[beside.at]) ? beside.names[beside.at] : null;
    const drawn = { view: side.names[side.at], against, field: fieldOf(side.facts, options) };
    return html`<section>
      <h2 dir="auto">${said(side, beside)}</h2>
      ${module && html`<${module.GraphDrawing} parts=${["run", side.facts.name, "drawing"]} options=${drawn} places=${places} prefix="g_" selected=${selected} onSelect=${setSelected} />`}
    </section>`;
  };
  return html`
    <div class="row choices"><${FieldChoice} facts=${left.facts} options=${options} /></div>
    ${problem && html`<${ProblemBox} problem=${problem} />`}
    ${!module && !problem && html`<p class="empty" aria-busy="true">Loading…</p>`}
    ${module && html`<div class="columns">${drawing(left, right)}${drawing(right, left)}</div>`}
  `;
}

/** What the views of both runs took, beside each other. @param {{ left: Side, right: Side }} props */
function Costs({ left, right }) {
  const own = useWholeTable(["run", left.facts.name, "record"]);
  const theirs = useWholeTable(left.facts.name === right.facts.name ? null : ["run", right.facts.name, "record"]);
  const chart = useMemo(() => costsOf(left, own.answer), [own.answer, left.facts.name]);
  const other = useMemo(() => costsOf(right, theirs.answer), [theirs.answer, right.facts.name]);
  const problem = own.problem ?? theirs.problem;
  if (problem) return html`<${ProblemBox} problem=${problem} again=${own.again} />`;
  if (!own.answer) return html`<p class="empty" aria-busy="true">Loading…</p>`;
  const bars = (/** @type {Side} */ side, /** @type {ReturnType<typeof costsOf>} */ shown, /** @type {string} */ option) => html`<section>
    <${BarChart} title=${`${side.facts.name}: time by step, ${inSeconds(shown.total)} in ${counted(shown.names.length, "step")}`} names=${shown.names} bars=${shown.bars} groups=${GROUPS} unit="s"
      at=${shown.names.indexOf(side.names[side.at])} onPick=${(/** @type {number} */ place) => side.names.includes(shown.names[place]) && changePlace({ [option]: shown.names[place] })} log=${true} />
  </section>`;
  return html`<div class="columns">${bars(left, chart, "view")}${theirs.answer && bars(right, other, "other_view")}</div>`;
}

const GROUPS = /** @type {const} */ ([
  { key: "differential", label: "differentially", colour: "blue", pattern: "solid" },
  { key: "scratch", label: "from scratch", colour: "orange", pattern: "stripes" },
]);

/** @param {Side} side @param {Table | null} record */
function costsOf(side, record) {
  const names = valuesOf(record, "view").map(String);
  const ways = valuesOf(record, "strategy");
  const seconds = valuesOf(record, "seconds");
  const bars = names.map((_, row) => ({ value: seconds[row] ?? null, group: String(ways[row] ?? "") }));
  return { names, bars, total: seconds.reduce((/** @type {number} */ sum, value) => sum + (heightOf(value) ?? 0), 0) };
}
