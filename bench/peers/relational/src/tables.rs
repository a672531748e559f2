//! The files that the Python side writes, and the tables they hold.
//!
//! Lines and orders change; they are rows of 32-bit ints in the byte order of the machine, money in
//! hundredths, days since 1970: `lineitem.rows` at first, `lineitem-3-come.rows` and
//! `lineitem-3-gone.rows` in the fourth batch. The other tables never change; they are text, a row
//! a line, tabs between columns.

use std::path::Path;

pub type Line = [i32; 9];
pub const L_ORDER: usize = 0;
pub const L_SUPPLIER: usize = 1;
pub const L_QUANTITY: usize = 2;
pub const L_PRICE: usize = 3;
pub const L_DISCOUNT: usize = 4;
pub const L_TAX: usize = 5;
pub const L_FLAG: usize = 6;
pub const L_STATUS: usize = 7;
pub const L_SHIPPED: usize = 8;

pub type Order = [i32; 5];
pub const O_ORDER: usize = 0;
pub const O_CUSTOMER: usize = 1;
pub const O_DATE: usize = 2;
pub const O_PRIORITY: usize = 3;
pub const O_PRICE: usize = 4;

/// Number, nation, segment, name.
pub type Customer = (i32, i32, String, String);
/// Number, nation, name, address, phone.
pub type Supplier = (i32, i32, String, String, String);
/// Number, region, name.
pub type Nation = (i32, i32, String);
/// Number, name.
pub type Region = (i32, String);

/// The rows of a file of ints; none where there is no such file.
pub fn rows<const WIDTH: usize>(folder: &Path, name: &str) -> Vec<[i32; WIDTH]> {
    let bytes = std::fs::read(folder.join(format!("{name}.rows"))).unwrap_or_default();
    let ints: Vec<i32> =
        bytes.chunks_exact(4).map(|word| i32::from_ne_bytes(word.try_into().unwrap())).collect();
    ints.chunks_exact(WIDTH).map(|row| row.try_into().unwrap()).collect()
}

pub fn customers(folder: &Path) -> Vec<Customer> {
    lines(folder, "customer", |row| (number(row[0]), number(row[1]), row[2].into(), row[3].into()))
}

pub fn suppliers(folder: &Path) -> Vec<Supplier> {
    lines(folder, "supplier", |row| {
        (number(row[0]), number(row[1]), row[2].into(), row[3].into(), row[4].into())
    })
}

pub fn nations(folder: &Path) -> Vec<Nation> {
    lines(folder, "nation", |row| (number(row[0]), number(row[1]), row[2].into()))
}

pub fn regions(folder: &Path) -> Vec<Region> {
    lines(folder, "region", |row| (number(row[0]), row[1].into()))
}

fn lines<D>(folder: &Path, name: &str, record: impl Fn(&[&str]) -> D) -> Vec<D> {
    let text = std::fs::read_to_string(folder.join(format!("{name}.text"))).unwrap_or_default();
    text.lines().map(|line| record(&line.split('\t').collect::<Vec<_>>())).collect()
}

fn number(text: &str) -> i32 {
    text.parse().unwrap()
}
