/**
 * Where vertices stand: by forces, in slices of time, so that the page stays fluent.
 *
 * A place, once found, is kept: when another view is shown, vertices that stay do not move, those that come
 * settle near their neighbours, and one that comes back stands where it stood. So the eye can follow. It begins
 * with every component as a tree round its busiest vertex, and draws no random numbers: the same graph is laid
 * out alike. Where data say where vertices are, these stand there.
 */

const LINK = 30;
const REPULSION = 42;
/** How far off a group of vertices counts as one: its width by its distance. */
const THETA = 0.95;
/** How fast vertices come to rest: each round of many costs more, and they begin as trees that are nearly right. */
const COOLING = [0.978, 0.95];
const MANY = 4000;
const COLD = 0.012;
const MOST_REMEMBERED = 200_000;

/** Places by id, which drawings beside each other may share. */
export class Places {
  constructor() {
    /** @type {Map<string, [number, number]>} */
    this.known = new Map();
    /** Of places that data give, which stays while versions change. @type {number | null} */
    this.scale = null;
    /** The layout that moves; others that share these places follow it. @type {Layout | null} */
    this.leader = null;
    /** Told when a layout begins to move. @type {Set<() => void>} */
    this.hearers = new Set();
  }

  /** @param {Layout} layout */
  lead(layout) {
    if (this.leader?.moves) return;
    this.leader = layout;
    for (const hear of this.hearers) hear();
  }

  /** @param {string} id @param {number} x @param {number} y */
  put(id, x, y) {
    if (this.known.size > MOST_REMEMBERED) this.known.clear();
    this.known.set(id, [x, y]);
  }
}

/**
 * @typedef {object} Given
 * @property {string[]} id
 * @property {(number | null)[] | null} [x]  where data say that vertices are
 * @property {(number | null)[] | null} [y]
 * @property {number[]} from
 * @property {number[]} to
 */

export class Layout {
  /** @param {Places} [places] */
  constructor(places = new Places()) {
    this.places = places;
    /** @type {string[]} */
    this.ids = [];
    this.x = new Float64Array(0);
    this.y = new Float64Array(0);
    /** 0 for a vertex that stays where it is. */
    this.free = new Uint8Array(0);
    this.from = new Int32Array(0);
    this.to = new Int32Array(0);
    this.heat = 0;
    /** The vertices that another layout has as well. @type {{ of: string[], pairs: [number, number][] } | null} */
    this.shared = null;
    /** @type {Generator<undefined, void> | null} */
    this.work = null;
  }

  /** Whether it still moves by itself. */
  get moves() {
    return this.heat > COLD;
  }

  /** Whether it moves, or follows another one that does. @returns {boolean} */
  get moving() {
    return this.moves || this.leads() !== null;
  }

  /** The other layout that moves the same places. @returns {Layout | null} */
  leads() {
    const { leader } = this.places;
    return leader && leader !== this && leader.moves ? leader : null;
  }

  /**
   * Show another graph. Vertices whose places are known stay there; how many are new.
   *
   * @param {Given} given
   */
  set(given) {
    const count = given.id.length;
    const wasMoving = this.moves;
    this.ids = given.id;
    this.x = new Float64Array(count);
    this.y = new Float64Array(count);
    this.free = new Uint8Array(count);
    this.from = Int32Array.from(given.from);
    this.to = Int32Array.from(given.to);
    this.rows = neighbours(count, this.from, this.to);
    this.work = null;
    const placed = given.x && given.y ? this.putByData(given.x, given.y) : this.putKnown();
    const fresh = count - placed;
    if (placed === 0) this.putTrees();
    else if (fresh > 0) this.putNear();
    if (placed === 0 || (wasMoving && !given.x && !this.leads())) {
      this.free.fill(1);
      this.heat = placed === 0 ? 1 : Math.max(this.heat, 0.3);
    } else this.heat = fresh > 0 ? 0.5 : 0;
    this.keep();
    this.shared = null;
    if (this.moves) this.places.lead(this);
    return fresh;
  }

  /** Lay out all anew, but for what data place. */
  again() {
    for (const id of this.ids) this.places.known.delete(id);
    this.work = null;
    this.putTrees();
    this.free.fill(1);
    this.heat = 1;
    this.keep();
    this.places.leader = null;
    this.places.lead(this);
  }

