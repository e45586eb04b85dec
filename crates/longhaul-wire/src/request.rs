//! What goes between a client and a provider: a view in the place of a request's messages, and what the answer cost.

use std::ops::Range;

use longhaul_transcript::Usage;

use crate::{
    Document, Format, Rendition, WireError, cache,
    document::{Fragment, Layout, from_bytes},
    edit::{Edits, remove_field},
    json::{Json, Object, quoted},
    whole,
};

impl Document {
    /// Returns the body of a request with the messages of `sent` in the place of its own, and its standing instructions with them.
    /// All that stands around them stays to the byte: the model, tools, settings, whether to stream, and fields that longhaul does
    /// not know. Of a body that is the list of messages alone, `sent` is all there is. Of the marks in `sent` that ask the provider to cache
    /// those stay that it takes beside the marks around them: four in all, and none for an hour behind one for less.
    ///
    /// ```
    /// use longhaul_wire::{Format, read, render};
    ///
    /// let body = r#"{"model":"m","messages":[{"role":"user","content":"old"},{"role":"user","content":"new"}],"stream":true}"#;
    /// let came = read(Some(Format::OpenAi), body.as_bytes())?;
    /// // As it came in, with its pictures and fields of its own.
    /// let kept = came.spelled(1).unwrap();
    /// let goes_out = came.with_messages(&render([&kept], came.format())?)?;
    /// assert_eq!(goes_out, r#"{"model":"m","messages":[{"role":"user","content":"new"}],"stream":true}"#);
    /// # Ok::<(), longhaul_wire::WireError>(())
    /// ```
    ///
    /// # Errors
    /// When the document is no body of a request, or `sent` is in another format.
    pub fn with_messages(&self, sent: &Rendition) -> Result<String, WireError> {
        let format = self.format();
        let no_request = || WireError::NoRequest { format };
        if format.request() != Some(format) {
            return Err(no_request());
        }
        if sent.format != format {
            return Err(WireError::OtherFormat { found: sent.format, expected: format });
        }
        let body = whole::value(&self.bytes).ok().filter(|body| body.is_object() && !self.is_by_line());
        let Some(body) = body else { return Ok(sent.json.clone()) };
        let sent = from_bytes(Some(format), sent.json.clone().into_bytes())?;
        let (own, new) = self.list().zip(sent.list()).ok_or_else(no_request)?;
        let text = self.raw(&(0..self.bytes.len()));
        let mut edits = Edits::default();
        edits.replace(own, sent.raw(&new));
        match (self.outside(), sent.outside()) {
            (Some((_, own)), Some((_, new))) => edits.replace(own.range_in(text), new.raw()),
            (Some((key, _)), None) => remove_field(text, &body.object(), &key, &mut edits),
            (None, Some((key, new))) => match field_called(&body.object(), &key) {
                Some(null) => edits.replace(null.range_in(text), new.raw()),
                None => {
                    let begin = body.range_in(text).start + 1;
                    edits.replace(begin..begin, format!("{}:{},", quoted(&key), new.raw()));
                }
            },
            (None, None) => {}
        }
        Ok(cache::settled(edits.apply(text)))
    }

    fn fragments(&self) -> impl Iterator<Item = &Fragment> {
        self.slots.iter().flat_map(|slot| &slot.fragments)
    }

    /// Returns where the messages stand.
    fn list(&self) -> Option<Range<usize>> {
        match &self.layout {
            Layout::Whole(layout) => Some(layout.list()),
            // A bare string is one message of the user.
            _ => self.fragments().find(|fragment| fragment.at == 0).map(|fragment| fragment.range.clone()),
        }
    }

    /// Returns the field that holds standing instructions outside of the list: its name, and what it holds.
    fn outside(&self) -> Option<(String, Json<'_>)> {
        let range = &self.fragments().find(|fragment| fragment.at == usize::MAX)?.range;
        let fields = whole::value(&self.bytes).ok()?.object();
        let (key, value) = fields.fields().iter().find(|(_, value)| value.range_in(&self.bytes) == *range)?;
        Some((key.string()?, *value))
    }
}

/// Reads what an answer of a provider says that it cost, in `format`: the whole answer, an event of a stream, or the object with
/// the counts alone. `None` where nothing is said.
///
/// What came from the cache and what went into reasoning are told apart, whether the provider counts them with the rest or not.
/// Of a stream of Anthropic's, the first event tells the input and the last one the output.
///
/// ```
/// use longhaul_transcript::Tokens;
/// use longhaul_wire::{Format, usage_from_json};
///
/// let answer = r#"{"choices":[],"usage":{"prompt_tokens":900,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":800}}}"#;
/// let usage = usage_from_json(Format::OpenAi, answer).unwrap();
/// assert_eq!((usage.input, usage.cache_read, usage.output), (Tokens(100), Tokens(800), Tokens(20)));
/// ```
pub fn usage_from_json(format: Format, answer: &str) -> Option<Usage> {
    let usage = format.spec().writing.as_ref()?.dialect.usage?;
    let answer = Json::check(answer.as_bytes()).ok()?;
    let inside = usage.inside.iter().filter_map(|key| answer.get(key));
    let counts = std::iter::once(answer).chain(inside).find_map(|holder| holder.object().some(usage.key));
    (usage.read)(counts.unwrap_or(answer))
}

/// Returns the field of this name; Gemini's have two, and a request may have one of them (`systemInstruction`,
/// `system_instruction`).
fn field_called<'a>(body: &Object<'a>, key: &str) -> Option<Json<'a>> {
    let plain = |name: &str| name.replace('_', "").to_ascii_lowercase();
    let is_it = |name: &Json<'_>| name.string().is_some_and(|name| plain(&name) == plain(key));
    body.fields().iter().find(|(name, _)| is_it(name)).map(|(_, value)| *value)
}
