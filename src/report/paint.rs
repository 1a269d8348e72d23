//! Colour, or none, and text that is safe to print.

use annotate_snippets::renderer::{AnsiColor, Effects, Style};

/// Colours words, or leaves them alone.
#[derive(Clone, Copy)]
pub(super) struct Paint {
    colour: bool,
}

impl Paint {
    pub(super) fn new(colour: bool) -> Self {
        Self { colour }
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.with(Style::new().effects(Effects::BOLD), text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.with(Style::new().effects(Effects::DIMMED), text)
    }

    pub(super) fn section(self, text: &str) -> String {
        self.with(AnsiColor::BrightBlue.on_default(), text)
    }

    pub(super) fn passed(self, text: &str) -> String {
        self.with(AnsiColor::Green.on_default(), text)
    }

    pub(super) fn failed(self, text: &str) -> String {
        self.with(AnsiColor::BrightRed.on_default(), text)
    }
}

/// Makes control characters visible. Manifests come from strangers, and a terminal would obey them.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(visible).collect()
}

fn visible(char: char) -> char {
    match char {
        '\n' => char,
        '\t' => ' ',
        '\0'..='\u{1f}' => char::from_u32(u32::from(char) + 0x2400).unwrap_or('\u{fffd}'),
        // Marks that turn the direction of writing can make text look like other text.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        _ if char.is_control() => '\u{fffd}',
        _ => char,
    }
}

/// Breaks text at spaces so that lines fit, where words allow it. Line breaks in the text are kept.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            let fits = line.chars().count() + 1 + word.chars().count() <= width;
            if !line.is_empty() && !fits {
                lines.push(std::mem::take(&mut line));
            } else if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_codes_are_shown_rather_than_obeyed() {
        assert_eq!(clean("a\u{1b}[31mb\u{9b}c\u{202e}\n"), "a␛[31mb\u{fffd}c\u{fffd}\n");
    }

    #[test]
    fn text_breaks_at_spaces() {
        assert_eq!(wrap("one two three\nfour", 8), ["one two", "three", "four"]);
        assert_eq!(wrap("incompressible", 4), ["incompressible"]);
    }

    #[test]
    fn no_colour_means_no_escape_codes() {
        assert_eq!(Paint::new(false).bold("x"), "x");
        assert!(Paint::new(true).bold("x").contains('\u{1b}'));
    }
}
