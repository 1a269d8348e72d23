//! Acting: producing evidence, without opinions about it.

pub mod conversions;
pub mod scenarios;
pub mod wire;
