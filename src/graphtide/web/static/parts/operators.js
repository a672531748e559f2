/**
 * A dataflow, or the rules of a Datalog program, as the graph of its operators: what each holds and what time it took, with
 * the heaviest ones marked. Loops are boxes, and ways back are dashed.
 *
 * Arrow keys go along the edges and from side to side. The same facts stand in a table below.
 *
 * @import { Operators } from "../types.d.ts"
 * @import { Box, Layout, Segment } from "./operator_layout.js"
 * @typedef {Operators["operators"][number]} Operator
 */

import { html, useLayoutEffect, useMemo, useRef, useState } from "gt/vendor/preact.js";
import { digits, inSeconds } from "gt/parts/numbers.js";
import { layoutOperators } from "gt/parts/operator_layout.js";
import { SaveMenu } from "gt/parts/save.js";
import { PlainTable } from "gt/parts/table.js";

const MARGIN = 14;
const LONGEST_NAME = 23;
const ZOOMS = [0.25, 0.35, 0.5, 0.7, 0.85, 1, 1.25, 1.6, 2];
const HEAVY = 3;
/** Heights of operators with and without bars. */
const BUSY = 84;
const IDLE = 44;
const SHARE = 0.05;

/** Whether an operator holds nothing and took no time: most only hand rows on to the next one. @param {Operator} operator */
function isIdle({ rows, seconds }) {
  return rows === 0 && seconds === 0;
}

/** @param {{ operators: Operators }} props */
export function OperatorGraph({ operators: answer }) {
  const sized = answer.operators.map((one) => ({ id: one.id, loop: one.loop, height: isIdle(one) ? IDLE : BUSY }));
  const layout = useMemo(() => layoutOperators(sized, answer.edges, answer.loops), [JSON.stringify([sized, answer.edges, answer.loops])]);
  const [chosen, setChosen] = useState(/** @type {number | null} */ (null));
  const picture = useRef(/** @type {SVGSVGElement | null} */ (null));
  const { box, zoom, setZoom } = useZoom(layout);
  const marks = useMemo(() => marksOf(answer.operators), [answer]);
  if (answer.operators.length === 0) return html`<p class="empty">This program has no operators yet. They come with its first batch.</p>`;
  const first = chosen ?? answer.operators[0].id;
  const hear = (/** @type {KeyboardEvent} */ event) => {
    const next = nextOperator(event.key, first, answer.edges, layout);
    if (next === null) return;
    event.preventDefault();
    setChosen(next);
    /** @type {SVGElement | null | undefined} */ (picture.current?.querySelector(`[data-operator="${next}"]`))?.focus();
  };
  const [width, height] = [layout.width + 2 * MARGIN, layout.height + 2 * MARGIN];
  return html`<div class="operators">
    <div class="row tools">
      <${Zoom} zoom=${zoom} setZoom=${setZoom} />
      <span class="quiet">${answer.operators.length} operators · blue: rows held · orange: time · dashed: back to the next round</span>
      <${SaveMenu} name=${`${answer.name}-operators`} svg=${picture} />
    </div>
    <div class="operators-box scroll" ref=${box}>
      <svg ref=${picture} width=${width * zoom} height=${height * zoom} viewBox=${`${-MARGIN} ${-MARGIN} ${width} ${height}`}
        role="group" aria-label=${`Operators of ${answer.name}`} onKeyDown=${hear}>
        <defs>
          ${["", " near"].map((near) => html`<marker id=${`operator-tip${near.trim()}`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">
            <path class=${`operator-tip${near}`} d="M0 0L8 4L0 8z" />
          </marker>`)}
        </defs>
        ${[...layout.loops].map(([id, at]) => html`<${LoopBox} key=${`loop ${id}`} name=${answer.loops?.find((loop) => loop.id === id)?.name ?? "loop"} at=${at} />`)}
        ${layout.segments.map((segment) => html`<${Edge} segment=${segment} near=${chosen !== null && segment.edges.some((edge) => answer.edges[edge].includes(chosen))} />`)}
        ${answer.operators.map((one) => html`<${OperatorBox} key=${one.id} operator=${one} at=${layout.operators.get(one.id)} most=${marks}
          chosen=${one.id === chosen} reachable=${one.id === first} choose=${setChosen} />`)}
      </svg>
    </div>
    <${Chosen} answer=${answer} chosen=${chosen} choose=${setChosen} />
    <details><summary>As a table</summary><${PlainTable} table=${tableOf(answer)} caption=${`Operators of ${answer.name}`} /></details>
  </div>`;
}

/** As large as fits the width, unless that is too small to read. @param {Layout} layout */
function useZoom(layout) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [zoom, setZoom] = useState(1);
  useLayoutEffect(() => {
    const room = box.current?.clientWidth ?? 0;
    if (room > 0) setZoom(Math.min(1, Math.max(0.5, room / (layout.width + 2 * MARGIN + 4))));
  }, [layout]);
  return { box, zoom, setZoom };
}

