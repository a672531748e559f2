/**
 * How fast a live graph changes: rows a second and the longest advance, second by second over the last minute, and how long
 * advances take. The charts are small and drawn anew several times a second, hence plain SVG.
 *
 * @import { LiveFacts } from "../../types.d.ts"
 */

import { html, useEffect, useRef, useState } from "gt/vendor/preact.js";
import { digits } from "gt/parts/numbers.js";
import { SaveMenu } from "gt/parts/save.js";

const WIDTH = 480;
const HEIGHT = 90;
const LEFT = 56;
const BELOW = 16;

/** @param {{ facts: LiveFacts }} props */
export function Pace({ facts }) {
  const { pace } = facts;
  const since = useSecondsSince(facts);
  const now = (/** @type {number[]} */ values) => [...values.slice(since), ...Array(Math.min(since, values.length)).fill(0)];
  const milliseconds = (/** @type {number | null} */ value) => (value === null ? "–" : `${short(value)} ms`);
  return html`
    <dl class="live-facts">
      <${Fact} name="rows a second" value=${short(pace.rows_a_second)} />
      <${Fact} name="half of the advances within" value=${milliseconds(pace.p50)} />
      <${Fact} name="90% within" value=${milliseconds(pace.p90)} />
      <${Fact} name="99% within" value=${milliseconds(pace.p99)} />
      <${Fact} name="advances seen" value=${digits(pace.advances)} />
    </dl>
    <div class="columns">
      <${Minute} title="Rows in each second" name=${`${facts.name}-rows`} values=${now(pace.rows)} unit="rows" kind="rows" />
      <${Minute} title="Longest advance of each second" name=${`${facts.name}-longest`} values=${now(pace.longest)} unit="ms" kind="time" />
    </div>
  `;
}

/**
 * Whole seconds since facts came: while none come, nothing has changed, and the charts move on. @param {LiveFacts} facts
 */
function useSecondsSince(facts) {
  const [since, setSince] = useState(0);
  useEffect(() => {
    setSince(0);
    const timer = setInterval(() => setSince((seconds) => seconds + 1), 1000);
    return () => clearInterval(timer);
  }, [facts]);
  return since;
}

/** A fact under its name. @param {{ name: string, value: any, note?: any }} props */
export function Fact({ name, value, note }) {
  return html`<div><dt>${name}</dt><dd>${value}${note && html`<span class="quiet"> ${note}</span>`}</dd></div>`;
}

/** Three digits that count. @param {number} value */
export function short(value) {
  return value >= 1000 ? digits(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/**
 * A bar for each second, the latest on the right.
 *
 * @param {{ title: string, name: string, values: number[], unit: string, kind: "rows" | "time" }} props
 */
function Minute({ title, name, values, unit, kind }) {
  const picture = useRef(/** @type {SVGSVGElement | null} */ (null));
  const most = Math.max(0, ...values);
  const top = ceiling(most);
  const room = WIDTH - LEFT;
  const step = room / Math.max(1, values.length);
  const y = (/** @type {number} */ value) => HEIGHT - BELOW - (top > 0 ? (value / top) * (HEIGHT - BELOW - 8) : 0);
  const latest = values.at(-1);
  return html`<figure class="chart minute">
    <figcaption>
      <strong>${title}</strong>
      <span class="chart-value">${latest === undefined ? "" : `${short(latest)} ${unit}`}</span>
      <${SaveMenu} name=${name} svg=${picture} />
    </figcaption>
    <svg ref=${picture} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${`${title}: at most ${short(most)} ${unit} in the last minute, ${short(latest ?? 0)} in the last second`}>
      ${[0, top / 2, top].map((value) => html`
        <line class="minute-line" x1=${LEFT} x2=${WIDTH} y1=${y(value)} y2=${y(value)} />
        <text class="minute-label" x=${LEFT - 6} y=${y(value) + 4} text-anchor="end">${short(value)}</text>
      `)}
      ${values.map((value, second) => value > 0 && html`<rect class=${`minute-${kind}`} x=${LEFT + second * step + 0.5} width=${Math.max(0.5, step - 1)} y=${y(value)} height=${HEIGHT - BELOW - y(value)}>
        <title>${`${values.length - second} s ago: ${short(value)} ${unit}`}</title>
      </rect>`)}
      <text class="minute-label" x=${LEFT} y=${HEIGHT - 3}>${`${values.length} s ago`}</text>
      <text class="minute-label" x=${WIDTH} y=${HEIGHT - 3} text-anchor="end">now</text>
    </svg>
    <div class="hidden"><table>
      <caption>${title}</caption>
      <thead><tr><th scope="col">seconds ago</th><th scope="col">${unit}</th></tr></thead>
      <tbody>${values.map((value, second) => second % 5 === values.length % 5 && html`<tr><th scope="row">${values.length - second}</th><td>${short(value)}</td></tr>`)}</tbody>
    </table></div>
  </figure>`;
}

/** The next 1, 2 or 5 with zeros: where an axis ends. @param {number} most */
function ceiling(most) {
  if (!(most > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  const found = [1, 2, 5].find((digit) => digit * power >= most);
  return (found ?? 10) * power;
}
