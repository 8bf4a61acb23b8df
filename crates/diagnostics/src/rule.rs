//! Rules: each has an id that never changes, and one line in a table.

use super::Severity;

/// The description of a rule. A table may sort its rules into groups.
#[derive(Debug)]
pub struct RuleInfo<G: 'static = ()> {
    pub id: &'static str,
    pub group: G,
    /// The severity of its findings, by the strictest policy.
    pub severity: Severity,
    pub summary: &'static str,
    /// The hint for a finding; empty if the finding says it.
    pub hint: &'static str,
}

/// Declares the rules of a module, one line each: name, id, severity and summary. If the type of their groups precedes
/// them, each also has its group, and a hint.
#[macro_export]
macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $summary:literal)*) => {
        $crate::rules! { (): $($name $id () $severity $summary "")* }
    };
    ($group:ty: $($name:ident $id:literal $of_group:tt $severity:ident $summary:literal $hint:literal)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule { $($name),* }

        impl Rule {
            pub fn all() -> impl Iterator<Item = Self> {
                [$(Self::$name),*].into_iter()
            }

            pub fn info(self) -> &'static $crate::RuleInfo<$group> {
                match self {
                    $(Self::$name => &$crate::RuleInfo {
                        id: $id,
                        group: $of_group,
                        severity: $crate::Severity::$severity,
                        summary: $summary,
                        hint: $hint,
                    }),*
                }
            }

            pub fn id(self) -> &'static str {
                self.info().id
            }
        }

        impl std::fmt::Display for Rule {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.id())
            }
        }

        impl std::str::FromStr for Rule {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                let found = Self::all().find(|rule| rule.id() == text);
                found.ok_or_else(|| format!("there is no rule `{text}`"))
            }
        }
    };
}
