//! Parts of a kind that cannot be read, with their places.

use std::collections::BTreeSet;

use schemars::Schema;

use super::Reader;
use super::unknown::{Unknown, collect_unknown};
use crate::text::Problem;
use crate::tree::{ItemId, ModuleId};
use crate::types::Type;

/// Limit of the nesting of types.
const MOST_DEEP: usize = 160;
/// Limit of the types that one kind may visit.
const MOST_VISITS: usize = 200_000;

impl Reader {
    /// Notes a problem of this kind, with the path of the field where it is.
    pub(super) fn report_problem(&self, problem: Problem) {
        self.refuse_at(problem, None);
    }

    /// The same, for the type of this name that cannot be read there.
    pub(super) fn refuse_at(&self, problem: Problem, name: Option<String>) {
        self.world.need_values();
        let problem = self.with_field_path(problem, name);
        let mut problems = self.problems.borrow_mut();
        match problems.get(&problem.place) {
            Some(known) if *known <= problem => {}
            _ => drop(problems.insert(problem.place.clone(), problem)),
        }
    }

    pub(super) fn with_field_path(&self, mut problem: Problem, name: Option<String>) -> Problem {
        if let Some((kind, fields)) = self.field_path.borrow().split_first() {
            problem.field_path = vec![kind.clone()];
            problem.field_path.extend((!fields.is_empty()).then(|| fields.join(".")));
            problem.field_path.extend(name.filter(|_| !fields.is_empty()));
        }
        problem
    }

    /// Warns of a type that refers to itself, at the field where it does.
    pub(super) fn warn_of_references(
        &self,
        schema: &Schema,
        module: ModuleId,
        span: proc_macro2::Span,
    ) {
        if !self.uses_names.get() {
            return;
        }
        let mut found = BTreeSet::new();
        collect_references(schema.as_value(), &mut found);
        let mut known = self.references.borrow_mut();
        for reference in found {
            if known.insert(reference.clone()) {
                let message = format!(
                    "a type contains itself here: the CRD has `\"$ref\": \"{reference}\"`, which no API server accepts"
                );
                let hint = "end the recursion with a type that accepts any value, e.g. `serde_json::Value`";
                let problem = self.world.problem_at(module, span, message, hint);
                let problem = self.with_field_path(problem, None).with_rule("recursive-type");
                self.warnings.borrow_mut().push(problem);
            }
        }
    }

    /// Warns of misspelt keys in a schema that is otherwise read, at the fields that have them.
    pub(super) fn warn_of_unknown_keys(&self, id: ItemId, schema: &serde_json::Value) {
        let places = self.field_places.borrow();
        let item = &self.world.items[id];
        for Unknown { path, key, nearest } in collect_unknown(schema) {
            let message = format!("the key `{key}` is left out: schemas of CRDs do not have it");
            let hint = match nearest {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => "remove it, or correct its name".to_owned(),
            };
            let mut problem = self.world.problem_at(item.module, item.span, message, &hint);
            let above = (0..=path.len()).rev().find_map(|length| places.get(&path[..length]));
            problem.place = above.cloned().unwrap_or(problem.place);
            let kind = self.field_path.borrow().first().cloned();
            problem.field_path = kind.into_iter().collect();
            problem.field_path.extend((!path.is_empty()).then(|| path.join(".")));
            self.warnings.borrow_mut().push(problem.with_rule("unknown-key"));
        }
    }

    /// Notes where the field is declared that we are in. Where several types declare it, the first one counts.
    pub(super) fn note_place(&self, module: ModuleId, span: proc_macro2::Span) {
        let path = self.schema_path.borrow().clone();
        let mut places = self.field_places.borrow_mut();
        places.entry(path).or_insert_with(|| self.world.place_in(module, span));
    }

    /// Notes the named type of the field that we are in, where it has one. Where several types declare it, the first one
    /// counts.
    pub(super) fn note_type(&self, ty: &Type) {
        if let Some(name) = self.named_in(ty) {
            let path = self.schema_path.borrow().clone();
            self.field_types.borrow_mut().entry(path).or_insert(name);
        }
    }

