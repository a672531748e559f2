/**
 * One plot of uPlot: its axes, its cursor with exact values, the mark of the view that is looked at.
 *
 * A plot is made anew when what it shows changes, or when the page turns dark. Moving the mark moves one element,
 * so that a slider over 100,000 views stays fluent.
 *
 * @import { Cell } from "../types.d.ts"
 * @import { Axis, Tick } from "gt/parts/axis.js"
 * @import { Colours } from "gt/parts/theme.js"
 * @import { Pattern } from "gt/parts/patterns.js"
 * @typedef {{ label: string, values: Cell[], colour: string, dash?: number[] }} Curve
 * @typedef {{ key: string, label: string, colour: string, pattern: Pattern }} Group
 * @typedef {{ value: Cell, group: string, note?: string, sign?: string }} Bar
 * @typedef {{ title: string, axis: Axis, curves: Curve[], bars: Bar[] | null, groups: Group[], unit: string, log: boolean }} Shown
 * @typedef {{ x: number, y: number, width: number, height: number, group: string }} Rect
 */

import { uPlot } from "gt/vendor/uplot.js";
import { exactText, gapOf, heightOf, powersOfTen, shortNumber, ticksOf } from "gt/parts/axis.js";
import { canvasFill } from "gt/parts/patterns.js";
import { colours } from "gt/parts/theme.js";

const [LEFT, BELOW, CLICK, NARROWEST, ROOM_OF_SIGN, STRIP] = [58, 26, 4, 2.5, 7, 6];
const FONT = "12px system-ui, sans-serif";

export class Plot {
  /**
   * @param {HTMLElement} home @param {Shown} shown
   * @param {{ height: number, sync?: string, onPick: (place: number) => void }} how
   */
  constructor(home, shown, how) {
    this.home = home;
    this.shown = shown;
    this.how = how;
    this.colours = colours();
    this.at = -1;
    /** @type {{ x: Tick[], y: Tick[] }} What stands at the axes just now, for pictures. */
    this.ticks = { x: [], y: [] };
    this.heights = heightsOf(shown);
    this.mark = element("div", "chart-mark");
    this.tip = element("div", "chart-tip");
    this.tip.hidden = true;
    this.chart = new uPlot(this.options(), /** @type {any} */ ([shown.axis.xs, ...this.heights]), home);
    this.chart.over.append(this.mark, this.tip);
    this.listen();
    this.watcher = new ResizeObserver(() => this.fit());
    this.watcher.observe(home);
  }

  destroy() {
    this.watcher.disconnect();
    this.chart.destroy();
  }

  fit() {
    const width = Math.floor(this.home.clientWidth);
    if (width > 0 && width !== this.chart.width) this.chart.setSize({ width, height: this.how.height });
  }

  /** @param {number} place  the view that is looked at; -1 marks none */
  moveMark(place) {
    this.at = place;
    const x = this.shown.axis.xs[place];
    const { min, max } = this.chart.scales.x;
    const out = x === undefined || min == null || max == null || x < min || x > max;
    this.mark.hidden = out;
    if (!out) this.mark.style.transform = `translateX(${this.chart.valToPos(x, "x")}px)`;
  }

  /** @returns {uPlot.Options} */
  options() {
    const { shown, colours } = this;
    const line = { stroke: colours.line, width: 1 };
    const shared = { stroke: colours.quiet, font: FONT, grid: line, ticks: { ...line, size: 4 } };
    return {
      width: Math.max(120, Math.floor(this.home.clientWidth)),
      height: this.how.height,
      legend: { show: false },
      padding: [8 + STRIP * this.strips(), 10, 0, 0],
      scales: { x: { time: false, range: (_, low, high) => this.widthOf(low, high) }, y: this.upright() },
      axes: [
        { ...shared, size: BELOW, gap: 3, grid: { show: false }, splits: (chart, _, low, high) => this.below(chart, low, high), values: (_, places) => this.namesOf(places) },
        { ...shared, size: LEFT, gap: 4, space: 24, ...(shown.log ? { splits: (_, __, low, high) => powersOfTen(low, high) } : {}), values: (_, heights) => this.numbersOf(heights) },
      ],
      cursor: { y: false, drag: { x: true, y: false }, points: { show: !shown.bars }, ...(this.how.sync ? { sync: { key: this.how.sync } } : {}) },
      series: [{}, ...this.series()],
      hooks: { draw: [() => this.paint()], setCursor: [() => this.tell()], setScale: [() => this.moveMark(this.at)], setSize: [() => this.moveMark(this.at)] },
    };
  }

