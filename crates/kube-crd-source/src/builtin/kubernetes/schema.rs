//! The body of an `impl JsonSchema` → a schema with holes where other types go.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

/// The argument of a `json_schema!` of the crate.
#[derive(Debug)]
pub enum Template {
    Value(Value),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
    /// `generator.subschema_for::<T>()`, by T's path; then what is put into it.
    Type(String, Vec<(String, String)>),
}

/// The name and the schema in an `impl JsonSchema`.
pub fn read(of: &str, code: &str) -> Result<(String, Template), Odd> {
    Scanner { left: code, depth: 0 }.impl_(of)
}

impl Template {
    /// The schema, with `of` to give those of other types.
    pub fn schema(
        &self,
        generator: &mut SchemaGenerator,
        of: &impl Fn(&str, &mut SchemaGenerator) -> Schema,
    ) -> Schema {
        // The macro takes objects only.
        match self.value(generator, of) {
            Value::Object(it) => it.into(),
            _ => Schema::default(),
        }
    }

    fn value(
        &self,
        generator: &mut SchemaGenerator,
        of: &impl Fn(&str, &mut SchemaGenerator) -> Schema,
    ) -> Value {
        match self {
            Self::Value(it) => it.clone(),
            Self::Array(items) => items.iter().map(|it| it.value(generator, of)).collect(),
            Self::Object(entries) => {
                let mut res = Map::new();
                for (key, it) in entries {
                    res.insert(key.clone(), it.value(generator, of));
                }
                Value::Object(res)
            }
            Self::Type(path, inserts) => {
                let mut schema = of(path, generator);
                for (key, value) in inserts {
                    schema.ensure_object().insert(key.clone(), value.clone().into());
                }
                schema.to_value()
            }
        }
    }
}

/// Goes through the text of an impl. It is generated: each has the same lines around what differs.
struct Scanner<'a> {
    left: &'a str,
    depth: usize,
}

/// Where the text is not as it is expected.
pub struct Odd {
    /// The rest of the line.
    pub line: String,
}

type Scan<T> = Result<T, Odd>;

/// No schema of Kubernetes is half as deep.
const DEEP: usize = 64;

impl<'a> Scanner<'a> {
    fn impl_(&mut self, of: &str) -> Scan<(String, Template)> {
        self.expect("impl crate::schemars::JsonSchema for ")?;
        self.expect(of)?;
        self.expect("{")?;
        self.expect("fn schema_name() -> std::borrow::Cow<'static, str> {")?;
        let name = self.text()?;
        self.expect(".into()")?;
        self.expect("}")?;
        self.expect("fn json_schema(__gen: &mut crate::schemars::SchemaGenerator) -> crate::schemars::Schema {")?;
        self.expect("crate::schemars::json_schema!(")?;
        let schema = self.template()?;
        for end in [")", "}", "}"] {
            self.expect(end)?;
        }
        match (schema, self.left) {
            (schema @ Template::Object(_), "") => Ok((name, schema)),
            _ => self.odd(),
        }
    }

    fn template(&mut self) -> Scan<Template> {
        self.depth += 1;
        if DEEP < self.depth {
            return self.odd();
        }
        let res = if self.eat("{") {
            Template::Object(self.list("}", |it| {
                let key = it.text()?;
                it.expect(":")?;
                Ok((key, it.template()?))
            })?)
        } else if self.eat("[") {
            Template::Array(self.list("]", Self::template)?)
        } else if self.eat("(") {
            let res = if self.eat("{") { self.described()? } else { self.type_()? };
            self.expect(")")?;
            res
        } else if self.eat("true") {
            Template::Value(true.into())
        } else if self.eat("false") {
            Template::Value(false.into())
        } else if self.left.starts_with('"') {
            Template::Value(self.text()?.into())
        } else {
            self.type_()?
        };
        self.depth -= 1;
        Ok(res)
    }

    /// Parts up to an end, separated by `,`, with a `,` behind the last one perhaps.
    fn list<T>(&mut self, end: &str, item: impl Fn(&mut Self) -> Scan<T>) -> Scan<Vec<T>> {
        let mut res = Vec::new();
        while !self.eat(end) {
            res.push(item(self)?);
            if !self.eat(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(res)
    }

    /// Another type's schema, with another description.
    fn described(&mut self) -> Scan<Template> {
        self.expect("let mut schema_obj =")?;
        let Template::Type(path, mut inserts) = self.type_()? else { return self.odd() };
        self.expect(";")?;
        while self.eat("schema_obj.ensure_object().insert(") {
            let key = self.text()?;
            self.expect(".into()")?;
            self.expect(",")?;
            let value = self.text()?;
            self.expect(".into()")?;
            self.expect(");")?;
            inserts.push((key, value));
        }
        self.expect("schema_obj")?;
        self.expect("}")?;
        Ok(Template::Type(path, inserts))
    }

    /// `__gen.subschema_for::<crate::…::T>()`, as the path that a user would write.
    fn type_(&mut self) -> Scan<Template> {
        self.expect("__gen.subschema_for::<crate::")?;
        let Some((path, left)) = self.left.split_once(">()") else { return self.odd() };
        if !path.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | ':')) {
            return self.odd();
        }
        self.left = left.trim_start();
        Ok(Template::Type(format!("k8s_openapi::{path}"), Vec::new()))
    }

    /// A string literal, as far as the crate uses them.
    fn text(&mut self) -> Scan<String> {
        let Some(mut left) = self.left.strip_prefix('"') else { return self.odd() };
        let mut res = String::new();
        loop {
            let Some(at) = left.find(['"', '\\']) else { return self.odd() };
            res.push_str(&left[..at]);
            let mut rest = left[at..].chars();
            if rest.next() == Some('"') {
                self.left = rest.as_str().trim_start();
                return Ok(res);
            }
            res.push(match rest.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(it @ ('"' | '\\' | '\'')) => it,
                _ => return self.odd(),
            });
            left = rest.as_str();
        }
    }

    fn eat(&mut self, expected: &str) -> bool {
        match self.left.strip_prefix(expected) {
            Some(left) => {
                self.left = left.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, expected: &str) -> Scan<()> {
        match self.eat(expected) {
            true => Ok(()),
            false => self.odd(),
        }
    }

    fn odd<T>(&self) -> Scan<T> {
        let line = self.left.lines().next().unwrap_or("the end").trim();
        Err(Odd { line: line.chars().take(80).collect() })
    }
}
