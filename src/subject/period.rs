//! Durations in the subject file and on the command line.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A duration: numbers with units, such as `50ms`, `1.5s` or `1h30m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(into = "String")]
#[schemars(with = "String", extend("pattern" = r"^(\d+(\.\d+)?(us|ms|s|m|h))+$"))]
pub struct Period(pub Duration);

/// An error for a text that is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a length of time; write a number and a unit, such as 50ms, 1.5s or 2m")]
pub struct PeriodError(String);

/// The maximum, 30 days. A longer time is a mistaken unit.
const MAX_PERIOD: Duration = Duration::from_secs(30 * 24 * 60 * 60);

impl FromStr for Period {
    type Err = PeriodError;

    fn from_str(text: &str) -> Result<Self, PeriodError> {
        let error = || PeriodError(text.to_owned());
        let time: SignedDuration = text.parse().map_err(|_| error())?;
        let time = Duration::try_from(time).map_err(|_| error())?;
        if time > MAX_PERIOD { Err(error()) } else { Ok(Self(time)) }
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.as_micros();
        match micros {
            _ if !micros.is_multiple_of(1000) => write!(f, "{micros}us"),
            _ if !micros.is_multiple_of(1_000_000) || micros == 0 => write!(f, "{}ms", micros / 1000),
            _ => write!(f, "{}s", micros / 1_000_000),
        }
    }
}

/// Implemented by hand, so that an error has the location of the text itself.
impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = Period;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a length of time, such as 50ms")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Period, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Text)
    }
}

impl From<Period> for String {
    fn from(period: Period) -> Self {
        period.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        for (text, micros, written) in [
            ("50ms", 50_000, "50ms"),
            ("1.5s", 1_500_000, "1500ms"),
            ("2m", 120_000_000, "120s"),
            ("7us", 7, "7us"),
            ("0s", 0, "0ms"),
            ("1h30m", 5_400_000_000, "5400s"),
            ("90 s", 90_000_000, "90s"),
            ("5 minutes", 300_000_000, "300s"),
        ] {
            let period: Period = text.parse().unwrap();
            assert_eq!(period.0, Duration::from_micros(micros), "{text}");
            assert_eq!(period.to_string(), written);
        }
    }

    #[test]
    fn texts_that_are_not_durations_are_refused() {
        for text in ["", "50", "ms", "-1s", "1..2s", "1m2h", "721h", "99999999999999m", "NaNs", "１s", "soon"] {
            let error = text.parse::<Period>().unwrap_err();
            assert!(error.to_string().contains("write a number and a unit"), "{text}");
        }
    }
}
