/**
 * The page: the bar at the top, and below it what the address names.
 *
 * Each kind of place is a module of `pages`, which is loaded when it is first looked at.
 *
 * @import { Catalog } from "./types.d.ts"
 */

import { html, render, useEffect, useRef, useState } from "gt/vendor/preact.js";
import { currentPlace, linkTo, usePlace } from "gt/address.js";
import { ProblemBox, asProblem, useAnswer } from "gt/answers.js";
import { JobsBadge } from "gt/parts/jobs_badge.js";
import { ThemeSwitch, showTheme, storedTheme } from "gt/parts/theme.js";

/** @type {Record<string, () => Promise<{ default: (props: any) => any }>>} */
const PAGES = {
  "": () => import("gt/pages/catalog.js"),
  graph: () => import("gt/pages/graph.js"),
  collection: () => import("gt/pages/collection.js"),
  run: () => import("gt/pages/run.js"),
  live: () => import("gt/pages/live.js"),
  compare: () => import("gt/pages/compare.js"),
  gvdl: () => import("gt/pages/gvdl.js"),
  jobs: () => import("gt/pages/jobs.js"),
};

function App() {
  const place = usePlace();
  const [kind = "", name = ""] = place.parts;
  const [shown, setShown] = useState(/** @type {{ kind: string, page: any } | null} */ (null));
  const [problem, setProblem] = useState(/** @type {import("./types.d.ts").Problem | null} */ (null));
  const catalog = useAnswer("catalog");
  useEffect(() => {
    let here = true;
    setProblem(null);
    const load = PAGES[kind];
    if (!load) setProblem({ what: `there is no page '${kind}'`, hint: "begin at the catalog" });
    else load().then((page) => here && setShown({ kind, page: page.default }), (error) => here && setProblem(loadProblem(error)));
    document.title = name ? `${name} · Graphtide` : "Graphtide";
    return () => {
      here = false;
    };
  }, [kind, name]);
  const begun = useRef(false);
  useEffect(() => {
    if (begun.current && kind === "") catalog.again();
    begun.current = true;
  }, [kind]);
  const ready = shown !== null && shown.kind === kind;
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to content</a>
    <header class="bar">
      <a class="brand" href=${linkTo([])}><img src=${icon} alt="" width="20" height="20" />Graphtide</a>
      <nav aria-label="Where you are">
        ${kind !== "" && html`<span class="quiet">${kind === "gvdl" ? "GVDL" : kind}</span> <strong dir="auto" title=${name}>${name}</strong>`}
      </nav>
      <div class="links">
        <${Links} catalog=${/** @type {Catalog | null} */ (catalog.answer)} kind=${kind} />
        <${ThemeSwitch} />
      </div>
    </header>
    <main id="main" tabindex="-1">
      ${problem && html`<${ProblemBox} problem=${problem} />`}
      ${!problem && ready && html`<${shown.page} key=${place.parts.join("/")} name=${name} options=${place.options} catalog=${catalog} />`}
      ${!problem && !ready && html`<p class="empty" aria-busy="true">Loading…</p>`}
    </main>
  `;
}

/** @param {{ catalog: Catalog | null, kind: string }} props */
function Links({ catalog, kind }) {
  if (!catalog) return null;
  const link = (/** @type {string} */ to, /** @type {string} */ label) => html`<a href=${linkTo(to ? [to] : [])} aria-current=${kind === to ? "page" : undefined}>${label}</a>`;
  return html`${link("", "Catalog")} ${catalog.store && link("gvdl", "GVDL")} ${catalog.changes && link("jobs", "Jobs")} ${catalog.changes && html`<${JobsBadge} />`}`;
}

/** A module that does not come has an error of the browser's, which differs from browser to browser. @param {unknown} error */
function loadProblem(error) {
  if (!(error instanceof TypeError)) return asProblem(error);
  const hint = "start the server again if it has ended: graphtide open, and open the address that it prints";
  return { what: "this part of the page did not load", hint };
}

/** A link within the page must not become its address. @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** The icon, from where the page's own address says it is: a saved file has it within itself. */
const icon = document.querySelector('link[rel="icon"]')?.getAttribute("href") ?? "";

const root = document.getElementById("page");
if (root) {
  showTheme(storedTheme());
  root.textContent = "";
  // Not only when it is rendered: what the address names comes sooner by that much.
  PAGES[currentPlace().parts[0] ?? ""]?.().catch(() => {});
  render(html`<${App} />`, root);
}
