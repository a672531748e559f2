/**
 * GVDL for the editor: its tokens, and what can be written at a place.
 *
 * The parser of the server says what is right. Here a word is only guessed at by its neighbours: a keyword before a
 * comparison is a property, for example.
 *
 * @typedef {{ graphs: string[], views: string[], collections: string[], runs: string[], live: string[] }} Names
 * @typedef {{ of: "edge" | "vertex", name: string, type: string }} Property
 * @typedef {{ label: string, type: string, detail?: string, apply?: string, boost?: number }} Offer
 * @typedef {{ offers: Offer[], from: number }} Offers
 */

import { COMPUTATIONS, KEYWORDS, STARTS, UNITS } from "gt/parts/gvdl_words.js";

const VIEW_NAME = /^(?:[\p{L}\p{N}_.+#%@&-]|\{[\p{L}_][\p{L}\p{N}_]*\})+(?=\s*:)/u;
const NUMBER = /^(?:\d+\.\d+|\.\d+|\d+)(?:[eE][+-]?\d+)?(?![\p{L}\p{N}_])/u;
const DATE = /^\d{4}-\d\d?-\d\d?(?:[T ]\d\d?:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\p{L}\p{N}_:-])/iu;
const WORD = /^[\p{L}\p{N}_](?:[\p{L}\p{N}_]|\{[\p{L}_][\p{L}\p{N}_]*\})*/u;
const DASHED = /^[-.](?=[\p{L}\p{N}_])[\p{L}\p{N}_]+(?:[-.][\p{L}\p{N}_]+)*/u;
const COMPARED = /^\s*(?:<=|>=|<>|!=|==|=|<|>|≤|≥|≠|(?:not\s+)?(?:between|in|is|like)(?![\p{L}\p{N}_]))/iu;
const UNIT = /^(?:milliseconds?|seconds?|minutes?|hours?|days?|weeks?|months?|years?|ms|s|secs?|mins?|h|hrs?|d|w|mo|y)$/i;
const NAMED = new Set("graph collection view on query program cube".split(" "));
const COMPUTING = new Set("run computation individual differential scratch adaptive".split(" "));

/**
 * What a stream of CodeMirror does that is used here.
 *
 * @typedef {object} Stream
 * @property {number} pos
 * @property {string} string
 * @property {() => boolean} eatSpace
 * @property {() => void} skipToEnd
 * @property {() => string | void} next
 * @property {(pattern: RegExp) => any} match
 * @typedef {{ comment: boolean, before: string, brackets: number }} State
 */

/** Tokens of GVDL, in the form of a stream parser. `before` is the word or sign before the place. */
export const gvdlTokens = {
  name: "gvdl",
  languageData: { commentTokens: { line: "--", block: { open: "/*", close: "*/" } }, closeBrackets: { brackets: ["(", "[", "{", "'", "`"] } },
  /** @returns {State} */
  startState: () => ({ comment: false, before: "", brackets: 0 }),
  /** @param {Stream} stream @param {State} state @returns {string | null} */
  token(stream, state) {
    if (state.comment) return blockComment(stream, state);
    if (stream.eatSpace()) return null;
    if (stream.match(/^--/)) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match(/^\/\*/)) {
      state.comment = true;
      return blockComment(stream, state);
    }
    const before = state.before;
    if (before === "[" && stream.match(VIEW_NAME)) return seen(state, "view name", "labelName");
    if (stream.match(/^'(?:[^'\\]|\\.|'')*'?/)) return seen(state, "text", "string");
    if (stream.match(/^(?:"(?:[^"]|"")*"?|`(?:[^`]|``)*`?)/)) return seen(state, "name", "variableName");
    if (stream.match(DATE) || stream.match(NUMBER)) return seen(state, "number", "number");
    if (stream.match(/^\$[\p{L}_][\p{L}\p{N}_]*/u)) return seen(state, "name", "atom");
    if (stream.match(WORD)) return word(stream, state, before);
    if (stream.match(/^(?:<=|>=|<>|!=|==|=|<|>|≤|≥|≠|\.\.|[+\-!*])/)) return seen(state, "compared", "operator");
    const sign = String(stream.next() ?? "");
    state.before = sign;
    return "([{}])".includes(sign) ? "bracket" : "punctuation";
  },
};

/** @param {State} state @param {string} before @param {string} style */
function seen(state, before, style) {
  state.before = before;
  return style;
}

/** @param {Stream} stream @param {State} state */
function blockComment(stream, state) {
  if (stream.match(/^.*?\*\//)) state.comment = false;
  else stream.skipToEnd();
  return "comment";
}

/** A word that has just been read, by what stands on both sides of it. @param {Stream} stream @param {State} state @param {string} before */
function word(stream, state, before) {
  const text = stream.string.slice(0, stream.pos).match(/[\p{L}\p{N}_{}]+$/u)?.[0] ?? "";
  const lower = text.toLowerCase();
  const rest = stream.string.slice(stream.pos);
  if (before === ".") return seen(state, "name", "propertyName");
  if (before === "number" && UNIT.test(text)) return seen(state, "unit", "unit");
  if ((lower === "src" || lower === "dst") && rest.startsWith(".")) return seen(state, "end", "keyword");
  const keyword = KEYWORDS.has(lower);
  if (keyword && !COMPARED.test(rest)) return seen(state, lower, lower === "true" || lower === "false" || lower === "null" ? "atom" : "keyword");
  if (keyword && /^(?:and|or|not|where|in|is|between)$/.test(lower)) return seen(state, lower, "keyword");
  if (NAMED.has(before) || COMPUTING.has(before)) {
    stream.match(DASHED);
    return seen(state, "name", COMPUTING.has(before) ? "className" : "variableName");
  }
  return seen(state, "name", COMPARED.test(rest) ? "propertyName" : "variableName");
}

/** The text before a place without comments and texts, from the last statement on. @param {string} text */
export function statementBefore(text) {
  const plain = text
    .replace(/\/\*[^]*?(?:\*\/|$)/g, " ")
    .replace(/--[^\n]*/g, " ")
    .replace(/'(?:[^'\\\n]|\\.|'')*'/g, "''");
  return plain.slice(plain.lastIndexOf(";") + 1).replace(/^\s+/, "");
}

const SUBJECT = /\bon\s+(?:(?:live\s+)?graph\s+|collection\s+)?(?:"((?:[^"]|"")+)"|`((?:[^`]|``)+)`|([\p{L}\p{N}_]+(?:[-.][\p{L}\p{N}_]+)*))/giu;

