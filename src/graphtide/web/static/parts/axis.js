/**
 * Where views stand along an axis, how many of their names fit below it, and how numbers are written.
 *
 * Views stand at equal distances, by their number. Where every name says a day, and days go up, they
 * stand at their time instead: then the axis has years, months or days, whichever fit.
 *
 * @import { Cell } from "../types.d.ts"
 * @typedef {{ xs: number[], names: string[], time: boolean }} Axis
 * @typedef {{ x: number, label: string }} Tick
 */

import { digits, inSeconds } from "gt/parts/numbers.js";

const DAY = /^(?:[\p{L}_]+[-_ ])?(\d{4})-(\d{2})(?:-(\d{2})(?:[T_ ](\d{2}):(\d{2})(?::(\d{2}))?)?)?$/u;
const [LETTER, LONGEST, BESIDE] = [6.6, 16, 10];
const [HOUR, DATE, MONTH, YEAR] = [3.6e6, 8.64e7, 2.63e9, 3.156e10];

/** @param {string[]} names @returns {Axis} */
export function axisOf(names) {
  const times = [];
  for (const name of names) {
    const time = timeOf(name);
    if (time === null || (times.length > 0 && time <= times[times.length - 1])) break;
    times.push(time);
  }
  const time = names.length > 2 && times.length === names.length;
  return { xs: time ? times : names.map((_, place) => place), names, time };
}

/** Milliseconds of the epoch, where a name is a day or a month and nothing else. @param {string} name */
function timeOf(name) {
  const parts = DAY.exec(name);
  if (!parts) return null;
  const [year, month, day = 1, hour = 0, minute = 0, second = 0] = parts.slice(1).map((part) => (part === undefined ? undefined : Number(part)));
  const time = Date.UTC(Number(year), Number(month) - 1, day, hour, minute, second);
  const date = new Date(time);
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === day ? time : null;
}

/**
 * What is written below an axis between two of its places: as many names as fit in `room` pixels.
 *
 * @param {Axis} axis @param {number} from @param {number} to @param {number} room @returns {Tick[]}
 */
export function ticksOf(axis, from, to, room) {
  if (!axis.names.length || room <= 0) return [];
  if (axis.time && to > from) return timeTicks(from, to, room);
  const first = Math.max(0, Math.ceil(from - 1e-9));
  const last = Math.min(axis.names.length - 1, Math.floor(to + 1e-9));
  const longest = widest(axis.names, first, last);
  const fit = Math.max(1, Math.floor(room / (Math.min(longest, LONGEST) * LETTER + 14)));
  const step = niceStep((last - first + 1) / fit);
  const ticks = [];
  for (let place = Math.ceil(first / step) * step; place <= last; place += step) {
    const label = shortened(axis.names[place], LONGEST);
    const end = ((place - from) / (to - from || 1)) * room + (label.length * LETTER) / 2;
    if (end <= room + BESIDE || !ticks.length) ticks.push({ x: place, label });
  }
  return ticks;
}

/** The length of the longest of some names; of many, every hundredth counts. @param {string[]} names @param {number} first @param {number} last */
function widest(names, first, last) {
  const step = Math.max(1, Math.floor((last - first) / 500));
  let most = 1;
  for (let place = first; place <= last; place += step) most = Math.max(most, names[place].length);
  return most;
}

/** The next of 1, 2, 5, 10, ... @param {number} least */
function niceStep(least) {
  let size = 1;
  for (;;) {
    for (const times of [1, 2, 5]) if (times * size >= least) return times * size;
    size *= 10;
  }
}

/** @param {number} from @param {number} to @param {number} room @returns {Tick[]} */
function timeTicks(from, to, room) {
  const most = Math.max(1, Math.floor(room / 88));
  const span = to - from;
  /** @type {[number, number, "year" | "month" | "date" | "hour"][]} */
  const steps = [[HOUR, 1, "hour"], [HOUR, 6, "hour"], [DATE, 1, "date"], [DATE, 2, "date"], [DATE, 7, "date"], [MONTH, 1, "month"], [MONTH, 3, "month"], [MONTH, 6, "month"], [YEAR, 1, "year"], [YEAR, 2, "year"], [YEAR, 5, "year"], [YEAR, 10, "year"], [YEAR, 50, "year"], [YEAR, 100, "year"]];
  const [, times, kind] = steps.find(([size, count]) => span / (size * count) <= most) ?? steps[steps.length - 1];
  const ticks = [];
  for (let time = startOf(from, kind, times); time <= to; time = following(time, kind, times)) {
    const label = dateLabel(time, kind);
    const end = ((time - from) / span) * room + (label.length * LETTER) / 2;
    if (time >= from && end <= room + BESIDE) ticks.push({ x: time, label });
  }
  return ticks.length ? ticks : [{ x: from, label: dateLabel(from, "date") }];
}

