/**
 * What graphs are drawn on: by WebGL (sigma), or by a plain canvas where there is none; and the brushes of saved pictures.
 *
 * Both surfaces show a `Picture` at the places of a layout, keep their camera while pictures change, and tell of the
 * vertex under the pointer. The plain canvas and saved pictures are painted by the same function.
 *
 * @import { Theme } from "./drawing_colours.js"
 */

import { EdgeArrowProgram, EdgeLineProgram, EdgeRectangleProgram, Graph, NodeCircleProgram, Sigma } from "gt/vendor/sigma.js";

/**
 * @typedef {object} Picture
 * @property {string[]} ids
 * @property {string[]} labels
 * @property {string[]} colours
 * @property {("dot" | "hollow" | "changed")[]} looks
 * @property {number[]} sizes
 * @property {number[]} from
 * @property {number[]} to
 * @property {number[]} states  0 stayed, 1 came, 2 went
 * @property {number[]} numbers
 * @property {boolean} arrows
 * @property {string | null} selected
 * @property {Theme} theme
 */

/**
 * @typedef {object} Hearer
 * @property {(id: string | null) => void} hover
 * @property {(number: number | null) => void} hoverEdge
 * @property {(id: string | null) => void} click
 * @property {(id: string) => void} doubleClick
 * @property {() => void} touched  the user has moved the camera
 */

/** @typedef {{ left: number, right: number, bottom: number, top: number }} Box */

const WIDTHS = [2, 3.2, 2.6];
/** Up to so many vertices all have their names beside them. */
const FEW = 40;
/** Where so many edges changed, thinner lines leave more to see. */
const MANY_CHANGED = 1000;
/** From so many edges on, those that stayed are lines of one pixel, which cost least. */
const MANY = 3000;

/** @param {Picture} picture @param {number} state */
function edgeColour({ theme }, state) {
  return state === 1 ? theme.blue : state === 2 ? theme.orange : theme.stayed;
}

/** How wide edges are that stayed, came and went. @param {Picture} picture */
function widthsOf(picture) {
  const changed = picture.states.reduce((sum, state) => sum + (state > 0 ? 1 : 0), 0);
  return changed > MANY_CHANGED ? [1.2, 1.6, 1.6] : WIDTHS;
}

/** Draws by WebGL. */
export class SigmaSurface {
  /** @param {HTMLElement} place @param {Theme} theme @param {Hearer} hearer @param {boolean} edges */
  constructor(place, theme, hearer, edges) {
    const dashed = dashedProgram();
    this.graph = new Graph({ multi: true, type: "directed" });
    this.sigma = new Sigma(this.graph, place, {
      allowInvalidContainer: true,
      enableEdgeEvents: edges,
      zIndex: true,
      stagePadding: 24,
      minEdgeThickness: 0.8,
      labelFont: "system-ui, sans-serif",
      labelSize: 12,
      labelColor: { color: theme.ink },
      labelDensity: 0.6,
      labelRenderedSizeThreshold: 5,
      doubleClickZoomingRatio: 1,
      minCameraRatio: 0.005,
      maxCameraRatio: 8,
      defaultDrawNodeHover: (/** @type {CanvasRenderingContext2D} */ context, /** @type {any} */ data) => drawHovered(context, data, theme),
      defaultDrawNodeLabel: (/** @type {CanvasRenderingContext2D} */ context, /** @type {any} */ data) => drawLabel(context, data, theme),
      nodeProgramClasses: { dot: ringProgram(theme, "dot"), hollow: ringProgram(theme, "hollow"), changed: ringProgram(theme, "changed") },
      edgeProgramClasses: { line: EdgeLineProgram, solid: EdgeRectangleProgram, dashed, arrow: EdgeArrowProgram },
    });
    this.sigma.on("enterNode", (/** @type {any} */ { node }) => hearer.hover(node.slice(1)));
    this.sigma.on("leaveNode", () => hearer.hover(null));
    this.sigma.on("enterEdge", (/** @type {any} */ { edge }) => hearer.hoverEdge(Number(edge.slice(1))));
    this.sigma.on("leaveEdge", () => hearer.hoverEdge(null));
    this.sigma.on("clickNode", (/** @type {any} */ { node }) => hearer.click(node.slice(1)));
    this.sigma.on("clickStage", () => hearer.click(null));
    this.sigma.on("doubleClickNode", (/** @type {any} */ event) => {
      event.preventSigmaDefault();
      hearer.doubleClick(event.node.slice(1));
    });
    this.sigma.on("doubleClickStage", (/** @type {any} */ event) => event.preventSigmaDefault());
    this.sigma.getMouseCaptor().on("wheel", hearer.touched);
    this.sigma.getMouseCaptor().on("mousedown", hearer.touched);
    let began = 0;
    this.sigma.on("beforeRender", () => {
      began = performance.now();
    });
    this.sigma.on("afterRender", () => {
      place.dataset.frame = (performance.now() - began).toFixed(1);
    });
  }

