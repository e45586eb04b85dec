//! Any bytes as a stream of server-sent events, cut anywhere: the events are the same wherever it is cut, and none is
//! longer than the stream.
#![no_main]

#[path = "../../crates/longhaul-client/src/chat/sse.rs"]
mod sse;

use libfuzzer_sys::fuzz_target;
use sse::{SseEvent, SseReader};

fuzz_target!(|bytes: &[u8]| {
    let Some((size, stream)) = bytes.split_first() else { return };
    let read = |size: usize| -> Vec<SseEvent> {
        let mut reader = SseReader::new(1 << 20);
        stream.chunks(size.max(1)).flat_map(|piece| reader.feed(piece).expect("it is short enough")).collect()
    };
    let whole = read(stream.len());
    assert_eq!(whole, read(usize::from(*size)), "it does not matter where the bytes are cut");
    // What is no UTF-8 becomes three bytes for one.
    let told: usize = whole.iter().map(|event| event.data.len() + event.name.len()).sum();
    assert!(told <= 3 * stream.len());
    assert!(SseReader::new(stream.len() / 2).feed(stream).is_err() || stream.len() < 2);
});
