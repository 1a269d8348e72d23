//! Times, whose parts are those of UTC unless a zone is asked for.

use chrono::{DateTime, Datelike, FixedOffset, Timelike};
use kube_cel::cel::{Context, ExecutionError, FunctionContext, Value};

use super::super::format::date_time_for_rules;
use super::library::{Result, arguments, missing};
use super::value::timestamp;

const PARTS: [&str; 10] = [
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
];

pub(super) fn register(context: &mut Context<'_>) {
    context.add_function("timestamp", to_timestamp);
    for name in PARTS {
        context.add_function(name, part);
    }
}

fn to_timestamp(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    match arguments(ftx)?.as_slice() {
        [Value::Timestamp(time)] => Ok(Value::Timestamp(*time)),
        [Value::Int(seconds)] => DateTime::from_timestamp(*seconds, 0)
            .map(|time| Value::Timestamp(time.fixed_offset()))
            .ok_or_else(|| ftx.error("out of range")),
        [Value::String(text)] => {
            date_time_for_rules(text).and_then(timestamp).ok_or_else(|| ftx.error("not a time as of RFC 3339"))
        }
        _ => Err(missing(ftx)),
    }
}

fn part(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    let part = match arguments(ftx)?.as_slice() {
        [Value::Duration(duration)] => match ftx.name {
            "getHours" => duration.num_hours(),
            "getMinutes" => duration.num_minutes(),
            "getSeconds" => duration.num_seconds(),
            "getMilliseconds" => duration.num_milliseconds(),
            _ => return Err(missing(ftx)),
        },
        [Value::Timestamp(time)] => of_time(ftx.name, &time.to_utc().fixed_offset()),
        [Value::Timestamp(time), Value::String(zone)] => {
            // The zones by name are in a database that is not available.
            let zone = offset(zone).ok_or_else(|| ExecutionError::undeclared_reference("a time zone by name"))?;
            of_time(ftx.name, &time.with_timezone(&zone))
        }
        _ => return Err(missing(ftx)),
    };
    Ok(Value::Int(part))
}

fn of_time(name: &str, time: &DateTime<FixedOffset>) -> i64 {
    match name {
        "getDate" => time.day().into(),
        "getDayOfMonth" => time.day0().into(),
        "getDayOfWeek" => time.weekday().num_days_from_sunday().into(),
        "getDayOfYear" => time.ordinal0().into(),
        "getFullYear" => time.year().into(),
        "getHours" => time.hour().into(),
        "getMilliseconds" => time.timestamp_subsec_millis().into(),
        "getMinutes" => time.minute().into(),
        "getMonth" => time.month0().into(),
        _ => time.second().into(),
    }
}

fn offset(zone: &str) -> Option<FixedOffset> {
    if matches!(zone, "UTC" | "") {
        return FixedOffset::east_opt(0);
    }
    let (hours, minutes) = zone.split_once(':')?;
    let negative = hours.starts_with('-');
    let hours: i32 = hours.trim_start_matches(['+', '-']).parse().ok()?;
    let minutes: i32 = minutes.parse().ok()?;
    let seconds = hours.checked_mul(3600)?.checked_add(minutes.checked_mul(60)?)?;
    FixedOffset::east_opt(if negative { -seconds } else { seconds })
}
