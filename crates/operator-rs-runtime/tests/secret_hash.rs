//! The hash of a Secret's data.

use operator_rs_runtime::secret_hash;
use serde_json::{Value, from_value, json};

#[test]
fn the_hash_is_of_the_data_and_keyed_by_the_uid() {
    let hash = |uid: &str, label: &str, data: Value| {
        let metadata = json!({ "name": "a", "uid": uid, "labels": { "a": label } });
        secret_hash(&from_value(json!({ "metadata": metadata, "data": data })).unwrap()).unwrap()
    };
    let first = hash("1", "x", json!({ "a": "YWI=", "b": "Yw==" }));
    assert_eq!(first.len(), 32);
    assert_eq!(hash("1", "y", json!({ "b": "Yw==", "a": "YWI=" })), first);
    for other in [
        hash("2", "x", json!({ "a": "YWI=", "b": "Yw==" })),
        hash("1", "x", json!({ "a": "YWI=", "b": "YQ==" })),
        // The same bytes, divided otherwise.
        hash("1", "x", json!({ "a": "YQ==", "b": "YmM=" })),
        hash("1", "x", json!({})),
    ] {
        assert_ne!(other, first);
    }
    assert_eq!(secret_hash(&from_value(json!({ "metadata": { "name": "a" } })).unwrap()), None);
}