  /** @returns {uPlot.Scale} */
  upright() {
    const { bars, log } = this.shown;
    if (log) return { distr: 3, range: (_, low, high) => (low == null || high == null ? [1, 10] : [low / 1.6, high * 1.6]) };
    if (!bars) return { range: (_, low, high) => heightRange(low, high) };
    return { range: (_, low, high) => [Math.min(0, low ?? 0), Math.max(0, high ?? 0) * 1.05 || 1] };
  }

  /** Where the x axis begins and ends: bars have half a place on both sides. @param {number} low @param {number} high @returns {[number, number]} */
  widthOf(low, high) {
    if (low == null) return [0, 1];
    const more = this.shown.bars || high === low ? placeWidth(this.shown.axis) / 2 : 0;
    return [low - more, high + more];
  }

  /** @returns {uPlot.Series[]} */
  series() {
    const { shown, colours } = this;
    const few = shown.axis.xs.length <= 80;
    const curves = shown.curves.map((curve) => ({
      label: curve.label,
      stroke: colourOf(colours, curve.colour),
      width: shown.bars ? 0 : 1.6,
      dash: curve.dash,
      spanGaps: false,
      ...(shown.bars ? { paths: () => null, points: { show: false } } : { points: few ? { show: true, size: 5, fill: colourOf(colours, curve.colour) } : {} }),
    }));
    const bars = shown.bars ? [{ label: shown.title, paths: () => null, points: { show: false } }] : [];
    return /** @type {uPlot.Series[]} */ ([...bars, ...curves]);
  }

  /** @param {uPlot} chart @param {number} low @param {number} high */
  below(chart, low, high) {
    const ratio = devicePixelRatio || 1;
    this.ticks.x = ticksOf(this.shown.axis, low, high, chart.bbox.width / ratio);
    return this.ticks.x.map((tick) => tick.x);
  }

  /** @param {number[]} places */
  namesOf(places) {
    const labels = new Map(this.ticks.x.map((tick) => [tick.x, tick.label]));
    return places.map((place) => labels.get(place) ?? "");
  }

  /** @param {(number | null)[]} heights */
  numbersOf(heights) {
    const labels = heights.map((height) => (height === null ? "" : shortNumber(height, this.shown.unit)));
    this.ticks.y = heights.flatMap((height, row) => (height === null ? [] : [{ x: height, label: labels[row] }]));
    return labels;
  }

  /** What uPlot does not draw: bars, their marks, and gaps. */
  paint() {
    const { chart, shown, colours } = this;
    const ratio = devicePixelRatio || 1;
    const pen = chart.ctx;
    pen.save();
    pen.scale(ratio, ratio);
    const groups = new Map(shown.groups.map((group) => [group.key, group]));
    const fills = new Map(shown.groups.map((group) => [group.key, canvasFill(pen, colourOf(colours, group.colour), group.pattern, colours.paper, 1)]));
    for (const rect of this.rects()) {
      pen.fillStyle = rect.width < 5 ? colourOf(colours, groups.get(rect.group)?.colour ?? "grey") : (fills.get(rect.group) ?? colours.grey);
      pen.fillRect(rect.x, rect.y, rect.width, rect.height);
      if (rect.width < 5) continue;
      pen.strokeStyle = colourOf(colours, groups.get(rect.group)?.colour ?? "grey");
      pen.strokeRect(rect.x + 0.5, rect.y + 0.5, rect.width - 1, Math.max(0, rect.height - 1));
    }
    for (const rect of [...this.strip(), ...(shown.bars ? this.marks() : [])]) {
      pen.fillStyle = colourOf(colours, rect.group);
      pen.fillRect(rect.x, rect.y, rect.width, rect.height);
    }
    pen.fillStyle = colours.red;
    pen.font = FONT;
    pen.textAlign = "center";
    for (const gap of this.gaps()) pen.fillText(gap.sign, gap.x, gap.y);
    pen.fillStyle = colours.ink;
    for (const one of this.signs()) pen.fillText(one.sign, one.x, one.y);
    pen.restore();
  }

