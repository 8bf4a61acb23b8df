//! The custom resource itself: its spec, its status, and what `#[kube(…)]` says.

use super::fields::Place;
use super::structs::text_of;
use super::types::Ty;
use super::{Author, Shape};

/// The plural that the kind of a case is given.
pub fn plural(number: usize) -> String {
    format!("case{number}things")
}

impl Author {
    /// The module and the name of its root type.
    pub fn resource(&mut self) -> (usize, String) {
        let module = self.beside_it(0);
        let kind = format!("Case{}", self.case);
        let mut kube = vec![
            "group = \"differential.example.com\"".to_owned(),
            format!("version = \"{}\"", self.random.pick(&["v1", "v1", "v1alpha1", "v2beta3"])),
            format!("kind = \"{kind}\""),
            format!("plural = \"{}\"", plural(self.case)),
        ];
        let root = if self.random.percent(4) {
            let root = format!("Root{}", self.case);
            kube.push(format!("root = \"{root}\""));
            root
        } else {
            kind
        };
        self.small_words(&mut kube);
        self.columns(&mut kube);
        if self.random.percent(45) {
            let path = self.status(module);
            kube.push(if self.random.percent(70) {
                format!("status = \"{path}\"")
            } else {
                format!("status = {path}")
            });
        }
        if self.random.percent(15) {
            kube.push((*self.random.pick(&[
                "scale(spec_replicas_path = \".spec.replicas\", status_replicas_path = \".status.replicas\")",
                "scale(spec_replicas_path = \".spec.replicas\", status_replicas_path = \".status.replicas\", label_selector_path = \".status.selector\")",
                "scale = r#\"{\"specReplicasPath\": \".spec.replicas\", \"statusReplicasPath\": \".status.replicas\"}\"#",
            ])).to_owned());
        }
        if self.random.percent(10) {
            for _ in 0..=self.random.below(2) {
                kube.push(
                    format!("validation = {}", self.rule(module))
                        .replace("Rule {", "kube::core::Rule {"),
                );
            }
        }
        self.last_words(&mut kube);
        if self.random.percent(8) {
            self.other_version(&mut kube, &root);
        }
        let name = format!("Case{}Spec", self.case);
        self.spec(module, &root, name, kube);
        (module, root)
    }

    /// Adds a lower version of the kind, in a module of its own.
    fn other_version(&mut self, kube: &mut Vec<String>, root: &str) {
        const SHARED: &[&str] = &[
            "group",
            "kind",
            "plural",
            "root",
            "namespaced",
            "singular",
            "shortname",
            "category",
            "label",
            "annotation",
            "printcolumn",
            "selectable",
        ];
        let mut other: Vec<String> = kube
            .iter()
            .filter(|it| SHARED.contains(&it.split([' ', '=', '(']).next().unwrap_or_default()))
            .cloned()
            .collect();
        kube.retain(|it| !it.starts_with("version") && !it.starts_with("storage"));
        kube.push("version = \"v2\"".to_owned());
        other.push("version = \"v1beta1\"".to_owned());
        let lower = self.random.percent(50);
        if lower { &mut *kube } else { &mut other }.push("storage = false".to_owned());
        self.stored = if lower { "v1beta1" } else { "v2" }.to_owned();
        let mut path = self.modules[0].path.clone();
        path.push("before".to_owned());
        self.more.push(format!("{}::{root}", path.join("::")));
        let inline = self.random.percent(50);
        self.module(path, Some(0), inline, false);
        let name = format!("Case{}Before", self.case);
        self.spec(self.modules.len() - 1, root, name, other);
    }

    fn small_words(&mut self, kube: &mut Vec<String>) {
        let mut maybe = |share: usize, text: &str| {
            if self.random.percent(share) {
                kube.push(text.to_owned());
            }
        };
        maybe(60, "namespaced");
        maybe(8, "singular = \"thing\"");
        maybe(20, "shortname = \"ct\"");
        maybe(8, "shortname = \"cto\"");
        maybe(15, "category = \"all\"");
        maybe(5, "category = \"own\"");
        maybe(10, "label(\"app\", \"x\")");
        maybe(6, "annotation(\"b.example.com/note\", \"some: text\")");
        maybe(6, "annotation(\"a.example.com/first\", \"\")");
        maybe(6, "doc = \"What it is\"");
        maybe(3, "doc = \"\"");
        maybe(10, "derive = \"PartialEq\"");
        maybe(4, "served = true");
        maybe(4, "storage = true");
        maybe(3, "deprecated");
        maybe(3, "deprecated = \"use another\"");
        // What one may say once, said once.
        let mut seen = std::collections::BTreeSet::new();
        kube.retain(|it| {
            let key = it.split([' ', '=']).next().unwrap_or_default().to_owned();
            ["shortname", "category"].contains(&key.as_str())
                || it.contains('(')
                || seen.insert(key)
        });
        // The root would need all of its parts to be comparable.
        kube.retain(|it| !it.starts_with("derive"));
    }

    fn columns(&mut self, kube: &mut Vec<String>) {
        const COLUMNS: &[&str] = &[
            "printcolumn(name = \"Replicas\", type_ = \"integer\", json_path = \".spec.replicas\")",
            "printcolumn(name = \"Age\", type_ = \"date\", json_path = \".metadata.creationTimestamp\", description = \"How old\", priority = 1)",
            "printcolumn(name = \"State\", type_ = \"string\", json_path = \".status.state\", format = \"name\")",
            "printcolumn = r#\"{\"name\": \"Json\", \"type\": \"string\", \"jsonPath\": \".spec.x\", \"priority\": 2}\"#",
            "printcolumn = r#\"{\"jsonPath\": \".spec.y\", \"name\": \"Y\", \"type\": \"number\", \"format\": \"double\", \"description\": \"why\"}\"#",
        ];
        for column in COLUMNS {
            let typed = column.starts_with("printcolumn(");
            if self.random.percent(12) && (!typed || 4 <= self.dialect.major) {
                kube.push((*column).to_owned());
            }
        }
        if self.random.percent(6) {
            kube.push("selectable = \".spec.name\"".to_owned());
        }
        if self.random.percent(3) {
            kube.push("selectable = \".spec.image\"".to_owned());
        }
    }

