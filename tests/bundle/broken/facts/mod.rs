//! Values that a validator has an opinion of, by the place where it looks.

mod crd;
mod csv;
mod dependencies;
mod details;
mod metadata;

use serde_json::{Value, json};

pub type Fact = (&'static str, &'static str, Vec<Value>);

pub fn facts() -> Vec<Fact> {
    [csv::csv(), details::details(), crd::crd(), metadata::metadata(), dependencies::dependencies()]
        .concat()
}

fn texts(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|it| json!(it)).collect()
}
