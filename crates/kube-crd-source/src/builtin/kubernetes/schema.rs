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
pub fn parse_impl(of: &str, code: &str) -> Result<(String, Template), Odd> {
    Scanner { left: code, depth: 0 }.impl_(of)
}

impl Template {
    /// The schema, with `of` to give those of other types.
    pub fn build_schema(
        &self,
        generator: &mut SchemaGenerator,
        of: &impl Fn(&str, &mut SchemaGenerator) -> Schema,
    ) -> Schema {
        // The macro takes objects only.
        match self.build_value(generator, of) {
            Value::Object(it) => it.into(),
            _ => Schema::default(),
        }
    }

    fn build_value(
        &self,
        generator: &mut SchemaGenerator,
        of: &impl Fn(&str, &mut SchemaGenerator) -> Schema,
    ) -> Value {
        match self {
            Self::Value(it) => it.clone(),
            Self::Array(items) => {
                items.iter().map(|template| template.build_value(generator, of)).collect()
            }
            Self::Object(entries) => {
                let mut object = Map::new();
                for (key, it) in entries {
                    object.insert(key.clone(), it.build_value(generator, of));
                }
                Value::Object(object)
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

/// A place where the text is not as the scanner expects.
pub struct Odd {
    /// The rest of the line.
    pub line: String,
}

type Scan<T> = Result<T, Odd>;

/// No schema of Kubernetes is half as deep.
const DEEP: usize = 64;

impl<'a> Scanner<'a> {
    fn impl_(&mut self, of: &str) -> Scan<(String, Template)> {
        self.expect_text("impl crate::schemars::JsonSchema for ")?;
        self.expect_text(of)?;
        self.expect_text("{")?;
        self.expect_text("fn schema_name() -> std::borrow::Cow<'static, str> {")?;
        let name = self.parse_string()?;
        self.expect_text(".into()")?;
        self.expect_text("}")?;
        self.expect_text("fn json_schema(__gen: &mut crate::schemars::SchemaGenerator) -> crate::schemars::Schema {")?;
        self.expect_text("crate::schemars::json_schema!(")?;
        let schema = self.parse_template()?;
        for end in [")", "}", "}"] {
            self.expect_text(end)?;
        }
        match (schema, self.left) {
            (schema @ Template::Object(_), "") => Ok((name, schema)),
            _ => self.odd_error(),
        }
    }

    fn parse_template(&mut self) -> Scan<Template> {
        self.depth += 1;
        if self.depth > DEEP {
            return self.odd_error();
        }
        let template = if self.eat_text("{") {
            Template::Object(self.parse_list("}", |scanner| {
                let key = scanner.parse_string()?;
                scanner.expect_text(":")?;
                Ok((key, scanner.parse_template()?))
            })?)
        } else if self.eat_text("[") {
            Template::Array(self.parse_list("]", Self::parse_template)?)
        } else if self.eat_text("(") {
            let template = if self.eat_text("{") { self.parse_described()? } else { self.type_()? };
            self.expect_text(")")?;
            template
        } else if self.eat_text("true") {
            Template::Value(true.into())
        } else if self.eat_text("false") {
            Template::Value(false.into())
        } else if self.left.starts_with('"') {
            Template::Value(self.parse_string()?.into())
        } else {
            self.type_()?
        };
        self.depth -= 1;
        Ok(template)
    }

    /// Parts up to an end, separated by `,`, with a `,` behind the last one perhaps.
    fn parse_list<T>(&mut self, end: &str, item: impl Fn(&mut Self) -> Scan<T>) -> Scan<Vec<T>> {
        let mut items = Vec::new();
        while !self.eat_text(end) {
            items.push(item(self)?);
            if !self.eat_text(",") {
                self.expect_text(end)?;
                break;
            }
        }
        Ok(items)
    }

    /// Another type's schema, with another description.
    fn parse_described(&mut self) -> Scan<Template> {
        self.expect_text("let mut schema_obj =")?;
        let Template::Type(path, mut inserts) = self.type_()? else { return self.odd_error() };
        self.expect_text(";")?;
        while self.eat_text("schema_obj.ensure_object().insert(") {
            let key = self.parse_string()?;
            self.expect_text(".into()")?;
            self.expect_text(",")?;
            let value = self.parse_string()?;
            self.expect_text(".into()")?;
            self.expect_text(");")?;
            inserts.push((key, value));
        }
        self.expect_text("schema_obj")?;
        self.expect_text("}")?;
        Ok(Template::Type(path, inserts))
    }

    /// `__gen.subschema_for::<crate::…::T>()`, as the path that a user would write.
    fn type_(&mut self) -> Scan<Template> {
        self.expect_text("__gen.subschema_for::<crate::")?;
        let Some((path, left)) = self.left.split_once(">()") else { return self.odd_error() };
        if !path.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | ':'))
        {
            return self.odd_error();
        }
        self.left = left.trim_start();
        Ok(Template::Type(format!("k8s_openapi::{path}"), Vec::new()))
    }

    /// A string literal, as far as the crate uses them.
    fn parse_string(&mut self) -> Scan<String> {
        let Some(mut left) = self.left.strip_prefix('"') else { return self.odd_error() };
        let mut string = String::new();
        loop {
            let Some(at) = left.find(['"', '\\']) else { return self.odd_error() };
            string.push_str(&left[..at]);
            let mut rest = left[at..].chars();
            if rest.next() == Some('"') {
                self.left = rest.as_str().trim_start();
                return Ok(string);
            }
            string.push(match rest.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(it @ ('"' | '\\' | '\'')) => it,
                _ => return self.odd_error(),
            });
            left = rest.as_str();
        }
    }

    fn eat_text(&mut self, expected: &str) -> bool {
        match self.left.strip_prefix(expected) {
            Some(left) => {
                self.left = left.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect_text(&mut self, expected: &str) -> Scan<()> {
        if self.eat_text(expected) { Ok(()) } else { self.odd_error() }
    }

    fn odd_error<T>(&self) -> Scan<T> {
        let line = self.left.lines().next().unwrap_or("the end").trim();
        Err(Odd { line: line.chars().take(80).collect() })
    }
}
