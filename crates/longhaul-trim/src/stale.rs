//! What a later call has made stale.

use std::collections::{BTreeSet, HashMap};

use longhaul_transcript::{Entry, Part};

/// Returns the ordinals of messages with a call that a later message repeats, name and arguments alike: the same file
/// read again, the same command run again. The last one stays.
///
/// This sees identical calls only; that a file was *edited* since it was read is for a layer that reads paths
/// (`longhaul-extract`).
pub fn repeated_calls(entries: &[Entry]) -> BTreeSet<u64> {
    let mut last: HashMap<(&str, &str), u64> = HashMap::new();
    let mut repeated = BTreeSet::new();
    for entry in entries {
        for part in &entry.message.parts {
            let Part::ToolCall(call) = part else { continue };
            if let Some(earlier) = last.insert((&call.name, &call.arguments.0), entry.id.ordinal)
                && earlier != entry.id.ordinal
            {
                repeated.insert(earlier);
            }
        }
    }
    repeated
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_testkit::transcript;

    #[test]
    fn the_last_of_equal_calls_stays() {
        let transcript = transcript(
            "assistant: !read#1 {\"p\":\"a\"}\ntool#1: x\nassistant: !read#2 {\"p\":\"b\"}\ntool#2: x\nassistant: !read#3 {\"p\":\"a\"}\ntool#3: x",
        );
        assert_eq!(repeated_calls(transcript.entries()), [0].into());
    }
}
