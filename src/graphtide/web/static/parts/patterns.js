/**
 * Patterns of shapes, which say without colour what colours say; for a canvas and for SVG.
 *
 * @import { ColourName } from "gt/parts/theme.js"
 * @typedef {"solid" | "stripes" | "back" | "dots" | "cross" | "hollow"} Pattern
 */

/** The order in which things without a meaning of their own take colours. */
export const CYCLE = /** @type {ColourName[]} */ (["blue", "orange", "green", "pink", "red", "yellow", "grey"]);
export const PATTERNS = /** @type {Pattern[]} */ (["solid", "stripes", "dots", "back", "cross", "hollow"]);
const TILE = 6;

/** Lines of a tile of a pattern, each as its ends. @type {Record<string, [number, number, number, number][]>} */
const STROKES = {
  stripes: [[-1, TILE + 1, TILE + 1, -1], [-1, 1, 1, -1], [TILE - 1, TILE + 1, TILE + 1, TILE - 1]],
  back: [[-1, -1, TILE + 1, TILE + 1], [-1, TILE - 1, 1, TILE + 1], [TILE - 1, -1, TILE + 1, 1]],
  cross: [[0, TILE / 2, TILE, TILE / 2], [TILE / 2, 0, TILE / 2, TILE]],
};

/**
 * What fills a shape on a canvas.
 *
 * @param {CanvasRenderingContext2D} context @param {string} colour @param {Pattern} pattern @param {string} paper @param {number} scale
 */
export function canvasFill(context, colour, pattern, paper, scale) {
  if (pattern === "solid") return colour;
  const tile = document.createElement("canvas");
  tile.width = tile.height = Math.round(TILE * scale);
  const pen = tile.getContext("2d");
  if (!pen || pattern === "hollow") return paper;
  pen.scale(tile.width / TILE, tile.height / TILE);
  pen.fillStyle = paper;
  pen.fillRect(0, 0, TILE, TILE);
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = 2.2;
  pen.beginPath();
  for (const [left, top, right, bottom] of STROKES[pattern] ?? []) {
    pen.moveTo(left, top);
    pen.lineTo(right, bottom);
  }
  pen.stroke();
  if (pattern === "dots") pen.fillRect(1, 1, 3, 3);
  return context.createPattern(tile, "repeat") ?? colour;
}

/** A pattern as an element of `<defs>`. @param {string} id @param {string} colour @param {Pattern} pattern @param {string} paper */
export function svgPattern(id, colour, pattern, paper) {
  const lines = (STROKES[pattern] ?? []).map(([left, top, right, bottom]) => `M${left} ${top}L${right} ${bottom}`).join("");
  const dot = pattern === "dots" ? `<rect x="1" y="1" width="3" height="3" fill="${colour}"/>` : "";
  const back = `<rect width="${TILE}" height="${TILE}" fill="${pattern === "solid" ? colour : paper}"/>`;
  return `<pattern id="${id}" width="${TILE}" height="${TILE}" patternUnits="userSpaceOnUse">${back}<path d="${lines}" stroke="${colour}" stroke-width="2.2"/>${dot}</pattern>`;
}
