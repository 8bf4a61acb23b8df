//! What a command does with its result: where it works, what it writes or prints, how long it may take.

pub mod location;
pub mod outcome;
pub mod outputs;
pub mod refusal;
pub mod repository;
pub mod stdout;
pub mod time_limit;
