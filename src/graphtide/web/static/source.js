/**
 * Where answers come from: a server, a notebook, or the file that the page is in.
 *
 * All three answer the paths of `types.d.ts`. Whatever shows something asks `ask`, and need not know
 * which of them it is. Answers of a server are kept for as long as the page shows the same thing.
 *
 * @import { Problem } from "./types.d.ts"
 * @typedef {Record<string, string | number | null | undefined>} Options
 */

/** What went wrong, in the words of the server. */
export class AnswerError extends Error {
  /** @param {Problem} problem @param {number} status */
  constructor(problem, status) {
    super(problem.what);
    this.problem = problem;
    this.status = status;
  }
}

/**
 * @typedef {object} Source
 * @property {boolean} live  whether it can be told of changes, and carry out statements
 * @property {boolean} whole  whether it answers with all rows that it has, so that the page searches, sorts and pages them
 * @property {(path: string, signal?: AbortSignal) => Promise<any>} get
 * @property {(path: string, body: object) => Promise<any>} post
 * @property {(path: string, hear: (message: any) => void, lost: () => void) => (() => void)} follow
 * @property {(path: string) => string | null} download  an address to save from; null where there is none
 */

/** @type {Source} */
const server = {
  live: true,
  whole: false,
  async get(path, signal) {
    return read(await reached(fetch(`api/${path}`, { signal })));
  },
  async post(path, body) {
    const headers = { "content-type": "application/json", "x-graphtide": token() };
    return read(await reached(fetch(`api/${path}`, { method: "POST", headers, body: JSON.stringify(body) })));
  },
  follow(path, hear, lost) {
    const events = new EventSource(`api/${path}`);
    events.onmessage = (event) => hear(JSON.parse(event.data));
    events.onerror = lost;
    return () => events.close();
  },
  download: (path) => `api/download/${path}`,
};

/** What a saved file holds, by path. @type {Record<string, any> | null} */
const embedded = JSON.parse(document.getElementById("answers")?.textContent ?? "null");

/** @type {Source} */
const file = {
  live: false,
  whole: true,
  async get(path) {
    const answer = embedded?.[path] ?? embedded?.[withoutRows(path)];
    if (answer === undefined) {
      const hint = "open the store itself: graphtide open";
      throw new AnswerError({ what: "this is not in the saved file", hint }, 404);
    }
    return answer;
  },
  async post() {
    throw new AnswerError({ what: "a saved file carries nothing out" }, 405);
  },
  follow: () => () => {},
  download: () => null,
};

/** Options that choose rows of a table, or digits: a file has the table without them. */
const ROWS = ["search", "sort", "down", "start", "count", "digits"];

/** @param {string} path */
function withoutRows(path) {
  const [parts, query] = path.split("?");
  const options = new URLSearchParams(query);
  for (const name of ROWS) options.delete(name);
  return options.size ? `${parts}?${options}` : parts;
}

/** Asks the notebook round the frame that the page is in. @type {Source} */
const notebook = {
  live: true,
  whole: false,
  get: (path) => passOn({ get: path }),
  post: (path, body) => passOn({ post: path, body }),
  follow(path, hear, lost) {
    const at = path.replace(/\/events$/, "");
    const timer = setInterval(() => notebook.get(at).then(hear, lost), 1000);
    return () => clearInterval(timer);
  },
  download: () => null,
};

/** @type {Map<number, { resolve: (answer: any) => void, reject: (error: Error) => void }>} */
const waiting = new Map();
let asked = 0;

/** @param {object} message @returns {Promise<any>} */
function passOn(message) {
  return new Promise((resolve, reject) => {
    asked += 1;
    waiting.set(asked, { resolve, reject });
    window.parent.postMessage({ graphtide: asked, ...message }, "*");
  });
}

/** @type {Source} */
export const source = chosen();

function chosen() {
  if (embedded) return file;
  if (!document.documentElement.dataset.notebook) return server;
  window.addEventListener("message", ({ data, source: sender }) => {
    const asker = waiting.get(data?.graphtide);
    if (!asker || sender !== window.parent) return;
    waiting.delete(data.graphtide);
    if (data.problem) asker.reject(new AnswerError(data.problem, data.status));
    else asker.resolve(data.answer);
  });
  return notebook;
}

/**
 * The path of an answer: parts are encoded, options without a value left out, in one order.
 *
 * @param {string[]} parts @param {Options} [options]
 */
export function pathOf(parts, options = {}) {
  const query = new URLSearchParams();
  for (const name of Object.keys(options).sort()) {
    const value = options[name];
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const path = parts.map(encodeURIComponent).join("/");
  return query.size ? `${path}?${query}` : path;
}

/** @param {Promise<Response>} response */
async function reached(response) {
  try {
    return await response;
  } catch (error) {
    if (error instanceof DOMException) throw error;
    const hint = "start it again: graphtide open; this page goes on by itself";
    throw new AnswerError({ what: "the server does not answer", hint }, 0);
  }
}

/** @param {Response} response */
async function read(response) {
  if (response.ok) return response.json();
  const problem = await response.json().catch(() => ({ what: `the server answered ${response.status}` }));
  throw new AnswerError(problem, response.status);
}

function token() {
  const meta = document.querySelector('meta[name="graphtide-token"]');
  return meta instanceof HTMLMetaElement ? meta.content : "";
}
