//! Rules: each has an id that never changes, and one line in a table.

use super::Severity;

/// What is known about a rule. A table may sort its rules into groups.
#[derive(Debug)]
pub struct About<G: 'static = ()> {
    pub id: &'static str,
    pub group: G,
    /// The severity of its findings, by the strictest policy.
    pub severity: Severity,
    pub summary: &'static str,
    /// What to do about a finding; empty if the finding says it.
    pub hint: &'static str,
}

/// Declares the rules of a module, one line each: name, id, severity and summary. If the type of their groups precedes
/// them, each also has its group, and a hint.
#[macro_export]
macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $summary:literal)*) => {
        $crate::rules! { (): $($name $id () $severity $summary "")* }
    };
    ($group:ty: $($name:ident $id:literal $of:tt $severity:ident $summary:literal $hint:literal)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule { $($name),* }

        impl Rule {
            pub fn all() -> impl Iterator<Item = Self> {
                [$(Self::$name),*].into_iter()
            }

            pub fn about(self) -> &'static $crate::About<$group> {
                match self {
                    $(Self::$name => &$crate::About {
                        id: $id,
                        group: $of,
                        severity: $crate::Severity::$severity,
                        summary: $summary,
                        hint: $hint,
                    }),*
                }
            }

            pub fn id(self) -> &'static str {
                self.about().id
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
                let found = Self::all().find(|it| it.id() == text);
                found.ok_or_else(|| format!("there is no rule `{text}`"))
            }
        }
    };
}
