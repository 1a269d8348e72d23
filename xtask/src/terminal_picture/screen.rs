//! A terminal that supports plain output and one changing line.

use anyhow::Context as _;

/// The style of a character.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) bold: bool,
    pub(super) dim: bool,
    /// One of the sixteen colours.
    pub(super) colour: Option<u8>,
}

/// A row of characters.
pub(super) type Row = Vec<(char, Look)>;

/// A row that stayed, or one that was replaced.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown {
    /// The time of its appearance, in seconds.
    pub(super) at: f64,
    /// The row of the screen.
    pub(super) row: usize,
    pub(super) text: Row,
}

/// Everything that was on the screen.
pub(super) struct Screen {
    /// Rows that stayed.
    pub(super) lines: Vec<Shown>,
    /// Rows that were replaced, in the order in which they appeared.
    pub(super) drafts: Vec<Shown>,
    columns: usize,
    current: Row,
    column: usize,
    look: Look,
}

/// The maximum length of a pause, so that readers need not wait as long as a server takes.
const MAX_PAUSE: f64 = 0.4;

impl Screen {
    /// A screen of that width, on which a command was typed.
    pub(super) fn new(command: &str, columns: usize) -> Self {
        let prompt = Look { dim: true, ..Look::default() };
        let typed = Look { bold: true, ..Look::default() };
        let text = "$ ".chars().map(|c| (c, prompt)).chain(command.chars().map(|c| (c, typed))).collect();
        Self {
            lines: vec![Shown { at: 0.0, row: 0, text }],
            drafts: Vec::new(),
            columns,
            current: Row::new(),
            column: 0,
            look: Look::default(),
        }
    }

    /// Plays what `script` logged: the output after its first line, and for each part its delay and length.
    pub(super) fn play(&mut self, output: &[u8], timing: &str) -> anyhow::Result<()> {
        let start = output.iter().position(|byte| *byte == b'\n').context("the log has no first line")? + 1;
        let mut rest = &output[start..];
        let mut at = 0.5;
        // The end of a part may split a character.
        let mut pending: Vec<u8> = Vec::new();
        for line in timing.lines() {
            let (delay, length) = line.split_once(' ').context("a line of the timing log has no length")?;
            at += delay.parse::<f64>()?.min(MAX_PAUSE);
            let (part, after) = rest.split_at(length.trim().parse::<usize>()?.min(rest.len()));
            rest = after;
            pending.extend_from_slice(part);
            let whole = pending.len() - unfinished(&pending);
            let text = String::from_utf8_lossy(&pending[..whole]).into_owned();
            pending.drain(..whole);
            self.write(&text, at);
            self.draft(at);
        }
        Ok(())
    }

    fn write(&mut self, text: &str, at: f64) {
        let mut characters = text.chars();
        while let Some(c) = characters.next() {
            match c {
                '\r' => self.column = 0,
                '\n' => self.end_row(at),
                '\x1b' => self.escape(&mut characters),
                c if c.is_control() => {}
                c => {
                    if self.column == self.columns {
                        self.end_row(at);
                    }
                    self.current.resize(self.current.len().max(self.column + 1), (' ', Look::default()));
                    self.current[self.column] = (c, self.look);
                    self.column += 1;
                }
            }
        }
    }

    fn end_row(&mut self, at: f64) {
        let text = std::mem::take(&mut self.current);
        self.lines.push(Shown { at, row: self.lines.len(), text });
        self.column = 0;
    }

    /// Handles the two escape sequences that crdproof uses: erasing a line, and styles.
    fn escape(&mut self, characters: &mut std::str::Chars<'_>) {
        if characters.next() != Some('[') {
            return;
        }
        let mut numbers = String::new();
        for c in characters.by_ref() {
            match c {
                '0'..='9' | ';' | '?' => numbers.push(c),
                'K' => return self.current.clear(),
                'm' => return numbers.split(';').for_each(|number| self.look.change(number)),
                _ => return,
            }
        }
    }

    /// Keeps the current row if it differs from the last one.
    fn draft(&mut self, at: f64) {
        let draft = Shown { at, row: self.lines.len(), text: self.current.clone() };
        let is_blank = draft.text.iter().all(|(c, _)| *c == ' ');
        let is_same = self.drafts.last().is_some_and(|last| last.row == draft.row && last.text == draft.text);
        if !is_blank && !is_same {
            self.drafts.push(draft);
        }
    }
}

impl Look {
    fn change(&mut self, number: &str) {
        match number.parse::<u8>().unwrap_or(0) {
            0 => *self = Self::default(),
            1 => self.bold = true,
            2 => self.dim = true,
            22 => (self.bold, self.dim) = (false, false),
            39 => self.colour = None,
            colour @ 30..=37 => self.colour = Some(colour - 30),
            colour @ 90..=97 => self.colour = Some(colour - 90 + 8),
            _ => {}
        }
    }
}

/// Returns the number of bytes at the end that begin a character.
fn unfinished(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.len() - error.valid_up_to(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(shown: &Shown) -> String {
        shown.text.iter().map(|(c, _)| *c).collect()
    }

    #[test]
    fn lines_stay_and_drafts_are_replaced() {
        let mut screen = Screen::new("run", 40);
        let output = "Script started\n\x1b[36m⠁\x1b[0m one\r\x1b[2K\x1b[1;31merror\x1b[0m: x\r\n";
        let log = output.as_bytes();
        // The first part ends in the middle of a character.
        let first = "\x1b[36m".len() + 1;
        let second = "⠁\x1b[0m one".len() - 1;
        let third = log.len() - "Script started\n".len() - first - second;
        screen.play(log, &format!("0.1 {first}\n9 {second}\n0.1 {third}\n")).unwrap();
        assert_eq!(screen.lines.iter().map(text).collect::<Vec<_>>(), ["$ run", "error: x"]);
        assert_eq!(screen.drafts.iter().map(text).collect::<Vec<_>>(), ["⠁ one"]);
        assert_eq!(screen.lines[1].text[0].1, Look { bold: true, dim: false, colour: Some(1) });
        assert!(screen.lines[1].at < 1.2, "pauses are shortened");
    }
}
