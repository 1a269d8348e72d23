//! Acting: producing evidence, without judging it.

pub mod conversions;
pub mod scenarios;
mod stop;
pub mod wire;

pub use stop::Stop;
