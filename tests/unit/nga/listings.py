"""Programs in L_NGA: the listings of the paper (figures 3 and 5), and the library's own."""

PAGE_RANK = """
Vertex (id, active, out_nbrs, out_degree, rank: float, sum: Accm<float, SUM>)

Initialize (u):
  u.rank = 1;
  u.active = true;

Traverse (u):
  Let val = u.rank / u.out_degree;
  For v in u.out_nbrs
    v.sum.Accumulate(val);

Update (u):
  Let val = 0.15/V + 0.85*u.sum;
  If (Abs(val - u.rank) > 0.001)
    u.rank = val;
    u.active = true;
"""
TRIANGLE_COUNT = """
Vertex (id, active, nbrs)
GlobalVariable (cnts: Accm<long, SUM>)

Initialize (u1):
  u1.active = true;

Traverse (u1):
  For u2 in u1.nbrs Where (u1 < u2)
    For u3 in u2.nbrs Where (u2 < u3)
      For u4 in u3.nbrs Where (u4 == u1)
        cnts.Accumulate(1);

Update (u1):
"""
TRIANGLE_COUNT_IN_BRACES = """
Vertex (id, active, nbrs)
GlobalVariable (cnts: Accm<long, SUM>)
Initialize (u1): { u1.active = true; }
Traverse (u1): {
For (u2) in (u1.nbrs) Where (u1 < u2) {
For (u3) in (u2.nbrs) Where (u2 < u3) {
          For (u4) in (u3.nbrs)
        Where (u4 == u1)
    { cnts.Accumulate(1); }
  } }
}
Update (u1): { }
"""
LIBRARY = {
    "WCC": """
Program WCC
Vertex (id, nbrs, component: long, least: Accm<long, MIN>)
Initialize (u): u.component = u.id;
Traverse (u):
  For v in u.nbrs
    v.least.Accumulate(u.component);
Update (u): u.component = Min(u.component, u.least);
""",
    "BFS": """
Program BFS
Parameter (source: vertex)
Vertex (out_nbrs, hops: double = Infinity, best: Accm<double, MIN>)
Initialize (u): u.hops = u == source ? 0 : Infinity;
Traverse (u):
  For v in u.out_nbrs
    v.best.Accumulate(u.hops + 1);
Update (u): u.hops = Min(u.hops, u.best);
""",
    "ShortestPaths": """
Program ShortestPaths
Parameter (source: vertex)
Edge (weight: double)
Vertex (out_nbrs, dist: double = inf, best: Accm<double, MIN>)
Initialize (u): u.dist = u == source ? 0 : inf;
Traverse (u): For v in u.out_nbrs Via e { v.best.Accumulate(u.dist + e.weight); }
Update (u): u.dist = Min(u.dist, u.best);
""",
    "PageRank": """
Program PageRank
Parameter (damping: double = 0.85, iterations: int = 10)
Vertex (out_nbrs, out_degree, rank: double = 1.0, total: Accm<double, SUM>)
Traverse (u):
  Let share = u.rank / u.out_degree;
  For v in u.out_nbrs
    v.total.Accumulate(share);
Update (u): u.rank = (1 - damping) + damping * u.total;
""",
    "LabelPropagation": """
Program LabelPropagation
Parameter (first: vertices, second: vertices, iterations: int = 10)
Vertex (nbrs, share: Array<double, 2>, votes: Array<Accm<double, SUM>, 2>)
Initialize (u):
  u.share[0] = u in first ? 1.0 : 0.0;
  u.share[1] = u in second ? 1.0 : 0.0;
Traverse (u):
  For v in u.nbrs
    For k in Range(2)
      v.votes[k].Accumulate(u.share[k]);
Update (u):
  Let total = u.votes[0] + u.votes[1];
  If (Not (u in first Or u in second) And total > 0)
    For k in Range(2)
      u.share[k] = u.votes[k] / total;
""",
}
ACTIVE = {
    "WCC": """
Program WCC
Vertex (id, active, nbrs, component: long, least: Accm<long, MIN>)
Initialize (u):
  u.component = u.id;
  u.active = true;
Traverse (u):
  For v in u.nbrs
    v.least.Accumulate(u.component);
Update (u):
  If (u.least < u.component)
    u.component = u.least;
    u.active = true;
""",
    "BFS": """
Program BFS
Parameter (source: vertex)
Vertex (active, out_nbrs, hops: double = Infinity, best: Accm<double, MIN>)
Initialize (u):
  u.hops = u == source ? 0 : Infinity;
  u.active = u == source;
Traverse (u):
  For v in u.out_nbrs
    v.best.Accumulate(u.hops + 1);
Update (u):
  If (u.hops > u.best) { u.active = true; u.hops = u.best; }
""",
}
TRIANGLES = """
// In how many triangles each vertex is.
Program Triangles
Vertex (nbrs, triangles: long, found: Accm<long, SUM>)
GlobalVariable (total: Accm<long, SUM>)

Traverse (u):
  For v in u.nbrs Where (u < v)
    For w in v.nbrs Where (v < w And w in u.nbrs)
      u.found.Accumulate(1);
      v.found.Accumulate(1);
      w.found.Accumulate(1);
      total.Accumulate(1);

Update (u): u.triangles = u.found;
"""
CLUSTERING = """
Program Clustering
Vertex (nbrs, coefficient: double, closed: Accm<long, SUM>, open: Accm<long, SUM>)

Traverse (u):
  For v in u.nbrs Where (u != v)
    For w in u.nbrs Where (v < w And u != w)
      u.open.Accumulate(1);
      If (w in v.nbrs)
        u.closed.Accumulate(1);

Update (u):
  If (u.open > 0)
    u.coefficient = u.closed / u.open;
"""
