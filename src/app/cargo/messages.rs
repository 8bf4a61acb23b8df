//! The messages that cargo prints with `--message-format=json`, as far as they are needed.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// A compiled target of one package.
#[derive(Debug, PartialEq)]
pub struct Artifact {
    /// Cargo's name for the package: `registry+…#kube-core@5.0.0`, `path+file:///…#0.1.0`.
    pub package: String,
    /// The folder of the package's Cargo.toml.
    pub folder: PathBuf,
    /// The name of the target.
    pub name: String,
    pub files: Vec<PathBuf>,
    /// The program, if it is one.
    pub executable: Option<PathBuf>,
}

/// The targets that cargo has built or found fresh.
#[derive(Debug, Default, PartialEq)]
pub struct Built {
    pub artifacts: Vec<Artifact>,
    pub build_scripts: Vec<BuildScript>,
}

/// A build script that was run.
#[derive(Debug, PartialEq)]
pub struct BuildScript {
    pub package: String,
    /// The file with its output.
    pub output: PathBuf,
}

impl Artifact {
    /// Returns whether the package is neither from a registry nor from a git repository.
    pub fn is_local(&self) -> bool {
        self.package.starts_with("path+") || self.package.contains("(path+")
    }

    /// Returns the package's version, in either format of cargo: `…#name@1.0.0` and `name 1.0.0 (…)`.
    pub fn version(&self) -> &str {
        if let Some((_, tail)) = self.package.rsplit_once('#')
            && !self.package.contains(' ')
        {
            return tail.rsplit_once('@').map_or(tail, |(_, version)| version);
        }
        self.package.split(' ').nth(1).unwrap_or_default()
    }

    /// Returns whether it is code for this platform, not for the machine that compiles.
    pub fn is_for(&self, triple: &str) -> bool {
        self.files
            .iter()
            .any(|file| file.components().any(|component| component.as_os_str() == triple))
    }

    /// Returns the compiled library.
    pub fn library(&self) -> Option<&Path> {
        let mut files = self.files.iter();
        files
            .find(|file| file.extension().is_some_and(|extension| extension == "rlib"))
            .map(PathBuf::as_path)
    }
}

impl Built {
    /// Returns a compiled target of the package of a build script: at least the script itself.
    pub fn package_of(&self, script: &BuildScript) -> Option<&Artifact> {
        self.artifacts.iter().find(|artifact| artifact.package == script.package)
    }

    pub fn read(output: &str) -> Self {
        let mut built = Self::default();
        let lines = output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        for message in lines {
            let text = |at: &str| message.pointer(at).and_then(Value::as_str).unwrap_or_default();
            match text("/reason") {
                "compiler-artifact" => {
                    let files = message.get("filenames").and_then(Value::as_array);
                    let files = files.into_iter().flatten().filter_map(Value::as_str);
                    let folder = Path::new(text("/manifest_path")).parent();
                    built.artifacts.push(Artifact {
                        package: text("/package_id").to_owned(),
                        folder: folder.unwrap_or(Path::new("")).to_owned(),
                        name: text("/target/name").to_owned(),
                        files: files.map(PathBuf::from).collect(),
                        executable: Some(text("/executable"))
                            .filter(|path| !path.is_empty())
                            .map(PathBuf::from),
                    });
                }
                "build-script-executed" => built.build_scripts.push(BuildScript {
                    package: text("/package_id").to_owned(),
                    output: Path::new(text("/out_dir")).with_file_name("output"),
                }),
                _ => {}
            }
        }
        built
    }
}

/// Returns the errors among the messages, as the compiler renders them.
pub fn errors(output: &str) -> String {
    let messages = output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let errors =
        messages.filter(|message| message.pointer("/message/level") == Some(&"error".into()));
    let text = |value: Value| value.pointer("/message/rendered")?.as_str().map(str::to_owned);
    errors.filter_map(text).collect()
}

#[test]
fn messages_of_old_and_new_cargos_are_read() {
    let message = |id: &str| {
        format!(
            "{{\"reason\":\"compiler-artifact\",\"package_id\":\"{id}\",\"manifest_path\":\"/a/Cargo.toml\",\
             \"target\":{{\"name\":\"kube_core\"}},\"filenames\":[\"/t/libx.rmeta\",\"/t/libx.rlib\"]}}\n"
        )
    };
    let check = |id: &str, version: &str, local: bool| {
        let built = Built::read(&format!("chatter\n{}", message(id)));
        let [artifact] = &built.artifacts[..] else { panic!("{built:?}") };
        assert_eq!((artifact.version(), artifact.is_local()), (version, local));
        assert_eq!(artifact.library(), Some(Path::new("/t/libx.rlib")));
    };
    check("registry+https://example.com/index#kube-core@5.0.0", "5.0.0", false);
    check("path+file:///a/kube-core#6.0.0", "6.0.0", true);
    check("kube-core 1.1.0 (registry+https://example.com/index)", "1.1.0", false);
    check("kube-core 1.1.0 (path+file:///a)", "1.1.0", true);
}
