//! Which share of the facts a reader of the compacted history still sees.

use std::collections::BTreeMap;

use longhaul_extract::{Domain, Fact, FactClass, FactIndex, Visible};
use longhaul_transcript::{Entry, Survival};

/// Returns, by class, how many facts of `index` are visible in the summary's `text` and the messages of the tail.
///
/// `touched` counts across the classes: the facts that the user or the assistant used, which later work needs most.
pub(crate) fn of(index: &FactIndex, text: &str, tail: &[Entry]) -> BTreeMap<String, Survival> {
    let mut visible = Visible::new(index.domain() == Domain::Talk);
    visible.read(text);
    tail.iter().for_each(|entry| visible.read_message(&entry.message));
    let mut survival: BTreeMap<String, Survival> = BTreeMap::new();
    for (fact, kept) in seen(index, &visible) {
        let touched = (!fact.is_untouched()).then_some("touched");
        for class in [Some(fact.class().as_str()), touched].into_iter().flatten() {
            let count = survival.entry(class.to_owned()).or_default();
            count.total += 1;
            count.kept += u64::from(kept);
        }
    }
    survival
}

/// Returns the facts that need keeping, and whether `visible` shows each.
pub(crate) fn seen<'a>(index: &'a FactIndex, visible: &'a Visible) -> impl Iterator<Item = (&'a Fact, bool)> {
    let needing = index.facts().iter().filter(|fact| !fact.standing);
    needing.map(|fact| match fact.class() {
        FactClass::Path => (fact, visible.has_path(&fact.name)),
        _ => (fact, visible.has(&fact.name)),
    })
}
