//! Strings that match a pattern, of a length near a wanted one.

use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

use super::random::Random;
use crate::structural::Pattern;

/// A pattern for generating strings.
#[derive(Debug, Clone)]
pub(crate) struct Sampler {
    pattern: Pattern,
    hir: Hir,
    /// True if text may precede the match, and follow it.
    open_start: bool,
    open_end: bool,
}

/// Maximum number of rounds of an unbounded repetition, whatever length is wanted.
const MAX_ROUNDS: usize = 4096;

/// Maximum depth of patterns.
const DEPTH_LIMIT: usize = 64;

impl Sampler {
    /// Reads a pattern. `None` if it cannot be read.
    pub(crate) fn new(pattern: &Pattern) -> Option<Self> {
        let hir = pattern.tree()?.clone();
        let prefix = hir.properties().look_set_prefix();
        let suffix = hir.properties().look_set_suffix();
        let pattern = pattern.clone();
        Some(Self { pattern, open_start: !prefix.contains(Look::Start), open_end: !suffix.contains(Look::End), hir })
    }

    /// The minimum and the maximum length of a match in bytes.
    pub(crate) fn lengths(&self) -> (usize, Option<usize>) {
        let properties = self.hir.properties();
        let most = if self.open_start || self.open_end { None } else { properties.maximum_len() };
        (properties.minimum_len().unwrap_or_default(), most)
    }

    /// A string that most likely matches, of about this many characters. It must be tested, because word boundaries and
    /// anchors in odd places are ignored.
    pub(crate) fn sample(&self, random: &mut Random, length: usize) -> String {
        let mut text = String::new();
        let most = self.hir.properties().maximum_len();
        let inner = most.map_or(length, |most| length.min(most));
        emit(&self.hir, random, inner, 0, &mut text);
        let missing = length.saturating_sub(text.chars().count());
        if missing == 0 || !self.open_end && !self.open_start {
            return text;
        }
        let filler = "x".repeat(missing);
        let longer = if self.open_end { format!("{text}{filler}") } else { format!("{filler}{text}") };
        // An anchor in only one of several branches forbids what the others allow.
        if self.pattern.matches(&longer) { longer } else { text }
    }
}

fn least(hir: &Hir) -> usize {
    hir.properties().minimum_len().unwrap_or_default()
}

fn emit(hir: &Hir, random: &mut Random, length: usize, depth: usize, out: &mut String) {
    if depth > DEPTH_LIMIT {
        return;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => out.extend(member(class, random)),
        HirKind::Capture(capture) => emit(&capture.sub, random, length, depth + 1, out),
        HirKind::Repetition(repetition) => repeat(repetition, random, length, depth, out),
        HirKind::Concat(parts) => {
            for (part, share) in parts.iter().zip(shares(parts, random, length)) {
                emit(part, random, share, depth + 1, out);
            }
        }
        HirKind::Alternation(options) => {
            let fits = |hir: &&Hir| {
                least(hir) <= length && hir.properties().maximum_len().is_none_or(|most| most >= length.min(1))
            };
            let exact: Vec<&Hir> = options
                .iter()
                .filter(fits)
                .filter(|hir| hir.properties().maximum_len().is_none_or(|most| most >= length))
                .collect();
            let fitting: Vec<&Hir> = options.iter().filter(fits).collect();
            // Usually one that can have the length, sometimes any.
            let chosen = if random.chance(3, 4) { random.pick(&exact) } else { None };
            let chosen = chosen.or_else(|| random.pick(&fitting)).copied().or_else(|| random.pick(options));
            if let Some(chosen) = chosen {
                emit(chosen, random, length, depth + 1, out);
            }
        }
    }
}

/// Divides a length among parts: each gets its minimum, and the rest goes to those that can have more.
fn shares(parts: &[Hir], random: &mut Random, length: usize) -> Vec<usize> {
    let mut shares: Vec<usize> = parts.iter().map(least).collect();
    let mut rest = length.saturating_sub(shares.iter().sum());
    let room =
        |part: &Hir, share: usize| part.properties().maximum_len().map_or(rest, |most| most.saturating_sub(share));
    let mut open: Vec<(usize, usize)> = parts
        .iter()
        .zip(&shares)
        .map(|(part, share)| room(part, *share))
        .enumerate()
        .filter(|(_, room)| *room > 0)
        .collect();
    random.shuffle(&mut open);
    while let Some((index, room)) = open.pop() {
        let most = room.min(rest);
        let others: usize = open.iter().fold(0, |sum, (_, room)| sum.saturating_add(*room));
        let share = random.length(rest.saturating_sub(others).min(most), most);
        shares[index] += share;
        rest -= share;
    }
    shares
}

