/**
 * The plan of a collection, step below step, to be walked.
 *
 * Each step has a row. Of a step's children the one with the largest subtree comes last and goes on in the lane of its
 * parent; the others branch off one lane further. So a chain is one line, and a tree of n steps never needs more
 * than log2(n) + 1 lanes. Only rows in sight are drawn: a plan may have 100,000 steps.
 *
 * @import { Plan } from "../types.d.ts"
 * @typedef {{ seconds: number, strategy: string, touched: number | null }} Cost
 */

import { html, render, useEffect, useLayoutEffect, useMemo, useRef, useState } from "gt/vendor/preact.js";
import { digits, inSeconds } from "gt/parts/numbers.js";
import { SaveMenu, saveSvg } from "gt/parts/save.js";
import { useColours } from "gt/parts/theme.js";

const ROW = 22;
const LANE = 14;
/** How wide a letter of a name is, about. */
const LETTER = 7.5;
const MOST_SAVED = 5000;
/** So many steps are in sight at once: a strip over all of them would say nothing more. */
const FEW = 20;

/**
 * The order of rows and the lane of each step.
 *
 * `children(step)` are sorted as they are shown. `lines` has for each lane the rows between which a line
 * runs down, one after the other.
 *
 * @typedef {object} Rows
 * @property {number} count
 * @property {Int32Array} stepAt  the step of each row
 * @property {Int32Array} rowOf  the row of each step
 * @property {Int32Array} lane  by step
 * @property {Int32Array} depth  by step
 * @property {number} lanes
 * @property {number[]} roots  steps that start from nothing
 * @property {boolean} stones  whether there are stepping stones
 * @property {{ from: number, to: number }[][]} lines
 * @property {(step: number) => number[]} children
 * @property {number} mostDelta  the largest delta of a step that has a parent
 */

/** Found once for each plan: they take some 20 ms for 100,000 steps. @type {WeakMap<Plan, Rows>} */
const found = new WeakMap();

/** @param {Plan} plan @returns {Rows} */
export function rowsOf(plan) {
  const rows = found.get(plan) ?? laidOut(plan);
  found.set(plan, rows);
  return rows;
}

/** @param {Plan} plan @returns {Rows} */
function laidOut(plan) {
  const count = plan.parent.length;
  const { first, list } = childrenOf(plan);
  const stepAt = new Int32Array(count);
  const rowOf = new Int32Array(count);
  const lane = new Int32Array(count);
  const depth = new Int32Array(count);
  /** @type {{ from: number, to: number }[][]} */
  const lines = [];
  const roots = plan.parent.flatMap((parent, step) => (parent < 0 ? [step] : []));
  const waiting = roots.toReversed();
  let row = 0;
  while (waiting.length) {
    const step = /** @type {number} */ (waiting.pop());
    const parent = plan.parent[step];
    stepAt[row] = step;
    rowOf[step] = row;
    if (parent >= 0) {
      const last = list[first[parent + 1] - 1] === step;
      lane[step] = lane[parent] + (last ? 0 : 1);
      depth[step] = depth[parent] + 1;
      if (last) (lines[lane[step]] ??= []).push({ from: rowOf[parent], to: row });
    }
    for (let at = first[step + 1] - 1; at >= first[step]; at -= 1) waiting.push(list[at]);
    row += 1;
  }
  const children = (/** @type {number} */ step) => Array.from(list.subarray(first[step], first[step + 1]));
  const lanes = lane.reduce((most, one) => Math.max(most, one), 0) + 1;
  const stones = plan.view.includes(null);
  return { count, stepAt, rowOf, lane, depth, lanes, roots, stones, lines, children, mostDelta: mostDelta(plan) };
}

