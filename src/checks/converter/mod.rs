//! The converter as a function.
