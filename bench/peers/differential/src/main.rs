//! Differential Dataflow, kept current over batches of edges: `differential ALGORITHM FILE SOURCE`.
//!
//! One worker. Reads the stream that the Python side wrote (see `stream`), loads its first version,
//! then takes one batch after the other, and prints one JSON object: the seconds of the first run
//! and of each batch, from handing over the first edge until all consequences are known, by the
//! wall clock and of the processor; after each of them, how many results there are and a checksum
//! of them; and the memory used.
//!
//! The checksum is the sum, modulo 2^64, of a hash of every result (key, value), counted as often
//! as it is there. It is kept from changes of results, so that asking for it costs what changed.

mod algorithms;
mod clock;
mod memory;
mod stream;
mod tally;
mod triangles;

use differential_dataflow::input::{Input, InputSession};
use differential_dataflow::{ExchangeData, VecCollection};
use timely::dataflow::ProbeHandle;

use crate::clock::{Clock, Elapsed};
use crate::memory::resident_bytes;
use crate::stream::{Edge, Stream};
use crate::tally::Tally;

// The allocator of the crate's own examples.
#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ALGORITHMS: &str = "bfs, shortest_paths, components, strong_components, triangles, arrange";

/// What a dataflow needs after every batch to let go of the past.
pub type Release = Box<dyn FnMut(u32)>;

fn main() {
    let given: Vec<String> = std::env::args().collect();
    if given.len() != 4 {
        fail(&format!("usage: {} ALGORITHM FILE SOURCE; an algorithm is {ALGORITHMS}", given[0]));
    }
    let stream = Stream::read(&given[2]).unwrap_or_else(|error| fail(&format!("{}: {error}", given[2])));
    let source: u32 = given[3].parse().unwrap_or_else(|_| fail("SOURCE is the number of a vertex"));
    let vertices = stream.vertices;
    match given[1].as_str() {
        "bfs" => run(stream, unweighted, move |edges, probe, tally| {
            algorithms::observe(algorithms::bfs(edges, source), probe, tally)
        }),
        "shortest_paths" => run(stream, weighted, move |edges, probe, tally| {
            algorithms::observe(algorithms::shortest_paths(edges, source), probe, tally)
        }),
        "components" => run(stream, unweighted, move |edges, probe, tally| {
            algorithms::observe(algorithms::components(edges, vertices), probe, tally)
        }),
        "strong_components" => run(stream, unweighted, |edges, probe, tally| {
            algorithms::observe(algorithms::strong_components(edges), probe, tally)
        }),
        "triangles" => run(stream, unweighted, |edges, probe, tally| {
            algorithms::observe(triangles::triangles(edges), probe, tally)
        }),
        "arrange" => run(stream, unweighted, |edges, probe, _| algorithms::arrange(edges, probe)),
        other => fail(&format!("no algorithm {other}; there are {ALGORITHMS}")),
    }
}

fn unweighted(edge: &Edge) -> (u32, u32) {
    (edge[0], edge[1])
}

fn weighted(edge: &Edge) -> (u32, (u32, u32)) {
    (edge[0], (edge[1], edge[2]))
}

/// Build the dataflow, feed the stream, print the report.
fn run<D, F>(stream: Stream, record: fn(&Edge) -> D, build: F)
where
    D: ExchangeData,
    F: for<'scope> FnOnce(VecCollection<'scope, u32, D>, &ProbeHandle<u32>, Tally) -> Release
        + Send
        + Sync
        + 'static,
{
    timely::execute_directly(move |worker| {
        let at_read = resident_bytes().now;
        let tally = Tally::default();
        let probe = ProbeHandle::new();
        let (mut input, mut release) = worker.dataflow::<u32, _, _>(|scope| {
            let (input, edges) = scope.new_collection::<D, isize>();
            (input, build(edges, &probe, tally.clone()))
        });
        let mut rounds = Vec::new();
        let mut at_first = at_read;
        for (number, batch) in stream.batches().enumerate() {
            let clock = Clock::start();
            feed(&mut input, batch.inserted, record, 1);
            feed(&mut input, batch.deleted, record, -1);
            let now = number as u32 + 1;
            input.advance_to(now);
            input.flush();
            release(now);
            worker.step_while(|| probe.less_than(&now));
            rounds.push((clock.elapsed(), tally.get()));
            if number == 0 {
                at_first = resident_bytes().now;
            }
        }
        report(&rounds, [at_read, at_first]);
    });
}

fn feed<D: ExchangeData>(
    input: &mut InputSession<u32, D, isize>,
    edges: &[Edge],
    record: fn(&Edge) -> D,
    difference: isize,
) {
    for edge in edges {
        input.update(record(edge), difference);
    }
}

/// One JSON object; the first round is the run from scratch.
fn report(rounds: &[(Elapsed, (i64, u64))], earlier: [u64; 2]) {
    let wall: Vec<String> = rounds.iter().map(|(time, _)| format!("{:.9}", time.wall)).collect();
    let processor: Vec<String> =
        rounds.iter().map(|(time, _)| format!("{:.9}", time.processor)).collect();
    let results: Vec<String> = rounds.iter().map(|(_, (count, _))| count.to_string()).collect();
    let sums: Vec<String> = rounds.iter().map(|(_, (_, sum))| sum.to_string()).collect();
    let memory = resident_bytes();
    println!(
        "{{\"first_seconds\": {}, \"batch_seconds\": [{}], \
         \"first_processor_seconds\": {}, \"batch_processor_seconds\": [{}], \
         \"results\": [{}], \"checksums\": [{}], \
         \"memory\": {{\"read\": {}, \"first\": {}, \"end\": {}, \"peak\": {}}}}}",
        wall[0],
        wall[1..].join(", "),
        processor[0],
        processor[1..].join(", "),
        results.join(", "),
        sums.join(", "),
        earlier[0],
        earlier[1],
        memory.now,
        memory.peak,
    );
}

fn fail(message: &str) -> ! {
    eprintln!("{message}");
    std::process::exit(2);
}
