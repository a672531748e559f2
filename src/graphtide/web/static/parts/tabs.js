/** Tabs: a row of names, one of which is chosen and shown below. Arrow keys go from one to the next. */

import { html, useRef } from "gt/vendor/preact.js";

let groups = 0;

/**
 * @param {{ tabs: { key: string, label: any, show: () => any }[], at: string, onChange: (key: string) => void, label?: string }} props
 */
export function Tabs({ tabs, at, onChange, label = "What to look at" }) {
  const id = useRef(0);
  if (!id.current) id.current = groups += 1;
  const row = useRef(/** @type {HTMLElement | null} */ (null));
  const chosen = tabs.find((tab) => tab.key === at) ?? tabs[0];
  if (!chosen) return null;
  const place = tabs.indexOf(chosen);
  const move = (/** @type {KeyboardEvent} */ event) => {
    const next = moved(event.key, place, tabs.length);
    if (next === null) return;
    event.preventDefault();
    event.stopPropagation();
    onChange(tabs[next].key);
    /** @type {HTMLElement | undefined} */ (row.current?.children[next])?.focus();
  };
  return html`
    <div class="tabs" role="tablist" aria-label=${label} ref=${row} onKeyDown=${move}>
      ${tabs.map(
        (tab) => html`<button
          key=${tab.key} type="button" role="tab" id=${`tab-${id.current}-${tab.key}`} aria-selected=${tab === chosen}
          aria-controls=${`tabs-${id.current}`} tabindex=${tab === chosen ? 0 : -1} onClick=${() => onChange(tab.key)}
        >${tab.label}</button>`,
      )}
    </div>
    <div role="tabpanel" id=${`tabs-${id.current}`} aria-labelledby=${`tab-${id.current}-${chosen.key}`} key=${chosen.key}>${chosen.show()}</div>
  `;
}

/** @param {string} key @param {number} place @param {number} count @returns {number | null} */
function moved(key, place, count) {
  if (key === "ArrowRight") return (place + 1) % count;
  if (key === "ArrowLeft") return (place + count - 1) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}
