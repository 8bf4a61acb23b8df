//! How a type is named where it is used: by `use`, glob, rename, re-export, alias, or its whole path.

use super::Author;
use super::types::Ty;

impl Author {
    /// A type as a module would write it.
    pub fn shown(&mut self, module: usize, ty: &Ty) -> String {
        let text = match ty {
            Ty::Leaf(it) if it.path.contains(['<', '(']) => it.path.to_owned(),
            Ty::Leaf(it) => self.outside(module, it.path),
            Ty::Wrapped(it, arguments) => {
                let name = self.outside(module, it.path);
                format!("{name}<{}>", self.list(module, arguments))
            }
            Ty::Array(it, length) => format!("[{}; {length}]", self.shown(module, it)),
            Ty::Tuple(parts) if parts.len() == 1 => format!("({},)", self.shown(module, &parts[0])),
            Ty::Tuple(parts) => format!("({})", self.list(module, parts)),
            Ty::Data(at, arguments) => {
                let name = self.name_of(module, *at);
                match arguments.as_slice() {
                    [] => name,
                    some => format!("{name}<{}>", self.list(module, some)),
                }
            }
            Ty::Param(at) => ["T", "U"][*at].to_owned(),
        };
        if !has_param(ty) && self.random.percent(4) {
            let name = self.fresh("Alias");
            self.item(module, format!("pub type {name} = {text};\n"));
            return name;
        }
        text
    }

    fn list(&mut self, module: usize, parts: &[Ty]) -> String {
        parts.iter().map(|it| self.shown(module, it)).collect::<Vec<_>>().join(", ")
    }

    /// What a module calls something of another crate.
    pub fn outside(&mut self, module: usize, path: &str) -> String {
        if !path.contains("::") {
            // Of the prelude, or of the language.
            let of_std = match path {
                "Option" => "option",
                "Vec" => "vec",
                "String" => "string",
                "Result" => "result",
                "Box" => "boxed",
                _ => return path.to_owned(),
            };
            return match self.random.below(60) {
                0 => format!("std::{of_std}::{path}"),
                1 => format!("::std::{of_std}::{path}"),
                _ => path.to_owned(),
            };
        }
        if let Some(name) = self.modules[module].names.get(path) {
            return name.clone();
        }
        let last = path.rsplit("::").next().unwrap_or(path).to_owned();
        let (front, _) = path.rsplit_once("::").unwrap_or(("", path));
        let free = self.modules[module].taken.insert(last.clone());
        let name = match self.random.below(100) {
            0..45 if free => {
                self.modules[module].uses.insert(format!("use {path};"));
                last
            }
            45..55 if free => {
                // A group, with the module itself.
                let (above, middle) = front.rsplit_once("::").unwrap_or(("", front));
                if above.is_empty() || self.modules[module].taken.contains(middle) {
                    self.modules[module].uses.insert(format!("use {path};"));
                    last
                } else {
                    self.modules[module].taken.insert(middle.to_owned());
                    self.modules[module]
                        .uses
                        .insert(format!("use {above}::{middle}::{{self, {last}}};"));
                    if self.random.percent(50) { last } else { format!("{middle}::{last}") }
                }
            }
            55..70 => {
                let name = self.fresh(&last);
                self.modules[module].uses.insert(format!("use {path} as {name};"));
                name
            }
            70..76 if free && front == "std::collections" => {
                self.modules[module].uses.insert("use std::collections::*;".to_owned());
                last
            }
            76..80 => format!("::{path}"),
            _ => path.to_owned(),
        };
        self.modules[module].names.insert(path.to_owned(), name.clone());
        name
    }

    /// What a module calls a type of this case.
    pub fn name_of(&mut self, module: usize, at: usize) -> String {
        let (name, there) = (self.defs[at].name.clone(), self.defs[at].module);
        if there == module {
            return match self.random.below(30) {
                0 => format!("self::{name}"),
                1 => self.whole(module, there, &name),
                _ => name,
            };
        }
        let key = format!("crate {name}");
        if let Some(it) = self.modules[module].names.get(&key) {
            return it.clone();
        }
        let path = self.reach(module, there, &name);
        let front = path.rsplit_once("::").map(|it| it.0.to_owned()).unwrap_or_default();
        let res = match self.random.below(100) {
            0..35 => {
                self.modules[module].uses.insert(format!("use {path};"));
                name
            }
            35..45 => {
                let other = self.fresh(&name);
                self.modules[module].uses.insert(format!("use {path} as {other};"));
                other
            }
            45..60 => {
                self.modules[module].uses.insert(format!("use {front}::*;"));
                name
            }
            60..72 => {
                // By way of a third module, which hands it on.
                let via = self.beside_it(module);
                if via == module || via == there {
                    path
                } else {
                    let other = self.fresh("Handed");
                    let from = self.reach(via, there, &name);
                    self.modules[via].uses.insert(format!("pub use {from} as {other};"));
                    self.reach(module, via, &other)
                }
            }
            _ => path,
        };
        self.modules[module].names.insert(key, res.clone());
        res
    }

    fn whole(&self, module: usize, there: usize, name: &str) -> String {
        let same = self.modules[module].beside == self.modules[there].beside;
        let krate = if same { "crate" } else { "beside" };
        format!("{krate}::{}::{name}", self.modules[there].path.join("::"))
    }

    /// A path from one module to what stands in another.
    pub fn reach(&mut self, module: usize, there: usize, name: &str) -> String {
        if module == there {
            return name.to_owned();
        }
        let apart = self.modules[module].beside != self.modules[there].beside;
        if self.random.percent(40) || apart {
            return self.whole(module, there, name);
        }
        let (from, to) = (&self.modules[module].path, &self.modules[there].path);
        let common = from.iter().zip(to).take_while(|(one, other)| one == other).count();
        let ups = from.len() - common;
        let mut parts: Vec<&str> = vec!["super"; ups];
        if ups == 0 {
            parts.push("self");
        }
        parts.extend(to[common..].iter().map(String::as_str));
        format!("{}::{name}", parts.join("::"))
    }
}

pub fn has_param(ty: &Ty) -> bool {
    match ty {
        Ty::Leaf(_) => false,
        Ty::Wrapped(_, parts) | Ty::Tuple(parts) | Ty::Data(_, parts) => {
            parts.iter().any(has_param)
        }
        Ty::Array(it, _) => has_param(it),
        Ty::Param(_) => true,
    }
}
