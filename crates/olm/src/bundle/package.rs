//! The fields of Cargo.toml that a bundle uses.

use serde::{Deserialize, Deserializer, de::Error as _};

use diagnostics::Diagnostic;
use go_data::kubernetes;
use model::without_user;

/// `[package]` of a Cargo.toml, with what it inherits from `[workspace.package]`.
#[derive(Debug, Default, PartialEq)]
pub struct CargoPackage {
    pub version: Option<semver::Version>,
    pub description: String,
    pub homepage: String,
    pub repository: String,
    pub license: String,
    pub keywords: Vec<String>,
    /// `Name <mail>`.
    pub authors: Vec<String>,
}

#[derive(Deserialize)]
struct CargoManifest {
    package: Option<PackageFields>,
    workspace: Option<Workspace>,
}

#[derive(Deserialize)]
struct Workspace {
    package: Option<PackageFields>,
}

#[derive(Default, Deserialize)]
struct PackageFields {
    #[serde(default, deserialize_with = "deserialize_version")]
    version: Option<Field<semver::Version>>,
    description: Option<Field<String>>,
    homepage: Option<Field<String>>,
    repository: Option<Field<String>>,
    license: Option<Field<String>>,
    keywords: Option<Field<Vec<String>>>,
    authors: Option<Field<Vec<String>>>,
}

/// A value, or `field.workspace = true`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "cargo does not accept this value here")]
enum Field<T> {
    Own(T),
    Inherited {
        #[expect(dead_code, reason = "cargo takes no other value than `true`")]
        workspace: bool,
    },
}

/// OLM reads numbers of at most 64 bits, also those of a pre-release.
pub fn check_version(version: &semver::Version) -> Result<(), String> {
    let read = kubernetes::version::Version::parse(&version.to_string());
    read.map(drop).ok_or_else(|| {
        "OLM cannot read this version: each of its numbers must fit into 64 bits".to_owned()
    })
}

fn deserialize_version<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Field<semver::Version>>, D::Error> {
    let field = Field::deserialize(deserializer).map_err(|_| {
        D::Error::custom("the version must be a string with three numbers such as `\"0.0.1\"`, or inherited: `version.workspace = true`")
    })?;
    if let Field::Own(version) = &field {
        check_version(version).map_err(D::Error::custom)?;
    }
    Ok(Some(field))
}

impl CargoPackage {
    pub fn from_text(text: &str) -> anyhow::Result<Self> {
        let manifest: CargoManifest = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            Diagnostic::in_file("Cargo.toml", error.message().trim()).at_byte(text, at).into_error()
        })?;
        let package = manifest.package.unwrap_or_default();
        let shared = manifest.workspace.and_then(|workspace| workspace.package).unwrap_or_default();
        Ok(Self {
            version: resolve_inherited(package.version, shared.version),
            description: resolve_inherited(package.description, shared.description)
                .unwrap_or_default(),
            homepage: without_user(
                &resolve_inherited(package.homepage, shared.homepage).unwrap_or_default(),
            ),
            repository: without_user(
                &resolve_inherited(package.repository, shared.repository).unwrap_or_default(),
            ),
            license: resolve_inherited(package.license, shared.license).unwrap_or_default(),
            keywords: resolve_inherited(package.keywords, shared.keywords).unwrap_or_default(),
            authors: resolve_inherited(package.authors, shared.authors).unwrap_or_default(),
        })
    }
}

fn resolve_inherited<T>(
    package_field: Option<Field<T>>,
    workspace_field: Option<Field<T>>,
) -> Option<T> {
    match (package_field?, workspace_field) {
        (Field::Own(value), _) | (Field::Inherited { .. }, Some(Field::Own(value))) => Some(value),
        _ => None,
    }
}

#[test]
fn what_a_package_inherits_from_its_workspace_is_its_own() {
    let text = "[workspace.package]\nversion = \"1.2.3\"\nhomepage = \"https://a\"\n\
                [package]\nname = \"a\"\nversion.workspace = true\nkeywords = [\"b\"]\n\
                repository = \"https://me:secret@a/b\"\n";
    let expected = CargoPackage {
        version: Some(semver::Version::new(1, 2, 3)),
        keywords: vec!["b".to_owned()],
        repository: "https://a/b".to_owned(),
        ..CargoPackage::default()
    };
    assert_eq!(CargoPackage::from_text(text).expect("a Cargo.toml"), expected);
}