  /**
   * Go on for so many milliseconds at most; whether there is more to do.
   *
   * @param {number} milliseconds
   */
  step(milliseconds) {
    const stop = performance.now() + milliseconds;
    this.follow();
    while (this.moves) {
      this.work ??= this.round();
      const { done } = this.work.next();
      if (done) {
        this.work = null;
        this.heat *= COOLING[this.ids.length > MANY ? 1 : 0];
      }
      if (performance.now() >= stop) break;
    }
    if (!this.moves && !this.leads()) this.keep();
    return this.moving;
  }

  /** Put vertices that another layout moves where they are there. */
  follow() {
    const leader = this.leads();
    if (!leader) return this.settle();
    if (this.shared?.of !== leader.ids) {
      const there = new Map(leader.ids.map((id, at) => [id, at]));
      /** @type {[number, number][]} */
      const pairs = [];
      this.ids.forEach((id, at) => {
        const other = there.get(id);
        if (other !== undefined) pairs.push([at, other]);
      });
      this.shared = { of: leader.ids, pairs };
    }
    for (const [at, other] of this.shared?.pairs ?? []) {
      this.free[at] = 0;
      this.x[at] = leader.x[other];
      this.y[at] = leader.y[other];
    }
    return undefined;
  }

  /** The layout that it followed has come to rest: take its last places. */
  settle() {
    for (const [at] of this.shared?.pairs ?? []) {
      const place = this.places.known.get(this.ids[at]);
      if (place) [this.x[at], this.y[at]] = place;
    }
    this.shared = null;
  }

  /** Remember where vertices are. */
  keep() {
    for (let at = 0; at < this.ids.length; at++) this.places.put(this.ids[at], this.x[at], this.y[at]);
  }

  /** Free vertices are 1 in `free`; whoever has a place is not. */
  putKnown() {
    let placed = 0;
    for (let at = 0; at < this.ids.length; at++) {
      const place = this.places.known.get(this.ids[at]);
      if (place) {
        [this.x[at], this.y[at]] = place;
        placed += 1;
      } else this.free[at] = 1;
    }
    return placed;
  }

  /**
   * Scaled so that neighbours are about as far apart as in a layout by forces.
   *
   * @param {(number | null)[]} x @param {(number | null)[]} y
   */
  putByData(x, y) {
    this.places.scale ??= scaleOf(x, y, this.from);
    const scale = this.places.scale;
    let placed = 0;
    /** @type {Map<string, number>} */
    const taken = new Map();
    for (let at = 0; at < x.length; at++) {
      const [one, other] = [x[at], y[at]];
      if (one === null || other === null) {
        this.free[at] = 1;
        continue;
      }
      const key = `${one} ${other}`;
      const before = taken.get(key) ?? 0;
      taken.set(key, before + 1);
      // Several vertices of one place stand round it, as the seeds of a sunflower do.
      const [angle, far] = [before * 2.399963, 4 * Math.sqrt(before)];
      this.x[at] = one * scale + far * Math.cos(angle);
      this.y[at] = other * scale + far * Math.sin(angle);
      placed += 1;
    }
    return placed;
  }

  /** Every component as a tree round its busiest vertex; components beside each other, the largest first. */
  putTrees() {
    const rows = this.neighbours();
    const count = this.ids.length;
    const seen = new Uint8Array(count);
    const order = Array.from({ length: count }, (_, at) => at).sort(
      (one, other) => rows.starts[other + 1] - rows.starts[other] - (rows.starts[one + 1] - rows.starts[one]) || one - other,
    );
    /** @type {{ members: number[], radius: number }[]} */
    const components = [];
    for (const root of order) {
      if (!seen[root]) components.push(this.putTree(root, seen));
    }
    components.sort((one, other) => other.radius - one.radius || one.members[0] - other.members[0]);
    packed(components.map((one) => one.radius)).forEach(([left, up], at) => {
      for (const vertex of components[at].members) {
        this.x[vertex] += left;
        this.y[vertex] += up;
      }
    });
  }

