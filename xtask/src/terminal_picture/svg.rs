//! A screen as an SVG that needs no script and no font of its own.

use std::fmt::Write as _;

use super::screen::{Look, Row, Screen, Shown};

const CELL: f64 = 8.4;
const HEIGHT: f64 = 19.0;
const MARGIN: f64 = 16.0;
const TOP: f64 = 40.0;

/// The minimum time for which a replaced line stays.
const MIN_TIME: f64 = 0.25;

/// The time between two lines of a report.
const PACE: f64 = 0.06;

const COLOURS: [&str; 16] = [
    "#6e7681", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#c9d1d9", "#8b949e", "#ffa198",
    "#aff5b4", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0ff", "#f0f6fc",
];

/// The settings of the picture.
pub(super) struct Picture<'s> {
    pub(super) columns: usize,
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) screen: &'s Screen,
}

impl Picture<'_> {
    pub(super) fn svg(&self) -> String {
        let lines = self.lines();
        let width = CELL * count(self.columns) + 2.0 * MARGIN;
        let height = TOP + HEIGHT * count(lines.len()) + MARGIN;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
             aria-labelledby=\"title words\">\n<title id=\"title\">A terminal: {}</title>\n<desc id=\"words\">",
            escaped(&plain(&self.screen.lines[0].text))
        );
        for line in &lines {
            let _ = writeln!(svg, "{}", escaped(&plain(&line.text)));
        }
        let _ = write!(
            svg,
            "</desc>\n<style>text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;\
             white-space:pre;fill:#c9d1d9}}.b{{font-weight:bold}}.d{{opacity:.65}}\
             .l{{animation:a .01s backwards}}.f{{opacity:0;animation:b 1s}}\
             @keyframes a{{from{{opacity:0}}}}@keyframes b{{from,to{{opacity:1}}}}\
             @media(prefers-reduced-motion:reduce){{.l,.f{{animation:none}}}}</style>\n\
             <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n\
             <circle cx=\"20\" cy=\"18\" r=\"6\" fill=\"#ff5f56\"/><circle cx=\"40\" cy=\"18\" r=\"6\" fill=\"#ffbd2e\"/>\
             <circle cx=\"60\" cy=\"18\" r=\"6\" fill=\"#27c93f\"/>\n"
        );
        for draft in self.drafts(lines.len()) {
            let (shown, until) = draft;
            let style =
                format!("class=\"f\" style=\"animation-delay:{:.2}s;animation-duration:{until:.2}s\"", shown.at);
            svg.push_str(&self.row(&shown.text, shown.row, &style));
        }
        for (row, line) in lines.iter().enumerate() {
            svg.push_str(&self.row(&line.text, row, &format!("class=\"l\" style=\"animation-delay:{:.2}s\"", line.at)));
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// The lines that are shown, each at its time.
    fn lines(&self) -> Vec<Shown> {
        let all = &self.screen.lines;
        let mut lines: Vec<Shown> = all.iter().take(self.first).cloned().collect();
        let left_out = all.len().saturating_sub(self.first + self.last);
        if left_out > 0 {
            let dim = Look { dim: true, ..Look::default() };
            let text = format!("⋯ {left_out} lines are left out here").chars().map(|c| (c, dim)).collect();
            lines.push(Shown { text, ..all[self.first].clone() });
        }
        lines.extend(all.iter().skip(self.first.max(all.len() - self.last)).cloned());
        let mut after = 0.0_f64;
        for line in &mut lines {
            line.at = line.at.max(after);
            after = line.at + PACE;
        }
        lines
    }

    /// The lines that are replaced, and the time for which each is shown.
    fn drafts(&self, rows: usize) -> Vec<(&Shown, f64)> {
        let mut chosen: Vec<&Shown> = Vec::new();
        for draft in self.screen.drafts.iter().filter(|draft| draft.row < rows.min(self.first)) {
            if chosen.last().is_none_or(|last| draft.at - last.at >= MIN_TIME || draft.row != last.row) {
                chosen.push(draft);
            }
        }
        let replaced = |draft: &Shown| self.screen.lines.get(draft.row).map_or(draft.at, |line| line.at);
        let until = |index: usize, draft: &Shown| {
            let next = chosen.get(index + 1).filter(|next| next.row == draft.row).map(|next| next.at);
            next.unwrap_or_else(|| replaced(draft)) - draft.at
        };
        chosen.iter().enumerate().map(|(index, draft)| (*draft, until(index, draft).max(0.05))).collect()
    }

    fn row(&self, text: &Row, row: usize, attributes: &str) -> String {
        let y = TOP + HEIGHT * count(row) + 14.0;
        let mut spans = String::new();
        let mut column = 0;
        for run in text[..text.len().min(self.columns)].chunk_by(|left, right| left.1 == right.1) {
            let (look, words) = (run[0].1, run.iter().map(|(c, _)| *c).collect::<String>());
            let x = MARGIN + CELL * count(column);
            column += run.len();
            if words.trim().is_empty() {
                continue;
            }
            let class = match (look.bold, look.dim) {
                (true, _) => " class=\"b\"",
                (false, true) => " class=\"d\"",
                (false, false) => "",
            };
            let fill = look.colour.and_then(|colour| COLOURS.get(usize::from(colour)));
            let fill = fill.map(|fill| format!(" style=\"fill:{fill}\"")).unwrap_or_default();
            let _ = write!(spans, "<tspan x=\"{x:.1}\"{class}{fill}>{}</tspan>", escaped(words.trim_end()));
        }
        if spans.is_empty() { spans } else { format!("<text y=\"{y:.0}\" {attributes}>{spans}</text>\n") }
    }
}

fn plain(row: &Row) -> String {
    row.iter().map(|(c, _)| *c).collect::<String>().trim_end().to_owned()
}

#[expect(clippy::cast_precision_loss, reason = "rows and columns are few")]
fn count(number: usize) -> f64 {
    number as f64
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_the_middle_are_left_out_and_counted() {
        let mut screen = Screen::new("run <it>", 40);
        let log = format!("Script started\n{}", "one\r\ntwo\r\nthree\r\nfour\r\n");
        screen.play(log.as_bytes(), "0.1 23\n").unwrap();
        let svg = Picture { columns: 40, first: 2, last: 1, screen: &screen }.svg();
        assert!(svg.contains("$ run &lt;it&gt;\none\n⋯ 2 lines are left out here\nfour\n</desc>"), "{svg}");
        assert_eq!(svg.matches("<text").count(), 4);
    }
}
