/**
 * Numbers as people read them: digits in groups, bytes and seconds in the unit that fits, dates as days.
 *
 * Groups of digits are set apart by the style sheet, so that what is copied is the number itself.
 *
 * @import { Cell } from "../types.d.ts"
 */

import { html } from "gt/vendor/preact.js";

const WHOLE = /^(-?)(\d+)$/;
const LONG_FRACTION = /^(-?\d+\.0*[1-9]?\d{0,5})(\d*)((?:e[+-]?\d+)?)$/;

/**
 * A number with its digits in groups of three. Digits behind the sixth that matters are there, but quiet.
 *
 * @param {{ value: Cell }} props
 */
export function Digits({ value }) {
  const text = String(value);
  const whole = WHOLE.exec(text);
  if (whole) return whole[2].length < 5 ? text : html`${whole[1]}${groups(whole[2])}`;
  const fraction = LONG_FRACTION.exec(text);
  if (!fraction || fraction[2].length < 3) return text;
  return html`${fraction[1]}<span class="rest">${fraction[2]}</span>${fraction[3]}`;
}

/** @param {string} digits */
function groups(digits) {
  const first = digits.length % 3 || 3;
  const parts = [digits.slice(0, first)];
  for (let at = first; at < digits.length; at += 3) parts.push(digits.slice(at, at + 3));
  return parts.map((part, at) => (at === 0 ? part : html`<span class="group">${part}</span>`));
}

/** The same as plain text, for labels in pictures and titles. @param {number} value */
export function digits(value) {
  if (!Number.isInteger(value)) return String(Number(value.toPrecision(4)));
  const text = String(Math.abs(value));
  const grouped = text.length < 5 ? text : text.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return value < 0 ? `−${grouped}` : grouped;
}

/** `1 view`, `2 views`. @param {number} count @param {string} one @param {string} [many] */
export function counted(count, one, many = `${one}s`) {
  return `${digits(count)} ${count === 1 ? one : many}`;
}

const SIZES = /** @type {const} */ ([[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]);

/** @param {number} count */
export function inBytes(count) {
  for (const [size, unit] of SIZES) if (count >= size) return `${Number((count / size).toPrecision(3))} ${unit}`;
  return counted(count, "byte");
}

/** @param {number} seconds */
export function inSeconds(seconds) {
  if (seconds >= 5400) return `${(seconds / 3600).toFixed(1)} h`;
  if (seconds >= 120) return `${(seconds / 60).toFixed(1)} min`;
  if (seconds >= 1) return `${Number(seconds.toPrecision(3))} s`;
  if (seconds >= 1e-3) return `${Number((seconds * 1e3).toPrecision(3))} ms`;
  return seconds > 0 ? `${Number((seconds * 1e6).toPrecision(3))} µs` : "0 s";
}
