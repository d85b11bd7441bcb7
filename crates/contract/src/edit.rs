//! Located structural edits between two schemas: the only walk over schema pairs.
