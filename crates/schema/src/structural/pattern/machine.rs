//! Runs patterns over characters instead of bytes. Slower than the automata of the regex crate, but a class needs one
//! instruction, whatever it contains, so every pattern that Go accepts fits.

use std::rc::Rc;
use std::sync::Arc;

use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

#[derive(Debug)]
pub(super) struct Machine {
    program: Vec<Step>,
}

#[derive(Debug, Clone)]
enum Step {
    /// Continues after a character of these ranges.
    Read(Arc<[(char, char)]>),
    /// Continues at both, and prefers the first.
    Split(usize, usize),
    Jump(usize),
    Look(Look),
    Match,
}

/// The positions of a program that wait for the next character, in order of preference, each with its start.
struct Threads {
    waiting: Vec<(usize, usize)>,
    /// The round in which each position was last added.
    added: Vec<usize>,
}

impl Machine {
    pub(super) fn new(tree: &Hir) -> Self {
        let mut machine = Self { program: Vec::new() };
        machine.add(tree);
        machine.program.push(Step::Match);
        machine
    }

    /// Returns the first match at or after a position, as Go prefers it.
    pub(super) fn find(&self, text: &str, from: usize) -> Option<(usize, usize)> {
        let threads = || Threads { waiting: Vec::new(), added: vec![usize::MAX; self.program.len()] };
        let (mut now, mut next) = (threads(), threads());
        let mut found = None;
        let ends = std::iter::once((text.len(), None));
        for (at, c) in text[from..].char_indices().map(|(at, c)| (from + at, Some(c))).chain(ends) {
            if found.is_none() {
                self.follow(0, at, at, text, &mut now);
            }
            next.waiting.clear();
            for (place, start) in std::mem::take(&mut now.waiting) {
                match &self.program[place] {
                    Step::Match => {
                        found = Some((start, at));
                        break;
                    }
                    Step::Read(ranges) => {
                        if let Some(c) = c.filter(|c| contains(ranges, *c)) {
                            self.follow(place + 1, start, at + c.len_utf8(), text, &mut next);
                        }
                    }
                    Step::Split(..) | Step::Jump(_) | Step::Look(_) => {}
                }
            }
            if next.waiting.is_empty() && found.is_some() {
                break;
            }
            std::mem::swap(&mut now, &mut next);
        }
        found
    }

