/**
 * A run: what was run, a slider over its views, the summary over all of them, and at the view whatever is chosen.
 *
 * The view that the slider stands at is what everything below it is about.
 *
 * @import { Asked } from "../answers.js"
 * @import { Catalog, RunFacts, Table } from "../types.d.ts"
 */

import { html, useCallback, useEffect, useMemo, useRef, useState } from "gt/vendor/preact.js";
import { changePlace, linkTo } from "gt/address.js";
import { ProblemBox } from "gt/answers.js";
import { counted, digits, inSeconds } from "gt/parts/numbers.js";
import { exactText } from "gt/parts/axis.js";
import { ViewSlider } from "gt/parts/slider.js";
import { AskedTable } from "gt/parts/table.js";
import { Tabs } from "gt/parts/tabs.js";
import { Changes } from "gt/pages/run/changes.js";
import { Cost } from "gt/pages/run/cost.js";
import { GraphAtView } from "gt/pages/run/graph.js";
import { Components, Losses, Matches, WholeGraph } from "gt/pages/run/others.js";
import { Progress, useRun } from "gt/pages/run/progress.js";
import { Summary } from "gt/pages/run/summary.js";
import { Vertex } from "gt/pages/run/vertex.js";
import { useKeys, useViewPlace } from "gt/pages/run/view_place.js";
import { lengthOf, useWholeTable, valuesOf } from "gt/pages/run/whole_table.js";
import { Workers } from "gt/pages/run/workers.js";
// Named here too, so that a browser fetches what charts are made of at once, and not one after the other.
import "gt/parts/chart.js";
import "gt/parts/chart_picture.js";
import "gt/parts/patterns.js";
import "gt/parts/plot.js";
import "gt/parts/save.js";
import "gt/vendor/uplot.js";

/** What is asked for again while a run goes on takes at most this share of the time. */
const SHARE = 0.02;
const LEAST_PAUSE = 2000;
/** A summary of finished views takes about a second, which a run of a few seconds would feel: until then it is for who asks. */
const SHORT = 20;

/**
 * @typedef {object} Seen  what each tab is given
 * @property {RunFacts} facts
 * @property {string[]} names  the views that are finished
 * @property {number} at
 * @property {(place: number) => void} go
 * @property {Record<string, string>} options
 * @property {(id: string) => string | null} linkId
 * @property {number} finished
 * @property {Table | null} summary
 */

/** @type {{ key: string, letter: string, label: string, has: (seen: Seen) => boolean, show: (seen: Seen) => any }[]} */
const TABS = [
  { key: "results", letter: "r", label: "Results", has: hasResults, show: (seen) => html`<${Results} ...${seen} />` },
  { key: "changes", letter: "c", label: "Changes", has: hasResults, show: (seen) => html`<${Changes} ...${seen} />` },
  { key: "graph", letter: "g", label: "Graph", has: ({ facts }) => facts.drawable, show: (seen) => html`<${GraphAtView} ...${seen} />` },
  { key: "vertex", letter: "v", label: "Vertex", has: hasResults, show: (seen) => html`<${Vertex} ...${seen} onPick=${seen.go} />` },
  { key: "components", letter: "o", label: "Components", has: hasComponents, show: (seen) => html`<${Components} ...${seen} />` },
  { key: "matches", letter: "m", label: "Matches", has: ({ facts }) => facts.matches.length > 0, show: (seen) => html`<${Matches} ...${seen} />` },
  { key: "losses", letter: "l", label: "Losses", has: (seen) => hasResults(seen) && seen.names.length > 1, show: (seen) => html`<${Losses} ...${seen} />` },
  { key: "whole", letter: "w", label: "Whole graph", has: ({ facts }) => facts.globals, show: (seen) => html`<${WholeGraph} ...${seen} />` },
  { key: "cost", letter: "t", label: "Cost", has: () => true, show: (seen) => html`<${Cost} ...${seen} view=${seen.names[seen.at]} onView=${(/** @type {string} */ view) => seen.go(seen.names.indexOf(view))} />` },
  { key: "workers", letter: "k", label: "Workers", has: () => true, show: (seen) => html`<${Workers} ...${seen} />` },
];

/** @param {Seen} seen */
function hasResults({ facts }) {
  return facts.kept && facts.fields.length > 0;
}

/** @param {Seen} seen */
function hasComponents({ facts, summary }) {
  const names = ["components", ...facts.fields.map((field) => `${field}_components`)];
  return facts.kept && summary !== null && summary.columns.some((column) => names.includes(column.name));
}

/** @param {{ name: string, options: Record<string, string>, catalog: Asked<Catalog> }} props */
export default function RunPage({ name, options, catalog }) {
  const run = useRun(name);
  const { facts } = run;
  const [asked, setAsked] = useState(false);
  if (facts === null) return run.problem ? html`<${ProblemBox} problem=${run.problem} again=${run.again} />` : html`<p class="empty" aria-busy="true">Loading…</p>`;
  return html`
    <${Heading} facts=${facts} />
    ${run.problem && html`<${ProblemBox} problem=${run.problem} again=${run.again} />`}
    <${Progress} facts=${facts} moves=${run.moves} catalog=${catalog.answer} again=${run.again} />
    ${run.moves && !asked && facts.seconds < SHORT
      ? facts.done > 0 && html`<p><button type="button" onClick=${() => setAsked(true)}>Look at the finished views now</button></p>`
      : html`<${Views} facts=${facts} options=${options} />`}
  `;
}