/** Children by parent, one after the other, each parent's sorted by the size of their subtrees. @param {Plan} plan */
function childrenOf(plan) {
  const count = plan.parent.length;
  const size = new Int32Array(count).fill(1);
  const first = new Int32Array(count + 2);
  for (let step = count - 1; step >= 0; step -= 1) {
    const parent = plan.parent[step];
    if (parent < 0) continue;
    size[parent] += size[step];
    first[parent + 2] += 1;
  }
  for (let at = 2; at < first.length; at += 1) first[at] += first[at - 1];
  const list = new Int32Array(first[count + 1]);
  for (let step = 0; step < count; step += 1) if (plan.parent[step] >= 0) list[first[plan.parent[step] + 1]++] = step;
  for (let step = 0; step < count; step += 1) {
    if (first[step + 1] - first[step] > 1) list.subarray(first[step], first[step + 1]).sort((one, other) => size[one] - size[other] || one - other);
  }
  return { first, list };
}

/** @param {Plan} plan */
function mostDelta(plan) {
  let most = 1;
  for (let step = 0; step < plan.parent.length; step += 1) {
    if (plan.parent[step] >= 0) most = Math.max(most, plan.inserted[step], plan.deleted[step]);
  }
  return most;
}

/** What a step is called. @param {Plan} plan @param {number} step */
export function stepName(plan, step) {
  return plan.view[step] ?? plan.stone[step] ?? `step ${step + 1}`;
}

/**
 * The plan with a strip over all of it above. Up and down go to the parent and to the child that goes on in its line, left
 * and right to siblings; page keys, home and end go through the rows.
 *
 * @param {{ plan: Plan, name: string, at: number | null, onPick: (step: number) => void, costs?: (Cost | null)[] | null, children?: any }} props
 */
export function PlanView({ plan, name, at, onPick, costs = null, children }) {
  const rows = rowsOf(plan);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [view, setView] = useState({ top: 0, height: 500, width: 800 });
  useSight(box, setView);
  useLayoutEffect(() => {
    if (at !== null && box.current) bringIntoSight(box.current, rows.rowOf[at]);
  }, [at, rows]);
  const from = Math.max(0, Math.floor(view.top / ROW) - 4);
  const to = Math.min(rows.count, Math.ceil((view.top + view.height) / ROW) + 4);
  const picture = { plan, rows, width: view.width, at, costs };
  /** @param {KeyboardEvent} event */
  const walk = (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const next = walked(plan, rows, at, event.key, Math.max(1, Math.floor(view.height / ROW) - 2));
    if (next === null) return;
    event.preventDefault();
    if (next !== at) onPick(next);
  };
  /** @param {MouseEvent} event */
  const pick = (event) => {
    if (!box.current) return;
    const row = Math.floor((event.clientY - box.current.getBoundingClientRect().top + box.current.scrollTop) / ROW);
    if (row >= 0 && row < rows.count) onPick(rows.stepAt[row]);
  };
  return html`
    <div class="row tools">
      <${GoTo} plan=${plan} rows=${rows} at=${at} onPick=${onPick} />
      <${Legend} stones=${rows.stones} />
      ${children}
      <span class="push row">
        <${SaveMenu} name=${`${name}-plan`} svg=${() => box.current?.querySelector("svg") ?? null} />
        ${rows.count * ROW > view.height && html`<button type="button" class="small" onClick=${() => saveWhole(picture, name)} title=${`Save ${digits(Math.min(rows.count, MOST_SAVED))} steps as SVG`}>${rows.count > MOST_SAVED ? `SVG of ${digits(MOST_SAVED)} steps` : "SVG of all steps"}</button>`}
      </span>
    </div>
    ${rows.count > FEW && html`<${Strip} plan=${plan} rows=${rows} at=${at} costs=${costs} sight=${[view.top / ROW, (view.top + view.height) / ROW]} onPick=${onPick} />`}
    <${Head} costs=${costs} />
    <div class="plan" ref=${box} tabindex="0" role="tree" aria-label=${`The plan of ${name}: ${digits(rows.count)} steps`}
      aria-activedescendant=${at === null ? undefined : `step-${at}`} style=${{ maxHeight: `${rows.count * ROW + 2}px` }} onKeyDown=${walk} onClick=${pick}>
      <div class="plan-all" role="none" style=${{ height: `${rows.count * ROW}px` }}>
        <div class="plan-sight" role="none" style=${{ top: `${from * ROW}px` }}><${Picture} ...${picture} from=${from} to=${to} /></div>
      </div>
    </div>
  `;
}

