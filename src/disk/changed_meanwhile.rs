//! The error of a write that another program has interfered with.

use std::fmt;

use model::ProjectPath;

/// Another program has changed a file or a folder while the command ran.
#[derive(Debug)]
pub struct ChangedMeanwhile(String);

impl ChangedMeanwhile {
    pub fn edited_file(path: &ProjectPath) -> anyhow::Error {
        Self(format!("{path} changed while the command ran")).into()
    }

    pub fn moved_folder(path: &str) -> anyhow::Error {
        let what = "was moved, replaced or removed while the command ran";
        Self(format!("the directory `{path}` {what}")).into()
    }
}

impl fmt::Display for ChangedMeanwhile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ChangedMeanwhile {}
