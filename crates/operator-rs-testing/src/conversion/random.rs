//! Random numbers that are the same for the same seed.

/// xorshift.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        // Near seeds give numbers that have nothing in common.
        let mixed = (seed ^ (seed >> 31)).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut this = Self((mixed ^ (mixed >> 29)) | 1);
        this.next();
        this
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn number_below(&mut self, n: usize) -> usize {
        usize::try_from((self.next() >> 33) % (n.max(1) as u64)).unwrap_or(0)
    }

    pub fn pick_item<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.number_below(of.len()))
    }
}
