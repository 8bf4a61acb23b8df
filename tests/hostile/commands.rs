//! The command lines that a user might type in a clone, and which part of the project each touches.

use crate::world::Base;

pub struct Line {
    pub words: &'static str,
    pub base: Base,
    /// What it may write in the project when no mode forbids it.
    pub writes: Writes,
    /// The files and folders that it reads or writes; an empty path is all of them.
    pub touches: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    Files,
    /// Files, and a throwaway crate below `target/` in every mode.
    FilesAndTarget,
    /// Only below `target/`, in every mode.
    Target,
    Nothing,
}

const SOURCE: &[&str] = &[
    "PROJECT",
    "Cargo.toml",
    "Cargo.lock",
    ".cargo",
    "api",
    "src",
    "vendor",
    "config/crd",
    "config/rbac",
];
const CONFIG: &[&str] = &["PROJECT", "config"];

const fn line(words: &'static str, writes: Writes, touches: &'static [&'static str]) -> Line {
    Line { words, base: Base::Project, writes, touches }
}

pub const LINES: &[Line] = &[
    Line {
        words: "init --domain example.com",
        base: Base::Empty,
        writes: Writes::Files,
        touches: &[""],
    },
    Line { words: "adopt", base: Base::Unknown, writes: Writes::Files, touches: &[""] },
    line(
        "create api --group cache --kind Third --image memcached:1.6 --port 1",
        Writes::Files,
        &[""],
    ),
    line("create api --group shop --kind Fourth", Writes::Files, &[""]),
    line("create webhook --group cache --kind Second --defaulting", Writes::Files, &[""]),
    line("delete api --group cache --kind Second", Writes::Files, &[""]),
    line("delete webhook --group cache --kind Memcached --defaulting", Writes::Files, &[""]),
    line("edit --group cache --kind Other --storage-version v1", Writes::Files, SOURCE),
    line("manifests", Writes::Files, SOURCE),
    line("manifests --compile", Writes::FilesAndTarget, &["target", "api", "Cargo.toml", ".cargo"]),
    line(
        "generate",
        Writes::Files,
        &[
            "PROJECT",
            "Cargo.toml",
            "Cargo.lock",
            ".cargo",
            "api",
            "src",
            "vendor",
            "config",
            "tests",
        ],
    ),
    line(
        "generate crds",
        Writes::Nothing,
        &["Cargo.toml", "Cargo.lock", ".cargo", "api", "src", "vendor"],
    ),
    line("generate crds --compile", Writes::Target, &["target", "api", "Cargo.toml", ".cargo"]),
    line(
        "generate crds --output-dir deploy/crds",
        Writes::Files,
        &["Cargo.toml", "api", "src", "vendor", "deploy"],
    ),
    line(
        "generate chart --output-dir deploy/chart",
        Writes::Files,
        &["PROJECT", "Cargo.toml", "config", "deploy"],
    ),
    line(
        "generate docs --output-dir deploy/docs",
        Writes::Files,
        &["Cargo.toml", "api", "src", "vendor", "deploy", "config"],
    ),
    line(
        "generate schemas --output-dir deploy/schemas",
        Writes::Files,
        &["Cargo.toml", "api", "src", "vendor", "deploy"],
    ),
    line(
        "chart check chart",
        Writes::Nothing,
        &["Cargo.toml", "Cargo.lock", ".cargo", "api", "src", "vendor", "chart"],
    ),
    line(
        "crds diff config/crd/bases",
        Writes::Nothing,
        &["Cargo.toml", "Cargo.lock", ".cargo", "api", "src", "vendor", "config"],
    ),
    line("generate installer", Writes::Nothing, CONFIG),
    line("generate installer --manifests chart", Writes::Nothing, &["PROJECT", "chart"]),
    line(
        "generate installer --output-file deploy/install.yaml",
        Writes::Files,
        &["PROJECT", "config", "deploy"],
    ),
    line(
        "bundle --image quay.io/example/other:v0.0.2",
        Writes::Files,
        &["PROJECT", "Cargo.toml", "config", "bundle", "bundle.Dockerfile"],
    ),
    line("bundle validate", Writes::Nothing, &["PROJECT", "bundle"]),
    line("install --timeout 2s", Writes::Nothing, CONFIG),
    line("uninstall --yes --timeout 2s", Writes::Nothing, CONFIG),
    line("deploy --timeout 2s", Writes::Nothing, CONFIG),
    line("undeploy --yes --timeout 2s", Writes::Nothing, CONFIG),
    line("migrate", Writes::Nothing, CONFIG),
    line(
        "test --assets ../bin -- true",
        Writes::Target,
        &["PROJECT", "config", "target", "Cargo.toml"],
    ),
    line("status", Writes::Nothing, &[""]),
    line("version", Writes::Nothing, &["PROJECT"]),
    line("completion bash", Writes::Nothing, &["PROJECT"]),
];

/// How a line can be changed. Each is honoured or refused, and none of these may write but the last.
pub const MODES: &[&str] = &["--check", "--diff", "--dry-run", "--dry-run=server", "", "--force"];

pub fn only_looks(mode: &str) -> bool {
    !matches!(mode, "" | "--force")
}

impl Writes {
    pub fn files(self) -> bool {
        matches!(self, Self::Files | Self::FilesAndTarget)
    }

    pub fn target(self) -> bool {
        matches!(self, Self::Target | Self::FilesAndTarget)
    }
}

impl Line {
    /// Whether a trick at this place of the project can make a difference.
    pub fn touches(&self, place: &str) -> bool {
        let below = |it: &str, top: &str| {
            top.is_empty()
                || it == top
                || it.strip_prefix(top).is_some_and(|it| it.starts_with('/'))
        };
        self.touches.iter().any(|it| below(place, it) || below(it, place))
    }
}
