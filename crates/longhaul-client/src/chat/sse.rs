//! Server-sent events, as the WHATWG's HTML standard (section 9.2) defines their reading.

use longhaul_summarize::ClientError;

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SseEvent {
    /// Its type; empty for an ordinary one.
    pub(super) name: String,
    /// Its data, lines joined.
    pub(super) data: String,
}

/// Puts events together from bytes, wherever these are cut. An event counts once the blank line behind it is there.
#[derive(Debug)]
pub(super) struct SseReader {
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    /// The last byte was a carriage return: a line feed behind it belongs to the same line end.
    after_return: bool,
    is_first_line: bool,
    read: usize,
    limit: usize,
}

impl SseReader {
    /// Returns a reader of streams of up to `limit` bytes.
    pub(super) fn new(limit: usize) -> SseReader {
        SseReader {
            line: Vec::new(),
            event: SseEvent::default(),
            has_data: false,
            after_return: false,
            is_first_line: true,
            read: 0,
            limit,
        }
    }

    /// Takes the next bytes and returns the events that they complete.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, ClientError> {
        self.read = self.read.saturating_add(bytes.len());
        if self.read > self.limit {
            return Err(ClientError::InvalidResponse {
                reason: format!("a stream of more than {} bytes", self.limit),
            });
        }
        let mut events = Vec::new();
        for byte in bytes {
            let is_rest_of_line_end = std::mem::take(&mut self.after_return) && *byte == b'\n';
            match byte {
                b'\n' if is_rest_of_line_end => {}
                b'\n' => events.extend(self.end_line()),
                b'\r' => {
                    self.after_return = true;
                    events.extend(self.end_line());
                }
                byte => self.line.push(*byte),
            }
        }
        Ok(events)
    }

    /// Reads the line that just ended. Returns the event that it completes.
    fn end_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = match std::mem::take(&mut self.is_first_line) {
            true => line.trim_start_matches('\u{feff}'),
            false => &*line,
        };
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
                self.has_data = true;
            }
            "event" => self.event.name = value.to_owned(),
            // A comment, an id, a time to wait: nothing that an answer is made of.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<SseEvent> {
        let mut reader = SseReader::new(1 << 20);
        pieces.iter().flat_map(|piece| reader.feed(piece).unwrap()).collect()
    }

    fn event(name: &str, data: &str) -> SseEvent {
        SseEvent { name: name.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn line_ends_comments_and_fields_of_every_kind() {
        let stream = "\u{feff}: hello\ndata: a\r\ndata:b\rdata\n\nevent: x\r\ndata:  c\r\n\r\nid: 7\nretry: 10\n\ndata: d\n";
        // The last event has no blank line behind it: it never was whole.
        assert_eq!(read(&[stream.as_bytes()]), [event("", "a\nb\n"), event("x", " c")]);
    }

    #[test]
    fn a_stream_without_end_is_cut() {
        let mut reader = SseReader::new(10);
        assert!(reader.feed(b"data: 123").unwrap().is_empty());
        assert!(reader.feed(b"45").is_err());
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_the_bytes_are_cut(
            lines in prop::collection::vec("(data|event|id|:|)(:? ?[a-zé\u{1f600} ]{0,6})(\n|\r|\r\n)", 0..20), cut in any::<prop::sample::Index>(),
        ) {
            let stream = lines.concat().into_bytes();
            let whole = read(&[&stream]);
            let single: Vec<&[u8]> = stream.chunks(1).collect();
            prop_assert_eq!(&read(&single), &whole);
            let (left, right) = stream.split_at(cut.index(stream.len() + 1));
            prop_assert_eq!(&read(&[left, right]), &whole);
        }
    }
}
