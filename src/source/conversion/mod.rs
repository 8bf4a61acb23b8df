//! The conversion between two versions of a kind, as Rust source: `From` in both directions for the kind and for every
//! type that its two files declare. Each field is named, so that a new one does not compile until both directions say
//! what becomes of it.

mod between;
mod copy;
mod names;
mod types;
mod write;

use std::collections::BTreeSet;

use quote::ToTokens as _;
use syn::Type;

pub use copy::copy_version;

use self::between::{Conversion, declared_name};
use self::types::{Field, FileTypes, MissingField, TypeBody};
use self::write::{Line, match_body, struct_body};

/// A version of a kind: the module of its types in the package `api`, and the file that declares them.
pub struct VersionSource<'a> {
    /// `v1alpha1`
    pub module: &'a str,
    pub text: &'a str,
}

/// The generated source of a conversion.
#[derive(Debug, Default)]
pub struct GeneratedConversion {
    pub text: String,
    /// The fields and variants whose conversion the user has to write, each with its reason.
    pub open: Vec<String>,
}

/// Returns the conversion of a kind between two versions. `group` is the module of both.
///
/// # Errors
/// Says why if one of the files does not declare the kind as `#[kube(…)]` on a struct.
pub fn generate_conversion(
    kind: &str,
    group: &str,
    one: &VersionSource<'_>,
    other: &VersionSource<'_>,
) -> Result<GeneratedConversion, String> {
    let read = |side: &VersionSource<'_>| {
        let home = ["crate", group, side.module];
        FileTypes::parse(side.text, &home, kind).map_err(|why| (side.module.to_owned(), why))
    };
    let sides = read(one).and_then(|first| Ok((first, read(other)?)));
    let (first, second) = sides.map_err(|(module, why)| format!("{module}: {why}"))?;
    let lints: BTreeSet<&str> = first.lints.union(&second.lints).copied().collect();
    let lints: Vec<&str> = lints.into_iter().collect();
    let allowed = match &lints[..] {
        [] => String::new(),
        lints => {
            format!("#![allow({})] // the fields have the names of the types\n\n", lints.join(", "))
        }
    };
    let mut modules = [one.module, other.module];
    modules.sort_by_key(|module| write::sort_key(module));
    let text = format!(
        "//! The conversion of `{kind}` between {} and {}. Each field is named, so that a new one\n\
         //! does not compile until both directions convert it or leave it out.\n\n{allowed}use crate::{group}::{{{}}};\n",
        one.module,
        other.module,
        modules.join(", "),
    );
    let mut conversion = GeneratedConversion { text, open: Vec::new() };
    for (from, types, to, others) in [(other, &second, one, &first), (one, &first, other, &second)]
    {
        let direction =
            ConversionDirection { kind, from: from.module, to: to.module, types, others };
        direction.write_direction(&mut conversion);
    }
    Ok(conversion)
}

/// The note on a conversion that the user has to write: it is left out, so that the code does not compile without it.
const UNWRITTEN: &str = " (does not compile until it is written)";

/// One direction of a conversion.
struct ConversionDirection<'a> {
    kind: &'a str,
    from: &'a str,
    to: &'a str,
    types: &'a FileTypes,
    others: &'a FileTypes,
}

