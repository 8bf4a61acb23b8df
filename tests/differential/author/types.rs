//! Types that a field may have, what they can do, and expressions that make one.

use super::Author;

#[derive(Clone)]
pub enum Ty {
    Leaf(&'static Leaf),
    Wrapped(&'static Wrap, Vec<Ty>),
    Array(Box<Ty>, usize),
    Tuple(Vec<Ty>),
    /// A type of the case, by its number, with what it is generic over.
    Data(usize, Vec<Ty>),
    /// A type parameter.
    Param(usize),
}

pub struct Leaf {
    pub path: &'static str,
    /// `d`efault, `o`rder and hash, `c`opy, map `k`ey, `s`tring, `n`umber, `i`nteger, `f`lat.
    pub can: &'static str,
    pub made: &'static [&'static str],
}

pub struct Wrap {
    pub path: &'static str,
    pub arguments: usize,
    /// What it can do by itself, as in [`Leaf`]; with `=`: what all its arguments can.
    pub can: &'static str,
    pub made: &'static [&'static str],
}

const fn leaf(path: &'static str, can: &'static str, made: &'static [&'static str]) -> Leaf {
    Leaf { path, can, made }
}

const fn wrap(
    path: &'static str,
    arguments: usize,
    can: &'static str,
    made: &'static [&'static str],
) -> Wrap {
    Wrap { path, arguments, can, made }
}

const SIGNED: &[&str] = &["5", "-3", "100", "2 * 3 + 1", "7 % 4", "0x1f"];
const UNSIGNED: &[&str] = &["5", "0", "100", "60 * 2", "7_7", "0b101", "9 / 2"];
const FLOAT: &[&str] = &["0.1", "1.0", "-2.5", "1e3", "100.", "0.7"];

pub const COMMON: &[Leaf] = &[
    leaf("bool", "dock", &["true", "false", "true && false", "1 == 2"]),
    leaf("i32", "dockni", SIGNED),
    leaf("i64", "dockni", SIGNED),
    leaf("u8", "dockni", UNSIGNED),
    leaf("u16", "dockni", UNSIGNED),
    leaf("u32", "dockni", UNSIGNED),
    leaf("f64", "dcn", FLOAT),
    leaf("f32", "dcn", FLOAT),
    leaf("String", "doks", TEXTS),
    leaf("String", "doks", TEXTS),
    leaf("String", "doks", TEXTS),
];

const TEXTS: &[&str] = &[
    "\"a\".to_owned()",
    "\"b c\".to_string()",
    "\"é\\n\\u{1F600}\".into()",
    "String::from(\"yes\")",
    "String::new()",
    "String::default()",
    "format!(\"{}-{}\", \"a\", 1)",
    "format!(\"{}{name}{{\", 2, name = \"x\")",
    "concat!(\"a\", \"b\").to_owned()",
];

pub const RARE: &[Leaf] = &[
    leaf("i8", "dockni", SIGNED),
    leaf("i16", "dockni", SIGNED),
    leaf("i128", "dockni", SIGNED),
    leaf("isize", "dockni", SIGNED),
    leaf("u64", "dockni", UNSIGNED),
    leaf("u128", "dockni", UNSIGNED),
    leaf("usize", "dockni", UNSIGNED),
    leaf("char", "dock", &[]),
    leaf("()", "do", &[]),
    leaf("std::num::NonZeroU8", "ocn", &[]),
    leaf("std::num::NonZeroU32", "ocn", &[]),
    leaf("std::num::NonZeroI64", "ocn", &[]),
    leaf("std::num::NonZeroUsize", "ocn", &[]),
    leaf("std::path::PathBuf", "dos", &["std::path::PathBuf::from(\"/x\")", "\"/y\".into()"]),
    leaf("std::net::IpAddr", "oc", &[]),
    leaf("std::net::Ipv4Addr", "oc", &[]),
    leaf("std::net::Ipv6Addr", "oc", &[]),
    leaf("std::net::SocketAddr", "oc", &[]),
    leaf("std::time::Duration", "dcof", &[]),
    leaf("std::time::SystemTime", "c", &[]),
    leaf("Box<str>", "dos", &["\"boxed\".into()"]),
    leaf("std::sync::Arc<str>", "do", &["\"shared\".into()"]),
    leaf(
        "std::borrow::Cow<'static, str>",
        "dos",
        &["std::borrow::Cow::Borrowed(\"x\")", "\"y\".into()"],
    ),
    leaf(
        "serde_json::Value",
        "df",
        &[
            "serde_json::json!({ \"a\": [1, 2.5, null], \"b\": { \"c\": true } })",
            "serde_json::Value::Null",
            "serde_json::Value::String(\"x\".to_owned())",
            "serde_json::json!([])",
        ],
    ),
    leaf("serde_json::Map<String, serde_json::Value>", "df", &["serde_json::Map::new()"]),
    leaf("serde_json::Number", "", &[]),
];

