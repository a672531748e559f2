/**
 * Who made what when: a lane for each worker, with a bar for what it made at once, by sub-plan.
 *
 * Of a run on shards a lane is a task, and a bar a superstep: filled while the task computes, striped while it
 * sends and takes in, empty while it waits for others.
 *
 * @import { RunFacts, Table } from "../../types.d.ts"
 * @typedef {{ lane: number, from: number, to: number, colour: string, pattern: import("../../parts/patterns.js").Pattern, title: string, label: string }} Span
 */

import { html, useEffect, useMemo, useRef, useState } from "gt/vendor/preact.js";
import { shownAnswer } from "gt/answers.js";
import { heightOf, shortened } from "gt/parts/axis.js";
import { Swatch } from "gt/parts/chart.js";
import { counted, inBytes, inSeconds } from "gt/parts/numbers.js";
import { CYCLE } from "gt/parts/patterns.js";
import { SaveMenu } from "gt/parts/save.js";
import { AskedTable } from "gt/parts/table.js";
import { lengthOf, useWholeTable, valuesOf } from "gt/pages/run/whole_table.js";

const [LANE, NAME, TOP, BELOW, LEAST] = [26, 130, 6, 26, 0.75];
const LOOKS = /** @type {const} */ (["solid", "stripes", "dots", "back", "cross"]);
const MOST_SPANS = 6_000;

/** @param {{ facts: RunFacts, finished: number }} props */
export function Workers({ facts, finished }) {
  const workers = useWholeTable(["run", facts.name, "workers"], {}, finished);
  const supersteps = useWholeTable(["run", facts.name, "supersteps"], {}, finished);
  if (supersteps.loading && supersteps.answer === null) return html`<p class="empty" aria-busy="true">Loading…</p>`;
  return shownAnswer(workers, (/** @type {Table} */ table) => html`<${Lanes} facts=${facts} workers=${table} supersteps=${supersteps.answer} />`);
}

/** @param {{ facts: RunFacts, workers: Table, supersteps: Table | null }} props */
function Lanes({ facts, workers, supersteps }) {
  const shards = supersteps !== null && lengthOf(supersteps) > 0;
  const lanes = useMemo(() => [...new Set(valuesOf(workers, "worker").map(String))].sort(byNumber), [workers]);
  const spans = useMemo(() => (shards ? superstepSpans(supersteps, lanes) : workerSpans(workers, lanes)), [workers, supersteps, lanes]);
  if (!lanes.length) return html`<p class="empty">Nothing says who made the views: none is finished, or the run is of an earlier Graphtide.</p>`;
  return html`
    <${Picture} title=${`Workers of ${facts.name}`} lanes=${lanes} spans=${spans} />
    ${shards ? html`<${ShardLegend} />` : html`<p class="quiet">A colour and pattern for each sub-plan; its number stands in the bar where there is room.</p>`}
    <${Totals} workers=${workers} supersteps=${shards ? supersteps : null} lanes=${lanes} />
    <details class="panel"><summary>${shards ? "Every task and view" : "Every part"}</summary><${AskedTable} parts=${["run", facts.name, "workers"]} prefix="w_" caption="Who made what" /></details>
    ${shards && html`<details class="panel"><summary>Every superstep</summary><${AskedTable} parts=${["run", facts.name, "supersteps"]} prefix="s_" caption="Supersteps" /></details>`}
  `;
}

/** Names with numbers in them in the order of the numbers. @param {string} one @param {string} other */
function byNumber(one, other) {
  return one.localeCompare(other, "en", { numeric: true });
}

/** @param {Table} table @param {string[]} lanes @returns {Span[]} */
function workerSpans(table, lanes) {
  const [worker, plan, view, steps] = ["worker", "sub_plan", "view", "steps"].map((name) => valuesOf(table, name));
  const [began, ended] = ["began", "ended"].map((name) => valuesOf(table, name).map((value) => heightOf(value) ?? 0));
  const first = began.reduce((least, value) => Math.min(least, value), Infinity);
  return worker.map((name, row) => {
    const number = Number(plan[row]);
    const title = `sub-plan ${plan[row]}: ${counted(Number(steps[row]), "step")} from ${view[row]} on, ${inSeconds(ended[row] - began[row])}`;
    return { lane: lanes.indexOf(String(name)), from: began[row] - first, to: ended[row] - first, ...lookOf(number), title, label: String(plan[row]) };
  });
}

