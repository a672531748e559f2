/**
 * The graph of a version, drawn: coloured by result, with the edges that came and went against another version.
 *
 * What is drawn stands in the page's address: around which vertex, how far, at most how many edges. The places of
 * vertices stay while the slider moves, and so does the camera, so that the eye can follow. What the
 * picture shows is also in two tables, for the keyboard and for screen readers.
 *
 * On the element of the drawing, `data-view` is the version that is drawn, `data-layout` is "moving" until vertices have
 * settled, and `data-took` is the milliseconds from asking for the version to the drawn frame, `data-drawn` those of
 * drawing it, and `data-frame` the milliseconds that the last frame took of this thread.
 *
 * @import { Cell, Drawing, EdgeFacts, VertexFacts } from "../types.d.ts"
 * @import { Colouring, Theme } from "./drawing_colours.js"
 * @import { Picture } from "./drawing_surfaces.js"
 */

import { html, useEffect, useMemo, useRef, useState } from "gt/vendor/preact.js";
import { changePlace, usePlace } from "gt/address.js";
import { ProblemBox, useAnswer } from "gt/answers.js";
import { Colours, changedResults, differs, themeOf } from "gt/parts/drawing_colours.js";
import { CanvasSurface, SigmaSurface, SvgBrush, hasWebGL, paint } from "gt/parts/drawing_surfaces.js";
import { Layout, Places } from "gt/parts/layout.js";
import { SaveMenu } from "gt/parts/save.js";
import { useColours } from "gt/parts/theme.js";
import { pathOf, source } from "gt/source.js";

export { Places } from "gt/parts/layout.js";

const KEYS = ["around", "hops", "component", "sample", "most", "more"];
const MOST = [500, 2_000, 10_000, 50_000];
/** Up to so many edges of a directed graph have arrows. */
const MOST_ARROWS = 600;
/** Up to so many, the one under the pointer is found. */
const MOST_FOUND = 5_000;
const ROWS = 100;
/** Milliseconds of layout in a frame. */
const SLICE = 9;
/** Milliseconds of layout before the first picture, so that it is no knot. */
const AHEAD = 120;
const STATES = ["", "came", "went"];

/** @typedef {Record<string, string | number | null | undefined>} Options */

/**
 * @param {{
 *   parts: string[],
 *   options: Options,
 *   places?: Places,
 *   prefix?: string,
 *   selected?: string | null,
 *   onSelect?: (id: string | null) => void,
 *   version?: string | number,
 * }} props  `parts` lead to the drawing: ["run", NAME, "drawing"]; `options` are fixed ones, such as the view; `places` is
 *   shared by drawings beside each other; options of the address have the `prefix`; another `version` is asked for anew
 */
export function GraphDrawing({ parts, options, places, prefix = "g_", version, selected, onSelect }) {
  const address = usePlace().options;
  const settings = { ...settingsOf(address, prefix), ...given(options) };
  const path = pathOf(parts, settings);
  const asked = useAnswer(path, version);
  const [own, setOwn] = useState(/** @type {string | null} */ (null));
  const chosen = selected === undefined ? own : selected;
  const select = (/** @type {string | null} */ id) => {
    setOwn(id);
    onSelect?.(id);
  };
  const change = (/** @type {Options} */ changes) => changePlace(addressed(changes, prefix), { keep: true });
  const goOn = (/** @type {string} */ id) => {
    const more = [...listOf(settings.more).filter((one) => one !== id), id].slice(-50);
    change({ more: JSON.stringify(more) });
  };
  const drawing = /** @type {Drawing | null} */ (asked.answer);
  const name = `${parts[1]} ${drawing?.view ?? ""}`;
  return html`<section class="drawing" aria-label="Drawn graph">
    <${Controls} settings=${settings} options=${options} change=${change} />
    ${asked.problem && html`<${ProblemBox} problem=${asked.problem} again=${asked.again} />`}
    ${!drawing && !asked.problem && html`<p class="empty" aria-busy="true">Loading…</p>`}
    ${drawing && html`<${Shown} drawing=${drawing} path=${`${path} ${version ?? ""}`} parts=${parts} settings=${settings} name=${name} places=${places} chosen=${chosen} select=${select} goOn=${goOn} change=${change} />`}
  </section>`;
}

