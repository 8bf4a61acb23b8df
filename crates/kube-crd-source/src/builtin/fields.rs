//! The names of a struct's fields, as its `Deserialize` asks for them.

use std::cell::Cell;

use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

/// Notes what it is asked for, and gives nothing.
struct Asked<'a>(&'a Cell<&'static [&'static str]>);

impl<'de> Deserializer<'de> for Asked<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("nothing is there"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        self.0.set(fields);
        Err(Error::custom("nothing is there"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The fields of a struct; none of another type.
pub fn of<T: for<'de> Deserialize<'de>>() -> &'static [&'static str] {
    let res = Cell::new(&[][..]);
    drop(T::deserialize(Asked(&res)));
    res.get()
}

#[test]
fn the_fields_of_a_struct_are_those_that_it_is_read_from() {
    assert_eq!(of::<k8s_openapi::api::core::v1::HTTPHeader>(), ["name", "value"]);
    assert!(of::<k8s_openapi::apimachinery::pkg::api::resource::Quantity>().is_empty());
}