  /** @param {number} root @param {Uint8Array} seen */
  putTree(root, seen) {
    const { starts, others } = this.neighbours();
    const members = [root];
    const parent = new Map([[root, -1]]);
    const depth = new Map([[root, 0]]);
    seen[root] = 1;
    for (let next = 0; next < members.length; next++) {
      const vertex = members[next];
      for (let slot = starts[vertex]; slot < starts[vertex + 1]; slot++) {
        const other = others[slot];
        if (seen[other]) continue;
        seen[other] = 1;
        parent.set(other, vertex);
        depth.set(other, (depth.get(vertex) ?? 0) + 1);
        members.push(other);
      }
    }
    // Leaves below each vertex share the angle of its parent.
    const leaves = new Map();
    for (let at = members.length - 1; at >= 0; at--) {
      const own = Math.max(1, leaves.get(members[at]) ?? 0);
      leaves.set(members[at], own);
      const above = parent.get(members[at]) ?? -1;
      if (above >= 0) leaves.set(above, (leaves.get(above) ?? 0) + own);
    }
    const begin = new Map([[root, 0]]);
    const used = new Map();
    let deepest = 0;
    for (const vertex of members) {
      const above = parent.get(vertex) ?? -1;
      const share = (2 * Math.PI) / leaves.get(root);
      if (above >= 0) {
        begin.set(vertex, (begin.get(above) ?? 0) + (used.get(above) ?? 0) * share);
        used.set(above, (used.get(above) ?? 0) + leaves.get(vertex));
      }
      const angle = (begin.get(vertex) ?? 0) + (leaves.get(vertex) * share) / 2;
      const far = LINK * (depth.get(vertex) ?? 0);
      deepest = Math.max(deepest, far);
      this.x[vertex] = far * Math.cos(angle);
      this.y[vertex] = far * Math.sin(angle);
    }
    const radius = Math.min(deepest, LINK * Math.sqrt(members.length)) + LINK * 0.6;
    const shrunk = deepest > 0 ? (radius - LINK * 0.5) / deepest : 1;
    for (const vertex of members) {
      this.x[vertex] *= shrunk;
      this.y[vertex] *= shrunk;
    }
    return { members, radius };
  }

  /** Vertices without a place stand beside the middle of their neighbours that have one. */
  putNear() {
    const { starts, others } = this.neighbours();
    const known = this.free.map((free) => 1 - free);
    let waiting = [...known.keys()].filter((at) => !known[at]);
    const outside = this.edge();
    let alone = 0;
    while (waiting.length) {
      /** @type {number[]} */
      const left = [];
      const found = [];
      for (const at of waiting) {
        let [x, y, many] = [0, 0, 0];
        for (let slot = starts[at]; slot < starts[at + 1]; slot++) {
          if (!known[others[slot]]) continue;
          x += this.x[others[slot]];
          y += this.y[others[slot]];
          many += 1;
        }
        if (!many) {
          left.push(at);
          continue;
        }
        const angle = angleOf(this.ids[at]);
        const far = many > 1 ? LINK * 0.3 : LINK;
        this.x[at] = x / many + far * Math.cos(angle);
        this.y[at] = y / many + far * Math.sin(angle);
        found.push(at);
      }
      for (const at of found) known[at] = 1;
      if (!found.length && left.length) {
        // Nothing near it has a place: it begins beside the picture.
        const at = left.shift() ?? 0;
        this.x[at] = outside.right + LINK * 2;
        this.y[at] = outside.top - LINK * 1.5 * alone;
        alone += 1;
        known[at] = 1;
      }
      waiting = left;
    }
  }