/** @param {any} props */
function Shown({ drawing, path, parts, settings, name, places, chosen, select, goOn, change }) {
  const theme = themeFrom(useColours());
  const colours = useRef(new Colours()).current;
  const picture = useMemo(() => pictureOf(drawing, colours, theme), [drawing, theme.paper, theme.ink]);
  const stage = useRef(/** @type {Stage | null} */ (null));
  const hovered = useHovered(parts, drawing, settings);
  const acts = useRef({ select, goOn, hover: hovered.hover });
  acts.current = { select, goOn, hover: hovered.hover };
  const canvas = useRef(/** @type {HTMLElement | null} */ (null));
  const began = useBeginning(path);
  useEffect(() => {
    if (!canvas.current) return undefined;
    stage.current = new Stage(canvas.current, theme, acts, places instanceof Places ? places : new Places());
    return () => stage.current?.close();
  }, [places]);
  useEffect(() => {
    stage.current?.show(drawing, { ...picture.picture, selected: chosen }, began.take(), scopeOf(parts, settings));
  }, [drawing, picture, chosen, places]);
  const centre = (/** @type {string} */ id) => {
    select(id);
    stage.current?.centre(id);
  };
  return html`
    <p class="drawing-facts" role="status">${factsOf(drawing)}</p>
    <div class="drawing-body">
      <div class="drawing-left">
        <div class="drawing-frame">
          <div
            class="drawing-canvas"
            ref=${canvas}
            tabindex="0"
            role="img"
            aria-label=${`${factsOf(drawing)} The tables beside it have the same. Arrow keys move, plus and minus zoom, 0 shows all.`}
            onKeyDown=${(/** @type {KeyboardEvent} */ event) => stage.current?.key(event)}
          ></div>
          <${Tip} hovered=${hovered} drawing=${drawing} stage=${stage} />
        </div>
        <div class="row drawing-tools">
          <button type="button" class="small" aria-label="Zoom in" onClick=${() => stage.current?.surface.zoom(1.5)}>+</button>
          <button type="button" class="small" aria-label="Zoom out" onClick=${() => stage.current?.surface.zoom(1 / 1.5)}>−</button>
          <button type="button" class="small" onClick=${() => stage.current?.fit()}>Show all</button>
          <button type="button" class="small" onClick=${() => stage.current?.again()}>Lay out again</button>
          <${SaveMenu} name=${name} svg=${() => stage.current?.svg() ?? null} />
        </div>
        <${Legend} drawing=${drawing} colouring=${picture.colouring} looks=${picture.picture.looks} theme=${theme} />
        ${!hasWebGLOnce() && html`<p class="quiet">This browser has no WebGL: the graph is drawn without it, and large ones are slow.</p>`}
      </div>
      <div class="drawing-right">
        ${chosen !== null && html`<${Chosen} id=${chosen} drawing=${drawing} parts=${parts} settings=${settings} select=${select} goOn=${goOn} change=${change} />`}
        <${Vertices} drawing=${drawing} changed=${picture.changed} chosen=${chosen} centre=${centre} />
        <${ChangedEdges} drawing=${drawing} centre=${centre} />
      </div>
    </div>
  `;
}

