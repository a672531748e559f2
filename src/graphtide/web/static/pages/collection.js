/**
 * A collection: what it is, its plan to be walked, its views and how like they are, and what has been run over it.
 *
 * @import { Asked } from "../answers.js"
 * @import { Catalog, CollectionFacts, Plan, Table } from "../types.d.ts"
 * @import { Cost } from "../parts/plan.js"
 * @typedef {Record<string, string>} Options
 */

import { html, useEffect, useMemo, useState } from "gt/vendor/preact.js";
import { changePlace, linkTo } from "gt/address.js";
import { ProblemBox, asProblem, shownAnswer, useAnswer } from "gt/answers.js";
import { Pasted } from "gt/pages/catalog.js";
import { BarList } from "gt/parts/bars.js";
import { LineChart } from "gt/parts/chart.js";
import { SimilarityPair } from "gt/parts/matrix.js";
import { Digits, counted, digits, inSeconds } from "gt/parts/numbers.js";
import { PlanView, rowsOf, siblingsOf, stepName } from "gt/parts/plan.js";
import { ViewSlider } from "gt/parts/slider.js";
import { HeldTable, lengthOf } from "gt/parts/table.js";
import { Tabs } from "gt/parts/tabs.js";
import { pathOf, source } from "gt/source.js";

/** @param {{ name: string, options: Options, catalog: Asked<Catalog> }} props */
export default function CollectionPage({ name, options, catalog }) {
  const asked = useAnswer(pathOf(["collection", name]));
  return shownAnswer(asked, (/** @type {CollectionFacts} */ facts) => html`<${Shown} facts=${facts} options=${options} catalog=${catalog.answer} />`);
}

/** @param {{ facts: CollectionFacts, options: Options, catalog: Catalog | null }} props */
function Shown({ facts, options, catalog }) {
  const tabs = [
    { key: "plan", label: "Plan", show: () => html`<${PlanTab} facts=${facts} options=${options} />` },
    { key: "views", label: "Views", show: () => html`<${ViewsTab} facts=${facts} options=${options} />` },
    { key: "similarity", label: "Similarity", show: () => html`<${SimilarityPair} name=${facts.name} />` },
    { key: "graph", label: "Graph", show: () => html`<${GraphTab} facts=${facts} options=${options} />` },
    { key: "explained", label: "Explained", show: () => html`<section class="panel"><pre>${facts.explain}</pre></section>` },
  ];
  return html`
    <${Heading} facts=${facts} changes=${catalog?.changes ?? false} />
    <div class="columns">
      <${About} facts=${facts} changes=${catalog?.changes ?? false} />
      <${Differences} facts=${facts} />
    </div>
    <${Tabs} tabs=${tabs} at=${options.tab ?? "plan"} onChange=${(/** @type {string} */ tab) => changePlace({ tab: tab === "plan" ? null : tab }, { keep: true })} />
  `;
}

/** @param {{ facts: CollectionFacts, changes: boolean }} props */
function Heading({ facts, changes }) {
  const { name, graph, stored, stale, views, kind } = facts;
  const kinds = { chain: "a chain", tree: "a tree", manual: "in the order given" };
  return html`<div class="row heading">
    <h1 dir="auto">${name}</h1>
    <p>${counted(views.names.length, "view")} of ${stored ? html`<a href=${linkTo(["graph", graph])} dir="auto">${graph}</a>` : html`<bdi>${graph || "a graph"}</bdi>`}, planned as ${kinds[kind]}</p>
    ${!stored && html`<span class="badge">in memory</span>`}
    ${stale > 0 && html`<span class="badge stale">stale</span>`}
    ${changes && stored && html`<a class="button main push" href=${linkTo(["gvdl"], { text: `run wcc on ${name};` })}>Run a program…</a>`}
  </div>
  ${stale > 0 && html`<p class="says">The graph has taken ${counted(stale, "append")} since: <code>graphtide refresh ${name}</code> brings the collection up to date.</p>`}`;
}

