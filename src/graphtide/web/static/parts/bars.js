/**
 * A few numbers as bars, one below the other, each with its label and its value; bounds are hollow and dashed.
 *
 * @typedef {{ label: string, value: number, bound?: boolean, chosen?: boolean }} ListedBar
 */

import { html, useRef } from "gt/vendor/preact.js";
import { digits } from "gt/parts/numbers.js";
import { SaveMenu } from "gt/parts/save.js";

const ROW = 24;
const LABEL = 150;
const WIDTH = 560;
const VALUE = 100;

/** @param {{ title: string, name: string, bars: ListedBar[] }} props */
export function BarList({ title, name, bars }) {
  const picture = useRef(/** @type {SVGSVGElement | null} */ (null));
  const most = Math.max(1, ...bars.map((bar) => bar.value));
  const room = WIDTH - LABEL - VALUE;
  return html`
    <div class="row tools"><h2>${title}</h2><span class="push"><${SaveMenu} name=${name} svg=${picture} /></span></div>
    <svg ref=${picture} class="bars" viewBox=${`0 0 ${WIDTH} ${bars.length * ROW}`} role="img" aria-label=${`${title}: ${bars.map((bar) => `${bar.label} ${digits(bar.value)}`).join(", ")}`}>
      ${bars.map((bar, row) => {
        const long = Math.max(1, (bar.value / most) * room);
        const y = row * ROW;
        return html`<g key=${bar.label} class=${bar.bound ? "bound" : bar.chosen ? "chosen" : ""}>
          <text class="label" x=${LABEL - 8} y=${y + ROW / 2}>${bar.label}</text>
          <rect x=${LABEL} y=${y + 4} width=${long} height=${ROW - 8} />
          <text class="value" x=${LABEL + long + 6} y=${y + ROW / 2}>${digits(bar.value)}${bar.chosen ? "  ✓" : ""}</text>
        </g>`;
      })}
    </svg>`;
}