/** @param {number} time @param {string} kind @param {number} times */
function startOf(time, kind, times) {
  const date = new Date(time);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  if (kind === "year") return Date.UTC(Math.floor(year / times) * times, 0);
  if (kind === "month") return Date.UTC(year, Math.floor(month / times) * times);
  if (kind === "date") return Math.floor(time / (DATE * times)) * DATE * times;
  return Math.floor(time / (HOUR * times)) * HOUR * times;
}

/** @param {number} time @param {string} kind @param {number} times */
function following(time, kind, times) {
  const date = new Date(time);
  if (kind === "year") return Date.UTC(date.getUTCFullYear() + times, 0);
  if (kind === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + times);
  return time + (kind === "date" ? DATE : HOUR) * times;
}

/** @param {number} time @param {string} kind */
function dateLabel(time, kind) {
  const text = new Date(time).toISOString();
  if (kind === "year") return text.slice(0, 4);
  if (kind === "month") return text.slice(0, 7);
  return kind === "date" ? text.slice(0, 10) : text.slice(5, 16).replace("T", " ");
}

/** The powers of ten between two heights, with their double and their half where they are few. @param {number} low @param {number} high */
export function powersOfTen(low, high) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const every = Math.max(1, Math.ceil((last - first) / 7));
  const times = last - first <= 3 ? [1, 2, 5] : [1];
  const found = [];
  for (let power = first; power <= last; power += every) for (const one of times) found.push(one * 10 ** power);
  return found.filter((height) => height >= low && height <= high);
}

/** @param {string} text @param {number} most */
export function shortened(text, most) {
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}

/** A number for a place where there is little room: 1.2M, 34k, 0.05. @param {number} value @param {string} [unit] */
export function shortNumber(value, unit = "") {
  if (unit === "s") return inSeconds(value);
  const size = Math.abs(value);
  const suffix = unit ? ` ${unit}` : "";
  if (size >= 1e15) return `${value.toExponential(1)}${suffix}`;
  for (const [least, letter] of /** @type {[number, string][]} */ ([[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]])) {
    if (size >= least) return `${trimmed(value / (letter === "k" ? 1e3 : least))}${letter}${suffix}`;
  }
  if (size !== 0 && size < 1e-3) return `${value.toExponential(1)}${suffix}`;
  return `${trimmed(value)}${suffix}`;
}

/** At most four digits that count. @param {number} value */
function trimmed(value) {
  return Number.isInteger(value) ? digits(value) : String(Number(value.toPrecision(3)));
}

/** A cell as it is, with its digits in groups. @param {Cell | undefined} cell @param {string} [unit] */
export function exactText(cell, unit = "") {
  if (cell === null || cell === undefined) return "missing";
  const suffix = unit ? ` ${unit}` : "";
  if (typeof cell === "number") return `${Number.isInteger(cell) ? digits(cell) : cell}${suffix}`;
  return `${cell}${typeof cell === "string" && /^-?\d/.test(cell) ? suffix : ""}`;
}

/** A cell as a height of a chart; null where it has none. @param {Cell | undefined} cell @returns {number | null} */
export function heightOf(cell) {
  if (typeof cell === "number") return Number.isFinite(cell) ? cell : null;
  if (typeof cell === "boolean") return cell ? 1 : 0;
  if (typeof cell !== "string" || !cell.trim()) return null;
  const value = Number(cell);
  return Number.isFinite(value) ? value : null;
}

/** What stands in the place of a cell without a height. @param {Cell | undefined} cell @returns {"up" | "down" | "none"} */
export function gapOf(cell) {
  if (cell === "inf" || cell === Infinity) return "up";
  return cell === "-inf" || cell === -Infinity ? "down" : "none";
}
