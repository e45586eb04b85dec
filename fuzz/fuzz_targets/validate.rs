//! Any bytes under the rules of every provider, and under the strictest profile: judged or refused, and a stricter profile
//! never finds less.
#![no_main]

use libfuzzer_sys::fuzz_target;
use longhaul_wire::{Format, Profile, validate};

fuzz_target!(|bytes: &[u8]| {
    let mut strict = Profile::default();
    strict.needs_reasoning_content = true;
    strict.keeps_adjacent = true;
    strict.alternates = true;
    strict.needs_thought_signature = true;
    strict.is_stateless = true;
    (strict.max_image_chars, strict.max_media, strict.max_string_chars) = (16, 1, 64);
    for format in Format::ALL {
        let loose = validate(bytes, format, &Profile::default());
        let judged = validate(bytes, format, &strict);
        assert_eq!(loose.is_ok(), judged.is_ok(), "what can be judged does not depend on how strictly");
        if let (Ok(loose), Ok(judged)) = (loose, judged) {
            assert!(loose.len() <= judged.len(), "{format}: {loose:?} {judged:?}");
        }
    }
});
