//! The creation time of a bundle. It is given by the caller: this room has no clock.

/// Converts the seconds since 1970 in SOURCE_DATE_EPOCH to RFC 3339.
pub fn created_at(epoch: &str) -> anyhow::Result<String> {
    let time = epoch.trim().parse().ok().and_then(|it| jiff::Timestamp::from_second(it).ok());
    let Some(time) = time else {
        anyhow::bail!("SOURCE_DATE_EPOCH must be a number of seconds since 1970, not `{epoch}`");
    };
    Ok(time.to_string())
}

#[test]
fn a_count_of_seconds_is_a_time() {
    assert_eq!(created_at("1700000000").expect("a time"), "2023-11-14T22:13:20Z");
    assert!(created_at("yesterday").is_err());
}
