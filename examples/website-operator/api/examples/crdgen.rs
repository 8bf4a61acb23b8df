//! Prints every CRD of this project, as a JSON array.

use website_operator_api::crds;

fn main() -> Result<(), serde_json::Error> {
    serde_json::to_writer_pretty(std::io::stdout().lock(), &crds())
}
