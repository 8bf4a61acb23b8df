//! Runs code with a stack that is large enough for deeply nested source. Only the part that is used takes memory.

/// In bytes. What is nested too deep for it is refused before.
pub const SIZE: usize = 1 << 30;

/// Runs `f` on a stack of this size.
pub fn with_room<T: Send>(f: impl Fn() -> T + Sync) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(SIZE);
        match thread.spawn_scoped(scope, &f).map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(found)) => found,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => f(),
        }
    })
}