/** Keep what is in sight of a box that scrolls: where, how high and how wide. @param {{ current: HTMLElement | null }} box @param {(view: { top: number, height: number, width: number }) => void} setView */
function useSight(box, setView) {
  useLayoutEffect(() => {
    const region = box.current;
    if (!region) return undefined;
    let frame = 0;
    const look = () => {
      frame = 0;
      setView({ top: region.scrollTop, height: region.clientHeight, width: region.clientWidth });
    };
    const soon = () => {
      frame ||= requestAnimationFrame(look);
    };
    look();
    region.addEventListener("scroll", soon, { passive: true });
    const sizes = new ResizeObserver(soon);
    sizes.observe(region);
    return () => {
      cancelAnimationFrame(frame);
      region.removeEventListener("scroll", soon);
      sizes.disconnect();
    };
  }, []);
}

/** @param {HTMLElement} region @param {number} row */
function bringIntoSight(region, row) {
  const top = row * ROW;
  const far = Math.abs(top - region.scrollTop) > 2 * region.clientHeight;
  if (far) region.scrollTop = Math.max(0, top - region.clientHeight / 3);
  else if (top < region.scrollTop) region.scrollTop = Math.max(0, top - 3 * ROW);
  else if (top + ROW > region.scrollTop + region.clientHeight) region.scrollTop = top - region.clientHeight + 4 * ROW;
}

/** The step that a key leads to; null where the key means nothing here. @param {Plan} plan @param {Rows} rows @param {number | null} at @param {string} key @param {number} page */
export function walked(plan, rows, at, key, page) {
  const known = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End"].includes(key);
  if (!known || rows.count === 0) return null;
  if (at === null) return rows.stepAt[key === "End" ? rows.count - 1 : 0];
  const row = rows.rowOf[at];
  const clipped = (/** @type {number} */ wanted) => rows.stepAt[Math.max(0, Math.min(rows.count - 1, wanted))];
  if (key === "Home") return clipped(0);
  if (key === "End") return clipped(rows.count - 1);
  if (key === "PageUp") return clipped(row - page);
  if (key === "PageDown") return clipped(row + page);
  if (key === "ArrowUp") return plan.parent[at] >= 0 ? plan.parent[at] : at;
  if (key === "ArrowDown") return rows.children(at).at(-1) ?? at;
  const siblings = siblingsOf(plan, rows, at);
  const place = siblings.indexOf(at) + (key === "ArrowRight" ? 1 : -1);
  return siblings[place] ?? at;
}

/** The children of a step's parent, the step among them. @param {Plan} plan @param {Rows} rows @param {number} step */
export function siblingsOf(plan, rows, step) {
  const parent = plan.parent[step];
  return parent >= 0 ? rows.children(parent) : rows.roots;
}

/** @param {{ plan: Plan, rows: Rows, at: number | null, onPick: (step: number) => void }} props */
function GoTo({ plan, rows, at, onPick }) {
  const [missed, setMissed] = useState(false);
  /** @param {KeyboardEvent} event */
  const go = (event) => {
    if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
    const wanted = event.target.value.trim().toLowerCase();
    if (!wanted) return;
    const start = at === null ? 0 : rows.rowOf[at] + 1;
    for (let turn = 0; turn < rows.count; turn += 1) {
      const step = rows.stepAt[(start + turn) % rows.count];
      if (!stepName(plan, step).toLowerCase().includes(wanted)) continue;
      setMissed(false);
      return onPick(step);
    }
    setMissed(true);
  };
  return html`<input type="search" placeholder="Go to a view  ↵" aria-label="Go to the next step with this in its name" dir="auto" onKeyDown=${go} onInput=${() => setMissed(false)} />
    ${missed && html`<span role="status" class="quiet">no step is called that</span>`}`;
}

