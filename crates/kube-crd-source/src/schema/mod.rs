//! The schema of a type, as schemars and kube make it at run time: their own code, called on what was read.
//!
//! Only the types that a kind reaches are read. What cannot be read is a problem at its
//! place, with the path of the field.

mod answers;
mod api_names;
pub mod container;
mod declaration;
mod definition;
mod derive_methods;
mod enums;
mod generics;
mod hand_written;
mod ineffective;
mod nulls;
mod older;
mod problems;
mod reads;
mod repr;
mod resource;
mod standing;
mod structs;
mod unknown;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use schemars::{Schema, SchemaGenerator};
use serde_derive_internals::Derive;

pub use resource::{Crd, DeclaredKinds, read_kinds};

use crate::attributes::schemars::With;
use crate::builtin::kubernetes::Model;
use crate::builtin::{Builtin, Dyn};
use crate::text::{FieldNames, FieldPlaces, FieldTypes, Place, Problem, format_tokens};
use crate::tree::{ItemId, ModuleId};
use crate::types::derives::Derived;
use crate::types::serde;
use crate::types::{SchemaFunction, Scope, Type, Types};
use crate::values::{Budget, JsonSchemaImpl, Values};
use container::Container;
use standing::standing_for;

/// The cached result of reading, or the problem that stopped it.
type Known<K, T> = RefCell<BTreeMap<K, Result<Rc<T>, Problem>>>;

/// The cached result of reading; none if there is nothing to read.
type Found<K, T> = RefCell<BTreeMap<K, Option<Rc<T>>>>;

/// Answers for the types of a project.
pub struct Reader {
    pub world: Rc<Types>,
    /// The budget that all evaluations share.
    pub budget: Budget,
    containers: Known<(ItemId, bool), Container>,
    own: RefCell<BTreeMap<Type, Rc<This>>>,
    /// The types with a hand-written schema.
    by_hand: Found<Type, JsonSchemaImpl>,
    /// The problems of this resource: one for each place, whichever ways lead there.
    problems: RefCell<BTreeMap<Place, Problem>>,
    warnings: RefCell<Vec<Problem>>,
    /// The references in this kind that have a warning.
    references: RefCell<BTreeSet<String>>,
    /// The name of a type was needed: only references have names.
    uses_names: Cell<bool>,
    /// This kind uses a type of k8s-openapi.
    uses_kubernetes: Cell<bool>,
    /// The path of the current field: the kind, then fields.
    field_path: RefCell<Vec<String>>,
    /// The names that lead to the current field in the schema. Those of variants are not among them where serde does not
    /// write them as fields.
    schema_path: RefCell<Vec<String>>,
    /// The places of this resource's fields.
    field_places: RefCell<FieldPlaces>,
    /// The named types of the fields of this resource.
    field_types: RefCell<FieldTypes>,
    /// The fields of this resource that serde may write as `null`.
    null_fields: RefCell<FieldNames>,
    /// The types that read the fields of this resource.
    read_types: RefCell<reads::ReadTypes>,
    /// The types that we are inside of; nothing for those of other crates.
    inside: RefCell<Vec<Option<ItemId>>>,
    /// Number of visits of types for this resource.
    visits: Cell<usize>,
    /// This resource has no end: nothing more of it is looked at.
    gave_up: Cell<bool>,
}

/// A type of the project, with the arguments of its parameters.
pub struct This {
    pub id: ItemId,
    pub container: Rc<Container>,
    pub scope: Scope,
    /// The type that this one only forwards to.
    pub forward: Option<Rc<Type>>,
    /// The types in its code, by their addresses in memory: the container keeps them there.
    types: RefCell<BTreeMap<*const syn::Type, Rc<Type>>>,
}

