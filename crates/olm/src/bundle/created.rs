//! The creation time of a bundle. The caller passes it: this module reads no clock.

/// Converts the seconds since 1970 in SOURCE_DATE_EPOCH to RFC 3339.
pub fn created_at(epoch: &str) -> anyhow::Result<String> {
    let Ok(seconds) = epoch.trim().parse() else {
        anyhow::bail!("SOURCE_DATE_EPOCH must be a number of seconds since 1970, not `{epoch}`");
    };
    match jiff::Timestamp::from_second(seconds) {
        Ok(time) => Ok(time.to_string()),
        Err(_) => anyhow::bail!(
            "SOURCE_DATE_EPOCH must be between {} and {}, which is {}: it is `{epoch}`",
            jiff::Timestamp::MIN.as_second(),
            jiff::Timestamp::MAX.as_second(),
            jiff::Timestamp::MAX.strftime("%Y-%m-%d"),
        ),
    }
}

#[test]
fn seconds_since_1970_are_a_time() {
    assert_eq!(created_at("1700000000").expect("a time"), "2023-11-14T22:13:20Z");
    assert!(created_at("yesterday").is_err());
    assert!(created_at("253402207200").is_ok());
    let error = created_at("253402300799").expect_err("it is too late").to_string();
    assert!(
        error.ends_with("and 253402207200, which is 9999-12-30: it is `253402300799`"),
        "{error}"
    );
}