  /** @param {Picture} picture @param {Float64Array} x @param {Float64Array} y */
  show(picture, x, y) {
    const graph = new Graph({ multi: true, type: "directed" });
    picture.ids.forEach((id, at) => graph.addNode(`v${id}`, { x: x[at], y: y[at], ...nodeOf(picture, at) }));
    const many = picture.from.length > MANY;
    const widths = widthsOf(picture);
    const thin = widths !== WIDTHS;
    for (let at = 0; at < picture.from.length; at++) {
      const state = picture.states[at];
      const type = state === 2 ? "dashed" : picture.arrows ? "arrow" : many && (!state || thin) ? "line" : "solid";
      const size = widths[state];
      const [from, to] = [`v${picture.ids[picture.from[at]]}`, `v${picture.ids[picture.to[at]]}`];
      graph.addEdgeWithKey(`e${picture.numbers[at]}`, from, to, { type, size, color: edgeColour(picture, state), zIndex: state });
    }
    this.graph = graph;
    this.sigma.setGraph(graph);
  }

  /** Other places of the same picture. @param {Float64Array} x @param {Float64Array} y */
  move(x, y) {
    let at = 0;
    this.graph.updateEachNodeAttributes(
      (/** @type {string} */ _, /** @type {any} */ node) => {
        node.x = x[at];
        node.y = y[at];
        at += 1;
        return node;
      },
      { attributes: ["x", "y"] },
    );
  }

  /** What the camera shows at its widest. @param {Box} box */
  bound(box) {
    this.sigma.setCustomBBox({ x: [box.left, box.right], y: [box.bottom, box.top] });
    this.sigma.refresh({ schedule: true });
  }

  fit() {
    this.sigma.getCamera().animatedReset({ duration: 150 });
  }

  /** @param {number} factor */
  zoom(factor) {
    const camera = this.sigma.getCamera();
    camera.animate({ ratio: camera.getState().ratio / factor }, { duration: 100 });
  }

  /** By shares of what is seen. @param {number} right @param {number} up */
  pan(right, up) {
    const camera = this.sigma.getCamera();
    const { x, y, ratio } = camera.getState();
    camera.animate({ x: x + right * ratio, y: y + up * ratio }, { duration: 80 });
  }

  /** Bring a place to the middle. @param {number} x @param {number} y */
  centre(x, y) {
    const camera = this.sigma.getCamera();
    const place = this.sigma.viewportToFramedGraph(this.sigma.graphToViewport({ x, y }));
    camera.animate({ x: place.x, y: place.y }, { duration: 150 });
  }

  /** Where a place is on the surface, in pixels. @param {number} x @param {number} y */
  project(x, y) {
    const { x: left, y: top } = this.sigma.graphToViewport({ x, y });
    return [left, top];
  }

  get scale() {
    return 1 / Math.sqrt(this.sigma.getCamera().getState().ratio);
  }

  resize() {
    this.sigma.resize();
    this.sigma.refresh({ schedule: true });
  }

  close() {
    this.sigma.kill();
  }
}

