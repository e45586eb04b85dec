//! Frames: events that add originals, one behind the other in a chunk of bytes, each with its contents.
//!
//! ```text
//! chunk     frame* zeros end                             end: eight bytes, so that a page of another file is seen
//! frame     length u32, its complement u32, event        never all zeros, however one bit is flipped
//! event     version u32, seq u64, at_ms i64, prev_hash 32, hash 32, start u64, content*
//! content   address 32, length u32, bytes as the codec keeps them; with the highest bit of the length set, what is kept
//!           beside the original before
//! ```
//!
//! All numbers are little-endian. What cannot be a frame is damage, not an end: a record must not vanish unseen.

use longhaul_transcript::ContentHash;

use crate::{Event, EventKind};

/// An event that adds originals, with their contents as they are kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    pub(super) event: Event,
    /// The ordinal of the first original.
    pub(super) start: u64,
    pub(super) contents: Vec<(ContentHash, &'a [u8])>,
    /// What is kept beside each original; as many as there are contents, or none at all.
    pub(super) spellings: Vec<Option<(ContentHash, &'a [u8])>>,
}

/// Where something stands that is no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;

/// An original as it is kept, and what is kept beside it.
pub(super) type Content<'a> = ((ContentHash, &'a [u8]), Option<(ContentHash, &'a [u8])>);

/// Reads the frames of a chunk, in order.
#[derive(Debug)]
pub(super) struct Frames<'a> {
    chunk: &'a [u8],
    at: usize,
}

impl<'a> Frames<'a> {
    pub(super) fn of(chunk: &'a [u8]) -> Frames<'a> {
        Frames { chunk, at: 0 }
    }

    /// Returns where the next frame begins, or would begin.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    fn read(&mut self) -> Result<Option<Frame<'a>>, Broken> {
        let room = self.chunk.strip_suffix(END).ok_or(Broken)?;
        let rest = room.get(self.at..).ok_or(Broken)?;
        if rest.iter().take(PREFIX).all(|byte| *byte == 0) {
            return if rest.iter().all(|byte| *byte == 0) { Ok(None) } else { Err(Broken) };
        }
        let mut bytes = Bytes(rest);
        let length = u32::from_le_bytes(bytes.take()?);
        if u32::from_le_bytes(bytes.take()?) != !length {
            return Err(Broken);
        }
        let event = bytes.slice(length as usize)?;
        let frame = read_event(Bytes(event))?;
        self.at += PREFIX + event.len();
        Ok(Some(frame))
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>, Broken>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read();
        if read.is_err() {
            // Nothing behind it can be told apart. The next read is the end.
            (self.chunk, self.at) = (END, 0);
        }
        read.transpose()
    }
}

/// Returns the frame of an event that adds originals from `start` on.
pub(super) fn encode<'a>(event: &Event, start: u64, contents: impl Iterator<Item = Content<'a>>) -> Vec<u8> {
    let mut frame = vec![0; PREFIX];
    frame.extend(event.version.to_le_bytes());
    frame.extend(event.seq.to_le_bytes());
    frame.extend(event.at_ms.to_le_bytes());
    frame.extend(event.prev_hash.0);
    frame.extend(event.hash.0);
    frame.extend(start.to_le_bytes());
    for (content, spelling) in contents {
        for ((address, bytes), mark) in [(Some(content), 0), (spelling, BESIDE)]
            .into_iter()
            .filter_map(|(kept, mark)| Some((kept?, mark)))
        {
            frame.extend(address.0);
            frame.extend((bytes.len() as u32 | mark).to_le_bytes());
            frame.extend(bytes);
        }
    }
    let length = (frame.len() - PREFIX) as u32;
    frame[..4].copy_from_slice(&length.to_le_bytes());
    frame[4..PREFIX].copy_from_slice(&(!length).to_le_bytes());
    frame
}

/// Returns an empty chunk for at least `frame` bytes.
pub(super) fn chunk(capacity: usize, frame: &[u8]) -> Vec<u8> {
    let mut chunk = frame.to_vec();
    chunk.resize(capacity.max(frame.len() + END.len()) - END.len(), 0);
    chunk.extend(END);
    chunk
}

/// Returns how many bytes of frames a chunk of `size` bytes takes.
pub(super) fn room(size: usize) -> usize {
    size.saturating_sub(END.len())
}

