/**
 * What is kept current of a live graph, a tab each: results of programs, answers of queries, what the last batch changed, the
 * graph around a vertex, and operators. Which program or query is shown stands in the address.
 *
 * @import { LiveFacts, Operators, Problem } from "../../types.d.ts"
 * @typedef {{ facts: LiveFacts, version: string, options: Record<string, string> }} TabProps
 */

import { html, useEffect, useMemo, useState } from "gt/vendor/preact.js";
import { changePlace, linkTo } from "gt/address.js";
import { ProblemBox, asProblem, shownAnswer, useAnswer } from "gt/answers.js";
import { pathOf } from "gt/source.js";
import { digits, inBytes } from "gt/parts/numbers.js";
import { OperatorGraph } from "gt/parts/operators.js";
import { AskedTable } from "gt/parts/table.js";
import { HowToAdd } from "gt/pages/live/overview.js";

/** @param {TabProps} props */
export function ProgramsTab({ facts, version, options }) {
  const program = chosenOf(facts.programs, options.program);
  if (!program) return html`<${NoPrograms} facts=${facts} />`;
  const tables = [...(program.fields.length ? [""] : []), ...(program.matches ?? [])];
  const matches = tables.includes(options.matches ?? "") ? (options.matches ?? "") : (tables[0] ?? "");
  return html`
    <${Choice} label="Program" names=${facts.programs.map((one) => one.name)} at=${program.name} option="program" prefix="t_" />
    <p class="quiet" dir="auto">${program.program} · ${program.mode} · touched ${digits(program.touched)} in the last advance</p>
    ${tables.length > 1 && html`<${Choice} label="Rows of" names=${tables} at=${matches} option="matches" prefix="t_" />`}
    ${program.problem
      ? html`<${ProblemBox} problem=${{ what: program.problem }} />`
      : html`<${AskedTable} key=${`${program.name} ${matches}`} parts=${["live", facts.name, "program", program.name]} options=${{ matches }} version=${version}
          linkId=${around(facts, program.name)} caption=${`Results of ${program.name}`} />`}
  `;
}

/** @param {TabProps} props */
export function QueriesTab({ facts, version, options }) {
  const query = chosenOf(facts.queries, options.query);
  if (!query) {
    return html`<p class="empty">No query is kept current here. <${HowToAdd} facts=${facts} gvdl="create query NAME on live graph NAME reach from 'a'" python='graph.query("trip", gt.queries.Path("a", "b"))' /></p>`;
  }
  return html`
    <${Choice} label="Query" names=${facts.queries.map((one) => one.name)} at=${query.name} option="query" prefix="q_" />
    <p dir="auto"><code>${query.asked}</code> <span class="quiet">holds ${inBytes(query.bytes)}</span></p>
    ${query.waits && html`<p class="quiet">It waits for a vertex that it names and the graph does not have yet.</p>`}
    <${AskedTable} key=${query.name} parts=${["live", facts.name, "query", query.name]} prefix="q_" version=${version}
      linkId=${around(facts)} caption=${`Answer of ${query.name}`} />
  `;
}

/** @param {TabProps} props */
export function ChangesTab({ facts, version, options }) {
  const all = [...facts.programs, ...facts.queries];
  const one = chosenOf(all, options.of ?? options.program);
  if (!one) return html`<${NoPrograms} facts=${facts} />`;
  return html`
    <${Choice} label="Of" names=${all.map(({ name }) => name)} at=${one.name} option="of" prefix="c_" />
    <p class="quiet">What the last advance changed in <bdi>${one.name}</bdi>.</p>
    <${AskedTable} key=${one.name} parts=${["live", facts.name, "changes", one.name]} prefix="c_" version=${version}
      linkId=${around(facts)} caption=${`Last changes of ${one.name}`} />
  `;
}

