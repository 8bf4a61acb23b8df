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

pub use copy::copy;

use self::between::{Conversion, own};
use self::types::{Body, Field, Missing, Types};
use self::write::{Line, matched, struct_of};

/// A version of a kind: the module of its types in the package `api`, and the file that declares them.
pub struct Side<'a> {
    /// `v1alpha1`
    pub module: &'a str,
    pub text: &'a str,
}

/// What the source of a conversion says.
#[derive(Debug, Default)]
pub struct Generated {
    pub text: String,
    /// The fields and variants for which somebody has to write the conversion, each with its reason.
    pub open: Vec<String>,
}

/// The conversion of a kind between two versions. `group` is the module of both.
///
/// # Errors
/// Says why if one of the files does not declare the kind as `#[kube(…)]` on a struct.
pub fn conversion(
    kind: &str,
    group: &str,
    one: &Side<'_>,
    other: &Side<'_>,
) -> Result<Generated, String> {
    let read = |it: &Side<'_>| {
        let home = ["crate", group, it.module];
        Types::read(it.text, &home, kind).map_err(|why| (it.module.to_owned(), why))
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
    modules.sort_by_key(|it| write::sort_key(it));
    let text = format!(
        "//! The conversion of `{kind}` between {} and {}. Each field is named, so that a new one\n\
         //! does not compile until both directions convert it or leave it out.\n\n{allowed}use crate::{group}::{{{}}};\n",
        one.module,
        other.module,
        modules.join(", "),
    );
    let mut res = Generated { text, open: Vec::new() };
    for (from, types, to, others) in [(other, &second, one, &first), (one, &first, other, &second)]
    {
        let direction = Direction { kind, from: from.module, to: to.module, types, others };
        direction.write(&mut res);
    }
    Ok(res)
}

/// What nobody can know is left out of the code so that it cannot be forgotten.
const UNWRITTEN: &str = " (does not compile until it is written)";

/// One direction of a conversion.
struct Direction<'a> {
    kind: &'a str,
    from: &'a str,
    to: &'a str,
    types: &'a Types,
    others: &'a Types,
}

