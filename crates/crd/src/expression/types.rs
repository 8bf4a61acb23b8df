//! Defines the types of CEL, and assigns them: a port of `checker/types.go` of cel-go 0.29.

use std::fmt;

use go_data::yaml::Value;

#[derive(Clone, Debug)]
pub enum Type<'a> {
    Dyn,
    /// The type of an expression with a fault, which is reported once.
    Error,
    Null,
    /// `bool`, `net.IP`, …
    Simple(&'static str),
    /// `list`, `map`, `optional_type` and `type`.
    Compound(&'static str, Vec<Type<'a>>),
    /// An object of a schema, and whether it is a resource.
    Object(&'a Value, bool),
    /// A type parameter of a function, as it is declared.
    Parameter(&'static str),
    /// A type that is not known yet.
    Variable(usize),
}

use Type::{Compound, Dyn, Error, Null, Object, Simple, Variable};

impl<'a> Type<'a> {
    pub fn list(item: Self) -> Self {
        Compound("list", vec![item])
    }

    pub fn map(key: Self, value: Self) -> Self {
        Compound("map", vec![key, value])
    }

    pub fn optional(of: Self) -> Self {
        Compound("optional_type", vec![of])
    }

    pub fn is_open(&self) -> bool {
        matches!(self, Dyn | Error)
    }

    /// The type inside of an optional one.
    pub fn unwrap_optional(self) -> (Self, bool) {
        match self {
            Compound("optional_type", mut of) if of.len() == 1 => (of.remove(0), true),
            other => (other, false),
        }
    }

    fn may_be_null(&self) -> bool {
        match self {
            Null | Object(..) | Compound("optional_type", _) => true,
            // Types of libraries.
            Simple(name) => name.contains('.'),
            _ => false,
        }
    }
}

impl PartialEq for Type<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Dyn, Dyn) | (Error, Error) | (Null, Null) => true,
            (Simple(one), Simple(other)) | (Type::Parameter(one), Type::Parameter(other)) => {
                one == other
            }
            (Compound(one, of), Compound(other, of_other)) => one == other && of == of_other,
            // Different schemas are different types.
            (Object(one, _), Object(other, _)) => std::ptr::eq(*one, *other),
            (Variable(one), Variable(other)) => one == other,
            _ => false,
        }
    }
}

impl fmt::Display for Type<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Simple(name) => f.write_str(name),
            Null => f.write_str("null"),
            Object(..) => f.write_str("object"),
            Compound(name, of) => {
                let of: Vec<String> = of.iter().map(Self::to_string).collect();
                write!(f, "{name}({})", of.join(", "))
            }
            Dyn | Error | Type::Parameter(_) | Variable(_) => f.write_str("dyn"),
        }
    }
}

/// Type variables, with the types that were inferred for them.
#[derive(Clone, Default)]
pub struct Variables<'a>(Vec<Option<Type<'a>>>);

impl<'a> Variables<'a> {
    pub fn add_variable(&mut self) -> Type<'a> {
        self.0.push(None);
        Variable(self.0.len() - 1)
    }

    /// Returns true if values of these types can be used as those; if not, no variable changes.
    pub fn are_assignable(&mut self, these: &[Type<'a>], those: &[Type<'a>]) -> bool {
        let before = self.clone();
        let fits = self.all_fit(these, those);
        if !fits {
            *self = before;
        }
        fits
    }

    pub fn is_assignable(&mut self, one: &Type<'a>, other: &Type<'a>) -> bool {
        self.are_assignable(std::slice::from_ref(one), std::slice::from_ref(other))
    }

    fn all_fit(&mut self, these: &[Type<'a>], those: &[Type<'a>]) -> bool {
        these.len() == those.len()
            && these.iter().zip(those).all(|(one, other)| self.fit(one, other))
    }

    fn fit(&mut self, one: &Type<'a>, other: &Type<'a>) -> bool {
        if let Variable(at) = other {
            let (is_valid, is_known) = self.substitute(one, *at);
            if is_valid || is_known {
                return is_valid;
            }
        }
        if let Variable(at) = one {
            return self.substitute(other, *at).0;
        }
        match (one, other) {
            _ if one.is_open() || other.is_open() => true,
            (Null, it) | (it, Null) => it.may_be_null(),
            (Compound("type", _), Compound("type", _)) => true,
            (Compound(one, of), Compound(other, of_other)) => {
                one == other && self.all_fit(of, of_other)
            }
            _ => one == other,
        }
    }

    /// Returns whether a variable can stand for a type, and whether it stood for one already.
    fn substitute(&mut self, type_: &Type<'a>, at: usize) -> (bool, bool) {
        if *type_ == Variable(at) {
            return (true, true);
        }
        if let Some(known) = self.0[at].clone() {
            if *type_ == known {
                return (true, true);
            }
            let fits = self.fit(type_, &known);
            let general = if is_less_specific(type_, &known) { type_.clone() } else { known };
            if fits && !self.mentions_variable(&general, at) {
                self.0[at] = Some(general);
            }
            return (fits, true);
        }
        let is_free = !self.mentions_variable(type_, at);
        if is_free {
            self.0[at] = Some(type_.clone());
        }
        (is_free, false)
    }

    fn mentions_variable(&self, type_: &Type<'a>, at: usize) -> bool {
        match type_ {
            Variable(other) if *other == at => true,
            Variable(other) => {
                self.0[*other].as_ref().is_some_and(|known| self.mentions_variable(known, at))
            }
            Compound(_, of) => of.iter().any(|type_| self.mentions_variable(type_, at)),
            _ => false,
        }
    }

    /// Returns a type with everything that is known.
    pub fn resolve(&self, type_: &Type<'a>) -> Type<'a> {
        match type_ {
            Variable(at) => self.0[*at].as_ref().map_or(Variable(*at), |known| self.resolve(known)),
            Compound(name, of) => {
                Compound(name, of.iter().map(|type_| self.resolve(type_)).collect())
            }
            other => other.clone(),
        }
    }

    /// Returns a type with everything that is known, and `dyn` where nothing is known.
    pub fn resolve_or_dyn(&self, type_: &Type<'a>) -> Type<'a> {
        match self.resolve(type_) {
            Variable(_) => Dyn,
            Compound(name, of) => {
                Compound(name, of.iter().map(|type_| self.resolve_or_dyn(type_)).collect())
            }
            other => other,
        }
    }

    /// Returns the type of items of which some have the one and some the other type; none if the types do not fit.
    pub fn join_types(&mut self, one: Type<'a>, other: Type<'a>) -> Option<Type<'a>> {
        let fits = self.is_assignable(&one, &other);
        fits.then(|| if is_less_specific(&one, &other) { one } else { other })
    }
}

fn is_less_specific(one: &Type<'_>, other: &Type<'_>) -> bool {
    match (one, other) {
        (Dyn | Variable(_), _) => true,
        (_, Dyn | Variable(_)) => false,
        (Compound("type", _), Compound("type", _)) => true,
        (Compound(one, of), Compound(other, of_other)) => {
            one == other
                && of.len() == of_other.len()
                && of.iter().zip(of_other).all(|(one, other)| is_less_specific(one, other))
        }
        _ => one == other,
    }
}