pub const FOREIGN: &[Leaf] = &[
    leaf(
        "k8s_openapi::apimachinery::pkg::api::resource::Quantity",
        "d",
        &["k8s_openapi::apimachinery::pkg::api::resource::Quantity(\"1Gi\".to_owned())"],
    ),
    leaf("k8s_openapi::apimachinery::pkg::util::intstr::IntOrString", "d", &["Default::default()"]),
    leaf("k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition", "f", &[]),
    leaf("k8s_openapi::apimachinery::pkg::apis::meta::v1::Time", "", &[]),
    leaf("k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime", "", &[]),
    leaf(
        "k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta",
        "df",
        &["k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta::default()"],
    ),
    leaf(
        "k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector",
        "df",
        &["Default::default()"],
    ),
    leaf("k8s_openapi::api::core::v1::LocalObjectReference", "df", &["Default::default()"]),
    leaf("k8s_openapi::api::core::v1::ResourceRequirements", "df", &["Default::default()"]),
    leaf("k8s_openapi::api::core::v1::Toleration", "df", &["Default::default()"]),
    leaf("k8s_openapi::api::core::v1::EnvVar", "df", &["Default::default()"]),
    leaf("k8s_openapi::api::core::v1::SecretKeySelector", "df", &["Default::default()"]),
    leaf("k8s_openapi::api::core::v1::ServicePort", "df", &["Default::default()"]),
    leaf("k8s_openapi::api::rbac::v1::PolicyRule", "df", &["Default::default()"]),
    leaf("chrono::DateTime<chrono::Utc>", "do", &["Default::default()"]),
    leaf("chrono::NaiveDate", "do", &["Default::default()"]),
    leaf("chrono::NaiveTime", "do", &["Default::default()"]),
    leaf("chrono::NaiveDateTime", "do", &["Default::default()"]),
    leaf("url::Url", "os", &[]),
    leaf("uuid::Uuid", "do", &["Default::default()"]),
    leaf("shared::Point", "df", &["Default::default()"]),
    leaf("shared::Mode", "dok", &["shared::Mode::FastOne", "shared::names::Way::SlowOne"]),
    leaf("shared::names::Way", "dok", &["shared::Mode::SlowOne"]),
    leaf("shared::Ratio", "dcn", &["0.25"]),
    leaf("shared::names::Share", "dcn", &["0.75"]),
    leaf("shared::Text", "", &["shared::Text(\"x\".into())"]),
    leaf("shared::Page<i32>", "f", &["shared::Page { size: shared::SIZE, items: vec![1] }"]),
    leaf("shared::names::Page<Option<String>>", "f", &[]),
    leaf("shared::Settings", "df", &["shared::Settings { max_size: 5, ..Default::default() }"]),
    leaf(
        "shared::deep::Choice",
        "",
        &["shared::deep::standard(1)", "shared::deep::Choice::Size(shared::SIZE + 1)"],
    ),
    leaf("shared::Span", "f", &["shared::Span { low: 1, high: 2 }"]),
    leaf("semver::Version", "o", &[]),
];

/// What only the newest dependencies have.
pub const NEWEST: &[Leaf] = &[
    leaf("kube::core::Duration", "", &[]),
    leaf("jiff::Timestamp", "do", &["Default::default()"]),
    leaf("jiff::civil::Date", "do", &[]),
    leaf("jiff::Span", "", &[]),
    leaf("smol_str::SmolStr", "dos", &["\"small\".into()"]),
    leaf("either::Either<String, i32>", "", &[]),
    leaf("indexmap::IndexMap<String, i32>", "df", &["indexmap::IndexMap::new()"]),
    leaf("indexmap::IndexSet<String>", "d", &["Default::default()"]),
    leaf("smallvec::SmallVec<[i32; 4]>", "d", &[]),
    leaf("arrayvec::ArrayString<8>", "d", &[]),
];

pub const OPTION: &Wrap = &wrap("Option", 1, "d=o=c", &["None", "Some(@0)", "Some(@0)"]);
pub const BOX: &Wrap = &wrap("Box", 1, "=d=o=f", &["Box::new(@0)"]);
pub const VEC: &Wrap =
    &wrap("Vec", 1, "d=o", &["Vec::new()", "vec![]", "vec![@0]", "vec![@0, @0]"]);
