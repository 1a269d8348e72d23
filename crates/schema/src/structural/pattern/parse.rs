//! Reads a pattern as Go's `regexp/syntax` does with its Perl flags, into the tree of our own engine.
//!
//! Like Go's parser this one keeps a stack: an operator takes the top of the stack, whatever group or flag came before
//! it, and `|` and `)` take everything down to the last mark. Error messages are Go's, because API servers print them.

use regex_syntax::hir::{Capture, Class, ClassUnicode, Hir, HirKind, Look, Repetition};

use super::class;
use super::syntax::{Counts, Cursor, brackets, class_escape, counts, escape};

/// Go's maximum of a count, and of products of nested counts.
const MAX_REPETITIONS: u64 = 1000;

/// Go's maximum depth of a tree.
const MAX_DEPTH: usize = 1000;

/// Go's maximum number of instructions: 128 MiB of 40 bytes each.
const MAX_INSTRUCTIONS: u64 = (128 << 20) / 40;

/// Returns the tree of a pattern, or the reason why Go refuses it.
pub(super) fn parse(text: &str) -> Result<Hir, String> {
    let mut parser = Parser { stack: Vec::new(), flags: Flags::default(), names: Vec::new(), captures: 0 };
    let mut cursor = Cursor { rest: text };
    // The operator before this position, if one ends there.
    let mut operator: Option<Cursor<'_>> = None;
    while !cursor.rest.is_empty() {
        let start = cursor;
        operator = parser.step(&mut cursor, operator, text)?.then_some(start);
    }
    parser.alternatives();
    match parser.stack.pop() {
        Some(Item::Node(node)) if parser.stack.is_empty() => Ok(node.hir),
        _ => Err(format!("missing closing ): {text}")),
    }
}

#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the syntax has these four flags")]
struct Flags {
    fold: bool,
    lines: bool,
    dot_all: bool,
    swap_greed: bool,
}

/// A part of the tree, with the values for Go's limits.
struct Node {
    hir: Hir,
    depth: usize,
    /// Instructions, by Go's estimate.
    size: u64,
    /// The maximum product of nested counts.
    repeats: u64,
}

enum Item {
    Node(Node),
    /// Alternatives before a `|`.
    Bar(Vec<Node>),
    /// An opening parenthesis: the flags outside, and the number and the name of the group if it captures.
    Open {
        outside: Flags,
        capture: Option<(u32, Option<Box<str>>)>,
    },
}

struct Parser {
    stack: Vec<Item>,
    flags: Flags,
    names: Vec<Box<str>>,
    captures: u32,
}

impl Parser {
    /// Reads one element. Returns true if it was an operator of repetition.
    fn step(&mut self, cursor: &mut Cursor<'_>, operator: Option<Cursor<'_>>, text: &str) -> Result<bool, String> {
        match cursor.rest.chars().next().unwrap_or_default() {
            '(' if cursor.rest.starts_with("(?") => self.perl(cursor)?,
            '(' => {
                cursor.next();
                self.open(self.flags, true, None);
            }
            ')' => {
                cursor.next();
                self.close(text)?;
            }
            '|' => {
                cursor.next();
                self.bar();
            }
            '^' => self.look(cursor, if self.flags.lines { Look::StartLF } else { Look::Start }, 1),
            '$' => self.look(cursor, if self.flags.lines { Look::EndLF } else { Look::End }, 1),
            '.' => {
                cursor.next();
                self.class(class::any(self.flags.dot_all))?;
            }
            '[' => {
                let class = brackets(cursor, self.flags.fold)?;
                self.class(class)?;
            }
            '*' | '+' | '?' | '{' => return self.repetition(cursor, operator),
            '\\' => self.backslash(cursor)?,
            c => {
                cursor.next();
                self.literal(c.into())?;
            }
        }
        Ok(false)
    }

    fn backslash(&mut self, cursor: &mut Cursor<'_>) -> Result<(), String> {
        match cursor.rest[1..].chars().next() {
            Some('A') => self.look(cursor, Look::Start, 2),
            Some('z') => self.look(cursor, Look::End, 2),
            Some('b') => self.look(cursor, Look::WordAscii, 2),
            Some('B') => self.look(cursor, Look::WordAsciiNegate, 2),
            Some('Q') => {
                let quoted = &cursor.rest[2..];
                let (literal, rest) = quoted.split_once("\\E").unwrap_or((quoted, ""));
                cursor.rest = rest;
                return literal.chars().try_for_each(|c| self.literal(c.into()));
            }
            _ => {
                if let Some(class) = class_escape(cursor, self.flags.fold)? {
                    return self.class(class);
                }
                let value = escape(cursor)?;
                return self.literal(value);
            }
        }
        Ok(())
    }

