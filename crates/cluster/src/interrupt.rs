//! Ctrl-C. Until the first change it ends the program, like any other. From then on, a change that was sent is completed and
//! reported, and nothing else is sent: what a command has listed is then what it has done.

use std::{
    cell::RefCell,
    error::Error,
    fmt,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll},
};

use http::{Method, Request};

/// The user has pressed Ctrl-C after the first change.
#[derive(Debug)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted: only the changes that are listed above were requested")
    }
}

impl Error for Interrupted {}

#[derive(Default)]
pub(super) enum Interrupt {
    /// Ctrl-C ends the program.
    #[default]
    Ends,
    /// Ctrl-C ends the program until the first change.
    EndsAtFirst,
    Awaited(Pin<Box<dyn Future<Output = ()> + Send>>),
    Happened,
}

impl Interrupt {
    /// Returns whether the user has pressed Ctrl-C.
    fn poll(&mut self, context: &mut Context<'_>) -> bool {
        if let Self::Awaited(signal) = self
            && signal.as_mut().poll(context).is_ready()
        {
            *self = Self::Happened;
        }
        matches!(self, Self::Happened)
    }

    fn before_change(&mut self) {
        if let Self::EndsAtFirst = self {
            *self = Self::Awaited(Box::pin(async {
                if tokio::signal::ctrl_c().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }));
        }
    }
}

/// Returns whether a request changes something.
pub(super) fn is_change<T>(request: &Request<T>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    request.method() != Method::GET && !query.contains("dryRun=")
}

/// Does some work unless there was an interrupt. A change that has begun is completed.
pub(super) async fn unless_interrupted<T>(
    interrupt: &RefCell<Interrupt>,
    is_change: bool,
    work: impl Future<Output = T>,
) -> anyhow::Result<T> {
    if is_change {
        interrupt.borrow_mut().before_change();
    }
    let mut work = pin!(work);
    let mut has_begun = false;
    poll_fn(|context| {
        if !(is_change && has_begun) && interrupt.borrow_mut().poll(context) {
            return Poll::Ready(Err(Interrupted.into()));
        }
        has_begun = true;
        work.as_mut().poll(context).map(Ok)
    })
    .await
}

#[test]
fn a_change_is_completed_and_nothing_follows_it() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let interrupt = RefCell::new(Interrupt::EndsAtFirst);
    let run = |is_change, polls: i32| {
        let mut left = polls;
        let work = poll_fn(move |context| {
            left -= 1;
            context.waker().wake_by_ref();
            if left < 0 { Poll::Ready(()) } else { Poll::Pending }
        });
        let res = runtime.block_on(unless_interrupted(&interrupt, is_change, work));
        res.map_err(|it| it.is::<Interrupted>())
    };
    assert_eq!(run(false, 1), Ok(()));
    assert!(matches!(*interrupt.borrow(), Interrupt::EndsAtFirst));
    interrupt.borrow_mut().before_change();
    assert!(matches!(*interrupt.borrow(), Interrupt::Awaited(_)));
    // The signal comes when it is looked for the second time.
    let second = || {
        let mut looks = 0;
        poll_fn(move |_| {
            looks += 1;
            if looks < 2 { Poll::Pending } else { Poll::Ready(()) }
        })
    };
    *interrupt.borrow_mut() = Interrupt::Awaited(Box::pin(second()));
    assert_eq!(run(true, 3), Ok(()));
    assert_eq!(run(false, 3), Err(true));
    assert_eq!(run(true, 0), Err(true));
    *interrupt.borrow_mut() = Interrupt::Awaited(Box::pin(second()));
    assert_eq!(run(false, 3), Err(true));
}