impl Reader {
    pub fn new(world: Rc<Types>) -> Self {
        Self {
            world,
            budget: Budget::default(),
            containers: RefCell::default(),
            own: RefCell::default(),
            by_hand: RefCell::default(),
            problems: RefCell::default(),
            warnings: RefCell::default(),
            references: RefCell::default(),
            uses_names: Cell::new(false),
            uses_kubernetes: Cell::new(false),
            field_path: RefCell::default(),
            schema_path: RefCell::default(),
            field_places: RefCell::default(),
            field_types: RefCell::default(),
            null_fields: RefCell::default(),
            read_types: RefCell::default(),
            inside: RefCell::default(),
            visits: Cell::new(0),
            gave_up: Cell::new(false),
        }
    }

    fn values_in(&self, module: ModuleId) -> Values<'_> {
        Values { world: &self.world, budget: &self.budget, module }
    }

    /// A type in a type's code. A problem of it is reported for each field that leads there.
    fn type_(&self, this: &This, ty: &syn::Type) -> Option<Rc<Type>> {
        let key = std::ptr::from_ref(ty);
        let known = this.types.borrow().get(&key).cloned();
        if known.is_some() {
            return known;
        }
        match self.world.type_in(&this.scope, ty) {
            Ok(found) => {
                this.types.borrow_mut().insert(key, found.clone());
                Some(found)
            }
            Err(problem) => {
                self.refuse_at(problem, Some(format_tokens(ty)));
                None
            }
        }
    }

    /// The facts about a type of the project; none if it cannot be read.
    fn container_of(&self, id: ItemId, root: bool) -> Option<Rc<Container>> {
        let known = self.containers.borrow().get(&(id, root)).cloned();
        let found = known.unwrap_or_else(|| {
            let read = if root { self.read_root(id) } else { self.read_data(id) }.map(Rc::new);
            self.containers.borrow_mut().insert((id, root), read.clone());
            read
        });
        match found {
            Ok(container) => Some(container),
            // Each kind that reaches it has this problem.
            Err(problem) => {
                self.refuse_at(problem, Some(self.world.items[id].name.clone()));
                None
            }
        }
    }

    fn read_data(&self, id: ItemId) -> Result<Container, Problem> {
        let world = &*self.world;
        let item = &world.items[id];
        let input = world.settled_input(id)?;
        let json = world.derives_trait(id, "schemars::JsonSchema")?;
        let kube = world.derives_trait(id, "kube::KubeSchema")?;
        let repr = world.derives_trait(id, "schemars::JsonSchema_repr")? == Derived::Yes;
        let refuse = |what: &str, hint: &str| {
            let message = format!("`{}` {what}", item.name);
            Err(world.problem_at(item.module, item.span, message, hint))
        };
        match (json, kube) {
            (Derived::Yes, Derived::No) | (Derived::No, Derived::Yes) => {}
            (Derived::Yes, _) | (_, Derived::Yes) => {
                return refuse("derives both `JsonSchema` and `KubeSchema`", "derive one of them");
            }
            (Derived::Depends, _) | (_, Derived::Depends) => {
                return refuse(
                    "derives its schema by a `cfg` that only the compiler can evaluate",
                    "",
                );
            }
            _ if repr => {}
            _ => {
                let hint = match world.macro_that_may_write(id, "json_schema") {
                    Some(place) => {
                        format!(
                            "{place} may have its `impl JsonSchema`: write it in a module, without a macro"
                        )
                    }
                    None => "add `JsonSchema` (or kube's `KubeSchema`) to its derives".to_owned(),
                };
                return refuse("does not derive `JsonSchema`", &hint);
            }
        }
        world.check_attribute_macros(id, &input)?;
        self.check_methods_of_derive(id)?;
        for (derive, path) in
            [(Derive::Deserialize, "serde::Deserialize"), (Derive::Serialize, "serde::Serialize")]
        {
            if world.derives_trait(id, path)? == Derived::Yes {
                // Serde's own derive refuses these.
                serde::with_container(&input, derive, |_| ()).map_err(|error| {
                    world.problem_at(
                        item.module,
                        error.span(),
                        error.to_string(),
                        "see serde's attributes",
                    )
                })?;
            }
        }
        let values = self.values_in(item.module);
        let mut container = container::parse_container(&input, kube == Derived::Yes, &values)?;
        if repr {
            container.data =
                container::ContainerData::Numbers(repr::variant_numbers(&input, &values)?);
        }
        Ok(container)
    }

    /// `generator.subschema_for::<T>()`.
    fn subschema_for(&self, ty: &Rc<Type>, generator: &mut SchemaGenerator) -> Schema {
        standing_for(std::slice::from_ref(ty), || generator.subschema_for::<Dyn<0>>())
    }

    /// The facts about a type of the project; none if it cannot be read.
    fn this_of(&self, ty: &Type) -> Option<Rc<This>> {
        let (id, root) = match ty {
            Type::Data(id, _) => (*id, false),
            Type::Root(id) => (*id, true),
            Type::Foreign { .. } | Type::Kubernetes(_) | Type::Function(_) => {
                return None;
            }
        };
        let known = self.own.borrow().get(ty).cloned();
        if known.is_some() {
            return known;
        }
        let container = self.container_of(id, root)?;
        let scope = self.world.scope_of(ty);
        let mut this = This { id, container, scope, forward: None, types: RefCell::default() };
        if let Some(forward) = this.container.clone().forwards_to() {
            this.forward = Some(self.type_(&this, forward)?);
        }
        let this = Rc::new(this);
        self.own.borrow_mut().insert(ty.clone(), this.clone());
        Some(this)
    }
}

