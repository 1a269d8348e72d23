//! Counts, and the table that shows them.

use std::collections::BTreeMap;

/// The counts of one CRD.
#[derive(Default)]
pub(crate) struct Row {
    pub(crate) made: usize,
    pub(crate) missing: usize,
    pub(crate) admitted: usize,
    pub(crate) statuses: usize,
    pub(crate) statuses_admitted: usize,
    pub(crate) negative: usize,
    pub(crate) refused: usize,
    pub(crate) meant: usize,
    /// Objects on which our validator and the server differ, with both messages.
    pub(crate) disagreements: Vec<String>,
    pub(crate) inconclusive: usize,
    /// Reasons why rules could not be decided.
    pub(crate) open: BTreeMap<String, usize>,
    /// Messages about objects that should have been admitted.
    pub(crate) messages: BTreeMap<String, usize>,
    /// Invalid objects that were admitted, or refused for an unintended reason.
    pub(crate) unintended: Vec<String>,
    pub(crate) leaves: usize,
    pub(crate) covered: usize,
    pub(crate) gaps: Vec<String>,
}

/// All counts.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) crds: BTreeMap<String, Row>,
    /// CRDs that the server or the generator refuses, and why.
    pub(crate) refused: BTreeMap<String, String>,
}

#[expect(clippy::cast_precision_loss, reason = "counts of objects")]
fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 100.0 } else { 100.0 * part as f64 / whole as f64 }
}

impl Table {
    pub(crate) fn print(&self) {
        let sum = |count: fn(&Row) -> usize| self.crds.values().map(count).sum::<usize>();
        let (made, admitted) = (sum(|row| row.made), sum(|row| row.admitted));
        let (statuses, well) = (sum(|row| row.statuses), sum(|row| row.statuses_admitted));
        let (negative, refused, meant) = (sum(|row| row.negative), sum(|row| row.refused), sum(|row| row.meant));
        let (leaves, covered) = (sum(|row| row.leaves), sum(|row| row.covered));
        println!("{} CRDs", self.crds.len());
        println!("admitted   {admitted} of {made}, {:.3} %", percent(admitted, made));
        println!("statuses   {well} of {statuses}, {:.3} %", percent(well, statuses));
        println!(
            "refused    {refused} of {negative}, {:.3} %; as meant {meant}, {:.3} %",
            percent(refused, negative),
            percent(meant, negative)
        );
        println!("coverage   {covered} of {leaves} leaves, {:.3} %", percent(covered, leaves));
        println!(
            "differing  {} objects, {} inconclusive",
            sum(|row| row.disagreements.len()),
            sum(|row| row.inconclusive)
        );
        println!("not made   {}", sum(|row| row.missing));
        for (name, why) in &self.refused {
            println!("CRD refused: {name}: {why}");
        }
        for (name, row) in &self.crds {
            let share = percent(row.admitted + row.statuses_admitted, row.made + row.statuses);
            if share < 100.0 || row.missing > 0 {
                println!("{name}: {share:.2} % of {}, {} not made", row.made + row.statuses, row.missing);
                for (message, count) in row.messages.iter().take(8) {
                    println!("    {count} × {}", message.chars().take(400).collect::<String>());
                }
            }
            for (why, count) in row.open.iter().take(4) {
                println!("{name}: inconclusive {count} ×: {why}");
            }
            for gap in row.gaps.iter().take(12) {
                println!("{name}: not covered: {gap}");
            }
            for line in row.unintended.iter().take(4) {
                println!("{name}: not as meant: {line}");
            }
            for line in row.disagreements.iter().take(4) {
                println!("{name}: differing: {line}");
            }
        }
    }
}
