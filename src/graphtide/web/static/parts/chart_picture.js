/**
 * A plot as a picture to save: SVG made from the same data, with what is seen just now.
 *
 * @import { Plot } from "gt/parts/plot.js"
 */

import { svgPattern } from "gt/parts/patterns.js";
import { colourOf } from "gt/parts/plot.js";

const [HEAD, LINE] = [26, 18];
const FONT = "system-ui, sans-serif";

/** The plot as an element that is on no page. @param {Plot} plot */
export function pictureOf(plot) {
  const made = new DOMParser().parseFromString(svgOf(plot), "image/svg+xml").documentElement;
  return /** @type {SVGSVGElement} */ (/** @type {unknown} */ (document.importNode(made, true)));
}

/** @param {Plot} plot */
function svgOf(plot) {
  const { shown, colours, chart } = plot;
  const legend = legendOf(plot);
  const top = HEAD + (legend.length ? LINE : 0);
  const parts = [`<rect width="100%" height="100%" fill="${colours.paper}"/>`, text(8, 18, shown.title, colours.ink, `font-weight="600" font-size="14"`)];
  let left = 8;
  for (const item of legend) {
    parts.push(`<rect x="${left}" y="${HEAD + 2}" width="12" height="10" fill="${item.fill}" stroke="${item.colour}"/>`, text(left + 17, HEAD + 11, item.label, colours.quiet));
    left += 32 + item.label.length * 6.6;
  }
  parts.push(`<g transform="translate(0 ${top})">`, ...axesOf(plot), `<g clip-path="url(#plot)">`, ...shapesOf(plot), "</g></g>");
  const defs = [clipOf(plot), ...shown.groups.map((group) => svgPattern(`fill-${place(plot, group.key)}`, colourOf(colours, group.colour), group.pattern, colours.paper))];
  const [width, height] = [chart.width, chart.height + top];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONT}" font-size="12"><defs>${defs.join("")}</defs>${parts.join("\n")}</svg>\n`;
}

/** @param {Plot} plot @param {string} key */
function place(plot, key) {
  return plot.shown.groups.findIndex((group) => group.key === key);
}

/** @param {Plot} plot */
function legendOf(plot) {
  const { shown, colours } = plot;
  const groups = shown.groups.map((group, number) => ({ label: group.label, fill: `url(#fill-${number})`, colour: colourOf(colours, group.colour) }));
  const curves = shown.bars || shown.curves.length > 1 ? shown.curves.map((curve) => ({ label: curve.label, fill: colourOf(colours, curve.colour), colour: colourOf(colours, curve.colour) })) : [];
  return [...groups, ...curves];
}

/** @param {Plot} plot */
function clipOf(plot) {
  const { left, top, width, height } = plot.box();
  return `<clipPath id="plot"><rect x="${left - 4}" y="${top - 4}" width="${width + 8}" height="${height + 8}"/></clipPath>`;
}

/** @param {Plot} plot */
function axesOf(plot) {
  const { colours, ticks } = plot;
  const { left, top, width, height } = plot.box();
  const bottom = top + height;
  const across = plot.across();
  const parts = plot.strip().map((one) => `<rect x="${n(one.x)}" y="${n(one.y)}" width="${n(one.width)}" height="${n(one.height)}" fill="${colourOf(colours, one.group)}"/>`);
  for (const tick of ticks.y) {
    const y = plot.upTo(tick.x);
    if (y < top - 0.5 || y > bottom + 0.5) continue;
    parts.push(`<path d="M${left} ${n(y)}h${n(width)}" stroke="${colours.line}"/>`, text(left - 8, y + 4, tick.label, colours.quiet, `text-anchor="end"`));
  }
  for (const tick of ticks.x) {
    const x = across(tick.x);
    parts.push(`<path d="M${n(x)} ${n(bottom)}v4" stroke="${colours.line}"/>`, text(x, bottom + 18, tick.label, colours.quiet, `text-anchor="middle"`));
  }
  const x = markOf(plot);
  if (x !== null) parts.push(`<path d="M${n(x)} ${n(top)}v${n(height)}" stroke="${colours.accent}" stroke-width="1.5"/>`);
  return parts;
}

