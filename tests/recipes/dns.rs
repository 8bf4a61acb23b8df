//! A DNS provider in memory.

use crate::Result;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// The records, by id. Clones have the same ones.
#[derive(Clone, Debug, Default)]
pub struct Dns(Arc<Mutex<BTreeMap<String, Vec<String>>>>);

impl Dns {
    /// Replaces the records with this id.
    pub async fn put(&self, id: &str, domains: &[String]) -> Result<()> {
        self.0.lock().unwrap().insert(id.into(), domains.to_vec());
        Ok(())
    }

    /// Removes the records with this id, if there are any.
    pub async fn remove(&self, id: &str) -> Result<()> {
        self.0.lock().unwrap().remove(id);
        Ok(())
    }

    /// All records.
    pub fn all(&self) -> BTreeMap<String, Vec<String>> {
        self.0.lock().unwrap().clone()
    }
}
