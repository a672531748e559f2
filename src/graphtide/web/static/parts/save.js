/**
 * Saving what is shown: pictures as SVG or PNG, and texts.
 *
 * A picture looks in the file as it does on the page: colours and fonts that the style sheet gives are written into
 * its elements, and the page's background stands behind it. Files are made in the browser, so that this
 * works in a saved file and in a notebook too.
 */

import { html, useState } from "gt/vendor/preact.js";

/**
 * An element, a ref of one, or a function that finds or draws one when it is needed.
 *
 * @template T
 * @typedef {T | { current: T | null } | (() => T | null) | null | undefined} Held
 */

/** What the style sheet says about a picture's elements and a file must say by itself; children inherit it. */
const INHERITED = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-opacity", "paint-order",
  "font-family", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline", "visibility",
];
/** The same that children do not inherit, each with what it is where nobody says anything. */
const OWN = { opacity: "1", display: "inline", "unicode-bidi": "normal" };
/** Attributes that mean something on the page alone. */
const FOREIGN = ["class", "style", "tabindex", "role", "aria-label", "aria-level", "aria-selected", "aria-hidden"];
const SCALE = 2;

/** @param {string} name @param {string} text @param {string} [type] */
export function saveText(name, text, type = "text/plain") {
  saveBlob(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

/**
 * Save a picture as PNG. One that is on the page is saved at double its size there; one that was
 * drawn for the purpose as it is. Several are layers, the lowest first.
 *
 * @param {string} name @param {HTMLCanvasElement | HTMLCanvasElement[]} canvas
 */
export async function saveCanvas(name, canvas) {
  const layers = Array.isArray(canvas) ? canvas : [canvas];
  const lowest = layers[0];
  if (!lowest) return;
  const width = lowest.isConnected ? lowest.clientWidth * SCALE : lowest.width;
  const height = lowest.isConnected ? lowest.clientHeight * SCALE : lowest.height;
  await savePng(name, width, height, (pen) => {
    for (const layer of layers) pen.drawImage(layer, 0, 0, width, height);
  });
}

/** Save a picture as SVG. @param {string} name @param {SVGSVGElement} svg */
export function saveSvg(name, svg) {
  saveText(ending(name, "svg"), svgText(svg), "image/svg+xml");
}

/** Save a picture that is SVG on the page as PNG. @param {string} name @param {SVGSVGElement} svg */
export async function saveSvgAsPng(name, svg) {
  const { width, height } = sizeOf(svg);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(svg))}`;
  await image.decode();
  await savePng(name, width * SCALE, height * SCALE, (pen) => {
    pen.drawImage(image, 0, 0, width * SCALE, height * SCALE);
  });
}

/**
 * Buttons that save a picture: as SVG and PNG what is SVG, as PNG what is a canvas.
 *
 * @param {{ name: string, svg?: Held<SVGSVGElement>, canvas?: Held<HTMLCanvasElement | HTMLCanvasElement[]> }} props
 */
export function SaveMenu({ name, svg, canvas }) {
  const [failed, setFailed] = useState("");
  /** @param {() => void | Promise<void>} save */
  const attempt = async (save) => {
    try {
      await save();
      setFailed("");
    } catch (error) {
      setFailed(`the picture cannot be saved: ${error instanceof Error ? error.message : error}`);
    }
  };
  /** @param {(picture: SVGSVGElement) => void | Promise<void>} save */
  const withSvg = (save) => () => attempt(() => save(held(svg)));
  const asPng = svg
    ? withSvg((picture) => saveSvgAsPng(name, picture))
    : () => attempt(() => saveCanvas(name, held(canvas)));
  return html`<span class="save" role="group" aria-label=${`Save ${name}`}>
    <span class="quiet" aria-hidden="true">Save</span>
    ${svg && html`<button type="button" class="small" title="Save as SVG" onClick=${withSvg((picture) => saveSvg(name, picture))}>SVG</button>`}
    <button type="button" class="small" title="Save as PNG" onClick=${asPng}>PNG</button>
    ${failed && html`<span role="alert">${failed}</span>`}
  </span>`;
}

/** @template T @param {Held<T>} thing @returns {T} */
function held(thing) {
  let found = /** @type {any} */ (thing);
  if (typeof found === "function") found = found();
  if (found && typeof found === "object" && "current" in found) found = found.current;
  if (!found) throw new Error("it is not drawn yet");
  return found;
}

/** The text of an SVG file that looks as the element does on the page. @param {SVGSVGElement} svg */
export function svgText(svg) {
  const copy = /** @type {SVGSVGElement} */ (svg.cloneNode(true));
  const { width, height } = sizeOf(svg);
  // One that was drawn for the purpose says all by itself, and has no computed styles.
  if (svg.isConnected) writeStyles(svg, copy);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const behind = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const box = svg.viewBox.baseVal;
  const corner = box && box.width ? [box.x, box.y, box.width, box.height] : [0, 0, width, height];
  for (const [at, key] of ["x", "y", "width", "height"].entries()) behind.setAttribute(key, String(corner[at]));
  behind.setAttribute("fill", background());
  copy.prepend(behind);
  return new XMLSerializer().serializeToString(copy);
}

/** @param {Element} shown @param {Element} copy @param {CSSStyleDeclaration | null} [above]  the style of the parent */
function writeStyles(shown, copy, above = null) {
  const style = getComputedStyle(shown);
  for (const name of INHERITED) {
    const value = style.getPropertyValue(name);
    if (value && value !== above?.getPropertyValue(name)) copy.setAttribute(name, value);
    else if (above) copy.removeAttribute(name);
  }
  for (const [name, usual] of Object.entries(OWN)) {
    const value = style.getPropertyValue(name);
    if (value && value !== usual && above) copy.setAttribute(name, value);
  }
  for (const name of FOREIGN) copy.removeAttribute(name);
  for (let at = 0; at < shown.children.length; at += 1) writeStyles(shown.children[at], copy.children[at], style);
}

/** The size on the page; of one that was drawn for the purpose, the size that it says. @param {SVGSVGElement} svg */
function sizeOf(svg) {
  const said = { width: Number.parseFloat(svg.getAttribute("width") ?? "0"), height: Number.parseFloat(svg.getAttribute("height") ?? "0") };
  const { width, height } = svg.isConnected ? svg.getBoundingClientRect() : said;
  return { width: Math.max(1, Math.round(width)), height: Math.max(1, Math.round(height)) };
}

/**
 * @param {string} name @param {number} width @param {number} height
 * @param {(pen: CanvasRenderingContext2D) => void} draw
 */
async function savePng(name, width, height, draw) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("this browser draws nothing");
  pen.fillStyle = background();
  pen.fillRect(0, 0, width, height);
  draw(pen);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!(blob instanceof Blob)) throw new Error("it is too large");
  saveBlob(ending(name, "png"), blob);
}

/** The colour behind everything, as it is shown. */
function background() {
  return getComputedStyle(document.body).backgroundColor;
}

/** @param {string} name @param {string} kind */
function ending(name, kind) {
  return name.endsWith(`.${kind}`) ? name : `${name}.${kind}`;
}

/** @param {string} name @param {Blob} blob */
function saveBlob(name, blob) {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name.replace(/[/\\:*?"<>|\u0000-\u001f]+/g, "-");
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