    fn look(&mut self, cursor: &mut Cursor<'_>, look: Look, length: usize) {
        cursor.rest = &cursor.rest[length..];
        self.stack.push(Item::Node(Node::leaf(Hir::look(look))));
    }

    fn literal(&mut self, value: u32) -> Result<(), String> {
        let mut class = class::range(value, value);
        if self.flags.fold {
            class::folded(&mut class);
        }
        self.class(class)
    }

    fn class(&mut self, class: ClassUnicode) -> Result<(), String> {
        self.push(Node::leaf(Hir::class(Class::Unicode(class))))
    }

    fn push(&mut self, node: Node) -> Result<(), String> {
        if node.depth > MAX_DEPTH {
            return Err("expression nests too deeply".into());
        }
        if node.size > MAX_INSTRUCTIONS {
            return Err("expression too large".into());
        }
        self.stack.push(Item::Node(node));
        Ok(())
    }

    fn repetition(&mut self, cursor: &mut Cursor<'_>, operator: Option<Cursor<'_>>) -> Result<bool, String> {
        let start = *cursor;
        let counts = match cursor.next() {
            Some('*') => Counts { least: 0, most: None },
            Some('+') => Counts { least: 1, most: None },
            Some('?') => Counts { least: 0, most: Some(1) },
            _ => {
                *cursor = start;
                let Some(counts) = counts(cursor) else {
                    cursor.next();
                    self.literal('{'.into())?;
                    return Ok(false);
                };
                counts
            }
        };
        let refused = format!("invalid repeat count: {}", cursor.since(start));
        let most = u64::from(counts.most.unwrap_or(counts.least).max(counts.least));
        if most > MAX_REPETITIONS || counts.most.is_some_and(|most| most < counts.least) {
            return Err(refused);
        }
        let greedy = !cursor.eat("?") ^ self.flags.swap_greed;
        if let Some(before) = operator {
            return Err(format!("invalid nested repetition operator: {}", cursor.since(before)));
        }
        let Some(Item::Node(node)) = self.stack.pop() else {
            return Err(format!("missing argument to repetition operator: {}", cursor.since(start)));
        };
        let node = node.grouped(self.captures).repeated(counts, greedy);
        if most >= 2 && node.repeats > MAX_REPETITIONS {
            return Err(refused);
        }
        self.push(node)?;
        Ok(true)
    }

    /// Reads `(?i)`, `(?i:`, `(?:`, `(?P<name>` and `(?<name>`.
    fn perl(&mut self, cursor: &mut Cursor<'_>) -> Result<(), String> {
        let start = *cursor;
        cursor.rest = &cursor.rest[2..];
        if cursor.rest.starts_with("P<") || cursor.rest.starts_with('<') {
            return self.named(cursor, start);
        }
        let refused = |cursor: &Cursor<'_>| format!("invalid or unsupported Perl syntax: {}", cursor.since(start));
        let mut flags = self.flags;
        let (mut value, mut stated) = (true, true);
        loop {
            match cursor.next() {
                Some('i') => flags.fold = value,
                Some('m') => flags.lines = value,
                Some('s') => flags.dot_all = value,
                Some('U') => flags.swap_greed = value,
                Some('-') if value => {
                    (value, stated) = (false, false);
                    continue;
                }
                Some(end @ (':' | ')')) if stated => {
                    if end == ':' {
                        self.open(self.flags, false, None);
                    }
                    self.flags = flags;
                    return Ok(());
                }
                _ => return Err(refused(cursor)),
            }
            stated = true;
        }
    }

