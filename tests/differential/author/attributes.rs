//! Attributes that narrow or describe a schema: schemars', validator's, garde's, kube's rules.

use super::Author;
use super::types::{OPTION, Ty, VEC};

const EXTENSIONS: &[&str] = &[
    "extend(\"x-kubernetes-preserve-unknown-fields\" = true)",
    "extend(\"x-kubernetes-map-type\" = \"atomic\")",
    "extend(\"x-kubernetes-list-type\" = \"set\")",
    "extend(\"x-own\" = 1)",
    "extend(\"multipleOf\" = 5)",
    "extend(\"exclusiveMinimum\" = true)",
    "extend(\"default\" = { \"a\": [1, 2.5, null, -3, \"x\"] })",
    "extend(\"default\" = null)",
    "extend(\"enum\" = [\"a\", \"b\"])",
    "extend(\"format\" = \"odd\", \"maxProperties\" = 3)",
    "extend(\"nullable\" = true)",
    "extend(\"description\" = \"extended\")",
    "extend(\"minLength\" = 2 + 3)",
    "extend(\"externalDocs\" = { \"url\": \"https://example.com\" })",
    "extend(\"type\" = \"string\")",
];

impl Author {
    /// What schemars' own attributes say of a field: its items.
    pub fn narrowed(&mut self, module: usize, ty: &Ty) -> Vec<String> {
        let mut res = Vec::new();
        let inside = match ty {
            Ty::Wrapped(it, parts) if it.path == OPTION.path => &parts[0],
            other => other,
        };
        if matches!(ty, Ty::Wrapped(it, _) if it.path == OPTION.path) && self.random.percent(8) {
            res.push("required".to_owned());
        }
        if self.random.percent(60) {
            res.extend(self.narrowing(module, inside, true));
        }
        if let (Ty::Wrapped(it, parts), true) = (inside, self.random.percent(30))
            && it.path == VEC.path
            && let Some(inner) = self.narrowing(module, &parts[0], true)
        {
            res.push(format!("inner({inner})"));
        }
        if self.random.percent(35) {
            res.extend(self.described(module));
        }
        if self.random.percent(12) {
            res.push((*self.random.pick(EXTENSIONS)).to_owned());
        }
        res
    }

    /// Title, description, examples, deprecation.
    pub fn described(&mut self, module: usize) -> Option<String> {
        Some(match self.random.below(9) {
            0 => "title = \"A title\"".to_owned(),
            1 => "description = \"Described\\nin two lines\"".to_owned(),
            2 => format!("description = {}", self.constant_text(module, "\"Constant # text \"")),
            3 => format!("title = {}", self.constant_text(module, "concat!(\"One\", 2)")),
            4 => "example = true".to_owned(),
            5 => "example = 5".to_owned(),
            6 => "example = \"an example\", example = &\"another\"".to_owned(),
            7 => "example = vec![1.5, 2.0]".to_owned(),
            _ => {
                let ty = self.some_type(3, 0);
                if matches!(ty, Ty::Data(..)) {
                    return None;
                }
                format!("example = {}()", self.function(module, &ty)?)
            }
        })
    }

    /// One thing that narrows this type, or would if it were another.
    fn narrowing(&mut self, module: usize, ty: &Ty, schemars: bool) -> Option<String> {
        let kind = match self.random.below(10) {
            0 => 'n',
            1 => 's',
            _ if self.can(ty, 'n') => 'n',
            _ => 's',
        };
        let limit = |it: &mut Self, negative: bool| match it.random.below(6) {
            0 => {
                let (name, there) = it.constant(module, "u8");
                it.reach(module, there, &name)
            }
            1 => format!("{}u16", it.random.below(9)),
            2 if schemars => "65535".to_owned(),
            3 if negative => format!("-{}", it.random.below(9)),
            4 => format!("{}.5", it.random.below(9)),
            _ => it.random.below(99).to_string(),
        };
        Some(if kind == 'n' {
            match self.random.below(4) {
                0 => format!("range(min = {})", limit(self, true)),
                1 => format!("range(max = {})", limit(self, true)),
                2 => format!("range(min = {}, max = {})", limit(self, true), limit(self, false)),
                _ if schemars => "range(equal = 7)".to_owned(),
                _ => "range(min = 0)".to_owned(),
            }
        } else {
            let size = |it: &mut Self| it.random.below(99).to_string();
            match self.random.below(9) {
                0 => format!("length(min = {})", size(self)),
                1 => format!("length(max = {})", size(self)),
                2 => "length(equal = 3)".to_owned(),
                3 => "length(min = 1, max = 63)".to_owned(),
                4 if schemars => {
                    format!("regex(pattern = {})", self.constant_text(module, "r\"^\\d+$\""))
                }
                5 if schemars => "pattern(r\"^[a-z]([-a-z0-9]*)$\")".to_owned(),
                6 => (*self.random.pick(&["email", "url"])).to_owned(),
                7 if schemars => (*self.random.pick(&["ip", "ipv4", "ipv6"])).to_owned(),
                8 => "contains(pattern = \"a.b\")".to_owned(),
                _ => "length(min = 1)".to_owned(),
            }
        })
    }