/** @param {{ stones: boolean }} props */
function Legend({ stones }) {
  return html`<span class="legend quiet">
    <svg class="plan-picture" width="14" height="14" aria-hidden="true"><circle class="mark" cx="7" cy="7" r="4.5" /></svg> view
    ${stones && html`<svg class="plan-picture" width="14" height="14" aria-hidden="true"><path class="mark stone" d=${diamond(7, 7)} /></svg> stepping stone`}
    <svg class="plan-picture" width="14" height="10" aria-hidden="true"><rect class="came" width="14" height="10" /></svg> came
    <svg class="plan-picture" width="14" height="10" aria-hidden="true"><rect class="went" width="14" height="10" /></svg> went
  </span>`;
}

/** Where columns end, from the right edge. @param {boolean} timed */
function measures(timed) {
  const time = timed ? 76 : 0;
  return { time: 10, went: 10 + time, came: 84 + time, bars: 164 + time, edges: 270 + time, barWidth: 90 };
}

/** @param {{ costs: (Cost | null)[] | null }} props */
function Head({ costs }) {
  return html`<div class="plan-head" aria-hidden="true">
    <span class="what">step</span><span class="size">edges</span><span class="balance"></span><span class="delta">came</span><span class="delta">went</span>${costs && html`<span class="cost">time</span>`}
  </div>`;
}

/**
 * Rows `from` to `to` as they are seen.
 *
 * @param {{ plan: Plan, rows: Rows, width: number, at: number | null, costs: (Cost | null)[] | null, from: number, to: number }} props
 */
function Picture({ plan, rows, width, at, costs, from, to }) {
  const height = Math.max(1, (to - from) * ROW);
  const shown = Array.from({ length: Math.max(0, to - from) }, (_, row) => rows.stepAt[from + row]);
  return html`<svg class="plan-picture" width=${width} height=${height} role="none">
    ${at !== null && rows.rowOf[at] >= from && rows.rowOf[at] < to && html`<rect class="here" x="0" y=${(rows.rowOf[at] - from) * ROW} width=${width} height=${ROW} />`}
    <path class="lane" d=${lanePath(plan, rows, from, to)} />
    ${shown.map((step, row) => html`<${StepRow} key=${step} plan=${plan} rows=${rows} step=${step} y=${row * ROW} width=${width} here=${step === at} cost=${costs?.[step] ?? null} timed=${costs !== null} />`)}
  </svg>`;
}

/** The lines between steps, of the rows in sight. @param {Plan} plan @param {Rows} rows @param {number} from @param {number} to */
function lanePath(plan, rows, from, to) {
  const middle = (/** @type {number} */ row) => (Math.max(from - 1, Math.min(to, row)) - from) * ROW + ROW / 2;
  const parts = [];
  for (const [lane, lines] of rows.lines.entries()) {
    for (let at = firstReaching(lines ?? [], from); at < (lines?.length ?? 0) && lines[at].from <= to; at += 1) {
      parts.push(`M${laneX(lane)} ${middle(lines[at].from)}V${middle(lines[at].to)}`);
    }
  }
  for (let row = from; row < to; row += 1) {
    const step = rows.stepAt[row];
    const parent = plan.parent[step];
    if (parent < 0 || rows.lane[parent] === rows.lane[step]) continue;
    const y = middle(row);
    parts.push(`M${laneX(rows.lane[parent])} ${y - ROW / 2}q0 ${ROW / 2} ${ROW / 2} ${ROW / 2}H${laneX(rows.lane[step])}`);
  }
  return parts.join("");
}

/** The first of some lines that ends at a row or below it. @param {{ to: number }[]} lines @param {number} row */
function firstReaching(lines, row) {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle].to < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {number} lane */
function laneX(lane) {
  return 12 + lane * LANE;
}

