//! Structs: with names, newtypes, tuples, units, generic ones, and what stands for another.

use super::fields::{Field, Place};
use super::types::{COMMON, Ty, filled};
use super::{Author, Def, Shape};

pub const CASES: &[&str] = &[
    "camelCase",
    "camelCase",
    "camelCase",
    "kebab-case",
    "snake_case",
    "PascalCase",
    "SCREAMING_SNAKE_CASE",
    "lowercase",
    "UPPERCASE",
    "SCREAMING-KEBAB-CASE",
];

impl Author {
    pub fn structure(&mut self, module: usize) {
        match self.random.below(100) {
            0..68 => self.named(module),
            68..78 => self.newtype(module),
            78..82 => self.tuple(module),
            82..84 => self.unit(module),
            84..89 => self.standing(module),
            89..95 => self.by_hand(module),
            _ => self.beside_macros(module),
        }
    }

    /// `#[derive(…)]`, of these and those that every type has.
    pub fn derive(&mut self, module: usize, schema: &str, more: &[&str]) -> String {
        let mut list = Vec::new();
        if !schema.is_empty() {
            list.push(self.outside(module, schema));
        }
        list.push(self.outside(module, "serde::Serialize"));
        list.push(self.outside(module, "serde::Deserialize"));
        list.extend(["Clone", "Debug"].iter().chain(more).map(|it| (*it).to_owned()));
        if schema == "schemars::JsonSchema" && self.random.percent(1) {
            let schema = list.remove(0);
            return format!(
                "#[derive({})]\n#[cfg_attr(feature = \"on\", derive({schema}))]\n",
                list.join(", ")
            );
        }
        format!("#[derive({})]\n", list.join(", "))
    }

    /// Whether all of these have a default, where what they are generic over has.
    pub fn all_default(&self, types: &[&Ty]) -> bool {
        let any = [Ty::Leaf(&COMMON[0]), Ty::Leaf(&COMMON[0])];
        types.iter().all(|it| self.can(&filled(it, &any), 'd'))
    }

    fn named(&mut self, module: usize) {
        let params = match self.random.below(100) {
            0..8 => 1,
            8..11 => 2,
            _ => 0,
        };
        let rules = params == 0 && self.random.percent(10);
        let open = self.random.percent(88);
        let place = Place { module, params, named: true, rules, open };
        let count = 1 + self.random.below(6);
        let mut fields = self.fields(place, count);
        let name = self.fresh("Struct");
        for param in 0..params {
            fields.push(Field {
                attributes: String::new(),
                name: format!("param_{param}"),
                ty: Ty::Param(param),
                shown: ["T", "U"][param].to_owned(),
                flat: false,
            });
        }
        let types: Vec<_> = fields.iter().map(|it| &it.ty).collect();
        let default = self.all_default(&types) && self.random.percent(60);
        let at = self.register(
            module,
            &name,
            params,
            if default { "df" } else { "f" },
            Shape::Struct(fields.iter().map(|it| (it.name.clone(), it.ty.clone())).collect()),
        );
        let by_hand = !default
            && params == 0
            && self.random.percent(25)
            && self.hand_written_default(module, at).is_some();
        if by_hand {
            self.defs[at].can.push('d');
        }
        let mut res = self.docs(35);
        let schema = if rules { "kube::KubeSchema" } else { "schemars::JsonSchema" };
        res += &self.derive(module, schema, if default { &["Default"] } else { &[] });
        res += &self.container(module, Some(at), rules, open && fields.iter().any(|it| it.flat));
        let generics =
            ["", "<T>", if self.random.percent(50) { "<T, U>" } else { "<T, U = String>" }][params];
        res += &format!("pub struct {name}{generics} {{\n{}", text_of(&fields));
        if params == 0 && self.random.percent(3) {
            let wrap = *self.random.pick(&[
                "Option<Box<#>>",
                "Vec<#>",
                "std::collections::BTreeMap<String, #>",
            ]);
            if !by_hand && !default {
                self.defs[at].shapes.clear();
                res += &format!("pub again: {},\n", wrap.replace('#', &name));
            }
        }
        res += &self.absent();
        res += "}\n";
        self.item(module, res);
    }

    pub fn register(
        &mut self,
        module: usize,
        name: &str,
        params: usize,
        can: &str,
        shape: Shape,
    ) -> usize {
        self.defs.push(Def {
            name: name.to_owned(),
            module,
            params,
            can: can.to_owned(),
            shapes: vec![(None, shape)],
        });
        self.defs.len() - 1
    }