  /** How many rows stand above bars: one for each group, where there are several. */
  strips() {
    return this.shown.bars && this.shown.groups.length > 1 ? this.shown.groups.length : 0;
  }

  /**
   * A row above the bars for each group, in the order of the legend: patterns of bars cannot be seen
   * where views share a pixel, places can.
   *
   * @returns {Rect[]}
   */
  strip() {
    const { bars, groups } = this.shown;
    if (!bars || !this.strips()) return [];
    const top = this.box().top - STRIP * groups.length - 3;
    return groups.flatMap((group, row) => {
      const own = bars.map((bar) => (bar.group === group.key ? 1 : null));
      return this.stripes(own, () => group.colour).map((stripe) => ({ x: stripe.x, width: stripe.width, y: top + STRIP * row, height: STRIP - 2, group: stripe.group }));
    });
  }

  /** The edges of the plot within its canvas, in pixels of the page. */
  box() {
    const ratio = devicePixelRatio || 1;
    const { left, top, width, height } = this.chart.bbox;
    return { left: left / ratio, top: top / ratio, width: width / ratio, height: height / ratio };
  }

  /** A function from places of the x axis to pixels. */
  across() {
    const { left, width } = this.box();
    const { min = 0, max = 1 } = /** @type {{ min: number, max: number }} */ (this.chart.scales.x);
    return (/** @type {number} */ x) => left + ((x - min) / (max - min || 1)) * width;
  }

  /** @param {number} value */
  upTo(value) {
    const { top, height } = this.box();
    const y = top + this.chart.valToPos(value, "y");
    return Math.min(top + height + 1, Math.max(top - 1, y));
  }

  /**
   * The bars as they are drawn just now. Where many views share a pixel, the greatest of them is shown.
   *
   * @returns {Rect[]}
   */
  rects() {
    if (!this.shown.bars) return [];
    return this.stripes(this.heights[0], (place) => /** @type {Bar[]} */ (this.shown.bars)[place].group).map((stripe) => {
      const y = this.upTo(stripe.value);
      const bottom = this.box().top + this.box().height;
      return { x: stripe.x, width: stripe.width, y: Math.min(y, bottom - 1), height: Math.max(1, bottom - y), group: stripe.group };
    });
  }

  /** Lines at the heights of the curves beside bars. @returns {Rect[]} */
  marks() {
    return this.shown.curves.flatMap((curve, number) =>
      this.stripes(this.heights[number + 1], () => curve.colour).map((stripe) => ({ x: stripe.x, width: Math.max(2, stripe.width), y: this.upTo(stripe.value) - 1, height: 2, group: stripe.group })),
    );
  }

  /**
   * Where the values of views stand that can be seen, at least a pixel wide.
   *
   * @param {(number | null)[]} heights @param {(place: number) => string} groupOf
   */
  stripes(heights, groupOf) {
    const { xs } = this.shown.axis;
    const { min = 0, max = 0 } = /** @type {{ min: number, max: number }} */ (this.chart.scales.x);
    const across = this.across();
    const half = placeWidth(this.shown.axis) / 2;
    const width = across(min + 2 * half) - across(min);
    const log = this.shown.log;
    /** @type {Map<number, { x: number, width: number, value: number, group: string }>} */
    const found = new Map();
    for (let place = 0; place < xs.length; place += 1) {
      const value = heights[place];
      if (value === null || xs[place] < min || xs[place] > max || (log && value <= 0)) continue;
      const left = across(xs[place] - half);
      const wide = width >= NARROWEST;
      const column = wide ? place : Math.floor(left);
      const before = found.get(column);
      if (before && before.value >= value) continue;
      const gap = width > 6 ? Math.min(8, width * 0.2) : 0;
      found.set(column, { x: wide ? left + gap / 2 : column, width: wide ? Math.max(1, width - gap) : 1, value, group: groupOf(place) });
    }
    return [...found.values()];
  }

