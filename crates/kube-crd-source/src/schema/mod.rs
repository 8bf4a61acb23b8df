//! The schema of a type, as schemars and kube make it at run time: their own code, called on what was read.
//!
//! Only the types that a resource reaches are looked at. What one of them cannot be read for is told at its
//! place, with the way that led there.

mod api_names;
pub mod container;
mod definition;
mod enums;
mod generics;
mod hand_written;
mod older;
mod repr;
mod resource;
mod standing;
mod structs;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use schemars::{Schema, SchemaGenerator};
use serde_derive_internals::Derive;

pub use resource::{Crd, kinds};

use crate::attributes::schemars::{Common, With};
use crate::attributes::serde;
use crate::builtin::kubernetes::Model;
use crate::builtin::{Builtin, Dyn};
use crate::text::{Place, Problem, SourcePath, text};
use crate::tree::{ItemId, ModuleId};
use crate::types::derives::Derived;
use crate::types::{Function, Scope, Type, Types};
use crate::values::{Budget, JsonSchemaImpl, Values};
use container::Container;
use standing::standing_for;

/// What was read before, or why it could not be.
type Known<K, T> = RefCell<BTreeMap<K, Result<Rc<T>, Problem>>>;

/// What was read before; nothing where there is nothing to read.
type Found<K, T> = RefCell<BTreeMap<K, Option<Rc<T>>>>;

/// Answers for the types of a project.
pub struct Reader {
    pub world: Rc<Types>,
    /// What all evaluations may use.
    pub budget: Budget,
    containers: Known<(ItemId, bool), Container>,
    own: RefCell<BTreeMap<Type, Rc<This>>>,
    /// The types whose schema is written by hand.
    by_hand: Found<Type, JsonSchemaImpl>,
    /// The problems of this resource: one for each place, whichever ways lead there.
    problems: RefCell<BTreeMap<Place, Problem>>,
    warnings: RefCell<Vec<Problem>>,
    /// The references in this resource that were told of.
    references: RefCell<BTreeSet<String>>,
    /// A name was asked for: only references have names.
    named: Cell<bool>,
    /// A type of k8s-openapi was met.
    kubernetes: Cell<bool>,
    /// The way to where we are: the kind, then fields.
    way: RefCell<Vec<String>>,
    /// The types that we are inside of; nothing for those of other crates.
    open: RefCell<Vec<Option<ItemId>>>,
    /// How often a type was gone into for this resource.
    made: Cell<usize>,
    /// This resource has no end: nothing more of it is looked at.
    lost: Cell<bool>,
}

const MOST_DEEP: usize = 160;
const MOST_MADE: usize = 200_000;