/** The statement and the runs. @param {{ facts: CollectionFacts, changes: boolean }} props */
function About({ facts, changes }) {
  const unviewed = Object.entries(facts.unviewed).filter(([, count]) => count > 0);
  return html`<section class="panel">
    <h2>Statement</h2>
    <pre class="statement" tabindex="0" aria-label="GVDL statement">${facts.statement || "made in Python"}</pre>
    ${unviewed.length > 0 && html`<h2>Edges in no view</h2>
      <ul class="plain">${unviewed.map(([reason, count]) => html`<li key=${reason}><${Digits} value=${count} /> <span class="quiet">because</span> ${reason}</li>`)}</ul>`}
    <h2>Runs</h2>
    ${facts.runs.length > 0 && html`<ul class="plain listed">${facts.runs.map((run) => html`<li key=${run}><a href=${linkTo(["run", run])} dir="auto">${run}</a></li>`)}</ul>`}
    ${facts.runs.length === 0 && html`<p class="quiet">Nothing has been run over it yet.${!changes && facts.stored ? " In a shell:" : ""}</p>
      ${!changes && facts.stored && html`<${Pasted} text=${`graphtide run -e "run wcc on ${facts.name}"`} />`}`}
  </section>`;
}

/** Differences of the plan beside what else was found and what no plan can go below. @param {{ facts: CollectionFacts }} props */
function Differences({ facts }) {
  const { totals, differences, kind, name } = facts;
  /** @type {{ label: string, value: number | null, bound?: boolean, chosen?: boolean }[]} */
  const bars = [
    { label: "in the order given", value: totals.given, chosen: kind === "manual" },
    { label: "best chain found", value: totals.chain, chosen: kind === "chain" },
    { label: "no chain below", value: totals.chain_bound, bound: true },
    { label: "best tree found", value: totals.tree, chosen: kind === "tree" },
    { label: "no tree below", value: totals.tree_bound, bound: true },
  ];
  const saved = totals.given > differences ? ` ${fewer(totals.given / Math.max(1, differences))}` : "";
  return html`<section class="panel">
    <${BarList} title="Differences" name=${`${name}-differences`} bars=${bars.filter((bar) => bar.value !== null)} />
    <p class="quiet">The plan has <strong><${Digits} value=${differences} /></strong> differences: edges that come or go between one version and the next.${saved}</p>
  </section>`;
}

/** @param {number} times */
function fewer(times) {
  if (times < 1.95) return `That is ${Math.round((1 - 1 / times) * 100)}% fewer than in the order given.`;
  return `In the order given there would be ${times < 10 ? times.toFixed(1) : digits(Math.round(times))} times as many.`;
}

/** @param {{ facts: CollectionFacts, options: Options }} props */
function PlanTab({ facts, options }) {
  const asked = useAnswer(pathOf(["collection", facts.name, "plan"]));
  return shownAnswer(asked, (/** @type {Plan} */ plan) => html`<${WalkedPlan} facts=${facts} plan=${plan} options=${options} />`);
}

