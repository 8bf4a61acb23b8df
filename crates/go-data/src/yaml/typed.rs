//! Deserializes a document into a type, so that errors have a location.

use std::fmt;

use serde::{
    de::{self, IntoDeserializer, value::SeqDeserializer},
    forward_to_deserialize_any,
};

use super::{Data, Entry, Mark, Node, Value, YamlError};

/// The line is 0 if the location is not known.
impl de::Error for YamlError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Mark { line: 0, column: 0 }, message.to_string(), None)
    }
}

impl<'de> IntoDeserializer<'de, YamlError> for &'de Node {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl Node {
    /// Adds the location of this node to an error that has none.
    fn add_location<T>(&self, result: Result<T, YamlError>) -> Result<T, YamlError> {
        result.map_err(|error| {
            if error.mark.line == 0 { YamlError { mark: self.mark, ..error } } else { error }
        })
    }
}

/// The entries of a mapping that are not read yet, and the value of the entry whose key has been read.
struct Entries<'de> {
    entries: std::slice::Iter<'de, Entry>,
    value: Option<&'de Node>,
}

impl<'de> de::MapAccess<'de> for Entries<'de> {
    type Error = YamlError;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, YamlError> {
        let Some(Entry { key, value, .. }) = self.entries.next() else { return Ok(None) };
        self.value = Some(value);
        let key: de::value::StrDeserializer<'de, YamlError> = key.as_str().into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: de::DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, YamlError> {
        let node = self.value.take().ok_or_else(|| de::Error::custom("a value without a key"))?;
        node.add_location(seed.deserialize(node))
    }
}

impl<'de> de::Deserializer<'de> for &'de Node {
    type Error = YamlError;

    fn deserialize_any<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        self.add_location(match &self.data {
            Data::Scalar(Value::Null) => visitor.visit_unit(),
            Data::Scalar(Value::Bool(boolean)) => visitor.visit_bool(*boolean),
            Data::Scalar(Value::String(text)) => visitor.visit_borrowed_str(text),
            Data::Scalar(number) => number.deserialize_any(visitor).map_err(de::Error::custom),
            Data::List(items) => SeqDeserializer::new(items.iter()).deserialize_any(visitor),
            Data::Map(entries) => {
                visitor.visit_map(Entries { entries: entries.iter(), value: None })
            }
        })
    }

    fn deserialize_option<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        if self.is_null() {
            visitor.visit_none()
        } else {
            self.add_location(visitor.visit_some(self))
        }
    }

    fn deserialize_newtype_struct<V: de::Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, YamlError> {
        self.add_location(visitor.visit_newtype_struct(self))
    }

    fn deserialize_enum<V: de::Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, YamlError> {
        self.add_location(match &self.data {
            Data::Scalar(Value::String(variant)) => visitor
                .visit_enum(IntoDeserializer::<YamlError>::into_deserializer(variant.as_str())),
            _ => {
                let value = self.clone().into_value();
                value.deserialize_enum(name, variants, visitor).map_err(de::Error::custom)
            }
        })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
