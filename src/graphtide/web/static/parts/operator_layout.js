/**
 * Where operators stand in a picture: in layers from above to below, each loop as a box of its own.
 *
 * A loop is laid out by itself first, with ports in its upper and lower border for what goes in and out; for whatever is
 * round it, it is one wide operator then. Within one such scope: links that lead back are turned; each operator stands one
 * layer below the last of its sources, long links get a place in each layer that they pass, layers are ordered by the mean
 * places of neighbours, and each layer settles as near to its neighbours as its order allows.
 *
 * @typedef {{ id: number, loop: number | null, height: number }} Operator
 * @typedef {{ id: number, name: string, parent: number | null }} Loop
 * @typedef {{ x: number, y: number, width: number, height: number }} Box
 * @typedef {[number, number]} Point
 * @typedef {{ edges: number[], points: Point[], back: boolean, last: boolean }} Segment  a piece of edges; `last` has the tip
 * @typedef {{ width: number, height: number, operators: Map<number, Box>, loops: Map<number, Box>, segments: Segment[] }} Layout
 *
 * @typedef {object} Item
 * @property {number} number  its place among the items of the scope
 * @property {"operator" | "loop" | "in" | "out" | "bend"} kind
 * @property {number} of  the operator or loop; of ports, the operator at the far end
 * @property {number} width
 * @property {number} height
 * @property {number} layer
 * @property {number} x
 * @property {number} y
 * @property {number} top  where its layer begins, and where that ends
 * @property {number} bottom
 * @property {Link[]} above  links that come from the layer before
 * @property {Link[]} below
 *
 * @typedef {object} Link
 * @property {Item} from
 * @property {Item} to
 * @property {number} out  where it leaves `from`, from its left side
 * @property {number} in  where it enters `to`
 *
 * @typedef {{ from: Item, to: Item, out: number, in: number, edges: number[], back: boolean, turned: boolean, chain: Link[] }} Wanted  `back` is true of
 *   what leads to the next round; `turned` of what is laid out the other way, which links round loops may be as well
 * @typedef {{ width: number, height: number, items: Item[], wanted: Wanted[], inner: Map<number, Scope> }} Scope
 */

export const WIDTH = 200;
const GAP = { across: 28, down: 44, inside: 16, title: 22 };
const PORT = 10;
const SWEEPS = 12;

/** @param {Operator[]} operators @param {[number, number][]} edges @param {Loop[]} [loops] @returns {Layout} */
export function layoutOperators(operators, edges, loops = []) {
  const nesting = new Nesting(operators, loops);
  const known = knownEdges(edges, nesting);
  const scope = layoutScope(null, nesting, known);
  const layout = { width: scope.width, height: scope.height, operators: new Map(), loops: new Map(), segments: [] };
  place(scope, 0, 0, layout, known);
  return layout;
}

/**
 * The edges between operators that there are. Operators are numbered in the order in which they were made, so that what leads
 * to one with a lower number, on a cycle, leads back.
 *
 * @typedef {{ from: number, to: number, back: boolean } | null} Edge
 * @param {[number, number][]} edges @param {Nesting} nesting @returns {Edge[]}
 */
function knownEdges(edges, nesting) {
  /** @type {Map<number, number[]>} */
  const leaving = new Map(nesting.operators.map(({ id }) => [id, []]));
  for (const [from, to] of edges) leaving.get(from)?.push(to);
  const reaches = (/** @type {number} */ from, /** @type {number} */ to) => {
    const seen = new Set([from]);
    for (const one of seen) for (const next of leaving.get(one) ?? []) seen.add(next);
    return seen.has(to);
  };
  return edges.map(([from, to]) => (nesting.has(from) && nesting.has(to) ? { from, to, back: from >= to && reaches(to, from) } : null));
}

