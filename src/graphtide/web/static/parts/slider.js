/**
 * A slider over views, by their names.
 *
 * Arrow keys go one view on, page keys a tenth of them, home and end to the first and the last. A name can be
 * typed as well: the whole of it, or a part that the first view with it has.
 */

import { html, useEffect, useMemo, useState } from "gt/vendor/preact.js";
import { digits } from "gt/parts/numbers.js";

const MOST_OFFERED = 40;
let sliders = 0;

/**
 * @param {{ names: string[], at: number, onChange: (place: number) => void, label?: string }} props
 */
export function ViewSlider({ names, at, onChange, label = "View" }) {
  const last = names.length - 1;
  if (last < 0) return html`<p class="empty">There is no view yet.</p>`;
  const place = Math.min(Math.max(at, 0), last);
  const go = (/** @type {number} */ next) => next >= 0 && next <= last && next !== place && onChange(next);
  return html`<div class="slider" role="group" aria-label=${label}>
    <button type="button" aria-label="The view before" title="The view before (left arrow)" disabled=${place === 0} onClick=${() => go(place - 1)}>◀</button>
    <input
      type="range" min="0" max=${last} step="1" value=${place} disabled=${last === 0} aria-label=${label} aria-valuetext=${`${names[place]}, ${place + 1} of ${names.length}`}
      onInput=${(/** @type {any} */ event) => go(Number(event.target.value))}
    />
    <button type="button" aria-label="The next view" title="The next view (right arrow)" disabled=${place === last} onClick=${() => go(place + 1)}>▶</button>
    <${NameBox} names=${names} place=${place} go=${go} label=${label} />
    <span class="quiet number">${digits(place + 1)} of ${digits(names.length)}</span>
  </div>`;
}

/**
 * The name of a view, which can be typed over.
 *
 * @param {{ names: string[], place: number, go: (place: number) => void, label?: string }} props
 */
export function NameBox({ names, place, go, label = "View" }) {
  const [typed, setTyped] = useState(/** @type {string | null} */ (null));
  const [missing, setMissing] = useState("");
  const id = useMemo(() => `views-${(sliders += 1)}`, []);
  useEffect(() => setMissing(""), [place]);
  const offered = useMemo(() => (typed === null ? [] : offeredNames(names, typed)), [names, typed]);
  const choose = (/** @type {string} */ text) => {
    setTyped(null);
    if (!text.trim() || text === names[place]) return setMissing("");
    const found = foundName(names, text);
    if (found < 0) return setMissing(`no view has '${text}' in its name`);
    setMissing("");
    return go(found);
  };
  const onKeyDown = (/** @type {any} */ event) => {
    if (event.key === "Enter") choose(event.target.value);
    if (event.key === "Escape") setTyped(null);
  };
  return html`<span class="name-box">
    <input
      type="text" dir="auto" list=${id} value=${typed ?? names[place] ?? ""} aria-label=${`${label}, by its name`} spellcheck=${false} autocomplete="off"
      onFocus=${(/** @type {any} */ event) => event.target.select()} onKeyDown=${onKeyDown}
      onInput=${(/** @type {any} */ event) => setTyped(event.target.value)} onChange=${(/** @type {any} */ event) => choose(event.target.value)}
    />
    <datalist id=${id}>${offered.map((name) => html`<option key=${name} value=${name} />`)}</datalist>
    <span class="quiet" role="status">${missing}</span>
  </span>`;
}

/** @param {string[]} names @param {string} text */
function offeredNames(names, text) {
  const wanted = text.toLowerCase();
  const found = [];
  for (const name of names) {
    if (name.toLowerCase().includes(wanted)) found.push(name);
    if (found.length === MOST_OFFERED) break;
  }
  return found;
}

/** The view of that name, or the first with that in its name; -1 where there is none. @param {string[]} names @param {string} text */
function foundName(names, text) {
  const exact = names.indexOf(text);
  if (exact >= 0) return exact;
  const wanted = text.trim().toLowerCase();
  return names.findIndex((name) => name.toLowerCase().includes(wanted));
}
