//! Custom resources: the struct that kube's derive generates for a spec, and the schema of its CRD.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps,
};
use quote::{format_ident, quote_spanned};
use schemars::generate::SchemaSettings;

use super::Reader;
use super::api_names::{check_group, check_kind, check_label};
use super::container::{self, Container};
use super::declaration::{
    condition_problem, derive_under_condition, edition_problem, redefined_name, unknown_derive,
};
use super::definition::build_definition;
use super::reads;
use super::standing::{answer_with, standing_for};
use crate::attributes::kube::{self, Kube, Mode};
use crate::attributes::summary::{Summary, may_be_on};
use crate::attributes::x_kube;
use crate::builtin::Dyn;
use crate::cargo::cfg;
use crate::text::panics;
use crate::text::{FieldNames, FieldPlaces, FieldTypes, Problem, Unreadable};
use crate::tree::WRITE_OUT;
use crate::tree::{ItemId, ItemKind};
use crate::types::derives::Derived;
use crate::types::{Type, Types};

/// The CRD of one version of a kind, or every reason why it is not known.
pub type Crd = Result<CustomResourceDefinition, Vec<Problem>>;

/// The kinds that the selected crates declare.
#[derive(Default)]
pub struct DeclaredKinds {
    /// The structs that declare kinds.
    pub kinds: Vec<(ItemId, Crd)>,
    /// The places where their fields are declared.
    pub field_places: BTreeMap<ItemId, FieldPlaces>,
    pub field_types: BTreeMap<ItemId, FieldTypes>,
    pub null_fields: BTreeMap<ItemId, FieldNames>,
    pub unreadable: BTreeMap<ItemId, Unreadable>,
    pub warnings: Vec<Problem>,
    /// Macros that may declare more kinds.
    pub unexplored: Vec<Problem>,
}

/// Macros that are not expanded and may declare kinds.
fn unexplored_macros(world: &Types) -> Vec<Problem> {
    let mut problems = Vec::new();
    for id in 0..world.modules.len() {
        if !world.is_selected(id) {
            continue;
        }
        for it in world.calls_that_may_declare_kinds(id) {
            let message = format!("`{}` may declare kinds here, and is not expanded", it.text);
            problems.push(world.problem_at(id, it.span, message, WRITE_OUT));
        }
        for in_block in world.blocks_that_may_declare_kinds(id) {
            let message = "a kind inside of a block is not read";
            let hint = "move it to the module";
            problems.push(world.problem_at(id, in_block.span, message, hint));
        }
    }
    problems
}

/// Every kind that is declared, with its CRD or its problems. `kubernetes` is a problem of every kind
/// that has a type of k8s-openapi in it. A CRD of an earlier reading stays as it is: only those of other kinds need
/// the crates that were added to the world since.
pub fn read_kinds(
    world: &Rc<Types>,
    kubernetes: Option<&Problem>,
    earlier: DeclaredKinds,
) -> DeclaredKinds {
    let reader = Rc::new(Reader::new(world.clone()));
    let mut known: BTreeMap<ItemId, Crd> = earlier.kinds.into_iter().collect();
    let mut declared = DeclaredKinds {
        unexplored: unexplored_macros(world),
        field_places: earlier.field_places,
        field_types: earlier.field_types,
        null_fields: earlier.null_fields,
        unreadable: earlier.unreadable,
        ..DeclaredKinds::default()
    };
    let mut seen = BTreeSet::new();
    for (id, item) in world.items.iter().enumerate() {
        let ItemKind::Data(input) = &item.kind else { continue };
        if !may_be_on(&input.attrs) {
            continue;
        }
        // A file that two crates share is read for the first.
        if !world.is_selected(item.module) || !seen.insert(world.place_of(id)) {
            continue;
        }
        if let Some(Ok(crd)) = known.remove(&id) {
            declared.kinds.push((id, Ok(crd)));
            continue;
        }
        let found = answer_with(reader.clone(), || reader.read_resource(id));
        reader.field_path.borrow_mut().clear();
        let field_places = reader.field_places.take();
        let field_types = reader.field_types.take();
        let null_fields = reader.null_fields.take();
        let read_types = reader.read_types.take();
        let mut problems: Vec<Problem> = reader.problems.take().into_values().collect();
        let uses_kubernetes = reader.uses_kubernetes.take();
        let crd = match found {
            Ok(Outcome::Nothing) => continue,
            Ok(Outcome::Refused) => None,
            Ok(Outcome::Read(crd)) => Some(*crd),
            Err(more) => {
                let kind = Summary::from_struct(world, id).kind;
                problems.extend(more.into_iter().map(|problem| {
                    if problem.field_path.is_empty() {
                        Problem { field_path: kind.clone().into_iter().collect(), ..problem }
                    } else {
                        problem
                    }
                }));
                None
            }
        };
        problems.extend(kubernetes.filter(|_| uses_kubernetes).cloned());
        problems.sort();
        let crd = crd.filter(|_| problems.is_empty()).ok_or(problems);
        if crd.is_ok() {
            declared.field_places.insert(id, field_places);
            declared.field_types.insert(id, field_types);
            declared.null_fields.insert(id, null_fields);
            declared.unreadable.insert(id, reads::collect_unreadable(read_types));
        }
        declared.kinds.push((id, crd));
    }
    declared.kinds.sort_by_cached_key(|(id, _)| world.place_of(*id));
    // Once for each place, whichever kinds lead there.
    declared.warnings = earlier.warnings;
    declared.warnings.append(&mut reader.warnings.borrow_mut());
    declared.warnings.sort();
    declared
        .warnings
        .dedup_by(|one, other| (&one.place, &one.message) == (&other.place, &other.message));
    declared
}

