//! Collects all reasons why a bundle cannot be generated, so that one error lists them.

use diagnostics::Hint as _;

#[derive(Default)]
pub struct Refusals {
    refusals: Vec<(String, String)>,
}

impl Refusals {
    /// A message, and a hint (empty if the message says enough).
    pub fn push(&mut self, message: impl Into<String>, hint: impl Into<String>) {
        let refusal = (message.into(), hint.into());
        if !self.refusals.contains(&refusal) {
            self.refusals.push(refusal);
        }
    }

    pub fn into_result(self) -> anyhow::Result<()> {
        if self.refusals.is_empty() {
            return Ok(());
        }
        let list: String =
            self.refusals.iter().map(|(message, _)| format!("\n  {message}")).collect();
        let mut hints: Vec<String> = Vec::new();
        for (_, hint) in self.refusals {
            if !hint.is_empty() && !hints.contains(&hint) {
                hints.push(hint);
            }
        }
        let error =
            Err(anyhow::format_err!("cannot generate a bundle from these manifests:{list}"));
        hints.into_iter().rev().fold(error, |res, hint| res.hint(hint))
    }
}