fn read_event(mut bytes: Bytes<'_>) -> Result<Frame<'_>, Broken> {
    let version = u32::from_le_bytes(bytes.take()?);
    let seq = u64::from_le_bytes(bytes.take()?);
    let at_ms = i64::from_le_bytes(bytes.take()?);
    let (prev_hash, hash) = (ContentHash(bytes.take()?), ContentHash(bytes.take()?));
    let start = u64::from_le_bytes(bytes.take()?);
    let (mut contents, mut spellings) = (Vec::new(), Vec::new());
    while !bytes.0.is_empty() {
        let address = ContentHash(bytes.take()?);
        let length = u32::from_le_bytes(bytes.take()?);
        let kept = (address, bytes.slice((length & !BESIDE) as usize)?);
        match length & BESIDE {
            0 => contents.push(kept),
            _ => {
                let beside = contents.len().checked_sub(1).ok_or(Broken)?;
                spellings.resize(beside, None);
                spellings.push(Some(kept));
            }
        }
    }
    if !spellings.is_empty() {
        spellings.resize(contents.len(), None);
    }
    let addresses = contents.iter().map(|(address, _)| *address).collect();
    let beside = spellings.iter().map(|spelling| spelling.map(|(address, _)| address)).collect();
    let kind = EventKind::Originals { start, addresses, spellings: beside };
    Ok(Frame { event: Event { version, seq, at_ms, prev_hash, hash, kind }, start, contents, spellings })
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn slice(&mut self, length: usize) -> Result<&'a [u8], Broken> {
        let (slice, rest) = self.0.split_at_checked(length).ok_or(Broken)?;
        self.0 = rest;
        Ok(slice)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        self.slice(N)?.try_into().map_err(|_| Broken)
    }
}

/// What stands before each frame: its length and the complement, in bytes.
const PREFIX: usize = 8;

/// Marks, in a length, what is kept beside an original. No content of two gigabytes comes here: larger ones are rows.
const BESIDE: u32 = 1 << 31;

/// What each chunk ends in.
const END: &[u8] = b"LHtail.\n";

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_transcript::SessionId;

    /// Returns an event and its frame; what stands behind a `|` is kept beside the original.
    fn frame(seq: u64, contents: &[&'static str]) -> (Event, Vec<u8>) {
        let kept = |text: &'static str| (ContentHash::of(text.as_bytes()), text.as_bytes());
        let contents: Vec<Content<'_>> = contents
            .iter()
            .map(|text| {
                text.split_once('|')
                    .map_or((kept(text), None), |(text, beside)| (kept(text), Some(kept(beside))))
            })
            .collect();
        let addresses = contents.iter().map(|(content, _)| content.0).collect();
        let is_spelled = contents.iter().any(|(_, beside)| beside.is_some());
        let spellings =
            contents.iter().filter(|_| is_spelled).map(|(_, beside)| beside.map(|beside| beside.0)).collect();
        let kind = EventKind::Originals { start: 3, addresses, spellings };
        let event = Event::seal(&SessionId::new("s").unwrap(), seq, ContentHash::of(b"x"), 5, kind);
        let bytes = encode(&event, 3, contents.into_iter());
        (event, bytes)
    }

    #[test]
    fn frames_are_read_as_they_were_written() {
        let ((first, one), (second, two)) = (frame(7, &["a", "", "bc|raw", "e"]), frame(8, &["d"]));
        let body = chunk(1_000, &[one, two].concat());
        assert_eq!(body.len(), 1_000);
        let mut frames = Frames::of(&body);
        let read: Vec<_> = frames.by_ref().map(Result::unwrap).collect();
        assert_eq!([&read[0].event, &read[1].event], [&first, &second]);
        assert_eq!(
            read[0].contents.iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>(),
            [&b"a"[..], b"", b"bc", b"e"]
        );
        let beside: Vec<_> = read[0].spellings.iter().map(|beside| beside.map(|(_, bytes)| bytes)).collect();
        assert_eq!(beside, [None, None, Some(&b"raw"[..]), None]);
        assert!(frames.at() <= room(body.len()));
        let filled = chunk(frames.at(), &body[..frames.at()]);
        assert_eq!(Frames::of(&filled).count(), 2, "a chunk may be full");
    }

    #[test]
    fn no_flipped_bit_makes_a_frame_vanish() {
        let body = chunk(400, &frame(7, &["a|raw", "bc"]).1);
        let session = SessionId::new("s").unwrap();
        for bit in 0..body.len() * 8 {
            let mut body = body.clone();
            body[bit / 8] ^= 1 << (bit % 8);
            let frames: Vec<_> = Frames::of(&body).collect();
            let is_seen = match frames.as_slice() {
                [Ok(frame)] => {
                    let beside = frame.spellings.iter().flatten();
                    let mut contents = frame.contents.iter().chain(beside);
                    frame.event.computed_hash(&session) != frame.event.hash
                        || frame.event.prev_hash != ContentHash::of(b"x")
                        || contents.any(|(address, bytes)| ContentHash::of(bytes) != *address)
                }
                frames => frames.iter().any(Result::is_err),
            };
            assert!(is_seen, "bit {bit}");
        }
    }

    #[test]
    fn a_chunk_of_something_else_is_damage() {
        let body = chunk(400, &frame(7, &["a"]).1);
        let is_broken = |body: &[u8]| Frames::of(body).any(|frame| frame.is_err());
        for cut in 0..body.len() {
            assert!(is_broken(&body[..cut]), "cut at {cut}");
            assert!(is_broken(&[&body[..cut], &vec![0; body.len() - cut]].concat()), "zeros from {cut}");
        }
        assert!(!is_broken(&body));
    }
}
