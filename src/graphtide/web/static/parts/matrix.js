/**
 * How like the views of a collection are: a square for every two of them, before and after ordering, side by side.
 *
 * The bluer, the more alike. Both squares have one scale, from the least of the two to the same. What is pointed at,
 * or walked to with the arrow keys, is named below, with its share in words.
 *
 * @import { Similarity } from "../types.d.ts"
 */

import { html, useEffect, useMemo, useRef, useState } from "gt/vendor/preact.js";
import { shownAnswer, useAnswer } from "gt/answers.js";
import { PlainTable } from "gt/parts/table.js";
import { SaveMenu } from "gt/parts/save.js";
import { useColours } from "gt/parts/theme.js";
import { pathOf } from "gt/source.js";

/** Both orders of a collection's views. @param {{ name: string }} props */
export function SimilarityPair({ name }) {
  const given = useAnswer(pathOf(["collection", name, "similarity"], { order: "given" }));
  const planned = useAnswer(pathOf(["collection", name, "similarity"], { order: "planned" }));
  const least = useMemo(() => Math.min(leastOf(given.answer), leastOf(planned.answer)), [given.answer, planned.answer]);
  const both = [
    { asked: given, title: "In the order given", file: `${name}-similarity-given` },
    { asked: planned, title: "In the order of the plan", file: `${name}-similarity-planned` },
  ];
  return html`<div class="columns">${both.map(
    ({ asked, title, file }) => html`<section class="panel" key=${file}>${shownAnswer(asked, (answer) => html`<${Matrix} similarity=${answer} title=${title} name=${file} least=${least} />`)}</section>`,
  )}</div>`;
}

/** The least byte of a matrix, which white stands for. @param {unknown} answer */
function leastOf(answer) {
  return answer ? cellsOf(/** @type {Similarity} */ (answer)).reduce((least, cell) => Math.min(least, cell), 254) : 254;
}

/** @param {{ similarity: Similarity, title: string, name: string, least?: number }} props  `least`: the byte that white stands for */
export function Matrix({ similarity, title, name, least = 0 }) {
  const { size, names } = similarity;
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const shades = useColours();
  const cells = useMemo(() => cellsOf(similarity), [similarity]);
  const [at, setAt] = useState(/** @type {{ row: number, column: number } | null} */ (null));
  const [side, setSide] = useState(0);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const sizes = new ResizeObserver(() => setSide(element.clientWidth));
    sizes.observe(element);
    return () => sizes.disconnect();
  }, []);
  const image = useMemo(() => imageOf(cells, size, least, shades), [cells, size, least, shades]);
  useEffect(() => {
    if (canvas.current && side) draw(canvas.current, image, { size, side, at, ink: shades.orange });
  }, [image, side, at, shades]);
  /** @param {PointerEvent} event */
  const point = (event) => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box || !size) return;
    const place = (/** @type {number} */ share) => Math.max(0, Math.min(size - 1, Math.floor(share * size)));
    setAt({ row: place((event.clientY - box.top) / box.height), column: place((event.clientX - box.left) / box.width) });
  };
  /** @param {KeyboardEvent} event */
  const walk = (event) => {
    const moves = /** @type {Record<string, number[]>} */ ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] });
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const from = at ?? { row: 0, column: 0 };
    const step = event.shiftKey ? 10 : 1;
    const place = (/** @type {number} */ wanted) => Math.max(0, Math.min(size - 1, wanted));
    setAt({ row: place(from.row + move[0] * step), column: place(from.column + move[1] * step) });
  };
  const neighbours = useMemo(() => neighbourTable(cells, size, names), [cells, size, names]);
  if (size === 0) return html`<h2>${title}</h2><p class="empty">There are no views.</p>`;
  return html`
    <div class="row tools"><h2>${title}</h2><span class="push"><${SaveMenu} name=${name} canvas=${() => drawn(image, size)} /></span></div>
    <p class="row quiet"><span>A view and the next share ${asShare(neighbours.mean)}, on average.</span>
      <span class="scale" aria-hidden="true">${Math.floor((least / 255) * 100)}%<span class="shades"></span>100%</span></p>
    <canvas class="matrix" ref=${canvas} tabindex="0" role="img" aria-label=${`${title}: how like ${size} views are`}
      onPointerMove=${point} onPointerDown=${point} onPointerLeave=${() => setAt(null)} onKeyDown=${walk}></canvas>
    <p class="reading" role="status">${at ? html`<bdi>${names[at.row]}</bdi> and <bdi>${names[at.column]}</bdi> share ${asShare(cells[at.row * size + at.column] / 255)}` : html`<span class="quiet">Point at two views, or use the arrow keys.</span>`}</p>
    <div class="hidden"><${PlainTable} table=${neighbours.table} caption=${`${title}: what each view shares with the next`} /></div>
  `;
}

