/**
 * A job, as it goes on: its state, how far it is, what it made, and what can be done about it.
 *
 * @import { Job } from "../types.d.ts"
 * @import { Followed } from "./follow.js"
 */

import { html, useEffect, useState } from "gt/vendor/preact.js";
import { linkTo } from "gt/address.js";
import { ProblemBox, asProblem } from "gt/answers.js";
import { pathOf, source } from "gt/source.js";
import { Trouble, useFollowed } from "gt/parts/follow.js";

const MARKS = { "going on": "▶", done: "✓", failed: "✗", cancelled: "■" };

/** @param {Job} job */
export const jobEnded = (job) => job.state !== "going on";

/** @type {Set<() => void>} */
const hearers = new Set();

/** Say that a job was started or has changed, to whatever on this page counts them. */
export function jobsChanged() {
  for (const hear of hearers) hear();
}

/** @param {() => void} hear @returns {() => void} */
export function onJobsChanged(hear) {
  hearers.add(hear);
  return () => void hearers.delete(hear);
}

/**
 * Start a job, which the page of the job then shows.
 *
 * @param {{ statement: string } | { resume: string }} body @returns {Promise<Job>}
 */
export async function startJob(body) {
  const job = await source.post("jobs", body);
  jobsChanged();
  return job;
}

/**
 * Follow a job by its id. `full` shows the statement too; `onEnd` is called when the job has ended.
 *
 * @param {{ id: string, changes: boolean, full?: boolean, onEnd?: () => void }} props
 */
export function JobCard({ id, changes, full = false, onEnd }) {
  /** @type {Followed<Job>} */
  const followed = useFollowed(pathOf(["jobs", id]), jobEnded);
  const job = followed.answer;
  const state = job?.state;
  useEffect(() => {
    if (!state || state === "going on") return;
    jobsChanged();
    onEnd?.();
  }, [state]);
  return html`<section class="job panel" aria-label=${job ? job.title : "job"}>
    <${Trouble} followed=${followed} />
    ${job && html`<${JobShown} job=${job} changes=${changes} full=${full} again=${followed.again} />`}
    ${!job && !followed.problem && !followed.lost && html`<p class="empty" aria-busy="true">Loading…</p>`}
  </section>`;
}

/** @param {{ job: Job, changes: boolean, full: boolean, again: () => void }} props */
function JobShown({ job, changes, full, again }) {
  return html`
    <div class="row">
      <${JobState} job=${job} />
      <strong dir="auto">${full ? job.title : html`<a href=${linkTo(["jobs", job.id])}>${job.title}</a>`}</strong>
      <${JobResult} job=${job} />
      ${changes && html`<${JobActions} job=${job} again=${again} />`}
    </div>
    <${JobProgress} job=${job} />
    ${job.problem && html`<${ProblemBox} problem=${job.problem} />`}
    ${job.answer && html`<pre class="job-answer" dir="auto">${job.answer}</pre>`}
    ${full && job.statement && html`
      <h2>Statement</h2>
      <pre dir="auto">${job.statement}</pre>
      <p><a href=${linkTo(["gvdl"], { text: job.statement })}>Open it in the editor</a></p>
    `}
  `;
}

/** @param {{ job: Job }} props */
export function JobState({ job }) {
  return html`<span class="job-state" data-state=${job.state}><span aria-hidden="true">${MARKS[job.state]}</span> ${job.state}</span>`;
}

/** What a job made, or is making, as a link. @param {{ job: Job }} props */
export function JobResult({ job }) {
  if (!job.result) return null;
  const { kind, name } = job.result;
  if (kind === "view") return html`<span class="quiet" dir="auto">view ${name}</span>`;
  return html`<a href=${linkTo([kind, name])} dir="auto">${job.state === "going on" ? "follow" : "open"} ${kind} ${name}</a>`;
}

/** @param {{ job: Job }} props */
export function JobProgress({ job }) {
  const going = job.state === "going on";
  const share = job.done === null ? undefined : Math.min(1, Math.max(0, job.done));
  const parts = [
    going && share !== undefined && `${Math.floor(share * 100)}%`,
    job.stage,
    going && job.left !== null && `${duration(job.left)} left`,
    going ? `${duration(job.seconds)} so far` : `took ${duration(job.seconds)}`,
  ];
  return html`
    ${going && html`<progress max="1" value=${share} aria-label=${`progress of ${job.title}`}></progress>`}
    <p class="quiet job-line">${parts.filter(Boolean).join(" · ")}</p>
  `;
}

/** @param {{ job: Job, again: () => void }} props */
function JobActions({ job, again }) {
  const [problem, setProblem] = useState(/** @type {import("../types.d.ts").Problem | null} */ (null));
  const [waits, setWaits] = useState(false);
  const act = async (/** @type {() => Promise<void>} */ action) => {
    setWaits(true);
    setProblem(null);
    await action().catch((error) => setProblem(asProblem(error)));
    setWaits(false);
  };
  const cancel = async () => {
    await source.post(pathOf(["jobs", job.id, "cancel"]), {});
    jobsChanged();
    again();
  };
  const resume = async () => {
    const next = await startJob({ resume: job.result?.name ?? "" });
    location.hash = linkTo(["jobs", next.id]);
  };
  return html`
    ${job.state === "going on" && html`<button type="button" disabled=${waits} onClick=${() => act(cancel)}>Cancel</button>`}
    ${job.resumable && job.result?.kind === "run" && job.state !== "going on" &&
    html`<button type="button" disabled=${waits} onClick=${() => act(resume)}>Resume</button>`}
    ${problem && html`<${ProblemBox} problem=${problem} />`}
  `;
}

/** Seconds in words: 0.4 s, 12 s, 3 min 5 s, 2 h 10 min. @param {number} seconds */
export function duration(seconds) {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
