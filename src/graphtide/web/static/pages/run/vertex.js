/**
 * One vertex over all views: its results as charts and as a table, the views in which they change, its facts at the view.
 *
 * @import { Column, RunFacts, Table, VertexFacts } from "../../types.d.ts"
 */

import { html, useMemo, useState } from "gt/vendor/preact.js";
import { changePlace } from "gt/address.js";
import { ProblemBox, useAnswer } from "gt/answers.js";
import { exactText, shortened } from "gt/parts/axis.js";
import { LineChart } from "gt/parts/chart.js";
import { counted } from "gt/parts/numbers.js";
import { CYCLE } from "gt/parts/patterns.js";
import { AskedTable } from "gt/parts/table.js";
import { pathOf } from "gt/source.js";
import { useWholeTable } from "gt/pages/run/whole_table.js";

const MOST_NAMED = 24;

/**
 * @param {{ facts: RunFacts, names: string[], at: number, onPick: (place: number) => void, options: Record<string, string> }} props
 */
export function Vertex({ facts, names, at, onPick, options }) {
  const { vertex = "", to = "" } = options;
  const ready = vertex !== "" && (!facts.of_pairs || to !== "");
  return html`
    <${VertexBox} key=${`${vertex} ${to}`} facts=${facts} vertex=${vertex} to=${to} />
    ${!ready && html`<p class="empty">Type the id of a vertex, or click on one in a table or in the graph: its results in every view are shown here.</p>`}
    ${ready && !facts.of_pairs && html`<${AtView} facts=${facts} view=${names[at]} vertex=${vertex} />`}
    ${ready && html`<${History} facts=${facts} names=${names} at=${at} onPick=${onPick} vertex=${vertex} to=${to} />`}
  `;
}

/** @param {{ facts: RunFacts, vertex: string, to: string }} props */
function VertexBox({ facts, vertex, to }) {
  const [ends, setEnds] = useState([vertex, to]);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    changePlace({ vertex: ends[0], to: facts.of_pairs ? ends[1] : null }, { keep: true });
  };
  const box = (/** @type {number} */ end, /** @type {string} */ label) => html`<label>${label} <input
      type="text" dir="auto" value=${ends[end]} spellcheck=${false} onInput=${(/** @type {any} */ event) => setEnds(ends.map((text, at) => (at === end ? event.target.value : text)))} /></label>`;
  return html`<form class="row choices" onSubmit=${submit}>
    ${box(0, facts.of_pairs ? "From" : "Vertex")} ${facts.of_pairs && box(1, "to")}
    <button type="submit" class="main">Show</button>
  </form>`;
}

/** @param {{ facts: RunFacts, view: string, vertex: string }} props */
function AtView({ facts, view, vertex }) {
  const asked = useAnswer(facts.drawable ? pathOf(["run", facts.name, "vertex"], { view, vertex }) : null);
  const answer = /** @type {VertexFacts | null} */ (asked.answer);
  if (!answer) return null;
  const items = [["degree", answer.degree], ...Object.entries(answer.results), ...Object.entries(answer.properties)];
  return html`<h2>In <bdi>${view}</bdi></h2>
    <dl class="figures">${items.map(([name, value]) => html`<div key=${name}><dt dir="auto">${name}</dt><dd dir="auto">${exactText(/** @type {any} */ (value))}</dd></div>`)}</dl>`;
}

/**
 * @param {{ facts: RunFacts, names: string[], at: number, onPick: (place: number) => void, vertex: string, to: string }} props
 */
function History({ facts, names, at, onPick, vertex, to }) {
  const options = { vertex, to: facts.of_pairs ? to : null };
  const asked = useWholeTable(["run", facts.name, "history"], options);
  if (asked.problem) return html`<${ProblemBox} problem=${asked.problem} again=${asked.again} />`;
  if (!asked.answer) return html`<p class="empty" aria-busy="true">Loading…</p>`;
  const table = /** @type {Table} */ (asked.answer);
  const columns = table.columns.filter((column) => column.name !== "view");
  const views = /** @type {string[]} */ (table.columns.find((column) => column.name === "view")?.values ?? names);
  return html`
    <${Curves} columns=${columns} views=${views} at=${views.indexOf(names[at])} onPick=${(/** @type {number} */ row) => onPick(names.indexOf(views[row]))} />
    <${Turns} columns=${columns} views=${views} onPick=${(/** @type {string} */ view) => onPick(names.indexOf(view))} />
    <${AskedTable} parts=${["run", facts.name, "history"]} options=${options} prefix="h_" caption=${`${vertex} in every view`} />
  `;
}

/** @param {{ columns: Column[], views: string[], at: number, onPick: (row: number) => void }} props */
function Curves({ columns, views, at, onPick }) {
  const charts = useMemo(
    () =>
      columns
        .filter((column) => column.kind === "number" || column.kind === "truth")
        .map((column, number) => ({ name: column.name, series: [{ label: column.name, values: column.values, colour: CYCLE[number % CYCLE.length] }] })),
    [columns.map((column) => column.name).join(), columns[0]?.values],
  );
  if (views.length < 2) return null;
  return html`<div class="multiples">${charts.map((chart) => html`<${LineChart} key=${chart.name} title=${chart.name} names=${views} series=${chart.series} at=${at} onPick=${onPick} height=${170} sync="vertex" />`)}</div>`;
}

/** The views in which a result is another than in the one before. @param {{ columns: Column[], views: string[], onPick: (view: string) => void }} props */
function Turns({ columns, views, onPick }) {
  const turns = useMemo(() => {
    const found = [];
    for (let row = 1; row < views.length; row += 1) {
      if (columns.some(({ values }) => String(values[row]) !== String(values[row - 1]))) found.push(views[row]);
    }
    return found;
  }, [views, columns[0]?.values]);
  if (views.length < 2) return null;
  return html`<p>Changed in ${counted(turns.length, "view")} of ${views.length}${turns.length > 0 && ": "}
    ${turns.slice(0, MOST_NAMED).map((view) => html`<button key=${view} type="button" class="small" onClick=${() => onPick(view)}><bdi>${shortened(view, 32)}</bdi></button> `)}
    ${turns.length > MOST_NAMED && html`<span class="quiet">and ${turns.length - MOST_NAMED} more</span>`}
  </p>`;
}
