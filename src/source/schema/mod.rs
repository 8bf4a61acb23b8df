//! The schema of a type, as schemars and kube make it at run time: their own code, called on what was read.
//!
//! Only the types that a resource reaches are looked at. What one of them cannot be read for is told at its
//! place, with the way that led there.

pub mod container;
mod enums;
mod repr;
mod resource;
mod structs;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use schemars::{Schema, SchemaGenerator};
use serde_derive_internals::Derive;

pub use resource::resources;

use super::attributes::{schemars::Common, serde};
use super::builtin::kubernetes::Model;
use super::builtin::{Answers, Dyn, standing_for};
use super::derives::Derived;
use super::types::Type;
use super::values::Values;
use super::world::{ItemId, ModuleId, World};
use crate::model::{Place, Problem, SourcePath};
use container::Container;

/// What was read before; nothing where it could not be.
type Known<K, T> = RefCell<BTreeMap<K, Option<Rc<T>>>>;

/// Answers for the types of a project.
pub struct Reader {
    pub world: Rc<World>,
    containers: Known<(ItemId, bool), Container>,
    types: Known<(ModuleId, String), Type>,
    problems: RefCell<Vec<Problem>>,
    /// What the problems of this resource count, told now or before.
    refused: Cell<usize>,
    /// A type of k8s-openapi was met.
    kubernetes: Cell<bool>,
    /// The way to where we are: the kind, then fields.
    way: RefCell<Vec<String>>,
    /// The types of the project that we are inside of.
    open: RefCell<Vec<(ItemId, bool)>>,
}

impl Reader {
    pub fn new(world: Rc<World>) -> Self {
        Self {
            world,
            containers: RefCell::default(),
            types: RefCell::default(),
            problems: RefCell::default(),
            refused: Cell::new(0),
            kubernetes: Cell::new(false),
            way: RefCell::default(),
            open: RefCell::default(),
        }
    }