/** @param {Table} table @param {string[]} lanes @returns {Span[]} */
function superstepSpans(table, lanes) {
  const [worker, view, superstep] = ["worker", "view", "superstep"].map((name) => valuesOf(table, name));
  const [began, computed, waited, moved] = ["began", "computed", "waited", "transferred"].map((name) => valuesOf(table, name).map((value) => heightOf(value) ?? 0));
  const first = began.reduce((least, value) => Math.min(least, value), Infinity);
  return worker.flatMap((name, row) => {
    const lane = lanes.indexOf(String(name));
    const colour = CYCLE[Number(superstep[row]) % (CYCLE.length - 1)];
    const title = `${view[row]}, superstep ${superstep[row]}`;
    const ends = [began[row] - first];
    for (const took of [computed[row], waited[row], moved[row]]) ends.push(ends[ends.length - 1] + took);
    const span = (/** @type {number} */ at, /** @type {string} */ what, /** @type {string} */ tone, /** @type {Span["pattern"]} */ pattern) => ({ lane, from: ends[at], to: ends[at + 1], colour: tone, pattern, title: `${title}: ${what} ${inSeconds(ends[at + 1] - ends[at])}`, label: "" });
    return [span(0, "computed", colour, "solid"), span(1, "waited", "grey", "hollow"), span(2, "transferred", colour, "stripes")];
  });
}

/** @param {number} number */
function lookOf(number) {
  return { colour: CYCLE[number % CYCLE.length], pattern: LOOKS[Math.floor(number / CYCLE.length) % LOOKS.length] };
}

