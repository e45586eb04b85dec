//! The working directory, and which paths lie in it.

use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result};

/// A directory that paths must not lead out of, whatever links say.
#[derive(Clone, Debug)]
pub(super) struct Place {
    root: PathBuf,
}

impl Place {
    pub(super) fn new(folder: &Path) -> Result<Place> {
        let root = folder.canonicalize();
        Ok(Place { root: root.with_context(|| format!("{} cannot be entered", folder.display()))? })
    }

    /// Returns the directory.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns whether a path in the directory goes through a name that begins with a dot.
    pub(super) fn is_hidden(&self, found: &Path) -> bool {
        has_dot(found.strip_prefix(&self.root).unwrap_or(found))
    }

    /// Returns where `path` is, links followed.
    pub(super) fn existing(&self, path: &str) -> Result<PathBuf, String> {
        let found = self.root.join(path).canonicalize().map_err(|error| match leads_out(path) {
            // What there is elsewhere is nobody's to know.
            true => format!("{path} is not there, or {OUTSIDE}"),
            false => format!("{path}: {error}"),
        })?;
        self.inside(found, path)
    }

    /// Returns where `path` is or would be made, links followed.
    pub(super) fn new_or_existing(&self, path: &str) -> Result<PathBuf, String> {
        let wanted = self.root.join(path);
        if wanted.symlink_metadata().is_ok() {
            return self.existing(path);
        }
        // What is not there yet has no links; it lies where its nearest ancestor that is there lies.
        let mut missing: Vec<&std::ffi::OsStr> = Vec::new();
        let mut ancestor = wanted.as_path();
        while ancestor.symlink_metadata().is_err() {
            match (ancestor.components().next_back(), ancestor.parent()) {
                (Some(Component::Normal(name)), Some(parent)) => {
                    missing.push(name);
                    ancestor = parent;
                }
                _ => return Err(format!("{path} leads through a directory that is not there, or {OUTSIDE}")),
            }
        }
        let mut found = ancestor.canonicalize().map_err(|error| format!("{path}: {error}"))?;
        found.extend(missing.into_iter().rev());
        self.inside(found, path)
    }

    fn inside(&self, found: PathBuf, path: &str) -> Result<PathBuf, String> {
        match found.starts_with(&self.root) {
            true => Ok(found),
            false if leads_out(path) => Err(format!("{path} is not there, or {OUTSIDE}")),
            false => Err(format!("{path} {OUTSIDE}")),
        }
    }
}

const OUTSIDE: &str = "lies outside of the working directory";

/// Returns whether `path` may name something above or beside the working directory.
fn leads_out(path: &str) -> bool {
    let is_inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    !Path::new(path).components().all(is_inside)
}

/// Returns whether a name in `path` begins with a dot.
pub(super) fn has_dot(path: &Path) -> bool {
    path.components()
        .any(|part| matches!(part, Component::Normal(name) if name.to_string_lossy().starts_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside_whatever_links_and_dots_say() {
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("work");
        std::fs::create_dir_all(inner.join("src")).unwrap();
        std::fs::write(outer.path().join("secret"), "s").unwrap();
        std::fs::write(inner.join("src/lib.rs"), "l").unwrap();
        let place = Place::new(&inner).unwrap();
        assert!(place.existing("src/../src/lib.rs").is_ok());
        assert!(place.new_or_existing("src/new/deep.rs").unwrap().ends_with("work/src/new/deep.rs"));
        let absolute = outer.path().join("secret");
        let absolute = absolute.to_str().unwrap();
        for path in ["../secret", "src/../../secret", absolute, "/etc/passwd", "..", "missing/../../x"] {
            assert!(place.existing(path).is_err(), "{path}");
            assert!(place.new_or_existing(path).is_err(), "{path}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outer.path(), inner.join("link")).unwrap();
            std::os::unix::fs::symlink(outer.path().join("unborn"), inner.join("dangling")).unwrap();
            for path in ["link/secret", "link/new", "dangling"] {
                assert!(place.existing(path).is_err(), "{path}");
                assert!(place.new_or_existing(path).is_err(), "{path}");
            }
        }
    }
}
