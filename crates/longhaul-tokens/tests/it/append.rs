//! A text that grows counts what it would count at once.

use longhaul_tokens::{AppendCounter, Bpe, Encoding};
use proptest::prelude::*;

use crate::reference::structured;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn additions_count_as_the_whole(parts in prop::collection::vec(structured(), 0..12), cut in 1usize..40) {
        let text = parts.concat();
        for encoding in Encoding::ALL {
            let Some(bpe) = Bpe::new(*encoding) else { continue };
            let mut growing = AppendCounter::new(bpe);
            let mut rest = text.as_str();
            while !rest.is_empty() {
                let end = rest.ceil_char_boundary(cut.min(rest.len()));
                growing.push(&rest[..end]);
                rest = &rest[end..];
            }
            prop_assert_eq!(growing.count(), bpe.count(&text), "{} {:?}", encoding, text);
        }
    }
}

#[test]
fn a_word_without_end_is_counted_too() {
    let bpe = Bpe::new(Encoding::O200kBase).unwrap();
    let mut growing = AppendCounter::new(bpe);
    for _ in 0..2_000 {
        growing.push("wordwithoutend");
    }
    assert_eq!(growing.count(), bpe.count(&"wordwithoutend".repeat(2_000)));
}