    /// What stands on the whole of a struct.
    pub fn container(
        &mut self,
        module: usize,
        at: Option<usize>,
        rules: bool,
        flat: bool,
    ) -> String {
        let mut serde = Vec::new();
        let mut schemars = Vec::new();
        if self.random.percent(45) {
            let case = self.random.pick(CASES);
            match self.random.below(12) {
                0 => serde.push(format!(
                    "rename_all(serialize = \"lowercase\", deserialize = \"{case}\")"
                )),
                1 => schemars.push(format!("rename_all = \"{case}\"")),
                _ => serde.push(format!("rename_all = \"{case}\"")),
            }
        }
        if !flat && self.random.percent(8) {
            serde.push("deny_unknown_fields".to_owned());
        }
        if let Some(at) = at
            && !rules
            && self.defs[at].params == 0
        {
            if self.defs[at].can.contains('d') && self.random.percent(15) {
                serde.push("default".to_owned());
            } else if self.random.percent(3)
                && let Some(path) = self.function(module, &Ty::Data(at, Vec::new()))
            {
                serde.push(format!("default = \"{path}\""));
            }
        }
        if self.random.percent(3) {
            serde.push("rename = \"RenamedType\"".to_owned());
        }
        if self.random.percent(8) {
            schemars.extend(self.described(module));
        }
        match self.random.below(50) {
            0 => schemars.push("inline".to_owned()),
            1 => schemars.push("extend(\"x-kubernetes-map-type\" = \"atomic\")".to_owned()),
            2 => schemars.push("rename = \"Odd name\"".to_owned()),
            _ => {}
        }
        let mut res = self.attribute("serde", &serde) + &self.attribute("schemars", &schemars);
        if rules {
            let mut items = Vec::new();
            for _ in 0..self.random.below(3) {
                items.push(format!("validation = {}", self.rule(module)));
            }
            res += &self.attribute("x_kube", &items);
        }
        if self.random.percent(4) {
            let it = *self.random.pick::<&str>(&[
                "#[allow(clippy::all)]\n",
                "#[non_exhaustive]\n",
                "#[must_use]\n",
                "#[deprecated]\n",
            ]);
            // Another crate could make none of it.
            if !(it.contains("non_exhaustive") && self.modules[module].beside) {
                res += it;
            }
        }
        res
    }

    fn newtype(&mut self, module: usize) {
        let place = Place { module, params: 0, named: false, rules: false, open: false };
        let fields = self.fields(place, 1);
        let ty = fields[0].ty.clone();
        let name = self.fresh("Newtype");
        let (mut more, mut can) = (Vec::new(), String::new());
        if self.can(&ty, 'd') && self.random.percent(60) {
            more.push("Default");
            can.push('d');
        }
        if self.can(&ty, 'o') && self.random.percent(60) {
            more.extend(["PartialEq", "Eq", "Hash", "PartialOrd", "Ord"]);
            can.push('o');
            if self.can(&ty, 'k') {
                can.push('k');
            }
        }
        let transparent = self.random.percent(40);
        self.register(module, &name, 0, &can, Shape::Tuple(vec![ty]));
        let mut res = self.docs(25) + &self.derive(module, "schemars::JsonSchema", &more);
        if transparent {
            res += "#[serde(transparent)]\n";
        } else if self.random.percent(10) {
            res += &self.container(module, None, false, true);
        }
        res += &format!("pub struct {name}({}pub {});\n", fields[0].attributes, fields[0].shown);
        self.item(module, res);
    }

    fn tuple(&mut self, module: usize) {
        let place = Place { module, params: 0, named: false, rules: false, open: false };
        let count = 2 + self.random.below(2);
        let fields = self.fields(place, count);
        let name = self.fresh("Tuple");
        self.register(
            module,
            &name,
            0,
            "",
            Shape::Tuple(fields.iter().map(|it| it.ty.clone()).collect()),
        );
        let parts: String =
            fields.iter().map(|it| format!("{}pub {},\n", it.attributes, it.shown)).collect();
        let res = self.docs(25) + &self.derive(module, "schemars::JsonSchema", &[]);
        self.item(module, format!("{res}pub struct {name}(\n{parts});\n"));
    }

    fn unit(&mut self, module: usize) {
        let name = self.fresh("Unit");
        self.register(module, &name, 0, "d", Shape::Unit);
        let res = self.docs(25) + &self.derive(module, "schemars::JsonSchema", &["Default"]);
        self.item(module, format!("{res}pub struct {name};\n"));
    }