/** @param {{ settings: Options, options: Options, change: (changes: Options) => void }} props */
function Controls({ settings, options, change }) {
  const [text, setText] = useState(String(settings.around ?? ""));
  useEffect(() => setText(String(settings.around ?? "")), [settings.around]);
  if (KEYS.some((key) => options[key])) return null;
  const far = settings.component === "1" ? "all" : String(settings.hops ?? 2);
  const none = { around: null, hops: null, component: null, sample: null, more: null };
  const reach = (/** @type {string} */ value) => (value === "all" ? { component: "1", hops: null } : { component: null, hops: value });
  const look = (/** @type {Event} */ event) => {
    event.preventDefault();
    change(text ? { ...none, ...reach(far), around: text } : none);
  };
  const shown = settings.around ? "around" : settings.sample === "1" ? "sample" : "auto";
  return html`<form class="row drawing-controls" onSubmit=${look}>
    <label>Around <input dir="auto" value=${text} placeholder="id of a vertex" onInput=${(/** @type {any} */ event) => setText(event.target.value)} /></label>
    <label>within
      <select value=${far} onChange=${(/** @type {any} */ event) => change(reach(event.target.value))} disabled=${shown !== "around"}>
        ${[1, 2, 3, 4, 5, 8].map((hops) => html`<option value=${String(hops)}>${hops} ${hops === 1 ? "hop" : "hops"}</option>`)}
        <option value="all">all connected</option>
      </select>
    </label>
    <button type="submit">Show</button>
    <button type="button" aria-pressed=${shown === "auto"} onClick=${() => change(none)}>Overview</button>
    <button type="button" aria-pressed=${shown === "sample"} onClick=${() => change({ ...none, sample: "1" })}>Sample</button>
    <label>at most
      <select value=${String(settings.most ?? 2000)} onChange=${(/** @type {any} */ event) => change({ most: event.target.value })}>
        ${MOST.map((most) => html`<option value=${String(most)}>${most.toLocaleString("en")} edges</option>`)}
      </select>
    </label>
    ${settings.more && html`<button type="button" onClick=${() => change({ more: null })}>Take back what was added</button>`}
  </form>`;
}

/** @param {{ drawing: Drawing, colouring: Colouring, looks: string[], theme: Theme }} props */
function Legend({ drawing, colouring, looks, theme }) {
  const { state } = drawing.edges;
  const changed = looks.includes("changed");
  const gone = drawing.vertices.state.some((one) => one === 2);
  return html`<ul class="drawing-legend" aria-label="Legend">
    ${state.includes(1) && html`<li><${Line} colour=${theme.blue} width=${2.4} /> edge came</li>`}
    ${state.includes(2) && html`<li><${Line} colour=${theme.orange} width=${2} dashed /> edge went</li>`}
    ${colouring.named.map(({ label, colour, hollow }) => html`<li><${Dot} fill=${hollow ? theme.paper : colour} ring=${hollow ? colour : theme.paper} /> <bdi>${label}</bdi></li>`)}
    ${changed && html`<li><${Dot} fill=${theme.paper} ring=${theme.ink} /> result changed: ringed</li>`}
    ${gone && html`<li><${Dot} fill=${theme.paper} ring=${theme.orange} /> vertex taken out</li>`}
    ${colouring.scale && html`<li>${colouring.scale.label}: ${colouring.scale.low} <${Scale} colours=${colouring.scale.colours} /> ${colouring.scale.high}</li>`}
    <li class="quiet">larger: more edges</li>
  </ul>`;
}

/** @param {{ colour: string, width: number, dashed?: boolean }} props */
function Line({ colour, width, dashed }) {
  return html`<svg width="28" height="8" aria-hidden="true"><path d="M1 4H27" stroke=${colour} stroke-width=${width} stroke-dasharray=${dashed ? "5 4" : undefined} /></svg>`;
}

/** @param {{ fill: string, ring: string }} props */
function Dot({ fill, ring }) {
  return html`<svg width="14" height="14" aria-hidden="true"><circle cx="7" cy="7" r="5" fill=${fill} stroke=${ring} stroke-width="2" /></svg>`;
}

/** @param {{ colours: string[] }} props */
function Scale({ colours }) {
  const steps = colours.length - 1;
  return html`<svg width="120" height="10" aria-hidden="true">
    <defs><linearGradient id="drawing-scale">${colours.map((colour, at) => html`<stop offset=${`${(100 * at) / steps}%`} stop-color=${colour} />`)}</linearGradient></defs>
    <rect width="120" height="10" fill="url(#drawing-scale)" />
  </svg>`;
}