/** @param {TabProps} props */
export function GraphTab({ facts, version, options }) {
  const plain = facts.programs.filter((one) => one.fields.length > 0 && !one.dataflow);
  const program = plain.find((one) => one.name === options.program);
  const field = program?.fields.find((one) => one === options.field) ?? program?.fields[0];
  const drawing = useDrawing();
  const places = useMemo(() => (drawing.module ? new drawing.module.Places() : undefined), [drawing.module]);
  return html`
    ${plain.length > 0 && html`<p class="row">
      <label>Colour by <select value=${program ? `${program.name}\n${field}` : ""} onChange=${(/** @type {any} */ event) => {
        const [name, chosen] = event.target.value.split("\n");
        changePlace({ program: name, field: chosen });
      }}>
        <option value="">nothing</option>
        ${plain.flatMap((one) => one.fields.map((name) => html`<option value=${`${one.name}\n${name}`}>${one.name}: ${name}</option>`))}
      </select></label>
    </p>`}
    ${drawing.problem && html`<${ProblemBox} problem=${drawing.problem} />`}
    ${drawing.module && html`<${drawing.module.GraphDrawing} parts=${["live", facts.name, "drawing"]} options=${{ program: program?.name, field }} places=${places} version=${version} />`}
    ${!drawing.module && !drawing.problem && html`<p class="empty" aria-busy="true">Loading…</p>`}
  `;
}

/** The part that draws graphs, which is large and loaded when it is first looked at. */
function useDrawing() {
  const [state, setState] = useState(
    /** @type {{ module: typeof import("gt/parts/drawing.js") | null, problem: Problem | null }} */ ({ module: null, problem: null }),
  );
  useEffect(() => {
    let here = true;
    import("gt/parts/drawing.js").then(
      (module) => here && setState({ module, problem: null }),
      (error) => here && setState({ module: null, problem: asProblem(error) }),
    );
    return () => {
      here = false;
    };
  }, []);
  return state;
}

/** @param {TabProps} props */
export function OperatorsTab({ facts, version, options }) {
  const flows = facts.programs.filter((one) => one.dataflow);
  const program = chosenOf(flows, options.program);
  const asked = useAnswer(program ? pathOf(["live", facts.name, "operators", program.name]) : null, version);
  if (!program) return html`<p class="empty">No dataflow or Datalog program is kept current here.</p>`;
  const kept = { ...asked, problem: asked.answer === null ? asked.problem : null };
  return html`
    <${Choice} label="Program" names=${flows.map((one) => one.name)} at=${program.name} option="program" prefix="" />
    ${shownAnswer(kept, (/** @type {Operators} */ operators) => html`<${OperatorGraph} key=${program.name} operators=${operators} />`)}
  `;
}

/** The one of a name, or else the first. @template {{ name: string }} T @param {T[]} all @param {string | undefined} name */
function chosenOf(all, name) {
  return all.find((one) => one.name === name) ?? all[0];
}

/** An id leads to the graph around its vertex. @param {LiveFacts} facts @param {string} [program] */
function around(facts, program) {
  return (/** @type {string} */ id) => linkTo(["live", facts.name], { tab: "graph", program, g_around: id });
}

/**
 * Which of several is shown; the table of another begins at its first row. @param {{ label: string, names: string[], at: string, option: string, prefix: string }} props
 */
function Choice({ label, names, at, option, prefix }) {
  const choose = (/** @type {any} */ event) => {
    const cleared = prefix ? { [`${prefix}search`]: null, [`${prefix}sort`]: null, [`${prefix}down`]: null, [`${prefix}start`]: null } : {};
    changePlace({ [option]: event.target.value, ...cleared }, { keep: true });
  };
  if (names.length < 2) return html`<h2 dir="auto">${at}</h2>`;
  return html`<p class="row"><label>${label} <select value=${at} onChange=${choose}>${names.map((name) => html`<option value=${name}>${name || "vertices"}</option>`)}</select></label></p>`;
}

/** @param {{ facts: LiveFacts }} props */
function NoPrograms({ facts }) {
  return html`<p class="empty">No program is kept current here. <${HowToAdd} facts=${facts} gvdl="create program ranks on live graph NAME run page_rank" python="graph.maintain(PageRank())" /></p>`;
}
