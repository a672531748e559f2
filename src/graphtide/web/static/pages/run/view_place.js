/**
 * Which view is looked at: the slider moves it at once, and the address follows when it rests.
 */

import { useCallback, useEffect, useMemo, useRef, useState } from "gt/vendor/preact.js";
import { changePlace } from "gt/address.js";

/** Browsers let an address change some twenty times a second. */
const REST = 120;
/** What has arrow keys of its own. */
const BUSY = "input, select, textarea, [contenteditable], [role=tab], [role=slider], [data-keys]";

/**
 * @param {string[]} names @param {string | undefined} wanted  the view that the address names
 * @param {string} option  what the address calls it
 */
export function useViewPlace(names, wanted, option = "view") {
  const [view, setView] = useState(wanted);
  const written = useRef(wanted);
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  const places = useMemo(() => new Map(names.map((name, place) => [name, place])), [names]);
  useEffect(() => {
    if (wanted === written.current) return;
    written.current = wanted;
    clearTimeout(timer.current);
    setView(wanted);
  }, [wanted]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const go = useCallback(
    (/** @type {number} */ place) => {
      const name = names[place];
      if (name === undefined) return;
      setView(name);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        written.current = name;
        changePlace({ [option]: name });
      }, REST);
    },
    [names, option],
  );
  const known = view === undefined || places.has(view);
  return { at: places.get(view ?? "") ?? 0, go, known };
}

/**
 * Left and right step the view, wherever the keyboard is not at something with arrow keys of its own;
 * `keys` are more keys, each with what it does.
 *
 * @param {(by: number) => void} step @param {Record<string, () => void>} keys
 */
export function useKeys(step, keys) {
  const current = useRef({ step, keys });
  current.current = { step, keys };
  useEffect(() => {
    const hear = (/** @type {KeyboardEvent} */ event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof Element && event.target.closest(BUSY)) return;
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const act = by === undefined ? current.current.keys[event.key.toLowerCase()] : () => current.current.step(by);
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  }, []);
}