    fn values(&self, module: ModuleId) -> Values<'_> {
        Values { world: &self.world, module }
    }

    /// Notes a problem of the type that we are inside of, with the way that led to it.
    fn refuse(&self, problem: Problem) {
        self.refuse_at(problem, None);
    }

    /// The same, of the type of this name that could not be read there.
    fn refuse_at(&self, problem: Problem, name: Option<String>) {
        let item = self.open.borrow().last().map(|it| it.0);
        self.refuse_in(item, problem, name);
    }

    fn refuse_in(&self, item: Option<ItemId>, mut problem: Problem, name: Option<String>) {
        self.refused.set(self.refused.get() + 1);
        if let Some(call) = item.and_then(|it| self.world.made_by(it)) {
            problem.message = format!("{}, in what {call} makes", problem.message);
        }
        if let Some((kind, fields)) = self.way.borrow().split_first() {
            problem.way = vec![kind.clone()];
            problem.way.extend((!fields.is_empty()).then(|| fields.join(".")));
            problem.way.extend(name.filter(|_| !fields.is_empty()));
        }
        self.problems.borrow_mut().push(problem);
    }

    /// Runs `f` one step further on the way.
    fn step<T>(&self, name: &str, f: impl FnOnce() -> T) -> T {
        struct Back<'a>(&'a Reader);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                self.0.way.borrow_mut().pop();
            }
        }
        self.way.borrow_mut().push(name.to_owned());
        let _back = Back(self);
        f()
    }

    /// A type that stands in a module's code. What is refused is told once; later it only counts.
    fn type_(&self, module: ModuleId, ty: &syn::Type) -> Option<Rc<Type>> {
        let key = (module, super::types::text(ty));
        let known = self.types.borrow().get(&key).cloned();
        if let Some(found) = known
            && found.is_some()
        {
            return found;
        }
        let found = match self.world.type_(module, ty) {
            Ok(found) => Some(found),
            Err(problem) => {
                self.refuse_at(problem, Some(super::types::text(ty)));
                None
            }
        };
        // Macros tell apart what looks the same as text.
        if !key.1.contains('!') {
            self.types.borrow_mut().insert(key, found.clone());
        }
        found
    }

    /// What is known of a type of the project; none where it cannot be read.
    fn container(&self, id: ItemId, root: bool) -> Option<Rc<Container>> {
        let known = self.containers.borrow().get(&(id, root)).cloned();
        if let Some(found) = known {
            if found.is_none() {
                self.refused.set(self.refused.get() + 1);
            }
            return found;
        }
        let read = if root { self.read_root(id) } else { self.read_data(id) };
        let found = match read {
            Ok(it) => Some(Rc::new(it)),
            Err(problem) => {
                self.refuse_in(Some(id), problem, Some(self.world.items[id].name.clone()));
                None
            }
        };
        self.containers.borrow_mut().insert((id, root), found.clone());
        found
    }

    fn read_data(&self, id: ItemId) -> Result<Container, Problem> {
        let world = &*self.world;
        let item = &world.items[id];
        let input = world.settled(id)?;
        let json = world.derived(id, "schemars::JsonSchema")?;
        let kube = world.derived(id, "kube::KubeSchema")?;
        let repr = world.derived(id, "schemars::JsonSchema_repr")? == Derived::Yes;
        let refuse = |what: &str, hint: &str| {
            let message = format!("`{}` {what}", item.name);
            Err(world.problem(item.module, item.span, message, hint))
        };
        match (json, kube) {
            (Derived::Yes, Derived::No) | (Derived::No, Derived::Yes) => {}
            (Derived::Yes, _) | (_, Derived::Yes) => {
                return refuse("derives both `JsonSchema` and `KubeSchema`", "derive one of them");
            }
            (Derived::Depends, _) | (_, Derived::Depends) => {
                return refuse("derives its schema by a `cfg` that the source does not settle", "");
            }
            _ if repr => {}
            _ => {
                let own = world.impls.iter().any(|it| {
                    it.trait_.as_deref() == Some("JsonSchema") && world.is_impl_for(it, id)
                });
                return match own {
                    true => refuse(
                        "has a `JsonSchema` written by hand, which is not read yet",
                        "derive it, with `#[schemars(with = \"…\")]` where a type stands for another",
                    ),
                    false => refuse(
                        "does not derive `JsonSchema`",
                        "add `JsonSchema` (or kube's `KubeSchema`) to its derives",
                    ),
                };
            }
        }
        world.unchanged(id, &input)?;
        for (derive, path) in
            [(Derive::Deserialize, "serde::Deserialize"), (Derive::Serialize, "serde::Serialize")]
        {
            if world.derived(id, path)? == Derived::Yes {
                // What serde's own derive would refuse.
                serde::read(&input, derive, |_| ()).map_err(|it| {
                    world.problem(item.module, it.span(), it.to_string(), "see serde's attributes")
                })?;
            }
        }
        let values = self.values(item.module);
        let mut res = container::read(&input, kube == Derived::Yes, &values)?;
        if repr {
            res.data = container::Data::Numbers(repr::numbers(&input, &values)?);
        }
        Ok(res)
    }

    fn module(&self, id: ItemId) -> ModuleId {
        self.world.items[id].module
    }

    /// The type that a type of the project only forwards to.
    fn forward(&self, id: ItemId, container: &Container) -> Option<Rc<Type>> {
        self.type_(self.module(id), container.forwards_to()?)
    }

    /// `generator.subschema_for::<T>()`.
    fn subschema(&self, ty: &Rc<Type>, generator: &mut SchemaGenerator) -> Schema {
        standing_for(std::slice::from_ref(ty), || generator.subschema_for::<Dyn<0>>())
    }

    /// What is known of a type of the project, with the type it forwards to.
    fn known(&self, ty: &Type) -> Option<(ItemId, Rc<Container>, Option<Rc<Type>>)> {
        let (id, root) = match ty {
            Type::Data(id) => (*id, false),
            Type::Root(id) => (*id, true),
            Type::Foreign { .. } | Type::Kubernetes(_) => return None,
        };
        let container = self.container(id, root)?;
        let forward = self.forward(id, &container);
        Some((id, container, forward))
    }
}

impl Answers for Reader {
    fn inline(&self, ty: &Type) -> bool {
        match (ty, self.known(ty)) {
            (Type::Foreign { builtin, arguments, .. }, _) => {
                standing_for(arguments, || (builtin.inline)())
            }
            (Type::Kubernetes(_), _) => false,
            (_, Some((_, _, Some(forward)))) => self.inline(&forward),
            (_, Some((_, container, None))) => container.inline || container.kube,
            (_, None) => true,
        }
    }

    fn name(&self, ty: &Type) -> String {
        match (ty, self.known(ty)) {
            (Type::Foreign { builtin, arguments, .. }, _) => {
                standing_for(arguments, || (builtin.name)()).into_owned()
            }
            (Type::Kubernetes(model), _) => model.name.clone(),
            (_, Some((_, _, Some(forward)))) => self.name(&forward),
            (_, Some((_, container, None))) => container.name.clone(),
            (_, None) => String::new(),
        }
    }

