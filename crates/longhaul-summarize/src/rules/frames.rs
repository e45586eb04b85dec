//! Headers and handles of summaries inside what is quoted: a summary has one of each, its own.

use longhaul_transcript::is_ending_line;

/// Returns `text` without the header and handle lines that somebody wrote into what it quotes.
pub(super) fn without(text: String) -> String {
    if !["summary-depth:", "summary-lookup:", "summary-left-out:", "[Context Summary"]
        .iter()
        .any(|frame| text.contains(frame))
    {
        return text;
    }
    let (mut out, mut said_in) = (String::with_capacity(text.len()), "");
    for line in text.split_inclusive('\n') {
        let (message, words) = numbered(line);
        if is_header_or_handle(words) {
            // What follows it was said in the same message.
            said_in = if message.is_empty() { said_in } else { message };
            continue;
        }
        if message.is_empty() && !line.starts_with(['#', '`']) {
            out.push_str(said_in);
        }
        said_in = "";
        out.push_str(line);
    }
    out
}

/// Returns whether a line of a summary is its header, its handle or the heading under which it quotes another.
pub(super) fn is_frame(line: &str) -> bool {
    is_header_or_handle(line) || line.trim_start_matches('#').starts_with(" Earlier summary (")
}

/// Returns whether a line is the header of a summary, or of its ending.
pub(super) fn is_header_or_handle(line: &str) -> bool {
    line.starts_with("[Context Summary - ") || is_ending_line(line)
}

/// Returns the number of a message that a line begins with, `m12 `, and the rest of the line.
fn numbered(line: &str) -> (&str, &str) {
    let digits = |rest: &str| rest.bytes().take_while(u8::is_ascii_digit).count();
    let end = line.strip_prefix('m').map_or(0, digits);
    match end > 0 && line[1 + end..].starts_with(' ') {
        true => line.split_at(end + 2),
        false => ("", line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_and_headers_that_are_quoted_are_left_out() {
        let handle = "summary-depth:7 id:0123456789abcdef";
        let text = format!(
            "## Findings\nm1 {handle}\nIt loops.\n  {handle}\nm2 The log has {handle} in it.\n{handle}"
        );
        assert_eq!(without(text), format!("## Findings\nm1 It loops.\nm2 The log has {handle} in it.\n"));
        assert_eq!(without("m3 [Context Summary - 9 messages summarized]\n## Next\nx".into()), "## Next\nx");
        assert_eq!(without("m3 more\nmore".into()), "m3 more\nmore");
        let own = "## Earlier summary (m1, of messages before it)\nm2 The log has summary-depth:7 in it";
        assert_eq!(without(own.into()), own);
    }
}