/** @param {{ zoom: number, setZoom: (zoom: number) => void }} props */
function Zoom({ zoom, setZoom }) {
  const smaller = ZOOMS.findLast((one) => one < zoom - 0.01);
  const larger = ZOOMS.find((one) => one > zoom + 0.01);
  return html`<span class="pages">
    <button type="button" class="small" aria-label="Smaller" disabled=${smaller === undefined} onClick=${() => smaller && setZoom(smaller)}>−</button>
    <span class="quiet">${Math.round(zoom * 100)}%</span>
    <button type="button" class="small" aria-label="Larger" disabled=${larger === undefined} onClick=${() => larger && setZoom(larger)}>+</button>
  </span>`;
}

/**
 * What bars are measured by, and which operators are the heaviest.
 *
 * @typedef {{ rows: number, seconds: number, total: number, byTime: Map<number, number>, byRows: number | null }} Marks
 * @param {Operator[]} operators @returns {Marks}
 */
function marksOf(operators) {
  const total = operators.reduce((sum, one) => sum + one.seconds, 0);
  const slow = operators.filter((one) => one.seconds > 0 && one.seconds >= SHARE * total).sort((one, other) => other.seconds - one.seconds);
  const rows = Math.max(0, ...operators.map((one) => one.rows));
  return {
    rows,
    seconds: Math.max(0, ...operators.map((one) => one.seconds)),
    total,
    byTime: new Map(slow.slice(0, HEAVY).map((one, at) => [one.id, at + 1])),
    byRows: rows > 0 ? (operators.find((one) => one.rows === rows)?.id ?? null) : null,
  };
}

/** @param {{ name: string, at: Box }} props */
function LoopBox({ name, at }) {
  return html`<g class="operator-loop">
    <rect x=${at.x} y=${at.y} width=${at.width} height=${at.height} rx="8" />
    <text x=${at.x + 8} y=${at.y + 15}>↻ ${name}</text>
  </g>`;
}

