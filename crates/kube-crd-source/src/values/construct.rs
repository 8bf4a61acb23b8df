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
    LiteralChar: "`'c'`",
    Negation: "`-1`, `-LIMIT`",
    Arithmetic: "`+ - * / %` of numbers whose type is known; an overflow is refused",
    ShiftLeft: "`1 << 40`",
    Comparison: "`==`, `!=`, `<`, … of scalars, texts and values that derive `PartialEq`",
    Logic: "`&&`, `||`, `!`",
    Cast: "`x as u32` between numbers",
    Reference: "`&x`",
    Dereference: "`*x` of a scalar or a text",
    Constant: "a `const` of the project, in its own type",
    Static: "a `static` of the project",
    AssociatedConstant: "`Self::LIMIT`, a constant of a type's own `impl`",
    NumberConstant: "`u16::MAX`",
    StructLiteral: "`Point { x: 1 }`",
    StructUpdate: "`..Default::default()`",
    TupleStruct: "`Point(1, 2)`",
    UnitVariant: "`Mode::Fast`",
    TupleVariant: "`Mode::Named(…)`",
    StructVariant: "`Mode::Named { … }`",
    Tuple: "`(1, \"a\")`",
    Array: "`[1, 2]`",
    Vec: "`vec![1, 2]`",
    Json: "`json!({ … })`",
    JsonSchema: "`json_schema!({ … })`",
    Format: "`format!(\"{}-{name}\", …)` of texts, integers and booleans",
    Concat: "`concat!(\"a\", 1)`",
    ModulePath: "`module_path!()`",
    CfgMacro: "`cfg!(feature = \"…\")`",
    Matches: "`matches!(value, pattern)`",
    Some: "`Some(…)`",
    None: "`None`",
    Into: "`.into()` between types of std and of serde_json",
    From: "`String::from(…)` and its like",
    ToString: "`.to_string()`, `.to_owned()` of texts; `.to_string()` of integers",
    Clone: "`.clone()` of what derives `Clone` throughout",
    Parse: "`\"…\".parse().unwrap()` to types of std and known crates",
    Unwrap: "`.unwrap()`, `.expect(…)` of what is there",
    TraitDefault: "`Default::default()`",
    TypeDefault: "`T::default()`",
    DerivedDefault: "a derived `Default`",
    HandWrittenDefault: "a hand-written `impl Default`",
    Function: "a call of a free function of the project",
    AssociatedFunction: "a call of a function of a type's own `impl`",
    GenericFunction: "a function with type parameters that are given",
    Return: "`return x;`",
    If: "`if … { … } else { … }`",
    IfLet: "`if let Some(x) = …`",
    MatchLiteral: "`match` on literals and ranges",
    MatchConstant: "`match` on constants: a name that is a constant compares",
    MatchVariant: "`match` on variants, with bindings",
    Let: "`let x = …;`",
    LetMut: "`let mut` of a schema or a map that `insert` changes",
    CfgStatement: "`#[cfg(…)]` on a statement, an arm or a field of a literal",
    Block: "`{ … }`",
    Field: "`x.field`",
    Empty: "`String::new()`, `Vec::new()`, `BTreeMap::new()`",
    MapFrom: "`BTreeMap::from([(…, …)])`",
    Length: "`.len()` of texts and lists",
    IsEmpty: "`.is_empty()` of texts, lists and maps",
    IsNone: "`.is_none()`, `.is_some()`",
    BoxNew: "`Box::new(…)`",
    Duration: "`Duration::from_secs(…)`",
    Quantity: "`Quantity(…)`, `IntOrString::Int(…)`",
    SkipStandard: "`skip_serializing_if` with a function of std",
    SkipOwn: "`skip_serializing_if` with a function of the project",
    DerivedSerialize: "a derived `Serialize`, with serde's attributes",
    SubschemaFor: "`generator.subschema_for::<T>()`",
    CallJsonSchema: "`T::json_schema(generator)`",
    CallSchemaName: "`T::schema_name()`, `T::schema_id()`, `T::inline_schema()`",
    SchemaInsert: "`schema.insert(…)` of a local schema or map",
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