/** Which loops are round an operator. */
class Nesting {
  /** @param {Operator[]} operators @param {Loop[]} loops */
  constructor(operators, loops) {
    this.operators = operators;
    /** @type {Map<number, number | null>} */
    this.parent = new Map(loops.map((loop) => [loop.id, loop.parent]));
    for (const { loop } of operators) if (loop !== null && !this.parent.has(loop)) this.parent.set(loop, null);
    /** @type {Map<number, (number | null)[]>} */
    this.round = new Map(operators.map(({ id, loop }) => [id, this.upFrom(loop)]));
  }

  /** @param {number} operator */
  has(operator) {
    return this.round.has(operator);
  }

  /** A loop and all round it, ending with null for the whole. @param {number | null} loop @returns {(number | null)[]} */
  upFrom(loop) {
    /** @type {number[]} */
    const found = [];
    for (let at = loop; at !== null && !found.includes(at); at = this.parent.get(at) ?? null) found.push(at);
    return [...found, null];
  }

  /** What holds an operator directly in a scope: itself (null), a loop, or nothing (undefined). @param {number} operator @param {number | null} scope */
  childOf(operator, scope) {
    const round = this.round.get(operator) ?? [];
    const at = round.indexOf(scope);
    if (at < 0) return undefined;
    return at === 0 ? null : round[at - 1];
  }

  /** Loops that hold operators and stand directly in a scope. @param {number | null} scope */
  loopsIn(scope) {
    const found = this.operators.map(({ id }) => this.childOf(id, scope));
    return [...new Set(found.filter((loop) => loop !== null && loop !== undefined))];
  }
}

/** @param {number | null} name @param {Nesting} nesting @param {Edge[]} edges @returns {Scope} */
function layoutScope(name, nesting, edges) {
  const inner = new Map(nesting.loopsIn(name).map((loop) => [loop, layoutScope(loop, nesting, edges)]));
  const { items, wanted } = scopeGraph(name, nesting, edges, inner);
  turnCycles(items, wanted);
  layer(items, wanted);
  const layers = layersOf(items, wanted);
  order(layers);
  settle(layers);
  return { ...measure(layers, name !== null), items: layers.flat(), wanted, inner };
}

/**
 * The items of a scope and the links between them. Edges that run alike share a link.
 *
 * @param {number | null} name @param {Nesting} nesting @param {Edge[]} edges @param {Map<number, Scope>} inner
 */
function scopeGraph(name, nesting, edges, inner) {
  /** @type {Item[]} */
  const items = [];
  /** @type {Map<string, Item>} */
  const byKey = new Map();
  const item = (/** @type {Item["kind"]} */ kind, /** @type {number} */ of, width = PORT, height = 0) => {
    const key = `${kind} ${of}`;
    const found = byKey.get(key);
    if (found) return found;
    const made = { number: items.length, kind, of, width, height, layer: 0, x: 0, y: 0, top: 0, bottom: 0, above: [], below: [] };
    items.push(made);
    byKey.set(key, made);
    return made;
  };
  for (const { id, height } of nesting.operators) {
    const child = nesting.childOf(id, name);
    if (child === null) item("operator", id, WIDTH, height);
    else if (child !== undefined) item("loop", child, inner.get(child)?.width, inner.get(child)?.height);
  }
  /** @type {Map<string, Wanted>} */
  const wanted = new Map();
  edges.forEach((edge, number) => {
    if (!edge) return;
    const [source, target] = [nesting.childOf(edge.from, name), nesting.childOf(edge.to, name)];
    if (source === undefined && target === undefined) return;
    if (source !== null && source !== undefined && source === target) return;
    const from = source === undefined ? item("in", edge.from) : source === null ? item("operator", edge.from) : item("loop", source);
    const to = target === undefined ? item("out", edge.from) : target === null ? item("operator", edge.to) : item("loop", target);
    const out = source === null || source === undefined ? from.width / 2 : portOf(inner.get(source), "out", edge.from);
    const into = target === null || target === undefined ? to.width / 2 : portOf(inner.get(target), "in", edge.from);
    const key = `${from.number} ${to.number} ${out} ${into} ${edge.back}`;
    const link = wanted.get(key) ?? { from, to, out, in: into, edges: [], back: edge.back, turned: edge.back, chain: [] };
    link.edges.push(number);
    wanted.set(key, link);
  });
  return { items, wanted: [...wanted.values()] };
}

