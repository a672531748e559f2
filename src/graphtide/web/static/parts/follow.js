/**
 * An answer that changes: asked for once, and then heard of by server-sent events.
 *
 * When the server is lost, what was shown stays; the page asks again every two seconds and hears on when the server is
 * back, also when it was started again with the same token. A problem that the server itself names, such as a graph that
 * is not open any more, stands beside what was shown.
 *
 * @import { Problem } from "../types.d.ts"
 */

import { html, useCallback, useEffect, useState } from "gt/vendor/preact.js";
import { ProblemBox, asProblem } from "gt/answers.js";
import { AnswerError, source } from "gt/source.js";

const WAIT = 2000;

/**
 * @template T
 * @typedef {{ answer: T | null, lost: boolean, problem: Problem | null, again: () => void }} Followed
 */

/**
 * @template T
 * @param {string | null} path  of the answer; its events are at `PATH/events`
 * @param {(answer: T) => boolean} [ended]  whether nothing will come any more
 * @returns {Followed<T>}
 */
export function useFollowed(path, ended = () => false) {
  const [state, setState] = useState(
    /** @type {{ answer: T | null, lost: boolean, problem: Problem | null }} */ ({ answer: null, lost: false, problem: null }),
  );
  const [times, setTimes] = useState(0);
  useEffect(() => {
    if (path === null) return undefined;
    return follow(path, ended, setState);
  }, [path, times]);
  const again = useCallback(() => setTimes((count) => count + 1), []);
  return { ...state, again };
}

/**
 * Ask, hear, and begin anew wherever either fails.
 *
 * @param {string} path @param {(answer: any) => boolean} ended @param {(change: any) => void} setState @returns {() => void}
 */
function follow(path, ended, setState) {
  let here = true;
  let timer = 0;
  let stop = () => {};
  const failed = (/** @type {unknown} */ error) => {
    if (!here) return;
    const lost = error === null || (error instanceof AnswerError && error.status === 0);
    setState((/** @type {object} */ before) => ({ ...before, lost, problem: lost ? null : asProblem(error) }));
    timer = setTimeout(begin, WAIT);
  };
  const hear = (/** @type {any} */ answer) => {
    if (!here) return;
    setState({ answer, lost: false, problem: null });
    if (ended(answer)) stop();
  };
  const lost = () => {
    stop();
    clearTimeout(timer);
    failed(null);
  };
  const begin = () => {
    source.get(path).then((answer) => {
      if (!here) return;
      hear(answer);
      if (!ended(answer)) stop = source.follow(`${path}/events`, hear, lost);
    }, failed);
  };
  begin();
  return () => {
    here = false;
    clearTimeout(timer);
    stop();
  };
}

/** That the server is lost, quietly; or what it says is wrong. @param {{ followed: Followed<any> }} props */
export function Trouble({ followed }) {
  return html`<div role="status">
    ${followed.lost && html`<p class="lost">The server does not answer. This page tries again, and goes on when it is back.</p>`}
    ${followed.problem && html`<${ProblemBox} problem=${followed.problem} again=${followed.again} />`}
  </div>`;
}