/// A type, as its answers are found.
enum Origin<'a> {
    Foreign(&'static Builtin, &'a [Rc<Type>]),
    Kubernetes(&'a Model),
    Forward(Rc<Type>),
    Function(&'a SchemaFunction),
    HandWritten(Rc<JsonSchemaImpl>),
    Own(Rc<This>),
    /// It cannot be read, which is among the problems.
    Nothing,
}

impl Reader {
    /// The hand-written `impl JsonSchema` of a type, where there is one.
    fn hand_written(&self, ty: &Type) -> Result<Option<Rc<JsonSchemaImpl>>, Problem> {
        let known = self.by_hand.borrow().get(ty).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let own = match ty {
            Type::Root(id) => self.is_manual(*id),
            Type::Data(id, _) => {
                let derives =
                    ["schemars::JsonSchema", "schemars::JsonSchema_repr", "kube::KubeSchema"];
                let mut derived = derives.iter().map(|path| self.world.derives_trait(*id, path));
                derived.all(|derived| matches!(derived, Ok(Derived::No)))
            }
            _ => false,
        };
        let found = if own { self.world.json_schema_impl(ty)?.map(Rc::new) } else { None };
        self.by_hand.borrow_mut().insert(ty.clone(), found.clone());
        Ok(found)
    }

    /// The type that `with` or `schema_with` puts in the place of another.
    fn replacement_type(&self, this: &This, with: &With) -> Option<Rc<Type>> {
        match with {
            With::Type(ty) => self.type_(this, ty),
            With::Function(path) => {
                let module = &self.world.modules[this.scope.module].path;
                let id = format!("_SchemarsSchemaWithFunction/{module}/{}", format_tokens(&**path));
                Some(Rc::new(Type::Function(Rc::new(SchemaFunction {
                    path: syn::ExprPath { attrs: Vec::new(), qself: None, path: (**path).clone() },
                    id,
                    arguments: this.scope.parameters.values().cloned().collect(),
                    scope: this.scope.clone(),
                }))))
            }
        }
    }

    fn origin_of<'a>(&self, ty: &'a Type) -> Origin<'a> {
        if let Type::Foreign { builtin, arguments, .. } = ty {
            return Origin::Foreign(builtin, arguments);
        }
        if let Type::Kubernetes(model) = ty {
            return Origin::Kubernetes(model);
        }
        if let Type::Function(it) = ty {
            return Origin::Function(it);
        }
        match self.hand_written(ty) {
            Ok(Some(it)) => return Origin::HandWritten(it),
            Ok(None) => {}
            Err(problem) => {
                self.report_problem(problem);
                return Origin::Nothing;
            }
        }
        match self.this_of(ty) {
            None => Origin::Nothing,
            Some(it) => it.forward.clone().map_or(Origin::Own(it), Origin::Forward),
        }
    }
}
