/**
 * A run that is going on: how many views are finished, what is left, and buttons that cancel or resume it.
 *
 * @import { Asked } from "../../answers.js"
 * @import { Catalog, Job, Problem, RunFacts } from "../../types.d.ts"
 */

import { html, useEffect, useRef, useState } from "gt/vendor/preact.js";
import { ProblemBox, asProblem, useAnswer, useEvents } from "gt/answers.js";
import { counted, digits, inSeconds } from "gt/parts/numbers.js";
import { pathOf, source } from "gt/source.js";

const [SECOND, RESTS] = [1000, 15];

/**
 * The facts of a run that goes on are asked for each second, since another process may make it. Where a job of this
 * server does, its events say how far it is; then, and where nothing moves any more, each five seconds will do.
 *
 * @param {string} name
 */
export function useRun(name) {
  const asked = /** @type {Asked<RunFacts>} */ (useAnswer(pathOf(["run", name])));
  const still = useRef({ done: -1, times: 0 });
  const last = useRef(/** @type {RunFacts | null} */ (null));
  if (asked.answer) last.current = sameViews(last.current, asked.answer);
  const facts = last.current;
  // The job of a run tells what it has found at its end, which takes a while too.
  const open = source.live && facts !== null && (!facts.finished || facts.job !== null);
  useEffect(() => {
    if (!open || asked.loading) return undefined;
    still.current = facts.done === still.current.done ? { done: facts.done, times: still.current.times + 1 } : { done: facts.done, times: 0 };
    const pause = still.current.times > RESTS || facts.job !== null ? 5 * SECOND : SECOND;
    const timer = setTimeout(asked.again, pause);
    return () => clearTimeout(timer);
  }, [open, asked.loading, asked.answer]);
  const moves = open && (facts.job !== null || still.current.times <= RESTS);
  return { ...asked, facts, moves };
}

/** Facts with the list of views of the ones before, where it is the same: charts are drawn anew for another. @param {RunFacts | null} before @param {RunFacts} now */
function sameViews(before, now) {
  const same = before?.views.length === now.views.length && before.views.every((view, place) => view === now.views[place]);
  return before && same ? { ...now, views: before.views } : now;
}

/**
 * @param {{ facts: RunFacts, moves: boolean, catalog: Catalog | null, again: () => void }} props
 */
export function Progress({ facts, moves, catalog, again }) {
  const { message, lost } = useEvents(facts.job === null ? null : pathOf(["jobs", facts.job, "events"]));
  const job = /** @type {Job | null} */ (message);
  const left = useTimeLeft(facts, job);
  const over = job !== null && job.state !== "going on";
  useEffect(() => {
    if (over) again();
  }, [over]);
  if (facts.finished && !moves) return null;
  const all = facts.views.length;
  const share = job?.done ?? facts.done / Math.max(1, all);
  const going = job ? job.state === "going on" : facts.job !== null;
  const state = going ? "going on" : moves && facts.done > 0 && left !== null ? "going on elsewhere" : "left off";
  return html`<section class="panel progress" aria-label="Progress">
    <div class="row">
      <strong>${state === "left off" ? "Left off" : "Going on"}</strong>
      <progress value=${share} max="1" aria-label="Views finished">${Math.round(100 * share)}%</progress>
      <span role="status">${digits(Math.max(facts.done, job?.views?.[0] ?? 0))} of ${counted(all, "view")} finished</span>
      ${state !== "left off" && left !== null && html`<span class="quiet">about ${inSeconds(Math.max(1, Math.round(left)))} left</span>`}
      ${job?.stage && html`<span class="quiet">${job.stage}</span>`}
      ${lost && going && html`<span class="quiet">the server does not answer; asking again</span>`}
      <${Buttons} facts=${facts} going=${going} catalog=${catalog} again=${again} />
    </div>
    ${job?.problem && html`<${ProblemBox} problem=${job.problem} />`}
  </section>`;
}

/** @param {{ facts: RunFacts, going: boolean, catalog: Catalog | null, again: () => void }} props */
function Buttons({ facts, going, catalog, again }) {
  const [problem, setProblem] = useState(/** @type {Problem | null} */ (null));
  const [busy, setBusy] = useState(false);
  useEffect(() => setBusy(false), [facts.job, facts.done, going]);
  if (!catalog?.changes || !source.live) return null;
  const post = async (/** @type {string} */ path, /** @type {object} */ body) => {
    setBusy(true);
    try {
      await source.post(path, body);
      setProblem(null);
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
    again();
  };
  return html`
    ${going && facts.job !== null && html`<button type="button" disabled=${busy} onClick=${() => post(pathOf(["jobs", String(facts.job), "cancel"]), {})}>Cancel</button>`}
    ${!going && facts.resumable && html`<button type="button" class="main" disabled=${busy} onClick=${() => post("jobs", { resume: facts.name })}>Resume</button>`}
    ${problem && html`<${ProblemBox} problem=${problem} />`}
  `;
}

/** Seconds left: as the job says, or by how fast views have been finished while the page looked. @param {RunFacts} facts @param {Job | null} job */
function useTimeLeft(facts, job) {
  const seen = useRef(/** @type {{ time: number, done: number }[]} */ ([]));
  const last = seen.current[seen.current.length - 1];
  if (!last || facts.done < last.done) seen.current = [{ time: Date.now(), done: facts.done }];
  else if (facts.done > last.done) seen.current = [...seen.current.slice(-20), { time: Date.now(), done: facts.done }];
  if (job?.left != null) return job.left;
  const [first, ...more] = seen.current;
  const newest = more[more.length - 1];
  if (!newest) return null;
  const rate = (newest.done - first.done) / Math.max(1, newest.time - first.time);
  return (facts.views.length - newest.done) / rate / 1000;
}
