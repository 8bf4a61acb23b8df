//! A small generator of random numbers (splitmix64), so that a seed repeats a case.

#[derive(Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator for one item of several, independent of the others.
    pub fn of(seed: u64, text: &str) -> Self {
        let start = seed ^ 0xcbf2_9ce4_8422_2325;
        Self(
            text.bytes()
                .fold(start, |it, byte| (it ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)),
        )
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    /// A number below `end`; 0 where `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).expect("a length is a u64");
        usize::try_from(self.next() % end).expect("it is below a length")
    }

    /// One of these, which must not be empty.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    pub fn one_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }
}
