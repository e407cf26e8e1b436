//! Exact checker.
