//! Bad input: each has its line, and none takes long.
