/**
 * A live graph: facts, results and answers that change as batches arrive.
 *
 * Facts come as server-sent events. Each version that they report has tables, drawings and operators asked for again, so that what
 * a person searched, sorted or chose stays. `hold` keeps those at the version that is shown.
 *
 * @import { LiveFacts } from "../types.d.ts"
 * @import { Followed } from "../parts/follow.js"
 */

import { html, useEffect, useRef, useState } from "gt/vendor/preact.js";
import { changePlace } from "gt/address.js";
import { pathOf } from "gt/source.js";
import { Trouble, useFollowed } from "gt/parts/follow.js";
import { digits } from "gt/parts/numbers.js";
import { Tabs } from "gt/parts/tabs.js";
import { Overview } from "gt/pages/live/overview.js";
import { ChangesTab, GraphTab, OperatorsTab, ProgramsTab, QueriesTab } from "gt/pages/live/tabs.js";

/** Milliseconds between two versions that tables show: faster, nobody reads them. */
const PACE = 600;

/** @param {{ name: string, options: Record<string, string> }} props */
export default function LivePage({ name, options }) {
  /** @type {Followed<LiveFacts>} */
  const followed = useFollowed(pathOf(["live", name]));
  const facts = followed.answer;
  const [held, setHeld] = useState(false);
  const shown = useShown(facts, held, followed.lost);
  return html`
    <${Trouble} followed=${followed} />
    ${!facts && !followed.problem && !followed.lost && html`<p class="empty" aria-busy="true">Loading…</p>`}
    ${facts && html`
      <${Head} facts=${facts} held=${held ? shown.version : null} setHeld=${setHeld} tab=${options.tab} />
      <${Tabs} tabs=${tabsOf(facts, shown.key, options)} at=${options.tab ?? "now"} onChange=${(/** @type {string} */ tab) => changePlace({ tab }, { keep: true })} />
    `}
  `;
}

/** @param {LiveFacts} facts @param {string} version @param {Record<string, string>} options */
function tabsOf(facts, version, options) {
  const props = { facts, version, options };
  const flows = facts.programs.some((program) => program.dataflow);
  return [
    { key: "now", label: "Now", show: () => html`<${Overview} facts=${facts} />` },
    { key: "programs", label: `Programs (${facts.programs.length})`, show: () => html`<${ProgramsTab} ...${props} />` },
    { key: "queries", label: `Queries (${facts.queries.length})`, show: () => html`<${QueriesTab} ...${props} />` },
    { key: "changes", label: "Last changes", show: () => html`<${ChangesTab} ...${props} />` },
    { key: "graph", label: "Graph", show: () => html`<${GraphTab} ...${props} />` },
    ...(flows ? [{ key: "operators", label: "Operators", show: () => html`<${OperatorsTab} ...${props} />` }] : []),
  ];
}

/** @param {{ facts: LiveFacts, held: number | null, setHeld: (held: boolean) => void, tab?: string }} props */
function Head({ facts, held, setHeld, tab = "now" }) {
  return html`<div class="row live-head">
    <h1 dir="auto">${facts.name}</h1>
    <span class="live-numbers">
      version <strong>${digits(facts.version)}</strong> · <strong>${digits(facts.vertices)}</strong> vertices · <strong>${digits(facts.edges)}</strong> edges
      ${!facts.writable && html` · <span class="quiet">read only: another process writes it</span>`}
    </span>
    ${tab !== "now" && html`<button type="button" class="hold" aria-pressed=${held !== null} onClick=${() => setHeld(held === null)}>
      ${held === null ? "❙❙ Hold" : `▶ Go on (held at version ${digits(held)})`}
    </button>`}
  </div>`;
}

/**
 * The version that tables show: the latest, at most one in a while, none while it is held. The key also changes when the
 * server has come back, whose versions may begin anew.
 *
 * @param {LiveFacts | null} facts @param {boolean} held @param {boolean} lost
 */
function useShown(facts, held, lost) {
  const latest = facts?.version ?? 0;
  const [shown, setShown] = useState(latest);
  const [returns, setReturns] = useState(0);
  const last = useRef(0);
  useEffect(() => {
    if (held || lost || latest === shown) return undefined;
    const timer = setTimeout(() => {
      last.current = Date.now();
      setShown(latest);
    }, Math.max(0, last.current + PACE - Date.now()));
    return () => clearTimeout(timer);
  }, [latest, held, lost, shown]);
  const was = useRef(false);
  useEffect(() => {
    if (was.current && !lost) setReturns((count) => count + 1);
    was.current = lost;
  }, [lost]);
  return { version: shown, key: `${shown} ${returns}` };
}
