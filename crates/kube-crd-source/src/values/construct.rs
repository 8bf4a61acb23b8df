//! The closed list of what the evaluator accepts. Whatever is not on it is refused at its place.
//!
//! Beside each stands a differential case, `tests/differential/constructs/<name>.rs`: it is compiled with the
//! real kube, and both prints must be equal. A construct without a case, or a case without a construct, fails a
//! test.

macro_rules! constructs {
    ($($name:ident: $doc:literal,)*) => {
        /// One thing that code in a default, a constant or a hand-written schema may do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Construct {
            $(#[doc = $doc] $name,)*
        }

        #[cfg(test)]
        impl Construct {
            pub const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

constructs! {
    LiteralText: "`\"text\"`, raw or not",
    LiteralInteger: "`5`, `0x7f_u8`, in the range of its type",
    LiteralFloat: "`0.1`, rounded once to the width of its type",
    LiteralBool: "`true`",
    Negation: "`-1`, and the negation of a number",
    Arithmetic: "`+ - * / %` of integers whose type is known; an overflow is refused",
    FloatArithmetic: "the same of `f32` and `f64`, where the result is finite",
    BitOperation: "`<< >> & | ^` of integers whose type is known",
    Cast: "`x as i64` of numbers and booleans; `x as f64` of numbers",
    CastEnum: "`Mode::Fast as u8` of an enum without fields",
    Comparison: "`==`, `!=` of scalars, texts and values that derive `PartialEq`",
    Ordering: "`< <= > >=` of numbers and texts",
    Logic: "`&&`, `||`",
    Not: "`!x` of a boolean",
    If: "`if … { … } else { … }` of a condition whose value is known",
    CfgMacro: "`cfg!(…)` that the source decides",
    Dereference: "`*x` of a value that implements no `Deref` of its own",
    Reference: "`&x`",
    Constant: "a `const` of the project, in its own type",
    IntegerLimit: "`u32::MAX`, `i8::MIN`, but for `usize` and `isize`",
    AssociatedConstant: "`Self::LIMIT`, a constant of a type's own `impl`",
    StructLiteral: "`Point { x: 1 }`",
    StructUpdate: "`..Default::default()`",
    TupleStruct: "`Point(1, 2)`",
    UnitVariant: "`Mode::Fast`",
    TupleVariant: "`Mode::Named(…)`",
    StructVariant: "`Mode::Named { … }`",
    Vec: "`vec![1, 2]`",
    Json: "`json!({ … })`",
    JsonSchema: "`json_schema!({ … })`",
    Format: "`format!(\"{}-{name}\", …)` of texts, integers and booleans",
    Concat: "`concat!(\"a\", 1)`",
    ModulePath: "`module_path!()`",
    IncludeStr: "`include_str!(\"rule.cel\")` of a file of the package",
    Env: "`env!(\"CARGO_PKG_VERSION\")`, `CARGO_PKG_NAME` and other keys of the package",
    Matches: "`matches!(value, Mode::Fast | Mode::Slow)`, `matches!(value, 0)`",
    Some: "`Some(…)`",
    None: "`None`",
    Into: "`.into()` between types of std and of serde_json",
    From: "`String::from(…)`, `i64::from(…)` and their like",
    MapFrom: "`BTreeMap::from([(\"a\".to_owned(), …), …])` with texts as keys",
    ToString: "`.to_string()`, `.to_owned()` of texts; `.to_string()` of integers",
    Unwrap: "`.unwrap()`, `.expect(…)` of what is there",
    TraitDefault: "`Default::default()`",
    TypeDefault: "`T::default()`",
    DerivedDefault: "a derived `Default`",
    HandWrittenDefault: "a hand-written `impl Default`",
    Function: "a call of a free function of the project",
    AssociatedFunction: "a call of a function of a type's own `impl`",
    GenericFunction: "a function with type parameters that are given",
    Let: "`let x = …;`",
    LetMut: "`let mut` of a schema or a map of JSON that `insert` changes",
    CfgStatement: "`#[cfg(…)]` on a statement or a field of a literal",
    Block: "`{ … }`",
    Field: "`x.field`",
    Empty: "`String::new()`, `Vec::new()`, `BTreeMap::new()`",
    Length: "`.len()` of texts and lists",
    IsEmpty: "`.is_empty()` of texts, lists and maps",
    IsNone: "`.is_none()`, `.is_some()`",
    BoxNew: "`Box::new(…)`",
    Quantity: "`Quantity(…)`",
    IntOrString: "`IntOrString::Int(…)`, `IntOrString::String(…)`",
    SkipStandard: "`skip_serializing_if` with a function of std",
    SkipOwn: "`skip_serializing_if` with a function of the project",
    DerivedSerialize: "a derived `Serialize`, with serde's attributes",
    SubschemaFor: "`generator.subschema_for::<T>()`",
    CallJsonSchema: "`T::json_schema(generator)`",
    CallSchemaName: "`T::schema_name()`, `T::schema_id()`, `T::inline_schema()`",
    SchemaInsert: "`schema.insert(…)` of a local schema or map of JSON",
    SchemaToValue: "`schema.to_value()`",
    SchemaTryFrom: "`Schema::try_from(…).unwrap()`, `json.try_into().unwrap()`, `Schema::from(…)`",
    FromValue: "`serde_json::from_value(…).unwrap()`",
    ToValue: "`serde_json::to_value(…).unwrap()`",
    JsonValue: "`Value::Bool(…)`, `Value::Array(…)`, `Value::Null`",
}

#[cfg(test)]
pub mod record {
    //! What was accepted since the last look, for the test that each construct has a case.

    use std::cell::RefCell;
    use std::collections::BTreeSet;

    use super::Construct;

    thread_local! {
        static ACCEPTED: RefCell<BTreeSet<Construct>> = const { RefCell::new(BTreeSet::new()) };
    }

    pub fn add(construct: Construct) {
        ACCEPTED.with(|it| it.borrow_mut().insert(construct));
    }

    pub fn take() -> BTreeSet<Construct> {
        ACCEPTED.with(RefCell::take)
    }
}
