//! The platforms of an operator's image.

use std::fmt;

use crate::app::images::here;
use diagnostics::Hint as _;
use model::Platform;

/// A platform that Rust links static programs for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImageTarget {
    Amd64,
    Arm64,
}

impl ImageTarget {
    const ALL: [Self; 2] = [Self::Amd64, Self::Arm64];

    /// Each of these platforms once; that of this machine if there are none.
    pub fn from_platforms(platforms: &[Platform]) -> anyhow::Result<Vec<Self>> {
        let here = [here()];
        let platforms = if platforms.is_empty() { &here } else { platforms };
        let find = |platform: &Platform| {
            Self::ALL.into_iter().find(|one| one.to_string() == platform.to_string())
        };
        let unknown: Vec<String> = platforms
            .iter()
            .filter(|platform| find(platform).is_none())
            .map(ToString::to_string)
            .collect();
        if !unknown.is_empty() {
            let [known, other] = Self::ALL.map(|target| target.to_string());
            return Err(anyhow::format_err!(
                "cannot compile for {}, only for {known} and {other}",
                unknown.join(", ")
            ))
            .hint("for other platforms, build the Dockerfile: `make docker-buildx CONTAINER_TOOL=docker PLATFORMS=…`");
        }
        let mut targets: Vec<Self> = platforms.iter().filter_map(find).collect();
        targets.sort();
        targets.dedup();
        Ok(targets)
    }

    pub fn platform(self) -> Platform {
        Platform::linux(self.architecture())
    }

    /// The architecture's name in images.
    fn architecture(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// The architecture's name in Rust and in C compilers.
    pub fn cpu(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64",
            Self::Arm64 => "aarch64",
        }
    }

    /// Rust's name for the platform, with a C library that is linked statically.
    pub fn triple(self) -> String {
        format!("{}-unknown-linux-musl", self.cpu())
    }

    /// The triple as it is part of variables: `CARGO_TARGET_…`, or `CC_…` in lowercase.
    pub fn variable_name(self, start: &str, end: &str) -> String {
        let triple = self.triple().replace('-', "_");
        let triple = if start == "CARGO_TARGET_" { triple.to_uppercase() } else { triple };
        format!("{start}{triple}{end}")
    }

    /// `e_machine` of its ELF files.
    pub fn elf_machine(self) -> u16 {
        match self {
            Self::Amd64 => 62,
            Self::Arm64 => 183,
        }
    }
}

impl fmt::Display for ImageTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "linux/{}", self.architecture())
    }
}
