//! One step into a value, whose parts stay as they are spelled.

use std::{borrow::Cow, fmt, ops::Range};

use serde::{
    Deserializer as _,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// Hands over each field of an object; returns whether it is one to its end.
pub(super) fn each_field<'a>(object: &'a RawValue, take: impl FnMut(&str, &'a RawValue)) -> bool {
    struct Fields<F>(F);
    impl<'de, F: FnMut(&str, &'de RawValue)> Visitor<'de> for Fields<F> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
            while let Some((key, field)) = fields.next_entry::<Cow<'de, str>, &'de RawValue>()? {
                (self.0)(&key, field);
            }
            Ok(())
        }
    }
    object.deserialize_map(Fields(take)).is_ok()
}

/// Returns where `part`, a slice of `text`, stands in it.
pub(super) fn span_of(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}