pub const MAP: &Wrap = &wrap(
    "std::collections::BTreeMap",
    2,
    "df",
    &["Default::default()", "std::collections::BTreeMap::new()"],
);

pub const WRAPS: &[Wrap] = &[
    wrap("std::collections::VecDeque", 1, "d", &["std::collections::VecDeque::new()"]),
    wrap("std::collections::LinkedList", 1, "d", &["Default::default()"]),
    wrap("std::sync::Arc", 1, "=d=o", &["std::sync::Arc::new(@0)"]),
    wrap("std::rc::Rc", 1, "=d=o", &["std::rc::Rc::new(@0)"]),
    wrap("std::cell::RefCell", 1, "=d", &[]),
    wrap("std::cmp::Reverse", 1, "=d", &[]),
    wrap("std::marker::PhantomData", 1, "d", &["Default::default()"]),
    wrap("Result", 2, "", &[]),
    wrap("std::ops::Range", 1, "=d", &[]),
    wrap("std::ops::Bound", 1, "", &[]),
];

/// Those whose argument must have an order.
pub const SETS: &[Wrap] = &[
    wrap("std::collections::BTreeSet", 1, "do", &["Default::default()"]),
    wrap("std::collections::HashSet", 1, "d", &["std::collections::HashSet::new()"]),
    wrap("std::collections::BinaryHeap", 1, "d", &["Default::default()"]),
];

pub const HASH_MAP: &Wrap = &wrap(
    "std::collections::HashMap",
    2,
    "df",
    &["std::collections::HashMap::new()", "Default::default()"],
);

impl Author {
    /// Some type, of those that are made already.
    pub fn some_type(&mut self, depth: usize, params: usize) -> Ty {
        let below = |it: &mut Self| it.some_type(depth + 1, params);
        let share = if depth < 3 { 100 } else { 45 };
        match self.random.below(share) {
            0..36 => self.leaf(COMMON),
            36..42 => self.leaf(RARE),
            42..45 => {
                let list =
                    if self.dialect.newest && self.random.percent(25) { NEWEST } else { FOREIGN };
                self.leaf(list)
            }
            45..58 => Ty::Wrapped(OPTION, vec![below(self)]),
            58..67 => Ty::Wrapped(VEC, vec![below(self)]),
            67..72 => {
                let wrap = if self.random.percent(70) { MAP } else { HASH_MAP };
                let key = if self.random.percent(80) { Ty::Leaf(&COMMON[8]) } else { self.key() };
                Ty::Wrapped(wrap, vec![key, below(self)])
            }
            72..74 => Ty::Wrapped(BOX, vec![below(self)]),
            74..76 => {
                let wrap = &WRAPS[self.random.below(WRAPS.len())];
                Ty::Wrapped(wrap, (0..wrap.arguments).map(|_| below(self)).collect())
            }
            76..78 => Ty::Wrapped(&SETS[self.random.below(SETS.len())], vec![self.key()]),
            78 => Ty::Array(Box::new(below(self)), self.random.below(4)),
            79 => Ty::Tuple((0..=self.random.below(3)).map(|_| below(self)).collect()),
            80..84 if 0 < params => Ty::Param(self.random.below(params)),
            _ if self.defs.is_empty() => self.leaf(COMMON),
            _ => {
                let at = self.random.below(self.defs.len());
                self.data(at, depth, params)
            }
        }
    }

    /// A type of the case, with types for what it is generic over.
    pub fn data(&mut self, at: usize, depth: usize, params: usize) -> Ty {
        let count = self.defs[at].params;
        Ty::Data(at, (0..count).map(|_| self.some_type(depth + 2, params)).collect())
    }

    fn leaf(&mut self, list: &'static [Leaf]) -> Ty {
        Ty::Leaf(&list[self.random.below(list.len())])
    }

    /// A type that may be a map's key or in a set.
    fn key(&mut self) -> Ty {
        let own: Vec<_> = (0..self.defs.len())
            .filter(|at| self.defs[*at].can.contains('k') && self.defs[*at].params == 0)
            .collect();
        if !own.is_empty() && self.random.percent(50) {
            return Ty::Data(*self.random.pick(&own), Vec::new());
        }
        loop {
            let list = if self.random.percent(70) { COMMON } else { RARE };
            let it = &list[self.random.below(list.len())];
            if it.can.contains('k') {
                return Ty::Leaf(it);
            }
        }
    }

