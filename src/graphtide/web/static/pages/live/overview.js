/**
 * What a live graph is at the moment: sizes, pace, what is on disk, and what its queries hold of the budget.
 *
 * @import { LiveFacts } from "../../types.d.ts"
 */

import { html } from "gt/vendor/preact.js";
import { changePlace } from "gt/address.js";
import { written } from "gt/parts/gvdl.js";
import { digits, inBytes } from "gt/parts/numbers.js";
import { Fact, Pace } from "gt/pages/live/pace.js";

/** @param {{ facts: LiveFacts }} props */
export function Overview({ facts }) {
  return html`
    <section class="panel"><h2>Pace</h2><${Pace} facts=${facts} /></section>
    <div class="columns live-columns">
      <section class="panel"><h2>Programs</h2><${Programs} facts=${facts} /></section>
      <section class="panel"><h2>Budget of queries</h2><${Budget} facts=${facts} /></section>
      <section class="panel"><h2>On disk</h2><${Disk} facts=${facts} /></section>
    </div>
  `;
}

/** @param {{ facts: LiveFacts }} props */
function Programs({ facts }) {
  if (facts.programs.length === 0) {
    return html`<p class="quiet">None are kept current. <${HowToAdd} facts=${facts} gvdl="create program NAME on live graph NAME run page_rank" python="graph.maintain(PageRank())" /></p>`;
  }
  return html`<div class="scroll"><table>
    <caption class="hidden">Programs</caption>
    <thead><tr><th scope="col">Name</th><th scope="col">Program</th><th scope="col">Mode</th><th scope="col" class="number">Touched</th></tr></thead>
    <tbody>${facts.programs.map((one) => html`<tr key=${one.name}>
      <td><button type="button" class="small" dir="auto" onClick=${() => changePlace({ tab: "programs", program: one.name }, { keep: true })}>${one.name}</button></td>
      <td dir="auto">${one.program}${one.problem && html`<br /><span class="job-state" data-state="failed">✗ ${one.problem}</span>`}</td><td>${one.mode}</td><td class="number">${digits(one.touched)}</td>
    </tr>`)}</tbody>
  </table></div>`;
}

/**
 * How a program or query comes to be: by a statement where the graph is stored, in Python where it is in memory.
 *
 * @param {{ facts: LiveFacts, gvdl: string, python: string }} props  the `graph NAME` in `gvdl` is this one
 */
export function HowToAdd({ facts, gvdl, python }) {
  const statement = gvdl.replace(/graph NAME/, () => `graph ${written(facts.name)}`);
  return html`<code dir="ltr">${facts.folder === null ? python : statement}</code> adds one.`;
}

/** The share of each query, the largest first, and what is free. @param {{ facts: LiveFacts }} props */
function Budget({ facts }) {
  const { budget, queries } = facts;
  if (queries.length === 0) {
    return html`<p class="quiet">No queries. <${HowToAdd} facts=${facts} gvdl="create query NAME on live graph NAME path from 'a' to 'b'" python='graph.query("trip", gt.queries.Path("a", "b"))' /></p>`;
  }
  const whole = Math.max(budget.bytes ?? 0, budget.used, 1);
  const sorted = [...queries].sort((one, other) => other.bytes - one.bytes);
  return html`
    <p>${inBytes(budget.used)} used ${budget.bytes === null ? html`<span class="quiet">of no limit</span>` : html`of ${inBytes(budget.bytes)} (${Math.round((100 * budget.used) / Math.max(1, budget.bytes))}%)`}</p>
    <div class="scroll"><table class="budget">
      <caption class="hidden">Budget by query</caption>
      <thead><tr><th scope="col">Query</th><th scope="col">Share</th><th scope="col" class="number">Holds</th></tr></thead>
      <tbody>${sorted.map((query) => html`<tr key=${query.name}>
        <td><button type="button" class="small" dir="auto" onClick=${() => changePlace({ tab: "queries", query: query.name }, { keep: true })}>${query.name}</button>${query.waits && html`<span class="quiet"> waits</span>`}</td>
        <td><${ShareBar} share=${query.bytes / whole} /></td>
        <td class="number">${inBytes(query.bytes)}</td>
      </tr>`)}</tbody>
    </table></div>
  `;
}

/** @param {{ share: number }} props */
function ShareBar({ share }) {
  return html`<svg class="share" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <rect class="operator-room" width="100" height="10" /><rect class="operator-rows" width=${Math.min(100, 100 * share)} height="10" />
  </svg>`;
}

/** @param {{ facts: LiveFacts }} props */
function Disk({ facts }) {
  if (facts.folder === null) return html`<p class="quiet">This graph is in memory alone; it ends with its process.</p>`;
  const { log, checkpoint } = facts;
  return html`<dl class="live-facts">
    ${log && html`<${Fact} name="log" value=${inBytes(log.bytes)} note=${`${digits(log.records)} records since the checkpoint`} />`}
    ${checkpoint
      ? html`<${Fact} name="checkpoint" value=${inBytes(checkpoint.bytes)} note=${`version ${digits(checkpoint.version)}, ${when(checkpoint.when)}`} />`
      : html`<${Fact} name="checkpoint" value="none yet" />`}
    <${Fact} name="folder" value=${html`<code dir="ltr">${facts.folder}</code>`} />
  </dl>`;
}

/** @param {string} text */
function when(text) {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? text : date.toLocaleString();
}