/** How far from the left side of a loop the port of an operator is. @param {Scope | undefined} scope @param {"in" | "out"} kind @param {number} of */
function portOf(scope, kind, of) {
  const port = scope?.items.find((item) => item.kind === kind && item.of === of);
  return port ? port.x + port.width / 2 : (scope?.width ?? 0) / 2;
}

/**
 * Turn the links that still close a cycle, found depth first: a loop that is one item here may be entered by what comes out
 * of it. Without them there is no cycle.
 *
 * @param {Item[]} items @param {Wanted[]} wanted
 */
function turnCycles(items, wanted) {
  const links = wanted.filter((link) => link.from !== link.to);
  const below = items.map((item) => links.filter((link) => ends(link).upper === item));
  const state = new Uint8Array(items.length);
  /** @type {Wanted[]} */
  const closing = [];
  for (const first of items) {
    if (state[first.number]) continue;
    state[first.number] = 1;
    const stack = [{ item: first, next: 0 }];
    while (stack.length) {
      const top = stack[stack.length - 1];
      const link = below[top.item.number][top.next];
      top.next += 1;
      if (!link) {
        state[top.item.number] = 2;
        stack.pop();
        continue;
      }
      const { lower } = ends(link);
      if (state[lower.number] === 1) closing.push(link);
      else if (state[lower.number] === 0) {
        state[lower.number] = 1;
        stack.push({ item: lower, next: 0 });
      }
    }
  }
  for (const link of closing) link.turned = !link.turned;
}

/** The upper and the lower end of a link, as it is laid out. @param {Wanted} link */
const ends = (link) => (link.turned ? { upper: link.to, lower: link.from } : { upper: link.from, lower: link.to });

/** Each item below the last of its sources; ports outermost; what has no source as near to its target as it may. @param {Item[]} items @param {Wanted[]} wanted */
function layer(items, wanted) {
  const links = wanted.filter((link) => link.from !== link.to).map(ends);
  const first = items.some((item) => item.kind === "in") ? 1 : 0;
  for (const item of items) item.layer = item.kind === "in" ? 0 : first;
  for (let round = 0, moved = true; moved && round <= items.length; round += 1) {
    moved = false;
    for (const { upper, lower } of links) {
      if (lower.layer > upper.layer) continue;
      lower.layer = upper.layer + 1;
      moved = true;
    }
  }
  const last = Math.max(0, ...items.filter((item) => item.kind !== "out").map((item) => item.layer));
  for (const item of items) {
    if (item.kind === "out") item.layer = last + 1;
    const below = links.filter((link) => link.upper === item).map((link) => link.lower.layer);
    if (item.kind !== "in" && below.length && !links.some((link) => link.lower === item)) item.layer = Math.min(...below) - 1;
  }
}

/** The items by layer, with a bend wherever a link passes a layer. @param {Item[]} items @param {Wanted[]} wanted @returns {Item[][]} */
function layersOf(items, wanted) {
  /** @type {Item[][]} */
  const layers = Array.from({ length: 1 + Math.max(0, ...items.map((item) => item.layer)) }, () => []);
  for (const item of items) layers[item.layer].push(item);
  let count = items.length;
  for (const link of wanted) {
    if (link.from === link.to) continue;
    const { upper, lower } = ends(link);
    const aside = (/** @type {Item} */ item) => (link.turned && item.kind === "operator" ? item.width / 4 : 0);
    let from = upper;
    let out = (link.turned ? link.in : link.out) + aside(upper);
    for (let at = upper.layer + 1; at <= lower.layer; at += 1) {
      const isLast = at === lower.layer;
      /** @type {Item} */
      const to = isLast ? lower : { number: count, kind: "bend", of: -1, width: PORT, height: 0, layer: at, x: 0, y: 0, top: 0, bottom: 0, above: [], below: [] };
      if (!isLast) {
        count += 1;
        layers[at].push(to);
      }
      const into = isLast ? (link.turned ? link.out : link.in) + aside(lower) : PORT / 2;
      const piece = { from, to, out, in: into };
      link.chain.push(piece);
      from.below.push(piece);
      to.above.push(piece);
      from = to;
      out = PORT / 2;
    }
  }
  return layers;
}