    /// Whether a type can do this; letters as in [`Leaf`].
    pub fn can(&self, ty: &Ty, what: char) -> bool {
        let all = |list: &[Ty]| list.iter().all(|it| self.can(it, what));
        match ty {
            Ty::Leaf(it) => it.can.contains(what),
            Ty::Wrapped(it, arguments) => {
                let at = it.can.find(what);
                at.is_some_and(|at| !it.can[..at].ends_with('=') || all(arguments))
            }
            Ty::Array(it, length) => {
                "doc".contains(what) && ((what == 'd' && *length == 0) || self.can(it, what))
            }
            Ty::Tuple(parts) => "doc".contains(what) && all(parts),
            Ty::Data(at, arguments) => {
                self.defs[*at].can.contains(what) && (!"dok".contains(what) || all(arguments))
            }
            Ty::Param(_) => false,
        }
    }

    /// An expression of this type, as it may stand in a module.
    pub fn made(&mut self, module: usize, ty: &Ty, depth: usize) -> Option<String> {
        if 6 < depth {
            return None;
        }
        if self.can(ty, 'd') && self.random.percent(12) {
            return Some("Default::default()".to_owned());
        }
        match ty {
            Ty::Leaf(it) => {
                if it.can.contains('i') && self.random.percent(15) {
                    let (name, there) = self.constant(module, it.path);
                    let path = self.reach(module, there, &name);
                    return Some(path);
                }
                (!it.made.is_empty()).then(|| (*self.random.pick(it.made)).to_owned())
            }
            Ty::Wrapped(it, arguments) => {
                if it.made.is_empty() {
                    return None;
                }
                let mut text = (*self.random.pick(it.made)).to_owned();
                for (index, argument) in arguments.iter().enumerate() {
                    let mark = format!("@{index}");
                    if text.contains(&mark) {
                        let inner = self.made(module, argument, depth + 1)?;
                        text = text.replace(&mark, &inner);
                    }
                }
                // What nothing in it tells the type of may need a word.
                Some(text)
            }
            Ty::Data(at, arguments) => self.made_data(module, *at, arguments, depth),
            Ty::Array(..) | Ty::Tuple(_) | Ty::Param(_) => None,
        }
    }

    fn made_data(
        &mut self,
        module: usize,
        at: usize,
        arguments: &[Ty],
        depth: usize,
    ) -> Option<String> {
        let shapes = self.defs[at].shapes.clone();
        if shapes.is_empty() {
            return None;
        }
        let (variant, shape) = self.random.pick(&shapes).clone();
        let mut name = self.name_of(module, at);
        if let Some(variant) = variant {
            name = format!("{name}::{variant}");
        }
        match shape {
            super::Shape::Unit => Some(name),
            super::Shape::Tuple(parts) => {
                let parts: Option<Vec<_>> = parts
                    .iter()
                    .map(|it| self.made(module, &filled(it, arguments), depth + 1))
                    .collect();
                Some(format!("{name}({})", parts?.join(", ")))
            }
            super::Shape::Struct(fields) => {
                let rest = self.defs[at].can.contains('d')
                    && name.find("::").is_none()
                    && self.random.percent(20);
                let mut res = Vec::new();
                for (field, ty) in &fields {
                    if rest && self.random.percent(50) {
                        continue;
                    }
                    let value = self.made(module, &filled(ty, arguments), depth + 1)?;
                    res.push(format!("{field}: {value}"));
                }
                if rest && arguments.is_empty() {
                    res.push("..Default::default()".to_owned());
                } else if res.len() < fields.len() {
                    return None;
                }
                Some(format!("{name} {{ {} }}", res.join(", ")))
            }
        }
    }
}

/// A type with types in the place of its parameters.
pub fn filled(ty: &Ty, arguments: &[Ty]) -> Ty {
    let all = |list: &[Ty]| list.iter().map(|it| filled(it, arguments)).collect();
    match ty {
        Ty::Leaf(it) => Ty::Leaf(it),
        Ty::Wrapped(it, parts) => Ty::Wrapped(it, all(parts)),
        Ty::Array(it, length) => Ty::Array(Box::new(filled(it, arguments)), *length),
        Ty::Tuple(parts) => Ty::Tuple(all(parts)),
        Ty::Data(at, parts) => Ty::Data(*at, all(parts)),
        Ty::Param(at) => arguments.get(*at).cloned().unwrap_or(Ty::Param(*at)),
    }
}