    fn named(&mut self, cursor: &mut Cursor<'_>, start: Cursor<'_>) -> Result<(), String> {
        cursor.eat("P");
        cursor.eat("<");
        let Some((name, rest)) = cursor.rest.split_once('>') else {
            return Err(format!("invalid named capture: {}", start.rest));
        };
        cursor.rest = rest;
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(format!("invalid named capture: {}", cursor.since(start)));
        }
        self.open(self.flags, true, Some(name));
        Ok(())
    }

    fn open(&mut self, outside: Flags, captures: bool, name: Option<&str>) {
        self.captures += u32::from(captures);
        // Our engine accepts each name once, and none that starts with a digit.
        let usable = |name: &&str| !name.starts_with(|c: char| c.is_ascii_digit());
        let name = name.filter(usable).map(Box::from).filter(|name| !self.names.contains(name));
        self.names.extend(name.clone());
        let capture = captures.then_some((self.captures, name));
        self.stack.push(Item::Open { outside, capture });
    }

    fn close(&mut self, text: &str) -> Result<(), String> {
        let unexpected = || Err(format!("unexpected ): {text}"));
        self.alternatives();
        let Some(Item::Node(inner)) = self.stack.pop() else { return unexpected() };
        let Some(Item::Open { outside, capture }) = self.stack.pop() else { return unexpected() };
        self.flags = outside;
        match capture {
            None => self.push(inner),
            Some((index, name)) => {
                let hir = Hir::capture(Capture { index, name, sub: Box::new(inner.hir) });
                self.push(Node { hir, depth: inner.depth + 1, size: inner.size + 2, repeats: inner.repeats })
            }
        }
    }

    fn bar(&mut self) {
        let node = self.sequence();
        let mut alternatives = match self.stack.pop() {
            Some(Item::Bar(alternatives)) => alternatives,
            other => {
                self.stack.extend(other);
                Vec::new()
            }
        };
        alternatives.push(node);
        self.stack.push(Item::Bar(alternatives));
    }

    /// Joins everything down to the last parenthesis.
    fn alternatives(&mut self) {
        let last = self.sequence();
        let node = match self.stack.pop() {
            Some(Item::Bar(mut alternatives)) => {
                alternatives.push(last);
                let joints = alternatives.len() as u64 - 1;
                Node::joined(alternatives, joints, Hir::alternation)
            }
            other => {
                self.stack.extend(other);
                last
            }
        };
        self.stack.push(Item::Node(node));
    }

    /// Joins all nodes down to the last mark.
    fn sequence(&mut self) -> Node {
        let mut nodes = Vec::new();
        while let Some(Item::Node(node)) = self.stack.pop_if(|item| matches!(item, Item::Node(_))) {
            nodes.push(node);
        }
        nodes.reverse();
        match nodes.len() {
            0 => Node::leaf(Hir::empty()),
            _ => Node::joined(nodes, 0, Hir::concat),
        }
    }
}

impl Node {
    fn leaf(hir: Hir) -> Self {
        Self { hir, depth: 1, size: 1, repeats: 1 }
    }

    fn joined(mut nodes: Vec<Self>, joints: u64, join: fn(Vec<Hir>) -> Hir) -> Self {
        if nodes.len() == 1
            && let Some(only) = nodes.pop()
        {
            return only;
        }
        let depth = nodes.iter().map(|node| node.depth).max().unwrap_or_default() + 1;
        let size = nodes.iter().fold(joints, |sum, node| sum.saturating_add(node.size));
        let repeats = nodes.iter().map(|node| node.repeats).max().unwrap_or(1);
        Self { hir: join(nodes.into_iter().map(|node| node.hir).collect()), depth, size, repeats }
    }

    /// Puts a repetition into a group. Otherwise the printed tree reads `(?:a{2})?` as a lazy `a{2}?`.
    fn grouped(self, captures: u32) -> Self {
        if matches!(self.hir.kind(), HirKind::Repetition(_)) {
            let hir = Hir::capture(Capture { index: captures + 1, name: None, sub: Box::new(self.hir) });
            return Self { hir, ..self };
        }
        self
    }

    fn repeated(self, counts: Counts, greedy: bool) -> Self {
        let Counts { least, most } = counts;
        let size = match (u64::from(least), most.map(u64::from)) {
            (0, None) => self.size + 2,
            (least, None) => self.size.saturating_mul(least) + 1,
            (least, Some(most)) => (self.size.saturating_mul(most) + most - least).max(1),
        };
        let repeats = match most {
            Some(0) => 1,
            most => self.repeats.saturating_mul(most.unwrap_or(least).max(1).into()),
        };
        let hir = Hir::repetition(Repetition { min: least, max: most, greedy, sub: Box::new(self.hir) });
        Self { hir, depth: self.depth + 1, size, repeats }
    }
}
