//! An old state of the CRDs against a new one.
