//! The algorithms, as the crate's own library and examples write them.

use differential_dataflow::algorithms::graphs::{bfs as library_bfs, propagate, scc};
use differential_dataflow::input::Input;
use differential_dataflow::operators::iterate::Iterate;
use differential_dataflow::trace::TraceReader;
use differential_dataflow::{Data, VecCollection};
use timely::dataflow::operators::probe::Probe;
use timely::dataflow::{ProbeHandle, Scope};
use timely::progress::frontier::AntichainRef;

use crate::Release;
use crate::tally::Tally;

type Pairs<'scope> = VecCollection<'scope, u32, (u32, u32)>;
type WeightedEdges<'scope> = VecCollection<'scope, u32, (u32, (u32, u32))>;

const SHARES: isize = 1_000_000;
const ROUNDS: usize = 10;

/// Count results, and know when they are complete.
pub fn observe(results: Pairs<'_>, probe: &ProbeHandle<u32>, tally: Tally) -> Release {
    results
        .inspect(move |((key, value), _, difference)| tally.add(*key, *value, *difference))
        .probe_with(probe);
    Box::new(|_| ())
}

/// (vertex, hops) of all that the source reaches.
pub fn bfs(edges: Pairs<'_>, source: u32) -> Pairs<'_> {
    let roots = constant(edges.scope(), [source]);
    library_bfs::bfs(edges, roots)
}

/// (vertex, least sum of weights) of all that the source reaches.
pub fn shortest_paths(edges: WeightedEdges<'_>, source: u32) -> Pairs<'_> {
    let roots = constant(edges.scope(), [(source, 0)]);
    let edges = edges.arrange_by_key();
    roots.clone().iterate(|scope, distances| {
        let (edges, roots) = (edges.enter(scope), roots.enter(scope));
        distances
            .join_core(edges, |_, distance, (to, weight)| Some((*to, distance + weight)))
            .concat(roots)
            .reduce(|_, found, least| least.push((*found[0].0, 1)))
    })
}

/// (vertex, least vertex of its component) of all vertices.
pub fn components(edges: Pairs<'_>, vertices: u32) -> Pairs<'_> {
    let labels = constant(edges.scope(), (0..vertices).map(|vertex| (vertex, vertex)));
    let both = edges.clone().map(|(from, to)| (to, from)).concat(edges);
    propagate::propagate_at(both, labels, |label| *label as u64)
}

/// The edges inside strongly connected components.
pub fn strong_components(edges: Pairs<'_>) -> Pairs<'_> {
    scc::strongly_connected_at(edges, |label| *label as u64)
}

/// (vertex, rank) after ten rounds, in whole shares: the integers of the Python side's `page_rank`.
pub fn ranks(edges: Pairs<'_>) -> Pairs<'_> {
    let nodes = edges.clone().flat_map(|(from, to)| [from, to]).distinct();
    let degrees = edges.clone().map(|(from, _)| from).count().arrange_by_key();
    let edges = edges.arrange_by_key();
    let base = nodes.clone().explode(|node| Some((node, SHARES / 6)));
    let mut ranks = nodes.map(|node| (node, SHARES));
    for _ in 0..ROUNDS {
        // What a vertex receives is added up as differences, which no operator has to keep apart.
        ranks = ranks
            .arrange_by_key()
            .join_core(degrees.clone(), |node, rank, degree| Some((*node, rank * 5 / 6 / degree)))
            .arrange_by_key()
            .join_core(edges.clone(), |_, share, to| Some((*to, *share)))
            .explode(|(to, share)| Some((to, share)))
            .concat(base.clone())
            .count();
    }
    ranks.map(|(node, rank)| (node, rank as u32))
}

/// No algorithm: the edges by source, as any operator would keep them.
pub fn arrange(edges: Pairs<'_>, probe: &ProbeHandle<u32>) -> Release {
    let arranged = edges.arrange_by_key();
    arranged.stream.probe_with(probe);
    let mut trace = arranged.trace;
    Box::new(move |time| {
        trace.set_logical_compaction(AntichainRef::new(&[time]));
        trace.set_physical_compaction(AntichainRef::new(&[time]));
    })
}

/// A collection that never changes; the first of the workers hands it over.
fn constant<'scope, I>(scope: Scope<'scope, u32>, items: I) -> VecCollection<'scope, u32, I::Item>
where
    I: IntoIterator<Item: Data> + 'static,
{
    let first = scope.index() == 0;
    let (input, collection) = scope.new_collection_from(items.into_iter().filter(move |_| first));
    input.close();
    collection
}
