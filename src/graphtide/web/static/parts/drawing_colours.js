/**
 * The colours of vertices by their results, and the legend that says what they mean.
 *
 * Results that name something have a colour for each of the seven that most vertices have, and keep it from view to
 * view; numbers go along a scale; truth is filled or hollow; what has no value is hollow.
 *
 * @import { Cell } from "../types.d.ts"
 */

const KINDS = ["green", "pink", "yellow", "blue", "red", "orange", "ink"];
const STEPS = 9;
const SLACK = 0.01;
/** From little to much; each can be seen on its paper, and grows lighter all the way. */
const SCALES = {
  light: ["#0a2a66", "#3b4f86", "#6b6f86", "#9a8c6e", "#c9a94a", "#ecc81c"],
  dark: ["#4668c9", "#6f83c0", "#98a0b3", "#bdb78f", "#ded06a", "#fdf06a"],
};
const NO_NUMBERS = new Set(["not reached", "inf", "-inf", "nan"]);

/** @typedef {Record<string, string>} Theme  colours by name, as `#rrggbb`; `dark` is "1" or "" */

/**
 * The page's colours as canvases take them.
 *
 * @param {Record<string, string>} colours  as the browser computes them
 * @returns {Theme}
 */
export function themeOf(colours) {
  /** @type {Theme} */
  const theme = {};
  for (const [name, colour] of Object.entries(colours)) theme[name] = hexOf(colour);
  theme.dark = luminance(theme.paper) < 0.4 ? "1" : "";
  // What stayed is the background that changes stand out from.
  theme.stayed = mixed(theme.paper, theme.grey, 0.75);
  return theme;
}

/**
 * @typedef {object} Colouring
 * @property {string[]} colours  of each vertex
 * @property {boolean[]} hollow
 * @property {{ label: string, colour: string, hollow?: boolean }[]} named
 * @property {{ colours: string[], low: string, high: string, label: string } | null} scale
 */

/**
 * Remembers which colour vertices had, so that a group keeps its colour when it changes its name: components are
 * named by one of their vertices, which may leave them. Of a group that breaks, the larger part keeps it.
 */
export class Colours {
  constructor() {
    /** The name of a colour by the id of a vertex. @type {Map<string, string>} */
    this.last = new Map();
  }

  /**
   * @param {string[]} ids @param {Cell[] | null} values @param {string | null} field @param {Theme} theme
   * @returns {Colouring}
   */
  colour(ids, values, field, theme) {
    const count = ids.length;
    const what = field ?? "";
    if (!values) return { colours: Array(count).fill(theme.quiet), hollow: Array(count).fill(false), named: [], scale: null };
    const known = values.filter((value) => value !== null);
    if (known.some((value) => typeof value === "boolean")) return byTruth(values, what, theme);
    const numbers = known.filter((value) => typeof value === "number");
    const words = known.filter((value) => typeof value === "string" && !NO_NUMBERS.has(value));
    return numbers.length || !words.length ? byNumber(values, what, theme) : this.byName(ids, values, what, theme);
  }

  /** @param {string[]} ids @param {Cell[]} values @param {string} what @param {Theme} theme @returns {Colouring} */
  byName(ids, values, what, theme) {
    /** @type {Map<string, number[]>} */
    const groups = new Map();
    values.forEach((value, at) => {
      if (typeof value !== "string") return;
      const members = groups.get(value);
      if (members) members.push(at);
      else groups.set(value, [at]);
    });
    const several = [...groups].filter(([, members]) => members.length > 1).sort((one, other) => other[1].length - one[1].length);
    const chosen = several.slice(0, KINDS.length);
    const kinds = this.kindsOf(ids, chosen);
    const colours = values.map((value) => theme[kinds.get(String(value)) ?? "grey"]);
    this.last = new Map();
    values.forEach((value, at) => {
      const kind = kinds.get(String(value));
      if (kind) this.last.set(ids[at], kind);
    });
    const named = chosen.map(([name, members]) => ({
      label: `${what} ${name} (${members.length.toLocaleString("en")})`,
      colour: theme[kinds.get(name) ?? "grey"],
    }));
    const rest = groups.size - chosen.length;
    if (rest) named.push({ label: `${rest.toLocaleString("en")} ${several.length > chosen.length ? "smaller ones" : "alone"}`, colour: theme.grey });
    const hollow = values.map((value) => value === null);
    return { colours, hollow, named, scale: null };
  }

  /** The colour of each group: that which most of its vertices had, if that is free. @param {string[]} ids @param {[string, number[]][]} groups */
  kindsOf(ids, groups) {
    /** @type {Map<string, string>} */
    const kinds = new Map();
    const free = new Set(KINDS);
    for (const [name, members] of groups) {
      const votes = new Map();
      for (const at of members) {
        const kind = this.last.get(ids[at]);
        if (kind) votes.set(kind, (votes.get(kind) ?? 0) + 1);
      }
      const [best] = [...votes].sort((one, other) => other[1] - one[1])[0] ?? [""];
      if (!free.has(best)) continue;
      kinds.set(name, best);
      free.delete(best);
    }
    for (const [name] of groups) {
      if (kinds.has(name)) continue;
      const [next] = free;
      kinds.set(name, next);
      free.delete(next);
    }
    return kinds;
  }
}