/** @param {number} share */
function asShare(share) {
  return `${(share * 100).toFixed(share > 0.995 && share < 1 ? 1 : 0)}% of their edges`;
}

/** @param {Similarity} similarity */
function cellsOf({ cells }) {
  const bytes = atob(cells);
  return Uint8Array.from(bytes, (letter) => letter.charCodeAt(0));
}

/** A pixel for each two views, between the colour of the paper and blue. @param {Uint8Array} cells @param {number} size @param {number} least @param {import("./theme.js").Colours} shades */
function imageOf(cells, size, least, shades) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = Math.max(1, size);
  const pen = canvas.getContext("2d");
  if (!pen || size === 0) return canvas;
  const data = pen.createImageData(size, size);
  const [paper, full] = [channels(shades.paper), channels(shades.blue)];
  for (let at = 0; at < size * size; at += 1) {
    const share = (cells[at] - least) / (255 - least);
    for (let channel = 0; channel < 3; channel += 1) data.data[at * 4 + channel] = paper[channel] + (full[channel] - paper[channel]) * share;
    data.data[at * 4 + 3] = 255;
  }
  pen.putImageData(data, 0, 0);
  return canvas;
}

/** @param {string} colour */
function channels(colour) {
  return (colour.match(/\d+(\.\d+)?/g) ?? []).slice(0, 3).map(Number);
}

/** @param {HTMLCanvasElement} canvas @param {HTMLCanvasElement} image @param {{ size: number, side: number, at: { row: number, column: number } | null, ink: string }} how */
function draw(canvas, image, { size, side, at, ink }) {
  const scale = devicePixelRatio || 1;
  canvas.width = canvas.height = Math.round(side * scale);
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.imageSmoothingEnabled = size > canvas.width;
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  if (!at) return;
  const each = canvas.width / size;
  pen.strokeStyle = ink;
  pen.lineWidth = scale;
  pen.strokeRect(0, at.row * each, canvas.width, each);
  pen.strokeRect(at.column * each, 0, each, canvas.width);
}

/** The picture to be saved: each square at least 2 pixels wide. @param {HTMLCanvasElement} image @param {number} size */
function drawn(image, size) {
  const canvas = document.createElement("canvas");
  const each = Math.max(2, Math.ceil(1000 / size));
  canvas.width = canvas.height = size * each;
  const pen = canvas.getContext("2d");
  if (!pen) return null;
  pen.imageSmoothingEnabled = false;
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/** What each view shares with the next, and the mean of it. @param {Uint8Array} cells @param {number} size @param {string[]} names */
function neighbourTable(cells, size, names) {
  const shares = Array.from({ length: Math.max(0, size - 1) }, (_, at) => cells[at * size + at + 1] / 255);
  const mean = shares.length ? shares.reduce((sum, share) => sum + share, 0) / shares.length : 1;
  /** @type {import("../types.d.ts").Table} */
  const table = {
    columns: [
      { name: "view", kind: "text", values: names.slice(0, shares.length) },
      { name: "next", kind: "text", values: names.slice(1, shares.length + 1) },
      { name: "share", kind: "number", values: shares.map((share) => Number(share.toFixed(3))) },
    ],
    rows: shares.length,
    start: 0,
  };
  return { mean, table };
}