    pub(super) fn find_all<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut all = Vec::new();
        let mut from = 0;
        let mut last = None;
        while let Some((start, end)) = self.find(text, from) {
            // An empty match right after another one does not count.
            if start < end || last != Some(start) {
                all.push(&text[start..end]);
            }
            last = Some(end);
            from = if start < end { end } else { end + text[end..].chars().next().map_or(1, char::len_utf8) };
            if from > text.len() {
                break;
            }
        }
        all
    }

    /// Adds a position and everything that it reaches without reading.
    fn follow(&self, place: usize, start: usize, at: usize, text: &str, threads: &mut Threads) {
        let mut open = vec![place];
        while let Some(place) = open.pop() {
            if std::mem::replace(&mut threads.added[place], at) == at {
                continue;
            }
            match &self.program[place] {
                Step::Split(first, second) => open.extend([*second, *first]),
                Step::Jump(to) => open.push(*to),
                Step::Look(look) if holds(*look, text, at) => open.push(place + 1),
                Step::Look(_) => {}
                Step::Read(_) | Step::Match => threads.waiting.push((place, start)),
            }
        }
    }

    fn add(&mut self, tree: &Hir) {
        match tree.kind() {
            HirKind::Empty => {}
            HirKind::Literal(literal) => {
                for c in String::from_utf8_lossy(&literal.0).chars() {
                    self.program.push(Step::Read([(c, c)].into()));
                }
            }
            HirKind::Class(class) => self.program.push(Step::Read(ranges(class))),
            HirKind::Look(look) => self.program.push(Step::Look(*look)),
            HirKind::Capture(capture) => self.add(&capture.sub),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.add(part)),
            HirKind::Alternation(options) => self.alternatives(options),
            HirKind::Repetition(repetition) => self.repeat(repetition),
        }
    }

    fn alternatives(&mut self, options: &[Hir]) {
        let mut ends = Vec::new();
        for (index, option) in options.iter().enumerate() {
            let split = self.program.len();
            let last = index + 1 == options.len();
            if !last {
                self.program.push(Step::Split(split + 1, split + 1));
            }
            self.add(option);
            if !last {
                ends.push(self.program.len());
                self.program.push(Step::Jump(0));
                self.program[split] = Step::Split(split + 1, self.program.len());
            }
        }
        for end in ends {
            self.program[end] = Step::Jump(self.program.len());
        }
    }

    fn repeat(&mut self, repetition: &Repetition) {
        let sub = &repetition.sub;
        let start = self.program.len();
        let Some(body) = self.body(sub) else { return };
        let ways = |inside, outside| {
            if repetition.greedy { Step::Split(inside, outside) } else { Step::Split(outside, inside) }
        };
        for _ in 1..repetition.min {
            self.copy(&body, start);
        }
        match repetition.max {
            // At least once, perhaps: a round that reads nothing ends the loop, as in Go.
            None => {
                let skip = self.program.len();
                if repetition.min == 0 {
                    self.program.push(Step::Match);
                }
                let again = self.program.len();
                self.copy(&body, start);
                self.program.push(ways(again, self.program.len() + 1));
                if repetition.min == 0 {
                    self.program[skip] = ways(again, self.program.len());
                }
            }
            Some(most) => {
                if repetition.min > 0 {
                    self.copy(&body, start);
                }
                let mut splits = Vec::new();
                for _ in repetition.min..most {
                    splits.push(self.program.len());
                    self.program.push(Step::Match);
                    self.copy(&body, start);
                }
                for split in splits {
                    self.program[split] = ways(split + 1, self.program.len());
                }
            }
        }
    }

    /// The steps of a part, compiled once and copied for each repetition. `None` if there are none.
    fn body(&mut self, sub: &Hir) -> Option<Rc<[Step]>> {
        let start = self.program.len();
        self.add(sub);
        let steps: Rc<[Step]> = self.program.drain(start..).collect();
        (!steps.is_empty()).then_some(steps)
    }

    fn copy(&mut self, steps: &[Step], made_at: usize) {
        let here = self.program.len();
        let moved = |place: &usize| place - made_at + here;
        self.program.extend(steps.iter().map(|step| match step {
            Step::Split(first, second) => Step::Split(moved(first), moved(second)),
            Step::Jump(to) => Step::Jump(moved(to)),
            Step::Read(_) | Step::Look(_) | Step::Match => step.clone(),
        }));
    }
}

fn ranges(class: &Class) -> Arc<[(char, char)]> {
    match class {
        Class::Unicode(class) => class.iter().map(|range| (range.start(), range.end())).collect(),
        Class::Bytes(class) => class.iter().map(|range| (range.start().into(), range.end().into())).collect(),
    }
}

fn contains(ranges: &[(char, char)], c: char) -> bool {
    let after = ranges.partition_point(|(low, _)| *low <= c);
    after > 0 && c <= ranges[after - 1].1
}

/// Returns true if a position of a text satisfies an assertion. Our trees contain only the assertions that Go has.
fn holds(look: Look, text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at..].chars().next();
    let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    match look {
        Look::Start => before.is_none(),
        Look::End => after.is_none(),
        Look::StartLF => before.is_none_or(|c| c == '\n'),
        Look::EndLF => after.is_none_or(|c| c == '\n'),
        Look::WordAscii => word(before) != word(after),
        Look::WordAsciiNegate => word(before) == word(after),
        _ => false,
    }
}
