//! Every type as its source is read, through a placeholder as the reader of schemas has one.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use crate::Said;
use crate::builtin::kubernetes::{KubernetesMiss, Model, Source};
use crate::oracle::{inlined, referred};

thread_local! {
    static NOW: RefCell<Option<(Rc<Source>, Rc<Model>)>> = const { RefCell::new(None) };
}

struct It;

fn now() -> (Rc<Source>, Rc<Model>) {
    NOW.with(|it| it.borrow().clone()).expect("a type is asked for")
}

fn standing_for<T>(source: &Rc<Source>, model: Rc<Model>, f: impl FnOnce() -> T) -> T {
    let before = NOW.with(|it| it.borrow_mut().replace((source.clone(), model)));
    let res = f();
    NOW.with(|it| *it.borrow_mut() = before);
    res
}

impl JsonSchema for It {
    fn schema_name() -> Cow<'static, str> {
        now().1.name.clone().into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (source, model) = now();
        model.schema.build_schema(generator, &|path, generator| {
            let model = source.find_type(path).unwrap_or_else(|it| panic!("{path}: {it:?}"));
            standing_for(&source, model, || generator.subschema_for::<Self>())
        })
    }
}

pub fn all(source: Rc<Source>) -> BTreeMap<String, Said> {
    let mut res = BTreeMap::new();
    let mut modules = vec!["k8s_openapi".to_owned()];
    while let Some(module) = modules.pop() {
        for name in source.names_in(&module).unwrap_or_default() {
            let path = format!("{module}::{name}");
            match source.find_type(&path) {
                Ok(model) => {
                    res.insert(path, said(&source, &model));
                }
                Err(KubernetesMiss::Absent) => modules.push(path),
                Err(KubernetesMiss::Bare) => {}
                Err(miss) => panic!("{path}: {miss:?}"),
            }
        }
    }
    res
}

fn said(source: &Rc<Source>, model: &Rc<Model>) -> Said {
    let of = |f: fn() -> Value| standing_for(source, model.clone(), f);
    Said {
        name: of(|| It::schema_name().into()),
        id: of(|| It::schema_id().into()),
        inlined: of(inlined::<It>),
        referred: of(referred::<It>),
    }
}
