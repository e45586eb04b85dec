//! What a person copies out of the answer before, and then speaks of: "…this is not fully true, it would only…". The words that are their
//! own stand behind it.

use longhaul_transcript::Message;

/// Returns the words of `text` that are the person's own: the paragraphs it begins with stand in what the model said `before`. All of
/// it where nothing else is said.
pub(super) fn own<'t>(text: &'t str, before: Option<&Message>) -> &'t str {
    let Some((first, _)) = text.split_once(PARAGRAPH) else { return text };
    let Some(before) = before.filter(|_| first.len() >= LEAST) else { return text };
    let said = before.texts().map(bare).collect::<Vec<_>>().join("\n");
    let mut own = text;
    while let Some((paragraph, rest)) = own.split_once(PARAGRAPH) {
        if paragraph.len() < LEAST || rest.trim().is_empty() || !said.contains(&bare(paragraph)) {
            break;
        }
        own = rest.trim_start();
    }
    own
}

/// Returns the letters and digits of `text`: what is copied off a screen has no Markdown in it, and other line breaks.
fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

const PARAGRAPH: &str = "\n\n";

/// Bytes of the shortest paragraph that nobody says twice by chance.
const LEAST: usize = 40;

#[cfg(test)]
mod tests {
    use longhaul_transcript::Message;

    use super::own;

    const ANSWER: &str = "### Suffixes\n\nThe **suffix** approach solves this: session B would create `-2`.\n\n\
                          The rest stays as it is, and nothing has to be moved.";
    const COPIED: &str = "The suffix approach solves this: session B would\ncreate -2.";
    const REPLY: &str = "this is not fully true, it would only create -2 if files change";

    fn own_of(text: &str) -> String {
        own(text, Some(&Message::assistant(ANSWER))).to_owned()
    }

    #[test]
    fn what_is_copied_from_the_answer_is_not_the_persons_own() {
        assert_eq!(own_of(&format!("{COPIED}\n\n{REPLY}")), REPLY);
        let both = format!("{COPIED}\n\nThe rest stays as it is, and nothing has to be moved.\n\n{REPLY}");
        assert_eq!(own_of(&both), REPLY);
    }

    /// What nobody answers, what is said in other words, and what is said first are the person's.
    #[test]
    fn what_only_looks_copied_is_the_persons_own() {
        for whole in [
            COPIED.to_owned(),
            format!("{COPIED}\n\n"),
            format!("The suffix approach solves nothing at all, not even this.\n\n{REPLY}"),
            format!("{REPLY}\n\n{COPIED}"),
            format!("### Suffixes\n\n{REPLY}"),
        ] {
            assert_eq!(own_of(&whole), whole);
        }
        let both = format!("{COPIED}\n\n{REPLY}");
        assert_eq!(own(&both, None), both);
    }
}