/** @param {any} props */
function Tip({ hovered, drawing, stage }) {
  const { what, facts } = hovered;
  const tip = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (tip.current && what) stage.current?.putBeside(tip.current, what);
  }, [what, facts]);
  if (!what) return null;
  return html`<div class="drawing-tip" ref=${tip}>${what.edge === undefined ? vertexLines(drawing, what.id, facts) : edgeLines(drawing, what.edge, facts)}</div>`;
}

/** @param {Drawing} drawing @param {string} id @param {VertexFacts | null} facts */
function vertexLines(drawing, id, facts) {
  const { vertices } = drawing;
  const at = vertices.id.indexOf(id);
  const value = vertices.value?.[at];
  const before = vertices.before?.[at];
  const field = drawing.field ?? "result";
  return html`
    <strong dir="auto">${id}</strong>
    ${at >= 0 && html`<div>degree ${vertices.degree[at]}${vertices.state[at] === 2 ? ", taken out of this view" : ""}</div>`}
    ${at >= 0 && vertices.value && html`<div>${field}: <bdi>${shownCell(value)}</bdi>${vertices.before && differs(value, before) && html` <span class="quiet">(before: <bdi>${shownCell(before)}</bdi>)</span>`}</div>`}
    ${facts && html`<${Properties} properties=${{ ...othersOf(facts.results, field), ...facts.properties }} />`}
  `;
}

/** @param {Drawing} drawing @param {number} edge @param {EdgeFacts | null} facts */
function edgeLines(drawing, edge, facts) {
  const at = drawing.edges.number.indexOf(edge);
  if (at < 0) return null;
  const [from, to] = [drawing.edges.from[at], drawing.edges.to[at]].map((end) => drawing.vertices.id[end]);
  const state = STATES[drawing.edges.state[at]];
  return html`
    <strong><bdi>${from}</bdi> ${drawing.directed ? "→" : "–"} <bdi>${to}</bdi></strong>
    ${state && html`<div>${state} against ${drawing.against}</div>`}
    ${facts && html`<${Properties} properties=${facts.properties} />`}
  `;
}

/** @param {{ properties: Record<string, Cell> }} props */
function Properties({ properties }) {
  const shown = Object.entries(properties).filter(([, value]) => value !== null);
  return html`<dl class="drawing-properties">
    ${shown.slice(0, 14).map(([name, value]) => html`<dt>${name}</dt><dd dir="auto">${shownCell(value)}</dd>`)}
    ${shown.length > 14 && html`<dt>and ${shown.length - 14} more</dt>`}
  </dl>`;
}

/** @param {any} props */
function Chosen({ id, drawing, parts, settings, select, goOn, change }) {
  const asked = useAnswer(factsPath(parts, "vertex", settings, drawing, { vertex: id }));
  const facts = /** @type {VertexFacts | null} */ (asked.answer?.id === id ? asked.answer : null);
  return html`<div class="panel drawing-chosen" aria-live="polite">
    ${vertexLines(drawing, id, facts)}
    ${asked.problem && html`<p class="quiet">${asked.problem.what}</p>`}
    <div class="row">
      <button type="button" class="small" onClick=${() => goOn(id)}>Add its neighbours</button>
      <button type="button" class="small" onClick=${() => change({ around: id, sample: null, more: null, component: null, hops: settings.hops ?? null })}>Only around it</button>
      <button type="button" class="small" onClick=${() => select(null)}>Let go</button>
    </div>
  </div>`;
}