  /** Where a curve has a gap, and a sign of what is there instead: one for each few pixels. */
  gaps() {
    const { xs } = this.shown.axis;
    const { min = 0, max = 0 } = /** @type {{ min: number, max: number }} */ (this.chart.scales.x);
    const { top, height } = this.box();
    const across = this.across();
    const found = new Map();
    const columns = this.shown.bars ? [this.shown.bars.map((bar) => bar.value)] : this.shown.curves.map((curve) => curve.values);
    columns.forEach((values, number) => {
      for (let place = 0; place < xs.length; place += 1) {
        if (this.heights[number][place] !== null || xs[place] < min || xs[place] > max) continue;
        const gap = gapOf(values[place]);
        const x = across(xs[place]);
        const y = gap === "up" ? top + 10 : top + height - 3;
        found.set(`${Math.floor(x / 10)} ${gap}`, { x, y, sign: { up: "∞", down: "−∞", none: "×" }[gap] });
      }
    });
    return [...found.values()];
  }

  /** The signs of bars, where there is room for them. */
  signs() {
    const { shown } = this;
    const { min = 0, max = 0 } = /** @type {{ min: number, max: number }} */ (this.chart.scales.x);
    const { top, height, width } = this.box();
    if (!shown.bars || (width * placeWidth(shown.axis)) / (max - min || 1) < ROOM_OF_SIGN) return [];
    const across = this.across();
    return shown.bars.flatMap((bar, place) => {
      const x = shown.axis.xs[place];
      return bar.sign && x >= min && x <= max ? [{ x: across(x), y: top + height - 2, sign: bar.sign }] : [];
    });
  }

  /** Say exactly what stands under the cursor. */
  tell() {
    const { shown, tip, chart } = this;
    const place = chart.cursor.idx;
    tip.hidden = place == null || !chart.over.matches(":hover");
    if (tip.hidden || place == null) return;
    const lines = [shown.axis.names[place]];
    const bar = shown.bars?.[place];
    if (bar) lines.push(`${shown.groups.find((group) => group.key === bar.group)?.label ?? bar.group}: ${exactText(bar.value, shown.unit)}`);
    for (const curve of shown.curves) lines.push(`${curve.label}: ${exactText(curve.values[place], shown.unit)}`);
    if (bar?.note) lines.push(bar.note);
    tip.replaceChildren(...lines.map((text) => element("div", "", text)));
    const x = chart.cursor.left ?? 0;
    const right = x > chart.over.clientWidth / 2;
    tip.style.left = right ? "" : `${x + 12}px`;
    tip.style.right = right ? `${chart.over.clientWidth - x + 12}px` : "";
  }

  /** A click picks a view; a drag looks closer, and a double click looks at all again. */
  listen() {
    let pressed = 0;
    this.chart.over.addEventListener("mousedown", (event) => {
      pressed = event.clientX;
    });
    this.chart.over.addEventListener("click", (event) => {
      const place = this.chart.cursor.idx;
      if (Math.abs(event.clientX - pressed) < CLICK && place != null) this.how.onPick(place);
    });
  }
}

/** What a curve takes of its panel: all of it, but for one that is flat. @param {number | null} low @param {number | null} high @returns {[number, number]} */
function heightRange(low, high) {
  if (low === null || high === null) return [0, 1];
  if (low !== high) return /** @type {[number, number]} */ (uPlot.rangeNum(low, high, 0.1, true));
  const room = low === 0 ? 1 : Math.abs(low) / 2;
  return [low >= 0 ? Math.max(0, low - room) : low - room, low + room];
}

/** How wide a place of the axis is, in its own units. @param {Axis} axis */
function placeWidth(axis) {
  const { xs, time } = axis;
  if (!time || xs.length < 2) return 1;
  return (xs[xs.length - 1] - xs[0]) / (xs.length - 1);
}

/** @param {Shown} shown */
function heightsOf(shown) {
  const bars = shown.bars ? [shown.bars.map((bar) => heightOf(bar.value))] : [];
  // While a run goes on, there may be names whose values are not there yet.
  const columns = [...bars, ...shown.curves.map((curve) => shown.axis.names.map((_, place) => heightOf(curve.values[place])))];
  return shown.log ? columns.map((column) => column.map((value) => (value !== null && value > 0 ? value : null))) : columns;
}

/** A colour by its name in the style sheet, or itself. @param {Colours} known @param {string} name */
export function colourOf(known, name) {
  return /** @type {Record<string, string>} */ (known)[name] ?? name;
}

/** @param {string} kind @param {string} name @param {string} [text] */
function element(kind, name, text = "") {
  const made = document.createElement(kind);
  if (name) made.className = name;
  made.textContent = text;
  return made;
}
