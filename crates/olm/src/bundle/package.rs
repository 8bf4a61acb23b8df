//! The fields of Cargo.toml that a bundle uses.

use serde::{Deserialize, Deserializer, de::Error as _};

use diagnostics::Diagnostic;
use go_data::kubernetes;
use model::without_user;

/// `[package]` of a Cargo.toml, with what it inherits from `[workspace.package]`.
#[derive(Debug, Default, PartialEq)]
pub struct Package {
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
struct Manifest {
    package: Option<Fields>,
    workspace: Option<Workspace>,
}

#[derive(Deserialize)]
struct Workspace {
    package: Option<Fields>,
}

#[derive(Default, Deserialize)]
struct Fields {
    #[serde(default, deserialize_with = "version")]
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

fn version<'de, D: Deserializer<'de>>(
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

impl Package {
    pub fn from_text(text: &str) -> anyhow::Result<Self> {
        let manifest: Manifest = toml::from_str(text).map_err(|it| {
            let at = it.span().map_or(0, |it| it.start);
            Diagnostic::in_file("Cargo.toml", it.message().trim()).at_byte(text, at).into_error()
        })?;
        let own = manifest.package.unwrap_or_default();
        let shared = manifest.workspace.and_then(|it| it.package).unwrap_or_default();
        Ok(Self {
            version: resolved(own.version, shared.version),
            description: resolved(own.description, shared.description).unwrap_or_default(),
            homepage: without_user(&resolved(own.homepage, shared.homepage).unwrap_or_default()),
            repository: without_user(
                &resolved(own.repository, shared.repository).unwrap_or_default(),
            ),
            license: resolved(own.license, shared.license).unwrap_or_default(),
            keywords: resolved(own.keywords, shared.keywords).unwrap_or_default(),
            authors: resolved(own.authors, shared.authors).unwrap_or_default(),
        })
    }
}

fn resolved<T>(own: Option<Field<T>>, shared: Option<Field<T>>) -> Option<T> {
    match (own?, shared) {
        (Field::Own(value), _) | (Field::Inherited { .. }, Some(Field::Own(value))) => Some(value),
        _ => None,
    }
}

#[test]
fn what_a_package_inherits_from_its_workspace_is_its_own() {
    let text = "[workspace.package]\nversion = \"1.2.3\"\nhomepage = \"https://a\"\n\
                [package]\nname = \"a\"\nversion.workspace = true\nkeywords = [\"b\"]\n\
                repository = \"https://me:secret@a/b\"\n";
    let expected = Package {
        version: Some(semver::Version::new(1, 2, 3)),
        keywords: vec!["b".to_owned()],
        repository: "https://a/b".to_owned(),
        ..Package::default()
    };
    assert_eq!(Package::from_text(text).expect("a Cargo.toml"), expected);
}
