//! Text that has to be UTF-8.

/// Returns the text of a file, or a message that gives the location of the first byte that is not UTF-8, and what to
/// do.
pub fn utf8_text(bytes: &[u8]) -> Result<&str, String> {
    utf8_or_position(bytes).map_err(|(line, byte)| {
        format!("line {line}, byte {byte} is not UTF-8: save the file in UTF-8")
    })
}

/// Returns the text, or the line and the byte in this line (both counted from 1) at which it stops being UTF-8.
pub fn utf8_or_position(bytes: &[u8]) -> Result<&str, (usize, usize)> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let byte = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        (line, byte)
    })
}

#[test]
fn the_first_byte_that_is_not_utf8_is_named() {
    let message = "line 2, byte 3 is not UTF-8: save the file in UTF-8";
    assert_eq!(utf8_text(b"a\nbc\xff"), Err(message.to_owned()));
    assert_eq!(utf8_text("é".as_bytes()), Ok("é"));
}