/** Draws by a plain canvas, where there is no WebGL. */
export class CanvasSurface {
  /** @param {HTMLElement} place @param {Theme} theme @param {Hearer} hearer */
  constructor(place, theme, hearer) {
    this.place = place;
    this.theme = theme;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "drawing-plain";
    place.append(this.canvas);
    this.camera = { x: 0, y: 0, zoom: 1 };
    this.box = { left: 0, right: 1, bottom: 0, top: 1 };
    /** @type {Picture | null} */
    this.picture = null;
    /** @type {Float64Array} */
    this.x = new Float64Array(0);
    /** @type {Float64Array} */
    this.y = this.x;
    this.waiting = 0;
    this.listen(hearer);
  }

  /** @param {Hearer} hearer */
  listen(hearer) {
    /** @type {{ x: number, y: number, moved: boolean } | null} */
    let held = null;
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      held = { x: event.offsetX, y: event.offsetY, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!held) return hearer.hover(this.vertexAt(event.offsetX, event.offsetY));
      const scale = this.unit * this.camera.zoom;
      this.camera.x -= (event.offsetX - held.x) / scale;
      this.camera.y += (event.offsetY - held.y) / scale;
      held = { x: event.offsetX, y: event.offsetY, moved: true };
      hearer.touched();
      return this.plan();
    });
    canvas.addEventListener("pointerup", (event) => {
      if (held && !held.moved) hearer.click(this.vertexAt(event.offsetX, event.offsetY));
      held = null;
    });
    canvas.addEventListener("pointerleave", () => hearer.hover(null));
    canvas.addEventListener("dblclick", (event) => {
      const id = this.vertexAt(event.offsetX, event.offsetY);
      if (id !== null) hearer.doubleClick(id);
    });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      hearer.touched();
      this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2);
    });
  }

  /** @param {number} left @param {number} top */
  vertexAt(left, top) {
    if (!this.picture) return null;
    let [best, nearest] = [-1, 14];
    for (let at = 0; at < this.x.length; at++) {
      const [x, y] = this.project(this.x[at], this.y[at]);
      const far = Math.hypot(x - left, y - top) - this.picture.sizes[at];
      if (far < nearest) [best, nearest] = [at, far];
    }
    return best < 0 || nearest > 5 ? null : this.picture.ids[best];
  }

  get unit() {
    const { left, right, bottom, top } = this.box;
    const [width, height] = [this.place.clientWidth - 48, this.place.clientHeight - 48];
    return Math.min(width / Math.max(right - left, 1e-9), height / Math.max(top - bottom, 1e-9));
  }

  get scale() {
    return Math.sqrt(this.camera.zoom);
  }

  /** @param {number} x @param {number} y */
  project(x, y) {
    const scale = this.unit * this.camera.zoom;
    return [this.place.clientWidth / 2 + (x - this.camera.x) * scale, this.place.clientHeight / 2 - (y - this.camera.y) * scale];
  }

  /** @param {Picture} picture @param {Float64Array} x @param {Float64Array} y */
  show(picture, x, y) {
    this.picture = picture;
    this.move(x, y);
  }

  /** @param {Float64Array} x @param {Float64Array} y */
  move(x, y) {
    [this.x, this.y] = [x, y];
    this.plan();
  }

  /** @param {Box} box */
  bound(box) {
    this.box = box;
    this.camera = { ...this.camera, x: (box.left + box.right) / 2, y: (box.bottom + box.top) / 2 };
    this.plan();
  }

  fit() {
    this.camera.zoom = 1;
    this.bound(this.box);
  }

  /** @param {number} factor */
  zoom(factor) {
    this.camera.zoom = Math.min(Math.max(this.camera.zoom * factor, 0.1), 200);
    this.plan();
  }

  /** @param {number} right @param {number} up */
  pan(right, up) {
    const scale = this.unit * this.camera.zoom;
    this.camera.x += (right * this.place.clientWidth) / scale;
    this.camera.y += (up * this.place.clientHeight) / scale;
    this.plan();
  }

  /** @param {number} x @param {number} y */
  centre(x, y) {
    this.camera = { ...this.camera, x, y };
    this.plan();
  }

  resize() {
    this.plan();
  }

  /** Draw with the next frame, once. */
  plan() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
    });
  }

  draw() {
    const began = performance.now();
    const context = this.canvas.getContext("2d");
    if (!context || !this.picture) return;
    const [width, height, ratio] = [this.place.clientWidth, this.place.clientHeight, devicePixelRatio || 1];
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    context.scale(ratio, ratio);
    paint(new CanvasBrush(context), this.picture, this, this.x, this.y, [width, height]);
    this.place.dataset.frame = (performance.now() - began).toFixed(1);
  }

  close() {
    cancelAnimationFrame(this.waiting);
    this.canvas.remove();
  }
}

