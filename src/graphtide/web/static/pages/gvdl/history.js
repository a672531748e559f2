/**
 * Statements that were carried out or explained in this browser, the latest first. Where the browser keeps nothing,
 * as in some frames, the list lasts as long as the page.
 */

import { useState } from "gt/vendor/preact.js";

/** @typedef {{ text: string, when: string }} Past */

const PLACE = "graphtide.statements";
const MOST = 50;

/** @type {Past[] | null} */
let held = null;

/** @returns {Past[]} */
function read() {
  try {
    const found = JSON.parse(localStorage.getItem(PLACE) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one?.text === "string" && typeof one?.when === "string") : [];
  } catch {
    return held ?? [];
  }
}

/** @param {Past[]} past */
function keep(past) {
  held = past;
  try {
    localStorage.setItem(PLACE, JSON.stringify(past));
  } catch {
    // Frames of other origins may not keep anything; `held` does.
  }
}

/** @returns {{ past: Past[], add: (text: string) => void, clear: () => void }} */
export function useHistory() {
  const [past, setPast] = useState(read);
  const change = (/** @type {Past[]} */ next) => {
    keep(next);
    setPast(next);
  };
  return {
    past,
    add: (text) => change([{ text, when: new Date().toISOString() }, ...read().filter((one) => one.text !== text)].slice(0, MOST)),
    clear: () => change([]),
  };
}
