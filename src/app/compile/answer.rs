//! The CRDs of a compiled crate, cached in the target folder until one of their inputs changes.
//!
//! A clone may contain a target folder. So an answer is used only if its digest is in the user's state folder, which is
//! outside of any project; without such a folder, nothing is cached.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{crate_build::CrateBuild, inputs::CompileInputs};
use crate::{
    app::environment::home,
    disk::{self, Root},
    terminal,
};

/// A kind of a compiled crate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompiledKind {
    /// The path of its struct from the crate's root.
    pub path: Vec<String>,
    /// The CRD that `crd()` returned, or the message of kube's panic.
    pub crd: Result<Value, String>,
}

/// Every kind of a crate, and the inputs of the compilation.
#[derive(Serialize, Deserialize)]
pub struct CachedCrds {
    pub kinds: Vec<CompiledKind>,
    pub inputs: CompileInputs,
}

/// The file, in the folder of the throwaway program.
const FILE: &str = "answer.json";

impl CachedCrds {
    /// Returns the kinds, if the answer is ours and no input has changed.
    pub fn read(build: &CrateBuild, build_dir: &Path) -> Option<Vec<CompiledKind>> {
        let path = build_dir.join(FILE);
        let expected = disk::read_program_output(&digest_file(build, &path)?).ok()?;
        let text = disk::read_program_output(&path).ok()?;
        if disk::sha256_hex(&text).as_bytes() != expected.trim_ascii() {
            return None;
        }
        let answer: Self = serde_json::from_slice(&text).ok()?;
        answer.inputs.is_current(build).then_some(answer.kinds)
    }

    /// Stores it for the next run. If that fails, the next run compiles again.
    pub fn keep(&self, build: &CrateBuild, build_dir: &Root) {
        if !self.inputs.is_known() {
            return;
        }
        let path = build_dir.resolved_path().join(FILE);
        let Some(digest_file) = digest_file(build, &path) else { return };
        let keep = || -> anyhow::Result<()> {
            let text = serde_json::to_string(self)?;
            disk::add_file(build_dir, FILE, &text)?;
            disk::write_private_file(&digest_file, &disk::sha256_hex(text.as_bytes()))
        };
        if let Err(error) = keep() {
            terminal::warn(format!(
                "the CRDs of `{}` cannot be cached and will be compiled again next time: {error:#}",
                build.krate
            ));
        }
    }
}

/// Returns the file with the digest of an answer.
fn digest_file(build: &CrateBuild, answer: &Path) -> Option<PathBuf> {
    let name = disk::sha256_hex(answer.as_os_str().as_encoded_bytes());
    home::state(&build.top, &format!("answers/{name}"))
}