fn repeat(repetition: &Repetition, random: &mut Random, length: usize, depth: usize, out: &mut String) {
    let once = least(&repetition.sub);
    let often = repetition.sub.properties().maximum_len();
    let fewest = usize::try_from(repetition.min).unwrap_or(MAX_ROUNDS);
    let most = repetition.max.and_then(|most| usize::try_from(most).ok()).unwrap_or(MAX_ROUNDS).min(MAX_ROUNDS);
    // This many rounds have the length if each is as short, or as long, as possible.
    let greatest = (length / once.max(1)).clamp(fewest, most.max(fewest));
    let smallest = match often {
        Some(0) => fewest,
        Some(often) => length.div_ceil(often).clamp(fewest, greatest),
        None => fewest.max(usize::from(length > 0)).min(greatest),
    };
    let rounds = random.length(smallest, greatest);
    let mut rest = length;
    for round in 0..rounds {
        let left = rounds - round;
        let reserved = once * (left - 1);
        let share = if left == 1 { rest } else { (rest / left).max(once) };
        let share = share.min(rest.saturating_sub(reserved)).max(once);
        let before = out.len();
        emit(&repetition.sub, random, share, depth + 1, out);
        rest = rest.saturating_sub(out.len() - before);
    }
}

/// A member of a class, in ASCII if there is one.
fn member(class: &Class, random: &mut Random) -> Option<char> {
    let ranges: Vec<(u32, u32)> = match class {
        Class::Unicode(class) => {
            class.ranges().iter().map(|range| (range.start().into(), range.end().into())).collect()
        }
        Class::Bytes(class) => class.ranges().iter().map(|range| (range.start().into(), range.end().into())).collect(),
    };
    let printable = |(low, high): &(u32, u32)| {
        let (low, high) = ((*low).max(0x21), (*high).min(0x7e));
        (low <= high).then_some((low, high))
    };
    let plain: Vec<(u32, u32)> = ranges.iter().filter_map(printable).collect();
    // Letters and digits are easier to read; the others must occur, too.
    let words: Vec<(u32, u32)> = plain
        .iter()
        .flat_map(|range| {
            [(0x30, 0x39), (0x41, 0x5a), (0x61, 0x7a)].into_iter().filter_map(|(low, high)| {
                let (low, high) = (range.0.max(low), range.1.min(high));
                (low <= high).then_some((low, high))
            })
        })
        .collect();
    let from = match (words.is_empty(), plain.is_empty()) {
        (false, _) if random.chance(15, 16) => &words,
        (_, false) if random.chance(63, 64) => &plain,
        _ => &ranges,
    };
    let total: u64 = from.iter().map(|(low, high)| u64::from(high - low) + 1).sum();
    let mut at = random.below(total);
    for (low, high) in from {
        let width = u64::from(high - low) + 1;
        if at < width {
            return char::from_u32(low + u32::try_from(at).ok()?);
        }
        at -= width;
    }
    None
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")]
    #[case(r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$")]
    #[case(r"^https?://.+$")]
    #[case("b+c")]
    #[case(r"^(?i)(Drop|Reject)?$")]
    #[case(r"^[^\x00\n\r]*$")]
    #[case(r"^(\d+|\*)(/\d+)?(\s+(\d+|\*)(/\d+)?){4}$")]
    #[case(r"(^0|([0-9]*[.])?[0-9]+((K|M|G|T|E|P)i?)?B)$")]
    fn texts_match_and_come_near_the_length(#[case] text: &str) {
        let pattern = Pattern::new(text);
        let sampler = Sampler::new(&pattern).unwrap();
        let (least, most) = sampler.lengths();
        for index in 0..200 {
            let mut random = Random::of(7, 0, index);
            let length = least.max(usize::try_from(index % 40).unwrap());
            let made = sampler.sample(&mut random, length);
            assert!(pattern.matches(&made), "{made:?}");
            let near = most.unwrap_or(length).min(length);
            assert!(made.chars().count() <= near.max(least) + 6, "{made:?} for {length}");
        }
    }

    #[test]
    fn a_name_of_just_this_length_is_found() {
        let pattern = Pattern::new("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$");
        let sampler = Sampler::new(&pattern).unwrap();
        let made = sampler.sample(&mut Random::of(1, 1, 1), 63);
        assert!(pattern.matches(&made) && made.len() == 63, "{made}");
    }
}
