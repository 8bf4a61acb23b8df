//! The objects of a review, which are parsed only when they are needed.

use super::{Denied, place};
use hyper::body::Bytes;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

/// The desired object and the current one, as JSON.
pub struct Objects {
    pub desired: Option<Bytes>,
    pub current: Option<Bytes>,
}

impl Objects {
    /// Parses the desired object.
    ///
    /// # Errors
    /// If it is not a `T`. The error names the field.
    pub fn parse_desired<T: DeserializeOwned>(&self) -> Result<T, Denied> {
        parse_object(self.desired.as_deref())
    }

    /// Parses the current object.
    ///
    /// # Errors
    /// If it is not a `T`.
    pub fn parse_current<T: DeserializeOwned>(&self) -> Result<T, Denied> {
        parse_object(self.current.as_deref())
    }

    /// Returns true if the object is being deleted and only its metadata changes, such as its finalizers.
    pub fn changes_only_metadata_of_deleted(&self) -> bool {
        #[derive(Deserialize)]
        struct Named {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Metadata {
            deletion_timestamp: Option<String>,
        }
        let is_deleted = self.parse_desired::<Named>().is_ok_and(|object| object.metadata.deletion_timestamp.is_some());
        if !is_deleted {
            return false;
        }
        let (new, old) = (without_metadata(self.parse_desired()), without_metadata(self.parse_current()));
        new.is_some() && new == old
    }
}

fn without_metadata(object: Result<Value, Denied>) -> Option<Value> {
    let mut object = object.ok()?;
    object.as_object_mut()?.remove("metadata");
    Some(object)
}

fn parse_object<T: DeserializeOwned>(json: Option<&[u8]>) -> Result<T, Denied> {
    let json = json.ok_or_else(|| Denied::bad_request("the request has no object"))?;
    serde_json::from_slice(json).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let message = message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&message);
        Denied::unreadable_field(place::path_at(json, line, column), message)
    })
}

/// # Errors
/// If the type cannot be written as JSON.
pub fn to_value(object: &impl Serialize) -> Result<Value, Denied> {
    serde_json::to_value(object)
        .map_err(|error| Denied::internal_error(format!("the object cannot be written as JSON: {error}")))
}
