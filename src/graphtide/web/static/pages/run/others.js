/**
 * What some runs have: components of a view, matches of walks, losses beside a baseline, results of the whole graph.
 *
 * @import { RunFacts, Table } from "../../types.d.ts"
 */

import { html, useMemo } from "gt/vendor/preact.js";
import { changePlace } from "gt/address.js";
import { ProblemBox, useAnswer } from "gt/answers.js";
import { BarChart, LineChart } from "gt/parts/chart.js";
import { digits } from "gt/parts/numbers.js";
import { CYCLE } from "gt/parts/patterns.js";
import { NameBox } from "gt/parts/slider.js";
import { AskedTable } from "gt/parts/table.js";
import { pathOf, source } from "gt/source.js";
import { useWholeTable, valuesOf } from "gt/pages/run/whole_table.js";

const LARGEST = 100;

/** @typedef {{ facts: RunFacts, names: string[], at: number, go: (place: number) => void, options: Record<string, string>, linkId: (id: string) => string | null, finished: number }} Seen */

/** The sizes of the largest components of the view, and all of them as a table. @param {Seen} seen */
export function Components({ facts, names, at, linkId }) {
  const parts = ["run", facts.name, "components"];
  const count = source.whole ? null : LARGEST;
  const asked = useAnswer(pathOf(parts, { view: names[at], count }));
  const table = /** @type {Table | null} */ (asked.answer);
  const chart = useMemo(() => {
    const sizes = valuesOf(table, "size").slice(0, LARGEST);
    return { names: sizes.map((_, place) => `${place + 1}`), bars: sizes.map((value, place) => ({ value, group: "size", note: `of ${table?.columns[0].values[place]}` })) };
  }, [table]);
  const groups = useMemo(() => [{ key: "size", label: "vertices" }], []);
  return html`
    ${asked.problem && html`<${ProblemBox} problem=${asked.problem} again=${asked.again} />`}
    ${table && html`<${BarChart} title=${`Components of ${names[at]} by size: ${table.rows > LARGEST ? `the largest ${LARGEST} of ` : ""}${digits(table.rows)}`} names=${chart.names} bars=${chart.bars} groups=${groups} height=${170} log=${true} />`}
    <${AskedTable} parts=${parts} options=${{ view: names[at] }} prefix="o_" linkId=${linkId} caption=${`Components of ${names[at]}`} />
  `;
}

/** The rows that walks report in the view. @param {Seen} seen */
export function Matches({ facts, names, at, options }) {
  const kind = facts.matches.includes(options.match ?? "") ? options.match : facts.matches[0];
  return html`
    ${facts.matches.length > 1 && html`<div class="row choices"><label>Matches <select value=${kind} onChange=${(/** @type {any} */ event) => changePlace({ match: event.target.value }, { keep: true })}>
      ${facts.matches.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
    </select></label></div>`}
    <${AskedTable} parts=${["run", facts.name, "matches"]} options=${{ view: names[at], name: facts.matches.length > 1 ? kind : null }} prefix="m_" caption=${`Matches in ${names[at]}`} />
  `;
}

/** What each view lost beside a baseline, the worst first. @param {Seen} seen */
export function Losses({ facts, names, at, go, options, finished }) {
  const base = Math.max(0, names.indexOf(options.baseline ?? ""));
  const field = facts.fields.includes(options.l_field ?? "") ? options.l_field : facts.fields[0];
  const wanted = { against: names[base], field: facts.fields.length > 1 ? field : null };
  const parts = ["run", facts.name, "losses"];
  const asked = useWholeTable(parts, wanted, finished);
  const charts = useMemo(() => chartsOf(asked.answer, names), [asked.answer, names]);
  return html`
    <div class="row choices">
      <span>Baseline</span>
      <${NameBox} names=${names} place=${base} go=${(/** @type {number} */ place) => changePlace({ baseline: names[place] }, { keep: true })} label="Baseline" />
      <button type="button" class="small" onClick=${() => changePlace({ baseline: names[at] }, { keep: true })}>The view that is shown</button>
      ${facts.fields.length > 1 && html`<label>Result <select value=${field} onChange=${(/** @type {any} */ event) => changePlace({ l_field: event.target.value }, { keep: true })}>
        ${facts.fields.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
      </select></label>`}
    </div>
    ${asked.problem && html`<${ProblemBox} problem=${asked.problem} again=${asked.again} />`}
    <div class="multiples">${charts.map((chart) => html`<${LineChart} key=${chart.name} title=${chart.name} names=${names} series=${chart.series} at=${at} onPick=${go} height=${128} sync="losses" />`)}</div>
    ${!asked.problem && html`<${AskedTable} parts=${parts} options=${wanted} prefix="l_" caption=${`Lost in each view beside ${names[base]}, the worst first`} />`}
  `;
}

/** A chart for each figure, with its values in the order of the views. @param {Table | null} table @param {string[]} names */
function chartsOf(table, names) {
  if (!table) return [];
  const rows = new Map(valuesOf(table, "view").map((view, row) => [view, row]));
  return table.columns
    .filter((column) => column.kind === "number")
    .map((column, number) => {
      const values = names.map((name) => column.values[rows.get(name) ?? -1] ?? null);
      return { name: column.name, series: [{ label: column.name, values, colour: CYCLE[number % CYCLE.length] }] };
    });
}

/** The results of the whole graph in every view. @param {Seen} seen */
export function WholeGraph({ facts, names, at, go, finished }) {
  const parts = ["run", facts.name, "globals"];
  const asked = useWholeTable(parts, {}, finished);
  const charts = useMemo(() => chartsOf(asked.answer, names), [asked.answer, names]);
  return html`
    ${asked.problem && html`<${ProblemBox} problem=${asked.problem} again=${asked.again} />`}
    <div class="multiples">${charts.map((chart) => html`<${LineChart} key=${chart.name} title=${chart.name} names=${names} series=${chart.series} at=${at} onPick=${go} height=${150} sync="whole" />`)}</div>
    <${AskedTable} parts=${parts} prefix="a_" caption="Results of the whole graph" />
  `;
}
