//! Sizes and costs as the estimator of API servers computes them.

/// The cost of looking at one character.
pub(super) const TRAVERSAL: f64 = 0.1;
/// The cost of one character of a pattern.
pub(super) const PATTERN: f64 = 0.25;

/// Bounds of the number of characters, items or entries of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Size {
    /// The estimate for a value without known bounds.
    pub(super) const UNKNOWN: Self = Self { min: 0, max: u64::MAX };

    pub(super) fn exactly(size: usize) -> Self {
        let size = u64::try_from(size).unwrap_or(u64::MAX);
        Self { min: size, max: size }
    }

    pub(super) fn up_to(max: u64) -> Self {
        Self { min: 0, max }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

/// Multiplies by a factor and rounds up.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "servers compute in floating point, too, and casts of floating point numbers saturate"
)]
pub(super) fn scaled(units: u64, factor: f64) -> u64 {
    (units as f64 * factor).ceil() as u64
}
