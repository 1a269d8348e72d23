//! Colour, or none, and text that is safe to print.

use annotate_snippets::renderer::{AnsiColor, Effects, Style};

/// Colours words, or leaves them unchanged.
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

/// Breaks text at spaces so that lines fit, if possible. Keeps line breaks of the text.
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