  /** The box of what has a place. */
  edge() {
    let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let at = 0; at < this.ids.length; at++) {
      if (this.free[at] && this.x[at] === 0 && this.y[at] === 0) continue;
      left = Math.min(left, this.x[at]);
      right = Math.max(right, this.x[at]);
      bottom = Math.min(bottom, this.y[at]);
      top = Math.max(top, this.y[at]);
    }
    if (left > right) [left, right, bottom, top] = [0, 0, 0, 0];
    return { left, right, bottom, top };
  }

  neighbours() {
    this.rows ??= neighbours(this.ids.length, this.from, this.to);
    return this.rows;
  }

  /** One round of forces; yields now and then, so that it can be put off. */
  *round() {
    const count = this.ids.length;
    const { x, y, free, from, to, heat } = this;
    const [moveX, moveY] = [new Float64Array(count), new Float64Array(count)];
    const tree = new Quadtree(x, y);
    yield;
    let middleX = 0;
    let middleY = 0;
    for (let at = 0; at < count; at++) {
      middleX += x[at] / count;
      middleY += y[at] / count;
    }
    for (let at = 0; at < count; at++) {
      if (free[at]) {
        tree.push(at, moveX, moveY);
        // Towards the middle, or components would drift away.
        moveX[at] -= (x[at] - middleX) * 0.018;
        moveY[at] -= (y[at] - middleY) * 0.018;
      }
      if (at % 256 === 255) yield;
    }
    const { starts } = this.neighbours();
    for (let at = 0; at < from.length; at++) {
      const [one, other] = [from[at], to[at]];
      if (one === other) continue;
      const apartX = x[other] - x[one] || 1e-3 * (one - other);
      const apartY = y[other] - y[one];
      const apart = Math.hypot(apartX, apartY);
      const [few, many] = [starts[one + 1] - starts[one], starts[other + 1] - starts[other]];
      const pull = ((apart - LINK) / apart) * (1 / Math.min(few, many)) * 0.7;
      const bias = few / (few + many);
      moveX[other] -= apartX * pull * bias;
      moveY[other] -= apartY * pull * bias;
      moveX[one] += apartX * pull * (1 - bias);
      moveY[one] += apartY * pull * (1 - bias);
      if (at % 4096 === 4095) yield;
    }
    const most = LINK * 2;
    for (let at = 0; at < count; at++) {
      if (!free[at]) continue;
      const far = Math.hypot(moveX[at], moveY[at]) * heat;
      const scale = far > most ? (heat * most) / far : heat;
      x[at] += moveX[at] * scale;
      y[at] += moveY[at] * scale;
    }
  }
}

/** Squares within squares, with how many points are in each and where their middle is. */
class Quadtree {
  /** @param {Float64Array} x @param {Float64Array} y */
  constructor(x, y) {
    this.x = x;
    this.y = y;
    const room = 8 * x.length + 64;
    this.child = new Int32Array(room * 4).fill(-1);
    this.mass = new Float64Array(room);
    this.sumX = new Float64Array(room);
    this.sumY = new Float64Array(room);
    /** The point of a leaf; -1 of a square with squares in it. */
    this.point = new Int32Array(room).fill(-1);
    this.used = 1;
    let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let at = 0; at < x.length; at++) {
      left = Math.min(left, x[at]);
      right = Math.max(right, x[at]);
      bottom = Math.min(bottom, y[at]);
      top = Math.max(top, y[at]);
    }
    this.left = left;
    this.bottom = bottom;
    this.size = Math.max(right - left, top - bottom, 1e-6) * 1.0001;
    this.stack = new Int32Array(1024);
    this.widths = new Float64Array(1024);
    for (let at = 0; at < x.length; at++) this.insert(at);
  }

  /** @param {number} at */
  insert(at) {
    const { x, y, child, mass, sumX, sumY, point } = this;
    let [node, left, bottom, size] = [0, this.left, this.bottom, this.size];
    for (let depth = 0; ; depth++) {
      const here = point[node];
      const empty = mass[node] === 0;
      mass[node] += 1;
      sumX[node] += x[at];
      sumY[node] += y[at];
      if (empty) {
        point[node] = at;
        return;
      }
      // Points that are hardly apart share a leaf, whose force is that of all of them.
      if (depth > 24 || this.used + 2 >= mass.length) return;
      if (here >= 0) {
        point[node] = -1;
        const half = size / 2;
        const slot = (x[here] >= left + half ? 1 : 0) + (y[here] >= bottom + half ? 2 : 0);
        const down = this.used++;
        child[node * 4 + slot] = down;
        point[down] = here;
        mass[down] = mass[node] - 1;
        sumX[down] = x[here] * mass[down];
        sumY[down] = y[here] * mass[down];
      }
      size /= 2;
      const slot = (x[at] >= left + size ? 1 : 0) + (y[at] >= bottom + size ? 2 : 0);
      if (slot & 1) left += size;
      if (slot & 2) bottom += size;
      let down = child[node * 4 + slot];
      if (down < 0) {
        down = this.used++;
        child[node * 4 + slot] = down;
      }
      node = down;
    }
  }

  /**
   * Push a point away from all others.
   *
   * @param {number} at @param {Float64Array} moveX @param {Float64Array} moveY
   */
  push(at, moveX, moveY) {
    const { x, y, child, mass, sumX, sumY, point, stack, widths } = this;
    const [ownX, ownY] = [x[at], y[at]];
    let [pushX, pushY, top] = [0, 0, 1];
    stack[0] = 0;
    widths[0] = this.size;
    while (top > 0) {
      top -= 1;
      const node = stack[top];
      const width = widths[top];
      const many = mass[node];
      if (!many || point[node] === at) continue;
      let apartX = ownX - sumX[node] / many;
      let apartY = ownY - sumY[node] / many;
      let square = apartX * apartX + apartY * apartY;
      if (point[node] >= 0 || width * width < THETA * THETA * square || top > 1000) {
        if (square < 1) {
          // On top of each other: apart by a way of their own.
          apartX += Math.cos(at * 2.399963);
          apartY += Math.sin(at * 2.399963);
          square = Math.max(1, apartX * apartX + apartY * apartY);
        }
        const force = (REPULSION * many) / square;
        pushX += apartX * force;
        pushY += apartY * force;
        continue;
      }
      for (let slot = 0; slot < 4; slot++) {
        const down = child[node * 4 + slot];
        if (down < 0) continue;
        stack[top] = down;
        widths[top] = width / 2;
        top += 1;
      }
    }
    moveX[at] += pushX;
    moveY[at] += pushY;
  }
}

