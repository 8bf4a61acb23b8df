//! Files → crates → modules → items: everything that has a name, before any name is looked up.

pub mod attribute_macros;
mod automod;
mod block_files;
mod blocks;
mod bodies;
mod files;
mod included;
mod items;
mod macros;
mod modules;
mod omission;
mod reach;
mod selection;
mod source_file;
mod token;
pub mod tokens;
mod world;

pub use blocks::BlockItem;
pub use files::{WRITE_OUT, load_crates};
pub use included::{UnreadPlace, included_file};
pub use macros::{Call, CallForm, Rules, RulesId};
pub use reach::Reach;
pub use world::{Absent, Impl, Item, ItemId, ItemKind, ModuleId, Path, World};
