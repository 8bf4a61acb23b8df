//! The folders of a scaffolded project that are deployed, and the commands that generate its files.

/// The kustomization of all that an operator is installed with.
pub const DEFAULT_CONFIG: &str = "config/default";

/// The kustomization of the CRDs.
pub const CRD_CONFIG: &str = "config/crd";

/// The command that generates support code.
pub const GENERATE_COMMAND: &str = "generate";

/// The command that generates the files that depend on the source.
pub const MANIFESTS_COMMAND: &str = "manifests";
