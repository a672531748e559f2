/**
 * GVDL to write: problems under the line while typing, what a statement would do beside it, and carrying it out as a job.
 *
 * @import { Catalog, GvdlProblem, PlanSize, Problem } from "../types.d.ts"
 * @import { Asked } from "../answers.js"
 * @import { Posted } from "./gvdl/posted.js"
 */

import { html, useCallback, useEffect, useMemo, useRef, useState } from "gt/vendor/preact.js";
import { changePlace } from "gt/address.js";
import { ProblemBox, asProblem } from "gt/answers.js";
import { Editor } from "gt/parts/editor.js";
import { offersAt } from "gt/parts/gvdl.js";
import { JobCard, startJob } from "gt/parts/job_card.js";
import { examplesFor } from "gt/pages/gvdl/examples.js";
import { useHistory } from "gt/pages/gvdl/history.js";
import { graphOf, namesOf, useGraph, useProperties } from "gt/pages/gvdl/names.js";
import { usePosted } from "gt/pages/gvdl/posted.js";

/** Longer texts would make addresses that servers and browsers cut off. */
const LONGEST_IN_ADDRESS = 8000;

/** @type {GvdlProblem[]} */
const NONE = [];

/** @param {{ options: Record<string, string>, catalog: Asked<Catalog> }} props */
export default function GvdlPage({ options, catalog }) {
  const [text, setText] = useText(options.text ?? "");
  const full = text.trim() === "" ? null : text;
  /** @type {Posted<{ problems: GvdlProblem[] }>} */
  const checked = usePosted("gvdl/check", full, 250);
  const problems = full === null ? NONE : (checked.answer?.problems ?? NONE);
  const right = full !== null && checked.text === text && checked.answer !== null && problems.length === 0;
  /** @type {Posted<{ text: string, size: PlanSize | null }>} */
  const explained = usePosted("gvdl/explain", right ? text : null, 400);
  const graph = useGraph(graphOf(text, catalog.answer) ?? catalog.answer?.items.find((item) => item.kind === "graph")?.name ?? null);
  const properties = useProperties(graph);
  const names = useMemo(() => namesOf(catalog.answer), [catalog.answer]);
  const complete = useCallback((/** @type {string} */ before) => offersAt(before, names, properties), [names, properties]);
  const past = useHistory();
  const wrong = full === null || (checked.text === text && problems.length > 0);
  const action = useAction(text, !wrong && (catalog.answer?.changes ?? false), past.add);
  const examples = useMemo(() => (catalog.answer ? examplesFor(catalog.answer, graph, properties) : []), [catalog.answer, graph, properties]);
  return html`
    <h1>GVDL</h1>
    <div class="columns gvdl">
      <div>
        <${Editor} text=${text} onChange=${setText} problems=${problems} checked=${full === null ? text : checked.text} label="Statement in GVDL"
          complete=${complete} onRun=${action.run} />
        <${Problems} problems=${problems} stale=${checked.text !== text} trouble=${full === null ? null : checked.problem} />
        <${CarryOut} action=${action} changes=${catalog.answer?.changes ?? null} />
        ${action.job !== null && html`<${JobCard} key=${action.job} id=${action.job} changes=${true} onEnd=${catalog.again} />`}
      </div>
      <div>
        <${Explained} explained=${explained} right=${right} empty=${full === null} />
        <${Examples} examples=${examples} choose=${setText} />
        <${Past} past=${past} choose=${setText} />
      </div>
    </div>
  `;
}

/**
 * The text, which stands in the address too. An address that somebody else changes, by going back, changes the text.
 *
 * @param {string} inAddress @returns {[string, (text: string) => void]}
 */
function useText(inAddress) {
  const [text, setText] = useState(inAddress);
  const written = useRef(inAddress);
  const timer = useRef(0);
  useEffect(() => {
    if (inAddress === written.current) return;
    written.current = inAddress;
    setText(inAddress);
  }, [inAddress]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = useCallback((/** @type {string} */ next) => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const short = next.length <= LONGEST_IN_ADDRESS ? next : "";
      written.current = short;
      changePlace({ text: short });
    }, 300);
  }, []);
  return [text, change];
}

/**
 * Carrying a statement out: the job that it became, or why not. What has not been checked yet the server checks.
 *
 * @param {string} text @param {boolean} may @param {(text: string) => void} remember
 */
