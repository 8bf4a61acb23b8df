//! Fields that serde writes as `null`.

use super::container::Field;
use super::{Reader, This};
use crate::types::derives::Derived;

impl Reader {
    /// Notes the field that we are in if serde writes it as `null` for `None`.
    pub(super) fn note_null(&self, this: &This, field: &Field) {
        if !self.writes_null(this, field) {
            return;
        }
        let path = self.schema_path.borrow().clone();
        self.null_fields.borrow_mut().insert(path);
    }

    /// Returns whether the field is an `Option` that the derived `Serialize` writes as `null`.
    fn writes_null(&self, this: &This, field: &Field) -> bool {
        if field.skip_serializing || field.skip_if.is_some() || field.serialize_with.is_some() {
            return false;
        }
        let is_option = match &field.with {
            // The type that stands for the field's own says nothing of it, and the own one need not be readable.
            Some(_) => is_called_option(&field.ty),
            None => self.field_type(this, field).is_some_and(|ty| self.is_option(&ty)),
        };
        let serializes = || self.world.derives_trait(this.id, "serde::Serialize");
        is_option && matches!(serializes(), Ok(Derived::Yes))
    }
}

/// Returns whether a type is written as `Option<…>`.
fn is_called_option(ty: &syn::Type) -> bool {
    let syn::Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|segment| segment.ident == "Option")
}