/** Whether the browser can draw by WebGL. */
export function hasWebGL() {
  try {
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("webgl2") ?? canvas.getContext("webgl");
    context?.getExtension("WEBGL_lose_context")?.loseContext();
    return context !== null;
  } catch {
    return false;
  }
}

/** @param {Picture} picture @param {number} at */
function nodeOf(picture, at) {
  const chosen = picture.ids[at] === picture.selected;
  const look = picture.looks[at];
  return {
    type: look,
    size: picture.sizes[at] + (look === "changed" ? 1.5 : 0) + (chosen ? 2 : 0),
    color: picture.colours[at],
    label: picture.labels[at],
    forceLabel: picture.ids.length <= FEW,
    highlighted: chosen,
    zIndex: look === "dot" ? 0 : 1,
  };
}

/** @param {CanvasRenderingContext2D} context @param {any} data @param {Theme} theme */
function drawLabel(context, data, theme) {
  if (!data.label) return;
  context.font = "12px system-ui, sans-serif";
  context.lineWidth = 3;
  context.strokeStyle = theme.paper;
  context.fillStyle = theme.ink;
  context.strokeText(data.label, data.x + data.size + 3, data.y + 4);
  context.fillText(data.label, data.x + data.size + 3, data.y + 4);
}

/** @param {CanvasRenderingContext2D} context @param {any} data @param {Theme} theme */
function drawHovered(context, data, theme) {
  context.beginPath();
  context.arc(data.x, data.y, data.size + 3, 0, 2 * Math.PI);
  context.lineWidth = 2;
  context.strokeStyle = theme.ink;
  context.stroke();
  drawLabel(context, data, theme);
}

/** A rectangle with gaps, each a few pixels long at any zoom. */
function dashedProgram() {
  return class extends EdgeRectangleProgram {
    getDefinition() {
      const plain = /** @type {any} */ (super.getDefinition());
      const ends = "vec2 first = (u_matrix * vec3(a_positionStart, 1)).xy; vec2 last = (u_matrix * vec3(a_positionEnd, 1)).xy;";
      const along = `${ends} v_along = a_positionCoef * length((last - first) * u_viewport) * 0.5;`;
      return {
        ...plain,
        UNIFORMS: [...plain.UNIFORMS, "u_viewport"],
        VERTEX_SHADER_SOURCE: plain.VERTEX_SHADER_SOURCE.replace("void main()", "uniform vec2 u_viewport; varying float v_along; void main()").replace(/\}\s*$/, `${along} }`),
        FRAGMENT_SHADER_SOURCE: plain.FRAGMENT_SHADER_SOURCE.replace("void main(void) {", "varying float v_along; void main(void) { if (mod(v_along, 9.0) > 5.0) discard;"),
      };
    }

    /** @param {any} params @param {any} info */
    setUniforms(params, info) {
      super.setUniforms(params, info);
      info.gl.uniform2f(info.uniformLocations.u_viewport, params.width, params.height);
    }
  };
}

/**
 * A disk with a ring: of a `dot` a thin one of paper, between it and its neighbours; a `hollow` one is paper with a ring of
 * its colour; a `changed` one has a ring of ink.
 *
 * @param {Theme} theme @param {Picture["looks"][number]} look
 */