impl ConversionDirection<'_> {
    fn write_direction(&self, into: &mut GeneratedConversion) {
        let mut wanted = WantedTypes::default();
        self.convert_root(&mut wanted, into);
        while let Some((from, to)) = wanted.queue.pop() {
            self.convert_type(&from, &to, &mut wanted, into);
        }
    }

    /// The object around the spec and the status.
    fn convert_root(&self, wanted: &mut WantedTypes, into: &mut GeneratedConversion) {
        let mut pattern = vec![Line::new("metadata"), Line::new("spec")];
        let mut value = vec![Line::new("metadata"), Line::new("spec: spec.into()")];
        match (&self.types.status, &self.others.status) {
            (Some(from), Some(to)) => {
                pattern.push(Line::new("status"));
                value.push(Line::new(self.convert_status(from, to, wanted, into)));
            }
            (Some(_), None) => {
                into.open
                    .push(format!("{} `{}.status`: {} has none", self.from, self.kind, self.to));
                pattern.push(Line::with_comment("status: _", format!("{} has none", self.to)))
            }
            (None, Some(_)) => {
                value.push(Line::with_comment("status: None", format!("{} has none", self.from)));
            }
            (None, None) => {}
        }
        wanted.add_pair(&self.others.spec, &self.types.spec);
        self.implement_from(self.kind, self.kind, into, |from| struct_body(from, &pattern, &value));
    }

    /// Returns the value of the status.
    fn convert_status(
        &self,
        from: &Type,
        to: &Type,
        wanted: &mut WantedTypes,
        into: &mut GeneratedConversion,
    ) -> &'static str {
        match (declared_name(from, self.types), declared_name(to, self.others)) {
            (Some(from), Some(to)) => wanted.add_pair(&to, &from),
            _ if self.convert_between(from, to, "", wanted).as_deref() == Some("") => {
                return "status";
            }
            _ => {
                let name = from.to_token_stream().to_string().replace(' ', "");
                self.leave_unwritten(&name, "is not declared in the file of its kind", into);
            }
        }
        "status: status.map(Into::into)"
    }

    /// The types that the two sides give one name, or the specs or statuses of the kind.
    fn convert_type(
        &self,
        from: &str,
        to: &str,
        wanted: &mut WantedTypes,
        into: &mut GeneratedConversion,
    ) {
        let (Some(source), Some(target)) = (self.types.all.get(from), self.others.all.get(to))
        else {
            return;
        };
        match (source, target) {
            (TypeBody::Struct(source), TypeBody::Struct(target)) => {
                let (pattern, value) =
                    self.convert_fields((from, source), (to, target), wanted, into);
                self.implement_from(from, to, into, |from| struct_body(from, &pattern, &value));
            }
            (TypeBody::Tuple(source), TypeBody::Tuple(target)) if source.len() == target.len() => {
                let names: Vec<String> =
                    (0..source.len()).map(|index| format!("field{index}")).collect();
                let each = source.iter().zip(target).zip(&names);
                let values: Option<Vec<String>> = each
                    .map(|((from, to), name)| self.convert_between(from, to, name, wanted))
                    .collect();
                let Some(values) = values else { return self.report_difference(from, into) };
                let (names, values) = (names.join(", "), values.join(", "));
                self.implement_from(from, to, into, |from| {
                    vec![format!("let {from}({names}) = it;"), format!("Self({values})")]
                });
            }
            (TypeBody::Enum(source), TypeBody::Enum(target)) => {
                let mut arms = Vec::new();
                for (name, fields) in source {
                    let other = target.iter().find(|pair| pair.0 == *name);
                    let arm =
                        other.and_then(|pair| self.convert_variant(name, fields, &pair.1, wanted));
                    arms.push(arm.unwrap_or_else(|| {
                        let why = format!("{} has no such variant", self.to);
                        into.open.push(format!("{} `{from}::{name}`: {why}{UNWRITTEN}", self.from));
                        (
                            format!("{name}{}", fields.wildcard_pattern()),
                            format!("compile_error!(\"{why}\")"),
                        )
                    }));
                }
                self.implement_from(from, to, into, |from| match_body(from, &arms));
            }
            (TypeBody::Other(why), _) => self.leave_unwritten(from, why, into),
            (_, TypeBody::Other(why)) => {
                self.leave_unwritten(from, &format!("{why} in {}", self.to), into)
            }
            _ => self.report_difference(from, into),
        }
    }

    /// Returns the pattern and the value of a struct: its name and its fields, of either side.
    fn convert_fields(
        &self,
        (from, source): (&str, &[Field]),
        (to, target): (&str, &[Field]),
        wanted: &mut WantedTypes,
        into: &mut GeneratedConversion,
    ) -> (Vec<Line>, Vec<Line>) {
        let mut pattern = Vec::new();
        let mut value = Vec::new();
        for Field { name, ty, .. } in source {
            let other = target.iter().find(|variant| variant.name == *name);
            match other.map(|other| self.convert_between(ty, &other.ty, name, wanted)) {
                Some(Some(expression)) => {
                    pattern.push(Line::new(name));
                    let is_same = expression == *name;
                    value.push(Line::new(&if is_same {
                        expression
                    } else {
                        format!("{name}: {expression}")
                    }));
                }
                Some(None) => {
                    let why = format!("{} has another type", self.to);
                    pattern.push(Line::with_comment(&format!("{name}: _"), why));
                }
                None => {
                    let why = format!("{} has no such field", self.to);
                    into.open.push(format!("{} `{from}.{name}`: {why}", self.from));
                    pattern.push(Line::with_comment(&format!("{name}: _"), why));
                }
            }
        }
        for Field { name, ty, missing } in target {
            let other = source.iter().find(|field| field.name == *name);
            let (why, default) = match other {
                None => ("has no such field", missing),
                // A default would drop the value that the other version has.
                Some(it) if self.convert_between(&it.ty, ty, name, wanted).is_none() => {
                    ("has another type", &MissingField::Refused)
                }
                Some(_) => continue,
            };
            let why = format!("{} {why}", self.from);
            let unknown = match default {
                MissingField::Value(it) => {
                    value.push(Line::with_comment(&format!("{name}: {it}"), why));
                    continue;
                }
                MissingField::Function(it) => format!("; where it is left out, it is `{it}`"),
                MissingField::Refused => String::new(),
            };
            into.open.push(format!("{} `{to}.{name}`: {why}{UNWRITTEN}", self.to));
            let it = format!("{name}: compile_error!(\"choose a value for `{name}`{unknown}\")");
            value.push(Line::with_comment(&it, why));
        }
        (pattern, value)
    }

    fn report_difference(&self, from: &str, into: &mut GeneratedConversion) {
        into.open
            .push(format!("{} `{from}`: its form differs in {}{UNWRITTEN}", self.from, self.to));
    }

    /// A type for which no conversion can be written: the code does not compile without it.
    fn leave_unwritten(&self, from: &str, why: &str, into: &mut GeneratedConversion) {
        into.open.push(format!(
            "{} `{from}` {why}: write its conversion to {}{UNWRITTEN}",
            self.from, self.to
        ));
    }

    /// Returns the pattern and the value of a variant without the name of its enum.
    fn convert_variant(
        &self,
        name: &str,
        from: &types::Fields,
        to: &types::Fields,
        wanted: &mut WantedTypes,
    ) -> Option<(String, String)> {
        let names = from.binding_names()?;
        if to.binding_names()? != names {
            return None;
        }
        let each = from.field_types().zip(to.field_types()).zip(&names);
        let values: Vec<String> = each
            .map(|((from, to), text)| self.convert_between(from, to, text, wanted))
            .collect::<Option<_>>()?;
        Some((from.pattern(name, &names), from.pattern_with_values(name, &names, &values)))
    }

    /// Returns the value of a field of the one type as that of the other one; none if that is not known.
    fn convert_between(
        &self,
        from: &Type,
        to: &Type,
        value: &str,
        wanted: &mut WantedTypes,
    ) -> Option<String> {
        match between::find_conversion(from, to, self.types, self.others)? {
            Conversion::Same => Some(value.to_owned()),
            Conversion::Into(pairs, how) => {
                pairs.iter().for_each(|(from, to)| wanted.add_pair(to, from));
                Some(how.applied_source(value))
            }
        }
    }

    fn implement_from(
        &self,
        from: &str,
        to: &str,
        into: &mut GeneratedConversion,
        body: impl FnOnce(&str) -> Vec<String>,
    ) {
        let (from, to) = (format!("{}::{from}", self.from), format!("{}::{to}", self.to));
        let mut text =
            format!("impl From<{from}> for {to} {{\n    fn from(it: {from}) -> Self {{\n");
        for line in body(&from) {
            text += &format!("        {line}\n");
        }
        text += "    }\n}\n";
        let is_long = text.lines().any(|line| line.len() > write::WIDTH);
        into.text += if is_long { "\n#[rustfmt::skip] // long lines\n" } else { "\n" };
        into.text += &text;
    }
}

/// The pairs of types that are to be converted, each once.
#[derive(Default)]
struct WantedTypes {
    seen: BTreeSet<(String, String)>,
    queue: Vec<(String, String)>,
}

impl WantedTypes {
    fn add_pair(&mut self, to: &str, from: &str) {
        let pair = (from.to_owned(), to.to_owned());
        if self.seen.insert(pair.clone()) {
            self.queue.insert(0, pair);
        }
    }
}

#[cfg(test)]
mod tests;