/// The kind that a struct declares, if any.
enum Outcome {
    /// No custom resource.
    Nothing,
    Read(Box<CustomResourceDefinition>),
    /// Why is among the reader's problems.
    Refused,
}

impl Reader {
    /// Returns whether a type has `#[kube(…)]`, or may have it. Its fields are of no matter here.
    fn has_kube_attribute(&self, id: ItemId) -> bool {
        let item = &self.world.items[id];
        let ItemKind::Data(input) = &item.kind else { return false };
        let Ok(settled) = cfg::resolve_cfgs(&input.attrs, self.world.features_of(item.module))
        else {
            return true;
        };
        kube::is_on(&settled.attrs)
            || settled.doubtful.iter().any(|meta| meta.path().is_ident("kube"))
    }

    fn read_resource(&self, id: ItemId) -> Result<Outcome, Vec<Problem>> {
        let world = &*self.world;
        let item = &world.items[id];
        let one = |it: Problem| vec![it];
        if let Some(problem) = edition_problem(world, id) {
            return Err(one(problem));
        }
        match world.derives_trait(id, "kube::CustomResource").map_err(one)? {
            Derived::No if self.has_kube_attribute(id) => {
                return Err(one(unknown_derive(world, id)));
            }
            Derived::No => return Ok(Outcome::Nothing),
            Derived::Yes => {}
            Derived::Depends => return Err(one(derive_under_condition(world, id))),
        }
        let problem = condition_problem(world, id).or_else(|| redefined_name(world, id));
        if let Some(problem) = problem {
            return Err(one(problem));
        }
        let input = world.settled_input(id).map_err(one)?;
        let to_problem = |it: syn::Error| {
            world.problem_at(
                item.module,
                it.span(),
                it.to_string(),
                "see kube's documentation of `CustomResource`",
            )
        };
        let kube = kube::parse_attributes(&input, self.world.behaviour.kube)
            .map_err(|all| all.into_iter().map(to_problem).collect::<Vec<_>>())?;
        self.field_path.borrow_mut().push(kube.kind.clone());
        let names = ResourceNames::from_kube(&kube).map_err(|(name, message)| {
            let span = span_of_item(&input, name).unwrap_or(item.span);
            vec![world.problem_at(item.module, span, message, NAMES)]
        })?;
        let schema = match kube.mode {
            Mode::Disabled => None,
            Mode::Derived | Mode::Manual => {
                let name = kube.root.as_ref().unwrap_or(&kube.kind);
                if *name == item.name {
                    let message = "`kind` must not be the struct's own name: kube makes a struct of that name";
                    return Err(one(world.problem_at(
                        item.module,
                        item.span,
                        message,
                        "call the struct `…Spec`",
                    )));
                }
                match self.root_schema(id) {
                    Some(schema) => Some(schema),
                    // Told already.
                    None => return Ok(Outcome::Refused),
                }
            }
        };
        for (set, span) in &kube.spans {
            let place = world.place_in(item.module, *span);
            self.field_places.borrow_mut().insert(vec![set.clone()], place);
        }
        let crd = build_definition(self.world.behaviour.kube, kube, names, schema);
        Ok(Outcome::Read(Box::new(crd)))
    }

