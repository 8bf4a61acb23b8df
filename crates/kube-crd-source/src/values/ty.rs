//! The types that code names, as far as a value needs them: without references and boxes.

use std::rc::Rc;

use syn::spanned::Spanned as _;

use super::{Eval, Evaluator, Frame, Stop};
use crate::builtin::crates;
use crate::names::{Named, Space};
use crate::text::unraw_name;
use crate::tree::{ItemKind, Path};
use crate::types::Type;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    /// Not known: what needs a type is refused.
    Unknown,
    /// Any type will do, as for `impl Serialize`: a number without a type is an `i32` or an `f64`.
    Any,
    /// An `Option` or a `Result` around a type, which `unwrap` takes away.
    Outcome(Box<Self>),
    Int(Int),
    F32,
    F64,
    Tuple(Vec<Self>),
    Array(Box<Self>, usize),
    /// A struct or enum of the project.
    Data(Rc<Type>),
    /// A type of the language or of another crate, by its whole path.
    Foreign(String, Vec<Self>),
}

macro_rules! integers {
    ($($name:ident $real:ty, $low:expr, $high:expr;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Int {
            $($name,)*
        }

        impl Int {
            pub fn parse(name: &str) -> Option<Self> {
                [$((stringify!($real), Self::$name)),*].into_iter().find(|row| row.0 == name).map(|it| it.1)
            }

            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($real),)*
                }
            }

            /// The lowest and the highest number; a `u128` is read as far as an `i128` goes.
            pub fn range(self) -> (i128, i128) {
                match self {
                    $(Self::$name => ($low, $high),)*
                }
            }
        }
    };
}

integers! {
    I8 i8, i8::MIN as i128, i8::MAX as i128;
    I16 i16, i16::MIN as i128, i16::MAX as i128;
    I32 i32, i32::MIN as i128, i32::MAX as i128;
    I64 i64, i64::MIN as i128, i64::MAX as i128;
    I128 i128, i128::MIN, i128::MAX;
    Isize isize, i64::MIN as i128, i64::MAX as i128;
    U8 u8, 0, u8::MAX as i128;
    U16 u16, 0, u16::MAX as i128;
    U32 u32, 0, u32::MAX as i128;
    U64 u64, 0, u64::MAX as i128;
    U128 u128, 0, i128::MAX;
    Usize usize, 0, u64::MAX as i128;
}

impl Int {
    /// The number of bits; none if that depends on the platform.
    pub fn bits(self) -> Option<u32> {
        self.name().trim_start_matches(|letter: char| !letter.is_ascii_digit()).parse().ok()
    }

    pub fn is_signed(self) -> bool {
        self.range().0 < 0
    }

    /// The number that the lowest bits of a pattern are; none if that depends on the platform, or is not within an `i128`.
    pub fn number_of_pattern(self, pattern: u128) -> Option<i128> {
        let unused = 128 - self.bits()?;
        if self.is_signed() {
            return Some(((pattern << unused) as i128) >> unused);
        }
        i128::try_from((pattern << unused) >> unused).ok()
    }

    /// Returns whether std converts every number of this type by `From`.
    pub fn converts_to(self, to: Self) -> bool {
        match (self.bits(), to.bits()) {
            (Some(from), Some(bits)) if self.is_signed() == to.is_signed() => from < bits,
            (Some(from), Some(bits)) => !self.is_signed() && from < bits,
            // Both have at least 16 bits.
            (Some(from), None) if self.is_signed() == to.is_signed() => from <= 16,
            (Some(from), None) => !self.is_signed() && from < 16,
            (None, _) => false,
        }
    }

    pub fn can_hold(self, number: i128) -> bool {
        let (low, high) = self.range();
        (low..=high).contains(&number)
    }
}

/// Types that are read as what is in them.
const TRANSPARENT: &[&str] =
    &["&", "std::boxed::Box", "std::rc::Rc", "std::sync::Arc", "std::borrow::Cow"];

