//! Numbers that look random and are the same in every run: SplitMix64.

#[derive(Clone)]
pub struct Random(u64);

impl Random {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let it = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("it is below a `usize`")
    }

    /// True in so many of a hundred times.
    pub fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// One of a list in which each has a weight.
    pub fn weighted<T: Copy>(&mut self, list: &[(usize, T)]) -> T {
        let mut at = self.below(list.iter().map(|it| it.0).sum());
        for (weight, it) in list {
            if at < *weight {
                return *it;
            }
            at -= weight;
        }
        list[0].1
    }
}
