//! `olm.template.basic`: a catalog in which each bundle is only an image.

use super::{
    super::{
        blob, go,
        load::{Catalog, Loader, Located, Place},
    },
    Bundles, bundle,
    read::Document,
};
use diagnostics::Diagnostics;
use go_data::yaml::Value;

pub const SCHEMA: &str = "olm.template.basic";

pub struct Basic(Catalog);

impl Basic {
    pub fn read(document: &Document) -> anyhow::Result<Self> {
        let entries = match go::field(&document.map, "entries") {
            None => &Vec::new(),
            Some(Value::Array(entries)) => entries,
            Some(it) => return Err(document.wrong("entries", it, "a list")),
        };
        let mut loader = Loader::default();
        for entry in entries {
            let place = Place { file: document.title().into(), line: document.line() };
            loader.document(entry.clone(), place);
        }
        for it in &loader.catalog.bundles {
            if !is_template(&it.blob) {
                loader.faults.push(
                    it.fault("unexpected fields present in basic template bundle").with_hint(
                        "a bundle of a template has a `schema` and an `image`, and nothing else",
                    ),
                );
            }
        }
        match loader.faults.is_empty() {
            true => Ok(Self(loader.catalog)),
            false => Err(Diagnostics { headline: String::new(), list: loader.faults }.into()),
        }
    }

    pub fn images(&self) -> Vec<&str> {
        self.0.bundles.iter().map(|it| it.blob.image.as_str()).collect()
    }

    pub fn render(self, bundles: &Bundles) -> anyhow::Result<Catalog> {
        let mut res = self.0;
        for it in &mut res.bundles {
            *it = Located::new(bundle(bundles, &it.blob.image)?.clone());
        }
        Ok(res)
    }
}

fn is_template(bundle: &blob::Bundle) -> bool {
    !bundle.image.is_empty()
        && bundle.package.is_empty()
        && bundle.properties.is_empty()
        && bundle.related_images.is_empty()
}
