//! The small parts of Go's syntax: escapes, classes in brackets, and counts of repetitions. Each reads from a cursor.

use regex_syntax::hir::ClassUnicode;

use super::class;

/// The rest of a pattern.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'t> {
    pub(super) rest: &'t str,
}

impl<'t> Cursor<'t> {
    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// The text between another cursor and this one.
    pub(super) fn since(&self, start: Self) -> &'t str {
        &start.rest[..start.rest.len() - self.rest.len()]
    }
}

/// Reads an escape of one character, such as `\n`, `\x{1F600}` or `\141`.
pub(super) fn escape(cursor: &mut Cursor<'_>) -> Result<u32, String> {
    let start = *cursor;
    cursor.next();
    if cursor.rest.is_empty() {
        return Err("trailing backslash at end of expression".into());
    }
    let Some(value) = escaped(cursor) else {
        return Err(format!("invalid escape sequence: {}", cursor.since(start)));
    };
    Ok(value)
}

fn escaped(cursor: &mut Cursor<'_>) -> Option<u32> {
    let c = cursor.next()?;
    match c {
        // A digit alone would be a back-reference.
        '1'..='7' if !cursor.rest.starts_with(|c| matches!(c, '0'..='7')) => None,
        '0'..='7' => {
            let mut value = c.to_digit(8)?;
            for _ in 0..2 {
                let Some(digit) = cursor.rest.chars().next().and_then(|c| c.to_digit(8)) else { break };
                value = value * 8 + digit;
                cursor.next();
            }
            Some(value)
        }
        'x' if cursor.eat("{") => {
            let mut value = 0;
            let mut digits = 0;
            loop {
                let c = cursor.next()?;
                if c == '}' {
                    return (digits > 0).then_some(value);
                }
                value = value * 16 + c.to_digit(16)?;
                digits += 1;
                if value > u32::from(char::MAX) {
                    return None;
                }
            }
        }
        'x' => {
            let (high, low) = (cursor.next()?.to_digit(16), cursor.next()?.to_digit(16));
            Some(high? * 16 + low?)
        }
        'a' => Some(0x07),
        'f' => Some(0x0C),
        'n' => Some(0x0A),
        'r' => Some(0x0D),
        't' => Some(0x09),
        'v' => Some(0x0B),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(c.into()),
        _ => None,
    }
}

/// Reads `\d`, `\pL`, `\p{Greek}` and the like. `None` if something else follows.
pub(super) fn class_escape(cursor: &mut Cursor<'_>, fold: bool) -> Result<Option<ClassUnicode>, String> {
    let start = *cursor;
    let mut ahead = *cursor;
    if !ahead.eat("\\") {
        return Ok(None);
    }
    let Some(letter) = ahead.next() else { return Ok(None) };
    if let Some(class) = class::perl(letter, fold) {
        *cursor = ahead;
        return Ok(Some(class));
    }
    if !matches!(letter, 'p' | 'P') {
        return Ok(None);
    }
    let name = if ahead.eat("{") {
        let end = ahead.rest.find('}').ok_or_else(|| format!("invalid character class range: {}", start.rest))?;
        let name = &ahead.rest[..end];
        ahead.rest = &ahead.rest[end + 1..];
        name
    } else {
        let before = ahead;
        ahead.next();
        ahead.since(before)
    };
    let class = class::unicode(name, letter == 'P', fold);
    let class = class.ok_or_else(|| format!("invalid character class range: {}", ahead.since(start)))?;
    *cursor = ahead;
    Ok(Some(class))
}

/// Reads a class in brackets.
pub(super) fn brackets(cursor: &mut Cursor<'_>, fold: bool) -> Result<ClassUnicode, String> {
    let whole = cursor.rest;
    cursor.next();
    let negated = cursor.eat("^");
    let mut class = ClassUnicode::empty();
    let mut first = true;
    // A closing bracket that comes first is a member.
    while first || !cursor.rest.starts_with(']') {
        first = false;
        if let Some(end) = cursor.rest.strip_prefix("[:").and_then(|rest| rest.find(":]")) {
            let name = &cursor.rest[2..end + 2];
            let named = class::posix(name, fold);
            class.union(&named.ok_or_else(|| format!("invalid character class range: [:{name}:]"))?);
            cursor.rest = &cursor.rest[end + 4..];
            continue;
        }
        if let Some(escaped) = class_escape(cursor, fold)? {
            class.union(&escaped);
            continue;
        }
        let start = *cursor;
        let low = member(cursor, whole)?;
        let mut high = low;
        if cursor.rest.len() >= 2 && cursor.rest.starts_with('-') && !cursor.rest.starts_with("-]") {
            cursor.next();
            high = member(cursor, whole)?;
            if high < low {
                return Err(format!("invalid character class range: {}", cursor.since(start)));
            }
        }
        let mut range = class::range(low, high);
        if fold {
            class::folded(&mut range);
        }
        class.union(&range);
    }
    cursor.next();
    if negated {
        class.negate();
    }
    Ok(class)
}

fn member(cursor: &mut Cursor<'_>, whole: &str) -> Result<u32, String> {
    if cursor.rest.starts_with('\\') {
        return escape(cursor);
    }
    cursor.next().map(u32::from).ok_or_else(|| format!("missing closing ]: {whole}"))
}

/// The bounds of a repetition.
#[derive(Clone, Copy)]
pub(super) struct Counts {
    pub(super) least: u32,
    pub(super) most: Option<u32>,
}

/// Larger counts are all refused, and need not be distinguished.
const COUNTED: u32 = 100_000_000;

/// Reads `{2}`, `{2,}` or `{2,5}`. Any other text after the brace is literal.
pub(super) fn counts(cursor: &mut Cursor<'_>) -> Option<Counts> {
    let mut ahead = *cursor;
    ahead.next();
    let least = count(&mut ahead)?;
    let most = if !ahead.eat(",") {
        Some(least)
    } else if ahead.rest.starts_with('}') {
        None
    } else {
        Some(count(&mut ahead)?)
    };
    if !ahead.eat("}") {
        return None;
    }
    *cursor = ahead;
    Some(Counts { least, most })
}

fn count(cursor: &mut Cursor<'_>) -> Option<u32> {
    let digits = cursor.rest.len() - cursor.rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let text = &cursor.rest[..digits];
    if text.is_empty() || digits > 1 && text.starts_with('0') {
        return None;
    }
    cursor.rest = &cursor.rest[digits..];
    Some(text.parse().unwrap_or(COUNTED))
}