/** @param {{ segment: Segment, near: boolean }} props */
function Edge({ segment, near }) {
  const kind = `operator-edge${segment.back ? " back" : ""}${near ? " near" : ""}`;
  return html`<path class=${kind} d=${curve(segment)} marker-end=${segment.last ? `url(#operator-tip${near ? "near" : ""})` : undefined} />`;
}

/** @param {Segment} segment */
function curve({ points }) {
  const [[x, y], ...rest] = points;
  let path = `M${round(x)} ${round(y)}`;
  let [fromX, fromY] = [x, y];
  for (const [toX, toY] of rest) {
    const middle = round((fromY + toY) / 2);
    path += `C${round(fromX)} ${middle} ${round(toX)} ${middle} ${round(toX)} ${round(toY)}`;
    [fromX, fromY] = [toX, toY];
  }
  return path;
}

/** @param {number} value */
const round = (value) => Math.round(value * 10) / 10;

/**
 * @param {{ operator: Operator, at: Box | undefined, most: Marks, chosen: boolean, reachable: boolean, choose: (id: number) => void }} props
 */
function OperatorBox({ operator, at, most, chosen, reachable, choose }) {
  if (!at) return null;
  const place = most.byTime.get(operator.id);
  const mark = place ? ["slowest", "2nd slowest", "3rd slowest"][place - 1] : most.byRows === operator.id ? "most rows" : "";
  const name = operator.name.length > LONGEST_NAME ? `${operator.name.slice(0, LONGEST_NAME - 1)}…` : operator.name;
  const says = `${operator.name}, ${operator.kind}, ${digits(operator.rows)} rows, ${inSeconds(operator.seconds)}${mark ? `, ${mark}` : ""}`;
  const kind = `operator${place ? " slow" : ""}${chosen ? " chosen" : ""}`;
  return html`<g class=${kind} data-operator=${operator.id} role="button" aria-label=${says} aria-pressed=${chosen} tabindex=${reachable ? 0 : -1}
    transform=${`translate(${round(at.x)} ${round(at.y)})`} onClick=${() => choose(operator.id)} onFocus=${() => choose(operator.id)}>
    <title>${says}</title>
    <rect class="operator-box" width=${at.width} height=${at.height} rx="6" />
    <text class="operator-name" x="9" y="18" unicode-bidi="plaintext">${name}</text>
    <text class="operator-kind" x="9" y="34">${operator.kind}</text>
    ${mark && html`<text class="operator-mark" x=${at.width - 9} y="34" text-anchor="end">${place ? "▲ " : ""}${mark}</text>`}
    ${!isIdle(operator) && html`<${Bar} at=${46} share=${most.rows ? operator.rows / most.rows : 0} kind="rows" text=${digits(operator.rows)} width=${at.width} /><${Bar} at=${64} share=${most.seconds ? operator.seconds / most.seconds : 0} kind="time" text=${inSeconds(operator.seconds)} width=${at.width} />`}
  </g>`;
}

/** @param {{ at: number, share: number, kind: "rows" | "time", text: string, width: number }} props */
function Bar({ at, share, kind, text, width }) {
  const room = width - 18 - 36 - 62;
  return html`
    <text class="operator-label" x="9" y=${at + 9}>${kind}</text>
    <rect class="operator-room" x="45" y=${at} width=${room} height="10" />
    <rect class=${`operator-${kind}`} x="45" y=${at} width=${share > 0 ? Math.max(1, round(room * share)) : 0} height="10" />
    <text class="operator-label" x=${width - 9} y=${at + 9} text-anchor="end">${text}</text>
  `;
}

/** What is chosen, in words, with links along its edges. @param {{ answer: Operators, chosen: number | null, choose: (id: number) => void }} props */
function Chosen({ answer, chosen, choose }) {
  const one = answer.operators.find((operator) => operator.id === chosen);
  if (!one) return html`<p class="quiet">Choose an operator to see what it is; arrow keys go on along the edges.</p>`;
  const total = answer.operators.reduce((sum, operator) => sum + operator.seconds, 0);
  const named = (/** @type {number} */ id) => answer.operators.find((operator) => operator.id === id);
  const beside = (/** @type {number} */ side) => answer.edges.filter((edge) => edge[1 - side] === chosen).map((edge) => named(edge[side]));
  const buttons = (/** @type {string} */ label, /** @type {(Operator | undefined)[]} */ others) =>
    others.length > 0 && html`<span class="quiet">${label}</span> ${others.map((other) => other && html`<button type="button" class="small" onClick=${() => choose(other.id)} dir="auto">${other.name}</button> `)}`;
  return html`<div class="panel">
    <p><strong dir="auto">${one.name}</strong> <span class="quiet">${one.kind}</span> · ${digits(one.rows)} rows held · ${inSeconds(one.seconds)}${total > 0 && ` (${Math.round((100 * one.seconds) / total)}% of the time)`}${one.came !== undefined && html` · ${digits(one.came)} rows came, ${digits(one.sent ?? 0)} were sent, in ${digits(one.activations ?? 0)} activations`}</p>
    <p>${buttons("from", beside(0))} ${buttons("to", beside(1))}</p>
  </div>`;
}

/**
 * Where a key leads: along edges, or to what stands beside.
 *
 * @param {string} key @param {number} from @param {[number, number][]} edges @param {Layout} layout @returns {number | null}
 */
function nextOperator(key, from, edges, layout) {
  const here = layout.operators.get(from);
  if (!here) return null;
  const at = (/** @type {number} */ id) => /** @type {Box} */ (layout.operators.get(id));
  if (key === "ArrowDown" || key === "ArrowUp") {
    const side = key === "ArrowDown" ? 1 : 0;
    const sign = side ? 1 : -1;
    const next = edges.filter((edge) => edge[1 - side] === from && layout.operators.has(edge[side])).map((edge) => edge[side]);
    const ahead = next.filter((id) => (at(id).y - here.y) * sign > 0);
    return (ahead.length ? ahead : next).sort((one, other) => Math.abs(at(one).x - here.x) - Math.abs(at(other).x - here.x))[0] ?? null;
  }
  if (key !== "ArrowLeft" && key !== "ArrowRight") return null;
  const sign = key === "ArrowRight" ? 1 : -1;
  const beside = [...layout.operators].filter(([, box]) => (box.x - here.x) * sign > 0);
  const far = (/** @type {Box} */ box) => Math.abs(box.x - here.x) + 3 * Math.abs(box.y - here.y);
  return beside.sort(([, one], [, other]) => far(one) - far(other))[0]?.[0] ?? null;
}

/** @param {Operators} answer @returns {import("../types.d.ts").Table} */
function tableOf({ operators, loops }) {
  const column = (/** @type {string} */ name, /** @type {"number" | "text"} */ kind, /** @type {(one: Operator) => string | number | null} */ value) => ({ name, kind, values: operators.map(value) });
  return {
    columns: [
      column("operator", "text", (one) => one.name),
      column("kind", "text", (one) => one.kind),
      column("rows held", "number", (one) => one.rows),
      column("seconds", "number", (one) => one.seconds),
      ...(operators.some((one) => one.came !== undefined)
        ? [column("rows in", "number", (one) => one.came ?? null), column("rows out", "number", (one) => one.sent ?? null), column("activations", "number", (one) => one.activations ?? null)]
        : []),
      column("loop", "text", (one) => (one.loop === null ? null : (loops?.find((loop) => loop.id === one.loop)?.name ?? `loop ${one.loop}`))),
    ],
    rows: operators.length,
    start: 0,
  };
}
