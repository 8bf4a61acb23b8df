//! The objects of a review, which are read only when they are needed.

use super::{Denied, place};
use hyper::body::Bytes;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

/// The object as it shall be, and as it is.
pub struct Objects {
    pub desired: Option<Bytes>,
    pub current: Option<Bytes>,
}

impl Objects {
    /// The object as it shall be.
    ///
    /// # Errors
    /// If it is no `T`: the field is named.
    pub fn desired<T: DeserializeOwned>(&self) -> Result<T, Denied> {
        read(self.desired.as_deref())
    }

    /// The object as it is.
    ///
    /// # Errors
    /// If it is no `T`.
    pub fn current<T: DeserializeOwned>(&self) -> Result<T, Denied> {
        read(self.current.as_deref())
    }

    /// Whether this changes nothing but the metadata of an object that is being deleted, such as its finalizers.
    pub fn only_metadata_of_deleted(&self) -> bool {
        #[derive(Deserialize)]
        struct Named {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Metadata {
            deletion_timestamp: Option<String>,
        }
        let is_deleted = self.desired::<Named>().is_ok_and(|it| it.metadata.deletion_timestamp.is_some());
        is_deleted && without_metadata(self.desired()).is_some_and(|new| Some(new) == without_metadata(self.current()))
    }
}

fn without_metadata(object: Result<Value, Denied>) -> Option<Value> {
    let mut object = object.ok()?;
    object.as_object_mut()?.remove("metadata");
    Some(object)
}

fn read<T: DeserializeOwned>(json: Option<&[u8]>) -> Result<T, Denied> {
    let json = json.ok_or_else(|| Denied::bad_request("the request has no object"))?;
    serde_json::from_slice(json).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let message = message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&message);
        Denied::unreadable(place::path(json, line, column), message)
    })
}

/// # Errors
/// If the type cannot be written as JSON.
pub fn to_value(object: &impl Serialize) -> Result<Value, Denied> {
    serde_json::to_value(object).map_err(|it| Denied::internal(format!("the object cannot be written as JSON: {it}")))
}
