/**
 * All jobs of the server, and the page of one.
 *
 * @import { Catalog, Job } from "../types.d.ts"
 * @import { Asked } from "../answers.js"
 */

import { html, useEffect, useState } from "gt/vendor/preact.js";
import { linkTo } from "gt/address.js";
import { ProblemBox, asProblem } from "gt/answers.js";
import { AnswerError, source } from "gt/source.js";
import { JobCard, JobResult, JobState, duration, onJobsChanged } from "gt/parts/job_card.js";

/** @param {{ name: string, catalog: Asked<Catalog> }} props */
export default function JobsPage({ name, catalog }) {
  const changes = catalog.answer?.changes ?? false;
  if (name) {
    return html`
      <p><a href=${linkTo(["jobs"])}>All jobs</a></p>
      <${JobCard} id=${name} changes=${changes} full=${true} />
    `;
  }
  return html`<h1>Jobs</h1><${JobList} changes=${changes} />`;
}

/** @param {{ changes: boolean }} props */
function JobList({ changes }) {
  const { jobs, problem, lost } = useJobs();
  return html`
    <div role="status">
      ${lost && html`<p class="lost">The server does not answer. This page tries again, and goes on when it is back.</p>`}
      ${problem && html`<${ProblemBox} problem=${problem} />`}
    </div>
    ${jobs === null && !lost && !problem && html`<p class="empty" aria-busy="true">Loading…</p>`}
    ${jobs?.length === 0 && html`<p class="empty">
      ${changes
        ? html`Nothing has been carried out since the server started. <a href=${linkTo(["gvdl"])}>Write a statement</a>; it becomes a job.`
        : html`This page only reads. Start it with <code>graphtide open --allow-changes</code> to carry out statements as jobs.`}
    </p>`}
    ${jobs !== null && jobs.length > 0 && html`<${JobTable} jobs=${jobs} />`}
  `;
}

/** All jobs, every second while one goes on. */
function useJobs() {
  const [state, setState] = useState(
    /** @type {{ jobs: Job[] | null, problem: import("../types.d.ts").Problem | null, lost: boolean }} */
    ({ jobs: null, problem: null, lost: false }),
  );
  useEffect(() => {
    let here = true;
    let timer = 0;
    const ask = () => {
      clearTimeout(timer);
      source.get("jobs").then(
        (answer) => {
          if (!here) return;
          setState({ jobs: answer.jobs, problem: null, lost: false });
          const going = answer.jobs.some((/** @type {Job} */ job) => job.state === "going on");
          timer = setTimeout(ask, going ? 1000 : 5000);
        },
        (error) => {
          if (!here) return;
          const lost = error instanceof AnswerError && error.status === 0;
          setState((before) => ({ ...before, lost, problem: lost ? null : asProblem(error) }));
          timer = setTimeout(ask, 2000);
        },
      );
    };
    const forget = onJobsChanged(ask);
    ask();
    return () => {
      here = false;
      clearTimeout(timer);
      forget();
    };
  }, []);
  return state;
}

/** @param {{ jobs: Job[] }} props */
function JobTable({ jobs }) {
  return html`<div class="scroll">
    <table>
      <caption class="hidden">Jobs</caption>
      <thead>
        <tr><th scope="col">State</th><th scope="col">Job</th><th scope="col">Stage</th><th scope="col" class="number">Done</th><th scope="col" class="number">Time</th><th scope="col" class="number">Left</th><th scope="col">Result</th></tr>
      </thead>
      <tbody>
        ${jobs.map((job) => html`<${JobRow} key=${job.id} job=${job} />`)}
      </tbody>
    </table>
  </div>`;
}

/** @param {{ job: Job }} props */
function JobRow({ job }) {
  const going = job.state === "going on";
  return html`<tr>
    <td><${JobState} job=${job} /></td>
    <td dir="auto"><a href=${linkTo(["jobs", job.id])}>${job.title}</a>${job.problem && html`<br /><span class="quiet">${job.problem.what}</span>`}</td>
    <td dir="auto">${job.stage}</td>
    <td class="number">${going && job.done !== null ? `${Math.floor(job.done * 100)}%` : ""}</td>
    <td class="number">${duration(job.seconds)}</td>
    <td class="number">${going && job.left !== null ? duration(job.left) : ""}</td>
    <td><${JobResult} job=${job} /></td>
  </tr>`;
}
