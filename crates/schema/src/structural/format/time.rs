//! Dates, times and durations.

use std::sync::LazyLock;

use regex::Regex;

/// A point in time: seconds since 1970 and the nanoseconds beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::structural) struct Moment {
    /// Seconds since the start of 1970, UTC.
    pub(in crate::structural) seconds: i64,
    /// Nanoseconds of the second.
    pub(in crate::structural) nanos: u32,
    /// Seconds east of UTC.
    pub(in crate::structural) offset: i32,
}

pub(super) fn is_date(text: &str) -> bool {
    date(text).is_some()
}

/// Midnight of a date written `2006-01-02`.
pub(in crate::structural) fn date(text: &str) -> Option<Moment> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let (year, month, day) = (number(&text[..4])?, number(&text[5..7])?, number(&text[8..])?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    (1..=days).contains(&day).then(|| Moment {
        seconds: days_from_epoch(year, month, day) * 86_400,
        nanos: 0,
        offset: 0,
    })
}

/// Days since 1970 in the Gregorian calendar, extended back to year 0. Years start in March here, so that the leap day
/// is the last one.
fn days_from_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn number(digits: &str) -> Option<i64> {
    let valid = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if valid { digits.parse().ok() } else { None }
}

/// A date, `T` and a time with a zone. The character before the fraction and the numbers of the zone may be any.
pub(super) fn is_date_time(text: &str) -> bool {
    date_time(text).is_some()
}

/// A date, `T` and a time with a zone, as a point in time.
pub(in crate::structural) fn date_time(text: &str) -> Option<Moment> {
    let text = text.to_lowercase();
    let mut parts = text.split('t');
    let day = date(parts.next()?)?;
    let time = parts.next()?;
    let clock = time.get(..8)?;
    let rest = &time[8..];
    let bytes = clock.as_bytes();
    if bytes[2] != b':' || bytes[5] != b':' {
        return None;
    }
    let (hour, minute, second) = (number(&clock[..2])?, number(&clock[3..5])?, number(&clock[6..])?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let (fraction, zone) = split_zone(rest)?;
    let offset = zone_offset(zone)?;
    Some(Moment {
        seconds: day.seconds + hour * 3600 + minute * 60 + second - i64::from(offset),
        nanos: nanos(fraction)?,
        offset,
    })
}

/// Reads a date-time as rules do, more strictly: no lower case, no fraction after any character except a dot or a
/// comma, no zones beyond a day.
pub(in crate::structural) fn date_time_for_rules(text: &str) -> Option<Moment> {
    let moment = date_time(text)?;
    let upper = !text.contains(['t', 'z']);
    let fraction = text.get(19..20).is_some_and(|c| matches!(c, "." | "," | "Z" | "+" | "-"));
    (upper && fraction && moment.offset.abs() < 86_400).then_some(moment)
}

fn split_zone(text: &str) -> Option<(&str, &str)> {
    if let Some(fraction) = text.strip_suffix('z') {
        return Some((fraction, "z"));
    }
    let at = text.len().checked_sub(6)?;
    Some((text.get(..at)?, text.get(at..)?))
}

fn zone_offset(zone: &str) -> Option<i32> {
    if zone == "z" {
        return Some(0);
    }
    let bytes = zone.as_bytes();
    let sign = match bytes.first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let valid = bytes.len() == 6 && bytes[3] == b':';
    let seconds = number(zone.get(1..3)?)? * 3600 + number(zone.get(4..)?)? * 60;
    i32::try_from(sign * seconds).ok().filter(|_| valid)
}

/// Empty, or any character and digits.
fn nanos(fraction: &str) -> Option<u32> {
    let mut chars = fraction.chars();
    if chars.next().is_none() {
        return Some(0);
    }
    let digits = chars.as_str();
    number(digits.get(..digits.len().min(9))?)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    format!("{digits:0<9}")[..9].parse().ok()
}

pub(super) fn is_duration(text: &str) -> bool {
    duration(text).is_some()
}

/// Nanoseconds of a duration: as Go writes it, or in words such as "3 days". In words, everything
/// around a number with a unit is skipped, and a sum beyond 64 bits wraps.
pub(in crate::structural) fn duration(text: &str) -> Option<i64> {
    go_duration(text).or_else(|| worded_duration(text))
}

/// Nanoseconds of a duration as Go writes it.
pub(in crate::structural) fn go_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let (amount, after) = rest.split_at(end);
        let unit_end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, next) = after.split_at(unit_end);
        total = total.checked_add(amount_of(amount, go_unit(unit)?)?)?;
        rest = next;
    }
    if negative { 0_i64.checked_sub_unsigned(total) } else { i64::try_from(total).ok() }
}

fn amount_of(amount: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
    let fraction: f64 = format!("0.{fraction}0").parse().ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a fraction of a unit, which is at most an hour"
    )]
    let nanos = (fraction * unit as f64) as u64;
    whole.checked_mul(unit)?.checked_add(nanos)
}

fn go_unit(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60 * 1_000_000_000,
        "h" => 3600 * 1_000_000_000,
        _ => return None,
    })
}

static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)").ok());

/// Units by their spellings; a word that starts with the last spelling names the unit too.
const UNITS: [(&[&str], i64); 8] = [
    (&["ns", "nano"], 1),
    (&["us", "µs", "micro"], 1_000),
    (&["ms", "milli"], 1_000_000),
    (&["s", "sec"], 1_000_000_000),
    (&["m", "min"], 60 * 1_000_000_000),
    (&["h", "hr", "hour"], 3600 * 1_000_000_000),
    (&["d", "day"], 86_400 * 1_000_000_000),
    (&["w", "wk", "week"], 7 * 86_400 * 1_000_000_000),
];

fn worded_duration(text: &str) -> Option<i64> {
    let mut total = None;
    for captures in WORDS.as_ref()?.captures_iter(text) {
        let factor: i64 = captures[1].parse().ok()?;
        let word = captures[2].to_lowercase();
        for (spellings, unit) in UNITS {
            let named =
                spellings.contains(&word.as_str()) || spellings.last().is_some_and(|last| word.starts_with(last));
            if named {
                let sum: i64 = total.unwrap_or(0);
                total = Some(sum.wrapping_add(factor.wrapping_mul(unit)));
            }
        }
    }
    total
}