/** Order each layer by the mean place of its neighbours, down and up, and keep the order with the fewest crossings. @param {Item[][]} layers */
function order(layers) {
  /** @type {Map<Item, number>} */
  const place = new Map();
  const number = () => layers.forEach((items) => items.forEach((item, at) => place.set(item, at)));
  number();
  let best = layers.map((items) => [...items]);
  let fewest = crossings(layers, place);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep += 1) {
    const down = sweep % 2 === 0;
    const rows = down ? layers.slice(1) : layers.slice(0, -1).reverse();
    for (const items of rows) {
      const at = (/** @type {Item} */ item) => place.get(item) ?? 0;
      const far = (/** @type {Link} */ link) => (down ? at(link.from) + within(link.out, link.from) : at(link.to) + within(link.in, link.to));
      const mean = new Map(items.map((item) => [item, meanOf((down ? item.above : item.below).map(far), at(item))]));
      items.sort((one, other) => (mean.get(one) ?? 0) - (mean.get(other) ?? 0) || at(one) - at(other));
      items.forEach((item, at) => place.set(item, at));
    }
    const count = crossings(layers, place);
    if (count >= fewest) continue;
    fewest = count;
    best = layers.map((items) => [...items]);
  }
  layers.forEach((items, at) => items.splice(0, items.length, ...best[at]));
}

/** Where a link ends along an item, from -0.5 to 0.5: loops have many ports. @param {number} offset @param {Item} item */
function within(offset, item) {
  return item.width > 0 ? 0.9 * (offset / item.width - 0.5) : 0;
}

/** @param {number[]} values @param {number} otherwise */
function meanOf(values, otherwise) {
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : otherwise;
}

/** @param {Item[][]} layers @param {Map<Item, number>} place */
function crossings(layers, place) {
  let count = 0;
  for (const items of layers) {
    /** @type {[number, number][]} */
    const links = items.flatMap((item) => item.below.map((link) => /** @type {[number, number]} */ ([(place.get(item) ?? 0) + within(link.out, item), (place.get(link.to) ?? 0) + within(link.in, link.to)])));
    for (let one = 0; one < links.length; one += 1) {
      for (let other = one + 1; other < links.length; other += 1) {
        if ((links[one][0] - links[other][0]) * (links[one][1] - links[other][1]) < 0) count += 1;
      }
    }
  }
  return count;
}

/** Move each layer towards its neighbours, down and up, without changing its order. @param {Item[][]} layers */
function settle(layers) {
  for (const items of layers) {
    let x = 0;
    for (const item of items) {
      item.x = x;
      x += item.width + GAP.across;
    }
  }
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const down = sweep % 2 === 0;
    for (const items of down ? layers : [...layers].reverse()) {
      const wanted = items.map((item) =>
        meanOf(
          [
            ...(down || sweep > SWEEPS / 2 ? item.above.map((link) => link.from.x + link.out - link.in) : []),
            ...(!down || sweep > SWEEPS / 2 ? item.below.map((link) => link.to.x + link.in - link.out) : []),
          ],
          item.x,
        ),
      );
      const placed = apart(wanted, items.map((item) => item.width + GAP.across));
      items.forEach((item, at) => (item.x = placed[at]));
    }
  }
  const left = Math.min(...layers.flat().map((item) => item.x));
  for (const item of layers.flat()) item.x -= left;
}

