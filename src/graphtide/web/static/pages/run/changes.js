/**
 * What differs between the view and another one: its parent in the plan, the view before, or any that is named.
 *
 * @import { RunFacts } from "../../types.d.ts"
 */

import { html, useMemo } from "gt/vendor/preact.js";
import { changePlace, linkTo } from "gt/address.js";
import { NameBox } from "gt/parts/slider.js";
import { AskedTable } from "gt/parts/table.js";
import { useWholeTable, valuesOf } from "gt/pages/run/whole_table.js";

const MOST_STEPS = 20_000;

/**
 * The view that a view is compared with: the one that the address names, or the parent in the plan, or the one before.
 *
 * @param {RunFacts} facts @param {string[]} names @param {number} at @param {string | undefined} chosen
 */
export function useAgainst(facts, names, at, chosen) {
  const record = useWholeTable(names.length <= MOST_STEPS && names.length > 1 ? ["run", facts.name, "record"] : null);
  const places = useMemo(() => new Map(names.map((name, place) => [name, place])), [names]);
  const parents = useMemo(() => {
    const views = valuesOf(record.answer, "view");
    return new Map(valuesOf(record.answer, "parent").map((parent, row) => [views[row], parent]));
  }, [record.answer]);
  const parent = places.get(String(parents.get(names[at]) ?? "")) ?? null;
  const before = at > 0 ? at - 1 : names.length > 1 ? 1 : null;
  const named = chosen === undefined ? undefined : places.get(chosen);
  const place = named !== undefined && named !== at ? named : (parent ?? before);
  return { place, parent, before, named: named !== undefined, waiting: record.answer === null && record.loading };
}

/**
 * @param {{ facts: RunFacts, names: string[], at: number, options: Record<string, string>, linkId?: (id: string) => string | null }} props
 */
export function Changes({ facts, names, at, options, linkId }) {
  const against = useAgainst(facts, names, at, options.against);
  if (names.length < 2) return html`<p class="empty">There is one view: nothing to compare it with.</p>`;
  if (against.waiting || against.place === null) return html`<p class="empty" aria-busy="true">Loading…</p>`;
  const other = names[against.place];
  const link = linkTo(["compare"], { one: facts.name, view: names[at], other: facts.name, other_view: other });
  return html`
    <${AgainstRow} names=${names} against=${against} what="Changes against" />
    <p class="quiet">Vertices whose results differ: <strong>old</strong> is that of <bdi>${other}</bdi>, <strong>new</strong> that of <bdi>${names[at]}</bdi>. <a href=${link}>Both side by side</a></p>
    <${AskedTable} parts=${["run", facts.name, "changes"]} options=${{ view: names[at], against: other }} prefix="c_" linkId=${linkId} caption=${`What differs between ${other} and ${names[at]}`} />
  `;
}

/**
 * The choice of the other view.
 *
 * @param {{ names: string[], against: ReturnType<typeof useAgainst>, what: string }} props
 */
export function AgainstRow({ names, against, what }) {
  const { place, parent, before } = against;
  if (place === null) return null;
  const go = (/** @type {number} */ next) => changePlace({ against: names[next] }, { keep: true });
  const button = (/** @type {string} */ label, /** @type {number | null} */ to) =>
    html`<button type="button" class="small" disabled=${to === null} aria-pressed=${to === place} onClick=${() => to !== null && go(to)}>${label}</button>`;
  return html`<div class="row choices">
    <span>${what}</span>
    <${NameBox} names=${names} place=${place} go=${go} label=${what} />
    ${button("Parent in the plan", parent)} ${button("View before", before)}
    ${against.named && html`<button type="button" class="small" onClick=${() => changePlace({ against: null }, { keep: true })}>As it comes</button>`}
  </div>`;
}
