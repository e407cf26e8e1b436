//! The toile command.
fn main() {}
