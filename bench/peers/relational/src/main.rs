//! A query of TPC-H on Differential Dataflow, kept current: `relational QUERY FOLDER BATCHES`.
//!
//! One worker. Reads the tables that the query needs (see `tables`), feeds them as they are first,
//! then one batch after the other, and prints one JSON object: the seconds of the first run and of
//! each batch, from handing over the first row until all consequences are known, by the wall clock
//! and of the processor; the answers after each of them; and the memory used. What is read from
//! files is read before the clock starts.

mod answers;
#[path = "../../differential/src/clock.rs"]
mod clock;
#[path = "../../differential/src/memory.rs"]
mod memory;
mod queries;
mod tables;

use std::path::{Path, PathBuf};

use differential_dataflow::Data;
use differential_dataflow::input::{Input, InputSession};
use timely::dataflow::ProbeHandle;

use crate::clock::{Clock, Elapsed};
use crate::memory::resident_bytes;
use crate::tables::{Customer, Line, Nation, Order, Region, Supplier, rows};

// The allocator of the crate's own examples.
#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let given: Vec<String> = std::env::args().collect();
    let batches = given.get(3).and_then(|text| text.parse().ok());
    let known = given.get(1).is_some_and(|query| !queries::read(query).is_empty());
    match batches {
        Some(batches) if known => run(given[1].clone(), PathBuf::from(&given[2]), batches),
        _ => {
            eprintln!("usage: {} QUERY FOLDER BATCHES; a query is 1, 3, 5, 6, 15 or 18", given[0]);
            std::process::exit(2);
        }
    }
}

/// All that a query is fed: the inputs of the tables that change, and of those that do not.
struct Inputs {
    lines: InputSession<u32, Line, isize>,
    orders: InputSession<u32, Order, isize>,
    customers: InputSession<u32, Customer, isize>,
    suppliers: InputSession<u32, Supplier, isize>,
    nations: InputSession<u32, Nation, isize>,
    regions: InputSession<u32, Region, isize>,
}

impl Inputs {
    fn advance_to(&mut self, time: u32) {
        advance(&mut self.lines, time);
        advance(&mut self.orders, time);
        advance(&mut self.customers, time);
        advance(&mut self.suppliers, time);
        advance(&mut self.nations, time);
        advance(&mut self.regions, time);
    }
}

/// What comes and what goes in one batch.
#[derive(Default)]
struct Batch {
    lines: [Vec<Line>; 2],
    orders: [Vec<Order>; 2],
}

fn run(query: String, folder: PathBuf, batches: usize) {
    timely::execute_directly(move |worker| {
        let probe = ProbeHandle::new();
        let (mut inputs, answers) = worker.dataflow::<u32, _, _>(|scope| {
            let (lines_input, lines) = scope.new_collection();
            let (orders_input, orders) = scope.new_collection();
            let (customers_input, customers) = scope.new_collection();
            let (suppliers_input, suppliers) = scope.new_collection();
            let (nations_input, nations) = scope.new_collection();
            let (regions_input, regions) = scope.new_collection();
            let tables = queries::Tables { lines, orders, customers, suppliers, nations, regions };
            let inputs = Inputs {
                lines: lines_input,
                orders: orders_input,
                customers: customers_input,
                suppliers: suppliers_input,
                nations: nations_input,
                regions: regions_input,
            };
            (inputs, queries::build(&query, tables, &probe))
        });
        let read = queries::read(&query);
        let mut first = read_batch(&folder, read, None);
        let still = (
            if read.contains(&"customer") { tables::customers(&folder) } else { vec![] },
            if read.contains(&"supplier") { tables::suppliers(&folder) } else { vec![] },
            if read.contains(&"nation") { tables::nations(&folder) } else { vec![] },
            if read.contains(&"region") { tables::regions(&folder) } else { vec![] },
        );
        let later: Vec<Batch> =
            (0..batches).map(|number| read_batch(&folder, read, Some(number))).collect();
        let at_read = resident_bytes().now;
        let mut rounds = Vec::new();
        let clock = Clock::start();
        feed(&mut inputs.customers, &still.0, 1);
        feed(&mut inputs.suppliers, &still.1, 1);
        feed(&mut inputs.nations, &still.2, 1);
        feed(&mut inputs.regions, &still.3, 1);
        feed_batch(&mut inputs, &first);
        inputs.advance_to(1);
        worker.step_while(|| probe.less_than(&1));
        rounds.push((clock.elapsed(), answers()));
        first = Batch::default();
        for (number, batch) in std::iter::once(&first).chain(&later).enumerate().skip(1) {
            let now = number as u32 + 1;
            let clock = Clock::start();
            feed_batch(&mut inputs, batch);
            inputs.advance_to(now);
            worker.step_while(|| probe.less_than(&now));
            rounds.push((clock.elapsed(), answers()));
        }
        report(&rounds, at_read);
    });
}

fn read_batch(folder: &Path, read: &[&str], number: Option<usize>) -> Batch {
    let mut batch = Batch::default();
    for (place, way) in ["come", "gone"].into_iter().enumerate() {
        let name = |table: &str| match number {
            Some(number) => format!("{table}-{number}-{way}"),
            None if place == 0 => table.to_string(),
            None => "none".to_string(),
        };
        if read.contains(&"lineitem") {
            batch.lines[place] = rows(folder, &name("lineitem"));
        }
        if read.contains(&"orders") {
            batch.orders[place] = rows(folder, &name("orders"));
        }
    }
    batch
}

fn feed_batch(inputs: &mut Inputs, batch: &Batch) {
    for (place, difference) in [1, -1].into_iter().enumerate() {
        feed(&mut inputs.lines, &batch.lines[place], difference);
        feed(&mut inputs.orders, &batch.orders[place], difference);
    }
}

fn feed<D: Data>(input: &mut InputSession<u32, D, isize>, rows: &[D], difference: isize) {
    for row in rows {
        input.update(row.clone(), difference);
    }
}

fn advance<D: Data>(input: &mut InputSession<u32, D, isize>, time: u32) {
    input.advance_to(time);
    input.flush();
}

/// One JSON object; the first round is the run from scratch.
fn report(rounds: &[(Elapsed, Vec<Vec<String>>)], at_read: u64) {
    let wall: Vec<String> = rounds.iter().map(|(time, _)| format!("{:.9}", time.wall)).collect();
    let processor: Vec<String> =
        rounds.iter().map(|(time, _)| format!("{:.9}", time.processor)).collect();
    let answers: Vec<String> = rounds.iter().map(|(_, found)| format!("{found:?}")).collect();
    let memory = resident_bytes();
    println!(
        "{{\"wall_seconds\": [{}], \"processor_seconds\": [{}], \"answers\": [{}], \
         \"memory\": {{\"read\": {at_read}, \"end\": {}, \"peak\": {}}}}}",
        wall.join(", "),
        processor.join(", "),
        answers.join(", "),
        memory.now,
        memory.peak,
    );
}