/** @param {number} count @param {Int32Array} from @param {Int32Array} to */
function neighbours(count, from, to) {
  const starts = new Int32Array(count + 1);
  for (let at = 0; at < from.length; at++) {
    if (from[at] === to[at]) continue;
    starts[from[at] + 1] += 1;
    starts[to[at] + 1] += 1;
  }
  for (let at = 0; at < count; at++) starts[at + 1] += starts[at];
  const next = starts.slice();
  const others = new Int32Array(starts[count]);
  for (let at = 0; at < from.length; at++) {
    if (from[at] === to[at]) continue;
    others[next[from[at]]++] = to[at];
    others[next[to[at]]++] = from[at];
  }
  return { starts, others };
}

/**
 * Middles of circles that do not overlap, each on the first free place of a spiral.
 *
 * @param {number[]} radii  the largest first
 */
function packed(radii) {
  /** @type {[number, number, number][]} */
  const placed = [];
  const area = radii.reduce((sum, radius) => sum + radius * radius, 0);
  let from = 0;
  return radii.map((radius, at) => {
    if (at === 0) {
      placed.push([0, 0, radius]);
      from = radius;
      return [0, 0];
    }
    // Beyond some hundreds, circles fill the disk by the golden angle alone: a search would cost their square.
    if (at > 400) {
      const far = Math.sqrt(area) * (1.05 + (0.5 * (at - 400)) / radii.length) + from;
      return [far * Math.cos(at * 2.399963), far * Math.sin(at * 2.399963)];
    }
    for (let turn = 0; ; turn++) {
      const far = from * 0.3 + radius * 0.35 * Math.sqrt(turn) * 1.6 + radius;
      const [x, y] = [far * Math.cos(turn * 2.399963), far * Math.sin(turn * 2.399963)];
      const free = placed.every(([left, up, wide]) => (x - left) ** 2 + (y - up) ** 2 >= (wide + radius) ** 2);
      if (free || turn > 20_000) {
        placed.push([x, y, radius]);
        return [x, y];
      }
    }
  });
}

/**
 * @param {(number | null)[]} x @param {(number | null)[]} y @param {Int32Array} from
 */
function scaleOf(x, y, from) {
  const known = x.flatMap((value, at) => (value === null || y[at] === null ? [] : [at]));
  const wide = (/** @type {(number | null)[]} */ values) => {
    let [least, most] = [Infinity, -Infinity];
    for (const at of known) {
      const value = /** @type {number} */ (values[at]);
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    return Math.max(0, most - least);
  };
  const width = Math.max(wide(x), wide(y));
  return width > 0 ? (LINK * 1.2 * Math.sqrt(Math.max(from.length, known.length))) / width : 1;
}

/** An angle for a text, always the same. @param {string} text */
export function angleOf(text) {
  let hash = 2166136261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return ((hash >>> 0) / 4294967296) * 2 * Math.PI;
}