    /// The name of a type, or of what is in it: of an option, a list, or the values of a map.
    fn named_in(&self, ty: &Type) -> Option<String> {
        match ty {
            Type::Data(id, _) | Type::Root(id) => Some(self.world.items[*id].name.clone()),
            Type::Kubernetes(model) => model.path.rsplit("::").next().map(str::to_owned),
            Type::Foreign { arguments, .. } => match &arguments[..] {
                [inside] => self.named_in(inside),
                [_, values] if ty.path().ends_with("Map") => self.named_in(values),
                _ => None,
            },
            Type::Function(_) => None,
        }
    }

    /// Runs `f` with one more field in the path.
    pub(super) fn in_field<T>(&self, name: &str, f: impl FnOnce() -> T) -> T {
        self.in_path(name, Some(name), f)
    }

    /// Runs `f` with one more name in the path, and another one, if any, in the path of the schema.
    pub(super) fn in_path<T>(&self, name: &str, key: Option<&str>, f: impl FnOnce() -> T) -> T {
        struct Back<'a>(&'a Reader, usize);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                self.0.field_path.borrow_mut().pop();
                self.0.schema_path.borrow_mut().truncate(self.1);
            }
        }
        let back = Back(self, self.schema_path.borrow().len());
        self.field_path.borrow_mut().push(name.to_owned());
        self.schema_path.borrow_mut().extend(key.map(str::to_owned));
        let result = f();
        drop(back);
        result
    }

    /// Goes into a type. Where that never ends, it does not for kube either: here it ends, with a word.
    pub(super) fn visit_type<T: Default>(&self, ty: &Type, f: impl FnOnce() -> T) -> T {
        struct Back<'a>(&'a Reader);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                self.0.inside.borrow_mut().pop();
            }
        }
        if self.gave_up.get() {
            return T::default();
        }
        self.inside.borrow_mut().push(match ty {
            Type::Data(id, _) | Type::Root(id) => Some(*id),
            Type::Foreign { .. } | Type::Kubernetes(_) | Type::Function(_) => None,
        });
        let _back = Back(self);
        self.visits.set(self.visits.get() + 1);
        let deep = self.inside.borrow().len() > MOST_DEEP;
        if deep || self.visits.get() > MOST_VISITS {
            self.gave_up.set(true);
            if let Some(problem) = self.recursion_problem(deep) {
                self.report_problem(problem);
            }
            return T::default();
        }
        let value = f();
        // Half of what has no end is of no use, and long.
        if self.gave_up.get() { T::default() } else { value }
    }

    pub(super) fn recursion_problem(&self, deep: bool) -> Option<Problem> {
        let open = self.inside.borrow();
        let id = open.iter().rev().find_map(|id| *id)?;
        let item = &self.world.items[id];
        let again = open.iter().filter(|opened| **opened == Some(id)).count() > 2;
        let (message, hint) = match (deep, again) {
            (true, true) => (
                format!(
                    "`{}` is recursive, and the schema of a CRD cannot describe recursive types",
                    item.name
                ),
                "end the recursion with a type that accepts any value, e.g. `serde_json::Value`",
            ),
            (true, false) => (
                format!("`{}` is nested too deep in other types", item.name),
                "keep the types flatter",
            ),
            (false, _) => (
                format!("`{}` makes the schema larger than a CRD may be", item.name),
                "use fewer types that repeat the same types",
            ),
        };
        Some(self.world.problem_at(item.module, item.span, message, hint))
    }
}

/// Every `$ref` in a schema.
fn collect_references(value: &serde_json::Value, found: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(it) => {
            if let Some(serde_json::Value::String(reference)) = it.get("$ref") {
                found.insert(reference.clone());
            }
            it.values().for_each(|value| collect_references(value, found));
        }
        serde_json::Value::Array(it) => it.iter().for_each(|item| collect_references(item, found)),
        _ => {}
    }
}
