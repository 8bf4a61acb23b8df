//! Two replicas, of which one works: it is followed when it ends well, and when it just ends.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{ground::Ground, lab::Lab, operator::Operator};

pub async fn of_two_replicas_one_writes_and_the_other_follows(lab: Arc<Lab>) {
    let ground = Arc::new(lab.ground("replicas").await);
    let mut first = Operator::start(&ground, "first").await;
    first.until_said("leading", 30).await;
    let mut second = Operator::start(&ground, "second").await;
    second.until_said("waiting to lead", 30).await;
    let work = tokio::spawn(work(ground.clone()));
    sleep(Duration::from_secs(4)).await;
    assert_eq!(second.said("leading"), [""; 0]);

    let start = Instant::now();
    first.signal("TERM");
    second.until_said("leading", 20).await;
    let handed = start.elapsed();
    // As client-go does, it looks again after 2 seconds, and up to 1.2 times that later.
    assert!(handed < Duration::from_secs(5), "handed over after {handed:?}");
    assert!(first.ended(5).await.success(), "{}", first.log());

    let third = Operator::start(&ground, "third").await;
    third.until_said("waiting to lead", 30).await;
    sleep(Duration::from_secs(4)).await;
    assert_eq!(third.said("leading"), [""; 0]);
    let start = Instant::now();
    second.signal("KILL");
    second.ended(5).await;
    third.until_said("leading", 30).await;
    let taken = start.elapsed();
    // 15 seconds of the Lease, from when the third has seen it renewed; it looks every 2 to 4.4 seconds.
    let lease = Duration::from_secs(8)..Duration::from_secs(21);
    assert!(lease.contains(&taken), "taken over after {taken:?}");
    sleep(Duration::from_secs(3)).await;
    work.abort();
    println!(
        "handed over after {:.2} s, taken over after {:.2} s",
        handed.as_secs_f64(),
        taken.as_secs_f64()
    );

    let terms = terms(&ground);
    assert_eq!(terms.len(), 3, "each of the three has written: {terms:?}");
    let overlap = terms.windows(2).find(|it| it[0].last >= it[1].first);
    assert!(overlap.is_none(), "two have written at once: {overlap:?}");
    assert!(terms.iter().all(|it| it.writes > 3), "{terms:?}");
    third.stop().await;
}

/// Changes what is asked for, all the time.
async fn work(ground: Arc<Ground>) {
    for round in 0.. {
        let name = format!("m{}", round % 10);
        let mut object = ground.memcached_of(&name, 1 + round % 3);
        object["metadata"]["labels"] = json!({ "round": round.to_string() });
        ground.server.apply(&object).await;
        sleep(Duration::from_millis(100)).await;
    }
}

#[derive(Debug)]
struct Term {
    first: String,
    last: String,
    writes: usize,
}

/// From when to when each replica has written: each has a token of its own, which the audit log names.
fn terms(ground: &Ground) -> Vec<Term> {
    let mut res = BTreeMap::<String, Term>::new();
    for call in ground.calls() {
        let is_write = ["create", "update", "patch", "delete"].iter().any(|it| call["verb"] == *it);
        if !is_write || call["objectRef"]["resource"] == "leases" {
            continue;
        }
        let word = |it: &Value| it.as_str().expect("the log has it").to_owned();
        let who = word(&call["user"]["extra"]["authentication.kubernetes.io/credential-id"][0]);
        let (first, last) =
            (word(&call["requestReceivedTimestamp"]), word(&call["stageTimestamp"]));
        let new = Term { first: first.clone(), last: last.clone(), writes: 0 };
        let term = res.entry(who).or_insert(new);
        // Of one form and one zone, so that they sort as text.
        term.first = first.min(term.first.clone());
        term.last = last.max(term.last.clone());
        term.writes += 1;
    }
    let mut res: Vec<Term> = res.into_values().collect();
    res.sort_by(|one, other| one.first.cmp(&other.first));
    res
}
