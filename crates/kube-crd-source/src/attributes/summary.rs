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
    pub fn of(world: &World, id: ItemId) -> Self {
        let item = &world.items[id];
        let attrs = match &item.kind {
            ItemKind::Data(input) => &input.attrs[..],
            _ => &[],
        };
        Self::read(attrs, world.features(item.module))
    }

    fn read(attrs: &[Attribute], features: &Features) -> Self {
        let mut res = Self {
            group: None,
            version: None,
            kind: None,
            root: None,
            storage: Storage::Unsaid,
            namespaced: None,
        };
        let attrs = cfg::settle(attrs, features).map_or_else(|_| attrs.to_vec(), |it| it.attrs);
        let each = |it: &Attribute| super::metas(std::slice::from_ref(it), "kube").ok();
        let is_whole = kube::is_on(&attrs) && !may_be_on_by_condition(&attrs);
        let read: Vec<_> = attrs.iter().filter(|it| it.path().is_ident("kube")).map(each).collect();
        res.namespaced = (is_whole && read.iter().all(Option::is_some)).then_some(false);
        for meta in read.into_iter().flatten().flatten() {
            res.take(&meta);
        }
        res
    }

    fn take(&mut self, meta: &Meta) {
        let text = || super::string(meta).ok().map(|it| it.value());
        match super::name_of(meta).as_str() {
            "group" => self.group = text(),
            "version" => self.version = text(),
            "kind" => self.kind = text(),
            "root" => self.root = text(),
            "namespaced" => self.namespaced = super::kube::flag(meta).ok(),
            "storage" => {
                self.storage = match super::kube::flag(meta) {
                    Ok(true) => Storage::Yes,
                    Ok(false) => Storage::No,
                    Err(_) => Storage::Unsaid,
                }
            }
            _ => {}
        }
    }
}

/// Whether a struct has `#[kube(…)]`, or has it on some condition.
pub fn may_be_on(attrs: &[Attribute]) -> bool {
    kube::is_on(attrs) || may_be_on_by_condition(attrs)
}

fn may_be_on_by_condition(attrs: &[Attribute]) -> bool {
    fn names_kube(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|it| match it {
            TokenTree::Ident(it) => it == "kube" || it == "r#kube",
            TokenTree::Group(it) => names_kube(it.stream()),
            _ => false,
        })
    }
    let mut conditions = attrs.iter().filter(|it| it.path().is_ident("cfg_attr"));
    conditions.any(|it| names_kube(it.meta.to_token_stream()))
}
