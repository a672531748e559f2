/**
 * The graph at the view: which part of it, in the colours of which result, and what came and went against which view.
 *
 * @import { RunFacts } from "../../types.d.ts"
 */

import { html, useEffect, useMemo, useState } from "gt/vendor/preact.js";
import { changePlace } from "gt/address.js";
import { ProblemBox, asProblem } from "gt/answers.js";
import { digits } from "gt/parts/numbers.js";
import { AgainstRow, useAgainst } from "gt/pages/run/changes.js";

const USUAL_EDGES = 2000;
const HOPS = [1, 2, 3, 4, 5];
const MOST_EDGES = [100, 500, 2000, 10_000, 50_000];

/** The drawing is loaded when a graph is first looked at: with what draws it, it is large. @returns {any} */
export function useDrawing() {
  const [loaded, setLoaded] = useState(/** @type {{ draw?: any, problem?: any }} */ ({}));
  useEffect(() => {
    let here = true;
    import("gt/parts/drawing.js").then(
      (found) => here && setLoaded({ draw: found.GraphDrawing }),
      (error) => here && setLoaded({ problem: asProblem(error) }),
    );
    return () => {
      here = false;
    };
  }, []);
  return loaded;
}

/**
 * @param {{ facts: RunFacts, names: string[], at: number, options: Record<string, string> }} props
 */
export function GraphAtView({ facts, names, at, options }) {
  const { draw, problem } = useDrawing();
  const against = useAgainst(facts, names, at, options.against);
  const parts = useMemo(() => ["run", facts.name, "drawing"], [facts.name]);
  const wanted = drawingOptions(options, facts, names[at]);
  const other = options.g_alone === "1" || against.place === null ? null : names[against.place];
  return html`
    <${Choices} facts=${facts} options=${options} />
    ${names.length > 1 && options.g_alone !== "1" && html`<${AgainstRow} names=${names} against=${against} what="What came and went since" />`}
    ${problem && html`<${ProblemBox} problem=${problem} />`}
    ${!draw && !problem && html`<p class="empty" aria-busy="true">Loading…</p>`}
    ${draw && !against.waiting && html`<${draw} parts=${parts} options=${{ ...wanted, against: other, alone: options.g_alone === "1" ? "1" : null }} />`}
  `;
}

/**
 * The options of a drawing, as the address says them.
 *
 * @param {Record<string, string>} options @param {RunFacts} facts @param {string} view
 */
export function drawingOptions(options, facts, view) {
  const { g_part: part = "", g_around: around = "" } = options;
  const near = part !== "sample" && around !== "";
  return {
    view,
    field: facts.fields.includes(options.g_field ?? "") ? options.g_field : (facts.fields[0] ?? null),
    around: near ? around : null,
    component: near && part === "component" ? "1" : null,
    hops: near && part !== "component" ? (options.g_hops ?? "2") : null,
    sample: part === "sample" ? "1" : null,
    most: options.g_most ?? String(USUAL_EDGES),
  };
}

/**
 * @param {{ facts: RunFacts, options: Record<string, string>, alone?: boolean }} props
 */
export function Choices({ facts, options, alone = true }) {
  const { g_part: part = "", g_around: around = "" } = options;
  const [typed, setTyped] = useState(around);
  useEffect(() => setTyped(around), [around]);
  const set = (/** @type {Record<string, string | null>} */ change) => changePlace(change, { keep: true });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    set({ g_around: typed.trim() || null, g_part: part === "sample" ? null : part || null });
  };
  const choice = (/** @type {string} */ label, /** @type {string} */ value, /** @type {any[]} */ known, /** @type {(value: string) => void} */ choose) => html`<label>${label} <select value=${value} onChange=${(/** @type {any} */ event) => choose(event.target.value)}>
      ${known.map(([key, text]) => html`<option key=${key} value=${key}>${text}</option>`)}
    </select></label>`;
  return html`<form class="row choices" onSubmit=${submit}>
    ${choice("Show", part, [["", "around a vertex"], ["component", "the component of a vertex"], ["sample", "a sample of all"]], (value) => set({ g_part: value || null }))}
    ${part !== "sample" && html`<label>Vertex <input type="text" dir="auto" value=${typed} placeholder="the greatest" spellcheck=${false} onInput=${(/** @type {any} */ event) => setTyped(event.target.value)} onChange=${submit} /></label>`}
    ${part === "" && choice("Hops", options.g_hops ?? "2", HOPS.map((hops) => [String(hops), String(hops)]), (value) => set({ g_hops: value === "2" ? null : value }))}
    ${choice("Most edges", options.g_most ?? String(USUAL_EDGES), MOST_EDGES.map((most) => [String(most), digits(most)]), (value) => set({ g_most: value === String(USUAL_EDGES) ? null : value }))}
    ${facts.fields.length > 0 && choice("Colour", options.g_field ?? facts.fields[0], facts.fields.map((field) => [field, field]), (value) => set({ g_field: value === facts.fields[0] ? null : value }))}
    ${alone && html`<label><input type="checkbox" checked=${options.g_alone !== "1"} onChange=${(/** @type {any} */ event) => set({ g_alone: event.target.checked ? null : "1" })} /> what came and went</label>`}
  </form>`;
}
