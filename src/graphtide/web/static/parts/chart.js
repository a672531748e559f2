/**
 * Charts over views: curves and bars, each with its legend, a table for screen readers, and pictures to save.
 *
 * @import { Cell } from "../types.d.ts"
 * @import { Bar, Curve, Group, Shown } from "gt/parts/plot.js"
 * @import { Pattern } from "gt/parts/patterns.js"
 */

import { html, useEffect, useMemo, useRef } from "gt/vendor/preact.js";
import { currentPlace } from "gt/address.js";
import { axisOf, exactText } from "gt/parts/axis.js";
import { pictureOf } from "gt/parts/chart_picture.js";
import { inSeconds } from "gt/parts/numbers.js";
import { CYCLE, PATTERNS } from "gt/parts/patterns.js";
import { Plot } from "gt/parts/plot.js";
import { SaveMenu } from "gt/parts/save.js";
import { useColours } from "gt/parts/theme.js";

const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
const MOST_READ = 60;

/**
 * Curves over views. What has no height (missing, infinite) is a gap with a sign.
 *
 * @param {{
 *   title: string, names: string[], series: { label: string, values: Cell[], colour?: string }[], at?: number,
 *   onPick?: (place: number) => void, unit?: string, height?: number, sync?: string, log?: boolean,
 * }} props  `sync`: charts with the same word share their cursor and what is looked at closely
 */
export function LineChart({ title, names, series, at = -1, onPick, unit = "", height = 150, sync, log = false }) {
  const key = useSame(series.flatMap((one) => [one.label, one.values, one.colour]));
  const shown = useMemo(() => {
    const curves = series.map((one, number) => ({ label: one.label, values: one.values, colour: one.colour ?? CYCLE[number % CYCLE.length], dash: DASHES[number % DASHES.length] }));
    return { title, axis: axisOf(names), curves, bars: null, groups: [], unit, log };
  }, [title, names, key, unit, log]);
  return html`<${Chart} shown=${shown} at=${at} onPick=${onPick} height=${height} sync=${sync} />`;
}

/**
 * A bar for each view, coloured and patterned by its group; `marks` are lines across the bars at other values.
 *
 * @param {{
 *   title: string, names: string[], bars: Bar[], groups: { key: string, label: string, colour?: string, pattern?: Pattern }[],
 *   marks?: { label: string, values: Cell[], colour?: string }[], at?: number, onPick?: (place: number) => void,
 *   unit?: string, height?: number, sync?: string, log?: boolean,
 * }} props
 */
export function BarChart({ title, names, bars, groups, marks = [], at = -1, onPick, unit = "", height = 220, sync, log = false }) {
  const key = useSame([...groups.flatMap((one) => [one.key, one.label, one.colour, one.pattern]), null, ...marks.flatMap((one) => [one.label, one.values, one.colour])]);
  const shown = useMemo(() => {
    const looks = groups.map((one, number) => ({ ...one, colour: one.colour ?? CYCLE[number % CYCLE.length], pattern: one.pattern ?? PATTERNS[number % PATTERNS.length] }));
    const curves = marks.map((one) => ({ label: one.label, values: one.values, colour: one.colour ?? "ink" }));
    return { title, axis: axisOf(names), curves, bars, groups: looks, unit, log };
  }, [title, names, bars, key, unit, log]);
  return html`<${Chart} shown=${shown} at=${at} onPick=${onPick} height=${height} sync=${sync} />`;
}

/**
 * @param {{ shown: Shown, at: number, onPick?: (place: number) => void, height: number, sync?: string }} props
 */
function Chart({ shown, at, onPick, height, sync }) {
  const home = useRef(/** @type {HTMLElement | null} */ (null));
  const plot = useRef(/** @type {Plot | null} */ (null));
  const pick = useRef(onPick);
  pick.current = onPick;
  const theme = useColours();
  const empty = shown.axis.names.length === 0;
  useEffect(() => {
    if (!home.current || empty) return undefined;
    const made = new Plot(home.current, shown, { height, sync, onPick: (place) => pick.current?.(place) });
    plot.current = made;
    return () => {
      made.destroy();
      plot.current = null;
    };
  }, [shown, height, sync, theme, empty]);
  useEffect(() => plot.current?.moveMark(at), [at, shown, height, sync, theme]);
  const table = useMemo(() => html`<${ReadTable} shown=${shown} />`, [shown]);
  if (empty) return html`<figure class="chart"><figcaption><strong>${shown.title}</strong></figcaption><p class="empty">No view is finished yet.</p></figure>`;
  return html`<figure class="chart">
    <figcaption>
      <strong dir="auto">${shown.title}</strong>
      <span class="chart-value">${valueAt(shown, at)}</span>
      <${SaveMenu} name=${[...currentPlace().parts.slice(1), shown.title].join(" ")} svg=${() => plot.current && pictureOf(plot.current)} />
    </figcaption>
    <${Legend} shown=${shown} />
    <div class=${onPick ? "plot picks" : "plot"} ref=${home} aria-hidden="true"></div>
    ${table}
  </figure>`;
}

