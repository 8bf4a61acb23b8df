//! Functions, constants and implementations of `Default` that defaults are made with.

use super::types::Ty;
use super::{Author, Shape};

impl Author {
    /// A constant of a type of numbers: its name, and the module that it stands in.
    pub fn constant(&mut self, module: usize, ty: &str) -> (String, usize) {
        let name = self.fresh("LIMIT_");
        let there = if self.random.percent(70) { module } else { self.beside_it(module) };
        let number = self.random.below(50);
        let value = match self.random.below(4) {
            0 => format!("{number} + 3"),
            1 => format!("2 * ({number} - {})", self.random.below(number + 1)),
            _ => number.to_string(),
        };
        self.item(there, format!("pub const {name}: {ty} = {value};\n"));
        (name, there)
    }

    /// A constant text.
    pub fn constant_text(&mut self, module: usize, text: &str) -> String {
        let name = self.fresh("TEXT_");
        let there = if self.random.percent(70) { module } else { self.beside_it(module) };
        self.item(there, format!("pub const {name}: &str = {text};\n"));
        self.reach(module, there, &name)
    }

    /// The path of a function that makes one.
    pub fn function(&mut self, module: usize, ty: &Ty) -> Option<String> {
        let there = if self.random.percent(70) { module } else { self.beside_it(module) };
        let value = self.made(there, ty, 0)?;
        let shown = self.shown(there, ty);
        let body = match self.random.below(8) {
            0 | 1 => format!("let it: {shown} = {{ {value} }};\n    it"),
            2 => {
                let inner = self.fresh("inner_");
                self.item(there, format!("fn {inner}() -> {shown} {{\n    {value}\n}}\n"));
                format!("{inner}()")
            }
            _ => value,
        };
        let name = self.fresh("default_");
        let konst = if self.random.percent(3) && !body.contains('(') { "const " } else { "" };
        if self.random.percent(15) {
            let holder = self.fresh("Holder");
            self.item(there, format!(
                "pub struct {holder};\nimpl {holder} {{\n    pub {konst}fn {name}() -> {shown} {{\n    {body}\n    }}\n}}\n"
            ));
            return Some(self.reach(module, there, &format!("{holder}::{name}")));
        }
        self.item(there, format!("pub {konst}fn {name}() -> {shown} {{\n    {body}\n}}\n"));
        Some(self.reach(module, there, &name))
    }

    /// `impl Default`, as people write it.
    pub fn hand_written_default(&mut self, module: usize, at: usize) -> Option<()> {
        let name = self.defs[at].name.clone();
        let shapes = self.defs[at].shapes.clone();
        if shapes.is_empty() {
            return None;
        }
        let (variant, shape) = self.random.pick(&shapes).clone();
        let own = if self.random.percent(60) { "Self".to_owned() } else { name.clone() };
        let path = variant.map_or(own.clone(), |it| format!("{own}::{it}"));
        let value = match shape {
            Shape::Unit => path,
            Shape::Tuple(parts) => {
                let parts: Option<Vec<_>> =
                    parts.iter().map(|it| self.made(module, it, 1)).collect();
                format!("{path}({})", parts?.join(", "))
            }
            Shape::Struct(fields) => {
                let fields: Option<Vec<_>> = fields
                    .iter()
                    .map(|(field, ty)| {
                        Some(format!("            {field}: {},\n", self.made(module, ty, 1)?))
                    })
                    .collect();
                format!("{path} {{\n{}        }}", fields?.concat())
            }
        };
        let value = if self.random.percent(15) {
            format!("let it: Self = {value};\n        it")
        } else {
            value
        };
        self.item(module, format!(
            "impl Default for {name} {{\n    fn default() -> Self {{\n        {value}\n    }}\n}}\n"
        ));
        Some(())
    }
}
