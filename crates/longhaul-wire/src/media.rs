//! Images and files: how large they are, told from the first bytes.

use std::borrow::Cow;

use longhaul_transcript::{ContentHash, Media, MediaKind};

use crate::{Format, json::Json};

/// The bytes behind a [`Media`], still in the document.
#[derive(Clone, Debug)]
pub(crate) struct Payload<'a> {
    /// The whole block.
    pub(crate) raw: Json<'a>,
    /// What the block is spelled in.
    pub(crate) format: Format,
    pub(crate) kind: MediaKind,
    pub(crate) media_type: String,
    pub(crate) data: Data<'a>,
    /// How closely the model is to look at a picture, where its message says so and it is not the default.
    pub(crate) detail: Option<Cow<'a, str>>,
    /// What a file is called, where its message says so.
    pub(crate) name: Option<Cow<'a, str>>,
}

/// How a payload is given.
#[derive(Clone, Debug)]
pub(crate) enum Data<'a> {
    Base64(Cow<'a, str>),
    Url(Cow<'a, str>),
    File(Cow<'a, str>),
}

/// Where files lie that Gemini's models alone are shown by their address: its Files API, Cloud Storage, videos.
const WITH_GOOGLE: [&str; 4] =
    ["https://generativelanguage.googleapis.com/", "gs://", "https://www.youtube.com/", "https://youtu.be/"];

/// Returns whether a provider other than Google can have what lies at an address.
pub(crate) fn lies_elsewhere_than_with_google(address: &str) -> bool {
    !WITH_GOOGLE.iter().any(|place| address.starts_with(place))
}

/// Returns what a media type is of.
pub(crate) fn kind_of(media_type: &str) -> MediaKind {
    match media_type.split('/').next() {
        Some("image") => MediaKind::Image,
        Some("audio") => MediaKind::Audio,
        _ => MediaKind::Document,
    }
}

impl<'a> Payload<'a> {
    /// Returns a payload of which neither detail nor name is told.
    pub(crate) fn new(
        format: Format,
        raw: Json<'a>,
        kind: MediaKind,
        media_type: &str,
        data: Data<'a>,
    ) -> Payload<'a> {
        Payload { raw, format, kind, media_type: media_type.to_owned(), data, detail: None, name: None }
    }

    /// Returns a payload given by an address, which may hold the bytes itself (`data:`).
    pub(crate) fn address(
        format: Format,
        raw: Json<'a>,
        kind: MediaKind,
        media_type: &str,
        url: Cow<'a, str>,
    ) -> Payload<'a> {
        let inline = url.strip_prefix("data:").and_then(|rest| {
            let (head, data) = rest.split_once(',')?;
            Some((head.strip_suffix(";base64")?.to_owned(), rest.len() - data.len() + "data:".len()))
        });
        match inline {
            Some((media_type, at)) => {
                let data = match url {
                    Cow::Borrowed(url) => Cow::Borrowed(&url[at..]),
                    Cow::Owned(mut url) => Cow::Owned(url.split_off(at)),
                };
                Payload::new(format, raw, kind, &media_type, Data::Base64(data))
            }
            None => Payload::new(format, raw, kind, media_type, Data::Url(url)),
        }
    }

    /// Returns the payload with the name that its message gives it.
    pub(crate) fn called(self, name: Option<Cow<'a, str>>) -> Payload<'a> {
        Payload { name: name.filter(|name| !name.is_empty()), ..self }
    }

    /// Returns the payload behind an address on the web that nobody spelled yet.
    pub(crate) fn of_address(media: &'a Media) -> Option<Payload<'a>> {
        let is_on_the_web = ["https://", "http://"].iter().any(|start| media.source.starts_with(start));
        let raw = Json::check(b"{}").ok().filter(|_| is_on_the_web)?;
        // In the format that no request is in, so that each spells it in its own way.
        Some(Payload::address(Format::Longhaul, raw, media.kind, &media.media_type, (&*media.source).into()))
    }

    /// Returns what the transcript carries of it.
    pub(crate) fn media(&self) -> Media {
        let (source, hashed, bytes, pixels) = match &self.data {
            Data::Base64(data) => (String::new(), data, decoded_length(data), pixels(data)),
            Data::Url(url) => (url.to_string(), url, 0, None),
            Data::File(id) => (id.to_string(), id, 0, None),
        };
        Media {
            kind: self.kind,
            media_type: self.media_type.clone(),
            source,
            bytes,
            pixels: pixels.filter(|_| self.kind == MediaKind::Image),
            pages: None,
            hash: ContentHash::of_fields([self.media_type.as_bytes(), hashed.as_bytes()]),
        }
    }

    /// Returns the words of a file of plain text that is given inline.
    pub(crate) fn text(&self) -> Option<String> {
        let Data::Base64(data) = &self.data else { return None };
        String::from_utf8(decode(data.as_bytes())).ok()
    }

    /// Returns the payload as an address: the one it has, or a `data:` one.
    pub(crate) fn url(&self) -> Option<String> {
        match &self.data {
            Data::Base64(data) => Some(format!("data:{};base64,{data}", self.media_type)),
            Data::Url(url) => Some(url.to_string()),
            Data::File(_) => None,
        }
    }
}

/// Returns how many bytes base64 text stands for, to within its line breaks.
fn decoded_length(base64: &str) -> u64 {
    let digits = base64.trim_end().trim_end_matches('=').len() as u64;
    digits * 3 / 4
}

/// Returns width and height from the header of a PNG, JPEG, GIF or WebP. Only the first part is decoded.
fn pixels(base64: &str) -> Option<(u32, u32)> {
    /// A JPEG's size stands behind its metadata, which may hold a preview and a colour profile.
    const HEAD_CHARS: usize = 256 * 1024;
    let head = base64.as_bytes().get(..HEAD_CHARS).unwrap_or(base64.as_bytes());
    let bytes = decode(head);
    png(&bytes).or_else(|| gif(&bytes)).or_else(|| webp(&bytes)).or_else(|| jpeg(&bytes))
}

/// Decodes base64, both alphabets, as far as it goes.
fn decode(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0u32);
    for byte in text {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'\r' | b'\n' => continue,
            _ => break,
        };
        bits = (bits << 6 | u32::from(digit)) & 0xFFFF;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

fn big(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    Some(bytes.get(at..at + length)?.iter().fold(0, |value, byte| value << 8 | u32::from(*byte)))
}

fn little(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    Some(bytes.get(at..at + length)?.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)))
}