    /// A validation attribute of the validator or garde crate.
    pub fn validated(&mut self, module: usize, ty: &Ty, garde: bool) -> String {
        if garde && self.random.percent(50) {
            let it = match self.random.below(6) {
                0 => "skip",
                1 => "pattern(r\"^x\")",
                2 => "length(min = 1, max = 9)",
                3 => "range(min = 3)",
                4 => "inner(length(min = 2))",
                _ => "ipv4",
            };
            return format!("#[garde({it})]\n");
        }
        match self.narrowing(module, ty, false) {
            Some(it) if self.random.percent(80) => format!("#[validate({it})]\n"),
            _ => "#[validate(nested)]\n".to_owned(),
        }
    }

    /// A rule in CEL, as an expression.
    pub fn rule(&mut self, module: usize) -> String {
        match self.random.below(9) {
            0 => "\"self != null\"".to_owned(),
            1 => "(\"self == oldSelf\", \"it may not change\")".to_owned(),
            2 => "Rule::new(\"size(self) < 3\").message(\"too many\")".to_owned(),
            3 => "Rule::new(\"true\").message(Message::Expression(\"'no ' + self\".into())).reason(Reason::FieldValueForbidden)".to_owned(),
            4 if 4 <= self.dialect.major => "Rule::new(\"self == oldSelf\").optional_old_self(true).field_path(\".x\")".to_owned(),
            5 => "Rule { rule: \"has(self.a)\".into(), message: Some(\"a\".into()), ..Default::default() }".to_owned(),
            6 => self.constant_text(module, "\"self.size() < 5\""),
            7 => format!("({}, {:?})", self.constant_text(module, "\"true\""), "by a constant"),
            _ => "Rule::new(\"x\").reason(Reason::FieldValueInvalid)".to_owned(),
        }
    }

    /// How server-side apply merges.
    pub fn merging(&mut self) -> String {
        (*self.random.pick(&[
            "ListMerge::Atomic",
            "ListMerge::Set",
            "ListMerge::Map(vec![\"name\".into(), \"port\".to_string()])",
            "MapMerge::Atomic",
            "MapMerge::Granular",
            "StructMerge::Atomic",
        ]))
        .to_owned()
    }

    /// Items of an attribute: in one, or in many.
    pub fn attribute(&mut self, name: &str, items: &[String]) -> String {
        match items {
            [] => String::new(),
            _ if self.random.percent(70) => format!("#[{name}({})]\n", items.join(", ")),
            _ => items.iter().map(|it| format!("#[{name}({it})]\n")).collect(),
        }
    }

    /// A function that gives a schema, as people write them.
    pub fn schema_function(&mut self, module: usize) -> String {
        let name = self.fresh("schema_");
        let there = if self.random.percent(70) { module } else { self.beside_it(module) };
        let body = self.schema_body(there, "generator");
        let generator = self.outside(there, "schemars::SchemaGenerator");
        let schema = self.outside(there, "schemars::Schema");
        self.item(
            there,
            format!("pub fn {name}(generator: &mut {generator}) -> {schema} {{\n    {body}\n}}\n"),
        );
        self.reach(module, there, &name)
    }

    /// What makes a schema.
    pub fn schema_body(&mut self, module: usize, generator: &str) -> String {
        let text = match self.random.below(4) {
            0 => "\"type\": \"object\", \"x-kubernetes-preserve-unknown-fields\": true",
            1 => "\"type\": \"string\", \"format\": \"odd\", \"minLength\": 1 + 1",
            2 => {
                "\"description\": \"By hand\", \"anyOf\": [{ \"type\": \"integer\" }, { \"type\": \"string\" }], \"x-kubernetes-int-or-string\": true"
            }
            _ => {
                "\"type\": \"object\", \"properties\": { \"a\": { \"type\": \"number\" } }, \"required\": [\"a\"]"
            }
        };
        let ty = self.some_type(3, 0);
        let shown = self.shown(module, &ty);
        match self.random.below(8) {
            0..4 => format!("schemars::json_schema!({{ {text} }})"),
            4 => format!("{generator}.subschema_for::<{shown}>()"),
            5 => format!("<{shown} as schemars::JsonSchema>::json_schema({generator})"),
            6 => format!(
                "let mut schema = {generator}.subschema_for::<{shown}>();\n    schema.insert(\"format\".to_owned(), \"own\".into());\n    schema"
            ),
            _ => format!(
                "schemars::json_schema!({{ \"type\": \"array\", \"items\": {generator}.subschema_for::<{shown}>() }})"
            ),
        }
    }
}
