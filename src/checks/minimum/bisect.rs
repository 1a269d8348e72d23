//! The search for the lowest good one of some ordered things, if good ones are expected to follow bad ones. It asks as
//! few questions as possible, and reports where the expectation fails.

/// A search in progress. The caller gets the next question from [`Search::next`], and reports the answer to
/// [`Search::record`].
#[derive(Debug, Clone)]
pub struct Search {
    answers: Vec<Option<bool>>,
    guess: Option<usize>,
    asked: usize,
}

/// The result of a bisection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bound {
    /// The lowest from which on everything that was asked is good; `None` if the last one is bad.
    pub lowest: Option<usize>,
    /// The highest bad one below it.
    pub below: Option<usize>,
    /// True if nothing unknown is between the two.
    pub adjacent: bool,
    /// Good ones below a bad one, which contradict the order.
    pub strays: Vec<usize>,
    /// The ones that were not asked.
    pub untested: Vec<usize>,
}

/// The maximum number of questions about this many things: log2 + 2.
pub fn most_questions(count: usize) -> usize {
    count.checked_ilog2().map_or(0, |log| log as usize + 2).min(count)
}

impl Search {
    /// A search among this many things. A right guess of the lowest good one saves questions, and a wrong one costs
    /// none.
    pub fn new(count: usize, guess: Option<usize>) -> Self {
        Self { answers: vec![None; count], guess: guess.filter(|guess| *guess < count), asked: 0 }
    }

    /// Returns the next question; `None` if the answer is known or enough was asked.
    pub fn next(&self) -> Option<usize> {
        let count = self.answers.len();
        let left = most_questions(count).checked_sub(self.asked).filter(|left| *left > 0)?;
        // If the last one is bad, only the order itself is worth asking about.
        let newest = count.checked_sub(1)?;
        match self.answers[newest] {
            None => return Some(newest),
            Some(false) => return self.anywhere(),
            Some(true) => {}
        }
        let bound = self.bound();
        let high = bound.lowest?;
        let low = bound.below.map_or(0, |below| below + 1);
        if low == high {
            // A remaining question goes to the neighbour above, which must be good, too.
            return Some(high + 1).filter(|above| self.answers.get(*above) == Some(&None));
        }
        Some(self.pivot(low, high, left))
    }

    /// Returns the question in `low..high` that is nearest to the guess, as long as the remaining questions are enough
    /// for either half.
    fn pivot(&self, low: usize, high: usize, left: usize) -> usize {
        let middle = low + (high - low) / 2;
        let most = 1_usize.checked_shl(u32::try_from(left - 1).unwrap_or(u32::MAX)).map_or(usize::MAX, |all| all - 1);
        // If the guess itself is known to be good, the one below it decides.
        let wanted = self.guess.map(|guess| if guess == high { high - 1 } else { guess });
        let Some(wanted) = wanted.filter(|wanted| (low..high).contains(wanted)) else { return middle };
        let (first, last) = (high.saturating_sub(most + 1).max(low), low.saturating_add(most).min(high - 1));
        if first <= last { wanted.clamp(first, last) } else { middle }
    }

    /// The guess, then the middle of the longest unknown stretch.
    fn anywhere(&self) -> Option<usize> {
        if let Some(guess) = self.guess.filter(|guess| self.answers[*guess].is_none()) {
            return Some(guess);
        }
        let mut best: Option<(usize, usize)> = None;
        let mut start = 0;
        for end in 0..=self.answers.len() {
            if self.answers.get(end) != Some(&None) {
                if end > start && best.is_none_or(|(from, to)| end - start > to - from) {
                    best = Some((start, end));
                }
                start = end + 1;
            }
        }
        best.map(|(from, to)| from + (to - from) / 2)
    }

    /// Records an answer. A known one is not counted again.
    pub fn record(&mut self, index: usize, good: bool) {
        if let Some(answer) = self.answers.get_mut(index)
            && answer.replace(good).is_none()
        {
            self.asked += 1;
        }
    }

    /// Returns the number of answered questions.
    pub fn answered(&self) -> usize {
        self.asked
    }

