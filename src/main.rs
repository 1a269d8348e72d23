//! crdproof
fn main() {}
