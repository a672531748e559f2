/**
 * Hooks that ask for answers, and what is shown in their place until they are there.
 *
 * @import { Problem } from "./types.d.ts"
 */

import { html, useCallback, useEffect, useRef, useState } from "gt/vendor/preact.js";
import { AnswerError, source } from "gt/source.js";

/**
 * @template T
 * @typedef {{ answer: T | null, of?: string | null, problem: Problem | null, loading: boolean, again: () => void }} Asked  `of`: the path that
 *   the answer is of
 */

/**
 * Ask for a path. While another path is asked for, the answer of the one before stays, so that nothing flickers.
 *
 * Where only options change, as a slider changes them, one answer is asked for at a time: what was asked for meanwhile
 * waits, and only the last of it is asked for. So it is where there is another `version`. Where the path itself changes, the
 * answer before is given up. While the server is lost, the answer stays.
 *
 * @template T
 * @param {string | null} path  null asks for nothing
 * @param {string | number} [version]  what changes when there is another answer to the same path
 * @returns {Asked<T>}
 */
export function useAnswer(path, version) {
  const [state, setState] = useState(
    /** @type {{ answer: T | null, problem: Problem | null, loading: boolean }} */
    ({ answer: null, problem: null, loading: path !== null }),
  );
  const [times, setTimes] = useState(0);
  const asking = useRef(/** @type {Asking | null} */ (null));
  const wanted = useRef({ path, version });
  const shown = useRef(/** @type {string | null} */ (null));
  const begin = useCallback(() => {
    const { path: next, version: first } = wanted.current;
    if (next === null) return;
    const own = { path: next, stopper: new AbortController() };
    asking.current = own;
    setState((before) => ({ ...before, loading: true }));
    const settle = (/** @type {T | null} */ answer, /** @type {unknown} */ error) => {
      if (asking.current !== own) return;
      asking.current = null;
      const last = wanted.current.path === next && wanted.current.version === first;
      const stays = error instanceof AnswerError && error.status === 0 && shown.current === next;
      if (error === null) shown.current = next;
      const problem = error === null ? null : asProblem(error);
      if (last || problem === null) setState((before) => ({ answer: stays ? before.answer : answer, problem, loading: !last }));
      if (!last) begin();
    };
    source.get(next, own.stopper.signal).then((answer) => settle(answer, null), (error) => settle(null, error));
  }, []);
  useEffect(() => {
    wanted.current = { path, version };
    const before = asking.current;
    if (before !== null && path !== null && sameBut(before.path, path)) return;
    before?.stopper.abort();
    asking.current = null;
    if (path !== null) begin();
  }, [path, times, version]);
  useEffect(() => () => {
    asking.current?.stopper.abort();
    asking.current = null;
  }, []);
  const again = useCallback(() => setTimes((count) => count + 1), []);
  return { ...state, of: state.answer === null ? null : shown.current, again };
}

/** @typedef {{ path: string, stopper: AbortController }} Asking */

/** Whether two paths are the same but for their options. @param {string} one @param {string} other */
function sameBut(one, other) {
  return one.split("?")[0] === other.split("?")[0];
}

/**
 * Hear of a path until the component goes; the last message, and whether the server has been lost.
 *
 * @template T
 * @param {string | null} path
 * @returns {{ message: T | null, lost: boolean }}
 */
export function useEvents(path) {
  const [message, setMessage] = useState(/** @type {T | null} */ (null));
  const [lost, setLost] = useState(false);
  useEffect(() => {
    setMessage(null);
    setLost(false);
    if (path === null) return undefined;
    const hear = (/** @type {T} */ told) => {
      setLost(false);
      setMessage(told);
    };
    return source.follow(path, hear, () => setLost(true));
  }, [path]);
  return { message, lost };
}

/** @param {unknown} error @returns {Problem} */
export function asProblem(error) {
  if (error instanceof AnswerError) return error.problem;
  return { what: error instanceof Error ? error.message : String(error) };
}

/** @param {{ problem: Problem, again?: () => void }} props */
export function ProblemBox({ problem, again }) {
  return html`<div class="problem" role="alert">
    <p>${problem.what}</p>
    ${problem.where && (problem.where.includes("\n") ? html`<pre class="quiet">at: ${problem.where}</pre>` : html`<p class="quiet">at: ${problem.where}</p>`)}
    ${problem.hint && html`<p class="quiet">try: ${problem.hint}</p>`}
    ${again && html`<button type="button" onClick=${again}>Try again</button>`}
  </div>`;
}

/**
 * What is shown for an answer: itself, the problem, or that it is awaited.
 *
 * @template T
 * @param {Asked<T>} asked
 * @param {(answer: T) => any} show
 */
export function shownAnswer(asked, show) {
  if (asked.problem) return html`<${ProblemBox} problem=${asked.problem} again=${asked.again} />`;
  if (asked.answer === null) return html`<p class="empty" aria-busy="true">Loading…</p>`;
  return show(asked.answer);
}