    /// A type that is read as another.
    fn standing(&mut self, module: usize) {
        let ty = self.some_type(2, 0);
        let shown = self.shown(module, &ty);
        let name = self.fresh("Standing");
        self.register(
            module,
            &name,
            0,
            "",
            Shape::Struct(vec![("hidden".to_owned(), Ty::Leaf(&COMMON[1]))]),
        );
        let mut res = self.docs(25) + &self.derive(module, "schemars::JsonSchema", &[]);
        let word = match self.random.below(3) {
            0 => {
                res += &format!("#[serde(try_from = \"{shown}\")]\n");
                format!(
                    "impl TryFrom<{shown}> for {name} {{\n    type Error = String;\n    fn try_from(_: {shown}) -> std::result::Result<Self, String> {{\n        Err(String::new())\n    }}\n}}\n"
                )
            }
            1 => {
                res += &format!("#[schemars(with = \"{shown}\")]\n");
                String::new()
            }
            _ => {
                let back = self.made(module, &ty, 2).filter(|_| matches!(&ty, Ty::Leaf(_)));
                if back.is_some() {
                    // How it is written is code of the project, which is not evaluated.
                    self.defs.last_mut().expect("it was registered").shapes.clear();
                }
                let into = back.as_ref().map_or(String::new(), |_| format!(", into = \"{shown}\""));
                res += &format!("#[serde(from = \"{shown}\"{into})]\n");
                let back = back.map_or(String::new(), |it| {
                    format!("impl From<{name}> for {shown} {{\n    fn from(_: {name}) -> Self {{\n        {it}\n    }}\n}}\n")
                });
                format!(
                    "impl From<{shown}> for {name} {{\n    fn from(_: {shown}) -> Self {{\n        Self {{ hidden: 0 }}\n    }}\n}}\n{back}"
                )
            }
        };
        self.item(module, format!("{res}pub struct {name} {{\n    pub hidden: i32,\n}}\n{word}"));
    }

    /// A hand-written `JsonSchema`.
    fn by_hand(&mut self, module: usize) {
        let name = self.fresh("Hand");
        let ty = self.some_type(2, 0);
        let shown = self.shown(module, &ty);
        let body = self.schema_body(module, "generator");
        self.register(module, &name, 0, "", Shape::Tuple(vec![ty]));
        let derive = self.derive(module, "", &[]);
        let js = self.outside(module, "schemars::JsonSchema");
        let inline = match self.random.below(5) {
            0 => "    fn inline_schema() -> bool {\n        true\n    }\n",
            1 => {
                "    fn schema_id() -> std::borrow::Cow<'static, str> {\n        concat!(module_path!(), \"::own\").into()\n    }\n"
            }
            _ => "",
        };
        let called = match self.random.below(3) {
            0 => format!("\"{name}\".into()"),
            1 => format!("std::borrow::Cow::Borrowed(\"{name}\")"),
            _ => format!("\"{name}\".to_owned().into()"),
        };
        self.item(module, format!(
            "{derive}pub struct {name}(pub {shown});\nimpl {js} for {name} {{\n    fn schema_name() -> std::borrow::Cow<'static, str> {{\n        {called}\n    }}\n{inline}    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {{\n        {body}\n    }}\n}}\n"
        ));
    }

    /// A type beside macros of the project that cannot declare it.
    fn beside_macros(&mut self, module: usize) {
        let (name, maker) = (self.fresh("Beside"), self.fresh("make_"));
        let ty = self.some_type(2, 0);
        let shown = self.shown(module, &ty);
        let derive = self.derive(module, "schemars::JsonSchema", &[]);
        let docs = self.docs(40);
        let call = match self.random.below(4) {
            0 => format!("shared::define!({name}Other, {maker});\n"),
            1 => format!(
                "macro_rules! {maker} {{\n    ($name:ident, $ty:ty) => {{\n        pub struct $name {{\n            pub the_value: $ty,\n        }}\n    }};\n}}\n{maker}!({name}Other, u8);\n"
            ),
            2 => format!(
                "macro_rules! {maker} {{\n    ($name:ident) => {{\n        pub struct $name;\n    }};\n    ($name:ident, $($rest:ident),+) => {{\n        {maker}!($name);\n        {maker}!($($rest),+);\n    }};\n}}\n{maker}!({name}Other, {name}More);\n"
            ),
            _ => format!(
                "pub trait Of{name} {{}}\nmacro_rules! {maker} {{\n    ($($name:ty),* $(,)?) => {{\n        $(impl Of{name} for $name {{}})*\n    }};\n}}\n{maker}! {{ {name}, u8 }}\n"
            ),
        };
        let string = Ty::Leaf(&COMMON[8]);
        let fields = vec![("the_value".to_owned(), ty), ("plain_text".to_owned(), string)];
        self.register(module, &name, 0, "", Shape::Struct(fields));
        self.item(
            module,
            format!(
                "{call}{docs}{derive}pub struct {name} {{\n    pub the_value: {shown},\n    pub plain_text: String,\n}}\n"
            ),
        );
    }
}

/// The text of named fields.
pub fn text_of(fields: &[Field]) -> String {
    fields.iter().map(|it| format!("{}pub {}: {},\n", it.attributes, it.name, it.shown)).collect()
}