/** @param {number} x @param {number} y */
function diamond(x, y) {
  return `M${x} ${y - 6}l6 6l-6 6l-6 -6z`;
}

/** @param {{ plan: Plan, rows: Rows, step: number, y: number, width: number, here: boolean, cost: Cost | null, timed: boolean }} props */
function StepRow({ plan, rows, step, y, width, here, cost, timed }) {
  const x = laneX(rows.lane[step]);
  const middle = y + ROW / 2;
  const ends = measures(timed);
  const stone = plan.view[step] === null;
  const name = stepName(plan, step);
  const left = laneX(Math.min(rows.lanes - 1, Math.max(rows.lane[step], 3))) + 14;
  const room = Math.max(40, width - left - ends.edges - 62);
  const says = `${stone ? "stepping stone " : ""}${name}: ${digits(plan.edges[step])} edges, ${digits(plan.inserted[step])} came, ${digits(plan.deleted[step])} went${cost ? `, ${inSeconds(cost.seconds)}` : ""}`;
  const bar = (/** @type {number} */ count) => Math.min(1, count / rows.mostDelta) * (ends.barWidth / 2);
  const centre = width - ends.bars - ends.barWidth / 2;
  return html`<g role="treeitem" id=${`step-${step}`} aria-label=${says} aria-level=${rows.depth[step] + 1} aria-selected=${here}>
    <title>${says}</title>
    <rect class="catch" x="0" y=${y} width=${width} height=${ROW} />
    ${stone ? html`<path class="mark stone" d=${diamond(x, middle)} />` : html`<circle class="mark" cx=${x} cy=${middle} r="4.5" />`}
    <svg x=${left} y=${y} width=${room} height=${ROW}><text class=${stone ? "quietly" : ""} y=${ROW / 2} dominant-baseline="central">${stone ? `(${cut(name, room)})` : cut(name, room)}</text></svg>
    <text class="end" x=${width - ends.edges} y=${middle}>${digits(plan.edges[step])}</text>
    <rect class="went" x=${centre - bar(plan.deleted[step])} y=${middle - 5} width=${bar(plan.deleted[step])} height="10" />
    <rect class="came" x=${centre} y=${middle - 5} width=${bar(plan.inserted[step])} height="10" />
    <path class="axis" d=${`M${centre} ${y + 3}V${y + ROW - 3}`} />
    <text class="end" x=${width - ends.came} y=${middle}>${plan.inserted[step] ? `+${digits(plan.inserted[step])}` : "–"}</text>
    <text class="end" x=${width - ends.went} y=${middle}>${plan.deleted[step] ? `−${digits(plan.deleted[step])}` : "–"}</text>
    ${timed && html`<text class="end" x=${width - ends.time} y=${middle}>${cost ? inSeconds(cost.seconds) : "–"}</text>`}
  </g>`;
}

/** A name as far as there is room for it. @param {string} name @param {number} room */
function cut(name, room) {
  const most = Math.floor(room / LETTER);
  return name.length > most ? `${name.slice(0, Math.max(1, most - 1))}…` : name;
}

/** Save all steps, or the first of very many, as one picture. @param {any} picture @param {string} name */
function saveWhole(picture, name) {
  const place = document.createElement("div");
  place.className = "offscreen";
  document.body.append(place);
  render(html`<${Picture} ...${picture} from=${0} to=${Math.min(picture.rows.count, MOST_SAVED)} />`, place);
  const svg = place.querySelector("svg");
  if (svg) saveSvg(`${name}-plan`, svg);
  render(null, place);
  place.remove();
}

/**
 * All steps on one strip, left to right: what came above the line, what went below it, and the time under both. The
 * largest of the steps that share a pixel counts; lengths grow with the square root, so that small deltas show.
 *
 * @param {{ plan: Plan, rows: Rows, at: number | null, costs: (Cost | null)[] | null, sight: number[], onPick: (step: number) => void }} props
 */
