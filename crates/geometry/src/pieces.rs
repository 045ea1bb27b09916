//! Which things hang together when some are joined to others.

/// Things that are joined to pieces.
pub(crate) struct Pieces {
    parent: Vec<u32>,
}

impl Pieces {
    pub(crate) fn new(count: usize) -> Self {
        Self { parent: (0..count as u32).collect() }
    }

    pub(crate) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    /// The representative of a piece, its first member; the path to it is shortened.
    fn root(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            self.parent[i as usize] = self.parent[self.parent[i as usize] as usize];
            i = self.parent[i as usize];
        }
        i
    }

    /// The pieces, numbered in the order of their first members.
    pub(crate) fn numbers(mut self) -> Vec<u32> {
        let mut number = vec![0; self.parent.len()];
        let mut count = 0;
        for i in 0..number.len() {
            let root = self.root(i as u32) as usize;
            if root == i {
                number[i] = count;
                count += 1;
            }
            number[i] = number[root];
        }
        number
    }
}