    /// The schema of the whole resource, through every step that kube's `crd()` takes.
    fn root_schema(&self, id: ItemId) -> Option<JSONSchemaProps> {
        self.visits.set(0);
        self.gave_up.set(false);
        self.uses_names.set(false);
        self.references.borrow_mut().clear();
        let ty = Rc::new(Type::Root(id));
        let result = panics::catch_panic(|| {
            standing_for(&[ty], || {
                let generator = SchemaSettings::openapi3()
                    .with(|settings| {
                        settings.inline_subschemas = true;
                        settings.meta_schema = None;
                    })
                    .into_generator();
                let mut schema = generator.into_root_schema_for::<Dyn<0>>();
                self.world.behaviour.rewriting.apply_to(&mut schema)?;
                self.warn_of_unknown_keys(id, schema.as_value());
                Ok(serde_json::to_value(schema).and_then(serde_json::from_value::<JSONSchemaProps>))
            })
        })
        .flatten();
        self.field_path.borrow_mut().truncate(1);
        if !self.problems.borrow().is_empty() {
            return None;
        }
        let item = &self.world.items[id];
        let panic = match result {
            Ok(Ok(props)) => return Some(props),
            Ok(Err(error)) => {
                format!("{}: {error:?}", self.world.behaviour.kube.expectation_message())
            }
            Err(text) => text,
        };
        let message = panics::panic_message(&panic);
        let hint = "change the type: API servers accept only structural schemas";
        self.report_problem(self.world.problem_at(item.module, item.span, message, hint));
        None
    }

    /// Returns whether a kind has a hand-written schema.
    pub(super) fn is_manual(&self, id: ItemId) -> bool {
        let Ok(input) = self.world.settled_input(id) else { return false };
        kube::parse_attributes(&input, self.world.behaviour.kube)
            .is_ok_and(|kube| kube.mode == Mode::Manual)
    }