/// PNG specification 11.2.2: the IHDR chunk comes first and begins with width and height.
fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    let is_png = bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.get(12..16)? == b"IHDR";
    is_png.then(|| Some((big(bytes, 16, 4)?, big(bytes, 20, 4)?)))?
}

/// GIF89a specification, section 18: the logical screen descriptor.
fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    let is_gif = bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a");
    is_gif.then(|| Some((little(bytes, 6, 2)?, little(bytes, 8, 2)?)))?
}

/// RFC 9649: the first chunk is `VP8 ` (lossy), `VP8L` (lossless) or `VP8X` (extended), each with its own header.
fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    if !bytes.starts_with(b"RIFF") || bytes.get(8..12)? != b"WEBP" {
        return None;
    }
    match bytes.get(12..16)? {
        b"VP8 " => Some((little(bytes, 26, 2)? & 0x3FFF, little(bytes, 28, 2)? & 0x3FFF)),
        b"VP8L" => {
            let packed = little(bytes, 21, 4)?;
            Some(((packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1))
        }
        b"VP8X" => Some((little(bytes, 24, 3)? + 1, little(bytes, 27, 3)? + 1)),
        _ => None,
    }
}

/// ITU T.81, B.2.2: height and width stand in the frame header, the first SOF segment.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    if !bytes.starts_with(&[0xFF, 0xD8]) {
        return None;
    }
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xFF {
            return None;
        }
        match *bytes.get(at + 1)? {
            0xFF => at += 1,
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                return Some((big(bytes, at + 7, 2)?, big(bytes, at + 5, 2)?));
            }
            0x01 | 0xD0..=0xD8 => at += 2,
            _ => at += 2 + (big(bytes, at + 2, 2)? as usize).max(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_come_from_the_headers() {
        // Each is the head of a picture of 300 x 200, made by hand from the specifications named above.
        assert_eq!(pixels("iVBORw0KGgoAAAANSUhEUgAAASwAAADI"), Some((300, 200)));
        assert_eq!(pixels("R0lGODlhLAHIAAAAAA=="), Some((300, 200)));
        assert_eq!(
            jpeg(&[0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xC0, 0, 17, 8, 0, 200, 1, 44, 3]),
            Some((300, 200))
        );
        let mut vp8x = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0".to_vec();
        vp8x.extend([43, 1, 0, 199, 0, 0]);
        assert_eq!(webp(&vp8x), Some((300, 200)));
    }

    #[test]
    fn no_picture_has_no_size() {
        for odd in ["", "=", "iVBORw0KGgo", "/9j/", "not base64 at all", "UklGRg"] {
            assert_eq!(pixels(odd), None, "{odd}");
        }
    }
}
