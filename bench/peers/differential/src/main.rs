//! Differential Dataflow, kept current over batches of edges:
//! `differential ALGORITHM FILE SOURCE [WORKERS]`.
//!
//! One worker, or several threads that each hand over a share of the edges. Reads the stream that
//! the Python side wrote (see `stream`), loads its first version, then takes one batch after the
//! other, and prints one JSON object: the seconds of the first run and of each batch, from handing
//! over the first edge until all consequences are known, by the wall clock and of the processor;
//! after each of them, how many results there are and a checksum of them; and the memory used.
//! One worker counts the processor time of the process; of several, each counts that of its thread
//! and sleeps while it has nothing to do, and what is told is that of the busiest.
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
use timely::worker::Worker;

use crate::clock::{Clock, Elapsed};
use crate::memory::resident_bytes;
use crate::stream::{Edge, Stream};
use crate::tally::Tally;

// The allocator of the crate's own examples.
#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ALGORITHMS: &str = "bfs, shortest_paths, components, strong_components, ranks, triangles, arrange";

/// What a dataflow needs after every batch to let go of the past.
pub type Release = Box<dyn FnMut(u32)>;

fn main() {
    let given: Vec<String> = std::env::args().collect();
    if given.len() != 4 && given.len() != 5 {
        let usage = "ALGORITHM FILE SOURCE [WORKERS]; an algorithm is";
        fail(&format!("usage: {} {usage} {ALGORITHMS}", given[0]));
    }
    let workers: usize = given.get(4).map_or(Ok(1), |item| item.parse()).unwrap_or(0);
    if workers == 0 {
        fail("WORKERS is a number of threads");
    }
    let stream = Stream::read(&given[2]).unwrap_or_else(|error| fail(&format!("{}: {error}", given[2])));
    let source: u32 = given[3].parse().unwrap_or_else(|_| fail("SOURCE is the number of a vertex"));
    let vertices = stream.vertices;
    match given[1].as_str() {
        "bfs" => run(stream, workers, unweighted, move |edges, probe, tally| {
            algorithms::observe(algorithms::bfs(edges, source), probe, tally)
        }),
        "shortest_paths" => run(stream, workers, weighted, move |edges, probe, tally| {
            algorithms::observe(algorithms::shortest_paths(edges, source), probe, tally)
        }),
        "components" => run(stream, workers, unweighted, move |edges, probe, tally| {
            algorithms::observe(algorithms::components(edges, vertices), probe, tally)
        }),
        "strong_components" => run(stream, workers, unweighted, |edges, probe, tally| {
            algorithms::observe(algorithms::strong_components(edges), probe, tally)
        }),
        "ranks" => run(stream, workers, unweighted, |edges, probe, tally| {
            algorithms::observe(algorithms::ranks(edges), probe, tally)
        }),
        "triangles" => run(stream, workers, unweighted, |edges, probe, tally| {
            algorithms::observe(triangles::triangles(edges), probe, tally)
        }),
        "arrange" => run(stream, workers, unweighted, |edges, probe, _| algorithms::arrange(edges, probe)),
        other => fail(&format!("no algorithm {other}; there are {ALGORITHMS}")),
    }
}

fn unweighted(edge: &Edge) -> (u32, u32) {
    (edge[0], edge[1])
}

fn weighted(edge: &Edge) -> (u32, (u32, u32)) {
    (edge[0], (edge[1], edge[2]))
}

/// What a worker knows of a round: its times, and its share of the results.
type Round = (Elapsed, (i64, u64));

/// Build the dataflow, feed the stream, print the report.
fn run<D, F>(stream: Stream, workers: usize, record: fn(&Edge) -> D, build: F)
where
    D: ExchangeData,
    F: for<'scope> Fn(VecCollection<'scope, u32, D>, &ProbeHandle<u32>, Tally) -> Release
        + Send
        + Sync
        + 'static,
{
    let at_read = resident_bytes().now;
    let (at_first, rounds) = if workers == 1 {
        timely::execute_directly(move |worker| work(worker, &stream, record, &build))
    } else {
        let config = timely::Config::process(workers);
        let guards = timely::execute(config, move |worker| work(worker, &stream, record, &build));
        let found = guards.unwrap_or_else(|error| fail(&error)).join();
        let each: Vec<_> = found.into_iter().map(|item| item.unwrap_or_else(|why| fail(&why))).collect();
        let at_first = each.iter().map(|(memory, _)| *memory).max().unwrap_or(at_read);
        (at_first, together(each.into_iter().map(|(_, rounds)| rounds).collect()))
    };
    report(&rounds, [at_read, at_first]);
}

/// What one worker does of all rounds; also the memory behind the first.
fn work<D, F>(worker: &mut Worker, stream: &Stream, record: fn(&Edge) -> D, build: &F) -> (u64, Vec<Round>)
where
    D: ExchangeData,
    F: for<'scope> Fn(VecCollection<'scope, u32, D>, &ProbeHandle<u32>, Tally) -> Release,
{
    let (index, peers) = (worker.index(), worker.peers());
    let tally = Tally::default();
    let probe = ProbeHandle::new();
    let (mut input, mut release) = worker.dataflow::<u32, _, _>(|scope| {
        let (input, edges) = scope.new_collection::<D, isize>();
        (input, build(edges, &probe, tally.clone()))
    });
    let mut rounds = Vec::new();
    let mut at_first = 0;
    for (number, batch) in stream.batches().enumerate() {
        let clock = if peers == 1 { Clock::start() } else { Clock::start_of_thread() };
        feed(&mut input, share(batch.inserted, index, peers), record, 1);
        feed(&mut input, share(batch.deleted, index, peers), record, -1);
        let now = number as u32 + 1;
        input.advance_to(now);
        input.flush();
        release(now);
        if peers == 1 {
            worker.step_while(|| probe.less_than(&now));
        } else {
            worker.step_or_park_while(None, || probe.less_than(&now));
        }
        rounds.push((clock.elapsed(), tally.get()));
        if number == 0 {
            at_first = resident_bytes().now;
        }
    }
    (at_first, rounds)
}

/// The edges that one of several workers hands over: a piece of all, none of them twice.
fn share(edges: &[Edge], index: usize, peers: usize) -> &[Edge] {
    &edges[edges.len() * index / peers..edges.len() * (index + 1) / peers]
}

/// Rounds of several workers as one: the longest times, and all results.
fn together(each: Vec<Vec<Round>>) -> Vec<Round> {
    let mut found = each[0].clone();
    for rounds in &each[1..] {
        for (whole, (time, (count, sum))) in found.iter_mut().zip(rounds) {
            whole.0.wall = whole.0.wall.max(time.wall);
            whole.0.processor = whole.0.processor.max(time.processor);
            whole.1 = (whole.1.0 + count, whole.1.1.wrapping_add(*sum));
        }
    }
    found
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
fn report(rounds: &[Round], earlier: [u64; 2]) {
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
