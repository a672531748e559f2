/**
 * A collection: what it is, its plan to be walked, its views and how like they are, and what has been run over it.
 *
 * @import { Asked } from "../answers.js"
 * @import { Catalog, CollectionFacts, Plan, Table } from "../types.d.ts"
 * @import { Cost } from "../parts/plan.js"
 */

import { html, useEffect, useMemo, useState } from "gt/vendor/preact.js";
import { changePlace, linkTo } from "gt/address.js";
import { asProblem, shownAnswer, useAnswer } from "gt/answers.js";
import { SimilarityPair } from "gt/parts/matrix.js";
import { Digits, counted, digits, inSeconds } from "gt/parts/numbers.js";
import { PlanView, siblingsOf, rowsOf, stepName } from "gt/parts/plan.js";
import { SaveMenu } from "gt/parts/save.js";
import { lengthOf } from "gt/parts/table.js";
import { pathOf, source } from "gt/source.js";

const TABS = [
  { key: "plan", label: "Plan" },
  { key: "sizes", label: "Views" },
  { key: "similarity", label: "Similarity" },
  { key: "explain", label: "Explained" },
];

/** @param {{ name: string, options: Record<string, string>, catalog: Asked<Catalog> }} props */
export default function CollectionPage({ name, options, catalog }) {
  const asked = useAnswer(pathOf(["collection", name]));
  return shownAnswer(asked, (/** @type {CollectionFacts} */ facts) => html`<${Shown} facts=${facts} options=${options} catalog=${catalog.answer} />`);
}

/** @param {{ facts: CollectionFacts, options: Record<string, string>, catalog: Catalog | null }} props */
function Shown({ facts, options, catalog }) {
  const tab = options.tab ?? "plan";
  return html`
    <${Heading} facts=${facts} catalog=${catalog} />
    <div class="tabs" role="tablist">${TABS.map(({ key, label }) => html`<button key=${key} type="button" role="tab" aria-selected=${key === tab} onClick=${() => changePlace({ tab: key === "plan" ? null : key }, { keep: true })}>${label}</button>`)}</div>
    ${tab === "plan" && html`<${PlanTab} facts=${facts} options=${options} />`}
    ${tab === "similarity" && html`<${SimilarityPair} name=${facts.name} />`}
    ${tab === "explain" && html`<section class="panel"><pre>${facts.explain}</pre></section>`}
  `;
}

/** @param {{ facts: CollectionFacts, catalog: Catalog | null }} props */
function Heading({ facts, catalog }) {
  return html`
    <div class="row heading"><h1 dir="auto">${facts.name}</h1>
      <p>${counted(facts.views.names.length, "view")} of <a href=${linkTo(["graph", facts.graph])} dir="auto">${facts.graph}</a></p>
      ${catalog?.changes && html`<a class="button main push" href=${linkTo(["gvdl"], { text: `run wcc on ${facts.name};` })}>Run a program…</a>`}
    </div>
    <pre class="panel">${facts.statement}</pre>`;
}

/** @param {{ facts: CollectionFacts, options: Record<string, string> }} props */
function PlanTab({ facts, options }) {
  const asked = useAnswer(pathOf(["collection", facts.name, "plan"]));
  return shownAnswer(asked, (/** @type {Plan} */ plan) => html`<section class="panel"><${PlanView} plan=${plan} name=${facts.name} at=${options.step ? Number(options.step) : null} onPick=${(/** @type {number} */ step) => changePlace({ step: String(step) })} /></section>`);
}
