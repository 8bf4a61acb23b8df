//! Types of the source as schemars sees them: each answers through the reader of this thread.

use std::cell::RefCell;
use std::rc::Rc;

use schemars::{Schema, SchemaGenerator};

use super::Reader;
use crate::builtin::{Answer, with_types};
use crate::types::Type;

thread_local! {
    static READER: RefCell<Option<Rc<Reader>>> = const { RefCell::new(None) };
}

/// Runs `f` with a reader to answer for types.
pub fn answer_with<T>(reader: Rc<Reader>, f: impl FnOnce() -> T) -> T {
    struct Back(Option<Rc<Reader>>);
    impl Drop for Back {
        fn drop(&mut self) {
            READER.with(|slot| *slot.borrow_mut() = self.0.take());
        }
    }
    let _back = Back(READER.with(|slot| slot.borrow_mut().replace(reader)));
    f()
}

/// Runs `f` with `Dyn<0>` standing for the first type, `Dyn<1>` for the second.
pub fn standing_for<T>(types: &[Rc<Type>], f: impl FnOnce() -> T) -> T {
    let reader = READER.with(|slot| slot.borrow().clone()).expect("a reader answers before use");
    let answer = |ty: &Rc<Type>| -> Rc<dyn Answer> {
        Rc::new(Standing { reader: reader.clone(), ty: ty.clone() })
    };
    with_types(types.iter().map(answer), f)
}

struct Standing {
    reader: Rc<Reader>,
    ty: Rc<Type>,
}

impl Answer for Standing {
    fn inline_schema(&self) -> bool {
        self.reader.inline_schema(&self.ty)
    }
    fn schema_name(&self) -> String {
        self.reader.schema_name(&self.ty)
    }
    fn schema_id(&self) -> String {
        self.reader.schema_id(&self.ty)
    }
    fn json_schema(&self, generator: &mut SchemaGenerator) -> Schema {
        self.reader.json_schema(&self.ty, generator)
    }
    fn inner_schema(&self, generator: &mut SchemaGenerator) -> Schema {
        self.reader.inner_schema(&self.ty, generator)
    }
    fn is_option(&self) -> bool {
        self.reader.is_option(&self.ty)
    }
}
