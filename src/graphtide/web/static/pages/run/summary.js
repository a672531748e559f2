/**
 * The summary of a run: a chart for each figure, all over the same views, and the figures at the view.
 *
 * @import { Column, Table } from "../../types.d.ts"
 */

import { html, useMemo, useState } from "gt/vendor/preact.js";
import { exactText } from "gt/parts/axis.js";
import { LineChart } from "gt/parts/chart.js";
import { CYCLE } from "gt/parts/patterns.js";

const MOST_PANELS = 6;
const DRAWN = new Set(["number", "truth"]);

/**
 * @param {{ table: Table, names: string[], at: number, onPick: (place: number) => void, sync?: string }} props
 */
export function Summary({ table, names, at, onPick, sync = "summary" }) {
  const [all, setAll] = useState(false);
  const figures = useMemo(() => table.columns.filter((column) => column.name !== "view" && DRAWN.has(column.kind)), [table]);
  const rest = useMemo(() => table.columns.filter((column) => column.name !== "view" && !DRAWN.has(column.kind)), [table]);
  if (names.length === 0) return html`<p class="empty">No view is finished yet: the summary comes with the first.</p>`;
  const single = names.length === 1;
  const shown = all ? figures : figures.slice(0, MOST_PANELS);
  const charts = useMemo(
    () => shown.map((column) => ({ column, series: [{ label: column.name, values: column.values, colour: CYCLE[figures.indexOf(column) % CYCLE.length] }] })),
    [figures, shown.length],
  );
  if (single) return html`<${Figures} columns=${[...figures, ...rest]} at=${0} />`;
  return html`
    <div class="multiples">
      ${charts.map(({ column, series }) => html`<${LineChart} key=${column.name} title=${column.name} names=${names} series=${series} at=${at} onPick=${onPick} height=${128} sync=${sync} />`)}
    </div>
    ${figures.length > MOST_PANELS && html`<button type="button" class="small" aria-expanded=${all} onClick=${() => setAll(!all)}>${all ? "Fewer figures" : `All ${figures.length} figures`}</button>`}
    ${rest.length > 0 && html`<${Figures} columns=${rest} at=${at} />`}
  `;
}

/** Figures at one view, as a list. @param {{ columns: Column[], at: number }} props */
function Figures({ columns, at }) {
  return html`<dl class="figures">
    ${columns.map((column) => html`<div key=${column.name}><dt dir="auto">${column.name}</dt><dd dir="auto">${exactText(column.values[at])}</dd></div>`)}
  </dl>`;
}
