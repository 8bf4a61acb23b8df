//! The tricks that a clone can play, in families. Each changes a project; none is specific to how the
//! program works inside.

pub mod bounds;
pub mod cargo;
pub mod files;
pub mod journals;
pub mod kustomize;
pub mod links;
pub mod names;
pub mod project;
pub mod source;

use std::io;

use crate::world::World;

type Plant = Box<dyn Fn(&World) -> io::Result<()> + Send + Sync>;

pub struct Trick {
    pub name: String,
    /// Where in the project it is, to find the commands that it concerns.
    pub place: String,
    plant: Plant,
    /// Root could read what nobody may, so somebody else runs the command.
    pub nobody: bool,
    /// The next run may complete what an interrupted one has begun, and then fail.
    pub recovers: bool,
}

impl Trick {
    pub fn new(
        name: impl Into<String>,
        place: impl Into<String>,
        plant: impl Fn(&World) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            place: place.into(),
            plant: Box::new(plant),
            nobody: false,
            recovers: false,
        }
    }

    pub fn by_nobody(mut self) -> Self {
        self.nobody = true;
        self
    }

    pub fn recovering(mut self) -> Self {
        self.recovers = true;
        self
    }

    /// Two tricks in one project. The second may find that its place is gone.
    pub fn and(self, other: Self) -> Self {
        Self {
            name: format!("{} + {}", self.name, other.name),
            place: self.place,
            nobody: self.nobody || other.nobody,
            recovers: self.recovers || other.recovers,
            plant: Box::new(move |world| {
                (self.plant)(world)?;
                let _ = (other.plant)(world);
                Ok(())
            }),
        }
    }

    pub fn plant(&self, world: &World) {
        (self.plant)(world).unwrap_or_else(|it| panic!("{} cannot be planted: {it}", self.name));
    }
}
