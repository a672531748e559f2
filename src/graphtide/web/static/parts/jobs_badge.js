/**
 * How many jobs go on, as a link in the bar of the page; nothing where none do.
 *
 * @import { Job } from "../types.d.ts"
 */

import { html, useEffect, useState } from "gt/vendor/preact.js";
import { linkTo } from "gt/address.js";
import { source } from "gt/source.js";
import { onJobsChanged } from "gt/parts/job_card.js";

const SOON = 2000;
const LATER = 15000;

/** Jobs that go on, asked for now and then: often while there are some. Nothing is asked while the page is hidden. */
export function useJobsGoingOn() {
  const [going, setGoing] = useState(/** @type {Job[]} */ ([]));
  useEffect(() => {
    let here = true;
    let timer = 0;
    const wait = (/** @type {number} */ milliseconds) => {
      clearTimeout(timer);
      if (here) timer = setTimeout(ask, milliseconds);
    };
    const ask = () => {
      if (document.hidden) return wait(LATER);
      return source.get("jobs").then(
        (/** @type {{ jobs: Job[] }} */ { jobs }) => {
          const now = jobs.filter((job) => job.state === "going on");
          if (here) setGoing(now);
          wait(now.length ? SOON : LATER);
        },
        () => wait(LATER),
      );
    };
    const forget = onJobsChanged(ask);
    const look = () => document.hidden || ask();
    document.addEventListener("visibilitychange", look);
    ask();
    return () => {
      here = false;
      clearTimeout(timer);
      forget();
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
  return going;
}

/** For the bar: place it where the catalog says `changes`. */
export function JobsBadge() {
  const going = useJobsGoingOn();
  if (going.length === 0) return html`<span role="status"></span>`;
  const link = going.length === 1 ? linkTo(["jobs", going[0].id]) : linkTo(["jobs"]);
  const known = going.map((job) => job.done).filter((done) => done !== null);
  const share = known.length === 1 && going.length === 1 ? ` · ${Math.floor(known[0] * 100)}%` : "";
  return html`<span role="status">
    <a class="jobs-badge" href=${link}><span aria-hidden="true">▶ </span>${going.length} ${going.length === 1 ? "job" : "jobs"}${share}</a>
  </span>`;
}
