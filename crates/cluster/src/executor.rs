//! Runs asynchronous code on this thread.

use std::ops::Deref;

use anyhow::Context as _;
use tokio::runtime::{Builder, Runtime};

/// A runtime that does not wait, as it is dropped, for what other threads still do: the look-up of a host's name cannot be
/// cancelled, and may take minutes.
pub struct Executor(Option<Runtime>);

impl Executor {
    pub fn new() -> anyhow::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime.map(|runtime| Self(Some(runtime))).context("cannot start the asynchronous runtime")
    }
}

impl Deref for Executor {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        self.0.as_ref().expect("only `drop` takes it")
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[test]
fn a_look_up_that_does_not_end_is_left_behind() {
    let (release, blocked) = std::sync::mpsc::channel::<()>();
    let executor = Executor::new().unwrap();
    executor.block_on(async { drop(tokio::task::spawn_blocking(move || blocked.recv())) });
    // This would wait for ever if the runtime waited for the thread.
    drop(executor);
    drop(release);
}
