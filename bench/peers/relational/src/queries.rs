//! Queries 1, 3, 5, 6, 15 and 18, as one writes them for Differential Dataflow.
//!
//! Records are projected to what a query needs before they are arranged. What is summed up goes as
//! the difference of a record, so that a batch of lines becomes one number a key. The greatest of
//! many are found hierarchically: of ever fewer, ever larger groups.

use differential_dataflow::VecCollection;
use differential_dataflow::operators::CountTotal;
use timely::dataflow::ProbeHandle;

use crate::answers::{Answers, date, day, decimal, observe};
use crate::tables::*;

pub struct Tables<'scope> {
    pub lines: VecCollection<'scope, u32, Line>,
    pub orders: VecCollection<'scope, u32, Order>,
    pub customers: VecCollection<'scope, u32, Customer>,
    pub suppliers: VecCollection<'scope, u32, Supplier>,
    pub nations: VecCollection<'scope, u32, Nation>,
    pub regions: VecCollection<'scope, u32, Region>,
}

/// The tables that a query reads, by name; none for a query that is not here.
pub fn read(query: &str) -> &'static [&'static str] {
    match query {
        "1" | "6" => &["lineitem"],
        "3" | "18" => &["lineitem", "orders", "customer"],
        "5" => &["lineitem", "orders", "customer", "supplier", "nation", "region"],
        "15" => &["lineitem", "supplier"],
        _ => &[],
    }
}

pub fn build(query: &str, tables: Tables<'_>, probe: &ProbeHandle<u32>) -> Answers {
    match query {
        "1" => pricing_summary(tables, probe),
        "3" => shipping_priority(tables, probe),
        "5" => local_supplier_volume(tables, probe),
        "6" => revenue_forecast(tables, probe),
        "15" => top_supplier(tables, probe),
        _ => large_orders(tables, probe),
    }
}

/// What is paid for a line, with four digits behind the point.
fn paid(line: &Line) -> isize {
    line[L_PRICE] as isize * (100 - line[L_DISCOUNT]) as isize
}

fn pricing_summary(tables: Tables<'_>, probe: &ProbeHandle<u32>) -> Answers {
    let sums = tables.lines.explode(|line| {
        (line[L_SHIPPED] <= day(1998, 9, 2)).then(|| {
            let charge = paid(&line) * (100 + line[L_TAX]) as isize;
            let prices = (line[L_QUANTITY] as isize, line[L_PRICE] as isize, paid(&line), charge);
            ((line[L_FLAG], line[L_STATUS]), (prices, (line[L_DISCOUNT] as isize, 1_isize)))
        })
    });
    observe(sums.count_total(), probe, |((flag, status), (prices, (discount, count)))| {
        let mean = |sum: isize| format!("{:?}", sum as f64 / 100.0 / *count as f64);
        vec![
            (*flag as u8 as char).to_string(),
            (*status as u8 as char).to_string(),
            decimal(prices.0, 2),
            decimal(prices.1, 2),
            decimal(prices.2, 4),
            decimal(prices.3, 6),
            mean(prices.0),
            mean(prices.1),
            mean(*discount),
            count.to_string(),
        ]
    })
}

fn shipping_priority(tables: Tables<'_>, probe: &ProbeHandle<u32>) -> Answers {
    const DAY: i32 = day(1995, 3, 15);
    let customers =
        tables.customers.flat_map(|customer| (customer.2 == "BUILDING").then_some(customer.0));
    let orders = tables
        .orders
        .flat_map(|order| {
            let rest = (order[O_ORDER], order[O_DATE], order[O_PRIORITY]);
            (order[O_DATE] < DAY).then_some((order[O_CUSTOMER], rest))
        })
        .semijoin(customers)
        .map(|(_, (order, date, priority))| (order, (date, priority)));
    let revenue = tables
        .lines
        .explode(|line| (line[L_SHIPPED] > DAY).then(|| (line[L_ORDER], paid(&line))))
        .map(|order| (order, ()))
        .join_map(orders, |order, _, rest| (*order, *rest))
        .count_total()
        .map(|((order, (date, priority)), revenue)| (-revenue, date, order, priority));
    let first = first_of(revenue, 10, |row| row.2);
    observe(first, probe, |(revenue, day, order, priority)| {
        vec![order.to_string(), decimal(-revenue, 4), date(*day), priority.to_string()]
    })
}