/** What stands at the marked view. @param {Shown} shown @param {number} at */
function valueAt(shown, at) {
  if (at < 0 || at >= shown.axis.names.length) return "";
  if (shown.bars) return readable(shown.bars[at].value, shown.unit);
  return shown.curves.map((curve) => readable(curve.values[at], shown.unit)).join(" · ");
}

/** A cell with as many digits as a title has room for. @param {Cell | undefined} cell @param {string} unit */
function readable(cell, unit) {
  if (typeof cell !== "number" || Number.isInteger(cell)) return exactText(cell, unit);
  return unit === "s" ? inSeconds(cell) : exactText(Number(cell.toPrecision(6)), unit);
}

/** @param {{ shown: Shown }} props */
function Legend({ shown }) {
  const curves = shown.bars || shown.curves.length > 1 ? shown.curves : [];
  if (!shown.groups.length && !curves.length) return null;
  return html`<ul class="chart-legend">
    ${shown.groups.map((group) => html`<li key=${group.key}><${Swatch} colour=${group.colour} pattern=${group.pattern} />${group.label}</li>`)}
    ${curves.map((curve) => html`<li key=${curve.label}><${Stroke} colour=${curve.colour} dash=${curve.dash} />${curve.label}</li>`)}
  </ul>`;
}

/** A small piece of what a group looks like. @param {{ colour: string, pattern: Pattern }} props */
export function Swatch({ colour, pattern }) {
  const paint = /^[a-z]+$/.test(colour) ? `var(--${colour})` : colour;
  const lines = { solid: "", hollow: "", stripes: "M0 6L6 0M3 12L15 0M12 12L18 6", back: "M0 6L6 12M3 0L15 12M12 0L18 6", cross: "M0 6H18M5 0V12M13 0V12", dots: "M3 3h3M11 3h3M7 8h3M15 8h3" }[pattern];
  return html`<svg class="swatch" width="18" height="12" viewBox="0 0 18 12" aria-hidden="true">
    <rect x="0.5" y="0.5" width="17" height="11" fill=${pattern === "solid" ? paint : "none"} stroke=${paint} />
    <path d=${lines} stroke=${paint} stroke-width=${pattern === "dots" ? 3 : 2} />
  </svg>`;
}

/** @param {{ colour: string, dash?: number[] }} props */
function Stroke({ colour, dash = [] }) {
  const paint = /^[a-z]+$/.test(colour) ? `var(--${colour})` : colour;
  return html`<svg class="swatch" width="18" height="12" aria-hidden="true">
    <path d="M0 6H18" stroke=${paint} stroke-width="2.5" stroke-dasharray=${dash.join(" ")} />
  </svg>`;
}

/** The chart as a table for who does not see it: of many views some, evenly. @param {{ shown: Shown }} props */
function ReadTable({ shown }) {
  const { names } = shown.axis;
  const step = Math.ceil(names.length / MOST_READ);
  const places = [];
  for (let place = 0; place < names.length; place += step) places.push(place);
  const label = (/** @type {string} */ key) => shown.groups.find((group) => group.key === key)?.label ?? key;
  const left = step > 1 ? `, every ${step}th of ${names.length} views` : "";
  return html`<div class="hidden"><table>
    <caption>${shown.title}${left}</caption>
    <thead><tr><th scope="col">view</th>${shown.bars && html`<th scope="col">${shown.unit || "value"}</th><th scope="col">how</th>`}${shown.curves.map((curve) => html`<th scope="col">${curve.label}</th>`)}</tr></thead>
    <tbody>
      ${places.map(
        (place) => html`<tr key=${place}>
          <th scope="row" dir="auto">${names[place]}</th>
          ${shown.bars && html`<td>${exactText(shown.bars[place].value, shown.unit)}</td><td>${label(shown.bars[place].group)}</td>`}
          ${shown.curves.map((curve) => html`<td>${exactText(curve.values[place], shown.unit)}</td>`)}
        </tr>`,
      )}
    </tbody>
  </table></div>`;
}

/** The same list for as long as its items are the same. @param {any[]} items */
function useSame(items) {
  const last = useRef(items);
  const same = last.current.length === items.length && items.every((item, place) => item === last.current[place]);
  if (!same) last.current = items;
  return last.current;
}
