//! `#[cfg]` and `#[cfg_attr]`, as far as the source alone decides them: yes, no, or it depends.

use std::collections::BTreeSet;

use super::possible_cfgs::PossibleCfgs;
use quote::ToTokens as _;
use syn::{Attribute, Meta, Token, punctuated::Punctuated, spanned::Spanned as _};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cfg {
    Yes,
    No,
    /// It depends on how the project is built.
    Depends,
}

impl Cfg {
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, Self::Yes) => Self::Yes,
            _ => Self::Depends,
        }
    }

    fn or(self, other: Self) -> Self {
        self.not().and(other.not()).not()
    }

    fn not(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            Self::Depends => Self::Depends,
        }
    }
}

/// The features of a package that are on, and those that may be: it depends on the target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Features {
    pub on: BTreeSet<String>,
    pub maybe: BTreeSet<String>,
    /// The conditions that compiler flags and build scripts may set.
    pub possible: PossibleCfgs,
}

impl Features {
    /// Returns whether a feature is on. A dependency's feature (`a/b`) is not known.
    pub fn is_on(&self, name: &str) -> Cfg {
        if self.on.contains(name) {
            Cfg::Yes
        } else if self.maybe.contains(name) || name.contains('/') {
            Cfg::Depends
        } else {
            Cfg::No
        }
    }
}

/// The features that the conditions of an item name, those of `#[cfg_attr(…, kube(…))]` among them.
pub fn named_features(attrs: &[Attribute]) -> BTreeSet<String> {
    fn collect_feature_names(
        metas: impl IntoIterator<Item = Meta>,
        depth: usize,
        into: &mut BTreeSet<String>,
    ) {
        for meta in metas {
            match meta {
                Meta::List(list) if depth < MOST_DEEP => {
                    let inner = list.parse_args_with(Conditions::parse_terminated);
                    let metas = inner.into_iter().flatten().filter_map(Condition::into_meta);
                    collect_feature_names(metas, depth + 1, into);
                }
                Meta::NameValue(syn::MetaNameValue {
                    path,
                    value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(it), .. }),
                    ..
                }) if path.is_ident("feature") => drop(into.insert(it.value())),
                _ => {}
            }
        }
    }
    let mut names = BTreeSet::new();
    let has_kube = |it: &Attribute| it.to_token_stream().to_string().contains("kube");
    let conditions = attrs.iter().filter(|attr| {
        attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr") && has_kube(attr)
    });
    collect_feature_names(conditions.map(|attr| attr.meta.clone()), 0, &mut names);
    names
}

/// A condition of `cfg`, or another argument of `cfg_attr`.
///
/// `true` and `false` are conditions, and are no [`Meta`], because they are keywords.
enum Condition {
    Constant(bool),
    Meta(Box<Meta>),
}

type Conditions = Punctuated<Condition, Token![,]>;

impl Condition {
    fn into_meta(self) -> Option<Meta> {
        match self {
            Self::Constant(_) => None,
            Self::Meta(meta) => Some(*meta),
        }
    }
}

impl syn::parse::Parse for Condition {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(syn::LitBool) {
            return Ok(Self::Constant(input.parse::<syn::LitBool>()?.value));
        }
        input.parse().map(|meta| Self::Meta(Box::new(meta)))
    }
}

/// The attributes of an item after its `cfg`s are resolved.
pub struct Settled {
    pub cfg: Cfg,
    /// The attributes that are there, `cfg_attr` opened.
    pub attrs: Vec<Attribute>,
    /// Attributes that may be there or not.
    pub doubtful: Vec<Meta>,
}

/// Opens every `cfg_attr` and takes every `cfg` away.
pub fn resolve_cfgs(attrs: &[Attribute], features: &Features) -> syn::Result<Settled> {
    settle_owned(attrs.to_vec(), features)
}

/// The same, without a copy of attributes that stay as they are: a type may have any number of documented lines.
pub fn settle_owned(attrs: Vec<Attribute>, features: &Features) -> syn::Result<Settled> {
    let mut settled = Settled { cfg: Cfg::Yes, attrs: Vec::new(), doubtful: Vec::new() };
    let is_condition =
        |attr: &Attribute| ["cfg", "cfg_attr"].iter().any(|name| attr.path().is_ident(name));
    if !attrs.iter().any(is_condition) {
        settled.attrs = attrs;
        return Ok(settled);
    }
    for attr in attrs {
        if attr.path().is_ident("cfg") {
            settled.cfg = settled.cfg.and(predicate_of(&attr, features)?);
        } else if attr.path().is_ident("cfg_attr") {
            open_cfg_attr(
                attr.parse_args_with(Conditions::parse_terminated)?,
                &attr,
                features,
                &mut settled,
            )?;
        } else {
            settled.attrs.push(attr);
        }
    }
    Ok(settled)
}