function ringProgram(theme, look) {
  const ring = { dot: glsl(theme.paper), hollow: "v_color", changed: glsl(theme.ink) }[look];
  const middle = look === "hollow" ? glsl(theme.paper) : "v_color";
  const width = look === "dot" ? "min(pixel, v_radius * 0.25)" : "max(v_radius * 0.3, pixel)";
  return class extends NodeCircleProgram {
    getDefinition() {
      return {
        ...super.getDefinition(),
        FRAGMENT_SHADER_SOURCE: `
          precision highp float;
          varying vec4 v_color;
          varying vec2 v_diffVector;
          varying float v_radius;
          uniform float u_correctionRatio;
          void main(void) {
            float pixel = u_correctionRatio * 2.0;
            float far = length(v_diffVector);
            if (far > v_radius) discard;
            #ifdef PICKING_MODE
            gl_FragColor = v_color;
            #else
            float width = ${width};
            float inner = smoothstep(v_radius - width - pixel, v_radius - width, far);
            float outer = smoothstep(v_radius - pixel, v_radius, far);
            gl_FragColor = mix(mix(${middle}, ${ring}, inner), vec4(0.0), outer);
            #endif
          }`,
      };
    }
  };
}

/** @param {string} colour */
function glsl(colour) {
  const parts = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255).toFixed(4));
  return `vec4(${parts.join(", ")}, 1.0)`;
}

/**
 * Paint a picture as a surface shows it.
 *
 * @param {CanvasBrush | SvgBrush} brush @param {Picture} picture
 * @param {{ project: (x: number, y: number) => number[], scale: number }} camera
 * @param {Float64Array} x @param {Float64Array} y @param {[number, number]} size
 */
export function paint(brush, picture, camera, x, y, [width, height]) {
  const { theme } = picture;
  brush.box(0, 0, width, height, theme.paper);
  const places = picture.ids.map((_, at) => camera.project(x[at], y[at]));
  const widths = widthsOf(picture).map((width) => 0.7 * width);
  const order = picture.from.map((_, at) => at).sort((one, other) => picture.states[one] - picture.states[other]);
  for (const at of order) {
    const state = picture.states[at];
    const [one, other] = [places[picture.from[at]], places[picture.to[at]]];
    if (outside(one, other, width, height)) continue;
    brush.line(one, other, edgeColour(picture, state), widths[state], state === 2);
    if (picture.arrows) brush.arrow(one, other, picture.sizes[picture.to[at]] * camera.scale + 1, edgeColour(picture, state));
  }
  places.forEach(([left, top], at) => {
    if (left < -20 || left > width + 20 || top < -20 || top > height + 20) return;
    const look = picture.looks[at];
    const fill = look === "hollow" ? theme.paper : picture.colours[at];
    const ring = look === "hollow" ? picture.colours[at] : look === "changed" ? theme.ink : theme.paper;
    const chosen = picture.ids[at] === picture.selected;
    brush.dot(left, top, picture.sizes[at] * camera.scale + (chosen ? 2 : 0), fill, chosen ? theme.ink : ring, look === "dot" ? 0.7 : 1.5);
  });
  const named = [...picture.ids.keys()].sort((one, other) => picture.sizes[other] - picture.sizes[one]);
  for (const at of named.slice(0, picture.ids.length > 80 ? 25 : 80)) {
    if (picture.labels[at]) brush.text(places[at][0] + picture.sizes[at] * camera.scale + 3, places[at][1] + 4, picture.labels[at], theme);
  }
}

/** @param {number[]} one @param {number[]} other @param {number} width @param {number} height */
function outside(one, other, width, height) {
  return Math.max(one[0], other[0]) < 0 || Math.min(one[0], other[0]) > width || Math.max(one[1], other[1]) < 0 || Math.min(one[1], other[1]) > height;
}

/** The corners of the head of an arrow that ends at the edge of a disk. @param {number[]} one @param {number[]} other @param {number} radius */
function headOf(one, other, radius) {
  const far = Math.hypot(other[0] - one[0], other[1] - one[1]);
  if (far < radius + 4) return null;
  const [right, down] = [(other[0] - one[0]) / far, (other[1] - one[1]) / far];
  const tip = [other[0] - right * radius, other[1] - down * radius];
  const foot = [tip[0] - right * 7, tip[1] - down * 7];
  return [tip, [foot[0] - down * 3, foot[1] + right * 3], [foot[0] + down * 3, foot[1] - right * 3]];
}

/** Paints on a canvas. */
export class CanvasBrush {
  /** @param {CanvasRenderingContext2D} context */
  constructor(context) {
    this.context = context;
  }

