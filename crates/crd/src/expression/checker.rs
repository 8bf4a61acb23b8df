//! Infers the types of a rule: a port of `checker/checker.go` of cel-go 0.29, as API servers set it up.

use std::{collections::BTreeMap, ptr};

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, ListExpr, LiteralValue, MapExpr,
};

use super::{
    TYPES,
    functions::{Functions, Overload},
    literals,
    schema::field_of,
    types::{
        Type::{self, Compound, Dyn, Error, Null, Object, Parameter, Simple, Variable},
        Variables,
    },
};

/// Macros that the parser does not expand, with the number of their arguments: these are not checked.
const MACROS: &[(&str, &[usize])] = &[
    ("all", &[3]),
    ("exists", &[3]),
    ("exists_one", &[3]),
    ("existsOne", &[3]),
    ("optFlatMap", &[2]),
    ("optMap", &[2]),
    ("sortBy", &[2]),
    ("transformList", &[3, 4]),
    ("transformMap", &[3, 4]),
    ("transformMapEntry", &[3, 4]),
];

pub struct Checker<'a> {
    pub functions: &'static Functions,
    /// The names in scope, the last one first.
    pub scope: Vec<(String, Type<'a>)>,
    /// True if all items of a list must have one type.
    pub is_homogeneous: bool,
    pub faults: Vec<String>,
    /// The features that decide about types and are not checked here.
    pub unchecked: Option<String>,
    variables: Variables<'a>,
    /// The result for each expression.
    found: BTreeMap<*const IdedExpr, (Type<'a>, Vec<&'static Overload>)>,
    /// The types that must be equal in the end.
    equal: Vec<(Type<'a>, Type<'a>)>,
    /// The number of calls of `format` that enclose the current expression.
    formats: usize,
    /// The overloads that the call checked last can be of.
    overloads: Vec<&'static Overload>,
}