/** The graph, view or collection that a statement is about, from its last `on NAME`. @param {string} statement */
export function subject(statement) {
  const found = [...statement.matchAll(SUBJECT)].at(-1);
  if (!found) return null;
  return found[1]?.replaceAll('""', '"') ?? found[2]?.replaceAll("``", "`") ?? found[3];
}

/** A name as GVDL takes it: in backticks where it is not plain. @param {string} name */
export function written(name) {
  return /^[\p{L}\p{N}_]+(?:[-.][\p{L}\p{N}_]+)*$/u.test(name) ? name : `\`${name.replaceAll("`", "``")}\``;
}

/** A property as a predicate takes it. @param {string} name */
export function writtenProperty(name) {
  const plain = /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) && !/^(?:not|true|false|null|src|dst)$/i.test(name);
  return plain ? name : `\`${name.replaceAll("`", "``")}\``;
}

/**
 * What can stand at the end of `before`, the text before the cursor.
 *
 * @param {string} before @param {Names} names @param {Property[]} properties @returns {Offers | null}
 */
export function offersAt(before, names, properties) {
  const typed = before.match(/[\p{L}\p{N}_]+(?:[-.][\p{L}\p{N}_]+)*$/u)?.[0] ?? "";
  const statement = statementBefore(before);
  if (/'[^'\n]*$/.test(statement.replace(/''/g, ""))) return null;
  const end = typed.match(/^(src|dst)\.([\p{L}\p{N}_]*)$/iu);
  if (end || /\b(?:src|dst)\.$/i.test(before)) {
    const from = before.length - (end ? end[2].length : 0);
    return { from, offers: vertexProperties(properties) };
  }
  const ahead = statement.slice(0, statement.length - typed.length);
  return { from: before.length - typed.length, offers: offersBehind(ahead, names, properties) };
}

