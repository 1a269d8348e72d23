//! The formats of a report, by name.

use std::fmt;
use std::str::FromStr;

use super::visible::visible_report;
use super::{Report, Style, github, html, json, junit, markdown, sarif, terminal};
use crdproof_schema::names;

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// For people, with source excerpts.
    Terminal,
    /// The report itself; it can be read back, merged and rendered again.
    Json,
    /// For CI systems that show test results.
    Junit,
    /// For code scanning.
    Sarif,
    /// One self-contained page.
    Html,
    /// For a comment on a pull request.
    Markdown,
    /// GitHub workflow commands, which become annotations on the change.
    Github,
}

/// An error for an unknown name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no report format is called {name:?}")]
pub struct FormatError {
    /// The given name.
    pub name: String,
    /// The format that was probably meant, or all formats.
    pub help: String,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 7] =
        [Self::Terminal, Self::Json, Self::Junit, Self::Sarif, Self::Html, Self::Markdown, Self::Github];

    /// The name of the format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Json => "json",
            Self::Junit => "junit",
            Self::Sarif => "sarif",
            Self::Html => "html",
            Self::Markdown => "markdown",
            Self::Github => "github",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(name: &str) -> Result<Self, FormatError> {
        if let Some(format) = Self::ALL.into_iter().find(|format| format.as_str() == name) {
            return Ok(format);
        }
        let all = Self::ALL.map(Self::as_str);
        let near = names::closest(name, all).map_or(String::new(), |near| format!("did you mean `{near}`? "));
        Err(FormatError { name: name.to_owned(), help: format!("{near}there are {}", all.join(", ")) })
    }
}

/// Writes a report in a format. Terminal output has no colour here; `terminal` accepts a style.
///
/// ```
/// use crdproof::report::{Format, Report, render};
///
/// fn sarif(report: &Report) -> String {
///     render(report, Format::Sarif)
/// }
/// ```
pub fn render(report: &Report, format: Format) -> String {
    let shown = || visible_report(report);
    match format {
        // It escapes texts itself, because it is also called directly.
        Format::Terminal => terminal(report, Style::PLAIN),
        // Data, from which the others are rendered.
        Format::Json => json(report),
        Format::Junit => junit(&shown()),
        Format::Sarif => sarif(&shown()),
        Format::Html => html(&shown()),
        Format::Markdown => markdown(&shown()),
        Format::Github => github(&shown()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_to_its_format() {
        for format in Format::ALL {
            assert_eq!(format.as_str().parse(), Ok(format));
        }
    }

    #[test]
    fn unknown_names_are_answered_with_the_known_ones() {
        let error = "htlm".parse::<Format>().unwrap_err();
        assert_eq!(error.to_string(), "no report format is called \"htlm\"");
        assert_eq!(error.help, "did you mean `html`? there are terminal, json, junit, sarif, html, markdown, github");
        let error = "xyz".parse::<Format>().unwrap_err();
        assert!(error.help.starts_with("there are terminal"));
    }
}
