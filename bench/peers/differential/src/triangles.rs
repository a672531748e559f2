//! Triangles as a delta query of `dogsdogsdogs`: no intermediate result is kept.
//!
//! A triangle is a -> b, b -> c, a -> c: every edge goes from the lower vertex to the greater one, as
//! the side that writes the stream sees to. Each of the three edges has a query of its own, driven by
//! the changes at its place; places before it are read as they were, places behind it as they are.
//!
//! The triangles of the first version are taken to be known: finding them in this way takes minutes,
//! and nothing of it is kept that a batch would need.

use differential_dataflow::{AsCollection, VecCollection};
use differential_dogs3::altneu::AltNeu;
use differential_dogs3::operators::{propose, validate};
use timely::dataflow::operators::vec::Filter;

type Pairs<'scope> = VecCollection<'scope, u32, (u32, u32)>;

/// (vertex, 0), once for every triangle that the vertex has come into since the first version.
pub fn triangles(edges: Pairs<'_>) -> Pairs<'_> {
    let scope = edges.scope();
    let turned = edges.clone().map(|(from, to)| (to, from));
    let forward_key = edges.clone().arrange_by_key();
    let reverse_key = turned.clone().arrange_by_key();
    let forward_self = edges.clone().arrange_by_self();
    let reverse_self = turned.arrange_by_self();
    scope
        .clone()
        .scoped::<AltNeu<u32>, _, _>("triangles", |inner| {
            let old = |time: &u32| AltNeu::alt(*time);
            let new = |time: &u32| AltNeu::neu(*time);
            let before = |time: &AltNeu<u32>| time.time.saturating_sub(1);
            let forward_key_old = forward_key.clone().enter_at(inner, move |_, _, t| old(t), before);
            let reverse_key_old = reverse_key.enter_at(inner, move |_, _, t| old(t), before);
            let forward_key_new = forward_key.enter_at(inner, move |_, _, t| new(t), before);
            let reverse_self_old = reverse_self.clone().enter_at(inner, move |_, _, t| old(t), before);
            let forward_self_new = forward_self.enter_at(inner, move |_, _, t| new(t), before);
            let reverse_self_new = reverse_self.enter_at(inner, move |_, _, t| new(t), before);
            let first = |edge: &(u32, u32)| edge.0;
            let second = |edge: &(u32, u32)| edge.1;
            let later = edges.inner.filter(|(_, time, _)| *time > 0).as_collection();
            let changes = later.enter(inner);

            let of_first = validate(propose(changes.clone(), forward_key_new, second), forward_self_new, first);
            let of_second = validate(propose(changes.clone(), reverse_key_old, first), reverse_self_new, second);
            let of_third = validate(propose(changes, forward_key_old, first), reverse_self_old, second);
            of_first.concat(of_second).concat(of_third).leave(scope)
        })
        .flat_map(|((one, other), third)| [(one, 0), (other, 0), (third, 0)])
}
