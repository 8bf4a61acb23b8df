//! What a compiled crate answered, kept under the target folder until something that went in changes.
//!
//! A clone may bring a target folder along. So an answer is believed only where a digest of it is in the folder of
//! state that this user has outside of any project; nothing is kept where there is no such folder.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{inputs::Inputs, state, subject::Subject};
use crate::{
    disk::{self, Root},
    terminal,
};

/// A kind of a compiled crate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compiled {
    /// The path of its struct from the crate's root, where it is defined.
    pub path: Vec<String>,
    /// What `crd()` returned, or kube's panic.
    pub crd: Result<Value, String>,
}

/// Every kind of a crate, and what went into the compilation.
#[derive(Serialize, Deserialize)]
pub struct Answer {
    pub kinds: Vec<Compiled>,
    pub inputs: Inputs,
}

/// The file, in the folder of the throwaway program.
const FILE: &str = "answer.json";

impl Answer {
    /// The kinds, where the answer is ours and everything that went in is the same now.
    pub fn read(subject: &Subject, workshop: &Path) -> Option<Vec<Compiled>> {
        let path = workshop.join(FILE);
        let expected = disk::bytes(&digest_file(&path)?).ok()?;
        let text = disk::bytes(&path).ok()?;
        if disk::digest(&text).as_bytes() != expected.trim_ascii() {
            return None;
        }
        let answer: Self = serde_json::from_slice(&text).ok()?;
        answer.inputs.is_current(subject).then_some(answer.kinds)
    }

    /// Keeps it for the next run. Where that fails, the next run only compiles again.
    pub fn keep(&self, subject: &Subject, workshop: &Root) {
        if !self.inputs.is_known() {
            return;
        }
        let path = workshop.real().join(FILE);
        let Some(digest_file) = digest_file(&path) else { return };
        let keep = || -> anyhow::Result<()> {
            let text = serde_json::to_string(self)?;
            disk::leave(workshop, FILE, &text)?;
            disk::keep(&digest_file, &disk::digest(text.as_bytes()))
        };
        if let Err(error) = keep() {
            terminal::warn(format!(
                "the CRDs of `{}` are not cached, and compiled again the next time: {error:#}",
                subject.krate
            ));
        }
    }
}

/// Where the digest of an answer is kept.
fn digest_file(answer: &Path) -> Option<PathBuf> {
    let name = disk::digest(answer.as_os_str().as_encoded_bytes());
    Some(state::folder()?.join("answers").join(name))
}