/** @param {Plot} plot */
function markOf(plot) {
  const x = plot.shown.axis.xs[plot.at];
  return x === undefined || plot.mark.hidden ? null : plot.across()(x);
}

/** @param {Plot} plot */
function shapesOf(plot) {
  const { shown, colours } = plot;
  const rect = (/** @type {import("gt/parts/plot.js").Rect} */ one, /** @type {string} */ fill, /** @type {string} */ more) =>
    `<rect x="${n(one.x)}" y="${n(one.y)}" width="${n(one.width)}" height="${n(one.height)}" fill="${fill}"${more}/>`;
  const bars = plot.rects().map((one) => {
    const number = place(plot, one.group);
    const colour = colourOf(colours, shown.groups[number]?.colour ?? "grey");
    return rect(one, number < 0 || one.width < 5 ? colour : `url(#fill-${number})`, one.width < 5 ? "" : ` stroke="${colour}"`);
  });
  const marks = shown.bars ? plot.marks().map((one) => rect(one, colourOf(colours, one.group), "")) : [];
  const gaps = plot.gaps().map((gap) => text(gap.x, gap.y, gap.sign, colours.red, `text-anchor="middle"`));
  const signs = plot.signs().map((one) => text(one.x, one.y, one.sign, colours.ink, `text-anchor="middle"`));
  return [...bars, ...marks, ...(shown.bars ? [] : shown.curves.map((_, number) => curveOf(plot, number))), ...gaps, ...signs];
}

/** A curve as a path; of many views in a pixel the least and the greatest are left. @param {Plot} plot @param {number} number */
function curveOf(plot, number) {
  const curve = plot.shown.curves[number];
  const heights = plot.heights[number];
  const { xs } = plot.shown.axis;
  const { min = 0, max = 0 } = /** @type {{ min: number, max: number }} */ (plot.chart.scales.x);
  const across = plot.across();
  const colour = colourOf(plot.colours, curve.colour);
  const [pieces, dots] = [/** @type {string[]} */ ([]), /** @type {string[]} */ ([])];
  let [pen, column, low, high] = ["M", NaN, Infinity, -Infinity];
  const flush = () => {
    if (low > high) return;
    pieces.push(`${pen}${n(column)} ${n(low)}`, ...(high > low ? [`L${n(column)} ${n(high)}`] : []));
    [pen, low, high] = ["L", Infinity, -Infinity];
  };
  const many = xs.length > 2 * plot.box().width;
  for (let at = 0; at < xs.length; at += 1) {
    if (xs[at] < min || xs[at] > max) continue;
    const height = heights[at];
    const x = many ? Math.round(across(xs[at])) : across(xs[at]);
    if (x !== column || height === null) flush();
    column = x;
    if (height === null) {
      pen = "M";
      continue;
    }
    const y = plot.upTo(height);
    [low, high] = [Math.min(low, y), Math.max(high, y)];
    if (xs.length <= 80) dots.push(`<circle cx="${n(x)}" cy="${n(y)}" r="2.5" fill="${colour}"/>`);
  }
  flush();
  const dash = curve.dash?.length ? ` stroke-dasharray="${curve.dash.join(" ")}"` : "";
  return `<path d="${pieces.join("")}" fill="none" stroke="${colour}" stroke-width="1.6"${dash}/>${dots.join("")}`;
}

/** @param {number} value */
function n(value) {
  return String(Math.round(value * 100) / 100);
}

/** @param {number} x @param {number} y @param {string} said @param {string} colour @param {string} [more] */
export function text(x, y, said, colour, more = "") {
  return `<text x="${n(x)}" y="${n(y)}" fill="${colour}" ${more}>${escaped(said)}</text>`;
}

/** Text as it stands in XML, which has no control characters. @param {string} said */
export function escaped(said) {
  // eslint-disable-next-line no-control-regex
  return said.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "").replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
