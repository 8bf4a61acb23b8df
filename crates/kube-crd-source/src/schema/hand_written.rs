//! Hand-written schemas: `impl JsonSchema for Type`, and functions that `schema_with` names. The
//! evaluator evaluates them; for the schemas of other types it asks back here.

use std::cell::RefCell;
use std::rc::Rc;

use schemars::{Schema, SchemaGenerator};

use super::Reader;
use super::standing::standing_for;
use crate::builtin::Dyn;
use crate::types::{SchemaFunction, Type};
use crate::values::{Evaluated, Evaluator, JsonSchemaImpl, Schemas};

/// Answers for types, with the generator of the schema that is evaluated.
struct Asking<'a> {
    reader: &'a Reader,
    generator: Option<RefCell<&'a mut SchemaGenerator>>,
}

impl Asking<'_> {
    fn with_generator<T>(&self, f: impl FnOnce(&mut SchemaGenerator) -> T) -> Option<T> {
        let mut generator = self.generator.as_ref()?.try_borrow_mut().ok()?;
        Some(f(&mut generator))
    }
}

impl Schemas for Asking<'_> {
    fn subschema_for(&self, ty: &Rc<Type>) -> Option<Schema> {
        self.with_generator(|generator| {
            standing_for(std::slice::from_ref(ty), || generator.subschema_for::<Dyn<0>>())
        })
    }

    fn json_schema(&self, ty: &Rc<Type>) -> Option<Schema> {
        self.with_generator(|generator| self.reader.json_schema(ty, generator))
    }

    fn schema_name(&self, ty: &Rc<Type>) -> String {
        self.reader.schema_name(ty)
    }

    fn schema_id(&self, ty: &Rc<Type>) -> String {
        self.reader.schema_id(ty)
    }

    fn inline_schema(&self, ty: &Rc<Type>) -> bool {
        self.reader.inline_schema(ty)
    }
}

impl Reader {
    /// Evaluates a function of a hand-written impl; none where the impl lacks it.
    fn evaluate_function(
        &self,
        of: &JsonSchemaImpl,
        name: &str,
        generator: Option<&mut SchemaGenerator>,
    ) -> Option<Evaluated> {
        let asking = Asking { reader: self, generator: generator.map(RefCell::new) };
        let evaluator = Evaluator::new(&self.world, &self.budget, "a hand-written schema");
        match evaluator.with_schemas(&asking).json_schema_function(of, name) {
            Ok(found) => found,
            Err(problem) => {
                self.report_problem(*problem);
                Some(Evaluated::Nothing)
            }
        }
    }

    pub fn hand_written_text(&self, of: &JsonSchemaImpl, name: &str) -> Option<String> {
        match self.evaluate_function(of, name, None)? {
            Evaluated::Text(it) => Some(it),
            _ => Some(String::new()),
        }
    }

    pub fn hand_written_flag(&self, of: &JsonSchemaImpl, name: &str) -> Option<bool> {
        match self.evaluate_function(of, name, None)? {
            Evaluated::Flag(it) => Some(it),
            _ => Some(true),
        }
    }

    pub fn hand_written_schema(
        &self,
        of: &JsonSchemaImpl,
        name: &str,
        generator: &mut SchemaGenerator,
    ) -> Option<Schema> {
        match self.evaluate_function(of, name, Some(generator))? {
            Evaluated::Schema(it) => Some(it),
            _ => Some(Schema::default()),
        }
    }

    /// The schema that the function in `schema_with` returns.
    pub fn function_schema(&self, of: &SchemaFunction, generator: &mut SchemaGenerator) -> Schema {
        let asking = Asking { reader: self, generator: Some(RefCell::new(generator)) };
        let evaluator = Evaluator::new(&self.world, &self.budget, "a `schema_with` function");
        let found = evaluator.with_schemas(&asking).schema_with(&of.scope, &of.path);
        found.unwrap_or_else(|problem| {
            self.report_problem(*problem);
            Schema::default()
        })
    }
}