impl Direction<'_> {
    fn write(&self, into: &mut Generated) {
        let mut wanted = Wanted::default();
        self.root(&mut wanted, into);
        while let Some((from, to)) = wanted.queue.pop() {
            self.of_type(&from, &to, &mut wanted, into);
        }
    }

    /// The object around the spec and the status.
    fn root(&self, wanted: &mut Wanted, into: &mut Generated) {
        let mut pattern = vec![Line::of("metadata"), Line::of("spec")];
        let mut value = vec![Line::of("metadata"), Line::of("spec: spec.into()")];
        match (&self.types.status, &self.others.status) {
            (Some(from), Some(to)) => {
                pattern.push(Line::of("status"));
                value.push(Line::of(self.status(from, to, wanted, into)));
            }
            (Some(_), None) => {
                into.open
                    .push(format!("{} `{}.status`: {} has none", self.from, self.kind, self.to));
                pattern.push(Line::with("status: _", format!("{} has none", self.to)))
            }
            (None, Some(_)) => {
                value.push(Line::with("status: None", format!("{} has none", self.from)));
            }
            (None, None) => {}
        }
        wanted.add(&self.others.spec, &self.types.spec);
        self.implement(self.kind, self.kind, into, |from| struct_of(from, &pattern, &value));
    }

    /// The value of the status.
    fn status(
        &self,
        from: &Type,
        to: &Type,
        wanted: &mut Wanted,
        into: &mut Generated,
    ) -> &'static str {
        match (own(from, self.types), own(to, self.others)) {
            (Some(from), Some(to)) => wanted.add(&to, &from),
            _ if self.between(from, to, "", wanted).as_deref() == Some("") => return "status",
            _ => {
                let name = from.to_token_stream().to_string().replace(' ', "");
                self.open(&name, "is not declared in the file of its kind", into);
            }
        }
        "status: status.map(Into::into)"
    }

    /// The types that the two sides give one name, or the specs or statuses of the kind.
    fn of_type(&self, from: &str, to: &str, wanted: &mut Wanted, into: &mut Generated) {
        let (Some(source), Some(target)) = (self.types.all.get(from), self.others.all.get(to))
        else {
            return;
        };
        match (source, target) {
            (Body::Struct(source), Body::Struct(target)) => {
                let (pattern, value) = self.fields((from, source), (to, target), wanted, into);
                self.implement(from, to, into, |from| struct_of(from, &pattern, &value));
            }
            (Body::Tuple(source), Body::Tuple(target)) if source.len() == target.len() => {
                let names: Vec<String> = (0..source.len()).map(|it| format!("field{it}")).collect();
                let each = source.iter().zip(target).zip(&names);
                let values: Option<Vec<String>> =
                    each.map(|((from, to), name)| self.between(from, to, name, wanted)).collect();
                let Some(values) = values else { return self.differs(from, into) };
                let (names, values) = (names.join(", "), values.join(", "));
                self.implement(from, to, into, |from| {
                    vec![format!("let {from}({names}) = it;"), format!("Self({values})")]
                });
            }
            (Body::Enum(source), Body::Enum(target)) => {
                let mut arms = Vec::new();
                for (name, fields) in source {
                    let other = target.iter().find(|it| it.0 == *name);
                    let arm = other.and_then(|it| self.variant(name, fields, &it.1, wanted));
                    arms.push(arm.unwrap_or_else(|| {
                        let why = format!("{} has no such variant", self.to);
                        into.open.push(format!("{} `{from}::{name}`: {why}{UNWRITTEN}", self.from));
                        (format!("{name}{}", fields.any()), format!("compile_error!(\"{why}\")"))
                    }));
                }
                self.implement(from, to, into, |from| matched(from, &arms));
            }
            (Body::Other(why), _) => self.open(from, why, into),
            (_, Body::Other(why)) => self.open(from, &format!("{why} in {}", self.to), into),
            _ => self.differs(from, into),
        }
    }

    /// The pattern and the value of a struct: its name and its fields, of either side.
    fn fields(
        &self,
        (from, source): (&str, &[Field]),
        (to, target): (&str, &[Field]),
        wanted: &mut Wanted,
        into: &mut Generated,
    ) -> (Vec<Line>, Vec<Line>) {
        let mut pattern = Vec::new();
        let mut value = Vec::new();
        for Field { name, ty, .. } in source {
            let other = target.iter().find(|it| it.name == *name);
            match other.map(|it| self.between(ty, &it.ty, name, wanted)) {
                Some(Some(expression)) => {
                    pattern.push(Line::of(name));
                    let is_same = expression == *name;
                    value.push(Line::of(&match is_same {
                        true => expression,
                        false => format!("{name}: {expression}"),
                    }));
                }
                Some(None) => {
                    let why = format!("{} has another type", self.to);
                    pattern.push(Line::with(&format!("{name}: _"), why));
                }
                None => {
                    let why = format!("{} has no such field", self.to);
                    into.open.push(format!("{} `{from}.{name}`: {why}", self.from));
                    pattern.push(Line::with(&format!("{name}: _"), why));
                }
            }
        }
        for Field { name, ty, missing } in target {
            let other = source.iter().find(|it| it.name == *name);
            let (why, default) = match other {
                None => ("has no such field", missing),
                // A default would drop the value that the other version has.
                Some(it) if self.between(&it.ty, ty, name, wanted).is_none() => {
                    ("has another type", &Missing::Refused)
                }
                Some(_) => continue,
            };
            let why = format!("{} {why}", self.from);
            let unknown = match default {
                Missing::Value(it) => {
                    value.push(Line::with(&format!("{name}: {it}"), why));
                    continue;
                }
                Missing::Function(it) => format!("; where it is left out, it is `{it}`"),
                Missing::Refused => String::new(),
            };
            into.open.push(format!("{} `{to}.{name}`: {why}{UNWRITTEN}", self.to));
            let it = format!("{name}: compile_error!(\"choose a value for `{name}`{unknown}\")");
            value.push(Line::with(&it, why));
        }
        (pattern, value)
    }

    fn differs(&self, from: &str, into: &mut Generated) {
        into.open
            .push(format!("{} `{from}`: its form differs in {}{UNWRITTEN}", self.from, self.to));
    }

    /// A type for which no conversion can be written: the code does not compile without it.
    fn open(&self, from: &str, why: &str, into: &mut Generated) {
        into.open.push(format!(
            "{} `{from}` {why}: write its conversion to {}{UNWRITTEN}",
            self.from, self.to
        ));
    }

    /// The pattern and the value of a variant without the name of its enum.
    fn variant(
        &self,
        name: &str,
        from: &types::Fields,
        to: &types::Fields,
        wanted: &mut Wanted,
    ) -> Option<(String, String)> {
        let names = from.names()?;
        if to.names()? != names {
            return None;
        }
        let each = from.types().zip(to.types()).zip(&names);
        let values: Vec<String> = each
            .map(|((from, to), it)| self.between(from, to, it, wanted))
            .collect::<Option<_>>()?;
        Some((from.with(name, &names), from.with_values(name, &names, &values)))
    }

    /// The value of a field of the one type as that of the other one; none if that is not known.
    fn between(&self, from: &Type, to: &Type, value: &str, wanted: &mut Wanted) -> Option<String> {
        match between::between(from, to, self.types, self.others)? {
            Conversion::Same => Some(value.to_owned()),
            Conversion::Into(pairs, how) => {
                pairs.iter().for_each(|(from, to)| wanted.add(to, from));
                Some(how.apply(value))
            }
        }
    }

    fn implement(
        &self,
        from: &str,
        to: &str,
        into: &mut Generated,
        body: impl FnOnce(&str) -> Vec<String>,
    ) {
        let (from, to) = (format!("{}::{from}", self.from), format!("{}::{to}", self.to));
        let mut text =
            format!("impl From<{from}> for {to} {{\n    fn from(it: {from}) -> Self {{\n");
        for line in body(&from) {
            text += &format!("        {line}\n");
        }
        text += "    }\n}\n";
        let is_long = text.lines().any(|it| it.len() > write::WIDTH);
        into.text += if is_long { "\n#[rustfmt::skip] // long lines\n" } else { "\n" };
        into.text += &text;
    }
}

/// The pairs of types that are to be converted, each once.
#[derive(Default)]
struct Wanted {
    seen: BTreeSet<(String, String)>,
    queue: Vec<(String, String)>,
}

impl Wanted {
    fn add(&mut self, to: &str, from: &str) {
        let pair = (from.to_owned(), to.to_owned());
        if self.seen.insert(pair.clone()) {
            self.queue.insert(0, pair);
        }
    }
}

#[cfg(test)]
mod tests;
