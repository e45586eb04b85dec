//! The summaries in force, as resources.

use anyhow::{Context as _, Result, bail};
use longhaul::transcript::{SummaryId, SummaryRecord};
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};

use crate::{
    archive::{Archive, utc},
    args::StoreArgs,
    paint::grouped,
    store,
};

/// What the names of our resources begin with; the session and the summary follow.
const SUMMARIES: &str = "longhaul://summary/";

/// The most that are listed; a template names any other.
const MOST: usize = 50;

/// Returns the summary in force of each recorded session, the newest first. Where nothing is recorded there are none.
pub(super) fn all(args: &StoreArgs) -> Result<Vec<Resource>> {
    if !store::place(args)?.may_exist() {
        return Ok(Vec::new());
    }
    let archive = Archive::existing(args)?;
    let sessions = archive.wait(archive.store.sessions())?;
    let mut resources = Vec::new();
    for info in sessions {
        let session = &info.session;
        let title = format!("Summary of {session}");
        let (id, about) = match archive.wait(archive.store.head(session)) {
            Ok(None) => continue,
            // The others are listed all the same.
            Err(error) => match archive.wait(archive.store.require(session))?.head() {
                Some(id) => (id.clone(), format!("It cannot be shown: {error}")),
                None => continue,
            },
            Ok(Some(record)) => {
                let about = format!(
                    "What stands for {} messages of the session since {}, in {} tokens",
                    grouped(record.covered.len() as u64),
                    utc(record.created_at_ms),
                    grouped(record.tokens.0),
                );
                (record.id, about)
            }
        };
        let resource = Resource::new(format!("{SUMMARIES}{session}/{id}"), format!("{session}/{id}"));
        resources.push(resource.with_title(title).with_description(about).with_mime_type("text/plain"));
        if resources.len() == MOST {
            break;
        }
    }
    Ok(resources)
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let any = ResourceTemplate::new(format!("{SUMMARIES}{{session}}/{{summary}}"), "summary");
    let about = "A summary by its session and its id; the id `head` is the one in force";
    vec![any.with_title("Summary of a session").with_description(about).with_mime_type("text/plain")]
}

/// Returns the summary that `uri` names.
pub(super) fn read(args: &StoreArgs, uri: &str) -> Result<String> {
    let Some((session, id)) = uri.strip_prefix(SUMMARIES).and_then(|path| path.split_once('/')) else {
        bail!("{uri:?} is no resource here; expected {SUMMARIES}SESSION/ID");
    };
    let archive = Archive::existing(args)?;
    let session = archive.session(session)?;
    let record = match id {
        "head" => {
            archive.wait(archive.store.head(&session))?.context("no summary is in force in this session")?
        }
        id => archive
            .wait(archive.store.record(&session, &SummaryId(id.into())))?
            .with_context(|| format!("session {session} has no summary {id:?}"))?,
    };
    Ok(whole(&record))
}

/// Returns the summary as it stands in the history.
fn whole(record: &SummaryRecord) -> String {
    format!("{}\n\n{}\n\n{}\n", record.header, record.text, record.ending())
}

pub(super) fn contents(uri: &str, text: &str) -> ResourceContents {
    ResourceContents::text(text, uri).with_mime_type("text/plain")
}
