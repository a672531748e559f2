/**
 * A stored graph: its schema, its collections, its first edges, and all edges and vertices, which are read when they
 * are asked for: a graph may be large.
 *
 * @import { Asked } from "../answers.js"
 * @import { Catalog, GraphFacts } from "../types.d.ts"
 */

import { html } from "gt/vendor/preact.js";
import { changePlace, linkTo } from "gt/address.js";
import { shownAnswer, useAnswer } from "gt/answers.js";
import { Pasted } from "gt/pages/catalog.js";
import { Digits } from "gt/parts/numbers.js";
import { AskedTable, PlainTable } from "gt/parts/table.js";
import { Tabs } from "gt/parts/tabs.js";
import { pathOf } from "gt/source.js";

/** @param {{ name: string, options: Record<string, string>, catalog: Asked<Catalog> }} props */
export default function GraphPage({ name, options, catalog }) {
  const asked = useAnswer(pathOf(["graph", name]));
  return shownAnswer(asked, (/** @type {GraphFacts} */ facts) => html`<${Shown} facts=${facts} tab=${options.tab ?? "first"} changes=${catalog.answer?.changes ?? false} />`);
}

/** @param {{ facts: GraphFacts, tab: string, changes: boolean }} props */
function Shown({ facts, tab, changes }) {
  const { name, vertices, edges, directed, schema, head, collections } = facts;
  const tabs = [
    { key: "first", label: "First edges", show: () => html`<${PlainTable} table=${head} caption=${`First edges of ${name}`} />` },
    { key: "edges", label: "All edges", show: () => html`<${AskedTable} parts=${["graph", name, "edges"]} prefix="e_" caption=${`Edges of ${name}`} />` },
    { key: "vertices", label: "Vertices", show: () => html`<${AskedTable} parts=${["graph", name, "vertices"]} prefix="v_" caption=${`Vertices of ${name}`} />` },
  ];
  return html`
    <div class="row heading"><h1 dir="auto">${name}</h1>
      <p><strong><${Digits} value=${vertices} /></strong> vertices, <strong><${Digits} value=${edges} /></strong> edges, ${directed ? "directed" : "without direction"}</p>
    </div>
    <div class="columns">
      <section class="panel">
        <h2>Collections</h2>
        ${collections.length ? html`<ul class="plain">${collections.map((one) => html`<li key=${one}><a href=${linkTo(["collection", one])} dir="auto">${one}</a></li>`)}</ul>` : html`<${NoCollections} name=${name} changes=${changes} />`}
        ${collections.length > 0 && changes && html`<p><a class="button" href=${linkTo(["gvdl"], { text: sample(name) })}>New collection</a></p>`}
      </section>
      <section class="panel"><h2>Schema</h2><${PlainTable} table=${schema} caption=${`Schema of ${name}`} /></section>
    </div>
    <${Tabs} tabs=${tabs} at=${tab} onChange=${(/** @type {string} */ next) => changePlace({ tab: next === "first" ? null : next }, { keep: true })} />
  `;
}

/** @param {{ name: string, changes: boolean }} props */
function NoCollections({ name, changes }) {
  return html`<p>There are none yet. A collection says which versions of the graph there are:</p>
    <${Pasted} text=${sample(name)} />
    <p>${changes ? html`<a class="button main" href=${linkTo(["gvdl"], { text: sample(name) })}>Write one in GVDL</a>` : html`<span class="quiet">Paste it into <code>graphtide run -e</code>, with a property of yours, or open the page with <code>--allow-changes</code>.</span>`}</p>`;
}

/** @param {string} name */
function sample(name) {
  return `create view collection years on ${name}\n  for y in 2017..2020 [upto-{y}: year <= y];`;
}
