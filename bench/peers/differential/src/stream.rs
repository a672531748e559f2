//! The file that the Python side writes: 32-bit words, in the byte order of the machine.
//!
//! Vertices, number of batches; for each batch, how many edges it inserts and how many it deletes;
//! then all edges in that order, three words each: source, destination, weight. The first batch is
//! the first version.

use std::io;

pub type Edge = [u32; 3];

pub struct Stream {
    pub vertices: u32,
    sizes: Vec<(usize, usize)>,
    edges: Vec<Edge>,
}

pub struct Batch<'a> {
    pub inserted: &'a [Edge],
    pub deleted: &'a [Edge],
}

impl Stream {
    pub fn read(path: &str) -> io::Result<Stream> {
        let bytes = std::fs::read(path)?;
        let mut words = bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap()));
        let mut next = || words.next().ok_or_else(|| io::Error::other("the file ends early"));
        let vertices = next()?;
        let count = next()?;
        let mut sizes = Vec::with_capacity(count as usize);
        for _ in 0..count {
            sizes.push((next()? as usize, next()? as usize));
        }
        let total = sizes.iter().map(|(inserted, deleted)| inserted + deleted).sum();
        let mut edges = Vec::with_capacity(total);
        for _ in 0..total {
            edges.push([next()?, next()?, next()?]);
        }
        Ok(Stream { vertices, sizes, edges })
    }

    pub fn batches(&self) -> impl Iterator<Item = Batch<'_>> {
        let mut rest = &self.edges[..];
        self.sizes.iter().map(move |(insert, delete)| {
            let (inserted, after) = rest.split_at(*insert);
            let (deleted, after) = after.split_at(*delete);
            rest = after;
            Batch { inserted, deleted }
        })
    }
}
