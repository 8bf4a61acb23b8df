//! Reads a JSON text into a value that takes limited memory and time: a value takes up to twenty times the memory of its
//! text.

use std::fmt;

use go_data::yaml::{Map, Number, Value};
use model::Deadline;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// About how many bytes a value takes, besides the text of strings.
const VALUE: usize = 48;

/// About how many bytes an entry of a map takes, besides its value and the text of its key.
const ENTRY: usize = 64;

/// The deadline is checked after this number of values.
const STRIDE: usize = 1 << 14;

/// The reason why a text was not read.
#[derive(Debug, PartialEq, Eq)]
pub enum DecodeError {
    NotJson,
    TooLarge,
    TimedOut,
}

/// Reads a text into a value. What the value takes is subtracted from `memory`.
pub fn decode_json(
    text: &[u8],
    memory: &mut usize,
    deadline: Deadline,
) -> Result<Value, DecodeError> {
    let mut budget = Budget { memory, deadline, values: 0, failure: DecodeError::NotJson };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = Element(&mut budget).deserialize(&mut deserializer);
    let Ok(value) = value else { return Err(budget.failure) };
    deserializer.end().map(|()| value).map_err(|_| DecodeError::NotJson)
}

struct Budget<'a> {
    memory: &'a mut usize,
    deadline: Deadline,
    values: usize,
    failure: DecodeError,
}

impl Budget<'_> {
    fn spend_bytes<E: Error>(&mut self, bytes: usize) -> Result<(), E> {
        self.values += 1;
        if self.values.is_multiple_of(STRIDE) && self.deadline.is_over() {
            self.failure = DecodeError::TimedOut;
            return Err(E::custom("timed out"));
        }
        let Some(left) = self.memory.checked_sub(bytes) else {
            self.failure = DecodeError::TooLarge;
            return Err(E::custom("too large"));
        };
        *self.memory = left;
        Ok(())
    }
}

/// One value of the text.
struct Element<'a, 'b>(&'a mut Budget<'b>);

impl<'de> DeserializeSeed<'de> for Element<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.0.spend_bytes(VALUE)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Element<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.0.spend_bytes(text.len())?;
        Ok(Value::String(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(Element(self.0))? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            self.0.spend_bytes(ENTRY + key.len())?;
            values.insert(key, map.next_value_seed(Element(self.0))?);
        }
        Ok(Value::Object(values))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn a_text_is_read_as_any_json_parser_reads_it() {
        let text =
            br#"{"a": [1, -2, 1.5, true, null, "\u00e4"], "b": {}, "a\n": 18446744073709551615}"#;
        for text in [&text[..], b"[]", b" 1 ", b"", b"{", b"1 2", b"<html>", b"[1e400]"] {
            let found = decode_json(text, &mut 10_000, Deadline::after(LONG)).ok();
            assert_eq!(found, serde_json::from_slice(text).ok());
        }
    }

    #[test]
    fn a_value_that_takes_too_much_memory_or_time_is_refused() {
        let numbers = format!("[{}0]", "0,".repeat(100_000));
        let mut memory = 1 << 20;
        let refused = decode_json(numbers.as_bytes(), &mut memory, Deadline::after(LONG));
        assert_eq!(refused, Err(DecodeError::TooLarge));
        let refused =
            decode_json(numbers.as_bytes(), &mut (1 << 30), Deadline::after(Duration::ZERO));
        assert_eq!(refused, Err(DecodeError::TimedOut));
        let mut memory = 1000;
        assert!(decode_json(b"[\"a\"]", &mut memory, Deadline::after(LONG)).is_ok());
        assert_eq!(memory, 1000 - 2 * VALUE - 1);
    }
}
