//! Prints the CRDs of the cargo workspace in a folder: `cargo run --example folder -- PATH`.
//!
//! Types of packages from a registry are refused here: `Sources::package_folder` would say where those are.

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::print_stderr)]

use std::{env, fs, io, path::PathBuf, process::ExitCode, rc::Rc};

use kube_crd_source::{Options, SourcePath, Sources, read};

struct Folder(PathBuf);

impl Sources for Folder {
    fn text(&self, path: &SourcePath) -> anyhow::Result<Option<Rc<str>>> {
        match fs::read_to_string(self.0.join(path.as_str())) {
            Ok(text) => Ok(Some(text.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn is_file(&self, path: &SourcePath) -> bool {
        self.0.join(path.as_str()).is_file()
    }

    fn names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        let path = self.0.join(folder);
        if !path.is_dir() {
            return Ok(Vec::new());
        }
        let mut res = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let end = if entry.path().is_dir() { "/" } else { "" };
            res.push(format!("{}{end}", entry.file_name().to_string_lossy()));
        }
        res.sort();
        Ok(res)
    }
}

fn main() -> ExitCode {
    let folder = Folder(env::args_os().nth(1).map_or_else(|| ".".into(), PathBuf::from));
    let reading = read(&folder, &Options::default());
    reading.unexplored.iter().for_each(|it| eprintln!("{}", it.describe("")));
    let mut code = ExitCode::SUCCESS;
    for kind in reading.kinds {
        match kind.crd {
            Ok(crd) => println!("{}", serde_json::json!(crd)),
            Err(problems) => {
                code = ExitCode::FAILURE;
                problems.iter().for_each(|it| eprintln!("{}", it.describe("")));
            }
        }
    }
    code
}
