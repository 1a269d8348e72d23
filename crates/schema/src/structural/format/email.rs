//! An address as in the header of a mail: also with a display name, in angle brackets, with comments, or as a group of
//! one.

use super::network::is_ip;

pub(super) fn is_email(text: &str) -> bool {
    let mut reader = Reader(text);
    reader.addresses(Groups::Allowed) == Some(1) && reader.skip_comments().is_some() && reader.0.is_empty()
}

#[derive(Clone, Copy, PartialEq)]
enum Groups {
    Allowed,
    Forbidden,
}

/// The rest of the text. Each method takes its part from the front, or returns `None`.
struct Reader<'a>(&'a str);

impl<'a> Reader<'a> {
    /// Returns the number of addresses: one, or those of a group.
    fn addresses(&mut self, groups: Groups) -> Option<usize> {
        self.skip_space();
        if self.0.is_empty() {
            return None;
        }
        let start = self.0;
        if self.address().is_some() {
            self.skip_space();
            if self.take('(').is_some() {
                self.comment()?;
            }
            return Some(1);
        }
        self.0 = start;
        if !self.0.starts_with('<') {
            self.phrase()?;
        }
        self.skip_space();
        if groups == Groups::Allowed && self.take(':').is_some() {
            return self.group();
        }
        self.take('<')?;
        self.address()?;
        self.take('>')?;
        Some(1)
    }

    fn group(&mut self) -> Option<usize> {
        let mut count = 0;
        self.skip_space();
        while self.take(';').is_none() {
            self.skip_space();
            // A group cannot contain groups.
            count += self.addresses(Groups::Forbidden)?;
            self.skip_comments()?;
            if self.take(';').is_some() {
                break;
            }
            self.take(',')?;
            self.skip_space();
        }
        self.skip_comments()?;
        Some(count)
    }

    fn address(&mut self) -> Option<()> {
        self.skip_space();
        if self.0.starts_with('"') {
            if self.quoted()?.is_empty() {
                return None;
            }
        } else {
            self.atom(Dots::Strict)?;
        }
        self.take('@')?;
        self.skip_space();
        if self.take('[').is_some() {
            let (literal, rest) = self.0.split_once(']')?;
            self.0 = rest;
            return is_ip(literal).then_some(());
        }
        self.atom(Dots::Strict)
    }

    /// Words of a display name: at least one.
    fn phrase(&mut self) -> Option<()> {
        let mut words = 0;
        loop {
            if words > 0 {
                self.skip_comments()?;
            }
            self.skip_space();
            let start = self.0;
            let word = if self.0.starts_with('"') { self.quoted().map(|_| ()) } else { self.atom(Dots::Loose) };
            if word.is_none() {
                self.0 = start;
                return (words > 0).then_some(());
            }
            words += 1;
        }
    }

    fn atom(&mut self, dots: Dots) -> Option<()> {
        let end = self.0.find(|c: char| !(is_atom_text(c) || c == '.')).unwrap_or(self.0.len());
        let (atom, rest) = self.0.split_at(end);
        let valid = dots == Dots::Loose || !(atom.starts_with('.') || atom.ends_with('.') || atom.contains(".."));
        (!atom.is_empty() && valid).then(|| self.0 = rest)
    }

    fn quoted(&mut self) -> Option<&'a str> {
        let inner = self.0.strip_prefix('"')?;
        let mut escaped = false;
        for (at, c) in inner.char_indices() {
            match c {
                _ if escaped => {
                    escaped = false;
                    if !is_quotable(c) {
                        return None;
                    }
                }
                '\\' => escaped = true,
                '"' => {
                    self.0 = &inner[at + 1..];
                    return Some(&inner[..at]);
                }
                _ if is_quotable(c) => {}
                _ => return None,
            }
        }
        None
    }

    /// Reads the rest of a comment after its opening parenthesis. Comments nest.
    fn comment(&mut self) -> Option<()> {
        let mut depth = 1;
        let mut escaped = false;
        for (at, c) in self.0.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.0 = &self.0[at + 1..];
                return Some(());
            }
        }
        None
    }

    fn skip_comments(&mut self) -> Option<()> {
        self.skip_space();
        while self.take('(').is_some() {
            self.comment()?;
            self.skip_space();
        }
        Some(())
    }

    fn skip_space(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t']);
    }

    fn take(&mut self, c: char) -> Option<()> {
        self.0 = self.0.strip_prefix(c)?;
        Some(())
    }
}

/// The rule for dots in an atom.
#[derive(Clone, Copy, PartialEq)]
enum Dots {
    Strict,
    Loose,
}

fn is_atom_text(c: char) -> bool {
    c > '\u{7f}' || c.is_ascii_graphic() && !"()<>[]:;@\\,.\"".contains(c)
}

fn is_quotable(c: char) -> bool {
    c > '\u{7f}' || c.is_ascii_graphic() || c == ' ' || c == '\t'
}
