//! How many results there are, and a checksum of them, kept from their changes.

use std::cell::Cell;
use std::rc::Rc;

#[derive(Clone, Default)]
pub struct Tally(Rc<Cell<(i64, u64)>>);

impl Tally {
    pub fn add(&self, key: u32, value: u32, difference: isize) {
        let (count, sum) = self.0.get();
        let share = mix((key as u64) << 32 | value as u64).wrapping_mul(difference as u64);
        self.0.set((count + difference as i64, sum.wrapping_add(share)));
    }

    pub fn get(&self) -> (i64, u64) {
        self.0.get()
    }
}

/// The finisher of splitmix64; `checksum` on the Python side is the same.
fn mix(word: u64) -> u64 {
    let mut word = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}