    /// The struct that `#[derive(CustomResource)]` writes, read like one that the user wrote.
    pub(super) fn read_root(&self, id: ItemId) -> Result<Container, Problem> {
        let world = &*self.world;
        let item = &world.items[id];
        let input = world.settled_input(id)?;
        let to_problem =
            |it: syn::Error| world.problem_at(item.module, it.span(), it.to_string(), "");
        let kube = kube::parse_attributes(&input, self.world.behaviour.kube)
            .map_err(|mut errors| to_problem(errors.remove(0)))?;
        if kube.mode != Mode::Derived {
            let name = kube.root.as_ref().unwrap_or(&kube.kind);
            let hint =
                format!("write `impl JsonSchema for {name}` in this crate, or derive the schema");
            let message = format!("`{name}` has no schema of its own");
            return Err(world.problem_at(item.module, item.span, message, &hint));
        }
        if kube.no_spec {
            ensure_flattenable(&input).map_err(to_problem)?;
        }
        let span = item.span;
        let root = format_ident!("{}", kube.root.as_ref().unwrap_or(&kube.kind), span = span);
        let ident = &input.ident;
        let doc = kube.doc.clone().unwrap_or_else(|| {
            format!(" Auto-generated derived type for {ident} via `CustomResource`")
        });
        let attrs = &kube.attrs;
        let flatten = kube.no_spec.then(|| quote_spanned!(span=> #[serde(flatten)]));
        let status = kube.status.as_ref().map(|path| {
            quote_spanned!(span=>
                #[serde(skip_serializing_if = "Option::is_none")]
                status: Option<#path>,
            )
        });
        let tokens = quote_spanned!(span=>
            #[doc = #doc]
            #(#[#attrs])*
            #[serde(rename_all = "camelCase")]
            struct #root {
                #[schemars(skip)]
                metadata: ::k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
                #flatten
                spec: #ident,
                #status
            }
        );
        let root_input: syn::DeriveInput = syn::parse2(tokens).map_err(to_problem)?;
        let values = self.values_in(item.module);
        let rules: syn::Result<Vec<_>> =
            kube.validations.iter().map(|expr| x_kube::parse_rule(expr, &values)).collect();
        let rules = rules.map_err(to_problem)?;
        let validated = !rules.is_empty() || kube.cel;
        if let Some(it) =
            kube.attrs.iter().find(|meta| !validated && meta.path().is_ident("x_kube"))
        {
            let message = "kube reads `x_kube` in `attr` only beside `validation` or `cel`";
            return Err(to_problem(syn::Error::new_spanned(it, message)));
        }
        let mut container = container::parse_container(&root_input, validated, &values)?;
        container.rules.extend(rules);
        Ok(container)
    }
}

/// `no_spec` puts the spec's fields beside those of every resource.
fn ensure_flattenable(input: &syn::DeriveInput) -> syn::Result<()> {
    const RESERVED: &[&str] = &["apiVersion", "api_version", "kind", "metadata", "status"];
    let syn::Data::Struct(syn::DataStruct { fields: syn::Fields::Named(fields), .. }) = &input.data
    else {
        return Err(syn::Error::new(
            input.ident.span(),
            "`no_spec` is for structs with named fields",
        ));
    };
    let names = fields.named.iter().filter_map(|field| field.ident.as_ref());
    match { names }.find(|ident| RESERVED.iter().any(|name| *ident == name)) {
        Some(it) => Err(syn::Error::new(
            it.span(),
            format!("`no_spec` with a field `{it}`: every resource has one"),
        )),
        None => Ok(()),
    }
}

/// The span of an item of `#[kube(…)]`.
fn span_of_item(input: &syn::DeriveInput, name: &str) -> Option<proc_macro2::Span> {
    use syn::spanned::Spanned;
    let metas = crate::attributes::parse_metas(&input.attrs, "kube").ok()?;
    metas.iter().find(|meta| meta.path().is_ident(name)).map(Spanned::span)
}

/// The names of a resource.
pub struct ResourceNames {
    pub plural: String,
    pub singular: String,
}

const NAMES: &str =
    "API servers accept no other names, e.g. `cache.example.com`, `v1`, `Memcached`, `memcacheds`";

impl ResourceNames {
    /// Reads them all; an error for the item of `#[kube(…)]` that no API server accepts.
    fn from_kube(kube: &Kube) -> Result<Self, (&'static str, String)> {
        type Check = fn(&str) -> Result<(), &'static str>;
        let check = |check: Check, name: &'static str, text: &str| {
            check(text).map_err(|message| (name, format!("{name} `{text}` {message}")))
        };
        check(check_group, "group", &kube.group)?;
        check(check_label, "version", &kube.version)?;
        check(check_kind, "kind", &kube.kind)?;
        let singular = kube.singular.clone().unwrap_or_else(|| kube.kind.to_ascii_lowercase());
        check(check_label, "singular", &singular)?;
        let plural = kube.plural.clone().unwrap_or_else(|| plural_of(&singular));
        check(check_label, "plural", &plural)?;
        let lists = [("shortname", &kube.shortnames), ("category", &kube.categories)];
        for (name, list) in lists {
            list.iter().try_for_each(|text| check(check_label, name, text))?;
        }
        Ok(Self { plural, singular })
    }
}

/// The plural of a singular, as kube derives it.
fn plural_of(word: &str) -> String {
    let end = |it: &str| word.ends_with(it);
    if ["s", "x", "z", "ch", "sh"].into_iter().any(end) {
        return format!("{word}es");
    }
    // kube counts bytes, and compares characters, too.
    let before = word.len().checked_sub(2).and_then(|index| word.chars().nth(index));
    match (word.strip_suffix('y'), before) {
        (Some(stem), Some(c)) if !"aeiou".contains(c) => format!("{stem}ies"),
        _ => format!("{word}s"),
    }
}
