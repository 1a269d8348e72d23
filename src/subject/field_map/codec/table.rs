//! Values with other names in the other version.

use serde_json::Value;

use super::{Said, Side, brief};

/// Rows of values, one-to-one.
#[derive(Debug)]
pub(in crate::subject::field_map) struct Table {
    rows: Vec<[Value; 2]>,
    /// True if values that are in no row stay unchanged.
    keeps_others: bool,
}

impl Table {
    /// `Err` holds the row and the side of a value that is also in an earlier row.
    pub(in crate::subject::field_map) fn new(rows: Vec<[Value; 2]>, keeps_others: bool) -> Result<Self, (usize, Side)> {
        for (index, row) in rows.iter().enumerate() {
            for side in Side::BOTH {
                let column = side.index();
                if rows[..index].iter().any(|earlier| earlier[column] == row[column]) {
                    return Err((index, side));
                }
            }
        }
        Ok(Self { rows, keeps_others })
    }

    pub(super) fn say(&self, from: Side, value: &Value) -> Said {
        let (own, other) = (from.index(), from.other().index());
        if let Some(row) = self.rows.iter().find(|row| row[own] == *value) {
            return Said::exactly(row[other].clone());
        }
        // A null stays null unless a row says otherwise.
        if !self.keeps_others && !value.is_null() {
            return Said::not_quite(None, format!("{} is not in the table", brief(value)));
        }
        match self.rows.iter().find(|row| row[other] == *value) {
            None => Said::exactly(value.clone()),
            Some(row) => {
                let why = format!("{} would come back as {}", brief(value), brief(&row[own]));
                Said::not_quite(None, why)
            }
        }
    }
}
