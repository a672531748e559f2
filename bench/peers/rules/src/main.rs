//! Rules by other engines: `rules ENGINE PROGRAM FILE`.
//!
//! An engine is `datafrog` or `ascent`, which derive everything from the first version of the stream
//! and know no changes, or `differential`, which follows all of its batches with one worker. A
//! program is `tc` or `sg`: edges go from x to y, or from child to parent; ascent has `aliases` too, the
//! rules of `examples/analysis/points_restricted.dl`.
//!
//! The stream is that of the peer `differential`, and so is the JSON object that is printed: seconds
//! from handing over the first edge until all consequences are known, how many results there are,
//! and a checksum of them, which is taken outside of that time where nothing changes.

#[path = "../../differential/src/clock.rs"]
mod clock;
mod maintained;
mod once;
#[path = "../../differential/src/stream.rs"]
mod stream;
#[path = "../../differential/src/tally.rs"]
mod tally;

use crate::clock::{Clock, Elapsed};
use crate::stream::{Edge, Stream};
use crate::tally::Tally;

// The allocator of Differential Dataflow's own examples; the other two gain by it as well.
#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub type Pair = (u32, u32);

fn main() {
    let given: Vec<String> = std::env::args().collect();
    if given.len() != 4 {
        fail(&format!("usage: {} datafrog|ascent|differential tc|sg|aliases FILE", given[0]));
    }
    let stream = Stream::read(&given[3]).unwrap_or_else(|error| fail(&format!("{}: {error}", given[3])));
    match (given[1].as_str(), given[2].as_str()) {
        ("datafrog", "tc") => run_once(&stream, once::datafrog_closure),
        ("datafrog", "sg") => run_once(&stream, once::datafrog_generation),
        ("ascent", "tc") => run_once(&stream, once::ascent_closure),
        ("ascent", "sg") => run_once(&stream, once::ascent_generation),
        ("ascent", "aliases") => run_once(&stream, once::ascent_aliases),
        ("differential", "tc") => maintained::run(stream, maintained::closure),
        ("differential", "sg") => maintained::run(stream, maintained::generation),
        (engine, program) => fail(&format!("no {program} by {engine}")),
    }
}

fn run_once(stream: &Stream, program: fn(&[Edge]) -> Vec<Pair>) {
    let first = stream.batches().next().unwrap_or_else(|| fail("the stream is empty"));
    let clock = Clock::start();
    let found = program(first.inserted);
    let elapsed = clock.elapsed();
    let tally = Tally::default();
    for (one, other) in found {
        tally.add(one, other, 1);
    }
    report(&[(elapsed, tally.get())]);
}

/// One JSON object; the first round is the run from scratch.
pub fn report(rounds: &[(Elapsed, (i64, u64))]) {
    let wall: Vec<String> = rounds.iter().map(|(time, _)| format!("{:.9}", time.wall)).collect();
    let processor: Vec<String> =
        rounds.iter().map(|(time, _)| format!("{:.9}", time.processor)).collect();
    let results: Vec<String> = rounds.iter().map(|(_, (count, _))| count.to_string()).collect();
    let sums: Vec<String> = rounds.iter().map(|(_, (_, sum))| sum.to_string()).collect();
    println!(
        "{{\"first_seconds\": {}, \"batch_seconds\": [{}], \
         \"first_processor_seconds\": {}, \"batch_processor_seconds\": [{}], \
         \"results\": [{}], \"checksums\": [{}], \"memory\": {{}}}}",
        wall[0],
        wall[1..].join(", "),
        processor[0],
        processor[1..].join(", "),
        results.join(", "),
        sums.join(", "),
    );
}

fn fail(message: &str) -> ! {
    eprintln!("{message}");
    std::process::exit(2);
}