/** @param {{ drawing: Drawing, changed: boolean[], chosen: string | null, centre: (id: string) => void }} props */
function Vertices({ drawing, changed, chosen, centre }) {
  const [search, setSearch] = useState("");
  const { id, degree, value, before, state } = drawing.vertices;
  const rows = useMemo(() => {
    const wanted = search.toLowerCase();
    const found = [...id.keys()].filter((at) => !wanted || id[at].toLowerCase().includes(wanted));
    const weight = (/** @type {number} */ at) => (changed[at] ? 1e9 : 0) + degree[at];
    return found.sort((one, other) => weight(other) - weight(one) || one - other);
  }, [drawing, search]);
  return html`<details class="drawing-table" open>
    <summary>Vertices (${id.length.toLocaleString("en")})</summary>
    <label>Search <input type="search" dir="auto" value=${search} onInput=${(/** @type {any} */ event) => setSearch(event.target.value)} /></label>
    <div class="scroll" tabindex="0" role="region" aria-label="Vertices of the drawing">
      <table>
        <thead><tr><th scope="col">id</th><th scope="col" class="number">degree</th>${value && html`<th scope="col">${drawing.field}</th>`}</tr></thead>
        <tbody>
          ${rows.slice(0, ROWS).map(
            (at) => html`<tr key=${id[at]} aria-selected=${id[at] === chosen}>
              <th scope="row"><button type="button" class="link" dir="auto" onClick=${() => centre(id[at])}>${id[at] || "(no name)"}</button>${state[at] ? html` <span class="quiet">${STATES[state[at]]}</span>` : ""}</th>
              <td class="number">${degree[at]}</td>
              ${value && html`<td><bdi>${shownCell(value[at])}</bdi>${before && changed[at] && html` <span class="quiet">was <bdi>${shownCell(before[at])}</bdi></span>`}</td>`}
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${rows.length > ROWS && html`<p class="quiet">and ${(rows.length - ROWS).toLocaleString("en")} more: search for them</p>`}
  </details>`;
}

/** @param {{ drawing: Drawing, centre: (id: string) => void }} props */
function ChangedEdges({ drawing, centre }) {
  const { from, to, state } = drawing.edges;
  const changed = useMemo(() => [...state.keys()].filter((at) => state[at] > 0), [drawing]);
  if (!changed.length) return null;
  const { id } = drawing.vertices;
  const end = (/** @type {number} */ at) => html`<button type="button" class="link" dir="auto" onClick=${() => centre(id[at])}>${id[at]}</button>`;
  return html`<details class="drawing-table">
    <summary>Edges that came or went (${changed.length.toLocaleString("en")})</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="Edges that came or went">
      <table>
        <thead><tr><th scope="col">from</th><th scope="col">to</th><th scope="col">what</th></tr></thead>
        <tbody>${changed.slice(0, ROWS).map((at) => html`<tr><td>${end(from[at])}</td><td>${end(to[at])}</td><td>${STATES[state[at]]}</td></tr>`)}</tbody>
      </table>
    </div>
    ${changed.length > ROWS && html`<p class="quiet">and ${(changed.length - ROWS).toLocaleString("en")} more</p>`}
  </details>`;
}

/** Holds layout, surface and camera of one drawing, and brings them on frame by frame. */
class Stage {
  /** @param {HTMLElement} place @param {Theme} theme @param {{ current: any }} acts @param {Places} places */
  constructor(place, theme, acts, places) {
    this.place = place;
    this.acts = acts;
    this.layout = new Layout(places);
    this.touched = false;
    this.scope = "";
    /** @type {Drawing | null} */
    this.drawing = null;
    /** @type {Picture | null} */
    this.picture = null;
    this.waiting = 0;
    this.showing = false;
    this.moved = 0;
    this.moveCost = 0;
    /** @type {any} */
    this.surface = null;
    this.look = "";
    this.closed = false;
    this.theme = theme;
    this.resizing = new ResizeObserver(() => this.surface?.resize());
    this.resizing.observe(place);
    this.hear = () => this.plan();
    places.hearers.add(this.hear);
  }

  /**
   * @param {Drawing} drawing @param {Picture} picture @param {number} began @param {string} scope  what is drawn, but for the view
   */
  show(drawing, picture, began, scope) {
    const same = drawing === this.drawing;
    this.picture = picture;
    this.prepare(picture);
    let fresh = 0;
    if (!same) {
      const { id, x, y } = drawing.vertices;
      fresh = this.layout.set({ id, x, y, from: drawing.edges.from, to: drawing.edges.to });
      if (fresh === id.length || (fresh > 0 && this.scope !== scope)) this.layout.step(AHEAD);
    }
    const elsewhere = this.scope !== scope || fresh === picture.ids.length;
    this.drawing = drawing;
    this.scope = scope;
    if (elsewhere && !same) {
      this.touched = false;
      this.bound();
    }
    const started = performance.now();
    this.surface.show(picture, this.layout.x, this.layout.y);
    const { dataset } = this.place;
    dataset.view = drawing.view;
    dataset.edges = String(drawing.edges.from.length);
    dataset.drawn = String(Math.round(performance.now() - started));
    if (!same) dataset.took = String(Math.round(performance.now() - began));
    this.plan();
  }

  /** A surface of the right kind and in the right colours. @param {Picture} picture */
  prepare(picture) {
    const edges = picture.from.length <= MOST_FOUND;
    const look = JSON.stringify([picture.theme.paper, picture.theme.ink, edges]);
    if (look === this.look) return;
    const camera = this.surface?.sigma?.getCamera().getState();
    this.surface?.close();
    this.look = look;
    const { acts } = this;
    const hearer = {
      hover: (/** @type {string | null} */ id) => acts.current.hover(id === null ? null : { id }),
      hoverEdge: (/** @type {number | null} */ edge) => acts.current.hover(edge === null ? null : { edge }),
      click: (/** @type {string | null} */ id) => acts.current.select(id),
      doubleClick: (/** @type {string} */ id) => acts.current.goOn(id),
      touched: () => {
        this.touched = true;
      },
    };
    this.surface = hasWebGLOnce() ? new SigmaSurface(this.place, picture.theme, hearer, edges) : new CanvasSurface(this.place, picture.theme, hearer);
    if (this.drawing) this.bound();
    if (camera) this.surface.sigma?.getCamera().setState(camera);
  }

  /** Go on with the layout, slice by slice, and show it now and then: what is drawn takes a third of the time at most. */
  plan() {
    this.place.dataset.layout = this.layout.moving ? "moving" : "still";
    if (this.waiting || !this.layout.moving) return;
    this.waiting = setTimeout(() => {
      this.waiting = 0;
      const moving = this.layout.step(SLICE);
      if (!this.showing && (!moving || performance.now() - this.moved > 2 * this.moveCost)) this.showMoved(!moving);
      this.plan();
    }, 0);
  }

  /** Show where vertices are by now. What that costs is known when the frame behind it comes. @param {boolean} last */
  showMoved(last) {
    if (this.closed) return;
    const began = performance.now();
    this.showing = true;
    if (!this.touched) this.bound();
    this.surface.move(this.layout.x, this.layout.y);
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        this.showing = false;
        this.moved = performance.now();
        this.moveCost = this.moved - began;
        if (!last && !this.layout.moving) this.showMoved(true);
      }),
    );
  }

  bound() {
    const { left, right, bottom, top } = this.layout.edge();
    const room = Math.max(right - left, top - bottom, 60) * 0.04;
    this.surface.bound({ left: left - room, right: right + room, bottom: bottom - room, top: top + room });
  }

  fit() {
    this.touched = false;
    this.bound();
    this.surface.fit();
  }

  again() {
    this.touched = false;
    this.layout.again();
    this.plan();
  }

  /** @param {string} id */
  centre(id) {
    const at = this.layout.ids.indexOf(id);
    if (at >= 0) this.surface.centre(this.layout.x[at], this.layout.y[at]);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    /** @type {Record<string, () => void>} */
    const acts = {
      ArrowLeft: () => this.surface.pan(-0.1, 0),
      ArrowRight: () => this.surface.pan(0.1, 0),
      ArrowUp: () => this.surface.pan(0, 0.1),
      ArrowDown: () => this.surface.pan(0, -0.1),
      "+": () => this.surface.zoom(1.4),
      "=": () => this.surface.zoom(1.4),
      "-": () => this.surface.zoom(1 / 1.4),
      0: () => this.fit(),
      Escape: () => this.acts.current.select(null),
    };
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : acts[event.key];
    if (!act) return;
    event.preventDefault();
    if (event.key !== "0") this.touched = true;
    act();
  }

  /** @param {HTMLElement} tip @param {{ id?: string, edge?: number }} what */
  putBeside(tip, what) {
    if (!this.drawing) return;
    const { id } = this.drawing.vertices;
    const { number, from, to } = this.drawing.edges;
    const at = what.edge === undefined ? -1 : number.indexOf(what.edge);
    const ends = what.edge === undefined ? [id.indexOf(what.id ?? "")] : [from[at], to[at]];
    if (ends.some((end) => end === undefined || end < 0)) return;
    const { x, y } = this.layout;
    const middle = (/** @type {Float64Array} */ values) => ends.reduce((sum, end) => sum + values[end], 0) / ends.length;
    const [left, top] = this.surface.project(middle(x), middle(y));
    const { clientWidth: width, clientHeight: height } = this.place;
    tip.style.left = `${Math.max(4, left + 16 + tip.offsetWidth > width ? left - tip.offsetWidth - 14 : left + 14)}px`;
    tip.style.top = `${Math.max(4, Math.min(top + 10, height - tip.offsetHeight - 4))}px`;
  }

  /** The drawing as SVG, as it is seen now. */
  svg() {
    if (!this.picture) return null;
    const { clientWidth: width, clientHeight: height } = this.place;
    const brush = new SvgBrush(width, height);
    paint(brush, this.picture, this.surface, this.layout.x, this.layout.y, [width, height]);
    const root = new DOMParser().parseFromString(brush.toString(), "image/svg+xml").documentElement;
    return /** @type {SVGSVGElement} */ (/** @type {unknown} */ (document.importNode(root, true)));
  }

  close() {
    clearTimeout(this.waiting);
    this.closed = true;
    this.layout.places.hearers.delete(this.hear);
    this.resizing.disconnect();
    this.surface?.close();
  }
}

/** @param {Drawing} drawing @param {Colours} colours @param {Theme} theme */
function pictureOf(drawing, colours, theme) {
  const { vertices, edges } = drawing;
  const count = vertices.id.length;
  const colouring = colours.colour(vertices.id, vertices.value, drawing.field, theme);
  const changed = changedResults(vertices.value, vertices.before);
  const base = count <= 60 ? 6 : count <= 400 ? 4.2 : count <= 2_500 ? 2.5 : count <= 10_000 ? 2 : 1.4;
  const most = vertices.degree.reduce((one, other) => Math.max(one, other), 1);
  const looks = vertices.id.map((_, at) => {
    if (vertices.state[at] === 2 || colouring.hollow[at]) return "hollow";
    return changed[at] ? "changed" : "dot";
  });
  /** @type {Picture} */
  const picture = {
    ids: vertices.id,
    labels: vertices.id.map((id) => (id.length > 28 ? `${id.slice(0, 27)}…` : id)),
    colours: colouring.colours.map((colour, at) => (vertices.state[at] === 2 ? theme.orange : colour)),
    looks: /** @type {Picture["looks"]} */ (looks),
    sizes: vertices.degree.map((degree) => base * (0.75 + Math.min(2, 0.3 * Math.sqrt(most)) * Math.sqrt(degree / most))),
    from: edges.from,
    to: edges.to,
    states: edges.state,
    numbers: edges.number,
    arrows: drawing.directed && edges.from.length <= MOST_ARROWS,
    selected: null,
    theme,
  };
  return { picture, colouring, changed };
}

/** What is under the pointer, and what it carries, asked for when the pointer rests. @param {string[]} parts @param {Drawing} drawing @param {Options} settings */
function useHovered(parts, drawing, settings) {
  const [what, setWhat] = useState(/** @type {{ id?: string, edge?: number } | null} */ (null));
  const [facts, setFacts] = useState(/** @type {any} */ (null));
  useEffect(() => {
    setFacts(null);
    if (!what) return undefined;
    const stopper = new AbortController();
    const path =
      what.edge === undefined
        ? factsPath(parts, "vertex", settings, drawing, { vertex: what.id })
        : factsPath(parts, "edge", settings, drawing, { number: what.edge });
    const wait = setTimeout(() => source.get(path, stopper.signal).then(setFacts, () => {}), 150);
    return () => {
      clearTimeout(wait);
      stopper.abort();
    };
  }, [what, drawing]);
  return { what, facts, hover: setWhat };
}

/** When the path that is asked for began to be asked for. @param {string} path */
function useBeginning(path) {
  const held = useRef({ path: "", at: performance.now() });
  if (held.current.path !== path) held.current = { path, at: performance.now() };
  return { take: () => held.current.at };
}

/** @param {string[]} parts @param {string} kind @param {Options} settings @param {Drawing} drawing @param {Options} options */
function factsPath(parts, kind, settings, drawing, options) {
  const program = settings.program ? { program: settings.program } : {};
  return pathOf([...parts.slice(0, -1), kind], { view: drawing.view, ...program, ...options });
}

/** @param {Drawing} drawing */
function factsOf(drawing) {
  const { vertices, edges, whole } = drawing;
  const number = (/** @type {number} */ count, /** @type {string} */ one, /** @type {string} */ many) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
  const [came, went] = [1, 2].map((state) => edges.state.filter((one) => one === state).length);
  const there = edges.from.length - went;
  const all = there === whole.edges ? "" : ` of ${whole.edges.toLocaleString("en")}`;
  const changes = drawing.against === null ? "" : `; ${came.toLocaleString("en")} came and ${went.toLocaleString("en")} went against ${drawing.against}`;
  return `${drawing.view}: ${number(vertices.id.length, "vertex", "vertices")}, ${there.toLocaleString("en")}${all} edges${changes}.${drawing.note ? ` Drawn: ${drawing.note}.` : ""}`;
}

/** @param {Record<string, string>} address @param {string} prefix @returns {Options} */
function settingsOf(address, prefix) {
  return Object.fromEntries(KEYS.map((key) => [key, address[prefix + key]]).filter(([, value]) => value));
}

/** @param {Options} options @returns {Options} */
function given(options) {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null && value !== undefined && value !== ""));
}

/** @param {Options} changes @param {string} prefix */
function addressed(changes, prefix) {
  return Object.fromEntries(Object.entries(changes).map(([key, value]) => [prefix + key, value === null || value === undefined ? null : String(value)]));
}

/** What is drawn, but for the version. @param {string[]} parts @param {Options} settings */
function scopeOf(parts, settings) {
  return pathOf(parts, { ...settings, view: null, against: null, field: null, more: null });
}

/** @param {unknown} text @returns {string[]} */
function listOf(text) {
  try {
    const list = JSON.parse(String(text ?? "[]"));
    return Array.isArray(list) ? list.map(String) : [];
  } catch {
    return [];
  }
}

/** @param {Record<string, Cell>} results @param {string} field */
function othersOf(results, field) {
  return Object.fromEntries(Object.entries(results).filter(([name]) => name !== field));
}

/** @param {Cell | undefined} cell @returns {string} */
function shownCell(cell) {
  if (cell === null || cell === undefined) return "none";
  if (typeof cell === "number") return Number.isInteger(cell) ? String(cell) : String(+cell.toPrecision(6));
  return Array.isArray(cell) ? cell.map(shownCell).join(", ") : String(cell);
}

/** @type {Map<string, Theme>} */
const themes = new Map();

/** The same object for the same colours. @param {Record<string, string>} colours @returns {Theme} */
function themeFrom(colours) {
  const key = JSON.stringify(colours);
  const known = themes.get(key) ?? themeOf(colours);
  themes.set(key, known);
  return known;
}

/** @type {boolean | null} */
let webGL = null;

function hasWebGLOnce() {
  webGL ??= hasWebGL();
  return webGL;
}