/** @param {string} ahead  the statement up to the word @param {Names} names @param {Property[]} properties @returns {Offer[]} */
function offersBehind(ahead, names, properties) {
  const words = ahead.toLowerCase().trim();
  if (words === "" || words === "explain") return keywords(STARTS, 2);
  const named = namesBehind(words, names);
  if (named) return named;
  const programs = /\brun(?:\s+(?:computation|scratch|individual|differential|adaptive(?:\s+\d+)?))?$/.test(words);
  if (programs) return [...computations(), ...keywords(["computation", "scratch", "differential", "adaptive"], -1)];
  if (/\d$/.test(words)) return [...keywords(UNITS, 1), ...keywords(KEYWORDS, 0)];
  const asked = /(?:\b(?:where|and|or|not|over|of|by|within|in)|[\[:(,<>=!])$/.test(words) && !/\bgroup$/.test(words);
  const about = asked || /\b(?:where|over)\b/.test(words);
  return [...(about ? edgeProperties(properties, asked ? 3 : 1) : []), ...keywords(KEYWORDS, 0)];
}

/** @param {string} words @param {Names} names @returns {Offer[] | null} */
function namesBehind(words, names) {
  if (/\b(?:live\s+graph|on\s+live\s+graph)$/.test(words)) return offered(names.live, "live graph");
  if (/\b(?:use|show|delete)\s+graph$/.test(words)) return offered(names.graphs, "graph");
  if (/\b(?:show|delete|refresh|on)\s+(?:collection|cube)$/.test(words)) return offered(names.collections, "collection");
  if (/\b(?:show|delete|refresh)\s+view$/.test(words)) return offered(names.views, "view");
  if (/\b(?:show|delete)\s+run$/.test(words)) return offered(names.runs, "run");
  if (!/\bon$/.test(words)) return null;
  if (/^run\b/.test(words)) return [...offered(names.collections, "collection"), ...keywords(["collection", "spark", "shards"], -1)];
  if (/^create\s+(?:or\s+replace\s+)?(?:query|program)\b|^(?:drop|set|show)\b/.test(words)) return keywords(["live graph"], 1);
  return [...offered(names.graphs, "graph"), ...offered(names.views, "view")];
}

/** @param {string[]} names @param {string} detail @returns {Offer[]} */
function offered(names, detail) {
  return names.map((name) => ({ label: name, type: "variable", detail, apply: written(name), boost: 2 }));
}

/** @param {Iterable<string>} words @param {number} boost @returns {Offer[]} */
function keywords(words, boost) {
  return Array.from(words, (label) => ({ label, type: "keyword", boost }));
}

/** @returns {Offer[]} */
function computations() {
  return COMPUTATIONS.map(([label, takes]) => ({ label, type: "function", detail: takes && `(${takes})`, boost: 1 }));
}

/** @param {Property[]} properties @param {number} boost @returns {Offer[]} */
function edgeProperties(properties, boost) {
  const edges = properties.filter((one) => one.of === "edge");
  const ends = properties.some((one) => one.of === "vertex") ? ["src", "dst"] : [];
  return [
    ...edges.map((one) => ({ label: one.name, type: "property", detail: one.type, apply: writtenProperty(one.name), boost })),
    ...ends.map((label) => ({ label, type: "property", detail: "end of an edge", apply: `${label}.`, boost: boost - 1 })),
  ];
}

/** @param {Property[]} properties @returns {Offer[]} */
function vertexProperties(properties) {
  const vertices = properties.filter((one) => one.of === "vertex");
  return vertices.map((one) => ({ label: one.name, type: "property", detail: one.type, apply: writtenProperty(one.name) }));
}