fn open_cfg_attr(
    arguments: Conditions,
    attr: &Attribute,
    features: &Features,
    res: &mut Settled,
) -> syn::Result<()> {
    let mut arguments = arguments.into_iter();
    let Some(condition) = arguments.next() else {
        return Err(syn::Error::new(attr.span(), "`cfg_attr` has no condition"));
    };
    let condition = predicate_at(&condition, features, 0)?;
    for argument in arguments {
        let Some(meta) = argument.into_meta() else {
            return Err(syn::Error::new(attr.span(), "an argument of `cfg_attr` is no attribute"));
        };
        let opened = Attribute { meta: meta.clone(), ..attr.clone() };
        match condition {
            Cfg::No => {}
            Cfg::Depends if meta.path().is_ident("cfg_attr") => {
                // An attribute inside applies only if the outer condition holds, which is not known.
                let inner = resolve_cfgs(&[opened], features)?;
                let certain = inner.attrs.into_iter().map(|attr| attr.meta);
                res.doubtful.extend(certain.chain(inner.doubtful));
                res.doubtful.extend((inner.cfg != Cfg::Yes).then_some(meta));
            }
            Cfg::Depends => res.doubtful.push(meta),
            Cfg::Yes => {
                let inner = resolve_cfgs(&[opened], features)?;
                res.cfg = res.cfg.and(inner.cfg);
                res.attrs.extend(inner.attrs);
                res.doubtful.extend(inner.doubtful);
            }
        }
    }
    Ok(())
}

/// The limit of nested conditions: each level is parsed anew.
const MOST_DEEP: usize = 32;

/// Evaluates the condition of `#[cfg(…)]`, as far as the source decides it.
pub fn predicate_of(attr: &Attribute, features: &Features) -> syn::Result<Cfg> {
    let condition = attr.parse_args_with(|input: syn::parse::ParseStream<'_>| {
        let condition = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        Ok(condition)
    });
    predicate_at(&condition?, features, 0)
}

/// Evaluates a condition that is written alone, as `cfg(…)` of a target in Cargo.toml has it.
pub fn predicate_in(text: &str, features: &Features) -> syn::Result<Cfg> {
    predicate_at(&syn::parse_str(text)?, features, 0)
}

/// Returns whether a condition does not hold in a usual build.
fn is_unset(path: &syn::Path, features: &Features) -> bool {
    const UNSET: &[&str] = &["test", "doctest", "doc", "docsrs"];
    UNSET.iter().any(|name| path.is_ident(name) && !features.possible.has_name(name))
}

fn predicate_at(condition: &Condition, features: &Features, depth: usize) -> syn::Result<Cfg> {
    let meta = match condition {
        Condition::Constant(true) => return Ok(Cfg::Yes),
        Condition::Constant(false) => return Ok(Cfg::No),
        Condition::Meta(meta) => meta,
    };
    if depth > MOST_DEEP {
        return Err(syn::Error::new(meta.span(), "the condition is nested too deep to be read"));
    }
    let all = |list: &syn::MetaList| -> syn::Result<Vec<Cfg>> {
        let inner = list.parse_args_with(Conditions::parse_terminated)?;
        inner.iter().map(|condition| predicate_at(condition, features, depth + 1)).collect()
    };
    Ok(match &**meta {
        Meta::Path(path) if is_unset(path, features) => Cfg::No,
        Meta::List(list) if list.path.is_ident("not") => match all(list)?[..] {
            [one] => one.not(),
            _ => return Err(syn::Error::new(list.span(), "`not` takes one condition")),
        },
        Meta::List(list) if list.path.is_ident("all") => {
            all(list)?.into_iter().fold(Cfg::Yes, Cfg::and)
        }
        Meta::List(list) if list.path.is_ident("any") => {
            all(list)?.into_iter().fold(Cfg::No, Cfg::or)
        }
        Meta::NameValue(pair) if pair.path.is_ident("feature") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(name), .. }) => match name.value() {
                name if features.on.contains(&name) => Cfg::Yes,
                name if features.maybe.contains(&name) => Cfg::Depends,
                name if features.possible.has_feature(&name) => Cfg::Depends,
                _ => Cfg::No,
            },
            _ => Cfg::Depends,
        },
        _ => Cfg::Depends,
    })
}
