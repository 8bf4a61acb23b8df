//! `#[kube(…)]` of a kind that may be malformed: what of it can be read all the same.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, Meta};

use super::kube;
use crate::cargo::cfg::{self, Features};
use crate::tree::{ItemId, ItemKind, World};

/// `#[kube(storage = …)]`; kube's derive treats [`Unsaid`](Storage::Unsaid) as `true`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    Unsaid,
    Yes,
    No,
    /// A macro generates the attribute: what it says is not read.
    Generated,
}

/// `#[kube(…)]`, as far as it can be read. kube's derive may refuse the rest of it.
pub struct Summary {
    pub group: Option<String>,
    pub version: Option<String>,
    pub kind: Option<String>,
    /// The struct that kube generates, where it is not called as the kind.
    pub root: Option<String>,
    pub storage: Storage,
    pub namespaced: Option<bool>,
}

impl Summary {
    /// Reads `#[kube(…)]` of a struct.
    pub fn from_struct(world: &World, id: ItemId) -> Self {
        let item = &world.items[id];
        let attrs = match &item.kind {
            ItemKind::Data(input) => &input.attrs[..],
            _ => &[],
        };
        Self::from_attributes(attrs, world.features_of(item.module))
    }

    fn from_attributes(attrs: &[Attribute], features: &Features) -> Self {
        let mut summary = Self {
            group: None,
            version: None,
            kind: None,
            root: None,
            storage: Storage::Unsaid,
            namespaced: None,
        };
        let attrs = cfg::resolve_cfgs(attrs, features)
            .map_or_else(|_| attrs.to_vec(), |settled| settled.attrs);
        let each = |it: &Attribute| super::parse_metas(std::slice::from_ref(it), "kube").ok();
        let is_whole = kube::is_on(&attrs) && !may_be_on_by_condition(&attrs);
        let read: Vec<_> =
            attrs.iter().filter(|attr| attr.path().is_ident("kube")).map(each).collect();
        summary.namespaced = (is_whole && read.iter().all(Option::is_some)).then_some(false);
        for meta in read.into_iter().flatten().flatten() {
            summary.add_item(&meta);
        }
        summary
    }

    fn add_item(&mut self, meta: &Meta) {
        let text = || super::string_of(meta).ok().map(|literal| literal.value());
        match super::name_of(meta).as_str() {
            "group" => self.group = text(),
            "version" => self.version = text(),
            "kind" => self.kind = text(),
            "root" => self.root = text(),
            "namespaced" => self.namespaced = super::kube::parse_flag(meta).ok(),
            "storage" => {
                self.storage = match super::kube::parse_flag(meta) {
                    Ok(true) => Storage::Yes,
                    Ok(false) => Storage::No,
                    Err(_) => Storage::Unsaid,
                }
            }
            _ => {}
        }
    }
}

/// Returns whether a struct has `#[kube(…)]`, or has it on some condition.
pub fn may_be_on(attrs: &[Attribute]) -> bool {
    kube::is_on(attrs) || may_be_on_by_condition(attrs)
}

fn may_be_on_by_condition(attrs: &[Attribute]) -> bool {
    fn names_kube(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(it) => it == "kube" || it == "r#kube",
            TokenTree::Group(it) => names_kube(it.stream()),
            _ => false,
        })
    }
    let mut conditions = attrs.iter().filter(|attr| attr.path().is_ident("cfg_attr"));
    conditions.any(|attr| names_kube(attr.meta.to_token_stream()))
}
