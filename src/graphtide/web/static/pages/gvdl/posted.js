/**
 * What the server says about a text while it is typed: asked for when typing pauses, one at a time, and answers to what
 * has been typed over are dropped.
 *
 * @import { Problem } from "../../types.d.ts"
 */

import { useEffect, useRef, useState } from "gt/vendor/preact.js";
import { asProblem } from "gt/answers.js";
import { source } from "gt/source.js";

/**
 * @template T
 * @typedef {{ text: string, answer: T | null, problem: Problem | null, waits: boolean }} Posted  `text` is what the answer is about
 */

/**
 * @template T
 * @param {string} path @param {string | null} text  null asks for nothing @param {number} pause  milliseconds
 * @returns {Posted<T>}
 */
export function usePosted(path, text, pause) {
  const [state, setState] = useState(
    /** @type {{ text: string, answer: T | null, problem: Problem | null }} */ ({ text: "", answer: null, problem: null }),
  );
  const newest = useRef(text);
  const busy = useRef(false);
  const gone = useRef(false);
  newest.current = text;
  const ask = () => {
    const asked = newest.current;
    if (asked === null || busy.current || gone.current) return;
    busy.current = true;
    const settle = (/** @type {T | null} */ answer, /** @type {Problem | null} */ problem) => {
      busy.current = false;
      if (gone.current) return;
      if (newest.current === asked) setState({ text: asked, answer, problem });
      else ask();
    };
    source.post(path, { text: asked }).then((answer) => settle(answer, null), (error) => settle(null, asProblem(error)));
  };
  useEffect(() => {
    if (text === null || text === state.text) return undefined;
    const timer = setTimeout(ask, pause);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    gone.current = false;
    return () => {
      gone.current = true;
    };
  }, []);
  return { ...state, waits: text !== null && text !== state.text };
}