/// Returns whether a type is read as what is in it.
pub fn is_transparent(path: &str) -> bool {
    TRANSPARENT.contains(&path)
}

impl Ty {
    pub fn foreign(path: &str) -> Self {
        match (Int::parse(path), path) {
            (Some(it), _) => Self::Int(it),
            (_, "f32") => Self::F32,
            (_, "f64") => Self::F64,
            (_, "()") => Self::Tuple(Vec::new()),
            _ => Self::Foreign(path.to_owned(), Vec::new()),
        }
    }

    /// Converts a type of the schema reader.
    pub fn from_type(ty: &Rc<Type>) -> Self {
        match &**ty {
            Type::Data(..) => Self::Data(ty.clone()),
            Type::Foreign { path, arguments, .. } => {
                Self::from_path(path, arguments.iter().map(Self::from_type).collect())
            }
            Type::Kubernetes(_) => Self::foreign(ty.path()),
            Type::Root(_) | Type::Function(_) => Self::Unknown,
        }
    }

    fn from_path(path: &str, mut arguments: Vec<Self>) -> Self {
        match (path, &arguments[..]) {
            ("serde_json::Map", _) => return Self::foreign(path),
            ("chrono::DateTime", [Self::Foreign(zone, _)]) if zone == "chrono::Utc" => {
                return Self::foreign("chrono::DateTime<Utc>");
            }
            _ => {}
        }
        if is_transparent(path) && arguments.len() == 1 {
            return arguments.remove(0);
        }
        if path.starts_with('(') && !arguments.is_empty() {
            return Self::Tuple(arguments);
        }
        let count =
            path.strip_prefix("[;").and_then(|length| length.strip_suffix(']')?.parse().ok());
        if let (Some(count), [_]) = (count, &arguments[..]) {
            return Self::Array(Box::new(arguments.remove(0)), count);
        }
        arguments.truncate(crates::arguments_that_count(path));
        match &arguments[..] {
            [] => Self::foreign(canonical_path(path)),
            _ => Self::Foreign(path.to_owned(), arguments),
        }
    }

    /// Its path, where it is of the language or of another crate.
    pub fn path(&self) -> &str {
        match self {
            Self::Foreign(path, _) => path,
            _ => "",
        }
    }

    /// The type of the content of an `Option`, a list or a map, by position.
    pub fn content_type(&self, index: usize) -> Self {
        match self {
            Self::Foreign(_, inside) => inside.get(index).cloned().unwrap_or(Self::Unknown),
            Self::Array(inside, _) | Self::Outcome(inside) => (**inside).clone(),
            Self::Tuple(inside) => inside.get(index).cloned().unwrap_or(Self::Unknown),
            Self::Any => Self::Any,
            _ => Self::Unknown,
        }
    }

    pub fn is_known(&self) -> bool {
        !matches!(self, Self::Unknown | Self::Any)
    }
}

/// Paths by which schemars shows one type more than once.
fn canonical_path(path: &str) -> &str {
    let schemars = path.starts_with("schemars::");
    match path.rsplit("::").next() {
        Some("SchemaGenerator") if schemars => "schemars::SchemaGenerator",
        _ => path,
    }
}

