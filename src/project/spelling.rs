//! Misspelt fields of PROJECT. Fields that we do not know are kept, as they may be another tool's: so one that is
//! meant to be a field of ours would be read as if it were not there.

use std::collections::BTreeSet;

use serde::{
    Deserialize, Deserializer,
    de::{self, Visitor},
    forward_to_deserialize_any,
};

use super::{Api, Inputs, Options, Resource, Webhooks, inputs::CreatedResource};
use diagnostics::{Diagnostic, Lines};
use go_data::yaml::{Data, Node};

/// The fields of kubebuilder's version 3.
const PROJECT: &[&str] = &[
    "cliVersion",
    "domain",
    "layout",
    "multigroup",
    "namespaced",
    "plugins",
    "projectName",
    "repo",
    "resources",
    "version",
];

/// Returns the names of a struct's fields, as they are in a file: serde passes them to what it reads the struct from.
fn field_names<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &[&str] = &[];
    // This reads nothing.
    T::deserialize(FieldNameReader(&mut names)).err();
    names
}

struct FieldNameReader<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNameReader<'_> {
    type Error = de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(de::Error::custom("not a struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Refuses a field whose name is nearly that of a known one, unless that one is there, too.
pub fn refuse_misspelt_fields(file: &Node, text: &str) -> anyhow::Result<()> {
    check_fields(file, PROJECT, text)?;
    if let Some(own) = file.get("plugins").and_then(|value| value.get(super::LAYOUT)) {
        check_fields(own, field_names::<Inputs>(), text)?;
        for created in resource_items(own) {
            check_fields(created, field_names::<CreatedResource>(), text)?;
            check_part(created, "options", field_names::<Options>(), text)?;
        }
    }
    // Kubebuilder records the module of a type of others.
    let of_resource = [field_names::<Resource>(), &["module"]].concat();
    for resource in resource_items(file) {
        check_fields(resource, &of_resource, text)?;
        check_part(resource, "api", field_names::<Api>(), text)?;
        check_part(resource, "webhooks", field_names::<Webhooks>(), text)?;
    }
    Ok(())
}

/// Checks the fields of a part, if it is there.
fn check_part(map: &Node, name: &str, known: &[&str], text: &str) -> anyhow::Result<()> {
    map.get(name).map_or(Ok(()), |part| check_fields(part, known, text))
}

/// Returns the items of `resources`.
fn resource_items(map: &Node) -> &[Node] {
    match map.get("resources").map(|value| &value.data) {
        Some(Data::List(list)) => list,
        _ => &[],
    }
}

fn check_fields(map: &Node, known: &[&str], text: &str) -> anyhow::Result<()> {
    let Data::Map(entries) = &map.data else { return Ok(()) };
    let present: BTreeSet<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
    let missing: Vec<&str> = known.iter().copied().filter(|name| !present.contains(name)).collect();
    for entry in entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
        if let Some(meant) = diagnostics::find_nearest(&entry.key, missing.iter().copied()) {
            let diagnostic =
                Diagnostic::in_file("PROJECT", format!("unknown field `{}`", entry.key))
                    .at_position(entry.mark.line, entry.mark.column)
                    .quote(&mut Lines::new(text));
            return Err(diagnostic.with_hint(format!("write `{meant}`")).into_error());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use go_data::yaml;

    use super::{Api, CreatedResource, Inputs, Options, Resource, Webhooks};

    /// Every field.
    const TEXT: &str = r#"cliVersion: 0.1.0
domain: example.com
layout:
- rust.operator-rs.io/v1
multigroup: true
namespaced: true
plugins:
  rust.operator-rs.io/v1:
    certificates: self
    chart: a
    crds: [a]
    kept: [a]
    license: a
    licenseFile: a
    manifests: a
    owner: me
    package: a
    resources:
    - domain: a.io
      group: a
      kind: Memcached
      options:
        admissionPolicy: true
        containerCommand: [a]
        containerPort: 1
        finalizer: true
        from: v1
        groupInNames: true
        handWritten: true
        image: a
        namespaced: true
        path: a
        plural: a
        runAsUser: 1
        shortNames: [a]
      version: v1
    vendor: true
    with: [a]
projectName: it
repo: example.com/it
resources:
- api:
    crdVersion: v1
    namespaced: true
  controller: true
  core: true
  domain: example.com
  external: true
  group: cache
  kind: Memcached
  module: example.com/it
  path: a::b
  plural: a
  version: v1
  webhooks:
    conversion: true
    defaulting: true
    defaultingPath: /a
    spoke: [v1]
    validation: true
    validationPath: /a
    webhookVersion: v1
version: "3"
"#;

    fn check(text: &str) -> anyhow::Result<()> {
        let document = yaml::parse_document(text, yaml::Dialect::Strict)?;
        super::refuse_misspelt_fields(&document.expect("a document"), text)
    }

    /// Otherwise `init --from` would lose the flag, or no command would refuse it.
    #[test]
    fn every_flag_of_the_options_has_the_name_of_its_field() {
        let command = <Options as clap::Args>::augment_args(clap::Command::new("api"));
        let fields = super::field_names::<Options>();
        let ids: Vec<&str> = command.get_arguments().map(|it| it.get_id().as_str()).collect();
        assert!(ids.iter().all(|id| fields.contains(id)), "{ids:?}");
        let flags: Vec<&str> = command.get_arguments().filter_map(|it| it.get_long()).collect();
        assert_eq!(flags.len(), ids.len());
        assert!(crate::project::CONTROLLER_FLAGS.iter().all(|flag| flags.contains(flag)));
    }

    #[test]
    fn the_text_has_every_field() {
        let known = [
            super::PROJECT,
            super::field_names::<Inputs>(),
            super::field_names::<CreatedResource>(),
            super::field_names::<Options>(),
            super::field_names::<Resource>(),
            super::field_names::<Api>(),
            super::field_names::<Webhooks>(),
        ];
        assert!(known.iter().all(|names| names.len() > 1));
        for name in known.concat() {
            assert!(
                TEXT.contains(&format!(" {name}:"))
                    || TEXT.contains(&format!("\n{name}:"))
                    || TEXT.starts_with(name),
                "{name}"
            );
        }
    }

    /// Each with a letter less.
    #[test]
    fn no_misspelt_field_is_passed_over() {
        check(TEXT).unwrap();
        for line in TEXT.lines() {
            let name = line.trim_start_matches([' ', '-']).split(':').next().unwrap();
            if name.contains('/') {
                continue;
            }
            let at = line.find(name).unwrap();
            let misspelt =
                format!("{}{}{}", &line[..at], &name[..name.len() - 1], &line[at + name.len()..]);
            let error = check(&TEXT.replacen(line, &misspelt, 1)).unwrap_err();
            let text = format!("{error:?}");
            assert!(
                text.contains(&format!("unknown field `{}`", &name[..name.len() - 1])),
                "{misspelt}: {text}"
            );
        }
    }

    #[test]
    fn fields_of_other_tools_are_kept() {
        let others = "owner: me\nplugin: there is `plugins`, too\n";
        check(&format!("{TEXT}{others}")).unwrap();
    }
}