/** @param {{ facts: RunFacts }} props */
function Heading({ facts }) {
  const views = facts.finished ? counted(facts.views.length, "view") : `${digits(facts.done)} of ${counted(facts.views.length, "view")} finished`;
  const items = [facts.mode && `${facts.mode} mode`, `strategy ${facts.strategy}`, inSeconds(facts.seconds), views, facts.kept ? "" : "without results"].filter(Boolean);
  return html`
    <div class="row heading">
      <h1 dir="auto">${facts.name}</h1>
      <p><code>${facts.program}</code> on <a href=${linkTo(["collection", facts.collection])} dir="auto">${facts.collection}</a></p>
      <a class="push" href=${linkTo(["compare"], { one: facts.name })}>Compare…</a>
    </div>
    <p class="quiet facts">${items.map((item) => html`<span key=${item} class="fact">${item}</span>`)}</p>
    <details class="explained"><summary>Explained</summary><pre class="panel">${facts.explain}</pre></details>
  `;
}

/** @param {{ facts: RunFacts, options: Record<string, string> }} props */
function Views({ facts, options }) {
  const finished = useSlowly(facts.done, facts.finished);
  const asked = useWholeTable(["run", facts.name, "summary"], {}, finished.version);
  finished.took(asked.loading);
  const summary = asked.answer;
  const views = summary === null ? null : /** @type {string[]} */ (valuesOf(summary, "view"));
  const names = useMemo(() => (facts.finished || views === null ? facts.views.slice(0, facts.finished ? undefined : facts.done) : views.map(String)), [facts.finished, facts.views, summary]);
  const { at, go, known } = useViewPlace(names, options.view);
  const linkId = useCallback((/** @type {string} */ id) => linkTo(["run", facts.name], { view: names[at], tab: "vertex", vertex: id }), [facts.name, names, at]);
  const seen = { facts, names, at, go, options, linkId: facts.of_pairs ? () => null : linkId, finished: finished.version, summary };
  const tabs = TABS.filter((tab) => tab.has(seen));
  const chosen = tabs.find((tab) => tab.key === options.tab) ?? tabs[0];
  const pick = (/** @type {string} */ key) => changePlace({ tab: key === tabs[0].key ? null : key, view: names[at] }, { keep: true });
  const letters = tabs.flatMap((tab, place) => [[tab.letter, () => pick(tab.key)], [String((place + 1) % 10), () => pick(tab.key)]]);
  useKeys((by) => go(at + by), Object.fromEntries(letters));
  useEffect(belowBar, []);
  return html`
    <div class="at-view"><${ViewSlider} names=${names} at=${at} onChange=${go} /></div>
    ${!known && names.length > 0 && html`<p class="problem" role="alert">There is no view '${options.view}' here${facts.finished ? "" : " yet"}.</p>`}
    <${Said} names=${names} at=${at} summary=${summary} tab=${chosen.label} />
    <section class="panel" aria-label="Summary over views">
      ${asked.problem && html`<${ProblemBox} problem=${asked.problem} again=${asked.again} />`}
      ${summary === null && !asked.problem && html`<p class="empty" aria-busy="true">Loading…</p>`}
      ${summary !== null && html`<${Summary} table=${summary} names=${names} at=${at} onPick=${go} />`}
      ${summary?.note && html`<p class="quiet">${summary.note}</p>`}
    </section>
    ${names.length > 0 && html`<${Tabs}
      tabs=${tabs.map((tab, place) => ({ key: tab.key, label: html`<span title=${`Keys: ${(place + 1) % 10} or ${tab.letter}`}>${tab.label}</span>`, show: () => tab.show(seen) }))}
      at=${chosen.key} onChange=${pick}
    />`}
  `;
}

/** The slider sticks below the bar at the top, which has several lines where there is little room. */
function belowBar() {
  const bar = document.querySelector("header.bar");
  if (!(bar instanceof HTMLElement)) return undefined;
  const watcher = new ResizeObserver(() => document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`));
  watcher.observe(bar);
  return () => watcher.disconnect();
}

/** @param {Seen} seen */
function Results({ facts, names, at, linkId }) {
  return html`<${AskedTable} parts=${["run", facts.name, "table"]} options=${{ view: names[at] }} linkId=${linkId} caption=${`Results in ${names[at]}`} />`;
}

/** Says for screen readers where the slider and the tabs stand. @param {{ names: string[], at: number, summary: Table | null, tab: string }} props */
function Said({ names, at, summary, tab }) {
  const figures = summary?.columns.filter((column) => column.name !== "view").slice(0, 4).map((column) => `${column.name} ${exactText(column.values[at])}`) ?? [];
  return html`<p class="hidden" role="status">${tab}, view ${names[at]}, ${at + 1} of ${names.length}. ${figures.join(", ")}</p>`;
}

/**
 * A number that goes up with the views that are finished, but not so often that answers take much of the time
 * of a run that goes on.
 *
 * @param {number} done @param {boolean} whole
 */
function useSlowly(done, whole) {
  const [version, setVersion] = useState(done);
  const pace = useRef({ began: 0, ended: 0, pause: LEAST_PAUSE });
  useEffect(() => {
    if (done === version && !whole) return undefined;
    if (whole) return setVersion(done);
    const timer = setTimeout(() => setVersion(done), Math.max(0, pace.current.ended + pace.current.pause - Date.now()));
    return () => clearTimeout(timer);
  }, [done, whole, version]);
  const took = (/** @type {boolean} */ loading) => {
    if (loading && pace.current.began === 0) pace.current.began = Date.now();
    if (loading || pace.current.began === 0) return;
    const ended = Date.now();
    pace.current = { began: 0, ended, pause: Math.max(LEAST_PAUSE, (ended - pace.current.began) / SHARE) };
  };
  return { version, took };
}
