/**
 * Dark and light: as the system says, or as a person chose, which this browser remembers.
 *
 * Canvases cannot read the style sheet: `useColours` has its colours as they are now, and changes with them.
 */

import { html, useEffect, useState } from "gt/vendor/preact.js";

/** @typedef {"paper" | "raised" | "line" | "ink" | "quiet" | "accent" | "blue" | "orange" | "green" | "red" | "pink" | "yellow" | "grey"} ColourName */
/** @typedef {Record<ColourName, string>} Colours  each as `rgb(...)` */
/** @typedef {"" | "light" | "dark"} Theme  the empty one follows the system */

/** @type {ColourName[]} */
const NAMES = ["paper", "raised", "line", "ink", "quiet", "accent", "blue", "orange", "green", "red", "pink", "yellow", "grey"];
const KEY = "graphtide-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
/** @type {Set<() => void>} */
const hearers = new Set();
dark.addEventListener("change", changed);

/** @type {Colours | null} */
let current = null;

function changed() {
  current = null;
  hearers.forEach((hear) => hear());
}

/** The colours of the style sheet, as they are now. @returns {Colours} */
export function colours() {
  if (current) return current;
  const probe = document.createElement("span");
  document.body.append(probe);
  const found = NAMES.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  current = /** @type {Colours} */ (Object.fromEntries(found));
  return current;
}

/** The colours of the style sheet; whoever uses them is drawn again when they change. */
export function useColours() {
  const [, setTimes] = useState(0);
  useEffect(() => {
    const hear = () => setTimes((count) => count + 1);
    hearers.add(hear);
    return () => void hearers.delete(hear);
  }, []);
  return colours();
}

/** The theme that was chosen here before. @returns {Theme} */
export function storedTheme() {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === "light" || theme === "dark" ? theme : "";
  } catch {
    return "";
  }
}

/** Show a theme, and remember it where the browser lets the page do so. @param {Theme} theme */
export function showTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  try {
    if (theme) localStorage.setItem(KEY, theme);
    else localStorage.removeItem(KEY);
  } catch {
    // A saved file and a notebook may have no storage: the theme lasts as long as the page.
  }
  changed();
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme);
  /** @param {Theme} next */
  const choose = (next) => {
    setTheme(next);
    showTheme(next);
  };
  return html`<label class="theme"><span class="hidden">Colours</span>
    <select value=${theme} onChange=${(/** @type {any} */ event) => choose(event.target.value)} title="Colours of the page: Auto is as the system has them">
      <option value="">◐ Auto</option><option value="light">○ Light</option><option value="dark">● Dark</option>
    </select>
  </label>`;
}
