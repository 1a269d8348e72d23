//! Builds operators from declarations whose versions and paths were checked before.

use serde_json::Value;

use super::super::codec::{Codec, Side, Table, Template, TemplateFault, Text, Units, Wrapped};
use super::super::mapping::{Mapping, Set, WholeStash};
use super::super::model::{Computed, FieldMap, Fixed, Gather, Move, Otherwise, Split, UnitChange, ValueTable};
use super::super::operator::{Gathered, List, Operator, Place, Transfer};
use super::super::path::FieldPath;
use super::super::stash::Kept;
use super::Problem;
use crdproof_schema::structural::{Expression, Schema};

pub(super) fn build<'a>(map: &'a FieldMap, schemas: [Option<&'a Schema>; 2]) -> Result<Mapping<'a>, Problem> {
    let builder = Builder { map, schemas };
    let [first, second] = &map.between;
    Ok(Mapping {
        between: [first, second],
        schemas,
        operators: builder.operators()?,
        defaults: builder.defaults()?,
        differences: builder.differences()?,
    })
}

struct Builder<'a> {
    map: &'a FieldMap,
    schemas: [Option<&'a Schema>; 2],
}

impl Builder<'_> {
    fn operators(&self) -> Result<Vec<Operator>, Problem> {
        let map = self.map;
        let mut built = Vec::new();
        for (index, paths) in map.rename.iter().enumerate() {
            built.push(self.transfer(&format!("/rename/{index}"), paths, Codec::Same, &Otherwise::Refuse)?);
        }
        for (index, table) in map.values.iter().enumerate() {
            let pointer = format!("/values/{index}");
            let codec = Codec::Table(self.table(&pointer, table)?);
            built.push(self.transfer(&pointer, &table.paths, codec, &table.otherwise)?);
        }
        for (index, split) in map.split.iter().enumerate() {
            built.push(self.split(&format!("/split/{index}"), split)?);
        }
        for (index, wrap) in map.wrap.iter().enumerate() {
            let pointer = format!("/wrap/{index}");
            let codec = Codec::Wrapped(Wrapped { list: self.side(&pointer, &wrap.list)? });
            built.push(self.transfer(&pointer, &wrap.paths, codec, &wrap.otherwise)?);
        }
        for (index, change) in map.units.iter().enumerate() {
            let pointer = format!("/units/{index}");
            let codec = Codec::Units(self.units(&pointer, change)?);
            built.push(self.transfer(&pointer, &change.paths, codec, &change.otherwise)?);
        }
        for (index, stringify) in map.stringify.iter().enumerate() {
            let pointer = format!("/stringify/{index}");
            let text = self.side(&pointer, &stringify.text)?;
            let codec = Codec::Text(Text { text, format: stringify.format });
            built.push(self.transfer(&pointer, &stringify.paths, codec, &stringify.otherwise)?);
        }
        for (index, gather) in map.gather.iter().enumerate() {
            built.push(self.gather(&format!("/gather/{index}"), gather)?);
        }
        for (index, compute) in map.compute.iter().enumerate() {
            let side = |side: Side| {
                let version = &map.between[side.index()];
                let pointer = format!("/compute/{index}/{version}");
                compute.get(version).map_or_else(|| Err(missing(&pointer)), |computed| computed_by(&pointer, computed))
            };
            built.push(Operator::Compute(Box::new([side(Side::First)?, side(Side::Second)?])));
        }
        for (index, constant) in map.constant.iter().enumerate() {
            let Set { side, path, value } = self.fixed(&format!("/constant/{index}"), constant)?;
            built.push(Operator::Constant { side, path, value });
        }
        for (index, stash) in map.stash.iter().enumerate().filter(|(_, stash)| !stash.is_whole()) {
            let pointer = format!("/stash/{index}");
            let (side, path) = (self.side(&pointer, &stash.from)?, path(&pointer, &stash.path)?);
            let schema = self.schemas[side.index()];
            built.push(Operator::Stash(Kept::new(side, path, stash.annotation.clone(), schema)));
        }
        for (index, loss) in map.lost.iter().enumerate() {
            let pointer = format!("/lost/{index}");
            built.push(Operator::Lost { side: self.side(&pointer, &loss.from)?, path: path(&pointer, &loss.path)? });
        }
        Ok(built)
    }

    fn defaults(&self) -> Result<Vec<Set>, Problem> {
        let defaults = self.map.default.iter().enumerate();
        defaults.map(|(index, fixed)| self.fixed(&format!("/default/{index}"), fixed)).collect()
    }

    fn differences(&self) -> Result<Vec<WholeStash>, Problem> {
        let stashes = self.map.stash.iter().enumerate().filter(|(_, stash)| stash.is_whole());
        let stashes = stashes.map(|(index, stash)| {
            let from = self.side(&format!("/stash/{index}"), &stash.from)?;
            Ok(WholeStash { from, annotation: stash.annotation.clone() })
        });
        stashes.collect()
    }

    fn side(&self, pointer: &str, version: &str) -> Result<Side, Problem> {
        self.map.side(version).ok_or_else(|| missing(pointer))
    }

    fn transfer(&self, pointer: &str, paths: &Move, codec: Codec, otherwise: &Otherwise) -> Result<Operator, Problem> {
        let place = |side: Side| {
            let written = paths.get(&self.map.between[side.index()]).ok_or_else(|| missing(pointer))?;
            path(pointer, written).map(Place::One)
        };
        let places = [place(Side::First)?, place(Side::Second)?];
        Ok(Operator::Transfer(Box::new(Transfer { places, codec, otherwise: otherwise.clone() })))
    }

    fn table(&self, pointer: &str, table: &ValueTable) -> Result<Table, Problem> {
        let value = |row: &std::collections::BTreeMap<String, Value>, side: Side| {
            row.get(&self.map.between[side.index()]).cloned().ok_or_else(|| missing(pointer))
        };
        let rows = table.table.iter().map(|row| Ok([value(row, Side::First)?, value(row, Side::Second)?]));
        let rows: Vec<[Value; 2]> = rows.collect::<Result<_, Problem>>()?;
        if rows.is_empty() {
            return Err(Problem::new(format!("{pointer}/table"), "the table is empty", "add rows, or use `rename`"));
        }
        Table::new(rows, table.otherwise == Otherwise::Accept).map_err(|(row, side)| {
            let version = &self.map.between[side.index()];
            let message = format!("another row has this value of {version} already, so there is no way back");
            let help = "make the table one-to-one; `compute` can express other relations";
            Problem::new(format!("{pointer}/table/{row}/{version}"), message, help)
        })
    }

    fn split(&self, pointer: &str, split: &Split) -> Result<Operator, Problem> {
        let whole = self.side(pointer, &split.version)?;
        let template = Template::new(&split.template, whole, &split.parts).map_err(|fault| match fault {
            TemplateFault::Template(message) => {
                let help = "separate the parts by text that they cannot hold, or give them patterns";
                Problem::new(format!("{pointer}/template"), message, help)
            }
            TemplateFault::Part(name, message) => {
                Problem::new(format!("{pointer}/parts/{name}"), message, "use it in the template, or remove it")
            }
            TemplateFault::Pattern(name, message) => {
                let help = "write a regular expression in the syntax of Go";
                Problem::new(format!("{pointer}/parts/{name}/pattern"), message, help)
            }
        })?;
        let parts = split.parts.iter().map(|(name, part)| Ok((name.clone(), path(pointer, &part.path)?)));
        let one = Place::One(path(pointer, &split.path)?);
        let parts = Place::Parts(parts.collect::<Result<_, Problem>>()?);
        let places = if whole == Side::First { [one, parts] } else { [parts, one] };
        let transfer = Transfer { places, codec: Codec::Template(template), otherwise: split.otherwise.clone() };
        Ok(Operator::Transfer(Box::new(transfer)))
    }

    fn units(&self, pointer: &str, change: &UnitChange) -> Result<Units, Problem> {
        let unit = |side: Side| change.units.get(&self.map.between[side.index()]).copied();
        let (Some(first), Some(second)) = (unit(Side::First), unit(Side::Second)) else {
            return Err(missing(pointer));
        };
        Units::new([first, second]).ok_or_else(|| {
            let message = "one unit is of time, the other of size";
            Problem::new(format!("{pointer}/units"), message, "name two units of the same kind")
        })
    }

    /// Without a stash of the difference, items could not return to the other lists.
    fn gather(&self, pointer: &str, gather: &Gather) -> Result<Operator, Problem> {
        let several = self.side(pointer, &gather.version)?;
        let into = path(pointer, &gather.into)?;
        let lists = gather.lists.iter().map(|list| {
            let path = path(pointer, &list.path)?;
            Ok(List { path, under: list.under.clone(), stringify: list.stringify.clone() })
        });
        let lists: Vec<List> = lists.collect::<Result<_, Problem>>()?;
        if lists.is_empty() {
            return Err(Problem::new(format!("{pointer}/lists"), "there is nothing to gather", "name the lists"));
        }
        if into.each_count() > 0 || lists.iter().any(|list| list.path.each_count() > 0) {
            return Err(Problem::new(pointer, "lists inside of lists cannot be gathered", "leave [*] off"));
        }
        let other = self.map.opposite(&gather.version);
        let kept = self.map.stash.iter().any(|stash| stash.is_whole() && stash.from == gather.version);
        if !kept {
            let message = format!("on the way back from {other} nobody knows which list an item came from");
            let help = format!("add a stash {{from: {}, to: {other}, path: ., annotation: …}}", gather.version);
            return Err(Problem::new(pointer, message, help));
        }
        Ok(Operator::Gather(Gathered { several, lists, into }))
    }

    fn fixed(&self, pointer: &str, fixed: &Fixed) -> Result<Set, Problem> {
        let path = path(pointer, &fixed.path)?;
        if path.ends_with_each() {
            let message = "a value is set in a field, not in the items of a list";
            return Err(Problem::new(format!("{pointer}/path"), message, "leave the last [*] off"));
        }
        Ok(Set { side: self.side(pointer, &fixed.version)?, path, value: fixed.value.clone() })
    }
}

fn computed_by(pointer: &str, computed: &Computed) -> Result<(FieldPath, Expression), Problem> {
    let path = path(pointer, &computed.path)?;
    if path.each_count() > 0 {
        let message = "an expression computes one field, not the items of a list";
        return Err(Problem::new(format!("{pointer}/path"), message, "compute the whole list, with map()"));
    }
    let expression = Expression::compile(&computed.expression).map_err(|why| {
        let help = "write an expression in CEL over self, the whole object of the other version";
        Problem::new(format!("{pointer}/expression"), format!("the expression cannot be used: {why}"), help)
    })?;
    Ok((path, expression))
}

fn path(pointer: &str, text: &str) -> Result<FieldPath, Problem> {
    FieldPath::parse(text).ok_or_else(|| missing(pointer))
}

/// A problem that earlier checks exclude; returned so that nothing panics.
fn missing(pointer: &str) -> Problem {
    Problem::new(pointer, "this operator is not complete", "compare it with the examples in docs/field-maps.md")
}