impl Evaluator<'_> {
    /// Resolves a type in the code of a frame.
    pub fn resolve_type(&self, frame: &Frame, ty: &syn::Type) -> Eval<Ty> {
        self.ty_at(frame, ty, 0)
    }

    fn ty_at(&self, frame: &Frame, ty: &syn::Type, depth: u8) -> Eval<Ty> {
        self.step(frame, ty)?;
        if depth > 48 {
            return self.refuse(frame, ty, "the type is nested too deep");
        }
        let inner = |ty: &syn::Type| self.ty_at(frame, ty, depth + 1);
        Ok(match ty {
            syn::Type::Paren(it) => inner(&it.elem)?,
            syn::Type::Group(it) => inner(&it.elem)?,
            syn::Type::Reference(it) => inner(&it.elem)?,
            syn::Type::Slice(it) => Ty::Foreign("[]".to_owned(), vec![inner(&it.elem)?]),
            syn::Type::Array(it) => match self.eval_expr(frame, &it.len, &Ty::Int(Int::Usize))? {
                Value::Int(count, _) => Ty::Array(
                    Box::new(inner(&it.elem)?),
                    usize::try_from(count).unwrap_or(usize::MAX),
                ),
                _ => return self.refuse(frame, &it.len, "it is not a length"),
            },
            syn::Type::Tuple(it) => Ty::Tuple(it.elems.iter().map(inner).collect::<Eval<_>>()?),
            syn::Type::Path(it) if it.qself.is_none() => {
                self.path_type(frame, ty, &it.path, depth)?
            }
            _ => return self.refuse(frame, ty, "this form of type is not supported"),
        })
    }

    fn path_type(&self, frame: &Frame, ty: &syn::Type, path: &syn::Path, depth: u8) -> Eval<Ty> {
        if let (Some(first), None) = (path.segments.first(), path.leading_colon)
            && let Some(found) = frame.scope.parameters.get(&unraw_name(&first.ident))
        {
            return match path.segments.len() {
                1 => Ok(Ty::from_type(found)),
                _ => self.refuse(frame, ty, "an associated type is not supported"),
            };
        }
        match self.world.resolve_path(frame.scope.module, &Path::from(path), Space::Types) {
            Ok(Named::Foreign(name)) => {
                let arguments = match path.segments.last().map(|segment| &segment.arguments) {
                    Some(syn::PathArguments::AngleBracketed(it)) => it
                        .args
                        .iter()
                        .filter_map(|argument| match argument {
                            syn::GenericArgument::Type(it) => {
                                Some(self.ty_at(frame, it, depth + 1))
                            }
                            _ => None,
                        })
                        .collect::<Eval<_>>()?,
                    _ => Vec::new(),
                };
                Ok(Ty::from_path(&name, arguments))
            }
            Ok(Named::Item(id)) => match &self.world.items[id].kind {
                ItemKind::Alias(alias) if alias.generics.params.is_empty() => {
                    let there = Frame::new(self.world.items[id].module);
                    self.ty_at(&there, &alias.ty, depth + 4)
                }
                _ => self
                    .world
                    .type_in(&frame.scope, ty)
                    .map(|ty| Ty::from_type(&ty))
                    .map_err(Stop::from),
            },
            _ => self
                .world
                .type_in(&frame.scope, ty)
                .map(|ty| Ty::from_type(&ty))
                .map_err(Stop::from),
        }
    }

    /// A type as one would write it, for messages.
    pub fn name_of(&self, ty: &Ty) -> String {
        let all =
            |types: &[Ty]| types.iter().map(|ty| self.name_of(ty)).collect::<Vec<_>>().join(", ");
        match ty {
            Ty::Unknown | Ty::Any => "_".to_owned(),
            Ty::Outcome(it) => format!("Result<{}>", self.name_of(it)),
            Ty::Int(it) => it.name().to_owned(),
            Ty::F32 => "f32".to_owned(),
            Ty::F64 => "f64".to_owned(),
            Ty::Tuple(it) => format!("({})", all(it)),
            Ty::Array(it, count) => format!("[{}; {count}]", self.name_of(it)),
            Ty::Data(it) => match &**it {
                Type::Data(id, _) => self.world.items[*id].name.clone(),
                _ => "_".to_owned(),
            },
            Ty::Foreign(path, inside) => {
                let last = path.rsplit("::").next().unwrap_or(path);
                match inside[..] {
                    [] => last.to_owned(),
                    _ => format!("{last}<{}>", all(inside)),
                }
            }
        }
    }

    /// A type of the project's or another's by its syntax, as schemas know it.
    pub fn schema_type(&self, frame: &Frame, ty: &syn::Type) -> Eval<Rc<Type>> {
        let _ = ty.span();
        self.world.type_in(&frame.scope, ty).map_err(Stop::from)
    }
}

use super::value::Value;