fn local_supplier_volume(tables: Tables<'_>, probe: &ProbeHandle<u32>) -> Answers {
    let regions = tables.regions.flat_map(|region| (region.1 == "ASIA").then_some(region.0));
    let nations = tables
        .nations
        .map(|nation| (nation.1, (nation.0, nation.2)))
        .semijoin(regions)
        .map(|(_, nation)| nation);
    let numbers = nations.clone().map(|nation| nation.0);
    let customers = tables
        .customers
        .map(|customer| (customer.1, customer.0))
        .semijoin(numbers.clone())
        .map(|(nation, customer)| (customer, nation));
    let suppliers = tables
        .suppliers
        .map(|supplier| (supplier.1, supplier.0))
        .semijoin(numbers)
        .map(|(nation, supplier)| (supplier, nation));
    let orders = tables
        .orders
        .flat_map(|order| {
            let of_year = order[O_DATE] >= day(1994, 1, 1) && order[O_DATE] < day(1995, 1, 1);
            of_year.then_some((order[O_CUSTOMER], order[O_ORDER]))
        })
        .join_map(customers, |_, order, nation| (*order, *nation));
    let revenue = tables
        .lines
        .explode(|line| Some(((line[L_ORDER], line[L_SUPPLIER]), paid(&line))))
        .join_map(orders, |_, supplier, nation| ((*supplier, *nation), ()))
        .semijoin(suppliers)
        .map(|((_, nation), _)| nation)
        .count_total();
    let named = revenue.join_map(nations, |_, revenue, name| (name.clone(), *revenue));
    observe(named, probe, |(name, revenue)| vec![name.clone(), decimal(*revenue, 4)])
}

fn revenue_forecast(tables: Tables<'_>, probe: &ProbeHandle<u32>) -> Answers {
    let revenue = tables.lines.explode(|line| {
        let chosen = line[L_SHIPPED] >= day(1994, 1, 1)
            && line[L_SHIPPED] < day(1995, 1, 1)
            && (5..=7).contains(&line[L_DISCOUNT])
            && line[L_QUANTITY] < 2_400;
        chosen.then(|| ((), line[L_PRICE] as isize * line[L_DISCOUNT] as isize))
    });
    observe(revenue.count_total(), probe, |(_, revenue)| vec![decimal(*revenue, 4)])
}

fn top_supplier(tables: Tables<'_>, probe: &ProbeHandle<u32>) -> Answers {
    let revenue = tables
        .lines
        .explode(|line| {
            let of_quarter = line[L_SHIPPED] >= day(1996, 1, 1) && line[L_SHIPPED] < day(1996, 4, 1);
            of_quarter.then(|| (line[L_SUPPLIER], paid(&line)))
        })
        .count_total();
    let most = first_of(revenue.clone().map(|(supplier, sum)| (-sum, supplier)), 1, |row| row.1)
        .map(|(sum, _)| -sum);
    let best = revenue.map(|(supplier, sum)| (sum, supplier)).semijoin(most);
    let named = tables
        .suppliers
        .map(|supplier| (supplier.0, (supplier.2, supplier.3, supplier.4)))
        .join_map(best.map(|(sum, supplier)| (supplier, sum)), |supplier, named, sum| {
            (*supplier, named.clone(), *sum)
        });
    observe(named, probe, |(supplier, (name, address, phone), sum)| {
        vec![supplier.to_string(), name.clone(), address.clone(), phone.clone(), decimal(*sum, 4)]
    })
}

fn large_orders(tables: Tables<'_>, probe: &ProbeHandle<u32>) -> Answers {
    let large = tables
        .lines
        .explode(|line| Some((line[L_ORDER], line[L_QUANTITY] as isize)))
        .count_total()
        .filter(|(_, quantity)| *quantity > 30_000);
    let orders = tables
        .orders
        .map(|order| (order[O_ORDER], (order[O_CUSTOMER], order[O_DATE], order[O_PRICE])))
        .join_map(large, |order, (customer, date, price), quantity| {
            (*customer, (*order, *date, *price, *quantity))
        });
    let named = orders.join_map(
        tables.customers.map(|customer| (customer.0, customer.3)),
        |customer, (order, date, price, quantity), name| {
            (-price, *date, *order, *customer, name.clone(), *quantity)
        },
    );
    let first = first_of(named, 100, |row| row.2);
    observe(first, probe, |(price, day, order, customer, name, quantity)| {
        vec![
            name.clone(),
            customer.to_string(),
            order.to_string(),
            date(*day),
            decimal(-(*price as isize), 2),
            decimal(*quantity, 2),
        ]
    })
}

/// The least records, so many: of each of 4,096 groups, of 64 groups of those, and of all that.
fn first_of<'scope, D: differential_dataflow::ExchangeData>(
    records: VecCollection<'scope, u32, D>,
    count: usize,
    number: fn(&D) -> i32,
) -> VecCollection<'scope, u32, D> {
    let mut left = records;
    for groups in [4_096, 64, 1] {
        left = left
            .map(move |record| (number(&record) % groups, record))
            .reduce(move |_, found, kept| {
                kept.extend(found.iter().take(count).map(|(record, times)| ((*record).clone(), *times)))
            })
            .map(|(_, record)| record);
    }
    left
}
