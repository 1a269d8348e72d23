//! Acting: producing evidence, without opinions about it.

pub mod conversions;
pub mod scenarios;
mod stop;
pub mod wire;

pub use stop::Stop;