function Strip({ plan, rows, at, costs, sight, onPick }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const shades = useColours();
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const sizes = new ResizeObserver(() => setWidth(element.clientWidth));
    sizes.observe(element);
    return () => sizes.disconnect();
  }, []);
  const columns = useMemo(() => stripColumns(plan, rows, costs, width), [plan, rows, costs, width]);
  const height = costs ? 84 : 60;
  useEffect(() => {
    if (canvas.current && width) drawStrip(canvas.current, columns, { width, height, shades, sight, at: at === null ? null : rows.rowOf[at], count: rows.count });
  }, [columns, shades, at, sight[0], sight[1], height]);
  /** @param {PointerEvent} event */
  const pick = (event) => {
    if (!canvas.current || (event.type === "pointermove" && event.buttons !== 1)) return;
    const place = (event.clientX - canvas.current.getBoundingClientRect().left) / width;
    onPick(rows.stepAt[Math.max(0, Math.min(rows.count - 1, Math.floor(place * rows.count)))]);
  };
  return html`<canvas class="strip" ref=${canvas} style=${{ height: `${height}px` }} role="img" aria-label="All steps: what came and went" title="All steps, left to right: what came above the line, what went below${costs ? ", time at the bottom" : ""}" onPointerDown=${pick} onPointerMove=${pick}></canvas>`;
}

/** @param {Plan} plan @param {Rows} rows @param {(Cost | null)[] | null} costs @param {number} width */
function stripColumns(plan, rows, costs, width) {
  const count = Math.max(1, Math.min(rows.count, width));
  const columns = { came: new Float64Array(count), went: new Float64Array(count), time: new Float64Array(count) };
  let slowest = 0;
  for (let row = 0; row < rows.count; row += 1) {
    const step = rows.stepAt[row];
    const place = Math.min(count - 1, Math.floor((row * count) / rows.count));
    const share = (/** @type {number} */ delta) => Math.sqrt(Math.min(1, delta / rows.mostDelta));
    columns.came[place] = Math.max(columns.came[place], share(plan.inserted[step]));
    columns.went[place] = Math.max(columns.went[place], share(plan.deleted[step]));
    columns.time[place] = Math.max(columns.time[place], costs?.[step]?.seconds ?? 0);
    slowest = Math.max(slowest, columns.time[place]);
  }
  if (slowest) columns.time.forEach((seconds, place) => (columns.time[place] = Math.sqrt(seconds / slowest)));
  return columns;
}

/**
 * @param {HTMLCanvasElement} canvas @param {ReturnType<typeof stripColumns>} columns
 * @param {{ width: number, height: number, shades: import("./theme.js").Colours, sight: number[], at: number | null, count: number }} how
 */
function drawStrip(canvas, columns, { width, height, shades, sight, at, count }) {
  const scale = devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.scale(scale, scale);
  const each = width / columns.came.length;
  const wide = Math.max(1, each - (each > 4 ? 1 : 0));
  const zero = 29.5;
  pen.fillStyle = shades.raised;
  pen.fillRect((sight[0] / count) * width, 0, Math.max(2, ((sight[1] - sight[0]) / count) * width), height);
  columns.came.forEach((share, place) => {
    pen.fillStyle = shades.blue;
    pen.fillRect(place * each, zero - share * 26, wide, share * 26);
    pen.fillStyle = shades.orange;
    pen.fillRect(place * each, zero + 1, wide, columns.went[place] * 26);
    pen.fillStyle = shades.grey;
    pen.fillRect(place * each, height - columns.time[place] * 22, wide, columns.time[place] * 22);
  });
  pen.fillStyle = shades.quiet;
  pen.fillRect(0, zero, width, 1);
  if (at !== null) {
    pen.fillStyle = shades.ink;
    pen.fillRect(((at + 0.5) / count) * width - 1, 0, 2, height);
  }
}
