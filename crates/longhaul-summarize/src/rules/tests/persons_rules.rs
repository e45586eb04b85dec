//! What a person forbids and allows is told in their words, also where there is little room.

use super::draft;

/// A ban, much else that the person wants, and what may lift the ban.
fn session(ban: &str, by: &str) -> String {
    let wishes: String = (0..40)
        .map(|n| format!("user: Please make sure that page {n} of the guide names the option relay-{n}.\nassistant: Page {n} names it.\n"))
        .collect();
    format!(
        "user: Port the relay. {ban}\nassistant: Understood.\n{wishes}user: {by}\nassistant: Noted.\n{wishes}user: And now?\nassistant: Going on.\n"
    )
}

#[test]
fn what_may_lift_a_ban_is_told_beside_it_in_little_room() {
    for (ban, by) in [
        ("Never push to the remote.", "You may push from here on."),
        ("Never expose the admin port.", "You can now expose the metrics port, the admin port stays closed."),
        ("Never touch the ledger.", "Forget what I said about the ledger, it is fine to touch it."),
    ] {
        for limit in [250, 600, 1500] {
            let text = draft(&session(ban, by), limit).text;
            assert!(text.contains(by), "{limit}: {by} in\n{text}");
            let is_linked = text.contains("(later on this: m82)") || text.contains("(taken back in m82)");
            assert!(!text.contains(&format!("- m0: {ban}")) || is_linked, "{limit}: {by} in\n{text}");
        }
    }
}
