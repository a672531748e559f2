/**
 * The graph at the view: in the colours of a result, with what came and went against another view.
 *
 * @import { RunFacts } from "../../types.d.ts"
 */

import { html, useEffect, useMemo, useState } from "gt/vendor/preact.js";
import { changePlace } from "gt/address.js";
import { ProblemBox, asProblem } from "gt/answers.js";
import { AgainstRow, useAgainst } from "gt/pages/run/changes.js";

/** The drawing is loaded when a graph is first looked at: with what draws it, it is large. */
export function useDrawing() {
  const [loaded, setLoaded] = useState(/** @type {{ module: typeof import("gt/parts/drawing.js") | null, problem: any }} */ ({ module: null, problem: null }));
  useEffect(() => {
    let here = true;
    import("gt/parts/drawing.js").then(
      (module) => here && setLoaded({ module, problem: null }),
      (error) => here && setLoaded({ module: null, problem: asProblem(error) }),
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
  const { module, problem } = useDrawing();
  const against = useAgainst(facts, names, at, options.against);
  const parts = useMemo(() => ["run", facts.name, "drawing"], [facts.name]);
  const beside = options.beside !== "0" && names.length > 1;
  const other = beside && against.place !== null ? names[against.place] : null;
  const [selected, setSelected] = useState(/** @type {string | null} */ (null));
  const drawn = { view: names[at], against: other, alone: beside ? null : "1", field: fieldOf(facts, options) };
  return html`
    <div class="row choices">
      <${FieldChoice} facts=${facts} options=${options} />
      ${names.length > 1 && html`<label><input type="checkbox" checked=${beside} onChange=${(/** @type {any} */ event) => changePlace({ beside: event.target.checked ? null : "0" }, { keep: true })} /> What came and went</label>`}
      ${selected !== null && !facts.of_pairs && html`<button type="button" onClick=${() => changePlace({ tab: "vertex", vertex: selected }, { keep: true })}>History of <bdi>${selected}</bdi></button>`}
    </div>
    ${beside && html`<${AgainstRow} names=${names} against=${against} what="since" />`}
    ${problem && html`<${ProblemBox} problem=${problem} />`}
    ${!module && !problem && html`<p class="empty" aria-busy="true">Loading…</p>`}
    ${module && !against.waiting && html`<${module.GraphDrawing} parts=${parts} options=${drawn} prefix="g_" selected=${selected} onSelect=${setSelected} />`}
  `;
}

/** The result that colours vertices. @param {RunFacts} facts @param {Record<string, string>} options */
export function fieldOf(facts, options) {
  return facts.fields.includes(options.colour ?? "") ? options.colour : (facts.fields[0] ?? null);
}

/** @param {{ facts: RunFacts, options: Record<string, string> }} props */
export function FieldChoice({ facts, options }) {
  if (facts.fields.length < 2) return null;
  return html`<label>Colour by <select value=${fieldOf(facts, options)} onChange=${(/** @type {any} */ event) => changePlace({ colour: event.target.value }, { keep: true })}>
    ${facts.fields.map((field) => html`<option key=${field} value=${field}>${field}</option>`)}
  </select></label>`;
}
