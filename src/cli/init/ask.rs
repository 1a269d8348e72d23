//! Questions on a terminal.

use std::io::{BufRead as _, IsTerminal as _};

use crate::cli::args::TextFormat;
use crate::cli::args::init::InitArgs;
use crate::cli::console::Console;

/// Returns true if there is a user to ask.
pub(super) fn is_possible(args: &InitArgs) -> bool {
    let is_wanted = !args.yes && !args.stdout && args.format == TextFormat::Text;
    is_wanted && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks a question with yes or no; yes by default.
pub(super) fn confirm(console: Console, question: &str) -> bool {
    loop {
        match answer(console, &format!("? {question} [Y/n]")).to_lowercase().as_str() {
            "" | "y" | "yes" => return true,
            "n" | "no" => return false,
            _ => console.say("  answer y or n"),
        }
    }
}

/// Asks for one of several options; the last one by default.
pub(super) fn choose(console: Console, question: &str, options: &[&str]) -> usize {
    console.say(&format!("? {question}"));
    for (number, option) in (1..).zip(options) {
        console.say(&format!("  {number}) {option}"));
    }
    loop {
        let text = answer(console, &format!("  number [{}]", options.len()));
        match text.parse::<usize>() {
            Ok(number) if (1..=options.len()).contains(&number) => return number - 1,
            _ if text.is_empty() => return options.len() - 1,
            _ => console.say(&format!("  answer with a number from 1 to {}", options.len())),
        }
    }
}

/// Returns the typed line, trimmed; empty at the end of the input.
fn answer(console: Console, question: &str) -> String {
    console.say(question);
    let mut text = String::new();
    // Input that cannot be read is treated as ended: the default answer is safe.
    let _ = std::io::stdin().lock().read_line(&mut text);
    text.trim().to_owned()
}
