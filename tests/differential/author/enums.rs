//! Enums in every representation.

use super::fields::Place;
use super::structs::{CASES, text_of};
use super::{Author, Def, Shape};

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Plain,
    External,
    Untagged,
    Internal,
    Adjacent,
}

impl Author {
    pub fn enumeration(&mut self, module: usize) {
        let form = self.random.weighted(&[
            (45, Form::Plain),
            (33, Form::External),
            (14, Form::Untagged),
            (5, Form::Internal),
            (3, Form::Adjacent),
        ]);
        let name = self.fresh("Enum");
        let (text, shapes, can) = self.enum_text(module, &name, "", form);
        self.defs.push(Def { name, module, params: 0, can, shapes });
        self.item(module, text);
    }

    /// A spec that is an enum.
    pub fn enum_spec(&mut self, module: usize, name: &str, above: &str) -> String {
        let form = self.random.weighted(&[
            (60, Form::External),
            (30, Form::Untagged),
            (10, Form::Internal),
        ]);
        self.enum_text(module, name, above, form).0
    }

    fn enum_text(
        &mut self,
        module: usize,
        name: &str,
        above: &str,
        form: Form,
    ) -> (String, Vec<(Option<String>, Shape)>, String) {
        const NAMES: &[&str] = &[
            "Alpha",
            "BetaGamma",
            "Delta2",
            "HTTPProxy",
            "X",
            "lower",
            "Snake_Case",
            "UnitÜ",
            "Type",
        ];
        let count = match form {
            // More of them and kube panics.
            Form::Internal | Form::Adjacent if self.random.percent(75) => 1,
            _ => 1 + self.random.below(5),
        };
        let start = self.random.below(NAMES.len());
        let documented = self.random.percent(40);
        let (mut shapes, mut variants) = (Vec::new(), String::new());
        let ordered = form == Form::Plain && self.random.percent(60);
        let with_default = matches!(form, Form::Plain | Form::External)
            && above.is_empty()
            && self.random.percent(40);
        let mut chosen = false;
        let mut flat = form != Form::Plain;
        for at in 0..count {
            let variant = NAMES[(start + at) % NAMES.len()].to_owned();
            let mut attributes = if documented { self.docs(70) } else { String::new() };
            let shape = self.random.weighted(&match form {
                Form::Plain => [(1, 'u'), (0, 'n'), (0, 't'), (0, 's')],
                Form::Internal => [(20, 'u'), (20, 'n'), (0, 't'), (60, 's')],
                Form::External if chosen => [(10, 'u'), (40, 'n'), (3, 't'), (45, 's')],
                _ => [(20, 'u'), (35, 'n'), (3, 't'), (40, 's')],
            });
            let mut serde = Vec::new();
            if self.random.percent(8) {
                serde.push(match self.random.below(4) {
                    0 => format!("rename(serialize = \"out{at}\", deserialize = \"in{at}\")"),
                    1 => format!("rename = \"renamed-{at}\", alias = \"other{at}\""),
                    _ => format!("rename = \"re named{at}\""),
                });
            }
            match self.random.below(60) {
                0 => serde.push("skip".to_owned()),
                1 => serde.push("skip_deserializing".to_owned()),
                2 => serde.push("skip_serializing".to_owned()),
                3 if shape == 's' => serde.push("rename_all = \"SCREAMING_SNAKE_CASE\"".to_owned()),
                4 if at + 1 == count && form == Form::External && shape != 'u' => {
                    serde.push("untagged".to_owned())
                }
                5 if at + 1 == count && form == Form::Internal && shape == 'u' => {
                    serde.push("other".to_owned())
                }
                _ => {}
            }
            let mut schemars = Vec::new();
            if self.random.percent(6) {
                schemars.extend(self.described(module));
            }
            attributes += &self.attribute("serde", &serde);
            attributes += &self.attribute("schemars", &schemars);
            if with_default && shape == 'u' && !chosen {
                chosen = true;
                attributes += "#[default]\n";
            }
            let place = Place {
                module,
                params: 0,
                named: shape == 's',
                rules: false,
                open: form != Form::External,
            };
            let (text, shape) = match shape {
                'u' => {
                    flat &= form != Form::Untagged;
                    let number = if form == Form::Plain && self.random.percent(8) {
                        format!(" = {}", at * 3)
                    } else {
                        String::new()
                    };
                    (format!("{variant}{number}"), Shape::Unit)
                }
                'n' => {
                    let mut fields = self.fields(place, 1);
                    if matches!(form, Form::Internal | Form::Untagged) {
                        let own: Vec<_> = (0..self.defs.len())
                            .filter(|at| self.defs[*at].can.contains('f'))
                            .collect();
                        if !own.is_empty() && self.random.percent(80) {
                            let at = *self.random.pick(&own);
                            let ty = self.data(at, 2, 0);
                            fields[0].shown = self.shown(module, &ty);
                            fields[0].ty = ty;
                            // What was said is of another type.
                            fields[0].attributes.clear();
                        }
                    }
                    let it = fields.remove(0);
                    (format!("{variant}({}{})", it.attributes, it.shown), Shape::Tuple(vec![it.ty]))
                }
                't' => {
                    let fields = self.fields(place, 2);
                    let parts: String = fields
                        .iter()
                        .map(|it| format!("{}{}, ", it.attributes, it.shown))
                        .collect();
                    (
                        format!("{variant}({parts})"),
                        Shape::Tuple(fields.into_iter().map(|it| it.ty).collect()),
                    )
                }
                _ => {
                    let count = self.random.below(4);
                    let fields = self.fields(place, count);
                    let text = text_of(&fields).replace("\npub ", "\n");
                    let text = text.strip_prefix("pub ").unwrap_or(&text);
                    let shape = fields.into_iter().map(|it| (it.name, it.ty)).collect();
                    (format!("{variant} {{\n{text}}}"), Shape::Struct(shape))
                }
            };
            variants += &format!("{attributes}{text},\n");
            shapes.push((Some(variant), shape));
        }
        if self.random.percent(1) {
            variants += "#[cfg(feature = \"off\")]\nAbsent(Missing),\n";
        }
        let mut more = Vec::new();
        let mut can = String::new();
        // A value with a tag in it or beside it is refused.
        let tagged = matches!(form, Form::Internal | Form::Adjacent);
        if chosen {
            more.push("Default");
        }
        if chosen && !tagged {
            can.push('d');
        }
        if tagged {
            shapes.clear();
        }
        if ordered {
            more.extend(["PartialEq", "Eq", "Hash", "PartialOrd", "Ord"]);
            can.push_str("ok");
        }
        if flat && above.is_empty() {
            can.push('f');
        }
        let mut text = self.docs(30);
        text += &self.derive(module, "schemars::JsonSchema", &more);
        text += above;
        text += &self.enum_container(form);
        text += &format!("pub enum {name} {{\n{variants}}}\n");
        (text, shapes, can)
    }

    fn enum_container(&mut self, form: Form) -> String {
        let mut serde = Vec::new();
        match form {
            Form::Untagged => serde.push("untagged".to_owned()),
            Form::Internal => serde.push("tag = \"kind_of\"".to_owned()),
            Form::Adjacent => serde.push("tag = \"t\", content = \"content\"".to_owned()),
            _ => {}
        }
        if self.random.percent(50) {
            serde.push(format!("rename_all = \"{}\"", self.random.pick(CASES)));
        }
        if form != Form::Plain && self.random.percent(15) {
            serde.push(format!("rename_all_fields = \"{}\"", self.random.pick(CASES)));
        }
        if form != Form::Plain && form != Form::Untagged && self.random.percent(4) {
            serde.push("deny_unknown_fields".to_owned());
        }
        let mut schemars = Vec::new();
        match self.random.below(40) {
            0 => schemars.push("title = \"An enum\"".to_owned()),
            1 => schemars.push("description = \"Of variants\"".to_owned()),
            2 => schemars.push("extend(\"format\" = \"own\")".to_owned()),
            _ => {}
        }
        self.attribute("serde", &serde) + &self.attribute("schemars", &schemars)
    }
}
