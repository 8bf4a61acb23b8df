//! Fields, with all that serde and schemars may say of one.

use super::Author;
use super::types::{HASH_MAP, MAP, OPTION, Ty, VEC};

/// Where a field stands.
#[derive(Clone, Copy)]
pub struct Place {
    pub module: usize,
    /// How many type parameters there are.
    pub params: usize,
    pub named: bool,
    /// Whether kube's `KubeSchema` reads it.
    pub rules: bool,
    /// Whether fields may be flattened here.
    pub open: bool,
}

pub struct Field {
    pub attributes: String,
    pub name: String,
    pub ty: Ty,
    pub shown: String,
    pub flat: bool,
}

const WORDS: &[&str] = &[
    "name",
    "replicas",
    "port_number",
    "image",
    "r#type",
    "max_size_in_bytes",
    "url2",
    "is_on",
    "label_selector",
    "r#match",
    "x",
    "http_2_port",
    "http2port",
    "timeout",
    "env",
    "camelCase",
    "value",
    "items",
    "node_selector",
    "_hidden",
    "a_b_c",
    "status_text",
    "r#where",
    "storage",
    "mode",
    "enabled",
    "extra",
    "data",
    "résumé",
    "SHOUT",
    "trailing_",
    "double__under",
];

const RENAMES: &[&str] =
    &["renamed", "with-dash", "with.dot", "$ref", "ÄÖ", "type2", "x y", "apiVersionX"];

impl Author {
    /// Fields of different names.
    pub fn fields(&mut self, place: Place, count: usize) -> Vec<Field> {
        let start = self.random.below(WORDS.len());
        let step = *self.random.pick(&[1, 3, 5, 7]);
        (0..count)
            .map(|at| {
                let name = WORDS[(start + at * step) % WORDS.len()];
                self.field(place, if place.named { name } else { "" }, at)
            })
            .collect()
    }

    fn field(&mut self, place: Place, name: &str, at: usize) -> Field {
        let module = place.module;
        let mut ty = self.some_type(0, place.params);
        let mut serde = Vec::new();
        let mut attributes = self.docs(30);
        let flat = place.named && place.open && self.random.percent(7);
        if flat {
            ty = self.flat_type(place);
            serde.push("flatten".to_owned());
        }
        let mut schemars = Vec::new();
        if !flat {
            self.named_otherwise(place, at, &mut serde, &mut schemars);
        }
        let mut defaulted = false;
        if place.named && self.random.percent(25) && (!flat || self.random.percent(20)) {
            defaulted = self.defaulted(place, &ty, &mut serde, &mut schemars);
        }
        self.left_out(place, &ty, defaulted, &mut serde);
        if !flat && self.random.percent(25) {
            schemars.extend(self.narrowed(module, &ty));
        }
        match self.random.below(60) {
            0 if !place.rules => {
                schemars.push(format!("schema_with = \"{}\"", self.schema_function(module)))
            }
            1 => {
                let other = self.some_type(2, 0);
                let shown = self.shown(module, &other);
                schemars.push(format!("with = \"{shown}\""));
            }
            _ => {}
        }
        attributes += &self.attribute("serde", &serde);
        attributes += &self.attribute("schemars", &schemars);
        if self.random.percent(5) {
            attributes += &self.validated(module, &ty, !place.rules);
        }
        if place.rules {
            attributes += &self.ruled(module);
        }
        attributes += &self.conditions();
        let shown = self.shown(module, &ty);
        Field { attributes, name: name.to_owned(), ty, shown, flat }
    }

    fn named_otherwise(
        &mut self,
        place: Place,
        at: usize,
        serde: &mut Vec<String>,
        schemars: &mut Vec<String>,
    ) {
        if !place.named {
            return;
        }
        if self.random.percent(10) {
            let name = format!("{}{at}", self.random.pick(RENAMES));
            match self.random.below(6) {
                0 => {
                    serde.push(format!("rename(serialize = \"out{at}\", deserialize = \"{name}\")"))
                }
                1 => serde.push(format!("rename(deserialize = \"{name}\")")),
                2 => schemars.push(format!("rename = \"{name}\"")),
                _ => serde.push(format!("rename = \"{name}\"")),
            }
        }
        if self.random.percent(5) {
            serde.push(format!("alias = \"other{at}\""));
        }
    }

    /// Gives a field a default, if one can be made.
    fn defaulted(
        &mut self,
        place: Place,
        ty: &Ty,
        serde: &mut Vec<String>,
        schemars: &mut Vec<String>,
    ) -> bool {
        let plain = self.can(ty, 'd');
        if plain && self.random.percent(40) {
            match self.random.below(20) {
                0 => schemars.push("default".to_owned()),
                _ => serde.push("default".to_owned()),
            }
            return true;
        }
        if super::names::has_param(ty) {
            return false;
        }
        match self.function(place.module, ty) {
            Some(path) => {
                serde.push(format!("default = \"{path}\""));
                true
            }
            None => false,
        }
    }

