//! Programs of engines that run once, as their own documentation writes them.

use datafrog::{Iteration, Relation, RelationLeaper, ValueFilter};

use crate::Pair;
use crate::stream::Edge;

mod rules {
    ascent::ascent! {
        pub struct Closure;
        relation edge(u32, u32);
        relation tc(u32, u32);
        tc(x, y) <-- edge(x, y);
        tc(x, z) <-- tc(x, y), edge(y, z);
    }

    ascent::ascent! {
        pub struct Generation;
        relation edge(u32, u32);
        relation sg(u32, u32);
        sg(x, y) <-- edge(x, p), edge(y, p), if x != y;
        sg(x, y) <-- edge(x, p), sg(p, q), edge(y, q), if x != y;
    }

    ascent::ascent! {
        pub struct Aliases;
        relation assign(u32, u32);
        relation deref(u32, u32);
        relation node(u32);
        relation value_flow(u32, u32);
        relation reaches(u32, u32);
        relation memory_alias(u32, u32);
        node(x), node(y) <-- assign(x, y);
        node(x), node(y) <-- deref(x, y);
        value_flow(x, x) <-- node(x);
        value_flow(x, z) <-- assign(x, y), value_flow(y, z);
        value_flow(x, z) <-- assign(x, y), memory_alias(y, w), value_flow(w, z);
        reaches(x, y) <-- value_flow(x, p), deref(p, y);
        memory_alias(x, y) <-- reaches(z, x), reaches(z, y);
        memory_alias(x, y) <-- reaches(z, x), memory_alias(z, w), reaches(w, y);
    }
}

pub fn ascent_closure(edges: &[Edge]) -> Vec<Pair> {
    let edges = pairs(edges);
    let mut program = rules::Closure::default();
    program.edge = edges;
    program.run();
    program.tc
}

pub fn ascent_generation(edges: &[Edge]) -> Vec<Pair> {
    let edges = pairs(edges);
    let mut program = rules::Generation::default();
    program.edge = edges;
    program.run();
    program.sg
}

/// Places that may be the same; edges of weight 0 are assignments, those of weight 1 dereferences.
pub fn ascent_aliases(edges: &[Edge]) -> Vec<Pair> {
    let of = |weight| {
        let chosen = edges.iter().filter(move |edge| edge[2] == weight);
        chosen.map(|edge| (edge[0], edge[1])).collect()
    };
    let mut program = rules::Aliases::default();
    (program.assign, program.deref) = (of(0), of(1));
    program.run();
    program.memory_alias
}

pub fn datafrog_closure(edges: &[Edge]) -> Vec<Pair> {
    let edges = pairs(edges);
    let edges: Relation<Pair> = edges.into();
    let mut iteration = Iteration::new();
    // By the end of a way: (y, x).
    let ways = iteration.variable::<Pair>("ways");
    ways.insert(edges.iter().map(|&(x, y)| (y, x)).collect());
    while iteration.changed() {
        ways.from_join(&ways, &edges, |_, &x, &z| (z, x));
    }
    ways.complete().iter().map(|&(y, x)| (x, y)).collect()
}

pub fn datafrog_generation(edges: &[Edge]) -> Vec<Pair> {
    let edges = pairs(edges);
    let children: Relation<Pair> = edges.iter().map(|&(child, parent)| (parent, child)).collect();
    let mut iteration = Iteration::new();
    let found = iteration.variable::<Pair>("found");
    let half = iteration.variable::<Pair>("half");
    let siblings: Vec<Pair> = edges
        .iter()
        .flat_map(|&(one, parent)| {
            let from = children.partition_point(|item| item.0 < parent);
            let until = children.partition_point(|item| item.0 <= parent);
            children[from..until].iter().map(move |&(_, other)| (one, other))
        })
        .filter(|(one, other)| one != other)
        .collect();
    found.insert(siblings.into());
    while iteration.changed() {
        half.from_join(&found, &children, |_, &other, &child| (other, child));
        found.from_leapjoin(
            &half,
            (
                children.extend_with(|&(other, _)| other),
                ValueFilter::from(|&(_, child): &Pair, &second: &u32| child != second),
            ),
            |&(_, child), &second| (child, second),
        );
    }
    found.complete().iter().copied().collect()
}

fn pairs(edges: &[Edge]) -> Vec<Pair> {
    edges.iter().map(|edge| (edge[0], edge[1])).collect()
}