    fn id(&self, ty: &Type) -> String {
        match (ty, self.known(ty)) {
            (Type::Foreign { builtin, arguments, .. }, _) => {
                standing_for(arguments, || (builtin.id)()).into_owned()
            }
            (Type::Kubernetes(model), _) => model.name.clone(),
            (_, Some((_, _, Some(forward)))) => self.id(&forward),
            // As kube's derive has it: the name alone.
            (_, Some((_, container, None))) if container.kube => container.name.clone(),
            (_, Some((id, container, None))) => {
                format!("{}::{}", self.world.modules[self.module(id)].path, container.name)
            }
            (_, None) => String::new(),
        }
    }

    fn schema(&self, ty: &Type, generator: &mut SchemaGenerator) -> Schema {
        match (ty, self.known(ty)) {
            (Type::Foreign { builtin, arguments, path }, _) => {
                self.kubernetes.set(self.kubernetes.get() || path.starts_with("k8s_openapi::"));
                standing_for(arguments, || (builtin.schema)(generator))
            }
            (Type::Kubernetes(model), _) => self.of_kubernetes(model, generator),
            (_, Some((_, _, Some(forward)))) => self.schema(&forward, generator),
            (_, Some((id, container, None))) => {
                self.once(ty, id, || self.container_schema(id, &container, generator))
            }
            (_, None) => Schema::default(),
        }
    }

    fn present(&self, ty: &Type, generator: &mut SchemaGenerator) -> Schema {
        match (ty, self.known(ty)) {
            (Type::Foreign { builtin, arguments, .. }, _) => {
                standing_for(arguments, || (builtin.present)(generator))
            }
            (_, Some((_, _, Some(forward)))) => self.present(&forward, generator),
            _ => self.schema(ty, generator),
        }
    }

    fn is_option(&self, ty: &Type) -> bool {
        match (ty, self.known(ty)) {
            (Type::Foreign { builtin, arguments, .. }, _) => {
                standing_for(arguments, || (builtin.is_option)())
            }
            (_, Some((_, _, Some(forward)))) => self.is_option(&forward),
            _ => false,
        }
    }
}

impl Reader {
    /// The schema that the source of k8s-openapi gives a type.
    fn of_kubernetes(&self, model: &Model, generator: &mut SchemaGenerator) -> Schema {
        model.schema.schema(generator, &|path, generator| match self.world.kubernetes.find(path) {
            Some(Ok(model)) => self.subschema(&Rc::new(Type::Kubernetes(model)), generator),
            _ => {
                let file = format!("k8s-openapi/{}", model.file);
                let file = file.parse().unwrap_or_else(|_| SourcePath::fixed("k8s-openapi"));
                self.refuse(Problem {
                    place: Place { path: file, line: 1, column: 1 },
                    message: self.world.kubernetes.broken(model, path),
                    way: Vec::new(),
                    hint: Some("bring its source anew with `cargo fetch`".to_owned()),
                });
                Schema::default()
            }
        })
    }

    /// Goes into a type of the project, unless we are in it already.
    fn once(&self, ty: &Type, id: ItemId, f: impl FnOnce() -> Schema) -> Schema {
        struct Back<'a>(&'a Reader);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                self.0.open.borrow_mut().pop();
            }
        }
        let key = (id, matches!(ty, Type::Root(_)));
        if self.open.borrow().contains(&key) {
            let item = &self.world.items[id];
            let message = format!("`{}` contains itself, which no CRD can say", item.name);
            let hint =
                "end the recursion with a type that takes any value, e.g. `serde_json::Value`";
            self.refuse(self.world.problem(item.module, item.span, message, hint));
            return Schema::default();
        }
        self.open.borrow_mut().push(key);
        let _back = Back(self);
        f()
    }

    /// What title, description, deprecation and examples put into a schema.
    fn describe(common: &Common, schema: &mut Schema) {
        use schemars::_private::insert_metadata_property_if_nonempty as insert;
        if let Some(title) = &common.title {
            insert(schema, "title", title.as_str());
        }
        if let Some(description) = &common.description {
            insert(schema, "description", description.as_str());
        }
        if common.deprecated {
            schema.insert("deprecated".to_owned(), true.into());
        }
        if !common.examples.is_empty() {
            schema.insert("examples".to_owned(), common.examples.clone().into());
        }
    }

    fn extend(common: &Common, schema: &mut Schema) {
        for (key, value) in &common.extensions {
            schema.insert(key.clone(), value.clone());
        }
    }
}
