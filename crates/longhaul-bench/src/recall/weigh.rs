//! What a fact weighs: nothing where everyone knows it.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    path::Path,
};

use anyhow::{Context, Result};
use longhaul_extract::AtomKind;

use super::session::Session;

/// In how many background repositories and other projects each literal stands.
#[derive(Debug, Default)]
pub struct Weigher {
    background: HashMap<String, u32>,
    projects: HashMap<String, HashSet<String>>,
}

impl Weigher {
    /// Reads the background frequencies (`common.json.gz`) and those of the sessions.
    pub fn new(common: Option<&Path>, sessions: &[Session]) -> Result<Weigher> {
        let mut background = HashMap::new();
        if let Some(path) = common {
            let file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
            let value: serde_json::Value = serde_json::from_reader(flate2::read::GzDecoder::new(file))?;
            let map = value["df"].as_object().context("no object under \"df\"")?;
            background = map.iter().map(|(name, n)| (name.clone(), n.as_u64().unwrap_or(0) as u32)).collect();
        }
        let mut projects: HashMap<String, HashSet<String>> = HashMap::new();
        for session in sessions {
            for mention in session.messages.iter().chain(&session.system).flat_map(|read| &read.mentions) {
                let holders = projects.entry(mention.atom.clone()).or_default();
                if !holders.contains(&session.project) {
                    holders.insert(session.project.clone());
                }
            }
        }
        Ok(Weigher { background, projects })
    }

    /// Returns the weight of `name` in `project`: 1, a half, or nothing.
    pub fn weight(&self, name: &str, kind: AtomKind, project: &str) -> f64 {
        let background = self.background.get(name).copied().unwrap_or(0);
        if kind == AtomKind::Word {
            return match background {
                0 | 1 => 1.0,
                2..=4 => 0.5,
                _ => 0.0,
            };
        }
        let others = self
            .projects
            .get(name)
            .map_or(0, |holders| holders.iter().filter(|holder| *holder != project).count());
        if background >= 4 || others >= 2 {
            0.0
        } else if background >= 2 || others == 1 {
            0.5
        } else {
            1.0
        }
    }
}