/// A type of the project, and what stands for the parameters in its code.
pub struct This {
    pub id: ItemId,
    pub container: Rc<Container>,
    pub scope: Scope,
    /// The type that this one only forwards to.
    pub forward: Option<Rc<Type>>,
    /// What the types in its code are, by where they are in memory: the container keeps them there.
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
            named: Cell::new(false),
            kubernetes: Cell::new(false),
            way: RefCell::default(),
            open: RefCell::default(),
            made: Cell::new(0),
            lost: Cell::new(false),
        }
    }

    fn values(&self, module: ModuleId) -> Values<'_> {
        Values { world: &self.world, budget: &self.budget, module }
    }

    /// Notes a problem of the type that we are inside of, with the way that led to it.
    fn refuse(&self, problem: Problem) {
        self.refuse_at(problem, None);
    }

    /// The same, of the type of this name that could not be read there.
    fn refuse_at(&self, problem: Problem, name: Option<String>) {
        self.world.need_values();
        let problem = self.on_the_way(problem, name);
        let mut problems = self.problems.borrow_mut();
        match problems.get(&problem.place) {
            Some(known) if *known <= problem => {}
            _ => drop(problems.insert(problem.place.clone(), problem)),
        }
    }

    fn on_the_way(&self, mut problem: Problem, name: Option<String>) -> Problem {
        if let Some((kind, fields)) = self.way.borrow().split_first() {
            problem.field_path = vec![kind.clone()];
            problem.field_path.extend((!fields.is_empty()).then(|| fields.join(".")));
            problem.field_path.extend(name.filter(|_| !fields.is_empty()));
        }
        problem
    }

    /// Warns of a type that refers to itself, at the field where it does.
    fn warn_of_references(&self, schema: &Schema, module: ModuleId, span: proc_macro2::Span) {
        if !self.named.get() {
            return;
        }
        let mut found = BTreeSet::new();
        references(schema.as_value(), &mut found);
        let mut told = self.references.borrow_mut();
        for reference in found {
            if told.insert(reference.clone()) {
                let message = format!(
                    "a type contains itself here: the CRD says `\"$ref\": \"{reference}\"`, which no API server takes"
                );
                let hint =
                    "end the recursion with a type that takes any value, e.g. `serde_json::Value`";
                let problem = self.world.problem(module, span, message, hint);
                self.warnings.borrow_mut().push(self.on_the_way(problem, None));
            }
        }
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

    /// A type that stands in a type's code. What is refused is told again for each way that leads there.
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
                self.refuse_at(problem, Some(text(ty)));
                None
            }
        }
    }

    /// What is known of a type of the project; none where it cannot be read.
    fn container(&self, id: ItemId, root: bool) -> Option<Rc<Container>> {
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
                return refuse(
                    "does not derive `JsonSchema`",
                    "add `JsonSchema` (or kube's `KubeSchema`) to its derives",
                );
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

    /// `generator.subschema_for::<T>()`.
    fn subschema(&self, ty: &Rc<Type>, generator: &mut SchemaGenerator) -> Schema {
        standing_for(std::slice::from_ref(ty), || generator.subschema_for::<Dyn<0>>())
    }

    /// What is known of a type of the project; none where it cannot be read.
    fn known(&self, ty: &Type) -> Option<Rc<This>> {
        let (id, root) = match ty {
            Type::Data(id, _) => (*id, false),
            Type::Root(id) => (*id, true),
            Type::Foreign { .. } | Type::Kubernetes(_) | Type::Constant(_) | Type::Function(_) => {
                return None;
            }
        };
        let known = self.own.borrow().get(ty).cloned();
        if known.is_some() {
            return known;
        }
        let container = self.container(id, root)?;
        let scope = self.world.scope(ty);
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
enum Seen<'a> {
    Foreign(&'static Builtin, &'a [Rc<Type>]),
    Kubernetes(&'a Model),
    Forward(Rc<Type>),
    Function(&'a Function),
    Written(Rc<JsonSchemaImpl>),
    Own(Rc<This>),
    /// What cannot be read, and was told.
    Nothing,
}

impl Reader {
    /// What a schema's own code says that is written by hand, where one is.
    fn written(&self, ty: &Type) -> Result<Option<Rc<JsonSchemaImpl>>, Problem> {
        let known = self.by_hand.borrow().get(ty).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let own = match ty {
            Type::Root(id) => self.is_manual(*id),
            Type::Data(id, _) => {
                let derives =
                    ["schemars::JsonSchema", "schemars::JsonSchema_repr", "kube::KubeSchema"];
                let mut derived = derives.iter().map(|it| self.world.derived(*id, it));
                derived.all(|it| matches!(it, Ok(Derived::No)))
            }
            _ => false,
        };
        let found = if own { self.world.json_schema_impl(ty)?.map(Rc::new) } else { None };
        self.by_hand.borrow_mut().insert(ty.clone(), found.clone());
        Ok(found)
    }

    /// The type that `with` or `schema_with` puts in the place of another.
    fn stands(&self, this: &This, with: &With) -> Option<Rc<Type>> {
        match with {
            With::Type(ty) => self.type_(this, ty),
            With::Function(path) => {
                let module = &self.world.modules[this.scope.module].path;
                let id = format!("_SchemarsSchemaWithFunction/{module}/{}", text(&**path));
                Some(Rc::new(Type::Function(Rc::new(Function {
                    path: syn::ExprPath { attrs: Vec::new(), qself: None, path: (**path).clone() },
                    id,
                    arguments: this.scope.parameters.values().cloned().collect(),
                    scope: this.scope.clone(),
                }))))
            }
        }
    }

    fn see<'a>(&self, ty: &'a Type) -> Seen<'a> {
        if let Type::Foreign { builtin, arguments, .. } = ty {
            return Seen::Foreign(builtin, arguments);
        }
        if let Type::Kubernetes(model) = ty {
            return Seen::Kubernetes(model);
        }
        if let Type::Function(it) = ty {
            return Seen::Function(it);
        }
        match self.written(ty) {
            Ok(Some(it)) => return Seen::Written(it),
            Ok(None) => {}
            Err(problem) => {
                self.refuse(problem);
                return Seen::Nothing;
            }
        }
        match self.known(ty) {
            None => Seen::Nothing,
            Some(it) => it.forward.clone().map_or(Seen::Own(it), Seen::Forward),
        }
    }
}

impl Reader {
    fn inline(&self, ty: &Type) -> bool {
        self.deeper(ty, || match self.see(ty) {
            Seen::Foreign(it, arguments) => standing_for(arguments, || (it.inline)()),
            Seen::Kubernetes(_) => false,
            Seen::Function(_) => true,
            Seen::Written(it) => self.hand_written_flag(&it, "inline_schema").unwrap_or(false),
            Seen::Forward(it) => self.inline(&it),
            Seen::Own(it) => it.container.inline || it.container.kube,
            Seen::Nothing => true,
        })
    }

    fn name(&self, ty: &Type) -> String {
        self.named.set(true);
        self.deeper(ty, || match self.see(ty) {
            Seen::Foreign(it, arguments) => standing_for(arguments, || (it.name)()).into_owned(),
            Seen::Kubernetes(it) => it.name.clone(),
            Seen::Function(it) => it.name(),
            Seen::Written(it) => self.hand_written_text(&it, "schema_name").unwrap_or_default(),
            Seen::Forward(it) => self.name(&it),
            Seen::Own(it) if it.container.kube => self.validated(self.full_name(&it)),
            Seen::Own(it) => self.full_name(&it),
            Seen::Nothing => String::new(),
        })
    }

    fn id(&self, ty: &Type) -> String {
        // The resource itself is referred to without its name.
        if matches!(ty, Type::Root(_)) && 1 < self.way.borrow().len() {
            self.named.set(true);
        }
        self.deeper(ty, || match self.see(ty) {
            Seen::Foreign(it, arguments) => standing_for(arguments, || (it.id)()).into_owned(),
            Seen::Kubernetes(it) => it.name.clone(),
            Seen::Function(it) => it.id.clone(),
            Seen::Written(it) => {
                self.hand_written_text(&it, "schema_id").unwrap_or_else(|| self.name(ty))
            }
            Seen::Forward(it) => self.id(&it),
            // As kube's derive has it: the name alone.
            Seen::Own(it) if it.container.kube => self.validated(it.container.name.clone()),
            Seen::Own(it) => self.full_id(&it),
            Seen::Nothing => String::new(),
        })
    }

    fn schema(&self, ty: &Type, generator: &mut SchemaGenerator) -> Schema {
        let kubernetes = ty.path().starts_with("k8s_openapi::");
        self.kubernetes.set(self.kubernetes.get() || kubernetes);
        self.deeper(ty, || match self.see(ty) {
            Seen::Foreign(_, arguments) if self.older_map(ty) => {
                standing_for(arguments, || older::map(generator))
            }
            Seen::Foreign(it, arguments) => standing_for(arguments, || (it.schema)(generator)),
            Seen::Kubernetes(it) => self.of_kubernetes(it, generator),
            Seen::Function(it) => self.function_schema(it, generator),
            Seen::Written(it) => {
                self.hand_written_schema(&it, "json_schema", generator).unwrap_or_default()
            }
            Seen::Forward(it) => self.schema(&it, generator),
            Seen::Own(it) => self.container_schema(&it, generator),
            Seen::Nothing => Schema::default(),
        })
    }

    fn present(&self, ty: &Type, generator: &mut SchemaGenerator) -> Schema {
        self.deeper(ty, || match self.see(ty) {
            Seen::Foreign(_, arguments) if self.older_map(ty) => {
                standing_for(arguments, || older::map(generator))
            }
            Seen::Foreign(it, arguments) => standing_for(arguments, || (it.present)(generator)),
            Seen::Function(it) => self.function_schema(it, generator),
            Seen::Written(it) => {
                let own = "_schemars_private_non_optional_json_schema";
                self.hand_written_schema(&it, own, generator)
                    .unwrap_or_else(|| self.schema(ty, generator))
            }
            Seen::Forward(it) => self.present(&it, generator),
            _ => self.schema(ty, generator),
        })
    }

    fn is_option(&self, ty: &Type) -> bool {
        self.deeper(ty, || match self.see(ty) {
            Seen::Foreign(it, arguments) => standing_for(arguments, || (it.is_option)()),
            Seen::Function(_) => false,
            Seen::Written(it) => {
                self.hand_written_flag(&it, "_schemars_private_is_option").unwrap_or(false)
            }
            Seen::Forward(it) => self.is_option(&it),
            _ => false,
        })
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
                    field_path: Vec::new(),
                    hint: Some("bring its source anew with `cargo fetch`".to_owned()),
                });
                Schema::default()
            }
        })
    }

    fn full_name(&self, this: &This) -> String {
        let Container { name, parameters, .. } = &*this.container;
        match parameters.named {
            true => parameters.filled(name, &this.scope, |ty| self.name(ty)),
            false => name.clone(),
        }
    }

    /// What tells this type from every other: its name, and what its parameters stand for.
    fn full_id(&self, this: &This) -> String {
        let Container { name, parameters, .. } = &*this.container;
        let module = &self.world.modules[this.scope.module].path;
        let told: Vec<String> = parameters
            .constants
            .iter()
            .chain(&parameters.relevant)
            .filter_map(|it| this.scope.parameters.get(it))
            .map(|it| match &**it {
                Type::Constant(text) => text.clone(),
                ty => self.id(ty),
            })
            .collect();
        match told.is_empty() {
            true => format!("{module}::{name}"),
            false => format!("{module}::{name}<{}>", told.concat()),
        }
    }

    /// Goes into a type. Where that never ends, it does not for kube either: here it ends, with a word.
    fn deeper<T: Default>(&self, ty: &Type, f: impl FnOnce() -> T) -> T {
        struct Back<'a>(&'a Reader);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                self.0.open.borrow_mut().pop();
            }
        }
        if self.lost.get() {
            return T::default();
        }
        self.open.borrow_mut().push(match ty {
            Type::Data(id, _) | Type::Root(id) => Some(*id),
            Type::Foreign { .. } | Type::Kubernetes(_) | Type::Constant(_) | Type::Function(_) => {
                None
            }
        });
        let _back = Back(self);
        self.made.set(self.made.get() + 1);
        let deep = MOST_DEEP < self.open.borrow().len();
        if deep || MOST_MADE < self.made.get() {
            self.lost.set(true);
            if let Some(problem) = self.endless(deep) {
                self.refuse(problem);
            }
            return T::default();
        }
        let res = f();
        // Half of what has no end is of no use, and long.
        if self.lost.get() { T::default() } else { res }
    }

    fn endless(&self, deep: bool) -> Option<Problem> {
        let open = self.open.borrow();
        let id = open.iter().rev().find_map(|it| *it)?;
        let item = &self.world.items[id];
        let again = 2 < open.iter().filter(|it| **it == Some(id)).count();
        let (message, hint) = match (deep, again) {
            (true, true) => (
                format!("`{}` contains itself without end, which no CRD can say", item.name),
                "end the recursion with a type that takes any value, e.g. `serde_json::Value`",
            ),
            (true, false) => (
                format!("`{}` is nested too deep in other types to be read", item.name),
                "keep the types flatter",
            ),
            (false, _) => (
                format!("`{}` makes the schema larger than any CRD may be", item.name),
                "use fewer types that are made of the same types again and again",
            ),
        };
        Some(self.world.problem(item.module, item.span, message, hint))
    }

    /// Whether this is a map, of a schemars that says less about its keys.
    fn older_map(&self, ty: &Type) -> bool {
        let two = matches!(ty, Type::Foreign { arguments, .. } if arguments.len() == 2);
        two && !self.world.behaviour.schemars.keys && ty.path().ends_with("Map")
    }

    /// What kube's derive calls a type with rules.
    fn validated(&self, name: String) -> String {
        let end = if self.world.behaviour.kube.validated { "Validated" } else { "" };
        name + end
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

    fn extend(&self, this: &This, common: &Common, schema: &mut Schema) {
        for (key, value) in &common.extensions {
            schema.insert(key.clone(), value.clone());
        }
        for transform in &common.transforms {
            self.transform(&this.scope, transform, schema);
        }
    }
}

/// Every `$ref` in a schema.
fn references(value: &serde_json::Value, found: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(it) => {
            if let Some(serde_json::Value::String(reference)) = it.get("$ref") {
                found.insert(reference.clone());
            }
            it.values().for_each(|it| references(it, found));
        }
        serde_json::Value::Array(it) => it.iter().for_each(|it| references(it, found)),
        _ => {}
    }
}