    fn last_words(&mut self, kube: &mut Vec<String>) {
        match self.random.below(50) {
            0 => kube.push("schema = \"disabled\"".to_owned()),
            1 | 2 => kube.push("schema = \"manual\"".to_owned()),
            _ => {}
        }
        if self.random.percent(4) && 3 <= self.dialect.major {
            kube.push(
                (*self.random.pick(&[
                    "attr = \"doc = \\\" By attr\\\"\"",
                    "attr = \"allow(unused)\"",
                    "attr = \"deprecated\"",
                ]))
                .to_owned(),
            );
        }
        // The order says nothing, but for what is a list.
        let first = kube.remove(0);
        let at = self.random.below(kube.len() + 1);
        kube.insert(at, first);
    }

    /// A type for the status: its path.
    fn status(&mut self, module: usize) -> String {
        let own: Vec<_> = (0..self.defs.len())
            .filter(|at| self.defs[*at].params == 0 && self.defs[*at].can.contains('f'))
            .collect();
        if !own.is_empty() && self.random.percent(70) {
            let at = *self.random.pick(&own);
            return self.name_of(module, at);
        }
        let name = self.fresh("Status");
        let place = Place { module, params: 0, named: true, rules: false, open: true };
        let count = 1 + self.random.below(4);
        let fields = self.fields(place, count);
        let mut res = self.docs(40) + &self.derive(module, "schemars::JsonSchema", &[]);
        res += &self.container(module, None, false, fields.iter().any(|it| it.flat));
        self.item(module, format!("{res}pub struct {name} {{\n{}}}\n", text_of(&fields)));
        name
    }

    /// The schema of the root, written by hand.
    fn manual(&mut self, module: usize, root: &str) {
        let body = self.schema_body(module, "generator");
        let js = self.outside(module, "schemars::JsonSchema");
        self.item(module, format!(
            "impl {js} for {root} {{\n    fn schema_name() -> std::borrow::Cow<'static, str> {{\n        \"Manual\".into()\n    }}\n    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {{\n        {body}\n    }}\n}}\n"
        ));
    }

    fn spec(&mut self, module: usize, root: &str, name: String, mut kube: Vec<String>) {
        let derive = self.outside(module, "kube::CustomResource");
        let head = format!("#[derive({derive})]\n");
        let disabled = kube.iter().any(|it| it.starts_with("schema"));
        if disabled {
            kube.retain(|it| !it.starts_with("validation"));
        }
        if kube.iter().any(|it| it == "schema = \"manual\"") {
            self.manual(module, root);
        }
        match self.random.below(40) {
            0 if !disabled => {
                let above = self.attribute("kube", &kube);
                let text = self.enum_spec(module, &name, &above);
                self.item(module, format!("{head}{text}"));
                return;
            }
            1 if !disabled => {
                let ty = self.some_type(1, 0);
                let shown = self.shown(module, &ty);
                let res = self.docs(40)
                    + &self.derive(module, "schemars::JsonSchema", &[])
                    + &self.attribute("kube", &kube);
                self.item(module, format!("{head}{res}pub struct {name}(pub {shown});\n"));
                return;
            }
            2 | 3 if 5 <= self.dialect.major => kube.push("no_spec".to_owned()),
            _ => {}
        }
        let rules = self.random.percent(22) && !disabled;
        let open = self.random.percent(85);
        let place = Place { module, params: 0, named: true, rules, open };
        let count = 2 + self.random.below(6);
        let mut fields = self.fields(place, count);
        // What was made for it is used.
        for at in 0..self.defs.len() {
            if self.random.percent(60) {
                let ty = self.data(at, 1, 0);
                let ty = if self.random.percent(25) {
                    Ty::Wrapped(super::types::OPTION, vec![ty])
                } else {
                    ty
                };
                let mut attributes = self.docs(25);
                if self.random.percent(25)
                    && let Some(path) = self.function(module, &ty)
                {
                    attributes += &format!("#[serde(default = \"{path}\")]\n");
                } else if self.can(&ty, 'd') && self.random.percent(40) {
                    attributes += "#[serde(default)]\n";
                }
                let shown = self.shown(module, &ty);
                fields.push(super::fields::Field {
                    attributes,
                    name: format!("own_{at}"),
                    ty,
                    shown,
                    flat: false,
                });
            }
        }
        let schema = if rules { "kube::KubeSchema" } else { "schemars::JsonSchema" };
        let shape =
            Shape::Struct(fields.iter().map(|it| (it.name.clone(), it.ty.clone())).collect());
        let default = !rules
            && self.all_default(&fields.iter().map(|it| &it.ty).collect::<Vec<_>>())
            && self.random.percent(50);
        let at = self.register(module, &name, 0, if default { "df" } else { "f" }, shape);
        let mut res = self.docs(45);
        res += &self.derive(module, schema, if default { &["Default"] } else { &[] });
        res += &self.attribute("kube", &kube);
        res += &self.container(module, Some(at), rules, open && fields.iter().any(|it| it.flat));
        self.item(module, format!("{head}{res}pub struct {name} {{\n{}}}\n", text_of(&fields)));
    }
}
