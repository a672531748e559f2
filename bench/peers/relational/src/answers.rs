//! What a query answers: its records, kept from their changes, and told as rows of texts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use differential_dataflow::{ExchangeData, VecCollection};
use timely::dataflow::ProbeHandle;

/// Tells the rows that are there now.
pub type Answers = Box<dyn Fn() -> Vec<Vec<String>>>;

/// Keep the records of a collection, and know when they are complete.
pub fn observe<D: ExchangeData>(
    results: VecCollection<'_, u32, D>,
    probe: &ProbeHandle<u32>,
    told: fn(&D) -> Vec<String>,
) -> Answers {
    let kept: Rc<RefCell<BTreeMap<D, isize>>> = Rc::default();
    let shared = kept.clone();
    results
        .inspect(move |(record, _, difference)| {
            let mut records = shared.borrow_mut();
            let times = records.entry(record.clone()).or_insert(0);
            *times += *difference;
            if *times == 0 {
                records.remove(record);
            }
        })
        .probe_with(probe);
    Box::new(move || kept.borrow().keys().map(told).collect())
}

/// An int with so many digits behind the point.
pub fn decimal(value: isize, digits: u32) -> String {
    let unit = 10_i128.pow(digits);
    let (sign, whole) = (if value < 0 { "-" } else { "" }, (value as i128).abs());
    format!("{sign}{}.{:0width$}", whole / unit, whole % unit, width = digits as usize)
}

/// Days from 1970-01-01 to a day of the calendar.
pub const fn day(year: i32, month: i32, day: i32) -> i32 {
    let shifted = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let of_era = (shifted % 400) * 365 + (shifted % 400) / 4 - (shifted % 400) / 100 + of_year;
    (shifted / 400) * 146_097 + of_era - 719_468
}

/// A day as year-month-day.
pub fn date(days: i32) -> String {
    let all = days + 719_468;
    let (era, of_era) = (all / 146_097, all % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let next = if month <= 2 { 1 } else { 0 };
    format!("{:04}-{month:02}-{:02}", year + era * 400 + next, of_year - (153 * shifted + 2) / 5 + 1)
}