/** @param {{ title: string, lanes: string[], spans: Span[] }} props */
function Picture({ title, lanes, spans }) {
  const home = useRef(/** @type {HTMLElement | null} */ (null));
  const picture = useRef(/** @type {SVGSVGElement | null} */ (null));
  const width = useWidth(home);
  const height = TOP + lanes.length * LANE + BELOW;
  const room = Math.max(80, width - NAME - 12);
  const end = useMemo(() => spans.reduce((most, span) => Math.max(most, span.to), 0) || 1e-9, [spans]);
  const across = (/** @type {number} */ seconds) => NAME + (seconds / end) * room;
  const shown = useMemo(() => joined(spans, room / end), [spans, room, end]);
  const looks = useMemo(() => [...new Map(shown.filter((span) => span.pattern !== "solid").map((span) => [`${span.colour}-${span.pattern}`, span])).entries()], [shown]);
  return html`<figure class="chart">
    <figcaption><strong dir="auto">${title}</strong><${SaveMenu} name=${title} svg=${picture} /></figcaption>
    <div ref=${home}><svg ref=${picture} class="lanes" width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${`${title}: ${counted(lanes.length, "lane")}, ${inSeconds(end)}; the table below has the sums`}>
      <defs>${looks.map(([key, span]) => html`<${PatternTile} key=${key} id=${`lane-${key}`} colour=${span.colour} pattern=${span.pattern} />`)}</defs>
      ${lanes.map((name, lane) => html`<text key=${name} class="lane-name" x=${NAME - 8} y=${TOP + lane * LANE + 17} text-anchor="end">${shortened(name, 18)}<title>${name}</title></text>`)}
      ${secondsAt(end, room).map((tick) => html`<g key=${tick}><path class="lane-line" d=${`M${across(tick)} ${TOP}V${height - BELOW + 4}`} /><text class="lane-name" x=${across(tick)} y=${height - 8} text-anchor="middle">${inSeconds(tick)}</text></g>`)}
      ${shown.map((span, number) => {
        const long = Math.max(LEAST, across(span.to) - across(span.from));
        const fill = span.pattern === "solid" ? `var(--${span.colour})` : `url(#lane-${span.colour}-${span.pattern})`;
        return html`<g key=${number}><title>${span.title}</title>
          <rect x=${across(span.from)} y=${TOP + span.lane * LANE + 3} width=${long} height=${LANE - 6} fill=${fill} stroke=${long > 3 ? `var(--${span.colour})` : "none"} />
          ${span.label && long > 9 + 7 * span.label.length && html`<text class="lane-label" x=${across(span.from) + long / 2} y=${TOP + span.lane * LANE + 17} text-anchor="middle">${span.label}</text>`}
        </g>`;
      })}
    </svg></div>
  </figure>`;
}

/** @param {{ id: string, colour: string, pattern: string }} props */
function PatternTile({ id, colour, pattern }) {
  const paint = `var(--${colour})`;
  const lines = { stripes: "M-1 7L7 -1M-1 1L1 -1M5 7L7 5", back: "M-1 -1L7 7M-1 5L1 7M5 -1L7 1", cross: "M0 3H6M3 0V6" }[pattern] ?? "";
  return html`<pattern id=${id} width="6" height="6" patternUnits="userSpaceOnUse">
    <rect width="6" height="6" fill="var(--paper)" /><path d=${lines} stroke=${paint} stroke-width="2.2" />
    ${pattern === "dots" && html`<rect x="1" y="1" width="3" height="3" fill=${paint} />`}
  </pattern>`;
}

/** Spans that cannot be told apart as one, and no more than a page bears. @param {Span[]} spans @param {number} pixels  a second */
function joined(spans, pixels) {
  const sorted = spans.slice().sort((one, other) => one.lane - other.lane || one.from - other.from);
  let least = LEAST;
  for (;;) {
    /** @type {Span[]} */
    const found = [];
    for (const span of sorted) {
      const last = found[found.length - 1];
      const small = (span.to - span.from) * pixels < least;
      const near = last && last.lane === span.lane && (span.from - last.to) * pixels < least;
      if (small && near) last.to = Math.max(last.to, span.to);
      else found.push({ ...span });
    }
    if (found.length <= MOST_SPANS) return found;
    least *= 2;
  }
}

/** Round seconds along the lanes. @param {number} end @param {number} room */
function secondsAt(end, room) {
  const most = Math.max(1, Math.floor(room / 90));
  const size = 10 ** Math.floor(Math.log10(end / most));
  const step = [1, 2, 5, 10].map((times) => times * size).find((one) => end / one <= most) ?? end;
  return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, number) => number * step);
}

/** The width of an element, current. @param {{ current: HTMLElement | null }} home */
function useWidth(home) {
  const [width, setWidth] = useState(800);
  useEffect(() => {
    if (!home.current) return undefined;
    const watcher = new ResizeObserver(([entry]) => setWidth(Math.max(260, Math.floor(entry.contentRect.width))));
    watcher.observe(home.current);
    return () => watcher.disconnect();
  }, []);
  return width;
}

function ShardLegend() {
  const items = /** @type {const} */ ([["computes, a colour a superstep", "blue", "solid"], ["sends and takes in", "blue", "stripes"], ["waits for other tasks", "grey", "hollow"]]);
  return html`<ul class="chart-legend">${items.map(([label, colour, pattern]) => html`<li key=${label}><${Swatch} colour=${colour} pattern=${pattern} />${label}</li>`)}</ul>`;
}

/** What each worker did in all; the picture as a table. @param {{ workers: Table, supersteps: Table | null, lanes: string[] }} props */
function Totals({ workers, supersteps, lanes }) {
  const sums = useMemo(() => {
    const steps = summed(workers, "steps", lanes);
    const rows = [["Steps", steps.map(String)], ["Processor time", summed(workers, "processor", lanes).map(inSeconds)]];
    if (!supersteps) return /** @type {[string, string[]][]} */ (rows);
    for (const [label, name] of [["Computed", "computed"], ["Waited", "waited"], ["Transfer", "transferred"]]) rows.push([label, summed(supersteps, name, lanes).map(inSeconds)]);
    rows.push(["Sent", summed(workers, "sent", lanes).map(inBytes)]);
    return /** @type {[string, string[]][]} */ (rows);
  }, [workers, supersteps, lanes]);
  return html`<div class="scroll"><table>
    <caption class="hidden">What each worker did in all</caption>
    <thead><tr><th scope="col">Worker</th>${sums.map(([label]) => html`<th key=${label} scope="col" class="number">${label}</th>`)}</tr></thead>
    <tbody>${lanes.map((name, lane) => html`<tr key=${name}><th scope="row">${name}</th>${sums.map(([label, values]) => html`<td key=${label} class="number">${values[lane]}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

/** @param {Table} table @param {string} name @param {string[]} lanes */
function summed(table, name, lanes) {
  const sums = new Map(lanes.map((lane) => [lane, 0]));
  const values = valuesOf(table, name);
  valuesOf(table, "worker").forEach((worker, row) => sums.set(String(worker), (sums.get(String(worker)) ?? 0) + (heightOf(values[row]) ?? 0)));
  return lanes.map((lane) => sums.get(lane) ?? 0);
}