    /// Returns the current result.
    pub fn bound(&self) -> Bound {
        let all = || self.answers.iter().enumerate();
        let below = all().filter(|(_, answer)| **answer == Some(false)).map(|(index, _)| index).next_back();
        let above = below.map_or(0, |below| below + 1);
        let good = || all().filter(|(_, answer)| **answer == Some(true)).map(|(index, _)| index);
        let lowest = good().find(|index| *index >= above);
        Bound {
            lowest,
            below,
            adjacent: lowest == Some(above),
            strays: good().take_while(|index| *index < above).collect(),
            untested: all().filter(|(_, answer)| answer.is_none()).map(|(index, _)| index).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn search(truth: &[bool], guess: Option<usize>) -> (Search, Vec<usize>) {
        let mut search = Search::new(truth.len(), guess);
        let mut asked = Vec::new();
        while let Some(index) = search.next() {
            assert!(!asked.contains(&index), "{index} was asked twice");
            asked.push(index);
            search.record(index, truth[index]);
        }
        (search, asked)
    }

    #[rstest]
    #[case::nothing(&[], None, None)]
    #[case::one_good(&[true], Some(0), None)]
    #[case::one_bad(&[false], None, Some(0))]
    #[case::two(&[false, true], Some(1), Some(0))]
    #[case::all_good(&[true; 10], Some(0), None)]
    #[case::all_bad(&[false; 10], None, Some(9))]
    #[case::last_only(&[false, false, false, true], Some(3), Some(2))]
    fn the_lowest_good_one_is_found(
        #[case] truth: &[bool],
        #[case] lowest: Option<usize>,
        #[case] below: Option<usize>,
    ) {
        let (search, _) = search(truth, None);
        let bound = search.bound();
        assert_eq!((bound.lowest, bound.below), (lowest, below));
        assert_eq!(bound.adjacent, lowest.is_some());
        assert!(bound.strays.is_empty());
    }

    #[test]
    fn a_correct_guess_needs_three_questions() {
        let truth: Vec<bool> = (0..8).map(|index| index >= 4).collect();
        assert_eq!(search(&truth, Some(4)).1[..2], [7, 4]);
        let (search, asked) = search(&[false, false, true, true], Some(2));
        assert_eq!(asked, [3, 2, 1]);
        assert_eq!(search.answered(), 3);
    }

    #[test]
    fn a_remaining_question_goes_to_the_neighbour_above() {
        // Two questions find the boundary; the third shows that it is not one.
        let (search, asked) = search(&[true, false, true, true], Some(0));
        assert_eq!(asked, [3, 0, 1, 2]);
        let bound = search.bound();
        assert_eq!((bound.lowest, bound.strays, bound.adjacent), (Some(2), vec![0], true));
    }

    #[test]
    fn good_ones_below_a_bad_last_one_are_reported() {
        let (search, _) = search(&[false, true, true, false], None);
        let bound = search.bound();
        assert_eq!(bound.lowest, None);
        assert!(!bound.strays.is_empty(), "{bound:?}");
    }

    #[test]
    fn known_answers_are_not_asked_again() {
        let mut search = Search::new(2, None);
        search.record(1, true);
        search.record(0, false);
        search.record(0, false);
        assert_eq!((search.next(), search.answered()), (None, 2));
    }

    proptest! {
        #[test]
        fn few_questions_find_every_boundary(count in 1_usize..200, at in 0_usize..200, guess in 0_usize..220) {
            let truth: Vec<bool> = (0..count).map(|index| index >= at).collect();
            for guess in [None, Some(guess)] {
                let (search, asked) = search(&truth, guess);
                prop_assert!(asked.len() <= most_questions(count), "{count} {at} {guess:?}: {asked:?}");
                let bound = search.bound();
                prop_assert_eq!(bound.lowest, (at < count).then_some(at));
                prop_assert!(bound.lowest.is_none() || bound.adjacent);
                prop_assert!(bound.strays.is_empty());
            }
        }

        #[test]
        fn the_number_of_questions_is_bounded(truth in prop::collection::vec(any::<bool>(), 0..100), guess in 0_usize..100) {
            let (search, asked) = search(&truth, Some(guess));
            prop_assert!(asked.len() <= most_questions(truth.len()));
            let bound = search.bound();
            prop_assert_eq!(bound.untested.len() + search.answered(), truth.len());
            // Everything that is claimed was asked.
            prop_assert!(bound.lowest.is_none_or(|lowest| truth[lowest] && asked.contains(&lowest)));
        }
    }
}