    /// `skip` and what belongs to it.
    fn left_out(&mut self, place: Place, ty: &Ty, defaulted: bool, serde: &mut Vec<String>) {
        let module = place.module;
        if self.random.percent(12) && place.named {
            let own = |it: &Ty| match it {
                Ty::Wrapped(it, _) => it.path,
                Ty::Leaf(it) => it.path,
                _ => "",
            };
            let path = match own(ty) {
                path if path == OPTION.path => Some(
                    (*self.random.pick(&[
                        "Option::is_none",
                        "std::option::Option::is_none",
                        "::core::option::Option::is_none",
                    ]))
                    .to_owned(),
                ),
                path if path == VEC.path => Some("Vec::is_empty".to_owned()),
                "String" => {
                    Some((*self.random.pick(&["String::is_empty", "str::is_empty"])).to_owned())
                }
                path if path == MAP.path || path == HASH_MAP.path => {
                    Some(format!("{}::is_empty", self.outside(module, path)))
                }
                "bool" => Some("std::ops::Not::not".to_owned()),
                _ if self.can(ty, 'n') && self.can(ty, 'i') => {
                    let name = self.fresh("is_zero_");
                    let shown = self.shown(module, ty);
                    self.item(
                        module,
                        format!("fn {name}(it: &{shown}) -> bool {{\n    it == &0\n}}\n"),
                    );
                    Some(name)
                }
                _ if self.can(ty, 'd') && self.can(ty, 'o') => {
                    let name = self.fresh("is_default_");
                    self.item(module, format!("pub fn {name}<T: Default + PartialEq>(it: &T) -> bool {{\n    it == &T::default()\n}}\n"));
                    Some(name)
                }
                _ => None,
            };
            serde.extend(path.map(|it| format!("skip_serializing_if = \"{it}\"")));
            return;
        }
        if !place.named {
            return;
        }
        let can = defaulted || self.can(ty, 'd');
        match self.random.below(60) {
            0 if can => serde.push("skip".to_owned()),
            1 if can => serde.push("skip_deserializing".to_owned()),
            2 => serde.push("skip_serializing".to_owned()),
            _ => {}
        }
    }

    fn ruled(&mut self, module: usize) -> String {
        let mut items = Vec::new();
        if self.random.percent(30) {
            items.push(format!("validation = {}", self.rule(module)));
        }
        if self.random.percent(8) {
            items.push(format!("validation = {}", self.rule(module)));
        }
        if self.random.percent(12) {
            items.push(format!("merge_strategy = {}", self.merging()));
        }
        self.attribute("x_kube", &items)
    }

    /// Conditions, which hold, and attributes that say nothing.
    fn conditions(&mut self) -> String {
        match self.random.below(300) {
            0 => "#[cfg(feature = \"on\")]\n",
            1 => "#[cfg(not(feature = \"off\"))]\n",
            2 => "#[cfg_attr(feature = \"off\", serde(rename = \"never\"))]\n",
            3 => "#[cfg_attr(feature = \"on\", schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true)))]\n",
            4 => "#[allow(unused)]\n",
            5 => "#[deprecated]\n",
            6 => "#[deprecated(since = \"1\", note = \"gone\")]\n",
            7 => "#[cfg_attr(all(feature = \"on\", not(feature = \"off\")), doc = \" Conditional.\")]\n",
            8 => "#[cfg(all(any(feature = \"off\", feature = \"on\"), not(test)))]\n",
            _ => "",
        }
        .to_owned()
    }

    fn flat_type(&mut self, place: Place) -> Ty {
        let own: Vec<_> =
            (0..self.defs.len()).filter(|at| self.defs[*at].can.contains('f')).collect();
        let map = Ty::Wrapped(
            MAP,
            vec![Ty::Leaf(&super::types::COMMON[8]), Ty::Leaf(&super::types::RARE[24])],
        );
        let ty = if own.is_empty() || self.random.percent(15) {
            map
        } else {
            let at = *self.random.pick(&own);
            self.data(at, 2, place.params)
        };
        match self.random.below(8) {
            0 | 1 => Ty::Wrapped(OPTION, vec![ty]),
            2 => Ty::Wrapped(super::types::BOX, vec![ty]),
            _ => ty,
        }
    }

    /// A field that is there for another feature: its line, which nothing reads.
    pub fn absent(&mut self) -> String {
        if self.random.percent(1) {
            "#[cfg(feature = \"off\")]\npub absent: Missing,\n".to_owned()
        } else {
            String::new()
        }
    }
}