/**
 * Places as near to those wanted as may be (by least squares), each at least a width behind the one before: neighbours
 * that would overlap become a block, which stands at the mean of what its members want.
 *
 * @param {number[]} wanted @param {number[]} widths @returns {number[]}
 */
export function apart(wanted, widths) {
  /** @typedef {{ sum: number, count: number }} Block @type {Block[]} */
  const blocks = [];
  const mean = (/** @type {Block} */ block) => block.sum / block.count;
  let offset = 0;
  const offsets = wanted.map((_, at) => (offset += at ? widths[at - 1] : 0));
  wanted.forEach((place, at) => {
    let block = { sum: place - offsets[at], count: 1 };
    while (blocks.length && mean(blocks[blocks.length - 1]) > mean(block)) {
      const before = blocks.pop() ?? block;
      block = { sum: before.sum + block.sum, count: before.count + block.count };
    }
    blocks.push(block);
  });
  return blocks.flatMap(({ sum, count }) => Array(count).fill(sum / count)).map((place, at) => place + offsets[at]);
}

/** Give layers their heights; a loop has room round it and for its name. @param {Item[][]} layers @param {boolean} loop */
function measure(layers, loop) {
  const side = loop ? GAP.inside : 0;
  let y = loop ? GAP.title : 0;
  layers.forEach((items, at) => {
    const ports = items.every((item) => item.kind === "in" || item.kind === "out" || item.kind === "bend") && items.some((item) => item.kind === "in" || item.kind === "out");
    const height = Math.max(0, ...items.map((item) => item.height));
    if (ports && at === 0) y = 0;
    for (const item of items) {
      item.x += side;
      item.y = y + (height - item.height) / 2;
      item.top = y;
      item.bottom = y + height;
    }
    y += height + (at === layers.length - 1 ? 0 : GAP.down);
  });
  const ports = layers.at(-1)?.some((item) => item.kind === "out");
  const right = Math.max(0, ...layers.flat().map((item) => item.x + item.width));
  return { width: right + side, height: y + (loop && !ports ? GAP.inside : 0) };
}

/** Put a scope where it belongs, and all that is in it. @param {Scope} scope @param {number} x @param {number} y @param {Layout} layout @param {Edge[]} edges */
function place(scope, x, y, layout, edges) {
  for (const item of scope.items) {
    const box = { x: x + item.x, y: y + item.y, width: item.width, height: item.height };
    if (item.kind === "operator") layout.operators.set(item.of, box);
    if (item.kind !== "loop") continue;
    layout.loops.set(item.of, box);
    const inner = scope.inner.get(item.of);
    if (inner) place(inner, box.x, box.y, layout, edges);
  }
  for (const link of scope.wanted) {
    const points = link.from === link.to ? selfPoints(link.from) : pointsOf(link);
    const moved = /** @type {Point[]} */ (points.map(([px, py]) => [px + x, py + y]));
    const tip = link.to.kind === "operator";
    layout.segments.push({ edges: link.edges, points: moved, back: link.back, last: tip });
  }
}

/** @param {Wanted} link @returns {Point[]} */
function pointsOf(link) {
  const [first] = link.chain;
  /** @type {Point[]} */
  const points = [[first.from.x + first.out, first.from.y + first.from.height]];
  const pass = (/** @type {number} */ x, /** @type {number} */ y) => {
    const [lastX, lastY] = points[points.length - 1];
    if (lastX !== x || lastY !== y) points.push([x, y]);
  };
  pass(first.from.x + first.out, first.from.bottom);
  for (const piece of link.chain) {
    const x = piece.to.x + piece.in;
    pass(x, piece.to.top);
    pass(x, piece.to.kind === "bend" ? piece.to.bottom : piece.to.y);
  }
  return link.turned ? points.reverse() : points;
}

/** Out of the right side of an operator, and back into it. @param {Item} item @returns {Point[]} */
function selfPoints(item) {
  const right = item.x + item.width;
  return [[right - 20, item.y + item.height], [right + 12, item.y + item.height / 2], [right - 20, item.y]];
}
