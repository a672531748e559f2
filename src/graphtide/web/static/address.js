/**
 * The state of the page, as its address says it: `#/run/years-WCC?tab=graph&view=upto-2018`.
 *
 * What can be looked at is a place: parts (`["run", "years-WCC"]`) and options. A change of parts, or one
 * that a person would go back from, is an entry of the browser's history; a slider replaces the last one.
 */

import { useEffect, useState } from "gt/vendor/preact.js";

/** @typedef {{ parts: string[], options: Record<string, string> }} Place */

/** @returns {Place} */
export function currentPlace() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decoded);
  return { parts, options: Object.fromEntries(new URLSearchParams(query)) };
}

/** @param {string[]} parts @param {Record<string, string | null | undefined>} [options] */
export function linkTo(parts, options = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(options)) if (value) query.set(name, value);
  return `#/${parts.map(encodeURIComponent).join("/")}${query.size ? `?${query}` : ""}`;
}

/**
 * Change some options of the place, and leave the others. `null` takes one away.
 *
 * @param {Record<string, string | null | undefined>} options
 * @param {{ keep?: boolean }} [how]  `keep`: as an entry of its own, to come back to
 */
export function changePlace(options, { keep = false } = {}) {
  const place = currentPlace();
  const link = linkTo(place.parts, { ...place.options, ...options });
  if (keep) history.pushState(null, "", link);
  else history.replaceState(null, "", link);
  for (const hear of hearers) hear();
}

/** @type {Set<() => void>} */
const hearers = new Set();
addEventListener("hashchange", () => hearers.forEach((hear) => hear()));
addEventListener("popstate", () => hearers.forEach((hear) => hear()));

// The frame of a notebook may not go to an address, not even to one of its own; it may say that it is there.
if (document.documentElement.dataset.notebook) {
  addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a")?.getAttribute("href") : null;
    if (event.defaultPrevented || !link?.startsWith("#/")) return;
    event.preventDefault();
    history.pushState(null, "", link);
    hearers.forEach((hear) => hear());
  });
}

/** The place, current at every change. */
export function usePlace() {
  const [place, setPlace] = useState(currentPlace);
  useEffect(() => {
    const hear = () => setPlace(currentPlace());
    hearers.add(hear);
    return () => void hearers.delete(hear);
  }, []);
  return place;
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