function useAction(text, may, remember) {
  const [job, setJob] = useState(/** @type {string | null} */ (null));
  const [problem, setProblem] = useState(/** @type {Problem | null} */ (null));
  const [waits, setWaits] = useState(false);
  const run = async () => {
    if (!may || waits) return;
    setWaits(true);
    setProblem(null);
    try {
      remember(text);
      setJob((await startJob({ statement: text })).id);
    } catch (error) {
      setProblem(asProblem(error));
    }
    setWaits(false);
  };
  return { job, problem, may: may && !waits, run };
}

/** @param {{ action: ReturnType<typeof useAction>, changes: boolean | null }} props */
function CarryOut({ action, changes }) {
  if (changes === null) return null;
  if (!changes) {
    return html`<p class="quiet">This page only reads. To carry statements out, start it with <code>graphtide open --allow-changes</code>.</p>`;
  }
  return html`
    <div class="row actions">
      <button type="button" class="main" disabled=${!action.may} onClick=${action.run}>Carry out</button>
      <span class="quiet"><kbd>Ctrl</kbd> <kbd>Enter</kbd> · Escape, then Tab leaves the editor</span>
    </div>
    ${action.problem && html`<${ProblemBox} problem=${action.problem} />`}
  `;
}

/** What the parser says, in words: the marks in the editor say where. @param {{ problems: GvdlProblem[], stale: boolean, trouble: Problem | null }} props */
function Problems({ problems, stale, trouble }) {
  return html`<div class=${stale ? "gvdl-problems out-of-date" : "gvdl-problems"} aria-live="polite">
    ${problems.map((problem) => html`<${ProblemBox} problem=${problem} />`)}
    ${trouble && html`<${ProblemBox} problem=${trouble} />`}
  </div>`;
}

/** @param {{ explained: Posted<{ text: string, size: PlanSize | null }>, right: boolean, empty: boolean }} props */
function Explained({ explained, right, empty }) {
  const { answer, problem, waits } = explained;
  return html`<section class="panel" aria-label="What it would do" aria-busy=${waits}>
    <h2>What it would do</h2>
    ${empty && html`<p class="quiet">Write a statement, or take an example below. What it would do stands here before it is done.</p>`}
    ${!empty && answer?.size && html`<${Size} size=${answer.size} />`}
    ${!empty && problem && right && html`<${ProblemBox} problem=${problem} />`}
    ${!empty && answer && html`<pre class=${waits || !right ? "explained-text out-of-date" : "explained-text"} dir="auto" tabindex="0">${answer.text}</pre>`}
    ${!empty && !answer && !problem && html`<p class="quiet">${waits ? "Working it out…" : "When the statement is right, this says what it would do."}</p>`}
  </section>`;
}

/** @param {{ size: PlanSize }} props */
function Size({ size }) {
  const count = (/** @type {number} */ number) => number.toLocaleString("en");
  const differences = size.differences === null ? "differences not known yet" : html`<strong>${count(size.differences)}</strong> differences`;
  return html`<p class="plan-size">
    <strong>${count(size.views)}</strong> views · ${differences} · <strong>${size.kind}</strong>
    ${size.note && html`<br /><span class="quiet">${size.note}</span>`}
  </p>`;
}

/** @param {{ examples: import("./gvdl/examples.js").Example[], choose: (text: string) => void }} props */
function Examples({ examples, choose }) {
  if (examples.length === 0) return null;
  return html`<section class="panel">
    <h2>To begin with</h2>
    <ul class="statements">
      ${examples.map(({ what, text }) => html`<li>
        <button type="button" onClick=${() => choose(text)}><span class="quiet">${what}</span><code dir="auto">${text}</code></button>
      </li>`)}
    </ul>
  </section>`;
}

/** @param {{ past: ReturnType<typeof useHistory>, choose: (text: string) => void }} props */
function Past({ past, choose }) {
  if (past.past.length === 0) return null;
  return html`<details class="panel">
    <summary>Carried out in this browser (${past.past.length})</summary>
    <ul class="statements">
      ${past.past.map(({ text, when }) => html`<li key=${text}>
        <button type="button" onClick=${() => choose(text)}>
          <span class="quiet">${new Date(when).toLocaleString()}</span><code dir="auto">${text}</code>
        </button>
      </li>`)}
    </ul>
    <button type="button" onClick=${past.clear}>Forget these</button>
  </details>`;
}