/**
 * Which vertices have another result than before. Where results name groups, a group that has only changed its name
 * has not changed: the group before and the group now that share most vertices are the same.
 *
 * @param {Cell[] | null} values @param {Cell[] | null} before
 * @returns {boolean[]}
 */
export function changedResults(values, before) {
  if (!values || !before) return [];
  const names = values.some((value) => typeof value === "string" && !NO_NUMBERS.has(value)) && !values.some((value) => typeof value === "number");
  if (!names) {
    const slack = slackOf(values);
    return values.map((value, at) => before[at] !== null && value !== null && differs(value, before[at], slack));
  }
  /** @type {Map<string, number>} */
  const shared = new Map();
  values.forEach((value, at) => {
    const key = JSON.stringify([before[at], value]);
    shared.set(key, (shared.get(key) ?? 0) + 1);
  });
  /** @type {Map<Cell, Cell>} */
  const became = new Map();
  const taken = new Set();
  for (const [key] of [...shared].sort((one, other) => other[1] - one[1])) {
    const [old, now] = JSON.parse(key);
    if (became.has(old) || taken.has(now)) continue;
    became.set(old, now);
    taken.add(now);
  }
  return values.map((value, at) => value !== null && before[at] !== null && became.get(before[at]) !== value);
}

/** What of numbers with fractions is too little for the scale to show. @param {Cell[]} values */
function slackOf(values) {
  const numbers = values.filter((value) => typeof value === "number");
  if (numbers.every(Number.isInteger)) return 0;
  const [low, high] = numbers.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);
  return SLACK * (high - low);
}

/**
 * Whether a result is another one; numbers by more than rounding, and than a slack.
 *
 * @param {Cell | undefined} one @param {Cell | undefined} other @param {number} [slack]
 */
export function differs(one, other, slack = 0) {
  if (typeof one === "number" && typeof other === "number") return Math.abs(one - other) > Math.max(slack, 1e-9 * Math.max(Math.abs(one), Math.abs(other)));
  return one !== other && JSON.stringify(one) !== JSON.stringify(other);
}

/** @param {Cell[]} values @param {string} what @param {Theme} theme @returns {Colouring} */
function byTruth(values, what, theme) {
  return {
    colours: values.map((value) => (value === true ? theme.blue : theme.quiet)),
    hollow: values.map((value) => value !== true),
    named: [
      { label: `${what}: true`, colour: theme.blue },
      { label: `${what}: false`, colour: theme.quiet, hollow: true },
    ],
    scale: null,
  };
}

/** @param {Cell[]} values @param {string} what @param {Theme} theme @returns {Colouring} */
function byNumber(values, what, theme) {
  const numbers = values.map((value) => (typeof value === "number" ? value : NaN));
  const known = numbers.filter(Number.isFinite).sort((one, other) => one - other);
  const hollow = numbers.map((value) => !Number.isFinite(value));
  const named = hollow.some(Boolean) ? [{ label: `no ${what}, or not reached`, colour: theme.quiet, hollow: true }] : [];
  if (!known.length) return { colours: numbers.map(() => theme.quiet), hollow, named, scale: null };
  const [low, high] = [known[0], known[known.length - 1]];
  const middle = known[Math.floor(known.length / 2)];
  const stops = theme.dark ? SCALES.dark : SCALES.light;
  const whole = known.every(Number.isInteger);
  const logarithmic = low > 0 && high / low > 50 && high / middle > 8;
  const share = (/** @type {number} */ value) => {
    if (high === low) return 0;
    return logarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  };
  const colours = numbers.map((value, at) => (hollow[at] ? theme.quiet : between(stops, share(value))));
  if (whole && high - low < STEPS) {
    const steps = Array.from({ length: high - low + 1 }, (_, at) => low + at);
    const swatches = steps.map((step) => ({ label: `${what} ${step}`, colour: between(stops, share(step)) }));
    return { colours, hollow, named: [...swatches, ...named], scale: null };
  }
  const label = logarithmic ? `${what} (logarithmic)` : what;
  return { colours, hollow, named, scale: { colours: stops, low: short(low), high: short(high), label } };
}

/** @param {string[]} stops @param {number} share */
function between(stops, share) {
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const at = Math.min(Math.floor(place), stops.length - 2);
  const [one, other] = [partsOf(stops[at]), partsOf(stops[at + 1])];
  return hexFrom(one.map((value, part) => value + (other[part] - value) * (place - at)));
}

/** A colour on its way to another. @param {string} one @param {string} other @param {number} share */
export function mixed(one, other, share) {
  return between([one, other], share);
}

/** @param {number} value */
function short(value) {
  return Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(2) : String(+value.toPrecision(4));
}

/** @param {string} colour */
function partsOf(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/** @param {number[]} parts */
function hexFrom(parts) {
  return `#${parts.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}

/** @param {string} colour  as the browser computes it: rgb(1, 2, 3) */
function hexOf(colour) {
  return hexFrom((colour.match(/[\d.]+/g) ?? ["0", "0", "0"]).slice(0, 3).map(Number));
}

/** @param {string} colour */
function luminance(colour) {
  const [red, green, blue] = partsOf(colour).map((part) => part / 255);
  return 0.3 * red + 0.6 * green + 0.1 * blue;
}
