//! Random numbers that are the same on every machine.

/// A generator with 64 bits of state (splitmix64): small, fast, and independent of the word size and of any library
/// version.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
    /// The number of values that may still be regenerated for one object. Counted, not timed, so that every machine
    /// gives up at the same point.
    fuel: u32,
}

/// Enough for every real schema; one that needs more has no solution that a search would find.
const FUEL: u32 = 1500;

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The numbers of one object. They depend only on these three, so that objects can be generated in any order and on
    /// any thread.
    pub(crate) fn of(seed: u64, phase: u64, index: u64) -> Self {
        let mut random = Self { state: seed, fuel: FUEL };
        random.state = random.next() ^ phase.wrapping_mul(STEP);
        random.state = random.next() ^ index.wrapping_mul(STEP);
        random
    }

    /// Uses one attempt; false if none is left.
    pub(crate) fn burn(&mut self) -> bool {
        let left = self.fuel.checked_sub(1);
        self.fuel = left.unwrap_or_default();
        left.is_some()
    }

    /// Starts over with as many attempts as an object has.
    pub(crate) fn refuel(&mut self) {
        self.fuel = FUEL;
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below the bound; 0 if the bound is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.next()) * u128::from(bound);
        u64::try_from(wide >> 64).unwrap_or_default()
    }

    /// An index below the length.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or_default()
    }

    /// A length between the two, both included.
    pub(crate) fn length(&mut self, least: usize, most: usize) -> usize {
        if most <= least { least } else { least + self.index(most - least + 1) }
    }

    /// Returns true with this probability.
    pub(crate) fn chance(&mut self, times: u64, out_of: u64) -> bool {
        self.below(out_of) < times
    }

    /// An integer between the two, both included.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        if high <= low {
            return low;
        }
        // The width is at most 2^64 - 1, and the sum is between the two.
        let width = high.wrapping_sub(low).cast_unsigned();
        let offset = if width == u64::MAX { self.next() } else { self.below(width + 1) };
        low.wrapping_add(offset.cast_signed())
    }

    /// One of the items.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.index(items.len()))
    }

    /// Shuffles the items.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.index(last + 1);
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_bounds_and_never_change() {
        let mut random = Random::of(1, 2, 3);
        assert_eq!(random.next(), 12_403_509_836_393_295_216);
        for _ in 0..1000 {
            assert!((-3..=5).contains(&random.between(-3, 5)));
            assert!(random.below(7) < 7);
        }
        assert_eq!(random.between(4, 4), 4);
        random.between(i64::MIN, i64::MAX);
    }
}