/** @param {{ facts: CollectionFacts, plan: Plan, options: Options }} props */
function WalkedPlan({ facts, plan, options }) {
  const wanted = Number(options.step ?? NaN);
  const at = Number.isInteger(wanted) && wanted >= 0 && wanted < plan.parent.length ? wanted : null;
  const run = facts.runs.includes(options.run ?? "") ? options.run : "";
  const costs = useCosts(run, plan);
  const pick = (/** @type {number} */ step) => changePlace({ step: String(step) });
  if (plan.parent.length === 0) return html`<p class="empty">The plan has no steps.</p>`;
  return html`<div class="beside">
    <section class="panel">
      <${PlanView} plan=${plan} name=${facts.name} at=${at} onPick=${pick} costs=${costs.known}>
        ${facts.runs.length > 0 && html`<label>time of <select value=${run} onChange=${(/** @type {any} */ event) => changePlace({ run: event.target.value || null })}>
          <option value="">no run</option>${facts.runs.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
        </select></label>`}
      <//>
      ${costs.problem && html`<${ProblemBox} problem=${costs.problem} />`}
    </section>
    <${StepPanel} facts=${facts} plan=${plan} at=${at} cost=${at === null ? null : (costs.known?.[at] ?? null)} run=${run} onPick=${pick} />
  </div>`;
}

const RECORD_PAGE = 10_000;

/**
 * What each step took in a run, read page by page from its record; null as long as no run is chosen.
 *
 * @param {string} run @param {Plan} plan
 */
function useCosts(run, plan) {
  const [state, setState] = useState(/** @type {{ run: string, known: (Cost | null)[] | null, problem: import("../types.d.ts").Problem | null }} */ ({ run: "", known: null, problem: null }));
  useEffect(() => {
    if (!run) return undefined;
    const stopper = new AbortController();
    costsOf(run, plan, stopper.signal).then(
      (known) => !stopper.signal.aborted && setState({ run, known, problem: null }),
      (error) => !stopper.signal.aborted && setState({ run, known: null, problem: asProblem(error) }),
    );
    return () => stopper.abort();
  }, [run, plan]);
  return state.run === run ? state : { known: null, problem: null };
}

/** @param {string} run @param {Plan} plan @param {AbortSignal} signal */
async function costsOf(run, plan, signal) {
  /** @type {Map<string, Cost>} */
  const byName = new Map();
  for (let start = 0, rows = 1; start < rows; start += RECORD_PAGE) {
    const page = source.whole ? {} : { start, count: RECORD_PAGE };
    const table = /** @type {Table} */ (await source.get(pathOf(["run", run, "record"], page), signal));
    rows = source.whole ? 0 : table.rows;
    readCosts(table, byName);
  }
  return plan.parent.map((_, step) => byName.get(nameKey(plan.view[step] === null, stepName(plan, step))) ?? null);
}

/** Stepping stones stand in brackets there. @param {Table} table @param {Map<string, Cost>} byName */
function readCosts(table, byName) {
  const column = (/** @type {string} */ name) => table.columns.find((one) => one.name === name)?.values ?? [];
  const [views, stones, seconds, strategies, touched] = ["view", "stone", "seconds", "strategy", "touched"].map(column);
  for (let row = 0; row < lengthOf(table); row += 1) {
    const stone = stones[row] === true;
    const key = nameKey(stone, stone ? String(views[row]).replace(/^\((.*)\)$/s, "$1") : String(views[row]));
    if (byName.has(key) || typeof seconds[row] !== "number") continue;
    byName.set(key, { seconds: Number(seconds[row]), strategy: String(strategies[row] ?? ""), touched: typeof touched[row] === "number" ? Number(touched[row]) : null });
  }
}

/** @param {boolean} stone @param {string} name */
function nameKey(stone, name) {
  return stone ? `stone ${name}` : `view ${name}`;
}

/** The facts of the step that is chosen. @param {{ facts: CollectionFacts, plan: Plan, at: number | null, cost: Cost | null, run: string, onPick: (step: number) => void }} props */
function StepPanel({ facts, plan, at, cost, run, onPick }) {
  const rows = rowsOf(plan);
  if (at === null) {
    return html`<aside class="panel step" aria-label="Chosen step"><h2>No step is chosen</h2>
      <p class="quiet">Click a step, or focus the plan: up and down go to the parent and on along its line, left and right to siblings, page keys, home and end through the rows.</p></aside>`;
  }
  const view = plan.view[at];
  const parent = plan.parent[at];
  const children = rows.children(at);
  const siblings = siblingsOf(plan, rows, at).length - 1;
  const link = (/** @type {number} */ step) => html`<button type="button" class="link" onClick=${() => onPick(step)}><bdi>${stepName(plan, step)}</bdi></button>`;
  const most = 12;
  return html`<aside class="panel step" aria-label="Chosen step" aria-live="polite">
    <p class="quiet">${view === null ? "Stepping stone" : "View"}, step ${digits(at + 1)} of ${digits(rows.count)}</p>
    <h2 dir="auto">${stepName(plan, at)}</h2>
    <dl>
      <dt>edges</dt><dd><${Digits} value=${plan.edges[at]} /></dd>
      <dt>came</dt><dd class="came-text">${plan.inserted[at] ? html`+<${Digits} value=${plan.inserted[at]} />` : "none"}</dd>
      <dt>went</dt><dd class="went-text">${plan.deleted[at] ? html`−<${Digits} value=${plan.deleted[at]} />` : "none"}</dd>
      ${cost && html`<dt>time</dt><dd title=${`${cost.seconds} s`}>${inSeconds(cost.seconds)}</dd>`}
      ${cost?.strategy && html`<dt>strategy</dt><dd>${cost.strategy}</dd>`}
      ${cost && cost.touched !== null && html`<dt>touched edges</dt><dd><${Digits} value=${cost.touched} /></dd>`}
      <dt>depth</dt><dd>${digits(rows.depth[at])}</dd>
      <dt>reached from</dt><dd>${parent < 0 ? html`<span class="quiet">nothing</span>` : link(parent)}</dd>
      <dt>siblings</dt><dd>${digits(siblings)}</dd>
      <dt>leads to</dt><dd>${children.length === 0 ? html`<span class="quiet">no other step</span>` : children.slice(-most).reverse().map((child) => html`<div key=${child}>${link(child)}</div>`)}${children.length > most && html`<div class="quiet">and ${digits(children.length - most)} more</div>`}</dd>
    </dl>
    ${view !== null && html`<p class="row">
      <a class="button" href=${linkTo(["collection", facts.name], { tab: "graph", view })}>Draw it</a>
      ${run && html`<a class="button" href=${linkTo(["run", run], { view })}>Results in ${run}</a>`}
    </p>`}
    ${view === null && html`<p class="quiet">Nobody asked for this version: it makes the plan cheaper.</p>`}
  </aside>`;
}

/** Sizes of all views, as a chart and as a table. @param {{ facts: CollectionFacts, options: Options }} props */
function ViewsTab({ facts, options }) {
  const { names, sizes } = facts.views;
  const at = names.indexOf(options.view ?? "");
  const table = useMemo(() => sizeTable(facts), [facts]);
  return html`<section class="panel">
    <${LineChart} title="Edges of each view" names=${names} series=${[{ label: "edges", values: sizes }]} at=${at} height=${220} onPick=${(/** @type {number} */ place) => changePlace({ view: names[place] })} />
    ${at >= 0 && html`<p><strong dir="auto">${names[at]}</strong> has <${Digits} value=${sizes[at]} /> edges. <a href=${linkTo(["collection", facts.name], { tab: "graph", view: names[at] })}>Draw it</a></p>`}
  </section>
  <section class="panel"><${HeldTable} table=${table} caption=${`Views of ${facts.name}`} linkId=${(/** @type {string} */ view) => linkTo(["collection", facts.name], { tab: "graph", view })} ids=${["view"]} /></section>`;
}

/** @param {CollectionFacts} facts @returns {Table} */
function sizeTable({ views: { names, sizes } }) {
  return {
    columns: [
      { name: "view", kind: "text", values: names },
      { name: "edges", kind: "number", values: sizes },
      { name: "more than the one before", kind: "number", values: sizes.map((size, at) => (at === 0 ? null : size - sizes[at - 1])) },
    ],
    rows: names.length,
    start: 0,
  };
}

/** The drawing of one view, which is a module that loads when it is first looked at. @param {{ facts: CollectionFacts, options: Options }} props */
function GraphTab({ facts, options }) {
  const { names } = facts.views;
  const parts = useMemo(() => ["collection", facts.name, "drawing"], [facts.name]);
  const [drawing, setDrawing] = useState(/** @type {{ GraphDrawing: any } | null} */ (null));
  const [problem, setProblem] = useState(/** @type {import("../types.d.ts").Problem | null} */ (null));
  useEffect(() => {
    let here = true;
    import("gt/parts/drawing.js").then((module) => here && setDrawing(module), (error) => here && setProblem(asProblem(error)));
    return () => {
      here = false;
    };
  }, []);
  if (problem) return html`<${ProblemBox} problem=${problem} />`;
  if (names.length === 0) return html`<p class="empty">There are no views.</p>`;
  if (!drawing) return html`<p class="empty" aria-busy="true">Loading…</p>`;
  const at = Math.max(0, names.indexOf(options.view ?? ""));
  return html`
    <div class="panel"><${ViewSlider} names=${names} at=${at} onChange=${(/** @type {number} */ place) => changePlace({ view: names[place] })} /></div>
    <${drawing.GraphDrawing} parts=${parts} options=${{ view: names[at] }} />`;
}
