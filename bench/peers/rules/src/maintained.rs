//! The same by Differential Dataflow, kept current over batches of edges.

use differential_dataflow::VecCollection;
use differential_dataflow::input::Input;
use differential_dataflow::operators::iterate::Iterate;
use timely::dataflow::ProbeHandle;

use crate::clock::Clock;
use crate::stream::Stream;
use crate::tally::Tally;
use crate::{Pair, report};

type Pairs<'scope> = VecCollection<'scope, u32, Pair>;

/// (x, y) for every way from x to y.
pub fn closure(edges: Pairs<'_>) -> Pairs<'_> {
    let arranged = edges.clone().arrange_by_key();
    edges.clone().iterate(|scope, ways| {
        let (edges, arranged) = (edges.enter(scope), arranged.enter(scope));
        ways.map(|(x, y)| (y, x))
            .join_core(arranged, |_, x, z| Some((*x, *z)))
            .concat(edges)
            .distinct()
    })
}

/// (x, y) of one generation, from edges from child to parent.
pub fn generation(edges: Pairs<'_>) -> Pairs<'_> {
    let children = edges.map(|(child, parent)| (parent, child)).arrange_by_key();
    let siblings = children
        .clone()
        .join_core(children.clone(), |_, x, y| (x != y).then_some((*x, *y)))
        .distinct();
    siblings.clone().iterate(|scope, pairs| {
        let (siblings, children) = (siblings.enter(scope), children.enter(scope));
        pairs
            .join_core(children.clone(), |_, q, x| Some((*q, *x)))
            .join_core(children, |_, x, y| (x != y).then_some((*x, *y)))
            .concat(siblings)
            .distinct()
    })
}

/// Follow all batches of the stream with one worker, and report.
pub fn run(stream: Stream, program: for<'scope> fn(Pairs<'scope>) -> Pairs<'scope>) {
    timely::execute_directly(move |worker| {
        let tally = Tally::default();
        let probe = ProbeHandle::new();
        let mut input = worker.dataflow::<u32, _, _>(|scope| {
            let (input, edges) = scope.new_collection::<Pair, isize>();
            let tally = tally.clone();
            program(edges)
                .inspect(move |((x, y), _, difference)| tally.add(*x, *y, *difference))
                .probe_with(&probe);
            input
        });
        let mut rounds = Vec::new();
        for (number, batch) in stream.batches().enumerate() {
            let clock = Clock::start();
            for edge in batch.inserted {
                input.update((edge[0], edge[1]), 1);
            }
            for edge in batch.deleted {
                input.update((edge[0], edge[1]), -1);
            }
            let now = number as u32 + 1;
            input.advance_to(now);
            input.flush();
            worker.step_while(|| probe.less_than(&now));
            rounds.push((clock.elapsed(), tally.get()));
        }
        report(&rounds);
    });
}
