//! What is on its way out, before it is put between the bytes that stay.

use longhaul_transcript::SummaryRecord;

/// One item on its way out.
#[derive(Debug)]
pub(crate) enum Emitted<'a> {
    /// A message of the document, fragment by fragment.
    Kept { n: usize, rendered: Vec<Rendered> },
    /// A message from elsewhere, spelled in the document's dialect.
    Fresh(Vec<String>),
    /// A summary.
    Summary { record: &'a SummaryRecord, values: Vec<String> },
}

/// What became of one fragment.
#[derive(Debug)]
pub(crate) enum Rendered {
    Same,
    Changed(String),
    Gone,
}

/// Returns the text under which a summary stands in a written history: a header, what it says, and its handle line.
pub(crate) fn summary_text(record: &SummaryRecord) -> String {
    record.to_message().texts().collect()
}
