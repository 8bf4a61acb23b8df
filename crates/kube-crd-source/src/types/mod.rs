//! Types in code → [`Type`]: which type of the project, or which of another crate, with what in it.

mod attribute_macros;
pub mod derives;
mod foreign;
mod lookup;
pub mod serde;
mod serde_with;
mod traits_in_scope;
mod type_;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::rc::Rc;

use derives::Derive;
pub use lookup::{has_parameters, parameter_names};
pub use traits_in_scope::Unread;
pub use type_::{SchemaFunction, Scope, Type};

use crate::names::Names;
use crate::text::{Place, Problem};
use crate::tree::{ItemId, ItemKind, ModuleId, World};
use crate::versions::Behaviour;

/// The types of all source that was read.
pub struct Types {
    names: Names,
    /// The behaviour of the locked versions of kube and schemars.
    pub behaviour: Behaviour,
    /// True if the lock lets serde_json keep the order of maps (`preserve_order`).
    pub keeps_order: bool,
    /// The first place where an `f32` was written whose digits depend on a feature of serde_json.
    pub inexact_f32: RefCell<Option<Place>>,
    /// The number of types that were visited for one.
    type_steps: Cell<usize>,
    /// The targets of aliases without parameters, filled on demand.
    aliases: RefCell<BTreeMap<ItemId, Rc<Type>>>,
    /// The derives of types, filled on demand.
    derives: RefCell<BTreeMap<ItemId, Rc<[Derive]>>>,
}

impl Deref for Types {
    type Target = Names;

    fn deref(&self) -> &Names {
        &self.names
    }
}

impl Types {
    pub fn new(names: Names, behaviour: Behaviour, keeps_order: bool) -> Self {
        Self {
            names,
            behaviour,
            keeps_order,
            inexact_f32: RefCell::default(),
            type_steps: Cell::default(),
            aliases: RefCell::default(),
            derives: RefCell::default(),
        }
    }

    /// The world, to add to it: names are looked up anew.
    pub fn world_mut(&mut self) -> &mut World {
        self.aliases.take();
        self.derives.take();
        self.names.world_mut()
    }

    pub fn problem_at(
        &self,
        module: ModuleId,
        span: proc_macro2::Span,
        message: impl Into<String>,
        hint: &str,
    ) -> Problem {
        Problem {
            hint: (!hint.is_empty()).then(|| hint.to_owned()),
            ..Problem::new(self.place_in(module, span), message)
        }
    }

    /// Returns the scope in which the definition of `ty` is read: each of its generic parameters with its argument.
    pub fn scope_of(&self, ty: &Type) -> Scope {
        let (id, arguments) = match ty {
            Type::Data(id, arguments) => (*id, &arguments[..]),
            Type::Root(id) => (*id, &[][..]),
            _ => return Scope::from(0),
        };
        let mut parameters = BTreeMap::new();
        if let ItemKind::Data(input) = &self.items[id].kind {
            parameters.extend(parameter_names(&input.generics).zip(arguments.iter().cloned()));
        }
        parameters.insert("Self".to_owned(), Rc::new(ty.clone()));
        Scope { module: self.items[id].module, parameters: Rc::new(parameters) }
    }
}
