use super::*;
use crate::metrics::Metrics;

fn queue(min_interval: Duration) -> Arc<FairQueue> {
    let queue = FairQueue::with_metrics(min_interval, Metrics::default().controller("a"));
    queue.open();
    queue
}

fn is_empty(queue: &FairQueue) -> bool {
    lock(&queue.state).waiting.iter().all(BTreeSet::is_empty)
}

#[tokio::test(start_paused = true)]
async fn the_first_event_of_a_burst_is_due_at_once_and_the_others_after_the_pause_that_is_set() {
    for min_interval in [Duration::ZERO, Duration::from_secs(7)] {
        let queue = queue(min_interval);
        let start = Instant::now();
        (0..10).for_each(|_| queue.add("n/a"));
        assert_eq!((&*queue.next().await, start.elapsed()), ("n/a", Duration::ZERO));
        queue.done("n/a".into(), None);
        assert!(is_empty(&queue), "one reconcile");
        (0..10).for_each(|_| queue.add("n/a"));
        assert_eq!((&*queue.next().await, start.elapsed()), ("n/a", min_interval));
        queue.done("n/a".into(), None);
        assert!(is_empty(&queue), "one reconcile");
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_does_not_wait_for_the_pause_of_another() {
    let queue = queue(Duration::from_secs(7));
    let start = Instant::now();
    queue.add("n/a");
    queue.done(queue.next().await, None);
    queue.add("n/a");
    let (_, waited) = tokio::join!(
        async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            queue.add("n/b");
        },
        async {
            assert_eq!((&*queue.next().await, start.elapsed().as_secs()), ("n/b", 1));
            (&*queue.next().await == "n/a", start.elapsed().as_secs())
        }
    );
    assert_eq!(waited, (true, 7));
}

#[tokio::test(start_paused = true)]
async fn steady_events_reconcile_an_object_once_in_each_pause() {
    let queue = queue(Duration::from_secs(1));
    let taken = async {
        for _ in 0..5 {
            queue.done(queue.next().await, None);
        }
    };
    let start = Instant::now();
    let events = async {
        loop {
            queue.add("n/a");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! { () = taken => {}, () = events => {} }
    assert_eq!(start.elapsed().as_secs(), 4);
}

#[tokio::test(start_paused = true)]
async fn an_event_during_a_reconcile_leads_to_another_one_after_it() {
    let (queue, start) = (queue(Duration::from_secs(1)), Instant::now());
    queue.add("n/a");
    let key = queue.next().await;
    queue.add("n/a");
    let another = tokio::time::timeout(Duration::from_secs(5), queue.next()).await;
    assert!(another.is_err(), "by one worker at a time");
    queue.done(key, Some(Duration::from_secs(60)));
    assert_eq!((&*queue.next().await, start.elapsed().as_secs()), ("n/a", 5));
    assert!(is_empty(&queue), "it includes the retry");
}

#[tokio::test(start_paused = true)]
async fn an_event_comes_before_a_retry_and_includes_it() {
    let (queue, start) = (queue(Duration::ZERO), Instant::now());
    queue.add("n/a");
    queue.done(queue.next().await, Some(Duration::from_secs(60)));
    queue.add("n/a");
    queue.done(queue.next().await, Some(Duration::from_secs(9)));
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!((&*queue.next().await, start.elapsed().as_secs()), ("n/a", 9));
    queue.done("n/a".into(), Some(Duration::MAX));
    assert!(is_empty(&queue), "never");
}

#[tokio::test(start_paused = true)]
async fn nobody_starves_however_much_is_due() {
    let [changing, failing] = turns_of_keys(FairQueue::add).await;
    assert!(changing >= 90 && failing >= 90, "of 100: {changing} and {failing}");
    // The failing keys share every fourth turn, so each gets more turns than a key that changes all the time.
    let [changing, failing] = turns_of_keys(FairQueue::add_change).await;
    assert!(changing >= 85 && failing >= 160, "of 88 and 166: {changing} and {failing}");
}

/// The least turns of a key whose object changes all the time, and of one that fails each time, of 6000 for 60
/// keys.
async fn turns_of_keys(add: fn(&FairQueue, &str)) -> [usize; 2] {
    let queue = queue(Duration::from_millis(100));
    let names: Vec<_> = (0..60).map(|number| format!("n/{number}")).collect();
    let mut turns = HashMap::<Arc<str>, usize>::new();
    for turn in 0..6000 {
        // An event for each object again and again; every seventh fails each time, and has no events.
        for (number, name) in names.iter().enumerate() {
            if turn == 0 || !number.is_multiple_of(7) {
                add(&queue, name);
            }
        }
        let key = queue.next().await;
        tokio::time::advance(Duration::from_millis(10)).await;
        *turns.entry(key.clone()).or_default() += 1;
        let number: usize = key[2..].parse().unwrap();
        queue.done(key, number.is_multiple_of(7).then_some(Duration::from_millis(5)));
    }
    let fails = |key: &str| key[2..].parse::<usize>().is_ok_and(|number| number.is_multiple_of(7));
    let least = |is_failing| turns.iter().filter(|(key, _)| fails(key) == is_failing).map(|(_, turns)| *turns).min();
    assert_eq!(turns.len(), 60);
    [least(false).unwrap(), least(true).unwrap()]
}

#[tokio::test(start_paused = true)]
async fn changes_come_first_and_the_rest_gets_every_fourth_turn() {
    let queue = queue(Duration::ZERO);
    (0..3).for_each(|number| queue.add(&format!("rest/{number}")));
    (0..7).for_each(|number| queue.add_change(&format!("change/{number}")));
    let mut turns = vec![];
    for _ in 0..10 {
        let key = queue.next().await;
        turns.push(key.to_string());
        queue.done(key, None);
    }
    let expected = [
        "change/0", "change/1", "change/2", "rest/0", "change/3", "change/4", "change/5", "rest/1", "change/6",
        "rest/2",
    ];
    assert_eq!(turns, expected);
}

#[tokio::test(start_paused = true)]
async fn a_change_of_a_key_that_waits_for_another_reason_moves_it_forward_and_is_one_reconcile() {
    let (queue, start) = (queue(Duration::ZERO), Instant::now());
    queue.add("n/b");
    queue.add("n/a");
    queue.add_change("n/a");
    queue.add("n/a");
    assert_eq!(&*queue.next().await, "n/a");
    // Also during a reconcile, and with a retry.
    queue.add("n/a");
    queue.add_change("n/a");
    queue.done("n/a".into(), Some(Duration::ZERO));
    assert_eq!(&*queue.next().await, "n/a");
    queue.done("n/a".into(), Some(Duration::from_secs(60)));
    assert_eq!(&*queue.next().await, "n/b");
    queue.done("n/b".into(), None);
    queue.add_change("n/a");
    assert_eq!((&*queue.next().await, start.elapsed()), ("n/a", Duration::ZERO), "the retry is included");
    queue.done("n/a".into(), None);
    assert!(is_empty(&queue), "one reconcile");
}

#[tokio::test(start_paused = true)]
async fn what_is_remembered_of_reconciles_has_a_bound() {
    let queue = queue(Duration::from_secs(1));
    for number in 0..100 {
        queue.add(&format!("n/{number}"));
        queue.done(queue.next().await, None);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let state = lock(&queue.state);
    assert!(state.began.len() <= 11 && state.order.len() <= 11, "{}", state.began.len());
}

#[test]
fn a_standby_collects_nothing() {
    let queue = FairQueue::with_metrics(Duration::ZERO, Metrics::default().controller("a"));
    queue.add("n/a");
    assert!(lock(&queue.state).since.is_empty());
    queue.open();
    queue.add("n/a");
    assert_eq!(lock(&queue.state).since.len(), 1);
}