  /** @param {number} left @param {number} top @param {number} width @param {number} height @param {string} colour */
  box(left, top, width, height, colour) {
    this.context.fillStyle = colour;
    this.context.fillRect(left, top, width, height);
  }

  /** @param {number[]} one @param {number[]} other @param {string} colour @param {number} width @param {boolean} dashed */
  line(one, other, colour, width, dashed) {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dashed ? [5, 4] : []);
    context.beginPath();
    context.moveTo(one[0], one[1]);
    context.lineTo(other[0], other[1]);
    context.stroke();
  }

  /** @param {number[]} one @param {number[]} other @param {number} radius @param {string} colour */
  arrow(one, other, radius, colour) {
    const head = headOf(one, other, radius);
    if (!head) return;
    this.context.fillStyle = colour;
    this.context.beginPath();
    for (const [x, y] of head) this.context.lineTo(x, y);
    this.context.fill();
  }

  /** @param {number} x @param {number} y @param {number} radius @param {string} fill @param {string} ring @param {number} width */
  dot(x, y, radius, fill, ring, width) {
    const { context } = this;
    context.setLineDash([]);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = fill;
    context.fill();
    context.strokeStyle = ring;
    context.lineWidth = width;
    context.stroke();
  }

  /** @param {number} x @param {number} y @param {string} text @param {Theme} theme */
  text(x, y, text, theme) {
    const { context } = this;
    context.font = "12px system-ui, sans-serif";
    context.setLineDash([]);
    context.lineWidth = 3;
    context.strokeStyle = theme.paper;
    context.strokeText(text, x, y);
    context.fillStyle = theme.ink;
    context.fillText(text, x, y);
  }
}

/** Writes SVG; texts are escaped. */
export class SvgBrush {
  /** @param {number} width @param {number} height */
  constructor(width, height) {
    this.size = [width, height];
    /** @type {string[]} */
    this.parts = [];
  }

  /** @param {number} left @param {number} top @param {number} width @param {number} height @param {string} colour */
  box(left, top, width, height, colour) {
    this.parts.push(`<rect x="${round(left)}" y="${round(top)}" width="${round(width)}" height="${round(height)}" fill="${colour}"/>`);
  }

  /** @param {number[]} one @param {number[]} other @param {string} colour @param {number} width @param {boolean} dashed */
  line(one, other, colour, width, dashed) {
    const dashes = dashed ? ' stroke-dasharray="5 4"' : "";
    this.parts.push(`<path d="M${pair(one)}L${pair(other)}" stroke="${colour}" stroke-width="${width}"${dashes}/>`);
  }

  /** @param {number[]} one @param {number[]} other @param {number} radius @param {string} colour */
  arrow(one, other, radius, colour) {
    const head = headOf(one, other, radius);
    if (head) this.parts.push(`<path d="M${head.map(pair).join("L")}Z" fill="${colour}"/>`);
  }

  /** @param {number} x @param {number} y @param {number} radius @param {string} fill @param {string} ring @param {number} width */
  dot(x, y, radius, fill, ring, width) {
    this.parts.push(`<circle cx="${round(x)}" cy="${round(y)}" r="${round(radius)}" fill="${fill}" stroke="${ring}" stroke-width="${width}"/>`);
  }

  /** @param {number} x @param {number} y @param {string} text @param {Theme} theme */
  text(x, y, text, theme) {
    const look = `font-family="system-ui, sans-serif" font-size="12" fill="${theme.ink}" stroke="${theme.paper}" stroke-width="3" paint-order="stroke"`;
    this.parts.push(`<text x="${round(x)}" y="${round(y)}" ${look}>${escaped(text)}</text>`);
  }

  toString() {
    const [width, height] = this.size;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n${this.parts.join("\n")}\n</svg>\n`;
  }
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 100) / 100;
}

/** @param {number[]} place */
function pair([x, y]) {
  return `${round(x)} ${round(y)}`;
}

/** What XML cannot have is left out. @param {string} text */
function escaped(text) {
  // eslint-disable-next-line no-control-regex
  const plain = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "");
  return plain.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
