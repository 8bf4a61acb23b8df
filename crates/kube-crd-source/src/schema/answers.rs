//! A type as schemars asks for it: its name, its id, its schema.

use std::rc::Rc;

use schemars::{Schema, SchemaGenerator};

use super::container::Container;
use super::standing::standing_for;
use super::{Origin, Reader, This, older};
use crate::attributes::schemars::Common;
use crate::builtin::kubernetes::{Model, RESTORE};
use crate::text::{Place, Problem, SourcePath};
use crate::types::Type;

impl Reader {
    pub(super) fn inline_schema(&self, ty: &Type) -> bool {
        self.visit_type(ty, || match self.origin_of(ty) {
            Origin::Foreign(it, arguments) => standing_for(arguments, || (it.inline)()),
            Origin::Kubernetes(_) => false,
            Origin::Function(_) => true,
            Origin::HandWritten(it) => {
                self.hand_written_flag(&it, "inline_schema").unwrap_or(false)
            }
            Origin::Forward(it) => self.inline_schema(&it),
            Origin::Own(it) => it.container.inline || it.container.kube,
            Origin::Nothing => true,
        })
    }

    pub(super) fn schema_name(&self, ty: &Type) -> String {
        self.uses_names.set(true);
        self.visit_type(ty, || match self.origin_of(ty) {
            Origin::Foreign(it, arguments) => standing_for(arguments, || (it.name)()).into_owned(),
            Origin::Kubernetes(it) => it.name.clone(),
            Origin::Function(it) => it.name(),
            Origin::HandWritten(it) => {
                self.hand_written_text(&it, "schema_name").unwrap_or_default()
            }
            Origin::Forward(it) => self.schema_name(&it),
            Origin::Own(it) if it.container.kube => self.validated_name(self.full_name(&it)),
            Origin::Own(it) => self.full_name(&it),
            Origin::Nothing => String::new(),
        })
    }

    pub(super) fn schema_id(&self, ty: &Type) -> String {
        // The resource itself is referred to without its name.
        if matches!(ty, Type::Root(_)) && self.field_path.borrow().len() > 1 {
            self.uses_names.set(true);
        }
        self.visit_type(ty, || match self.origin_of(ty) {
            Origin::Foreign(it, arguments) => standing_for(arguments, || (it.id)()).into_owned(),
            Origin::Kubernetes(it) => it.name.clone(),
            Origin::Function(it) => it.id.clone(),
            Origin::HandWritten(it) => {
                self.hand_written_text(&it, "schema_id").unwrap_or_else(|| self.schema_name(ty))
            }
            Origin::Forward(it) => self.schema_id(&it),
            // kube's derive uses the name alone, too.
            Origin::Own(it) if it.container.kube => self.validated_name(it.container.name.clone()),
            Origin::Own(it) => self.full_id(&it),
            Origin::Nothing => String::new(),
        })
    }

    pub(super) fn json_schema(&self, ty: &Type, generator: &mut SchemaGenerator) -> Schema {
        let kubernetes = ty.path().starts_with("k8s_openapi::");
        self.uses_kubernetes.set(self.uses_kubernetes.get() || kubernetes);
        self.visit_type(ty, || match self.origin_of(ty) {
            Origin::Foreign(_, arguments) if self.older_map(ty) => {
                standing_for(arguments, || older::map_schema(generator))
            }
            Origin::Foreign(it, arguments) => standing_for(arguments, || (it.schema)(generator)),
            Origin::Kubernetes(it) => self.kubernetes_schema(it, generator),
            Origin::Function(it) => self.function_schema(it, generator),
            Origin::HandWritten(it) => {
                self.hand_written_schema(&it, "json_schema", generator).unwrap_or_default()
            }
            Origin::Forward(it) => self.json_schema(&it, generator),
            Origin::Own(it) => self.container_schema(&it, generator),
            Origin::Nothing => Schema::default(),
        })
    }

    pub(super) fn inner_schema(&self, ty: &Type, generator: &mut SchemaGenerator) -> Schema {
        self.visit_type(ty, || match self.origin_of(ty) {
            Origin::Foreign(_, arguments) if self.older_map(ty) => {
                standing_for(arguments, || older::map_schema(generator))
            }
            Origin::Foreign(it, arguments) => standing_for(arguments, || (it.present)(generator)),
            Origin::Function(it) => self.function_schema(it, generator),
            Origin::HandWritten(it) => {
                let own = "_schemars_private_non_optional_json_schema";
                self.hand_written_schema(&it, own, generator)
                    .unwrap_or_else(|| self.json_schema(ty, generator))
            }
            Origin::Forward(it) => self.inner_schema(&it, generator),
            _ => self.json_schema(ty, generator),
        })
    }

    pub(super) fn is_option(&self, ty: &Type) -> bool {
        self.visit_type(ty, || match self.origin_of(ty) {
            Origin::Foreign(it, arguments) => standing_for(arguments, || (it.is_option)()),
            Origin::Function(_) => false,
            Origin::HandWritten(it) => {
                self.hand_written_flag(&it, "_schemars_private_is_option").unwrap_or(false)
            }
            Origin::Forward(it) => self.is_option(&it),
            _ => false,
        })
    }

    /// The schema of a type, from the source of k8s-openapi.
    pub(super) fn kubernetes_schema(
        &self,
        model: &Model,
        generator: &mut SchemaGenerator,
    ) -> Schema {
        model.schema.build_schema(generator, &|path, generator| match self
            .world
            .kubernetes
            .find_type(path)
        {
            Some(Ok(model)) => self.subschema_for(&Rc::new(Type::Kubernetes(model)), generator),
            _ => {
                let file = format!("k8s-openapi/{}", model.file);
                let file = file.parse().unwrap_or_else(|_| SourcePath::fixed("k8s-openapi"));
                let message = self.world.kubernetes.broken_message(model, path);
                self.report_problem(Problem::new(Place::start(file), message).with_hint(RESTORE));
                Schema::default()
            }
        })
    }

    pub(super) fn full_name(&self, this: &This) -> String {
        this.container.name.clone()
    }

    /// The identity of a type: its name, and its arguments.
    pub(super) fn full_id(&self, this: &This) -> String {
        let Container { name, parameters, .. } = &*this.container;
        let module = &self.world.modules[this.scope.module].path;
        let arguments: Vec<String> = parameters
            .relevant
            .iter()
            .filter_map(|name| this.scope.parameters.get(name))
            .map(|ty| self.schema_id(ty))
            .collect();
        if arguments.is_empty() {
            format!("{module}::{name}")
        } else {
            format!("{module}::{name}<{}>", arguments.concat())
        }
    }

    /// Returns whether this is a map, and schemars is older than 1.2.
    pub(super) fn older_map(&self, ty: &Type) -> bool {
        let two = matches!(ty, Type::Foreign { arguments, .. } if arguments.len() == 2);
        two && !self.world.behaviour.schemars.keys && ty.path().ends_with("Map")
    }

    /// The name that kube's derive gives a type with rules.
    pub(super) fn validated_name(&self, name: String) -> String {
        let end = if self.world.behaviour.kube.validated { "Validated" } else { "" };
        name + end
    }

    /// The keywords for title, description, deprecation and examples.
    pub(super) fn add_description(common: &Common, schema: &mut Schema) {
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
}