impl<'a> Checker<'a> {
    pub fn new(functions: &'static Functions, scope: Vec<(String, Type<'a>)>) -> Self {
        let (faults, unchecked) = (Vec::new(), None);
        let (variables, found, overloads) = (Variables::default(), BTreeMap::new(), Vec::new());
        let (is_homogeneous, equal, formats) = (true, Vec::new(), 0);
        Self {
            functions,
            scope,
            is_homogeneous,
            faults,
            unchecked,
            variables,
            found,
            equal,
            formats,
            overloads,
        }
    }

    /// Returns the type of an expression, with everything that is known in the end.
    pub fn type_of(&mut self, expr: &IdedExpr) -> Type<'a> {
        let type_ = self.infer_and_record(expr);
        for (one, other) in std::mem::take(&mut self.equal) {
            let (one, other) =
                (self.variables.resolve_or_dyn(&one), self.variables.resolve_or_dyn(&other));
            if one != other && one != Error && other != Error {
                self.report(format!("a list or map has items of the types {one} and {other}"));
            }
        }
        self.variables.resolve(&type_)
    }

    fn report(&mut self, what: String) -> Type<'a> {
        if !self.faults.contains(&what) {
            self.faults.push(what);
        }
        Error
    }

    /// Returns the type of a part of the checked expression.
    pub fn type_at(&self, expr: &IdedExpr) -> Type<'a> {
        let found = self.found.get(&ptr::from_ref(expr));
        found.map_or(Dyn, |typed| self.variables.resolve(&typed.0))
    }

    /// Returns the possible overloads of a call in the checked expression.
    pub fn overloads_at(&self, expr: &IdedExpr) -> &[&'static Overload] {
        self.found.get(&ptr::from_ref(expr)).map_or(&[], |typed| &typed.1)
    }

    fn infer_and_record(&mut self, expr: &IdedExpr) -> Type<'a> {
        let found = self.infer_type(expr);
        let overloads = std::mem::take(&mut self.overloads);
        self.found.insert(ptr::from_ref(expr), (found.clone(), overloads));
        found
    }

    fn infer_type(&mut self, expr: &IdedExpr) -> Type<'a> {
        match &expr.expr {
            Expr::Literal(it) => match it {
                LiteralValue::Boolean(_) => Simple("bool"),
                LiteralValue::Bytes(_) => Simple("bytes"),
                LiteralValue::Double(_) => Simple("double"),
                LiteralValue::Int(_) => Simple("int"),
                LiteralValue::String(_) => Simple("string"),
                LiteralValue::UInt(_) => Simple("uint"),
                LiteralValue::Null => Null,
            },
            Expr::Ident(name) => self.type_of_name(name),
            Expr::Select(it) => {
                if dotted_name(expr).is_some_and(|name| self.is_type(&name)) {
                    return Compound("type", vec![Dyn]);
                }
                let operand = self.infer_and_record(&it.operand);
                let found = self.type_of_field(operand, &it.field, false);
                if it.test { Simple("bool") } else { found }
            }
            Expr::Call(it) => {
                let is_format = usize::from(it.func_name == "format");
                self.formats += is_format;
                let found = self.type_of_call(it);
                self.formats -= is_format;
                found
            }
            Expr::List(it) => self.type_of_list(it),
            Expr::Map(it) => self.type_of_map(it),
            Expr::Comprehension(it) => self.type_of_comprehension(it),
            Expr::Struct(_) | Expr::Unspecified => self.leave_unchecked("a message literal"),
        }
    }

    fn leave_unchecked(&mut self, what: &str) -> Type<'a> {
        self.unchecked.get_or_insert_with(|| what.to_owned());
        Dyn
    }

    fn type_of_name(&mut self, name: &str) -> Type<'a> {
        if let Some((_, found)) = self.scope.iter().rev().find(|variable| variable.0 == name) {
            return found.clone();
        }
        if TYPES.contains(&name) {
            Compound("type", vec![Dyn])
        } else {
            self.report(format!("there is no variable `{name}`"))
        }
    }

    /// Returns true if a name with dots is that of a type.
    fn is_type(&self, name: &str) -> bool {
        let is = |kind: &Type<'_>| matches!(kind, Simple(kind) if *kind == name);
        let has = |overload: &Overload| is(&overload.result) || overload.arguments.iter().any(is);
        self.functions.values().flatten().any(has)
    }

    fn type_of_field(&mut self, operand: Type<'a>, field: &str, is_optional: bool) -> Type<'a> {
        let (of, was_optional) = self.variables.resolve(&operand).unwrap_optional();
        let found = match &of {
            Compound("map", of) if of.len() == 2 => of[1].clone(),
            Object(schema, is_resource) => match field_of(schema, *is_resource, field) {
                Some(found) => found,
                None => self.report(format!("there is no field `{field}`")),
            },
            Variable(_) => {
                self.variables.is_assignable(&Dyn, &of);
                Dyn
            }
            Dyn | Error => Dyn,
            other => self.report(format!(
                "there is no field `{field}`: a value of the type {other} has no fields"
            )),
        };
        if is_optional || was_optional { Type::optional(found) } else { found }
    }

    fn type_of_call(&mut self, call: &CallExpr) -> Type<'a> {
        let name = call.func_name.as_str();
        if name == "_?._"
            && let [operand, field] = &call.args[..]
        {
            let operand = self.infer_and_record(operand);
            return match &field.expr {
                Expr::Literal(LiteralValue::String(field)) => {
                    self.type_of_field(operand, field.inner(), true)
                }
                _ => self.report("a field after `.?` has no name".to_owned()),
            };
        }
        let functions = self.functions;
        let namespaced = call
            .target
            .as_deref()
            .and_then(dotted_name)
            .map(|namespace| format!("{namespace}.{name}"));
        let namespaced =
            namespaced.and_then(|qualified| functions.get_key_value(qualified.as_str()));
        if let Some((name, overloads)) = namespaced {
            let arguments = call.args.iter().map(|arg| self.infer_and_record(arg)).collect();
            return self.resolve_call(name, overloads, false, arguments);
        }
        let target = call.target.as_deref().map(|target| self.infer_and_record(target));
        let Some(overloads) = functions.get(name) else {
            let is_macro =
                |entry: &(&str, &[usize])| entry.0 == name && entry.1.contains(&call.args.len());
            return if MACROS.iter().any(is_macro) && target.is_some() {
                self.leave_unchecked(&format!("`{name}`"))
            } else {
                self.report(format!("there is no function `{name}`"))
            };
        };
        let is_method = target.is_some();
        let mut arguments: Vec<_> = target.into_iter().collect();
        arguments.extend(call.args.iter().map(|arg| self.infer_and_record(arg)));
        if let Some(fault) = literals::check_literal(name, call) {
            return self.report(fault);
        }
        self.resolve_call(name, overloads, is_method, arguments)
    }

    /// Returns the result of the overloads that take these arguments.
    fn resolve_call(
        &mut self,
        name: &str,
        overloads: &'static [Overload],
        is_method: bool,
        arguments: Vec<Type<'a>>,
    ) -> Type<'a> {
        let mut result_type: Option<Type<'a>> = None;
        for overload in overloads.iter().filter(|overload| overload.is_method == is_method) {
            let mut parameters = Vec::new();
            let mut instantiate = |it, variables: &mut Variables<'a>| {
                instantiate_type(it, &mut parameters, variables)
            };
            let expected: Vec<_> = overload
                .arguments
                .iter()
                .map(|argument| instantiate(argument, &mut self.variables))
                .collect();
            let result = instantiate(&overload.result, &mut self.variables);
            if !self.variables.are_assignable(&arguments, &expected) {
                continue;
            }
            self.overloads.push(overload);
            let result = self.variables.resolve(&result);
            result_type = match result_type {
                None => Some(result),
                Some(Dyn) => Some(Dyn),
                Some(before) if before == result => Some(before),
                Some(_) => Some(Dyn),
            };
        }
        result_type.unwrap_or_else(|| {
            let types =
                arguments.iter().map(|argument| self.variables.resolve(argument).to_string());
            let types: Vec<String> = types.collect();
            let name = name.trim_matches(['_', '@']);
            self.report(format!(
                "`{name}` does not accept arguments of the types ({})",
                types.join(", ")
            ))
        })
    }

    fn type_of_list(&mut self, list: &ListExpr) -> Type<'a> {
        let (mut item, mut items) = (None, Vec::new());
        for (at, it) in list.elements.iter().enumerate() {
            let type_ = self.infer_and_record(it);
            let type_ = self.type_inside_optional(type_, list.optional_indices.contains(&at));
            items.push(type_.clone());
            item = Some(self.join_types(item, type_));
        }
        self.require_equal(&items);
        Type::list(item.unwrap_or_else(|| self.variables.add_variable()))
    }

    fn type_of_map(&mut self, map: &MapExpr) -> Type<'a> {
        let (mut keys, mut values) = (None, None);
        let mut types = (Vec::new(), Vec::new());
        for entry in &map.entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else { continue };
            let key = self.infer_and_record(&entry.key);
            types.0.push(key.clone());
            keys = Some(self.join_types(keys, key));
            let value = self.infer_and_record(&entry.value);
            let value = self.type_inside_optional(value, entry.optional);
            types.1.push(value.clone());
            values = Some(self.join_types(values, value));
        }
        self.require_equal(&types.0);
        self.require_equal(&types.1);
        let mut or_fresh =
            |type_: Option<_>| type_.unwrap_or_else(|| self.variables.add_variable());
        let key = or_fresh(keys);
        Type::map(key, or_fresh(values))
    }

    /// Returns the type inside of an optional item.
    fn type_inside_optional(&mut self, type_: Type<'a>, is_optional: bool) -> Type<'a> {
        if !is_optional {
            return type_;
        }
        match self.variables.resolve(&type_).unwrap_optional() {
            (inside, true) => inside,
            (other, false) if other.is_open() => other,
            (other, false) => {
                self.report(format!("an item after `?` is not optional, but {other}"))
            }
        }
    }

    fn join_types(&mut self, before: Option<Type<'a>>, next: Type<'a>) -> Type<'a> {
        let Some(before) = before else { return next };
        self.variables.join_types(before, next).unwrap_or(Dyn)
    }

    /// Notes that all items of a literal must be of the type of the first, unless they are arguments of `format`.
    fn require_equal(&mut self, items: &[Type<'a>]) {
        if let [first, rest @ ..] = items
            && self.is_homogeneous
            && self.formats == 0
        {
            self.equal.extend(rest.iter().map(|item| (first.clone(), item.clone())));
        }
    }

    fn type_of_comprehension(&mut self, it: &ComprehensionExpr) -> Type<'a> {
        let range = self.infer_and_record(&it.iter_range);
        let start = self.infer_and_record(&it.accu_init);
        let depth = self.scope.len();
        self.scope.push((it.accu_var.clone(), start.clone()));
        let range = self.variables.resolve(&range);
        let (one, two) = match &range {
            Compound("list", of) if it.iter_var2.is_some() => (Simple("int"), of[0].clone()),
            Compound("list", of) => (of[0].clone(), Dyn),
            Compound("map", of) => (of[0].clone(), of[1].clone()),
            Dyn | Error | Variable(_) => {
                self.variables.is_assignable(&Dyn, &range);
                (Dyn, Dyn)
            }
            other => (self.report(format!("a value of the type {other} has no items")), Error),
        };
        self.scope.push((it.iter_var.clone(), one));
        self.scope.extend(it.iter_var2.iter().map(|name| (name.clone(), two.clone())));
        for (expr, expected) in [(&it.loop_cond, Simple("bool")), (&it.loop_step, start)] {
            let found = self.infer_and_record(expr);
            if !self.variables.is_assignable(&expected, &found) {
                let (expected, found) =
                    (self.variables.resolve(&expected), self.variables.resolve(&found));
                self.report(format!(
                    "a value of the type {found} is used where {expected} is required"
                ));
            }
        }
        self.scope.truncate(depth + 1);
        let result = self.infer_and_record(&it.result);
        self.scope.truncate(depth);
        self.variables.resolve(&result)
    }
}

/// Returns a declared type with a variable for each of its parameters.
fn instantiate_type<'a>(
    type_: &Type<'static>,
    parameters: &mut Vec<(&'static str, Type<'a>)>,
    variables: &mut Variables<'a>,
) -> Type<'a> {
    match type_ {
        Parameter(name) => match parameters.iter().find(|parameter| parameter.0 == *name) {
            Some((_, known)) => known.clone(),
            None => {
                let fresh = variables.add_variable();
                parameters.push((*name, fresh.clone()));
                fresh
            }
        },
        Compound(name, of) => Compound(
            name,
            of.iter().map(|type_| instantiate_type(type_, parameters, variables)).collect(),
        ),
        other => other.clone(),
    }
}

/// Returns `a.b.c` if an expression consists of names only.
pub fn dotted_name(expr: &IdedExpr) -> Option<String> {
    match &expr.expr {
        Expr::Ident(name) => Some(name.clone()),
        Expr::Select(it) if !it.test => Some(format!("{}.{}", dotted_name(&it.operand)?, it.field)),
        _ => None,
    }
}
