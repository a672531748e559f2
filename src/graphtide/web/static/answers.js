/**
 * Hooks that ask for answers, and what is shown in their place until they are there.
 *
 * @import { Problem } from "./types.d.ts"
 */

import { html, useCallback, useEffect, useRef, useState } from "gt/vendor/preact.js";
import { AnswerError, source } from "gt/source.js";

/**
 * @template T
 * @typedef {{ answer: T | null, problem: Problem | null, loading: boolean, again: () => void }} Asked
 */

/**
 * Ask for a path. While another path is asked for, the answer of the one before stays, so that nothing flickers;
 * an answer that comes late is left out. While the server is lost, the answer stays too.
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
  const again = useCallback(() => setTimes((count) => count + 1), []);
  const shown = useRef(/** @type {string | null} */ (null));
  const inHand = useRef({ busy: false, version });
  useEffect(() => {
    if (path === null) return undefined;
    const stopper = new AbortController();
    const asked = { busy: true, version };
    inHand.current = asked;
    const settle = (/** @type {T | null} */ answer, /** @type {unknown} */ error) => {
      if (stopper.signal.aborted) return;
      asked.busy = false;
      const lost = error instanceof AnswerError && error.status === 0 && shown.current === path;
      if (!error) shown.current = path;
      setState((before) => ({ answer: lost ? before.answer : answer, problem: error ? asProblem(error) : null, loading: false }));
    };
    setState((before) => ({ ...before, loading: true }));
    source.get(path, stopper.signal).then((answer) => settle(answer, null), (error) => settle(null, error));
    return () => stopper.abort();
  }, [path, times]);
  useEffect(() => {
    // What is under way is waited for: versions may come faster than answers.
    if (!inHand.current.busy && inHand.current.version !== version) again();
  }, [version, state]);
  return { ...state, again };
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
    ${problem.where && html`<p class="quiet">at: ${problem.where}</p>`}
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
